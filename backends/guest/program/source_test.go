package program

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func TestTheKeyCoversEveryPackageThatIsBuiltIn(t *testing.T) {
	covered, err := hashSource(sha256.New(), moduleRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range architectures {
		cmd := exec.Command("go", "list", "-deps", "./"+commandPath)
		cmd.Dir = moduleRoot(t)
		cmd.Env = goEnv(os.Environ(), "", arch)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for pkg := range strings.Lines(string(out)) {
			below, ours := strings.CutPrefix(strings.TrimSpace(pkg), modulePath+"/")
			if ours && !slices.Contains(covered, below) {
				t.Errorf("%s: %s is not covered", arch, below)
			}
		}
	}
}

func TestTheKeyChangesWithWhatDeterminesTheAgent(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":                            "module " + modulePath + "\n",
		"go.sum":                            "",
		"cmd/mcp-workspace-guest/main.go":   "package main\n\nimport _ \"" + modulePath + "/needed\"\n",
		"needed/needed.go":                  "package needed\n\nimport _ \"embed\"\n\n//go:embed data\nvar data string\n",
		"needed/data/text":                  "text",
		"cmd/mcp-workspace-guest/a_test.go": "package main\n",
		"other/other.go":                    "package other\n",
	} {
		write(t, inTree(t, root, name), []byte(content))
	}
	s, err := checkout(root)
	if err != nil {
		t.Fatal(err)
	}
	key := func(arch, release string) string {
		t.Helper()
		k, err := s.key(arch, release)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := key("amd64", "v1")
	if key("amd64", "v1") != first {
		t.Error("the same twice has different keys")
	}
	if key("arm64", "v1") == first || key("amd64", "v2") == first {
		t.Error("the architecture or the release makes no difference")
	}
	for name, changes := range map[string]bool{
		"go.mod": true, "go.sum": true, "cmd/mcp-workspace-guest/main.go": true, "needed/needed.go": true,
		"needed/data/text": true, "needed/new.go": true, "cmd/mcp-workspace-guest/a_test.go": false, "other/other.go": false,
	} {
		before := key("amd64", "v1")
		f, err := os.OpenFile(inTree(t, root, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("\n// changed\n"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if after := key("amd64", "v1"); (after != before) != changes {
			t.Errorf("changing %s changes the key: %v, want %v", name, after != before, changes)
		}
	}
}

func TestFindSource(t *testing.T) {
	root := moduleRoot(t)
	here := filepath.Join(root, "backends", "guest", "program", "source.go")
	trimmed := modulePath + "@v1.2.3/backends/guest/program/source.go"
	ours := debug.Module{Path: modulePath, Version: "v1.2.3", Sum: "h1:sum"}
	replaced := ours
	replaced.Replace = &debug.Module{Path: "../mcp-workspace"}
	for name, c := range map[string]struct {
		info *debug.BuildInfo
		here string
		want source
		fail bool
	}{
		"a checkout":                   {&debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "v1.2.3+dirty"}}, here, source{dir: root}, false},
		"nothing is known but a path":  {nil, here, source{dir: root}, false},
		"a version":                    {&debug.BuildInfo{Main: ours}, trimmed, source{version: "v1.2.3", sum: "h1:sum"}, false},
		"a version, still there":       {&debug.BuildInfo{Main: ours}, here, source{root, "v1.2.3", "h1:sum"}, false},
		"a version, removed since":     {&debug.BuildInfo{Main: ours}, "/none/a/b/c.go", source{version: "v1.2.3", sum: "h1:sum"}, false},
		"in another program":           {&debug.BuildInfo{Main: debug.Module{Path: "x"}, Deps: []*debug.Module{&ours}}, trimmed, source{version: "v1.2.3", sum: "h1:sum"}, false},
		"in another program, replaced": {&debug.BuildInfo{Main: debug.Module{Path: "x"}, Deps: []*debug.Module{&replaced}}, here, source{dir: root}, false},
		"replaced and trimmed":         {&debug.BuildInfo{Main: debug.Module{Path: "x"}, Deps: []*debug.Module{&replaced}}, trimmed, source{}, true},
		"nothing is known":             {nil, "", source{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := findSource(c.info, c.here)
			if got != c.want || (err != nil) != c.fail {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestAnInstalledVersionIsBuiltFromTheModuleCache(t *testing.T) {
	const release = "v0.9.1-test"
	proxy := filepath.ToSlash(t.TempDir())
	downloaded := filepath.ToSlash(filepath.Join(goEnvOf(t, "GOMODCACHE"), "cache", "download"))
	versions := filepath.Join(proxy, filepath.FromSlash(modulePath), "@v")
	mod, err := os.ReadFile(filepath.Join(moduleRoot(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, inTree(t, versions, release+".mod"), mod)
	write(t, filepath.Join(versions, release+".info"), fmt.Appendf(nil, `{"Version":%q}`, release))
	zipModule(t, filepath.Join(versions, release+".zip"), release)

	t.Setenv("GOPROXY", fileURL(proxy)+","+fileURL(downloaded)+",off")
	t.Setenv("GONOSUMDB", modulePath)
	t.Setenv("GONOPROXY", "none")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Cleanup(func() { // its directories are read-only
		if out, err := exec.Command("go", "clean", "-modcache").CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})

	m, told := testMaker(t)
	m.release = release
	m.source, m.lacks = source{version: release, sum: "h1:other"}, nil
	if _, err := m.load(t.Context(), "amd64"); err == nil || !strings.Contains(err.Error(), "is not what this program was built from (h1:") {
		t.Fatalf("another sum: %v", err)
	} else {
		_, rest, _ := strings.Cut(err.Error(), "built from (")
		m.source.sum, _, _ = strings.Cut(rest, " ")
	}
	p, err := m.load(t.Context(), "amd64")
	if err != nil {
		t.Fatal(err)
	}
	if here := madeAs(t, release); p.Digest != here.Digest {
		t.Errorf("it differs from what the same source in a checkout gives")
	}
	// Once made, neither Go nor the source is needed.
	*told, m.places = nil, nil
	if again, err := m.load(t.Context(), "amd64"); err != nil || again.Digest != p.Digest || len(*told) != 0 {
		t.Errorf("from the cache: %v %v", err, *told)
	}
}

func TestPackGivesTheSameBytesElsewhere(t *testing.T) {
	root := filepath.Join(t.TempDir(), "somewhere", "else")
	copyModule(t, root)
	out := t.TempDir()
	if err := Pack(t.Context(), root, "v1.2.3", out); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(out, "linux-amd64.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := unpack(f)
	if err != nil {
		t.Fatal(err)
	}
	if newProgram(data).Digest != madeAs(t, "v1.2.3").Digest {
		t.Error("the same source gives other bytes in another directory")
	}
	if err := Pack(t.Context(), t.TempDir(), "v1.2.3", out); err == nil {
		t.Error("a directory without the source is packed")
	}
	if err := Pack(t.Context(), root, "it's", out); err == nil || !strings.Contains(err.Error(), "the version") {
		t.Errorf("a version with a quote: %v", err)
	}
	embeddedIsTaken(t, out)
}

// embeddedIsTaken runs TestEmbedded in a test binary that has what was packed
// inside.
func embeddedIsTaken(t *testing.T, packed string) {
	t.Helper()
	var replace []string
	for _, arch := range architectures {
		for _, kind := range []string{".gz", ".sha256"} {
			name := "linux-" + arch + kind
			replace = append(replace, fmt.Sprintf("%q:%q", filepath.Join(moduleRoot(t), "backends", "guest", "program", "packed", name), filepath.Join(packed, name)))
		}
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	write(t, overlay, []byte(`{"Replace":{`+strings.Join(replace, ",")+`}}`))
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-tags=guest_embedded", "-overlay="+overlay, "-run=^TestEmbedded$", ".")
	cmd.Env = append(os.Environ(), "TEST_GUEST_DIGEST="+madeAs(t, "v1.2.3").Digest)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestEmbedded") {
		t.Errorf("%v\n%s", err, out)
	}
}

// madeAs is the agent for amd64 from this checkout with a release's name.
func madeAs(t *testing.T, release string) Program {
	t.Helper()
	m := newMaker(func(string) {})
	m.release, m.cache = release, t.TempDir()
	m.source, m.lacks = checkout(moduleRoot(t))
	m.places = goPlaces("", os.Getenv, "")
	data, err := m.build(context.WithoutCancel(t.Context()), "amd64")
	if err != nil {
		t.Fatal(err)
	}
	return newProgram(data)
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// moduleFiles calls each with the files that the agent is built from.
func moduleFiles(t *testing.T, each func(name string, content []byte)) {
	t.Helper()
	root := moduleRoot(t)
	packages, err := hashSource(sha256.New(), root)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"go.mod", "go.sum"}
	for _, pkg := range packages {
		entries, err := fs.Glob(os.DirFS(root), pkg+"/*.go")
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, entries...)
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		each(name, content)
	}
}

func copyModule(t *testing.T, to string) {
	t.Helper()
	moduleFiles(t, func(name string, content []byte) { write(t, inTree(t, to, name), content) })
}

func zipModule(t *testing.T, path, release string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	moduleFiles(t, func(name string, content []byte) {
		w, err := z.Create(modulePath + "@" + release + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	})
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// inTree is the path of a file below root, whose directory is made.
func inTree(t *testing.T, root, name string) string {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func fileURL(path string) string {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return "file://" + path
}
