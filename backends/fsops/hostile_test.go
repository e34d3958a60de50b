package fsops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func TestGrepTakesAnyRepeat(t *testing.T) {
	long := strings.Repeat("x", 2<<20) + ";\n"
	tree, dir := walkTree(t, map[string]string{"f": strings.Repeat(" ", 40) + "b\n", "long": long})
	for _, c := range []struct {
		pattern string
		multi   bool
		want    []string
	}{
		{`\s{1,1000}[^a]`, true, []string{"f"}},
		{`[\s\S]{1,600}`, true, []string{"f", "long"}},
		{`.{0,600}[;}]`, false, []string{"long"}},
		{`.{600,1000};`, false, []string{"long"}},
		{`^x{1,1000}.{0,1000}y`, false, nil},
		{`((x{1,10}){1,10}){1,10};`, false, []string{"long"}},
	} {
		res, err := tree.Grep(t.Context(), backends.GrepRequest{Pattern: c.pattern, Multiline: c.multi})
		if err != nil || !slices.Equal(grepPaths(res, dir), c.want) {
			t.Errorf("%s: %q, %v; want %q", c.pattern, grepPaths(res, dir), err, c.want)
		}
	}
}

func TestGrepRefusesPatternsWithoutMeasure(t *testing.T) {
	pattern := "(?:" + strings.Repeat("abcdefghij", 20) + "){1000}"
	_, err := compileGrep(backends.GrepRequest{Pattern: pattern})
	if backends.CodeOf(err) != backends.CodeInvalidArgument || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v", err)
	}
}

// givenUpAfter is a context that ends after a while, and how long ago it did.
func givenUpAfter(t *testing.T, wait time.Duration) (ctx context.Context, since func() time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	t.Cleanup(cancel)
	end := time.Now().Add(wait)
	return ctx, func() time.Duration { return time.Since(end) }
}

func TestGrepStopsInTheMiddleOfHardWork(t *testing.T) {
	line := strings.Repeat("ab", 2<<20)
	for _, c := range []struct {
		name, content, pattern string
		multi                  bool
	}{
		{"a long line", line + "\n", `((a?){30}){30}[ab]{900}[^ab]`, false},
		{"many lines", strings.Repeat(strings.Repeat("ab", 500)+"\n", 4000), `((a?){30}){30}[ab]{900}[^ab]`, false},
		{"over lines", strings.Repeat(strings.Repeat("ab", 500)+"\n", 4000), `((a?){30}){30}[ab\n]{900}[^ab\n]`, true},
		{"matches that each look at all of the text", strings.Repeat("a", 3<<20), `a(?s:.*\x01)?`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, _ := walkTree(t, map[string]string{"f": c.content})
			ctx, since := givenUpAfter(t, 100*time.Millisecond)
			_, err := tree.Grep(ctx, backends.GrepRequest{Pattern: c.pattern, Multiline: c.multi, Mode: backends.GrepCount})
			if backends.CodeOf(err) != backends.CodeCancelled {
				t.Errorf("%v", err)
			}
			if late := since(); late > 2*time.Second {
				t.Errorf("ended %v late", late)
			}
		})
	}
}

// panicking is walkOS with a defect.
type panicking struct{ walkOS }

func (panicking) ReadDir(name string) ([]fs.DirEntry, error) {
	if filepath.Base(name) == "bad" {
		panic("a defect")
	}
	return walkOS{"/"}.ReadDir(name)
}

func TestWalkSurvivesADefect(t *testing.T) {
	_, dir := walkTree(t, map[string]string{"a/f": "x", "bad/f": "x", "c/f": "x"})
	tree := New(panicking{walkOS{"/"}}, dir)
	_, grepErr := tree.Grep(t.Context(), backends.GrepRequest{Pattern: "x"})
	_, globErr := tree.Glob(t.Context(), backends.GlobRequest{Pattern: "**"})
	for _, err := range []error{grepErr, globErr} {
		if backends.CodeOf(err) != backends.CodeInternal || !strings.Contains(err.Error(), "a defect") {
			t.Errorf("%v", err)
		}
	}
}

func TestLinksLeadWhereTheKernelGoes(t *testing.T) {
	_, dir := walkTree(t, map[string]string{
		"root/x": "outer", "root/sub/x": "inner", "root/sub/deep/": "", "root/file": "",
		"root/dl":      "-> sub/deep",
		"root/via":     "-> dl/../x",
		"root/twice":   "-> dl/../deep/../x",
		"root/slash":   "-> sub/deep/../",
		"root/dot":     "-> sub/./deep/.././x",
		"root/through": "-> file/../x",
		"root/nowhere": "-> missing/../x",
		"root/new":     "-> missing/y",
		"root/out":     "-> ../other",
		"root/up":      "-> dl/../../..",
		"root/round":   "-> ../root/sub/x",
		"root/high":    "-> dl/../../x",
	})
	for name, target := range map[string]string{"abs": "/root/dl/../x", "absround": "/root/../root/x", "absup": "/root/dl/../../../other"} {
		if err := os.Symlink(dir+target, dir+"/root/"+name); err != nil {
			t.Fatal(err)
		}
	}
	root := dir + "/root"
	tree := New(walkOS{root}, root)
	for _, c := range []struct {
		path, want string
		code       backends.Code
	}{
		{"via", "/sub/x", ""}, {"twice", "/sub/x", ""}, {"slash", "/sub", ""}, {"slash/x", "/sub/x", ""}, {"dot", "/sub/x", ""},
		{"abs", "/sub/x", ""}, {"absround", "/x", ""}, {"round", "/sub/x", ""}, {"high", "/x", ""}, {"new", "/missing/y", ""},
		{"dl/../x", "/x", ""}, // as a path is cleaned first
		{"through", "", backends.CodeNotDirectory}, {"nowhere", "", backends.CodeNotFound},
		{"out", "", backends.CodePermission}, {"up", "", backends.CodePermission}, {"absup", "", backends.CodePermission},
	} {
		res, err := tree.Resolve(t.Context(), c.path)
		if backends.CodeOf(err) != c.code || c.code == "" && res.Resolved != root+c.want {
			t.Errorf("%s: %q, %v; want %q %s", c.path, res.Resolved, err, c.want, c.code)
		}
		if real, err := filepath.EvalSymlinks(root + "/" + c.path); err == nil && c.code == "" && c.path != "dl/../x" && real != res.Resolved {
			t.Errorf("%s: %q, but the system goes to %q", c.path, res.Resolved, real)
		}
	}
}

func TestNearestPlaceIsFoundInTime(t *testing.T) {
	content := []byte(strings.Repeat("x\ny\n\tz\n}\n", 5_000)) // 20,000 lines
	old := strings.Repeat("y\n  z\n}\nx\n", 500)
	begin := time.Now()
	if message, err := noMatch(t.Context(), content, old); err != nil || !strings.Contains(message, "the nearest place is line 2") {
		t.Errorf("%v: %.300s", err, message)
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := noMatch(ended, bytes.Repeat([]byte(strings.Repeat("abc ", 100)+"\n"), 20_000), strings.Repeat("xyz ", 100)); backends.CodeOf(err) != backends.CodeCancelled {
		t.Errorf("given up: %v", err)
	}
}

// locking is walkOS with a lock, and counts who has it.
type locking struct {
	walkOS
	mu       *sync.Mutex
	held     *atomic.Bool
	replaced func(name string) error // after each Replace
}

func (l locking) Lock(ctx context.Context, _ string) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.held.Store(true)
	return func() {
		l.held.Store(false)
		l.mu.Unlock()
	}, nil
}

func (l locking) Replace(name string, mode fs.FileMode, content func(io.Writer) error) error {
	err := l.walkOS.Replace(name, mode, content)
	if !l.held.Load() {
		return errors.New("replaced without a lock")
	}
	if l.replaced != nil {
		err = errors.Join(err, l.replaced(name))
	}
	return err
}

func newLocking() locking {
	return locking{walkOS: walkOS{"/"}, mu: new(sync.Mutex), held: new(atomic.Bool)}
}

func TestTwoTreesWithALockLoseNoEdit(t *testing.T) {
	_, dir := walkTree(t, map[string]string{"f": ""})
	fsys := newLocking()
	const each = 30
	var wg sync.WaitGroup
	for i := range 2 {
		tree := New(fsys, dir) // another process would have one of its own
		wg.Go(func() {
			for j := range each {
				req := backends.EditLinesRequest{Path: "f", NewContent: fmt.Sprintf("%d-%d", i, j), InsertAfter: true}
				if _, err := tree.EditLines(t.Context(), req); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	content, err := os.ReadFile(dir + "/f")
	if got := bytes.Count(content, newline); err != nil || got != 2*each {
		t.Errorf("%d of %d edits are there, %v", got, 2*each, err)
	}
	if _, err := New(fsys, dir).Write(t.Context(), backends.WriteRequest{Path: "new/g", Content: strings.NewReader("x")}); err != nil {
		t.Error(err)
	}
	if fsys.held.Load() {
		t.Error("the lock is still held")
	}
}

// lookedAt is a context that tells when it is looked at.
type lookedAt struct {
	context.Context
	look func()
}

func (c lookedAt) Err() error {
	c.look()
	return c.Context.Err()
}

func TestNoMatchIsExplainedWithoutTheLock(t *testing.T) {
	_, dir := walkTree(t, map[string]string{"f": strings.Repeat(strings.Repeat("some words ", 20)+"\n", 20_000)})
	fsys := newLocking()
	tree := New(fsys, dir)
	var last, looks int
	ctx := lookedAt{t.Context(), func() {
		looks++
		if fsys.held.Load() {
			last = looks
		}
	}}
	_, err := tree.Edit(ctx, backends.EditRequest{Path: "f", Old: strings.Repeat("other text ", 20), New: "x"})
	if backends.CodeOf(err) != backends.CodeNoMatch || !strings.HasPrefix(err.Error(), dir+"/f: ") {
		t.Errorf("%v", err)
	}
	if looks-last < 5 {
		t.Errorf("%d looks at the context, the last with the lock held was number %d", looks, last)
	}
}

func TestWaitingForALockCanBeGivenUp(t *testing.T) {
	tree, dir := walkTree(t, map[string]string{"f": "x"})
	unlock, err := tree.locks.lock(t.Context(), dir+"/f")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := tree.Edit(ctx, backends.EditRequest{Path: "f", Old: "x", New: "y"})
		done <- err
	}()
	cancel()
	if err := <-done; backends.CodeOf(err) != backends.CodeCancelled {
		t.Errorf("%v", err)
	}
	unlock()
	if len(tree.locks.held) != 0 {
		t.Errorf("%d locks are remembered", len(tree.locks.held))
	}
	if _, err := tree.Edit(t.Context(), backends.EditRequest{Path: "f", Old: "x", New: "y"}); err != nil {
		t.Error(err)
	}
}

func TestVersionIsOfWhatWasWritten(t *testing.T) {
	for name, size := range map[string]int{"small": 100, "large": hashedSize + 100} {
		t.Run(name, func(t *testing.T) {
			text := "first\n" + strings.Repeat("x", size)
			_, dir := walkTree(t, map[string]string{"f": text})
			fsys := newLocking()
			fsys.replaced = func(name string) error { // a program that takes no lock
				return os.WriteFile(name, []byte("two\n"+text), 0o644)
			}
			tree := New(fsys, dir)
			written, err := tree.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader(text)})
			if err != nil {
				t.Fatal(err)
			}
			edited, err := tree.Edit(t.Context(), backends.EditRequest{Path: "f", Old: "first", New: "another"})
			if err != nil {
				t.Fatal(err)
			}
			is, err := tree.Read(t.Context(), backends.ReadRequest{Path: "f", Limit: 1, MaxLine: 10})
			if err != nil {
				t.Fatal(err)
			}
			if written.Version == is.Version || edited.Version == is.Version {
				t.Errorf("another program's content has the version that the write or edit answered with")
			}
			fsys.replaced = os.Remove
			if _, err := New(fsys, dir).Edit(t.Context(), backends.EditRequest{Path: "f", Old: "two", New: "three"}); err != nil {
				t.Errorf("a file that went after it was written: %v", err)
			}
		})
	}
}

func TestWriteRefusesTheNameOfADirectory(t *testing.T) {
	tree, dir := walkTree(t, map[string]string{"f": "x", "d/": ""})
	for p, code := range map[string]backends.Code{
		"new/": backends.CodeInvalidArgument, "a/new/.": backends.CodeInvalidArgument, "a/b/..": backends.CodeInvalidArgument,
		"f/": backends.CodeInvalidArgument, "d/": backends.CodeIsDirectory, ".": backends.CodeIsDirectory,
	} {
		if _, err := tree.Write(t.Context(), backends.WriteRequest{Path: p, Content: strings.NewReader("y")}); backends.CodeOf(err) != code {
			t.Errorf("%s: %v, want %s", p, err, code)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestErrorsOfDevicesSaySomething(t *testing.T) {
	for errno, code := range map[syscall.Errno]backends.Code{
		syscall.EIO: backends.CodeInternal, syscall.ENXIO: backends.CodeInvalidArgument, syscall.ENODEV: backends.CodeInvalidArgument,
	} {
		err := fail("read", "/p", &fs.PathError{Op: "read", Path: "/p", Err: errno})
		var e *backends.Error
		if !errors.As(err, &e) || e.Code != code || e.Message == "" {
			t.Errorf("%v: %+v", errno, e)
		}
	}
}

func TestIgnoreFilesAreBounded(t *testing.T) {
	files := map[string]string{}
	dir := ""
	for range 30 {
		files[dir+".gitignore"] = strings.Repeat("*a[bc]d*\n", maxIgnoreFile/9)
		files[dir+"f"] = "x"
		dir += "d/"
	}
	files["other/.gitignore"] = strings.Repeat("a\n", maxIgnoreLines) + "f\n"
	files["other/f"] = "x"
	files["small/.gitignore"] = "f\n"
	files["small/f"] = "x"
	tree, _ := walkTree(t, files)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	res, err := tree.Grep(t.Context(), backends.GrepRequest{Pattern: "x"})
	runtime.ReadMemStats(&after)
	if err != nil || res.Matched != 31 {
		t.Errorf("%d files with a match, %v; want all but small/f", res.Matched, err)
	}
	if res.Skipped < 28 {
		t.Errorf("%d skipped", res.Skipped)
	}
	if grown := after.Sys - before.Sys; grown > 600<<20 {
		t.Errorf("took %d MB", grown>>20)
	}
}

// deepFS counts what a search asks by name.
type deepFS struct {
	walkDirs
	asked *atomic.Int64
}

func (d deepFS) Lstat(name string) (fs.FileInfo, error) {
	d.asked.Add(1)
	return d.walkDirs.Lstat(name)
}

func (d deepFS) Open(name string) (File, error) {
	d.asked.Add(1)
	return d.walkDirs.Open(name)
}

func TestNestedIgnoreFilesAreReadWhereTheyAre(t *testing.T) {
	files := map[string]string{}
	dir := ""
	for range 100 {
		files[dir+".gitignore"] = "ignored\n"
		dir += "d/"
	}
	files[dir+"f"] = "x"
	_, root := walkTree(t, files)
	fsys := deepFS{newWalkDirs(), new(atomic.Int64)}
	res, err := New(fsys, root).Grep(t.Context(), backends.GrepRequest{Pattern: "x"})
	if err != nil || res.Matched != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	if n := fsys.asked.Load(); n > 50 {
		t.Errorf("%d questions by name for 100 directories", n)
	}
}

func TestIgnoreRulesCanBeGivenUp(t *testing.T) {
	rules := strings.Repeat("/"+strings.Repeat("a*", 90)+"b\n", 5000)
	files := map[string]string{".gitignore": rules}
	for i := range 200 {
		files[fmt.Sprintf("%s%d", strings.Repeat("a", 200), i)] = ""
	}
	tree, _ := walkTree(t, files)
	ctx, since := givenUpAfter(t, 100*time.Millisecond)
	if _, err := tree.Glob(ctx, backends.GlobRequest{Pattern: "**"}); backends.CodeOf(err) != backends.CodeCancelled {
		t.Errorf("%v", err)
	}
	if late := since(); late > 2*time.Second {
		t.Errorf("ended %v late", late)
	}
}
