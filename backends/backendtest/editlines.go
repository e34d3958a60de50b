package backendtest

import (
	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testEditLines(s *suite) {
	hash := func(line string) string { return backends.LineHash([]byte(line)) }
	const five = "one\ntwo\nthree\nfour\nfive\n"

	for _, c := range []struct {
		name          string
		before, after string
		req           backends.EditLinesRequest
		replaced      int
	}{
		{"one line is replaced", five, "one\n2\nthree\nfour\nfive\n",
			backends.EditLinesRequest{StartLine: 2, StartHash: hash("two"), NewContent: "2"}, 1},
		{"one line becomes several", five, "one\n2\n2.5\nthree\nfour\nfive\n",
			backends.EditLinesRequest{StartLine: 2, StartHash: hash("two"), NewContent: "2\n2.5"}, 1},
		{"a range is replaced", five, "one\nx\nfive\n",
			backends.EditLinesRequest{StartLine: 2, StartHash: hash("two"), EndLine: 4, EndHash: hash("four"), NewContent: "x"}, 3},
		{"a range of one line is that line", five, "one\nx\nthree\nfour\nfive\n",
			backends.EditLinesRequest{StartLine: 2, StartHash: hash("two"), EndLine: 2, EndHash: hash("two"), NewContent: "x"}, 1},
		{"all lines are replaced", five, "x\n",
			backends.EditLinesRequest{StartLine: 1, StartHash: hash("one"), EndLine: 5, EndHash: hash("five"), NewContent: "x"}, 5},
		{"a line is deleted", five, "one\nthree\nfour\nfive\n",
			backends.EditLinesRequest{StartLine: 2, StartHash: hash("two")}, 1},
		{"a range is deleted", five, "one\ntwo\n",
			backends.EditLinesRequest{StartLine: 3, StartHash: hash("three"), EndLine: 5, EndHash: hash("five")}, 3},
		{"a line is inserted", five, "one\ntwo\n2.5\nthree\nfour\nfive\n",
			backends.EditLinesRequest{StartLine: 2, StartHash: hash("two"), NewContent: "2.5", InsertAfter: true}, 0},
		{"a line is inserted at the start", five, "zero\n" + five,
			backends.EditLinesRequest{NewContent: "zero", InsertAfter: true}, 0},
		{"a line is inserted at the end", five, five + "six\n",
			backends.EditLinesRequest{StartLine: 5, StartHash: hash("five"), NewContent: "six", InsertAfter: true}, 0},
		{"a line is inserted behind a last line without a newline", "one\ntwo", "one\ntwo\nthree",
			backends.EditLinesRequest{StartLine: 2, StartHash: hash("two"), NewContent: "three", InsertAfter: true}, 0},
		{"a last line without a newline is replaced", "one\ntwo", "one\n2",
			backends.EditLinesRequest{StartLine: 2, StartHash: hash("two"), NewContent: "2"}, 1},
		{"CRLF endings are kept", "one\r\ntwo\r\nthree\r\n", "one\r\n2\r\n2.5\r\nthree\r\n",
			backends.EditLinesRequest{StartLine: 2, StartHash: hash("two"), NewContent: "2\n2.5"}, 1},
		{"a byte order mark is kept", byteOrderMark + "one\ntwo\n", byteOrderMark + "1\ntwo\n",
			backends.EditLinesRequest{StartLine: 1, StartHash: hash("one"), NewContent: "1"}, 1},
		{"lines that are not touched stay byte for byte", "a" + notUTF8 + "\r\ntwo\nc" + notUTF8, "a" + notUTF8 + "\r\n2\nc" + notUTF8,
			backends.EditLinesRequest{StartLine: 2, StartHash: hash("two"), NewContent: "2"}, 1},
		{"an empty line is replaced", "one\n\nthree\n", "one\n2\nthree\n",
			backends.EditLinesRequest{StartLine: 2, StartHash: hash(""), NewContent: "2"}, 1},
	} {
		s.claim(c.name, func(p *place) {
			p.write("f", c.before)
			c.req.Path = "f"
			res, err := p.editLines(c.req)
			if err != nil {
				p.Fatalf("EditLines: %v", err)
			}
			p.wantBytes("f", c.after)
			if res.Replaced != c.replaced || res.Diff == "" || res.Version == "" {
				p.Errorf("answered %+v, want %d replaced, a diff and a version", res, c.replaced)
			}
		})
	}

	s.claim("the hashes that Read shows name the lines", func(p *place) {
		p.write("f", "\tone\r\n  two  \r\nthree\xff\r\n")
		for i, l := range p.read(backends.ReadRequest{Path: "f", Hashes: true}).Lines {
			if _, err := p.editLines(backends.EditLinesRequest{Path: "f", StartLine: i + 1, StartHash: l.Hash, NewContent: "new"}); err != nil {
				p.Errorf("line %d: %v", i+1, err)
			}
		}
		p.wantBytes("f", "new\r\nnew\r\nnew\r\n")
	})

	s.claim("a first line goes into an empty file", func(p *place) {
		p.write("f", "")
		if _, err := p.editLines(backends.EditLinesRequest{Path: "f", NewContent: "one", InsertAfter: true}); err != nil {
			p.Fatal(err)
		}
		wantEqual(p.T, "Read", texts(p.read(backends.ReadRequest{Path: "f"}).Lines), []string{"one"})
	})

	for _, c := range []struct {
		name string
		req  backends.EditLinesRequest
		want backends.Code
	}{
		{"a hash that does not match is stale", backends.EditLinesRequest{StartLine: 2, StartHash: hash("three"), NewContent: "x"}, backends.CodeStale},
		{"a hash of the end that does not match is stale", backends.EditLinesRequest{StartLine: 2, StartHash: hash("two"), EndLine: 4, EndHash: hash("five"), NewContent: "x"}, backends.CodeStale},
		{"a hash that does not match is stale for an insertion", backends.EditLinesRequest{StartLine: 2, StartHash: hash("three"), NewContent: "x", InsertAfter: true}, backends.CodeStale},
		{"a line past the end is refused", backends.EditLinesRequest{StartLine: 6, StartHash: hash("six"), NewContent: "x"}, backends.CodeInvalidArgument},
		{"a range past the end is refused", backends.EditLinesRequest{StartLine: 2, StartHash: hash("two"), EndLine: 6, EndHash: hash("six"), NewContent: "x"}, backends.CodeInvalidArgument},
		{"a range that ends before it starts is refused", backends.EditLinesRequest{StartLine: 4, StartHash: hash("four"), EndLine: 2, EndHash: hash("two"), NewContent: "x"}, backends.CodeInvalidArgument},
		{"line 0 cannot be replaced", backends.EditLinesRequest{StartLine: 0, NewContent: "x"}, backends.CodeInvalidArgument},
		{"a negative line is refused", backends.EditLinesRequest{StartLine: -1, StartHash: hash("one"), NewContent: "x"}, backends.CodeInvalidArgument},
	} {
		s.claim(c.name, func(p *place) {
			p.write("f", five)
			c.req.Path = "f"
			_, err := p.editLines(c.req)
			wantCode(p.T, "EditLines", err, c.want)
			p.wantBytes("f", five)
		})
	}
}
