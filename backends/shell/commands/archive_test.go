package commands

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

func archiveOf(t *testing.T, headers ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		content := ""
		if h.Typeflag == tar.TypeReg {
			content = "content"
			h.Size = int64(len(content))
		}
		h.Mode, h.Format = 0o644, tar.FormatGNU
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTarDoesNotLeaveItsDirectory(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg} }
	link := func(name, target string) tar.Header {
		return tar.Header{Name: name, Linkname: target, Typeflag: tar.TypeSymlink}
	}
	for _, c := range []struct {
		name    string
		members []tar.Header
		code    int
	}{
		{"a name with ..", []tar.Header{file("../evil")}, 2},
		{"a name with .. inside", []tar.Header{file("a/../../evil")}, 2},
		{"an absolute name", []tar.Header{file("/evil")}, 0},
		{"through a symlink up", []tar.Header{link("l", ".."), file("l/evil")}, 2},
		{"through an absolute symlink", []tar.Header{link("l", "/"), file("l/evil")}, 2},
		{"through two symlinks", []tar.Header{link("d", "."), link("d/l", ".."), file("l/evil")}, 2},
		{"a hard link to what is outside", []tar.Header{{Name: "h", Linkname: "../../secret", Typeflag: tar.TypeLink}}, 2},
		{"a device", []tar.Header{{Name: "dev", Typeflag: tar.TypeChar}}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := newFiles(t, map[string]string{"in/sub/": "", "a.tar": archiveOf(t, c.members...)})
			got := runOn(t, files, "", "tar", "-C", "in/sub", "-xf", "a.tar")
			if got.code != c.code {
				t.Errorf("it is %d, should be %d: %s", got.code, c.code, got.err)
			}
			for _, name := range []string{"/evil", "/work/evil", "/work/in/evil"} {
				if _, err := files.Lstat(name); err == nil {
					t.Errorf("%s was made", name)
				}
			}
		})
	}
}

func TestTar(t *testing.T) {
	f := map[string]string{"d/a": "1\n", "d/b": "22\n", "d/l": "-> a", "x.tar": archiveOf(t, tar.Header{Name: "p/q/f", Typeflag: tar.TypeReg}, tar.Header{Name: "p/g", Typeflag: tar.TypeReg})}
	runCases(t, []commandCase{
		{name: "create says what", files: f, argv: "tar cvf y.tar d", out: "d/\nd/a\nd/b\nd/l\n"},
		{name: "list", files: f, argv: "tar tf x.tar", out: "p/q/f\np/g\n"},
		{name: "extract", files: f, argv: "tar xf x.tar", after: map[string]string{"p/q/f": "content", "p/g": "content"}},
		{name: "strip", files: f, argv: "tar xf x.tar --strip-components=1", after: map[string]string{"q/f": "content", "g": "content", "p": "-"}},
		{name: "to standard output", files: f, argv: "tar xOf x.tar p/g", out: "content"},
		{name: "a member that is not there", files: f, argv: "tar xf x.tar nope", err: "tar: nope: Not found in archive", code: 2},
		{name: "exclude", files: f, argv: "tar tf x.tar --exclude=q", out: "p/g\n"},
		{name: "keep", files: map[string]string{"x.tar": f["x.tar"], "p/g": "old"}, argv: "tar xkf x.tar p/g", err: "p/g: Cannot open: File exists", code: 2, after: map[string]string{"p/g": "old"}},
		{name: "no mode", argv: "tar -f x", err: "You must specify one of", code: 2},
		{name: "no archive", argv: "tar xf nope", err: "tar: nope: Cannot open: No such file or directory", code: 2},
		{name: "garbage", files: map[string]string{"g": strings.Repeat("x", 2000)}, argv: "tar tf g", err: "This does not look like a tar archive", code: 2},
		{name: "cut", files: map[string]string{"g": f["x.tar"][:514]}, argv: "tar xf g", err: "Unexpected EOF in archive", code: 2},
		{name: "compression that there is not", files: f, argv: "tar cJf y d", err: "this compression is not supported here", code: 2},
	})
}

func TestGzip(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := io.WriteString(w, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	packed := z.String()
	damaged := packed[:len(packed)-6] + "\x00\x00\x00\x00\x00\x00"
	runCases(t, []commandCase{
		{name: "gunzip", files: map[string]string{"a.gz": packed}, argv: "gunzip a.gz", after: map[string]string{"a": "hello\n", "a.gz": "-"}},
		{name: "keep", files: map[string]string{"a.gz": packed}, argv: "gzip -dk a.gz", after: map[string]string{"a": "hello\n", "a.gz": packed}},
		{name: "zcat", files: map[string]string{"a.gz": packed}, argv: "zcat a.gz", out: "hello\n"},
		{name: "members", stdin: packed + packed, argv: "gunzip", out: "hello\nhello\n"},
		{name: "test", files: map[string]string{"a.gz": packed}, argv: "gzip -t a.gz"},
		{name: "cut", stdin: packed[:len(packed)-9], argv: "gzip -t", err: "unexpected end of file", code: 1},
		{name: "damage", stdin: damaged, argv: "gzip -t", err: "invalid compressed data--crc error", code: 1},
		{name: "not gzip", stdin: "plain", argv: "gunzip", err: "not in gzip format", code: 1},
		{name: "does not overwrite", files: map[string]string{"a.gz": packed, "a": "old"}, argv: "gunzip a.gz", err: "a already exists;\tnot overwritten", code: 2, after: map[string]string{"a": "old"}},
		{name: "force", files: map[string]string{"a.gz": packed, "a": "old"}, argv: "gunzip -f a.gz", after: map[string]string{"a": "hello\n"}},
		{name: "unknown suffix", files: map[string]string{"a": packed}, argv: "gunzip a", err: "a: unknown suffix -- ignored", code: 2},
	})
}

// bomb is length zeros, compressed.
func bomb(t *testing.T, length int64) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.CopyN(w, zeros{}, length); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestBombsEndWithAnErrorAndLeaveNothing(t *testing.T) {
	small := func(files map[string]string) *vfs.FS {
		big := vfs.New(vfs.Options{Limits: vfs.Limits{TotalBytes: 4 << 20, FileBytes: 1 << 20, Entries: 100, OpenFiles: 20}})
		mkdir(t, big, "/work")
		for name, content := range files {
			w, err := big.Create("/work/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, content); err != nil {
				t.Fatal(err)
			}
			w.Close()
		}
		return big
	}
	var many []tar.Header
	for i := range 300 {
		many = append(many, tar.Header{Name: strings.Repeat("x", i%200+1) + "/f", Typeflag: tar.TypeReg})
	}
	for _, c := range []struct{ name, file, content, argv, err, gone string }{
		{"gunzip", "a.gz", bomb(t, 50<<20), "gunzip a.gz", "File too large", "a"},
		{"tar of many files", "a.tar", archiveOf(t, many...), "tar xf a.tar", "No space left on device", ""},
		{"unzip", "a.zip", zipOf(t, zipMember{name: "a", content: strings.Repeat("\x00", 50<<20)}), "unzip a.zip", "File too large", "a"},
		{"zip of an endless device", "x", "", "zip a.zip /dev/zero", "Nothing to do", "a.zip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := small(map[string]string{c.file: c.content})
			got := runOn(t, files, "", argvOf(c.argv)...)
			if got.code == 0 || !strings.Contains(got.err, c.err) {
				t.Errorf("it is %d, %q; should say %q", got.code, got.err, c.err)
			}
			if _, err := files.Stat("/work/" + c.gone); c.gone != "" && err == nil {
				t.Errorf("%s is left", c.gone)
			}
		})
	}
}

func TestEndlessWorkEndsWithItsContext(t *testing.T) {
	for _, c := range []struct{ name, stdin, argv string }{
		{"bc loop", "while (1) x+=1\n", "bc"},
		{"bc empty loop", "for (;;) {}\n", "bc"},
		{"bc large scale", "scale=100000\ne(1)\n", "bc -l"},
		{"factor of two large primes", "", "factor 115792089237316195423570985008687907853"},
		{"gunzip to nowhere", bomb(t, 1<<28), "gzip -t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			argv := argvOf(c.argv)
			cmd := Lookup(argv[0])
			memory := NewMemory(64<<20, nil)
			p := &Proc{Name: argv[0], Args: argv[1:], Dir: "/work", Stdin: strings.NewReader(c.stdin), Stdout: io.Discard, Stderr: io.Discard,
				Files: newFiles(t, nil), Memory: memory, System: DefaultSystem}
			start := time.Now()
			code := p.Main(ctx, cmd)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("it went on for %v", took)
			}
			if code == 0 && ctx.Err() != nil {
				t.Errorf("it was ended and says that all is well")
			}
			if memory.Used() != 0 {
				t.Errorf("%d bytes stay taken", memory.Used())
			}
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	for _, c := range []struct{ name, stdin, argv, err string }{
		{"bc array", "x=2^100000\nfor (i=0;i<100000;i++) a[i]=x+i\n", "bc", "memory exhausted"},
		{"bc recursion", "define f(n) { return f(n+1) }\nf(1)\n", "bc", "deep"},
		{"bc power", "9^99999999\n", "bc", "million digits"},
		{"bc growing number", "x=2\nwhile (1) x=x*x\n", "bc", "million digits"},
		{"bc nesting", strings.Repeat("(", 100_000) + "\n", "bc", "nested too deeply"},
		{"bc scale", "scale=10^9\n1/3\n", "bc", "scale too large"},
		{"expr nesting", "", "expr" + strings.Repeat(" (", 5000), "nested too deeply"},
		{"diff", "", "diff /dev/stdin a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := runCommand(t, map[string]string{"a": "x\n"}, c.stdin, argvOf(c.argv)...)
			if !strings.Contains(got.err, c.err) {
				t.Errorf("stderr is %.300q, should have %q", got.err, c.err)
			}
		})
	}
}
