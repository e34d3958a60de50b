package backendtest

import (
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testSymlinks(s *suite) {
	s.claim("Resolve follows links and keeps what does not exist as written", func(p *place) {
		p.writeAll("real/f", "text", "plain", "text")
		p.symlink("real", "relative")
		p.symlink(p.at("real"), "absolute")
		p.symlink("relative", "chain")
		p.symlink("real/f", "file")
		p.symlink("../plain", "real/up")
		p.symlink("nowhere", "dangling")
		p.symlink("missing/deep", "dangling-deep")
		for _, c := range []struct {
			name, resolved string
			exists         bool
		}{
			{"plain", "plain", true},
			{"missing", "missing", false},
			{"missing/below", "missing/below", false},
			{"relative", "real", true},
			{"relative/f", "real/f", true},
			{"absolute/f", "real/f", true},
			{"chain/f", "real/f", true},
			{"chain/new/file", "real/new/file", false},
			{"file", "real/f", true},
			{"relative/up", "plain", true},
			{"chain/up", "plain", true},
			{"dangling", "nowhere", false},
			{"dangling/below", "nowhere/below", false},
			{"dangling-deep", "missing/deep", false},
		} {
			res := p.resolve(c.name)
			p.wantPaths("Resolve "+c.name, res, p.at(c.name), p.at(c.resolved))
			if res.Exists != c.exists {
				p.Errorf("Resolve %s: Exists is %v", c.name, res.Exists)
			}
		}
	})

	s.claim("a path is cleaned before its links are followed", func(p *place) {
		p.writeAll("f", "outer", "deep/f", "inner", "deep/down/x", "")
		p.symlink("deep/down", "link")
		name := p.dir + "/link/../f" // by the links this would be deep/f
		got, err := readAll(p.Context(), p.ws, name)
		if err != nil || got != "outer" {
			p.Errorf("link/../f holds %q (%v), want that of f", got, err)
		}
	})

	s.claim("every operation follows links to files and directories", func(p *place) {
		p.write("real/f", firstLine+"\n")
		p.symlink("real/f", "file")
		p.symlink("real", "dir")
		for _, op := range s.operations() {
			targets := []string{"dir/f", "file"}
			if op.wants == wantsDirectory {
				targets = []string{"dir"}
			}
			for _, name := range targets {
				p.write("real/f", firstLine+"\n")
				if err := op.do(p.Context(), p.ws, p.at(name)); err != nil {
					p.Errorf("%s %s: %v", op.name, name, err)
				}
			}
		}
		info := p.stat("file")
		p.wantPaths("Stat", info.Resolution, p.at("file"), p.at("real/f"))
		if info.Kind != backends.KindFile || info.Size != int64(len(firstLine)+1) {
			p.Errorf("Stat of a link to a file: %+v", info)
		}
		p.wantPaths("Read", p.read(backends.ReadRequest{Path: "dir/f"}).Resolution, p.at("dir/f"), p.at("real/f"))
		if kind := p.stat("dir").Kind; kind != backends.KindDirectory {
			p.Errorf("Stat of a link to a directory: kind %d", kind)
		}
	})

	s.claim("writes and edits change the target and leave the link", func(p *place) {
		p.write("real/f", "old one\n")
		p.symlink("real/f", "link")
		res := p.write("link", "one\ntwo\n")
		p.wantPaths("Write", res.Resolution, p.at("link"), p.at("real/f"))
		if res.Created {
			p.Error("Write claims to have made the file that the link leads to")
		}
		edited := p.mustEdit(backends.EditRequest{Path: "link", Old: "one", New: "1"})
		p.wantPaths("Edit", edited.Resolution, p.at("link"), p.at("real/f"))
		if _, err := p.editLines(backends.EditLinesRequest{Path: "link", StartLine: 2, StartHash: backends.LineHash([]byte("two")), NewContent: "2"}); err != nil {
			p.Fatal(err)
		}
		p.wantBytes("real/f", "1\n2\n")
		if e := p.entry("link"); e.Link != "real/f" {
			p.Errorf("the link is %+v afterwards", e)
		}
	})

	s.claim("a write through a dangling link makes its target", func(p *place) {
		p.symlink("sub/target", "link")
		wantCode(p.T, "Read before", p.readErr("link"), backends.CodeNotFound)
		res := p.write("link", "text")
		p.wantPaths("Write", res.Resolution, p.at("link"), p.at("sub/target"))
		if !res.Created {
			p.Error("Created is false")
		}
		p.wantBytes("sub/target", "text")
		if e := p.entry("link"); e.Link != "sub/target" || e.Kind != backends.KindFile {
			p.Errorf("the link is %+v afterwards", e)
		}
	})

	s.claim("what a dangling link leads to is not_found", func(p *place) {
		p.symlink("nowhere", "link")
		for _, op := range s.operations() {
			if op.wants != wantsNothing && op.wants != wantsNewFile {
				wantCode(p.T, op.name, op.do(p.Context(), p.ws, p.at("link")), backends.CodeNotFound)
			}
		}
	})

	s.claim("links that go in a circle are an error of every operation", func(p *place) {
		p.symlink("b", "a")
		p.symlink("a", "b")
		p.symlink("self", "self")
		for _, op := range s.operations() {
			for _, name := range []string{"a", "self", "self/below"} {
				p.promptly(op.name, func() {
					wantCode(p.T, op.name+" "+name, op.do(p.Context(), p.ws, p.at(name)), backends.CodeInvalidArgument)
				})
			}
		}
	})

	s.claim("a listing shows links by what they lead to", func(p *place) {
		p.writeAll("real/f", "12345", "z", "")
		p.symlink("real", "todir")
		p.symlink("real/f", "tofile")
		p.symlink("nowhere", "tonothing")
		p.symlink("toself", "toself")
		want := []backends.Entry{
			{Name: "real", Kind: backends.KindDirectory},
			{Name: "todir", Kind: backends.KindDirectory, Link: "real"},
			{Name: "tofile", Kind: backends.KindFile, Size: 5, Link: "real/f"},
			{Name: "tonothing", Kind: backends.KindSymlink, Link: "nowhere"},
			{Name: "toself", Kind: backends.KindSymlink, Link: "toself"},
			{Name: "z", Kind: backends.KindFile},
		}
		got := p.list(".")
		if len(got) != len(want) {
			p.Fatalf("List shows %q", entryNames(got))
		}
		for i, w := range want {
			g := got[i]
			if g.Name != w.Name || g.Kind != w.Kind || g.Link != w.Link || w.Kind == backends.KindFile && g.Size != w.Size {
				p.Errorf("entry %d is %+v, want %+v", i, g, w)
			}
		}
	})

	s.claim("a change is refused as stale when its links have changed since they were resolved", func(p *place) {
		p.writeAll("one", "same\n", "two", "same\n")
		p.symlink("one", "link")
		before := p.resolve("link").Resolved
		p.symlink("two", "link")
		p.wantStaleFor("link", before)
		p.wantBytes("one", "same\n")
		p.wantBytes("two", "same\n")
	})

	s.claim("a change is refused as stale where it would land elsewhere than expected", func(p *place) {
		p.write("f", "same\n")
		p.wantStaleFor("f", p.at("elsewhere"))
		p.wantBytes("f", "same\n")
		wantEqual(p.T, "List afterwards", entryNames(p.list(".")), []string{"f"})
	})

	s.claim("a change goes through where it lands as expected", func(p *place) {
		p.write("f", "same\n")
		where := p.resolve("f").Resolved
		p.mustEdit(backends.EditRequest{Path: "f", Old: "same", New: "edited", Resolved: where})
		if _, err := p.editLines(backends.EditLinesRequest{Path: "f", NewContent: "first", InsertAfter: true, Resolved: where}); err != nil {
			p.Errorf("EditLines: %v", err)
		}
		p.wantBytes("f", "first\nedited\n")
		p.writeReq(backends.WriteRequest{Path: p.at("f"), Content: strings.NewReader("new"), Resolved: where})
		fresh := p.resolve("sub/fresh")
		p.writeReq(backends.WriteRequest{Path: p.at("sub/fresh"), Content: strings.NewReader("new"), Resolved: fresh.Resolved})
	})

	s.claim("searches do not follow links to directories out of the searched tree", func(p *place) {
		p.writeAll("tree/f", "needle\n", "other/g", "needle\n")
		p.symlink("../other", "tree/out")
		p.symlink("..", "tree/up")
		p.symlink(".", "tree/here")
		p.promptly("the search", func() {
			glob, err := p.ws.Glob(p.Context(), backends.GlobRequest{Pattern: "**/g", Path: p.at("tree")})
			if err != nil {
				p.Errorf("Glob: %v", err)
			}
			wantEqual(p.T, "Glob", glob.Paths, nil)
			grep, err := p.ws.Grep(p.Context(), backends.GrepRequest{Pattern: "needle", Path: p.at("tree")})
			if err != nil {
				p.Errorf("Grep: %v", err)
			}
			wantEqual(p.T, "Grep", grepPaths(grep), []string{p.at("tree/f")})
		})
	})

	s.claim("a glob finds links to files", func(p *place) {
		p.write("real.txt", "text\n")
		p.symlink("real.txt", "link.txt")
		glob, err := p.ws.Glob(p.Context(), backends.GlobRequest{Pattern: "*.txt", Path: p.dir})
		if err != nil {
			p.Fatal(err)
		}
		wantEqual(p.T, "Glob", glob.Paths, []string{p.at("link.txt"), p.at("real.txt")})
	})
}

func (p *place) readErr(name string) error {
	_, err := p.ws.Read(p.Context(), backends.ReadRequest{Path: p.at(name)})
	return err
}

// wantStaleFor holds all three ways to change the file at name, whose one line
// is "same", against the rule for a Resolved that is not true.
func (p *place) wantStaleFor(name, resolved string) {
	p.Helper()
	_, err := p.edit(backends.EditRequest{Path: name, Old: "same", New: "changed", Resolved: resolved})
	wantCode(p.T, "Edit", err, backends.CodeStale)
	_, err = p.editLines(backends.EditLinesRequest{Path: name, StartLine: 1, StartHash: backends.LineHash([]byte("same")), NewContent: "changed", Resolved: resolved})
	wantCode(p.T, "EditLines", err, backends.CodeStale)
	_, err = p.ws.Write(p.Context(), backends.WriteRequest{Path: p.at(name), Content: strings.NewReader("changed"), Resolved: resolved})
	wantCode(p.T, "Write", err, backends.CodeStale)
}

// testConfinement holds a workspace that is confined to its working directory
// against that.
func testConfinement(s *suite) {
	if !s.h.Confined {
		s.t.Skip("this backend's workspaces are not confined to their working directory")
	}
	s.claim("no path leads out of the working directory", func(p *place) {
		for _, op := range s.operations() {
			for _, name := range []string{"..", "../x", "/", "/etc/hostname", p.ws.WorkingDir() + "-beside", p.dir + "/../../x"} {
				wantCode(p.T, op.name+" "+name, op.do(p.Context(), p.ws, name), backends.CodePermission)
			}
		}
	})
	s.claim("no symlink leads out of the working directory", func(p *place) {
		p.symlink("/", "root")
		p.symlink("../..", "above")
		p.symlink("/etc/hostname", "file")
		p.symlink("root", "chain")
		for _, op := range s.operations() {
			for _, name := range []string{"root", "root/etc", "above", "above/x", "file", "chain/etc/hostname"} {
				wantCode(p.T, op.name+" "+name, op.do(p.Context(), p.ws, p.at(name)), backends.CodePermission)
			}
		}
		for _, e := range p.list(".") {
			if e.Kind != backends.KindSymlink {
				p.Errorf("List shows %+v, want a symlink that leads out of the workspace", e)
			}
		}
	})
}
