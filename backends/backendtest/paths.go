package backendtest

import (
	"path"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// awkwardNames are names that a quoting mistake, a pattern or an option parser
// would trip over.
var awkwardNames = []string{
	"with space",
	" leading and trailing ",
	`quotes ' " and` + "`",
	"new\nline",
	"tab\tand\rreturn",
	"ünïcödé 日本語 🙂",
	"e\u0301 decomposed",
	"-rf",
	"--",
	"*",
	"[x]",
	"{a,b}",
	"$HOME $(id)",
	`back\slash`,
	"semi;colon & more | >",
	"#comment",
	"!bang",
	"~",
	"%41%2F",
	"...",
	"C:",
	strings.Repeat("long", 63) + "est", // 255 bytes, as long as names may be
}

func testPaths(s *suite) {
	s.claim("the working directory is absolute and clean and without symlinks", func(p *place) {
		wd := p.ws.WorkingDir()
		if !path.IsAbs(wd) || path.Clean(wd) != wd {
			p.Errorf("WorkingDir is %q", wd)
		}
		res := p.resolve(wd)
		p.wantPaths("Resolve of the working directory", res, wd, wd)
		if info := p.stat(wd); !res.Exists || info.Kind != backends.KindDirectory {
			p.Errorf("the working directory is not there: %+v", info)
		}
	})

	s.claim("relative and unclean paths are cleaned against the working directory", func(p *place) {
		p.write("dir/f", "text")
		rel := strings.TrimPrefix(p.dir, p.ws.WorkingDir()+"/")
		for _, spelled := range []string{
			rel + "/dir/f",
			"./" + rel + "/dir/f",
			rel + "/./dir//f",
			rel + "/nowhere/../dir/f",
			rel + "/dir/f/../f",
			p.dir + "/dir/../dir/./f",
			p.ws.WorkingDir() + "/" + rel + "//dir/f",
		} {
			res, err := p.ws.Read(p.Context(), backends.ReadRequest{Path: spelled})
			if err != nil {
				p.Errorf("Read %q: %v", spelled, err)
				continue
			}
			p.wantPaths("Read "+spelled, res.Resolution, p.at("dir/f"), p.at("dir/f"))
		}
		for spelled, want := range map[string]string{
			".": p.ws.WorkingDir(), "./": p.ws.WorkingDir(), rel + "/..": p.ws.WorkingDir(), rel + "/": p.dir,
		} {
			res, err := p.ws.List(p.Context(), backends.ListRequest{Path: spelled})
			if err != nil {
				p.Errorf("List %q: %v", spelled, err)
				continue
			}
			p.wantPaths("List "+spelled, res.Resolution, want, want)
		}
	})

	s.claim("every answer tells the path it is about", func(p *place) {
		ctx, rel := p.Context(), strings.TrimPrefix(p.dir, p.ws.WorkingDir()+"/")
		file, dir := rel+"/sub/../f", rel+"/."
		p.write("f", firstLine+"\n")
		check := func(what string, res backends.Resolution, err error, want string) {
			if err != nil {
				p.Errorf("%s: %v", what, err)
				return
			}
			p.wantPaths(what, res, want, want)
			if !res.Exists {
				p.Errorf("%s: Exists is false", what)
			}
		}
		res, err := p.ws.Resolve(ctx, file)
		check("Resolve", res, err, p.at("f"))
		info, err := p.ws.Stat(ctx, file)
		check("Stat", info.Resolution, err, p.at("f"))
		read, err := p.ws.Read(ctx, backends.ReadRequest{Path: file})
		check("Read", read.Resolution, err, p.at("f"))
		r, info, err := p.ws.Open(ctx, file)
		check("Open", info.Resolution, err, p.at("f"))
		if err == nil {
			r.Close()
		}
		edited, err := p.ws.Edit(ctx, backends.EditRequest{Path: file, Old: "first", New: "second"})
		check("Edit", edited.Resolution, err, p.at("f"))
		edited, err = p.ws.EditLines(ctx, backends.EditLinesRequest{Path: file, NewContent: "x", InsertAfter: true})
		check("EditLines", edited.Resolution, err, p.at("f"))
		written, err := p.ws.Write(ctx, backends.WriteRequest{Path: file, Content: strings.NewReader("x\n")})
		check("Write", written.Resolution, err, p.at("f"))
		listed, err := p.ws.List(ctx, backends.ListRequest{Path: dir})
		check("List", listed.Resolution, err, p.dir)
		globbed, err := p.ws.Glob(ctx, backends.GlobRequest{Pattern: "*", Path: dir})
		check("Glob", globbed.Resolution, err, p.dir)
		grepped, err := p.ws.Grep(ctx, backends.GrepRequest{Pattern: "x", Path: dir})
		check("Grep", grepped.Resolution, err, p.dir)
	})

	s.claim("an empty path of a search is the working directory", func(p *place) {
		p.write("needle.txt", "case empty path\n")
		glob, err := p.ws.Glob(p.Context(), backends.GlobRequest{Pattern: path.Base(p.dir) + "/*.txt"})
		if err != nil {
			p.Fatal(err)
		}
		wantEqual(p.T, "Glob", glob.Paths, []string{p.at("needle.txt")})
		grep, err := p.ws.Grep(p.Context(), backends.GrepRequest{Pattern: "case empty path"})
		if err != nil {
			p.Fatal(err)
		}
		wantEqual(p.T, "Grep", grepPaths(grep), []string{p.at("needle.txt")})
		p.wantPaths("Grep", grep.Resolution, p.ws.WorkingDir(), p.ws.WorkingDir())
	})

	for _, name := range awkwardNames {
		s.claim("every operation takes the name "+brief(name), func(p *place) {
			dir, file := name, path.Join(name, name)
			p.write(file, firstLine+"\n")
			for _, op := range s.operations() {
				target := p.at(file)
				if op.wants == wantsDirectory {
					target = p.at(dir)
				}
				if err := op.do(p.Context(), p.ws, target); err != nil {
					p.Errorf("%s: %v", op.name, err)
				}
			}
			p.wantBytes(file, firstLine+"\n") // Write came last
			wantEqual(p.T, "List", entryNames(p.list(dir)), []string{name})
			glob, err := p.ws.Glob(p.Context(), backends.GlobRequest{Pattern: "*", Path: p.at(dir)})
			if err != nil {
				p.Fatal(err)
			}
			wantEqual(p.T, "Glob", glob.Paths, []string{p.at(file)})
			grep, err := p.ws.Grep(p.Context(), backends.GrepRequest{Pattern: "first", Path: p.at(dir), IncludeHidden: true})
			if err != nil {
				p.Fatal(err)
			}
			wantEqual(p.T, "Grep", grepPaths(grep), []string{p.at(file)})
		})
	}

	s.claim("a relative path may start with a dash", func(p *place) {
		for _, op := range s.operations() {
			if op.wants == wantsNewFile {
				if err := op.do(p.Context(), p.ws, "-dash/-n"); err != nil {
					p.Fatalf("%s: %v", op.name, err)
				}
			}
		}
		for _, op := range s.operations() {
			target := "-dash/-n"
			if op.wants == wantsDirectory {
				target = "-dash"
			}
			if err := op.do(p.Context(), p.ws, target); err != nil {
				p.Errorf("%s: %v", op.name, err)
			}
		}
	})

	s.claim("every operation refuses a NUL", func(p *place) {
		p.write("f", firstLine+"\n")
		for _, op := range s.operations() {
			for _, name := range []string{"f\x00", "f\x00/../f", "\x00"} {
				wantCode(p.T, op.name, op.do(p.Context(), p.ws, p.dir+"/"+name), backends.CodeInvalidArgument)
			}
		}
	})

	s.claim("a name that is too long is an error that says so", func(p *place) {
		for _, op := range s.operations() {
			err := op.do(p.Context(), p.ws, p.at(strings.Repeat("x", 5000)))
			if err == nil && op.wants != wantsNothing && op.wants != wantsNewFile {
				p.Errorf("%s succeeded", op.name)
			}
			if err != nil {
				wantCode(p.T, op.name, err, backends.CodeInvalidArgument, backends.CodeNotFound)
			}
		}
	})
}

// grepPaths are the paths of a grep's files.
func grepPaths(res backends.GrepResult) []string {
	out := make([]string, len(res.Files))
	for i, f := range res.Files {
		out[i] = f.Path
	}
	return out
}
