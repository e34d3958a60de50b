package program

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// buildInDir, set, makes the test binary load the agent for amd64 with this
// cache directory, as a server would, and say on standard output what happens.
const buildInDir = "TEST_GUEST_CACHE"

func buildAsProcess() int {
	m := newMaker(func(line string) { fmt.Println("progress:", line) })
	m.cache = os.Getenv(buildInDir)
	p, err := m.load(context.Background(), "amd64")
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println("digest:", p.Digest)
	return 0
}

func TestServersStartedAtOnceBuildOnce(t *testing.T) {
	dir := t.TempDir()
	// Held until both wait for it, so that they are there at the same time.
	unlock, err := cache{dir}.lock(t.Context(), func() { t.Error("the lock of a new directory is held") })
	if err != nil {
		t.Fatal(err)
	}
	type process struct {
		cmd   *exec.Cmd
		lines *bufio.Scanner
	}
	var processes []process
	for range 2 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), buildInDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p := process{cmd, bufio.NewScanner(out)}
		if !p.lines.Scan() || !strings.Contains(p.lines.Text(), "waiting for another") {
			t.Fatalf("it does not wait for the lock: %q", p.lines.Text())
		}
		processes = append(processes, p)
	}
	unlock()
	builds, digests := 0, map[string]bool{}
	for _, p := range processes {
		for p.lines.Scan() {
			kind, rest, _ := strings.Cut(p.lines.Text(), ": ")
			switch {
			case kind == "digest":
				digests[rest] = true
			case strings.HasPrefix(rest, "building"):
				builds++
			default:
				t.Error(p.lines.Text())
			}
		}
		if err := p.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if builds != 1 || len(digests) != 1 {
		t.Errorf("%d builds, digests %v", builds, digests)
	}
}

func TestMakeWithNextToNoEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows programs always have an environment")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	// Where Go and what it has downloaded are on this machine; no PATH, no HOME.
	cmd.Env = []string{buildInDir + "=" + t.TempDir()}
	for _, name := range []string{"GOROOT", "GOCACHE", "GOMODCACHE", "GOPROXY"} {
		cmd.Env = append(cmd.Env, name+"="+goEnvOf(t, name))
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "digest: "+madeHere(t).Digest) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestABrokenCacheFileIsMadeAnew(t *testing.T) {
	m, told := testMaker(t)
	good, err := m.load(t.Context(), "amd64")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(m.cache, "*.gz"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, content := range map[string][]byte{"empty": nil, "cut short": whole[:len(whole)-1], "one bit flipped": flipped, "text": []byte("x")} {
		write(t, files[0], content)
		*told = nil
		p, err := m.load(t.Context(), "amd64")
		if err != nil || p.Digest != good.Digest || len(*told) != 1 {
			t.Errorf("%s: %v %v", name, err, *told)
		}
		if now, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(now, whole) {
			t.Errorf("%s: it was not mended (%v)", name, err)
		}
		*told = nil
		if _, err := m.load(t.Context(), "amd64"); err != nil || len(*told) != 0 {
			t.Errorf("%s: the mended file is not used: %v %v", name, err, *told)
		}
	}
}

func TestACacheThatCannotBeWrittenStillAnswers(t *testing.T) {
	in := filepath.Join(t.TempDir(), "file")
	write(t, in, nil)
	for name, dir := range map[string]string{"a file in its way": filepath.Join(in, "cache"), "none known": ""} {
		m, told := testMaker(t)
		m.cache = dir
		p, err := m.load(t.Context(), "amd64")
		if err != nil || p.Digest != madeHere(t).Digest {
			t.Errorf("%s: %v", name, err)
		}
		if len(*told) != 2 || !strings.Contains((*told)[1], "keeping the guest agent") {
			t.Errorf("%s: told %q", name, *told)
		}
	}
}

func TestWithoutAWayToMakeItTheErrorSaysWhatToDo(t *testing.T) {
	_, here, _, _ := runtime.Caller(0)
	for name, c := range map[string]struct {
		change func(*maker)
		says   string
	}{
		"no Go":              {func(m *maker) { m.places = nil }, "no Go toolchain was found"},
		"no source":          {func(m *maker) { m.source, m.lacks = findSource(nil, modulePath+"/backends/guest/program/source.go") }, "-trimpath"},
		"the source is gone": {func(m *maker) { m.source, m.lacks = findSource(nil, filepath.Join(t.TempDir(), "a/b/c/d.go")) }, "is gone"},
		"another module":     {func(m *maker) { m.source, m.lacks = findSource(nil, otherModule(t)) }, "is not the module"},
		"a version unheard of": {func(m *maker) {
			t.Setenv("GOPROXY", "off")
			m.source = source{version: "v0.0.1-none", sum: "h1:x"}
		}, "cannot be had"},
		"a Go that fails": {func(m *maker) { m.places = []string{here} }, "does not work"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := testMaker(t)
			c.change(m)
			_, err := m.load(t.Context(), "arm64")
			if backends.CodeOf(err) != backends.CodeUnsupported {
				t.Fatalf("the code is %q: %v", backends.CodeOf(err), err)
			}
			for _, part := range []string{"linux/arm64", c.says, "make build", "install Go", "--guest PATH"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

func TestWaitingForAnotherBuildCanBeGivenUp(t *testing.T) {
	m, _ := testMaker(t)
	unlock, err := cache{m.cache}.lock(t.Context(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	m.progress = func(string) { cancel() } // told when it waits
	if _, err := m.load(ctx, "amd64"); backends.CodeOf(err) != backends.CodeCancelled {
		t.Errorf("%v", err)
	}
	unlock()
	// The wait that was given up does not keep the lock.
	unlock, err = cache{m.cache}.lock(t.Context(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestTheCacheKeepsTheNewest(t *testing.T) {
	c := cache{t.TempDir()}
	for i := range 2 * cacheKeeps {
		name := fmt.Sprintf("%032x-linux-amd64", i)
		if err := c.write(name, []byte("agent")); err != nil {
			t.Fatal(err)
		}
		if data, err := c.read(name); err != nil || string(data) != "agent" {
			t.Fatalf("%q, %v", data, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(c.dir, "*"))
	if err != nil || len(files) != cacheKeeps {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// testMaker is a maker with a cache of its own, and what it says.
func testMaker(t *testing.T) (m *maker, told *[]string) {
	t.Helper()
	told = new([]string)
	m = newMaker(func(line string) { *told = append(*told, line) })
	m.cache = t.TempDir()
	return m, told
}

// madeHere is the agent for amd64 as it is made from this checkout.
func madeHere(t *testing.T) Program {
	t.Helper()
	p, err := newMaker(func(string) {}).load(t.Context(), "amd64")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func otherModule(t *testing.T) string {
	root := t.TempDir()
	write(t, filepath.Join(root, "go.mod"), []byte("module example.com/other\n"))
	return filepath.Join(root, "a", "b", "c", "d.go")
}

func goEnvOf(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", "-json", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	return got[name]
}
