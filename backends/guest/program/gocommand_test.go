//go:build unix

package program

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func TestGoIsLookedForInTheUsualPlaces(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"sdk/go1.26.1/bin", "sdk/go1.27.0/bin", "go/pkg/mod/golang.org/toolchain@v0.0.1-go1.26.0.linux-amd64/bin"} {
		inTree(t, home, dir+"/go")
	}
	env := map[string]string{"GOROOT": "/goroot", "PATH": "/first:relative::./here:/second"}
	places := goPlaces("linux", func(name string) string { return env[name] }, home)
	want := []string{"/goroot/bin/go", "/first/go", "/second/go", "/usr/local/go/bin/go", home + "/go/bin/go",
		home + "/sdk/go1.27.0/bin/go", home + "/sdk/go1.26.1/bin/go",
		home + "/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.26.0.linux-amd64/bin/go"}
	last := -1
	for _, w := range want {
		at := slices.Index(places, w)
		if at <= last {
			t.Errorf("%s is missing or too late in %q", w, places)
		}
		last = at
	}
	for _, p := range places {
		if !filepath.IsAbs(p) {
			t.Errorf("%q is relative", p)
		}
	}
}

func TestAGoThatIsTooOldIsPassedOver(t *testing.T) {
	m, _ := testMaker(t)
	good := m.places
	m.places = []string{script(t, `echo '{"GOVERSION":"go1.19.8","GOCACHE":"/tmp"}'`), script(t, "echo broken >&2; exit 3")}
	_, err := m.load(t.Context(), "amd64")
	if backends.CodeOf(err) != backends.CodeUnsupported {
		t.Fatal(err)
	}
	for _, part := range []string{"is go1.19.8 and go1.", "is needed", "does not work (broken (exit status 3))"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	m.places = append(m.places, good...)
	if _, err := m.load(t.Context(), "amd64"); err != nil {
		t.Errorf("the third is good: %v", err)
	}
}

func TestWhatTheCompilerSaysIsInTheError(t *testing.T) {
	root := t.TempDir()
	write(t, inTree(t, root, "go.mod"), []byte("module "+modulePath+"\n\ngo 1.26.0\n"))
	write(t, inTree(t, root, "go.sum"), nil)
	write(t, inTree(t, root, commandPath+"/main.go"), []byte("package main\n\nfunc main() { missing() }\n"))
	m, _ := testMaker(t)
	m.source, m.lacks = checkout(root)
	_, err := m.load(t.Context(), "amd64")
	if backends.CodeOf(err) != backends.CodeUnsupported || !strings.Contains(err.Error(), "undefined: missing") {
		t.Error(err)
	}
}

func TestTheUsersSettingsDoNotChangeTheAgent(t *testing.T) {
	want := madeAs(t, "v1")
	for name, value := range map[string]string{
		"GOFLAGS": "-tags=other -gcflags=-N", "GOOS": "windows", "GOARCH": "arm64", "GOAMD64": "v3", "CGO_ENABLED": "1",
		"GOWORK": "/none/go.work", "GO111MODULE": "off", "GOROOT": "/none", "GOFIPS140": "latest",
	} {
		t.Setenv(name, value)
	}
	if got := madeAs(t, "v1"); got.Digest != want.Digest {
		t.Error("it differs")
	}
}

func TestABuildCacheThatCannotBeWrittenIsReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, nil)
	m, _ := testMaker(t)
	m.places = []string{script(t, `echo '{"GOVERSION":"go1.99","GOCACHE":"`+file+`/x","GOMODCACHE":""}'`)}
	tmp := t.TempDir()
	g, err := m.findGo(t.Context(), "amd64", tmp)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GOCACHE=" + tmp + "/cache", "GOMODCACHE=" + tmp + "/modules"} {
		if !slices.Contains(g.env, want) {
			t.Errorf("%s is not in %q", want, g.env)
		}
	}
}

func TestABuildThatIsGivenUpEndsTheCompiler(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	m, _ := testMaker(t)
	m.places = []string{script(t, `
case $1 in
env) echo '{"GOVERSION":"go1.99","GOCACHE":"/tmp","GOMODCACHE":"/tmp"}' ;;
build) exec >'`+pipe+`'; echo started; exec sleep 1000 ;;
esac`)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := m.load(ctx, "amd64")
		done <- err
	}()
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	if !lines.Scan() {
		t.Fatal("the build did not start")
	}
	cancel()
	if err := <-done; backends.CodeOf(err) != backends.CodeCancelled {
		t.Error(err)
	}
	if lines.Scan() { // the end of the pipe: nobody holds it any more
		t.Errorf("it goes on: %q", lines.Text())
	}
	left, err := filepath.Glob(filepath.Join(m.cache, "*"))
	if err != nil || len(left) != 1 { // the lock
		t.Errorf("%q is left, %v", left, err)
	}
}

// script makes a shell script that stands for a go command.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "go")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
