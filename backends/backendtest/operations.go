package backendtest

import (
	"context"
	"io"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// operation is one method of a workspace that takes a path, with a request
// that has nothing wrong with it but perhaps the path.
type operation struct {
	name  string
	wants wanted
	do    func(ctx context.Context, ws backends.Workspace, path string) error
}

// wanted is what an operation needs to find at its path.
type wanted int

const (
	wantsNothing   wanted = iota // answers for a path where nothing is
	wantsSomething               // any kind will do
	wantsFile
	wantsNewFile // a file, which it makes where there is none
	wantsDirectory
)

// firstLine is what the files have on which every operation succeeds.
const firstLine = "the first line"

// operations are all that take a path, Run only where commands work.
func (s *suite) operations() []operation {
	ops := []operation{
		{"Resolve", wantsNothing, func(ctx context.Context, ws backends.Workspace, p string) error {
			_, err := ws.Resolve(ctx, p)
			return err
		}},
		{"Stat", wantsSomething, func(ctx context.Context, ws backends.Workspace, p string) error {
			_, err := ws.Stat(ctx, p)
			return err
		}},
		{"List", wantsDirectory, func(ctx context.Context, ws backends.Workspace, p string) error {
			_, err := ws.List(ctx, backends.ListRequest{Path: p})
			return err
		}},
		{"Read", wantsFile, func(ctx context.Context, ws backends.Workspace, p string) error {
			_, err := ws.Read(ctx, backends.ReadRequest{Path: p})
			return err
		}},
		{"Open", wantsFile, func(ctx context.Context, ws backends.Workspace, p string) error {
			r, _, err := ws.Open(ctx, p)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, r)
			r.Close()
			return err
		}},
		{"Edit", wantsFile, func(ctx context.Context, ws backends.Workspace, p string) error {
			_, err := ws.Edit(ctx, backends.EditRequest{Path: p, Old: firstLine, New: firstLine + "\nanother line"})
			return err
		}},
		{"EditLines", wantsFile, func(ctx context.Context, ws backends.Workspace, p string) error {
			_, err := ws.EditLines(ctx, backends.EditLinesRequest{Path: p, StartLine: 1,
				StartHash: backends.LineHash([]byte(firstLine)), NewContent: "another line", InsertAfter: true})
			return err
		}},
		{"Write", wantsNewFile, func(ctx context.Context, ws backends.Workspace, p string) error {
			_, err := ws.Write(ctx, backends.WriteRequest{Path: p, Content: strings.NewReader(firstLine + "\n")})
			return err
		}},
		{"Glob", wantsDirectory, func(ctx context.Context, ws backends.Workspace, p string) error {
			_, err := ws.Glob(ctx, backends.GlobRequest{Pattern: "**", Path: p})
			return err
		}},
		{"Grep", wantsSomething, func(ctx context.Context, ws backends.Workspace, p string) error {
			_, err := ws.Grep(ctx, backends.GrepRequest{Pattern: "line", Path: p})
			return err
		}},
	}
	if s.h.Commands {
		ops = append(ops, operation{"Run", wantsDirectory, func(ctx context.Context, ws backends.Workspace, p string) error {
			_, err := ws.Run(ctx, backends.Command{Script: "exit 0", Dir: p})
			return err
		}})
	}
	return ops
}
