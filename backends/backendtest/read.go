package backendtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testRead(s *suite) {
	for _, c := range []struct {
		name, content string
		lines         []string
	}{
		{"an empty file has no lines", "", nil},
		{"a newline alone is one empty line", "\n", []string{""}},
		{"a last line without a newline counts", "one\ntwo", []string{"one", "two"}},
		{"a final newline begins no further line", "one\ntwo\n", []string{"one", "two"}},
		{"empty lines are lines", "\n\none\n\n", []string{"", "", "one", ""}},
		{"CRLF endings are left out", "one\r\ntwo\r\n\r\nfour", []string{"one", "two", "", "four"}},
		{"mixed endings are left out", "one\r\ntwo\nthree\r\n", []string{"one", "two", "three"}},
		{"white space is kept", "  one \t\n\ttwo  \n", []string{"  one \t", "\ttwo  "}},
		{"a leading byte order mark is left out", "\xef\xbb\xbfone\n\xef\xbb\xbftwo\n", []string{"one", "\ufefftwo"}},
		{"bytes that are not UTF-8 are the file's own", "a\xffb\n\xc3\n", []string{"a\xffb", "\xc3"}},
	} {
		s.claim(c.name, func(p *place) {
			p.write("f", c.content)
			res := p.read(backends.ReadRequest{Path: "f"})
			wantEqual(p.T, "Read", texts(res.Lines), c.lines)
			if res.TotalLines != len(c.lines) || res.Size != int64(len(c.content)) {
				p.Errorf("Read counted %d lines and %d bytes, want %d and %d", res.TotalLines, res.Size, len(c.lines), len(c.content))
			}
			for _, l := range res.Lines {
				if l.Cut != 0 || l.Hash != "" {
					p.Errorf("line %+v is cut, or has a hash that was not asked for", l)
				}
			}
		})
	}

	s.claim("a slice has the lines asked for", func(p *place) {
		p.write("f", "0\n1\n2\n3\n4\n")
		for _, c := range []struct {
			offset, limit int
			want          []string
		}{
			{0, 0, []string{"0", "1", "2", "3", "4"}},
			{0, 2, []string{"0", "1"}},
			{2, 2, []string{"2", "3"}},
			{4, 1, []string{"4"}},
			{4, 9, []string{"4"}},
			{5, 1, nil},
			{500, 0, nil},
		} {
			res := p.read(backends.ReadRequest{Path: "f", Offset: c.offset, Limit: c.limit})
			wantEqual(p.T, fmt.Sprintf("offset %d, limit %d", c.offset, c.limit), texts(res.Lines), c.want)
			if res.TotalLines != 5 {
				p.Errorf("offset %d, limit %d: TotalLines is %d", c.offset, c.limit, res.TotalLines)
			}
		}
	})

	s.claim("a negative offset or limit is refused", func(p *place) {
		p.write("f", "0\n1\n")
		for _, req := range []backends.ReadRequest{{Offset: -1}, {Limit: -1}} {
			req.Path = p.at("f")
			_, err := p.ws.Read(p.Context(), req)
			wantCode(p.T, fmt.Sprintf("Read %+v", req), err, backends.CodeInvalidArgument)
		}
	})

	s.claim("without a limit a slice has the default number of lines", func(p *place) {
		p.write("f", strings.Repeat("line\n", backends.DefaultReadLines+5))
		res := p.read(backends.ReadRequest{Path: "f"})
		if len(res.Lines) != backends.DefaultReadLines || res.TotalLines != backends.DefaultReadLines+5 {
			p.Errorf("%d lines of %d", len(res.Lines), res.TotalLines)
		}
	})

	s.claim("slices of a huge file are the right lines", func(p *place) {
		n := s.h.HugeLines
		line := func(i int) string { return fmt.Sprintf("line %d of the huge file", i) }
		p.emptyLater("f")
		r, w := io.Pipe()
		go func() {
			b := bufio.NewWriter(w)
			for i := range n {
				fmt.Fprintln(b, line(i))
			}
			w.CloseWithError(b.Flush())
		}()
		res := p.writeReq(backends.WriteRequest{Path: p.at("f"), Content: r})
		if res.Lines != n {
			p.Errorf("Write counted %d lines, want %d", res.Lines, n)
		}
		for _, offset := range []int{0, 1, n/2 - 3, n - 5, n - 1, n, n + 1} {
			got := p.read(backends.ReadRequest{Path: "f", Offset: offset, Limit: 5})
			var want []string
			for i := offset; i < min(offset+5, n); i++ {
				want = append(want, line(i))
			}
			wantEqual(p.T, fmt.Sprintf("offset %d", offset), texts(got.Lines), want)
			if got.TotalLines != n || got.Size != res.Bytes {
				p.Errorf("offset %d: %d lines in %d bytes, want %d in %d", offset, got.TotalLines, got.Size, n, res.Bytes)
			}
		}
	})

	s.claim("a long line is cut by characters, not bytes", func(p *place) {
		p.write("f", "short\n"+strings.Repeat("é", 30)+"\n"+strings.Repeat("🙂", 10)+"\nabcdefghijk\n")
		res := p.read(backends.ReadRequest{Path: "f", MaxLine: 10})
		wantEqual(p.T, "Read", texts(res.Lines), []string{"short", strings.Repeat("é", 10), strings.Repeat("🙂", 10), "abcdefghij"})
		for i, cut := range []int{0, 20, 0, 1} {
			if i < len(res.Lines) && res.Lines[i].Cut != cut {
				p.Errorf("line %d: Cut is %d, want %d", i+1, res.Lines[i].Cut, cut)
			}
		}
	})

	s.claim("a slice ends before the line that would exceed its bytes", func(p *place) {
		p.write("f", strings.Repeat(strings.Repeat("x", 99)+"\n", 20))
		res := p.read(backends.ReadRequest{Path: "f", MaxBytes: 350})
		if len(res.Lines) != 3 || res.TotalLines != 20 {
			p.Errorf("%d lines of %d, want 3 of 20", len(res.Lines), res.TotalLines)
		}
		res = p.read(backends.ReadRequest{Path: "f", Offset: 18, MaxBytes: 350})
		if len(res.Lines) != 2 {
			p.Errorf("%d lines at the end, want 2", len(res.Lines))
		}
	})

	s.claim("the first line is answered however few bytes there are for it", func(p *place) {
		p.write("f", strings.Repeat("é", 1000)+"\nsecond\n")
		res := p.read(backends.ReadRequest{Path: "f", MaxBytes: 101})
		if len(res.Lines) != 1 {
			p.Fatalf("%d lines", len(res.Lines))
		}
		l := res.Lines[0]
		if len(l.Text) > 101 || len(l.Text) < 90 || !utf8.ValidString(l.Text) || utf8.RuneCountInString(l.Text)+l.Cut != 1000 {
			p.Errorf("of 1000 characters %d bytes (%q) were answered and %d characters cut", len(l.Text), l.Text, l.Cut)
		}
	})

	s.claim("one very long line is cut to the default bytes", func(p *place) {
		const size = 3 << 20
		p.writeBig("f", strings.Repeat("0123456789abcdef", size/16)+"\nnext\n")
		res := p.read(backends.ReadRequest{Path: "f"})
		if len(res.Lines) != 1 || res.TotalLines != 2 {
			p.Fatalf("%d lines of %d", len(res.Lines), res.TotalLines)
		}
		l := res.Lines[0]
		if len(l.Text) > backends.DefaultReadBytes || len(l.Text)+l.Cut != size || !strings.HasPrefix(l.Text, "0123456789abcdef0") {
			p.Errorf("%d bytes answered and %d characters cut, of %d", len(l.Text), l.Cut, size)
		}
		res = p.read(backends.ReadRequest{Path: "f", Offset: 1})
		wantEqual(p.T, "the line after it", texts(res.Lines), []string{"next"})
		res = p.read(backends.ReadRequest{Path: "f", MaxLine: 20})
		wantEqual(p.T, "with MaxLine", texts(res.Lines), []string{"0123456789abcdef0123", "next"})
		if cut := res.Lines[0].Cut; cut != size-20 {
			p.Errorf("with MaxLine %d characters are cut, want %d", cut, size-20)
		}
	})

	s.claim("hashes are of whole lines without their endings", func(p *place) {
		long := strings.Repeat("long ", 100)
		p.write("f", "\xef\xbb\xbfone\ntwo\r\n\n"+long+"\nlast \xff")
		res := p.read(backends.ReadRequest{Path: "f", Hashes: true, MaxLine: 10})
		want := []string{"one", "two", "", long, "last \xff"}
		if len(res.Lines) != len(want) {
			p.Fatalf("%d lines, want %d", len(res.Lines), len(want))
		}
		for i, w := range want {
			if h := backends.LineHash([]byte(w)); res.Lines[i].Hash != h {
				p.Errorf("line %d has hash %q, want %q", i+1, res.Lines[i].Hash, h)
			}
		}
	})

	for _, c := range []struct{ name, content, mime string }{
		{"PNG", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"},
		{"JPEG", "\xff\xd8\xff\xe0\x00\x10JFIF\x00", "image/jpeg"},
		{"GIF", "GIF89a\x01\x00\x01\x00\x00", "image/gif"},
		{"PDF", "%PDF-1.7\n\x00\x01", "application/pdf"},
		{"unknown", "some\x00thing", "application/octet-stream"},
		{"a NUL far from the start", strings.Repeat("text ", 1000) + "\x00", "application/octet-stream"},
	} {
		s.claim("a binary file is an error with its type and size: "+c.name, func(p *place) {
			p.write("f", c.content)
			err := p.readErr("f")
			wantCode(p.T, "Read", err, backends.CodeBinary)
			var typed *backends.Error
			if !errors.As(err, &typed) || typed.Binary == nil {
				p.Fatalf("the error has no description of the file: %v", err)
			}
			if b := *typed.Binary; b.MIME != c.mime || b.Size != int64(len(c.content)) {
				p.Errorf("described as %+v, want %s of %d bytes", b, c.mime, len(c.content))
			}
		})
	}
}
