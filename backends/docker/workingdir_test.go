package docker_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/backends/guest/program"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// ownAgent is a copy of the agent with another digest than all others.
func ownAgent(t *testing.T) string {
	t.Helper()
	p, err := program.Load(t.Context(), program.Options{Arch: "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	executable, err := p.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "agent")
	// What follows the ELF file's own parts is nobody's.
	if err := os.WriteFile(file, append(slices.Clone(executable), unique()...), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestMissingWorkingDirectoryBelongsToTheContainersUser(t *testing.T) {
	onBoth(t, testMissingWorkingDirectoryBelongsToTheContainersUser)
}

func testMissingWorkingDirectoryBelongsToTheContainersUser(t *testing.T, engine *engines.Engine) {
	for _, c := range []struct{ name, user, dir, image, want string }{
		{"root", "", "/a/b", engine.Busybox, "0:0"},
		{"a number", "1234:5678", "/a/b", engine.Busybox, "1234:5678"},
		{"a number without a group", "1234", "/a/b", engine.Busybox, "1234:0"},
		{"a number without a shell in the image", "1234:5678", "/a/b", engine.Scratch, ""},
		{"a name", "daemon", "/a/b", engine.Debian, "1:1"},
		{"a name and a group", "daemon:mail", "/a/b", engine.Debian, "1:8"},
		{"a number that has a name", "1", "/a/b", engine.Debian, "1:1"},
		{"below a directory of its own", "1234:5678", "/tmp/x/y", engine.Debian, "1234:5678"},
		{"two levels below one of root's", "1234:5678", "/usr/local/x/y", engine.Debian, "1234:5678"},
	} {
		t.Run(c.name, func(t *testing.T) {
			options, err := docker.Flags{User: c.user}.Parse()
			if err != nil {
				t.Fatal(err)
			}
			b := newBackend(t, engine, docker.Config{Options: options, WorkingDir: c.dir, Image: c.image})
			ws := create(t, b, backends.Spec{})
			if ws.WorkingDir() != c.dir {
				t.Errorf("commands start in %q", ws.WorkingDir())
			}
			if _, err := ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("x")}); err != nil {
				t.Errorf("Write: %v", err)
			}
			if c.want == "" {
				return
			}
			if got := run(t, ws, "stat -c %u:%g . f .. | sort -u; pwd"); !strings.HasPrefix(got, c.want+"\n") && c.dir != "/tmp/x/y" || !strings.HasSuffix(got, c.dir) {
				t.Errorf("the working directory is of %s, want %s", got, c.want)
			}
		})
	}
}

func TestWorkingDirectoryThatCannotBeIsExplained(t *testing.T) {
	onBoth(t, testWorkingDirectoryThatCannotBeIsExplained)
}

func testWorkingDirectoryThatCannotBeIsExplained(t *testing.T, engine *engines.Engine) {
	for _, c := range []struct {
		name  string
		flags docker.Flags
		dir   string
		code  backends.Code
		words []string
	}{
		{"read-only root", docker.Flags{ReadOnly: true}, "/workspace", backends.CodeReadOnly, []string{"--tmpfs /workspace", "--mount"}},
		{"read-only root for another user", docker.Flags{ReadOnly: true, User: "1234"}, "/workspace", backends.CodeReadOnly, []string{"--tmpfs /workspace"}},
		{"a file", docker.Flags{}, "/etc/passwd", backends.CodeNotDirectory, []string{"/etc/passwd", "--working-dir"}},
		{"below a file", docker.Flags{}, "/etc/passwd/x", backends.CodeNotDirectory, []string{"/etc/passwd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			options, err := c.flags.Parse()
			if err != nil {
				t.Fatal(err)
			}
			b := newBackend(t, engine, docker.Config{Options: options, WorkingDir: c.dir, Image: engine.Debian})
			_, err = b.Create(t.Context(), backends.Spec{})
			wantCode(t, "Create", err, c.code, c.words...)
			t.Log(err)
			if list, err := b.List(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("left %+v, %v", list, err)
			}
			_, err = b.Create(t.Context(), backends.Spec{Name: "wd-" + b.Scope()})
			wantCode(t, "Create with a name", err, c.code, "workspaces destroy")
		})
	}
}

func TestReadOnlyRootWithAWritableWorkingDirectory(t *testing.T) {
	onBoth(t, testReadOnlyRootWithAWritableWorkingDirectory)
}

func testReadOnlyRootWithAWritableWorkingDirectory(t *testing.T, engine *engines.Engine) {
	for name, flags := range map[string]docker.Flags{
		"tmpfs":                  {ReadOnly: true, Tmpfs: []string{"/workspace"}},
		"tmpfs for another user": {ReadOnly: true, Tmpfs: []string{"/workspace:size=8m"}, User: "1234:1234"},
		"volume":                 {ReadOnly: true, Mounts: []string{"/workspace"}},
		"mount of type tmpfs":    {ReadOnly: true, Mounts: []string{"type=tmpfs,dst=/workspace,tmpfs-size=8m"}},
	} {
		t.Run(name, func(t *testing.T) {
			options, err := flags.Parse()
			if err != nil {
				t.Fatal(err)
			}
			b := newBackend(t, engine, docker.Config{Options: options})
			ws := create(t, b, backends.Spec{})
			if got := run(t, ws, "echo text >f; cat f; touch /x 2>&1 || true"); !strings.HasPrefix(got, "text\n") || !strings.Contains(got, "/x") {
				t.Errorf("commands say %q", got)
			}
			d, err := b.Inspect(t.Context(), ws.Ref())
			if err != nil {
				t.Fatal(err)
			}
			writable := func(m docker.Mount) bool { return m.Target == "/workspace" && !m.ReadOnly }
			if !d.ReadOnly || !slices.ContainsFunc(d.Mounts, writable) { // Podman adds some for temporary files
				t.Errorf("described as %+v", d)
			}
		})
	}
}

func TestWorkingDirectoryOfTheImage(t *testing.T) { onBoth(t, testWorkingDirectoryOfTheImage) }

func testWorkingDirectoryOfTheImage(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	b.UseImagesDir()
	ws := create(t, b, backends.Spec{})
	if ws.WorkingDir() != "/" {
		t.Errorf("commands start in %q, want the image's own, which is the root", ws.WorkingDir())
	}
	list, err := b.List(t.Context())
	if err != nil || len(list) != 1 || list[0].WorkingDir != "/" {
		t.Errorf("listed as %+v, %v", list, err)
	}
}

func TestMounts(t *testing.T) { onBoth(t, testMounts) }

func testMounts(t *testing.T, engine *engines.Engine) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("of the host\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 4321, 4321); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		mount    string
		readOnly bool
	}{
		"long":            {"type=bind,src=" + dir + ",dst=/mnt", false},
		"long, read-only": {"type=bind,source=" + dir + ",target=/mnt,readonly", true},
		"short":           {dir + ":/mnt", false},
		"short, ro":       {dir + ":/mnt:ro", true},
		"short with z":    {dir + ":/mnt:ro,z", true},
	} {
		t.Run(name, func(t *testing.T) {
			options, err := docker.Flags{Mounts: []string{c.mount}, User: "4321:4321"}.Parse()
			if err != nil {
				t.Fatal(err)
			}
			b := newBackend(t, engine, docker.Config{Options: options})
			ws := create(t, b, backends.Spec{})
			if got := run(t, ws, "cat /mnt/f"); got != "of the host" {
				t.Errorf("the file holds %q", got)
			}
			_, err = ws.Write(t.Context(), backends.WriteRequest{Path: "/mnt/new", Content: strings.NewReader("x")})
			if c.readOnly {
				wantCode(t, "Write", err, backends.CodeReadOnly)
				return
			}
			if err != nil {
				t.Fatalf("Write: %v", err)
			}
			if err := os.Remove(filepath.Join(dir, "new")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestGitWorksInAMountOfSomebodyElse(t *testing.T) { onBoth(t, testGitWorksInAMountOfSomebodyElse) }

func testGitWorksInAMountOfSomebodyElse(t *testing.T, engine *engines.Engine) {
	dir := t.TempDir()
	options, err := docker.Flags{Mounts: []string{dir + ":/workspace"}}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	b := newBackend(t, engine, docker.Config{Options: options, Image: engine.Debian})
	ws := create(t, b, backends.Spec{})
	run(t, ws, "git init -q . && echo x >f && git add f && chown -R 4321:4321 .")
	if got := run(t, ws, "git status --porcelain"); got != "A  f" {
		t.Errorf("git status says %q", got)
	}
}
