package backendtest

import (
	"errors"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testKinds(s *suite) {
	for _, op := range s.operations() {
		switch op.wants {
		case wantsSomething, wantsFile, wantsDirectory:
			s.claim(op.name+" of what is missing is not_found", func(p *place) {
				p.write("there", firstLine+"\n")
				for _, name := range []string{"missing", "no/such/parent"} {
					err := op.do(p.Context(), p.ws, p.at(name))
					wantCode(p.T, op.name+" "+name, err, backends.CodeNotFound)
					var typed *backends.Error
					if errors.As(err, &typed) && typed.Path != p.at(name) {
						p.Errorf("Error.Path is %q, want %q", typed.Path, p.at(name))
					}
				}
				wantEqual(p.T, "List afterwards", entryNames(p.list(".")), []string{"there"})
			})
		}
		switch op.wants {
		case wantsFile, wantsNewFile:
			s.claim(op.name+" of a directory is is_directory", func(p *place) {
				p.write("dir/f", firstLine+"\n")
				wantCode(p.T, op.name, op.do(p.Context(), p.ws, p.at("dir")), backends.CodeIsDirectory)
				wantCode(p.T, op.name+" of the working directory", op.do(p.Context(), p.ws, "."), backends.CodeIsDirectory)
				p.wantBytes("dir/f", firstLine+"\n")
			})
		case wantsDirectory:
			s.claim(op.name+" of a file is not_directory", func(p *place) {
				p.write("f", firstLine+"\n")
				wantCode(p.T, op.name, op.do(p.Context(), p.ws, p.at("f")), backends.CodeNotDirectory)
			})
		}
		s.claim(op.name+" below a file is not_directory", func(p *place) {
			p.write("f", firstLine+"\n")
			for _, name := range []string{"f/x", "f/x/y"} {
				wantCode(p.T, op.name+" "+name, op.do(p.Context(), p.ws, p.at(name)), backends.CodeNotDirectory)
			}
			p.wantBytes("f", firstLine+"\n")
		})
		if op.wants == wantsFile || op.wants == wantsNewFile || op.name == "Grep" {
			s.claim(op.name+" refuses a FIFO instead of waiting on it", func(p *place) {
				p.needProcesses()
				p.mkdir(".")
				p.sh(`mkfifo "$1"`, p.at("fifo"))
				p.promptly(op.name, func() {
					wantCode(p.T, op.name, op.do(p.Context(), p.ws, p.at("fifo")), backends.CodeInvalidArgument)
				})
				if kind := p.entry("fifo").Kind; kind != backends.KindOther {
					p.Errorf("List shows kind %d, want KindOther", kind)
				}
			})
			s.claim(op.name+" refuses a device", func(p *place) {
				p.needProcesses()
				p.promptly(op.name, func() {
					// A confined workspace refuses to go there at all.
					wantCode(p.T, op.name, op.do(p.Context(), p.ws, "/dev/zero"), backends.CodeInvalidArgument, backends.CodePermission)
				})
			})
		}
	}

	s.claim("searches pass over a FIFO", func(p *place) {
		p.needProcesses()
		p.write("f", "needle\n")
		p.sh(`mkfifo "$1"`, p.at("fifo"))
		p.promptly("the search", func() {
			grep, err := p.ws.Grep(p.Context(), backends.GrepRequest{Pattern: "needle", Path: p.dir})
			if err != nil {
				p.Errorf("Grep: %v", err)
			}
			wantEqual(p.T, "Grep", grepPaths(grep), []string{p.at("f")})
			if _, err := p.ws.Glob(p.Context(), backends.GlobRequest{Pattern: "**", Path: p.dir}); err != nil {
				p.Errorf("Glob: %v", err)
			}
		})
	})

	s.claim("what the environment refuses is permission_denied", func(p *place) {
		p.needCommands()
		if p.sh("id -u") == "0\n" {
			p.Skip("nothing is refused to root")
		}
		p.writeAll("f", firstLine+"\n", "dir/f", firstLine+"\n")
		p.sh(`chmod 000 "$1/f" "$1/dir"`, p.dir)
		defer p.sh(`chmod 700 "$1/f" "$1/dir"`, p.dir)
		for _, op := range s.operations() {
			switch op.wants {
			case wantsFile:
				wantCode(p.T, op.name, op.do(p.Context(), p.ws, p.at("f")), backends.CodePermission)
			case wantsNewFile:
				wantCode(p.T, op.name, op.do(p.Context(), p.ws, p.at("dir/new")), backends.CodePermission)
			case wantsDirectory:
				wantCode(p.T, op.name, op.do(p.Context(), p.ws, p.at("dir")), backends.CodePermission)
			}
		}
	})
}
