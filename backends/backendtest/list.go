package backendtest

import (
	"fmt"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testList(s *suite) {
	s.claim("directories come first, then the rest, each in byte order", func(p *place) {
		p.writeAll("b", "", "a", "", "B", "", "10", "", "9", "", "é", "", "a.txt", "", "z", "", ".hidden", "", "-", "",
			"zdir/x", "", "Adir/x", "", ".dir/x", "")
		want := []string{".dir", "Adir", "zdir", "-", ".hidden", "10", "9", "B", "a", "a.txt", "b", "z", "é"}
		entries := p.list(".")
		wantEqual(p.T, "List", entryNames(entries), want)
		for i, e := range entries {
			kind := backends.KindFile
			if i < 3 {
				kind = backends.KindDirectory
			}
			if e.Kind != kind || e.Link != "" {
				p.Errorf("entry %+v, want kind %d and no link", e, kind)
			}
		}
	})

	s.claim("a file is listed with its size", func(p *place) {
		p.writeAll("empty", "", "five", "12345", "big", fmt.Sprintf("%070000d", 0))
		for name, size := range map[string]int64{"empty": 0, "five": 5, "big": 70000} {
			if got := p.entry(name).Size; got != size {
				p.Errorf("%s is listed with %d bytes, want %d", name, got, size)
			}
		}
	})

	s.claim("an empty directory and a missing one are told apart", func(p *place) {
		p.mkdir("empty")
		res, err := p.ws.List(p.Context(), backends.ListRequest{Path: p.at("empty")})
		if err != nil || len(res.Entries) != 0 || res.Total != 0 || !res.Exists {
			p.Errorf("List of an empty directory: %+v, %v", res, err)
		}
		_, err = p.ws.List(p.Context(), backends.ListRequest{Path: p.at("missing")})
		wantCode(p.T, "List of a missing directory", err, backends.CodeNotFound)
	})

	s.claim("a limit cuts the entries and not the total", func(p *place) {
		for i := range 7 {
			p.write(fmt.Sprintf("f%d", i), "")
		}
		p.write("dir/x", "")
		for limit, want := range map[int][]string{
			0: {"dir", "f0", "f1", "f2", "f3", "f4", "f5", "f6"},
			1: {"dir"},
			3: {"dir", "f0", "f1"},
			8: {"dir", "f0", "f1", "f2", "f3", "f4", "f5", "f6"},
			9: {"dir", "f0", "f1", "f2", "f3", "f4", "f5", "f6"},
		} {
			res, err := p.ws.List(p.Context(), backends.ListRequest{Path: p.dir, Limit: limit})
			if err != nil {
				p.Fatal(err)
			}
			wantEqual(p.T, fmt.Sprintf("List with limit %d", limit), entryNames(res.Entries), want)
			if res.Total != 8 {
				p.Errorf("with limit %d the total is %d, want 8", limit, res.Total)
			}
		}
	})
}
