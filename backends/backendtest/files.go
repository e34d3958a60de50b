package backendtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing/iotest"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// everyByte is each byte value once.
func everyByte() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}

func testFiles(s *suite) {
	for _, c := range []struct{ name, content string }{
		{"nothing", ""},
		{"a newline", "\n"},
		{"text", "one\ntwo\n"},
		{"text without a final newline", "one\ntwo"},
		{"CRLF and mixed endings", "one\r\ntwo\nthree\rfour\r\n"},
		{"every byte value", everyByte()},
		{"invalid UTF-8", "ok \xff\xfe\xc0\x80 \xed\xa0\x80 end\n"},
		{"a byte order mark", "\xef\xbb\xbftext\n"},
		{"many pieces", strings.Repeat(everyByte(), 1000)},
	} {
		s.claim("the bytes come back as written: "+c.name, func(p *place) {
			res := p.writeBig("f", c.content)
			p.wantBytes("f", c.content)
			lines := strings.Count(c.content, "\n")
			if c.content != "" && !strings.HasSuffix(c.content, "\n") {
				lines++
			}
			if res.Bytes != int64(len(c.content)) || res.Lines != lines || !res.Created {
				p.Errorf("Write answered %+v, want %d bytes in %d lines, created", res, len(c.content), lines)
			}
			if size := p.stat("f").Size; size != int64(len(c.content)) {
				p.Errorf("Stat says %d bytes, want %d", size, len(c.content))
			}
		})
	}

	s.claim("the bytes come back as written: a big file", func(p *place) {
		content := bytes.Repeat([]byte(everyByte()), s.h.BigFile/256)
		p.emptyLater("f")
		res := p.writeReq(backends.WriteRequest{Path: p.at("f"), Content: bytes.NewReader(content)})
		if res.Bytes != int64(len(content)) {
			p.Errorf("Write answered %d bytes, want %d", res.Bytes, len(content))
		}
		if got := p.bytes("f"); got != string(content) {
			p.Errorf("%d bytes came back, differing from the %d that were written", len(got), len(content))
		}
	})

	s.claim("content that comes in small pieces is written whole", func(p *place) {
		content := strings.Repeat("piece by piece\n", 100)
		p.writeReq(backends.WriteRequest{Path: p.at("f"), Content: iotest.DataErrReader(iotest.HalfReader(iotest.OneByteReader(strings.NewReader(content))))})
		p.wantBytes("f", content)
	})

	s.claim("a shorter file leaves nothing of a longer one", func(p *place) {
		p.write("f", strings.Repeat("long", 1000))
		if res := p.write("f", "short"); res.Created {
			p.Error("Created is true for a file that was there")
		}
		p.wantBytes("f", "short")
		p.write("f", "")
		p.wantBytes("f", "")
	})

	s.claim("a write makes the parents it lacks", func(p *place) {
		p.write("a/b/c/f", "text")
		p.wantBytes("a/b/c/f", "text")
		for _, dir := range []string{"a", "a/b", "a/b/c"} {
			if kind := p.stat(dir).Kind; kind != backends.KindDirectory {
				p.Errorf("%s is of kind %d", dir, kind)
			}
		}
	})

	s.claim("a write leaves nothing beside the file", func(p *place) {
		p.write("f", "one")
		p.write("f", "two")
		p.mustEdit(backends.EditRequest{Path: "f", Old: "two", New: "three"})
		wantEqual(p.T, "List", entryNames(p.list(".")), []string{"f"})
	})

	s.claim("a write whose content fails leaves the file as it was", func(p *place) {
		p.write("f", "old")
		broken := errors.New("the content broke off")
		for _, name := range []string{"f", "new"} {
			content := io.MultiReader(strings.NewReader(strings.Repeat("x", 300_000)), iotest.ErrReader(broken))
			_, err := p.ws.Write(p.Context(), backends.WriteRequest{Path: p.at(name), Content: content})
			if err == nil {
				p.Errorf("Write %s succeeded", name)
			}
		}
		p.wantBytes("f", "old")
		wantEqual(p.T, "List", entryNames(p.list(".")), []string{"f"})
	})

	s.claim("a reader sees the old bytes or the new while a file is replaced", func(p *place) {
		// Different letters in different lengths: a mixture or a part shows.
		versions := []string{strings.Repeat("a", 300_000), strings.Repeat("b", 200_000), strings.Repeat("c", 400_000)}
		p.writeBig("f", versions[0])
		ctx, stop := context.WithCancel(p.Context())
		defer stop()
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				for ctx.Err() == nil {
					got, err := readAll(ctx, p.ws, p.at("f"))
					if ctx.Err() != nil {
						return
					}
					if err != nil {
						p.Errorf("a reader got %v", err)
						return
					}
					if got != versions[0] && got != versions[1] && got != versions[2] {
						p.Errorf("a reader got %s, which was never written", brief(got))
						return
					}
				}
			})
		}
		for i := range 40 {
			p.write("f", versions[i%len(versions)])
		}
		stop()
		readers.Wait()
	})

	s.claim("an open file goes on reading what it was opened on", func(p *place) {
		old := strings.Repeat("old", 200_000)
		p.writeBig("f", old)
		r, info, err := p.ws.Open(p.Context(), p.at("f"))
		if err != nil {
			p.Fatal(err)
		}
		defer r.Close()
		head := make([]byte, 1000)
		if _, err := io.ReadFull(r, head); err != nil {
			p.Fatal(err)
		}
		p.write("f", "new")
		rest, err := io.ReadAll(r)
		if got := string(head) + string(rest); err != nil || got != old {
			p.Errorf("the reader got %s (%v), want the old content", brief(got), err)
		}
		if info.Size != int64(len(old)) || info.Kind != backends.KindFile {
			p.Errorf("Open described the file as %+v", info)
		}
	})

	s.claim("Stat describes files and directories", func(p *place) {
		p.write("dir/f", "12345")
		f, dir := p.stat("dir/f"), p.stat("dir")
		if f.Kind != backends.KindFile || f.Size != 5 || f.ModTime.IsZero() || !f.Exists {
			p.Errorf("Stat of a file: %+v", f)
		}
		if dir.Kind != backends.KindDirectory || dir.Size != 0 || !dir.Exists {
			p.Errorf("Stat of a directory: %+v", dir)
		}
	})

	s.claim("files and commands see each other's work", func(p *place) {
		p.needCommands()
		p.write("from-write", "one\n")
		if got := p.sh(`cat "$1/from-write"`, p.dir); got != "one\n" {
			p.Errorf("a command read %q", got)
		}
		p.sh(`printf 'two\n' >"$1/from-command"; rm "$1/from-write"; printf 'x' >>"$1/from-command"`, p.dir)
		p.wantBytes("from-command", "two\nx")
		wantCode(p.T, "Read of what a command removed", p.readErr("from-write"), backends.CodeNotFound)
		wantEqual(p.T, "List", entryNames(p.list(".")), []string{"from-command"})
	})
}
