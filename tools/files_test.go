package tools

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func TestWriteReadEdit(t *testing.T) {
	b := onState(t, Options{})
	if got := b.ok("write_file", args{"path": "a/b.txt", "content": "one\ntwo\n"}); got != "Wrote 2 lines to a/b.txt" {
		t.Errorf("write: %q", got)
	}
	if got := b.ok("read_file", args{"path": "a/b.txt"}); got != "     1\tone\n     2\ttwo\n" {
		t.Errorf("read: %q", got)
	}
	r := b.call("edit_file", args{"path": "/workspace/a/b.txt", "old_string": "two", "new_string": "2"})
	if got := text(r); got != "Edited /workspace/a/b.txt: replaced 1 occurrence(s)" {
		t.Errorf("edit: %q", got)
	}
	if diff, _ := fact(r, "diff").(string); !strings.Contains(diff, "\n-two\n+2\n") {
		t.Errorf("diff: %q", diff)
	}
	if ref, _ := fact(r, "ref").(string); !strings.HasPrefix(ref, "state:") || ref != b.conn.Ref() {
		t.Errorf("ref: %q", ref)
	}
}

func TestReadSlices(t *testing.T) {
	b := onState(t, Options{})
	var content strings.Builder
	for i := 1; i <= 3000; i++ {
		fmt.Fprintf(&content, "line %d\n", i)
	}
	b.ok("write_file", args{"path": "long", "content": content.String()})
	whole := b.call("read_file", args{"path": "long"})
	if got := text(whole); !strings.HasSuffix(got, "  2000\tline 2000\n … (1000 more lines) next: offset=2000\n") {
		t.Errorf("ends with %q", got[len(got)-100:])
	}
	if fact(whole, "truncated") != true || fmt.Sprint(fact(whole, "total_lines")) != "3000" {
		t.Errorf("facts: %v", whole.Meta)
	}
	if got := b.ok("read_file", args{"path": "long", "offset": 2998, "limit": 10}); got != "  2999\tline 2999\n  3000\tline 3000\n" {
		t.Errorf("the end: %q", got)
	}
	if got := b.ok("read_file", args{"path": "long", "limit": 1}); got != "     1\tline 1\n … (2999 more lines) next: offset=1\n" {
		t.Errorf("one line: %q", got)
	}
	b.fails(backends.CodeInvalidArgument, "read_file", args{"path": "long", "offset": 3000}, "past the end", "3000 lines")
	b.ok("write_file", args{"path": "wide", "content": strings.Repeat("ä", 2500)})
	if got := b.ok("read_file", args{"path": "wide"}); !strings.HasSuffix(got, "ä … (500 more characters)\n") {
		t.Errorf("a long line ends with %q", got[len(got)-60:])
	}
	b.ok("write_file", args{"path": "none", "content": ""})
	if got := b.ok("read_file", args{"path": "none"}); got != "none is empty" {
		t.Errorf("an empty file: %q", got)
	}
}

func TestReadShowsBytesThatAreNotUTF8(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "latin1"), []byte("caf\xe9 \xff\xfe\nplain\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := onLocal(t, dir, Options{})
	if got := b.ok("read_file", args{"path": "latin1"}); got != "     1\tcaf\ufffd \ufffd\ufffd\n     2\tplain\n" {
		t.Errorf("read: %q", got)
	}
	b.ok("edit_file", args{"path": "latin1", "old_string": "plain", "new_string": "edited"})
	got, err := os.ReadFile(filepath.Join(dir, "latin1"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != "caf\xe9 \xff\xfe\nedited\n" {
		t.Errorf("the edit left %q", got)
	}
}

func TestEditIsRefusedWhenTheFileChangedSinceItWasRead(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a\n")
	b := onLocal(t, dir, Options{})
	edit := args{"path": "f", "old_string": "a", "new_string": "b"}
	b.ok("read_file", args{"path": "f"})
	write("a!\n")
	b.fails(backends.CodeStale, "edit_file", edit, "read it again")
	b.fails(backends.CodeStale, "edit_file", edit) // still
	b.ok("read_file", args{"path": "f"})
	b.ok("edit_file", edit)
	b.ok("edit_file", args{"path": "f", "old_string": "b", "new_string": "c"}) // its own edits count as seen
	write("never read by the other\n")
	other := onLocal(t, dir, Options{})
	other.ok("edit_file", args{"path": "f", "old_string": "never", "new_string": "not"})
	b.fails(backends.CodeStale, "edit_file", args{"path": "f", "old_string": "not", "new_string": "x"})
	b.ok("execute", args{"command": "printf new > f"})
	b.ok("write_file", args{"path": "f", "content": "whole\n"})
	b.ok("edit_file", args{"path": "f", "old_string": "whole", "new_string": "part"})
}

func TestStalenessFollowsThePathThatWasRead(t *testing.T) {
	dir := t.TempDir()
	for _, v := range []string{"v1", "v2"} {
		if err := os.WriteFile(filepath.Join(dir, v), []byte("same\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "cur")
	point := func(target string) {
		t.Helper()
		if err := os.Remove(link); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	point("v1")
	b := onLocal(t, dir, Options{})
	b.ok("read_file", args{"path": "cur"})
	point("v2")
	edit := args{"path": "cur", "old_string": "same", "new_string": "edited"}
	b.fails(backends.CodeStale, "edit_file", edit, "another file")
	b.ok("read_file", args{"path": "cur"})
	b.ok("edit_file", edit)

	// A read that shows nothing has not shown the change.
	b.ok("read_file", args{"path": "v1"})
	if err := os.WriteFile(filepath.Join(dir, "v1"), []byte("same, but changed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.fails(backends.CodeInvalidArgument, "read_file", args{"path": "v1", "offset": 99})
	b.fails(backends.CodeStale, "edit_file", args{"path": "v1", "old_string": "same", "new_string": "x"})
}

func TestHashlineEdit(t *testing.T) {
	b := onState(t, Options{EditFormat: EditByLine})
	b.ok("write_file", args{"path": "f", "content": "one\ntwo\nthree\n"})
	h := func(s string) string { return backends.LineHash([]byte(s)) }
	if got, want := b.ok("read_file", args{"path": "f"}), "1:"+h("one")+"|one\n2:"+h("two")+"|two\n3:"+h("three")+"|three\n"; got != want {
		t.Errorf("read: %q, want %q", got, want)
	}
	b.ok("hashline_edit", args{"path": "f", "start_line": 2, "start_hash": h("two"), "new_content": "2\n2b"})
	b.fails(backends.CodeStale, "hashline_edit", args{"path": "f", "start_line": 2, "start_hash": h("two"), "new_content": "x"}, "line 2")
	b.ok("hashline_edit", args{"path": "f", "start_line": 0, "new_content": "zero", "insert_after": true})
	if got := b.ok("read_file", args{"path": "f"}); strings.Count(got, "\n") != 5 || !strings.HasPrefix(got, "1:"+h("zero")+"|zero\n") {
		t.Errorf("read: %q", got)
	}
	for _, d := range definitions(EditByLine) {
		if d.name == "edit_file" {
			t.Error("edit_file is still offered")
		}
	}
}

func TestArgumentsAreRefusedByName(t *testing.T) {
	b := onState(t, Options{})
	for _, c := range []struct {
		tool string
		args args
		says string
	}{
		{"ls", args{"pth": "."}, `no argument "pth"; the arguments are path`},
		{"read_file", args{}, `"path" is missing`},
		{"read_file", args{"path": nil}, `"path" is missing`},
		{"read_file", args{"path": 3}, `"path" takes a string, not a number`},
		{"read_file", args{"path": "a", "offset": "3"}, `"offset" takes an integer, not a string`},
		{"read_file", args{"path": "a", "offset": 1.5}, `"offset" takes a whole number, not 1.5`},
		{"read_file", args{"path": "a", "offset": -1}, `"offset" is -1; it must be at least 0`},
		{"read_file", args{"path": "a", "limit": 0}, `"limit" is 0; it must be at least 1`},
		{"read_file", args{"path": "a", "limit": 1e300}, `"limit"`},
		{"edit_file", args{"path": "a", "old_string": "x", "new_string": "y", "replace_all": "yes"}, `"replace_all" takes a boolean, not a string`},
		{"grep", args{"pattern": "x", "output_mode": "lines"}, `"output_mode" is "lines"; it can be files_with_matches, content, count`},
		{"grep", args{"pattern": "x", "context": 1000}, `"context" is 1000`},
		{"execute", args{"command": "  "}, `"command" is empty`},
		{"execute", args{"command": "x", "timeout": 0}, `"timeout" is 0`},
		{"execute", args{"command": "a\x00b"}, "NUL"},
		{"read_file", args{"path": ""}, "the path is empty"},
		{"read_file", args{"path": "a\x00b"}, "NUL"},
	} {
		b.fails(backends.CodeInvalidArgument, c.tool, c.args, c.says)
	}
	r := b.callWith(map[string]any{"name": "ls", "arguments": []any{"."}})
	if fact(r, "code") != string(backends.CodeInvalidArgument) || !strings.Contains(text(r), "JSON object") {
		t.Errorf("an array of arguments: %s", text(r))
	}
	b.ok("ls", args{"path": nil}) // null is left out
	b.ok("ls", nil)
	if r := b.callWith(map[string]any{"name": "ls"}); r.IsError {
		t.Errorf("no arguments at all: %s", text(r))
	}
}

func TestListing(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"zdir", "adir"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{"b.txt": "12345", ".hidden": "", "new\nline": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link": "b.txt", "dlink": "adir", "nowhere": "gone"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	b := onLocal(t, dir, Options{})
	want := strings.Join([]string{
		"adir/", "dlink/ -> adir", "zdir/", ".hidden (0 bytes)", "b.txt (5 bytes)", "link (5 bytes) -> b.txt",
		`"new\nline" (1 bytes)`, "nowhere -> gone (leads nowhere in this workspace)",
	}, "\n")
	if got := b.ok("ls", nil); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := b.ok("ls", args{"path": "adir"}); got != "adir is an empty directory" {
		t.Errorf("empty: %q", got)
	}
	b.fails(backends.CodeNotFound, "ls", args{"path": "missing"})
	b.fails(backends.CodeNotDirectory, "ls", args{"path": "b.txt"}, "read_file")
	b.fails(backends.CodeIsDirectory, "read_file", args{"path": "adir"}, "ls")
	b.fails(backends.CodePermission, "read_file", args{"path": "../outside"}, "outside")
}

func TestLimitsAreSaid(t *testing.T) {
	b := onState(t, Options{})
	for i := range 130 {
		b.ok("write_file", args{"path": fmt.Sprintf("d/f%03d.txt", i), "content": "needle\n"})
	}
	got := strings.Split(b.ok("glob", args{"pattern": "**/*.txt"}), "\n")
	if len(got) != 101 || got[0] != "d/f000.txt" || got[100] != "… and 30 more" {
		t.Errorf("glob: %d lines, %q … %q", len(got), got[0], got[len(got)-1])
	}
	got = strings.Split(b.ok("grep", args{"pattern": "needle"}), "\n")
	if len(got) != 51 || got[0] != "d/f000.txt" || got[50] != "… and 80 more" {
		t.Errorf("grep: %d lines, %q … %q", len(got), got[0], got[len(got)-1])
	}
	got = strings.Split(b.ok("grep", args{"pattern": "needle", "output_mode": "content"}), "\n")
	if len(got) != 51 || got[0] != "d/f000.txt:1: needle" || got[50] != "… and 80 more" {
		t.Errorf("grep content: %d lines, %q … %q", len(got), got[0], got[len(got)-1])
	}
	if got := b.ok("grep", args{"pattern": "needle", "output_mode": "count", "path": "d/f001.txt"}); got != "d/f001.txt: 1" {
		t.Errorf("grep count: %q", got)
	}
	if got := b.ok("grep", args{"pattern": "absent"}); got != "No matches for absent in ." {
		t.Errorf("grep nothing: %q", got)
	}
	if got := b.ok("glob", args{"pattern": "*.md"}); got != "No files match *.md in ." {
		t.Errorf("glob nothing: %q", got)
	}
	b.fails(backends.CodeInvalidArgument, "grep", args{"pattern": "a(?=b)"}, "RE2")
}

func TestGrepContextIsMarked(t *testing.T) {
	b := onState(t, Options{})
	b.ok("write_file", args{"path": "f", "content": "1\n2\nx\n4\n5\n6\n7\nx\n9\n"})
	want := "f-2- 2\nf:3: x\nf-4- 4\n--\nf-7- 7\nf:8: x\nf-9- 9"
	if got := b.ok("grep", args{"pattern": "x", "output_mode": "content", "context": 1}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// No result is over 1 MB, whatever the file holds.
func TestResultsStayUnderOneMegabyte(t *testing.T) {
	b := onState(t, Options{})
	nasty := strings.Repeat(strings.Repeat("\x01<&>", 490)+"\n", 2000)
	b.ok("write_file", args{"path": "nasty.txt", "content": nasty})
	b.ok("write_file", args{"path": "wide.txt", "content": strings.Repeat("x", 3<<20)})
	for i := range 3500 {
		b.ok("write_file", args{"path": fmt.Sprintf("many/%04d%s", i, strings.Repeat("\x01", 30)), "content": ""})
	}
	for name, structured := range map[string]bool{"text": false, "structured": true} {
		t.Run(name, func(t *testing.T) {
			// The workspace is the connection's: the second server shares it.
			s := newSibling(t, b, Options{Structured: structured})
			for _, c := range []struct {
				tool string
				args args
			}{
				{"read_file", args{"path": "nasty.txt"}},
				{"read_file", args{"path": "wide.txt"}},
				{"grep", args{"pattern": ".", "output_mode": "content", "context": 100}},
				{"ls", args{"path": "many"}},
				{"grep", args{"pattern": "absent" + strings.Repeat("x?", 300_000)}},
				{"write_file", args{"path": strings.Repeat("./", 600_000) + "x", "content": ""}},
			} {
				r := s.call(c.tool, c.args)
				if r.IsError && c.tool != "grep" {
					t.Fatalf("%s: %.200s", c.tool, text(r))
				}
				encoded, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				if len(encoded) > 1_000_000 {
					t.Errorf("%s %v: %d bytes", c.tool, c.args, len(encoded))
				}
				if c.args["path"] == "nasty.txt" && !strings.Contains(text(r), "more lines)") {
					t.Errorf("%s %v is cut without saying so", c.tool, c.args)
				}
			}
		})
	}
}

// newSibling is another server over the connection of b.
func newSibling(t *testing.T, b *bench, opts Options) *bench {
	t.Helper()
	sibling := onState(t, opts)
	sibling.conn.cfg.Lazy = b.conn.cfg.Lazy
	return sibling
}

func TestImages(t *testing.T) {
	dir := t.TempDir()
	save := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	small := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	var pngSmall, gifSmall, pngNoise, pngAlpha, jpegBig bytes.Buffer
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(png.Encode(&pngSmall, small))
	check(gif.Encode(&gifSmall, small, nil))
	noise := image.NewNRGBA(image.Rect(0, 0, 2000, 1000))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = byte(random.Uint32())
	}
	check(png.Encode(&pngAlpha, noise))
	for i := 3; i < len(noise.Pix); i += 4 {
		noise.Pix[i] = 255
	}
	check(png.Encode(&pngNoise, noise))
	check(jpeg.Encode(&jpegBig, noise, &jpeg.Options{Quality: 95}))
	save("small.png", pngSmall.Bytes())
	save("small.gif", gifSmall.Bytes())
	save("noname", pngSmall.Bytes())
	save("noise.png", pngNoise.Bytes())
	save("alpha.png", pngAlpha.Bytes())
	save("big.jpg", jpegBig.Bytes())
	save("broken.png", pngSmall.Bytes()[:20])
	save("data.bin", []byte("\x7fELF\x00\x01"))
	save("utf16.txt", []byte("\xff\xfea\x00b\x00"))
	b := onLocal(t, dir, Options{})

	for name, mime := range map[string]string{"small.png": "image/png", "small.gif": "image/gif", "noname": "image/png"} {
		img := imageOf(t, b.call("read_file", args{"path": name}))
		if img.MIMEType != mime || img.Data != base64.StdEncoding.EncodeToString(mustRead(t, filepath.Join(dir, name))) {
			t.Errorf("%s is not shown as it is", name)
		}
	}
	for name, mime := range map[string]string{"noise.png": "image/jpeg", "alpha.png": "image/png", "big.jpg": "image/jpeg"} {
		r := b.call("read_file", args{"path": name})
		img := imageOf(t, r)
		raw, err := base64.StdEncoding.DecodeString(img.Data)
		check(err)
		cfg, _, err := image.DecodeConfig(bytes.NewReader(raw))
		check(err)
		if img.MIMEType != mime || len(img.Data) > maxResult || cfg.Width >= 2000 || cfg.Width < 200 || cfg.Width/2 != cfg.Height {
			t.Errorf("%s: %s, %d bytes, %d×%d", name, img.MIMEType, len(img.Data), cfg.Width, cfg.Height)
		}
		if want := fmt.Sprintf("2000×1000; shown scaled down to %d×%d", cfg.Width, cfg.Height); !strings.Contains(text(r), want) {
			t.Errorf("%s: %q does not say %q", name, text(r), want)
		}
	}
	b.fails(backends.CodeBinary, "read_file", args{"path": "broken.png"}, "cannot be decoded")
	b.fails(backends.CodeBinary, "read_file", args{"path": "data.bin"}, "application/x-elf, 6 bytes")
	b.fails(backends.CodeBinary, "read_file", args{"path": "utf16.txt"}, "convert it to UTF-8")
}

func imageOf(t *testing.T, r *mcp.CallToolResult) mcp.ImageContent {
	t.Helper()
	for _, c := range r.Content {
		if img, ok := c.(mcp.ImageContent); ok {
			return img
		}
	}
	t.Fatalf("no image: %s", text(r))
	return mcp.ImageContent{}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
