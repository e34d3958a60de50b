package backendtest

import (
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testVersions(s *suite) {
	version := func(p *place, name string) string {
		p.Helper()
		v := p.read(backends.ReadRequest{Path: name, Limit: 1}).Version
		if v == "" {
			p.Fatal("Read answered without a version")
		}
		return v
	}

	s.claim("the version of an untouched file stays, whatever part of it is read", func(p *place) {
		p.write("f", "one\ntwo\nthree\n")
		v := version(p, "f")
		p.stat("f")
		p.list(".")
		for _, req := range []backends.ReadRequest{{}, {Offset: 1, Limit: 1}, {Offset: 99}, {MaxLine: 1, Hashes: true}} {
			req.Path = "f"
			if got := p.read(req).Version; got != v {
				p.Errorf("Read %+v answered version %q, want %q", req, got, v)
			}
		}
	})

	s.claim("a version from Write, Read or Edit lets the next edit through", func(p *place) {
		v := p.write("f", "0\n").Version
		for i, step := range []string{"Write", "Edit", "Read", "EditLines"} {
			res, err := p.edit(backends.EditRequest{Path: "f", Old: string(rune('0' + i)), New: string(rune('1' + i)), IfVersion: v})
			if err != nil {
				p.Fatalf("with the version from %s: %v", step, err)
			}
			switch v = res.Version; i {
			case 1:
				v = version(p, "f")
			case 2:
				res, err := p.editLines(backends.EditLinesRequest{Path: "f", NewContent: "top", InsertAfter: true, IfVersion: v})
				if err != nil {
					p.Fatal(err)
				}
				v = res.Version
			}
		}
		p.wantBytes("f", "top\n4\n")
	})

	s.claim("the version changes with the content, also at one size and in one instant", func(p *place) {
		seen := map[string]string{}
		for _, content := range []string{"aaaa\n", "bbbb\n", "cccc\n", "dddd\n", "aaa\n", ""} {
			p.write("f", content)
			v := version(p, "f")
			if other, found := seen[v]; found {
				p.Errorf("%q and %q have the same version %q", other, content, v)
			}
			seen[v] = content
		}
	})

	s.claim("an edit of a file that has changed is stale", func(p *place) {
		v := p.write("f", "same old\n").Version
		p.write("f", "same new\n")
		_, err := p.edit(backends.EditRequest{Path: "f", Old: "same", New: "x", IfVersion: v})
		wantCode(p.T, "Edit", err, backends.CodeStale)
		_, err = p.editLines(backends.EditLinesRequest{Path: "f", StartLine: 1, StartHash: backends.LineHash([]byte("same new")), NewContent: "x", IfVersion: v})
		wantCode(p.T, "EditLines", err, backends.CodeStale)
		p.wantBytes("f", "same new\n")
	})

	for _, c := range []struct {
		name string
		size int
	}{{"a small file", 10}, {"a large file", 6 << 20}} {
		s.claim("a change in place that keeps size and time is seen: "+c.name, func(p *place) {
			p.needCommands()
			p.writeBig("f", "old\n"+strings.Repeat("x\n", c.size/2))
			v := version(p, "f")
			p.sh(`cp -p "$1/f" "$1/ref" && printf new | dd of="$1/f" conv=notrunc 2>/dev/null && touch -r "$1/ref" "$1/f"`, p.dir)
			if got := p.read(backends.ReadRequest{Path: "f", Limit: 1}); got.Lines[0].Text != "new" || got.Version == v {
				p.Errorf("the first line is %q and the version %q, which was that of the old content", got.Lines[0].Text, v)
			}
			_, err := p.edit(backends.EditRequest{Path: "f", Old: "new", New: "mine", IfVersion: v})
			wantCode(p.T, "Edit", err, backends.CodeStale)
		})
	}
}
