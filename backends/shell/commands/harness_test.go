package commands

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

func init() {
	panicked = func(r any, stack []byte) {
		os.Stderr.Write(stack)
		panic(r)
	}
}

// result is what a command did.
type result struct {
	out, err string
	code     int
	files    *vfs.FS
}

// read returns the content of a file, by its path below /work.
func (r result) read(t testing.TB, name string) string {
	t.Helper()
	f, err := r.files.Open(path.Join("/work", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// newFiles makes a file system that holds files below /work. A name that ends
// in "/" is an empty directory, a content that starts with "-> " makes a
// symlink, and a content that starts with "#!" is executable.
func newFiles(t testing.TB, files map[string]string) *vfs.FS {
	t.Helper()
	f := vfs.New(vfs.Options{Limits: vfs.Limits{TotalBytes: 256 << 20, FileBytes: 128 << 20, Entries: 1 << 17, OpenFiles: 256}})
	mkdir(t, f, "/work")
	for name, content := range files {
		name = "/work/" + name
		if strings.HasSuffix(name, "/") {
			mkdir(t, f, path.Clean(name))
			continue
		}
		mkdir(t, f, path.Dir(name))
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			if err := f.Symlink(target, name); err != nil {
				t.Fatal(err)
			}
			continue
		}
		w, err := f.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if strings.HasPrefix(content, "#!") {
			if err := f.Chmod(name, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f
}

func mkdir(t testing.TB, f *vfs.FS, name string) {
	t.Helper()
	if info, err := f.Stat(name); err == nil && info.IsDir() {
		return
	}
	mkdir(t, f, path.Dir(name))
	if err := f.Mkdir(name, fs.ModePerm); err != nil {
		t.Fatal(err)
	}
}

// runCommand runs one command in /work, over files as newFiles makes them.
func runCommand(t testing.TB, files map[string]string, stdin string, argv ...string) result {
	t.Helper()
	return runOn(t, newFiles(t, files), stdin, argv...)
}

// runOn is runCommand over files that are there.
func runOn(t testing.TB, files *vfs.FS, stdin string, argv ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	memory := NewMemory(128<<20, nil)
	var start func(ctx context.Context, c Call) int
	start = func(ctx context.Context, c Call) int {
		cmd := Lookup(path.Base(c.Args[0]))
		if cmd == nil {
			text, code := NotFound(c.Args[0])
			_, _ = io.WriteString(c.Stderr, c.Args[0]+": "+text+"\n")
			return code
		}
		p := &Proc{Name: cmd.Name, Args: c.Args[1:], Dir: c.Dir, Env: c.Env, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
			Files: files, Memory: memory, System: DefaultSystem, Start: start}
		return p.Main(ctx, cmd)
	}
	var in io.Reader = NoInput{}
	if stdin != "" {
		in = strings.NewReader(stdin)
	}
	code := start(ctx, Call{Args: argv, Dir: "/work", Env: []string{"PATH=/usr/bin:/bin", "HOME=/work", "TZ=UTC"},
		Stdin: in, Stdout: &out, Stderr: &errs})
	if ctx.Err() != nil {
		t.Fatalf("%q did not end", argv)
	}
	if used := memory.Used(); used != 0 {
		t.Errorf("%q keeps %d bytes of memory taken", argv, used)
	}
	if _, _, open := files.Used(); open != 0 {
		t.Errorf("%q leaves %d files open", argv, open)
	}
	return result{out.String(), errs.String(), code, files}
}
