package backendtest

import (
	"io/fs"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testModes(s *suite) {
	wantMode := func(p *place, name string, want fs.FileMode) {
		p.Helper()
		if got := p.stat(name).Mode; got != want {
			p.Errorf("%s has mode %04o, want %04o", name, got, want)
		}
	}

	s.claim("a new file has the mode asked for, or 0644", func(p *place) {
		p.write("default", "")
		wantMode(p, "default", 0o644)
		for name, mode := range map[string]fs.FileMode{"private": 0o600, "script": 0o755, "shared": 0o666} {
			p.writeReq(backends.WriteRequest{Path: p.at(name), Content: strings.NewReader(""), Mode: mode})
			wantMode(p, name, mode)
		}
	})

	s.claim("a file that was there keeps its mode", func(p *place) {
		p.writeReq(backends.WriteRequest{Path: p.at("f"), Content: strings.NewReader("one\n"), Mode: 0o750})
		p.write("f", "two\n")
		wantMode(p, "f", 0o750)
		p.writeReq(backends.WriteRequest{Path: p.at("f"), Content: strings.NewReader("three\n"), Mode: 0o600})
		wantMode(p, "f", 0o750)
		p.mustEdit(backends.EditRequest{Path: "f", Old: "three", New: "four"})
		wantMode(p, "f", 0o750)
		if _, err := p.editLines(backends.EditLinesRequest{Path: "f", NewContent: "zero", InsertAfter: true}); err != nil {
			p.Fatal(err)
		}
		wantMode(p, "f", 0o750)
	})

	s.claim("a script that was written can be run after an edit", func(p *place) {
		p.needCommands()
		p.writeReq(backends.WriteRequest{Path: p.at("script"), Content: strings.NewReader("#!/bin/sh\necho one\n"), Mode: 0o755})
		p.mustEdit(backends.EditRequest{Path: "script", Old: "one", New: "two"})
		if got := p.run(backends.Command{Argv: []string{p.at("script")}}); got.out != "two\n" || got.exit.Code != 0 {
			p.Errorf("it printed %q %q with exit code %d", got.out, got.err, got.exit.Code)
		}
	})

	s.claim("a file that was there keeps its owner", func(p *place) {
		p.needCommands()
		p.write("f", "one\n")
		if res := p.run(shell(`chown 12:34 "$1"`, p.at("f"))); res.exit.Code != 0 {
			p.Skipf("the workspace's user cannot give files away: %s", res.err)
		}
		owner := func() string { return strings.Join(strings.Fields(p.sh(`ls -n "$1"`, p.at("f")))[2:4], ":") }
		p.write("f", "two\n")
		if got := owner(); got != "12:34" {
			p.Errorf("after Write the owner is %s, want 12:34", got)
		}
		p.mustEdit(backends.EditRequest{Path: "f", Old: "two", New: "three"})
		if got := owner(); got != "12:34" {
			p.Errorf("after Edit the owner is %s, want 12:34", got)
		}
	})
}
