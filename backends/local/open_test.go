//go:build linux || darwin

package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// open returns the workspace of a new Backend.
func open(t *testing.T, cfg Config) *workspace {
	t.Helper()
	ws, err := newBackend(t, cfg).Create(t.Context(), backends.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	return ws.(*workspace)
}

func wantCode(t *testing.T, what string, err error, want backends.Code) {
	t.Helper()
	if got := backends.CodeOf(err); got != want {
		t.Errorf("%s: error %v has code %q, want %q", what, err, got, want)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func place(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
}

func get(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	return string(data)
}

func TestConfigurationsThatCannotWork(t *testing.T) {
	dir := t.TempDir()
	place(t, dir+"/file", "")
	must(t, os.Symlink("/", dir+"/out"))
	for name, tc := range map[string]struct {
		cfg  Config
		want backends.Code
	}{
		"no root":                       {Config{}, backends.CodeInvalidArgument},
		"relative root":                 {Config{Root: "sub"}, backends.CodeInvalidArgument},
		"missing root":                  {Config{Root: dir + "/none"}, backends.CodeNotFound},
		"root is a file":                {Config{Root: dir + "/file"}, backends.CodeNotDirectory},
		"root below a file":             {Config{Root: dir + "/file/x"}, backends.CodeNotDirectory},
		"relative working directory":    {Config{Root: dir, WorkingDir: "sub"}, backends.CodeInvalidArgument},
		"working directory outside":     {Config{Root: dir, WorkingDir: "/etc"}, backends.CodePermission},
		"working directory led outside": {Config{Root: dir, WorkingDir: dir + "/out/etc"}, backends.CodePermission},
		"variable without a value":      {Config{Root: dir, Env: []string{"A"}}, backends.CodeInvalidArgument},
	} {
		_, err := New(tc.cfg)
		wantCode(t, name, err, tc.want)
	}
	b := newBackend(t, Config{Root: dir, WorkingDir: dir + "/file"})
	_, err := b.Create(t.Context(), backends.Spec{})
	wantCode(t, "working directory is a file", err, backends.CodeNotDirectory)
}

func TestRootIsCanonical(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Mkdir(dir+"/real", 0o755), os.Symlink("real", dir+"/link"))
	ws := open(t, Config{Root: dir + "/link", WorkingDir: dir + "/link/a/b"})
	if ws.Ref().String() != "local:"+dir+"/real" || ws.WorkingDir() != dir+"/real/a/b" {
		t.Errorf("ref %s, working directory %s", ws.Ref(), ws.WorkingDir())
	}
	if info, err := os.Stat(dir + "/real/a/b"); err != nil || !info.IsDir() {
		t.Errorf("the working directory was not made: %v", err)
	}
}

func TestRootOfTheMachine(t *testing.T) {
	dir := t.TempDir()
	place(t, dir+"/f", "text\n")
	ws := open(t, Config{Root: "/", WorkingDir: dir})
	res, err := ws.Read(t.Context(), backends.ReadRequest{Path: "f"})
	if err != nil || len(res.Lines) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := ws.List(t.Context(), backends.ListRequest{Path: "/"}); err != nil {
		t.Error(err)
	}
	if ws.Ref().String() != "local:/" {
		t.Error(ws.Ref())
	}
}

func TestRootThatGoesAndComesBack(t *testing.T) {
	root := t.TempDir() + "/root"
	must(t, os.Mkdir(root, 0o755))
	b := newBackend(t, Config{Root: root})
	ws, err := b.Create(t.Context(), backends.Spec{})
	must(t, err)
	ops := map[string]func() error{
		"Stat":  func() error { _, err := ws.Stat(t.Context(), "."); return err },
		"Glob":  func() error { _, err := ws.Glob(t.Context(), backends.GlobRequest{Pattern: "*"}); return err },
		"Mkdir": func() error { return ws.(*workspace).files.MkdirAll(root + "/made") },
		"Read":  func() error { _, err := ws.Read(t.Context(), backends.ReadRequest{Path: "f"}); return err },
		"List":  func() error { _, err := ws.List(t.Context(), backends.ListRequest{Path: "."}); return err },
		"Run":   func() error { _, err := ws.Run(t.Context(), backends.Command{Script: "true"}); return err },
		"Grep":  func() error { _, err := ws.Grep(t.Context(), backends.GrepRequest{Pattern: "x"}); return err },
		"Write": func() error {
			_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "a/f", Content: strings.NewReader("x")})
			return err
		},
	}
	must(t, os.RemoveAll(root))
	for name, op := range ops {
		wantCode(t, name+" when it is gone", op(), backends.CodeUnavailable)
	}
	_, err = b.Create(t.Context(), backends.Spec{})
	wantCode(t, "Create when it is gone", err, backends.CodeUnavailable)
	_, err = b.Attach(t.Context(), ws.Ref())
	wantCode(t, "Attach when it is gone", err, backends.CodeUnavailable)
	must(t, b.Destroy(t.Context(), ws.Ref()))
	if infos, err := b.List(t.Context()); err != nil || len(infos) != 0 {
		t.Errorf("List: %v, %v", infos, err)
	}

	place(t, root+"/f", "back\n")
	for name, op := range ops {
		wantCode(t, name+" when another is there", op(), backends.CodeUnavailable)
	}
	ws, err = b.Attach(t.Context(), ws.Ref())
	must(t, err)
	res, err := ws.Read(t.Context(), backends.ReadRequest{Path: "f"})
	if err != nil || res.TotalLines != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	wantCode(t, "Destroy", b.Destroy(t.Context(), ws.Ref()), backends.CodeUnsupported)

	// Moved away, with everything in it.
	must(t, os.Rename(root, root+".old"), os.Mkdir(root, 0o755))
	for name, op := range ops {
		wantCode(t, name+" when it was moved away", op(), backends.CodeUnavailable)
	}
	if found, err := os.ReadDir(root + ".old"); err != nil || len(found) != 1 {
		t.Errorf("what was moved away holds %v, %v", found, err)
	}

	must(t, b.Close())
	for name, op := range ops {
		wantCode(t, name+" when it is closed", op(), backends.CodeUnavailable)
	}
}

func TestEnvironmentIsMinimal(t *testing.T) {
	got := environment([]string{
		"HOME=/home/u", "USER=u", "LC_ALL=de_DE.UTF-8", "TZ=UTC", "PATH=/opt/x:.::/usr/bin",
		"API_TOKEN=secret", "AWS_SECRET_ACCESS_KEY=secret", "SSH_AUTH_SOCK=/x", "LD_PRELOAD=/x.so", "BASH_ENV=/x", "TERM=xterm", "HOMEX=1",
	}, []string{"ADDED=1", "TERM=vt100"})
	want := []string{
		"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "PYTHONUNBUFFERED=1",
		"HOME=/home/u", "USER=u", "LC_ALL=de_DE.UTF-8", "TZ=UTC",
		"PATH=/opt/x:/usr/bin:/usr/local/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/bin",
		"ADDED=1", "TERM=vt100",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	bare := environment(nil, nil)
	if !slices.Contains(bare, "LANG=C.UTF-8") || !slices.Contains(bare, "PATH="+strings.Join(programDirs, ":")) {
		t.Errorf("without anything: %q", bare)
	}
}

func TestCommandsGetNoTokens(t *testing.T) {
	t.Setenv("SOME_TOKEN", "secret")
	ws := open(t, Config{Root: t.TempDir(), Env: []string{"GIVEN=g", "PAGER=less"}})
	var out strings.Builder
	exit, err := ws.Run(t.Context(), backends.Command{Argv: []string{"env"}, Output: func(_ backends.Stream, p []byte) { out.Write(p) }})
	if err != nil || exit.Code != 0 || strings.Contains(out.String(), "secret") {
		t.Errorf("%+v, %v\n%s", exit, err, &out)
	}
	for _, kv := range []string{"GIVEN=g", "PAGER=less", "NO_COLOR=1"} {
		if !strings.Contains("\n"+out.String(), "\n"+kv+"\n") {
			t.Errorf("%s is missing", kv)
		}
	}
}

func TestCommandsStartInside(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Symlink("/etc", dir+"/out"), os.Mkdir(dir+"/in", 0o755), os.Symlink(dir+"/in", dir+"/link"))
	place(t, dir+"/file", "")
	ws := open(t, Config{Root: dir})
	for name, want := range map[string]backends.Code{
		"/etc": backends.CodePermission, "..": backends.CodePermission, "out": backends.CodePermission,
		"none": backends.CodeNotFound, "file": backends.CodeNotDirectory,
		"": "", "in": "", "link": "", "in/..": "",
	} {
		_, err := ws.Run(t.Context(), backends.Command{Script: "true", Dir: name})
		wantCode(t, name, err, want)
	}
}

func TestOutputFiles(t *testing.T) {
	ws := open(t, Config{Root: t.TempDir()})
	exit, err := ws.Run(t.Context(), backends.Command{Script: "echo 0123456789", KeepAbove: 5})
	if err != nil || filepath.Dir(exit.OutputFile) != ws.files.Path()+"/.mcp-workspace/output" {
		t.Fatalf("%+v, %v", exit, err)
	}
	if get(t, exit.OutputFile) != "0123456789\n" || get(t, ws.files.Path()+"/.mcp-workspace/.gitignore") != "*\n" {
		t.Error("the output or .gitignore is not what it should be")
	}
	if _, err := ws.Read(t.Context(), backends.ReadRequest{Path: exit.OutputFile}); err != nil {
		t.Error(err)
	}
}

func TestOutputFileIsNotLedOutside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	must(t, os.Symlink(outside, dir+"/.mcp-workspace"))
	ws := open(t, Config{Root: dir})
	exit, err := ws.Run(t.Context(), backends.Command{Script: "echo 0123456789; exit 3", KeepAbove: 5})
	if err != nil || exit.Code != 3 || exit.OutputFile != "" || !strings.Contains(exit.NotKept, dir+"/.mcp-workspace") {
		t.Errorf("%+v, %v", exit, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
