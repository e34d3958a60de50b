package state

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

func example() *Document {
	at := time.Date(2026, 1, 31, 18, 30, 0, 123456000, time.UTC)
	return &Document{
		WorkingDir:  "/workspace",
		Owner:       "alice@example.com",
		Created:     at,
		Directories: []string{"/empty", "/workspace/logs"},
		Files: map[string]File{
			"/etc/motd":                  {Content: []byte("welcome\n"), Mode: 0o644, ModTime: at},
			"/workspace/a-b.txt":         {Content: []byte("sorts before what is in /workspace/a\n"), Mode: 0o600, ModTime: at},
			"/workspace/a/b.txt":         {Content: []byte(""), Mode: 0o644, ModTime: at},
			"/workspace/a/latest":        {Link: "../a-b.txt"},
			"/workspace/bytes.bin":       {Content: []byte{0, 1, 2, 0xff, 0xfe}, Mode: 0o644, ModTime: at},
			"/workspace/latin1.txt":      {Content: []byte("caf\xe9\n"), Mode: 0o644},
			"/workspace/run.sh":          {Content: []byte("#!/bin/sh\nprintf '%s\\n' \"<&>\"\t# \x01 \x7f   𝄞\r\n"), Mode: 0o755, ModTime: at},
			"/workspace/ü \"q\"\n-dash/": {},
		},
	}
}

// goldenExample is example without the name that no document can have.
func goldenExample() *Document {
	d := example()
	delete(d.Files, "/workspace/ü \"q\"\n-dash/")
	d.Files["/workspace/ü \"q\"\n-dash/-x"] = File{Content: []byte("x"), Mode: 0o444, ModTime: d.Created}
	return d
}

func TestDocumentLooksAsPromised(t *testing.T) {
	got, err := goldenExample().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/example.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the document has changed:\n%s", got)
	}
	if !json.Valid(got) {
		t.Error("the document is not JSON")
	}
}

func TestDocumentRoundTrips(t *testing.T) {
	want := goldenExample()
	data, err := want.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseDocument(data)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range want.Files {
		if g := got.Files[name]; !bytes.Equal(g.Content, f.Content) || g.Link != f.Link || g.Mode != f.Mode || !g.ModTime.Equal(f.ModTime) {
			t.Errorf("%q: got %+v, want %+v", name, g, f)
		}
	}
	if len(got.Files) != len(want.Files) || !reflect.DeepEqual(got.Directories, want.Directories) ||
		got.WorkingDir != want.WorkingDir || got.Owner != want.Owner || !got.Created.Equal(want.Created) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	again, err := got.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, data) {
		t.Errorf("other bytes the second time:\n%s", again)
	}
}

func TestDocumentWrittenByHand(t *testing.T) {
	d, err := ParseDocument([]byte(`{"files":{"/w/a":{"text":"x"},"/w/b":{"mode":"0000","base64":""}},"working_dir":"/w","version":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if a := d.Files["/w/a"]; a.Mode != 0o644 || !a.ModTime.IsZero() || string(a.Content) != "x" {
		t.Errorf("defaults: %+v", a)
	}
	if b := d.Files["/w/b"]; b.Mode != 0 {
		t.Errorf("mode 0000 has become %v", b.Mode)
	}
}

func TestDocumentRefused(t *testing.T) {
	inFiles := func(files string) string {
		return `{"version": 1, "working_dir": "/w", "directories": [], "files": {` + files + `}}`
	}
	const x = `{"text": ""}`
	deep := "/" + strings.Repeat("d/", 2100) + "f"
	for _, c := range []struct{ name, document, says string }{
		{"empty", ``, "ends too early"},
		{"cut off", `{"version": 1, "working_dir": "/w",`, "ends too early"},
		{"not an object", `[]`, "must be an object"},
		{"not JSON", "{\n  \"version\": 1,\n  nope}", "line 3: "},
		{"something after it", inFiles("") + "{}", "after the document"},
		{"no version", `{"working_dir": "/w"}`, `"version" is missing`},
		{"newer version", `{"version": 2, "future": {}}`, "version 2, and this program knows only version 1"},
		{"newer version, last", `{"future": {}, "version": 2}`, "version 2, and this program knows only version 1"},
		{"version as text", `{"version": "1"}`, "must be a number"},
		{"no working_dir", `{"version": 1}`, `"working_dir" is missing`},
		{"relative working_dir", `{"version": 1, "working_dir": "w"}`, "working_dir: "},
		{"working_dir is a file", inFiles(`"/w": ` + x), "working_dir: "},
		{"unknown field", "{\"version\": 1,\n\"color\": 3}", `line 2: unknown field "color"`},
		{"unknown field of a file", inFiles(`"/a": {"text": "", "size": "3"}`), `unknown field "size"`},
		{"field twice", `{"version": 1, "version": 1}`, `"version" occurs twice`},
		{"file twice", inFiles(`"/a": ` + x + `, "/a": ` + x), `"/a" occurs twice`},
		{"file twice by escapes", inFiles(`"/a": ` + x + `, "/\u0061": ` + x), `"/a" occurs twice`},
		{"directory twice", `{"version": 1, "working_dir": "/w", "directories": ["/d", "/d"]}`, `"/d" occurs twice`},
		{"text twice", inFiles(`"/a": {"text": "1", "text": "2"}`), `"text" occurs twice`},
		{"text and base64", inFiles(`"/a": {"text": "1", "base64": ""}`), "must have one of"},
		{"no content", inFiles(`"/a": {"mode": "0644"}`), "must have one of"},
		{"content null", inFiles(`"/a": {"text": null}`), "must be a string"},
		{"bad base64", inFiles(`"/a": {"base64": "*"}`), "base64 that cannot be read"},
		{"bad mode", inFiles(`"/a": {"text": "", "mode": "1777"}`), "must be octal"},
		{"bad time", inFiles(`"/a": {"text": "", "modified": "yesterday"}`), "must be a time"},
		{"link with mode", inFiles(`"/a": {"link": "b", "mode": "0644"}`), "cannot have mode"},
		{"link with NUL", inFiles(`"/a": {"link": "b\u0000"}`), "without NUL"},
		{"empty link", inFiles(`"/a": {"link": ""}`), "is empty"},
		{"relative path", inFiles(`"a": ` + x), "must be an absolute path"},
		{"empty path", inFiles(`"": ` + x), "must be an absolute path"},
		{"dot dot", inFiles(`"/a/../b": ` + x), "must be an absolute path"},
		{"final slash", inFiles(`"/a/": ` + x), "must be an absolute path"},
		{"root as file", inFiles(`"/": ` + x), "is a directory"},
		{"root as directory", `{"version": 1, "working_dir": "/w", "directories": ["/"]}`, "occurs twice"},
		{"NUL in a path", inFiles(`"/a\u0000": ` + x), "NUL"},
		{"long name", inFiles(`"/` + strings.Repeat("n", 256) + `": ` + x), "too long"},
		{"long path", inFiles(`"` + deep + `": ` + x), "too long"},
		{"file inside a file", inFiles(`"/a": ` + x + `, "/a/b": ` + x), `"/a" is a file or a link`},
		{"file inside a file, other order", inFiles(`"/a/b": ` + x + `, "/a": ` + x), `"/a" occurs twice`},
		{"file inside a link", inFiles(`"/a": {"link": "w"}, "/a/b": ` + x), `"/a" is a file or a link`},
		{"directory is a file", `{"version": 1, "working_dir": "/w", "files": {"/a": ` + x + `}, "directories": ["/a"]}`, `"/a" is a file or a link`},
		{"not UTF-8", inFiles("\n\"/a\": {\"text\": \"\xff\"}"), "line 2: the document is not UTF-8"},
		{"lone surrogate", inFiles(`"/a": {"text": "\ud834"}`), "lone surrogate"},
		{"surrogates the wrong way round", inFiles(`"/a": {"text": "\udd1e\ud834"}`), "lone surrogate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseDocument([]byte(c.document))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got error %v, want one that says %q", err, c.says)
			}
		})
	}
}

func TestSurrogatePairsAndBackslashesAreKept(t *testing.T) {
	d, err := ParseDocument([]byte(`{"version": 1, "working_dir": "/w", "files": {"/a": {"text": "\ud834\udd1e \\ud834 \\\\"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(d.Files["/a"].Content), `𝄞 \ud834 \\`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMarshalRefuses(t *testing.T) {
	for name, change := range map[string]func(*Document){
		"a name that is not UTF-8":   func(d *Document) { d.Files["/\xff"] = File{} },
		"a link with content":        func(d *Document) { d.Files["/l"] = File{Link: "x", Content: []byte("x")} },
		"a mode that is not bits":    func(d *Document) { d.Files["/f"] = File{Mode: 0o644 | 1<<31} },
		"a time without a year":      func(d *Document) { d.Files["/f"] = File{ModTime: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)} },
		"an owner that is not UTF-8": func(d *Document) { d.Owner = "\xff" },
		"no working directory":       func(d *Document) { d.WorkingDir = "" },
	} {
		d := goldenExample()
		change(d)
		if _, err := d.Marshal(); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := example().Marshal(); err == nil || !strings.Contains(err.Error(), "absolute path") {
		t.Errorf("a final slash: got error %v", err)
	}
}

func TestHeaderIsReadFromTheStart(t *testing.T) {
	d := goldenExample()
	data, err := d.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	h, err := parseHeader(data[:200])
	if err != nil || h.workingDir != d.WorkingDir || h.owner != d.Owner || !h.created.Equal(d.Created) {
		t.Errorf("got %+v, %v", h, err)
	}
	for _, start := range []string{"", string(data[:20]), `{"working_dir":"/w","files":{}`, `{"version":7,"working_dir":"/w","files":{}`} {
		if h, err := parseHeader([]byte(start)); err == nil {
			t.Errorf("%q: got %+v without an error", start, h)
		}
	}
}

func FuzzDocument(f *testing.F) {
	golden, err := os.ReadFile("testdata/example.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	for _, s := range []string{
		`{"version":1,"working_dir":"/"}`,
		`{"version":1,"working_dir":"/w","files":{"/w/a":{"text":"\ud834\udd1e"},"/l":{"link":"/x"}},"directories":["/d/e"]}`,
		`{"version":1,"working_dir":"/a/b","created":"2026-01-01T00:00:00.1234567+02:00","files":{"/a.b":{"base64":"AP8="}}}`,
		`{"version":1,"working_dir":"/w","files":{"/a":{"text":""},"/a/b":{"text":""}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// Whatever a start of it is, a header does not panic.
		_, _ = parseHeader(data)
		d, err := ParseDocument(data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatal("accepted what is not JSON")
		}
		if !slices.IsSorted(d.Directories) {
			t.Fatalf("not in order: %q", d.Directories)
		}
		once, err := d.Marshal()
		if err != nil {
			t.Fatalf("cannot be written: %v", err)
		}
		again, err := ParseDocument(once)
		if err != nil {
			t.Fatalf("cannot be read again: %v\n%s", err, once)
		}
		twice, err := again.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once, twice) {
			t.Fatalf("not stable:\n%s\n%s", once, twice)
		}
		if len(d.Files) != len(again.Files) || len(d.Directories) != len(again.Directories) {
			t.Fatalf("something was lost: %+v %+v", d, again)
		}
		for name, file := range d.Files {
			if got := again.Files[name]; !bytes.Equal(got.Content, file.Content) || got.Link != file.Link || got.Mode != file.Mode || !got.ModTime.Equal(file.ModTime) {
				t.Fatalf("%q: %+v has become %+v", name, file, got)
			}
		}
		if h, err := parseHeader(once); err != nil || h.workingDir != d.WorkingDir || h.owner != d.Owner {
			t.Fatalf("header %+v, %v", h, err)
		}
	})
}
