package backendtest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testConcurrency(s *suite) {
	s.claim("edits of one file at once lose nothing", func(p *place) {
		const workers, steps = 8, 5
		p.write("f", "counter=0;\n")
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for done := 0; done < steps; {
					res, err := p.ws.Read(p.Context(), backends.ReadRequest{Path: p.at("f")})
					if err != nil || len(res.Lines) != 1 {
						p.Errorf("Read: %+v, %v", res, err)
						return
					}
					n, err := strconv.Atoi(strings.Trim(res.Lines[0].Text, "counter=;"))
					if err != nil {
						p.Errorf("the file holds %q", res.Lines[0].Text)
						return
					}
					req := backends.EditRequest{Old: fmt.Sprintf("=%d;", n), New: fmt.Sprintf("=%d;", n+1), Path: p.at("f")}
					if done%2 == 0 {
						req.IfVersion = res.Version
					}
					switch _, err := p.ws.Edit(p.Context(), req); backends.CodeOf(err) {
					case "":
						done++
					case backends.CodeStale, backends.CodeNoMatch: // another was first
					default:
						p.Errorf("Edit: %v", err)
						return
					}
				}
			})
		}
		wg.Wait()
		p.wantBytes("f", fmt.Sprintf("counter=%d;\n", workers*steps))
	})

	s.claim("edits of different places in one file all land", func(p *place) {
		const workers = 20
		var before, after strings.Builder
		for i := range workers {
			fmt.Fprintf(&before, "<old %d>\n", i)
			fmt.Fprintf(&after, "<new %d>\n", i)
		}
		p.write("f", before.String())
		var wg sync.WaitGroup
		for i := range workers {
			wg.Go(func() {
				_, err := p.edit(backends.EditRequest{Path: "f", Old: fmt.Sprintf("old %d>", i), New: fmt.Sprintf("new %d>", i)})
				if err != nil {
					p.Errorf("edit %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		p.wantBytes("f", after.String())
	})

	s.claim("files written at once are all there, with their parents", func(p *place) {
		const workers, files = 10, 5
		var wg sync.WaitGroup
		for i := range workers {
			wg.Go(func() {
				for j := range files {
					name := fmt.Sprintf("a/b%d/c/%d-%d", j, i, j)
					if _, err := p.ws.Write(p.Context(), backends.WriteRequest{Path: p.at(name), Content: strings.NewReader(name)}); err != nil {
						p.Errorf("Write %s: %v", name, err)
					}
				}
			})
		}
		wg.Wait()
		for i := range workers {
			for j := range files {
				name := fmt.Sprintf("a/b%d/c/%d-%d", j, i, j)
				p.wantBytes(name, name)
			}
		}
	})

	s.claim("of writes to one file at once one wins whole", func(p *place) {
		content := func(i int) string { return strings.Repeat(string(rune('a'+i)), 50_000+i) }
		p.emptyLater("f")
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if _, err := p.ws.Write(p.Context(), backends.WriteRequest{Path: p.at("f"), Content: strings.NewReader(content(i))}); err != nil {
					p.Errorf("Write: %v", err)
				}
			})
		}
		wg.Wait()
		got := p.bytes("f")
		if got == "" || got != content(int(got[0]-'a')) {
			p.Errorf("the file holds %s, which none of the writers wrote", brief(got))
		}
		wantEqual(p.T, "List", entryNames(p.list(".")), []string{"f"})
	})

	s.claim("a write that waits for its content holds up nothing else", func(p *place) {
		p.write("other", "text\n")
		content := newGate("content")
		wrote := make(chan error, 1)
		go func() {
			_, err := p.ws.Write(p.Context(), backends.WriteRequest{Path: p.at("f"), Content: content})
			wrote <- err
		}()
		<-content.reached
		p.promptly("work on other files", func() {
			if err := p.readErr("other"); err != nil {
				p.Errorf("Read: %v", err)
			}
			if _, err := p.ws.Write(p.Context(), backends.WriteRequest{Path: p.at("third"), Content: strings.NewReader("x")}); err != nil {
				p.Errorf("Write: %v", err)
			}
		})
		close(content.open)
		if err := <-wrote; err != nil {
			p.Errorf("the write that waited: %v", err)
		}
		p.wantBytes("f", "content")
	})
}
