package guest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// checkPath fails unless res is about the path that was asked for.
func (c *Client) checkPath(asked string, res backends.Resolution) error {
	want, err := backends.CleanPath(c.dir, asked)
	if err != nil {
		return err
	}
	if res.Path != want || !cleanAbs(res.Resolved) {
		return nonsense("%.200q leading to %.200q when it was asked about %.200q", res.Path, res.Resolved, want)
	}
	return nil
}

// ask is call for an operation on one path, with its answer checked.
func ask[Reply any](ctx context.Context, c *Client, op Op, path string, body any, at func(*Reply) *backends.Resolution, check func(*Reply) error) (Reply, error) {
	var none Reply
	if _, err := backends.CleanPath(c.dir, path); err != nil {
		return none, err
	}
	reply, err := call[Reply](ctx, c, op, body)
	if err == nil {
		err = c.checkPath(path, *at(&reply))
	}
	if err == nil && check != nil {
		err = check(&reply)
	}
	if err != nil {
		return none, err
	}
	return reply, nil
}

// Resolve implements [backends.Workspace].
func (c *Client) Resolve(ctx context.Context, path string) (backends.Resolution, error) {
	return ask(ctx, c, OpResolve, path, PathRequest{path}, func(r *backends.Resolution) *backends.Resolution { return r }, nil)
}

// Stat implements [backends.Workspace].
func (c *Client) Stat(ctx context.Context, path string) (backends.FileInfo, error) {
	reply, err := ask(ctx, c, OpStat, path, PathRequest{path}, func(r *InfoReply) *backends.Resolution { return &r.Resolution }, nil)
	if err != nil {
		return backends.FileInfo{}, err
	}
	return reply.unpack()
}

// unpack is the opposite of PackInfo.
func (r *InfoReply) unpack() (backends.FileInfo, error) {
	if r.Kind > backends.KindOther || r.Size < 0 {
		return backends.FileInfo{}, nonsense("a file of kind %d and %d bytes", r.Kind, r.Size)
	}
	return backends.FileInfo{Resolution: r.Resolution, Kind: r.Kind, Size: r.Size, Mode: r.Mode.Perm(), ModTime: time.Unix(0, r.ModTime)}, nil
}

// List implements [backends.Workspace].
func (c *Client) List(ctx context.Context, req backends.ListRequest) (backends.ListResult, error) {
	return ask(ctx, c, OpList, req.Path, req, func(r *backends.ListResult) *backends.Resolution { return &r.Resolution },
		func(r *backends.ListResult) error {
			if req.Limit > 0 && len(r.Entries) > req.Limit || r.Total < len(r.Entries) {
				return nonsense("%d of %d entries", len(r.Entries), r.Total)
			}
			for _, e := range r.Entries {
				if e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00") || e.Kind > backends.KindOther || e.Size < 0 {
					return nonsense("an entry %.200q", e.Name)
				}
			}
			return nil
		})
}

// Read implements [backends.Workspace].
func (c *Client) Read(ctx context.Context, req backends.ReadRequest) (backends.ReadResult, error) {
	reply, err := ask(ctx, c, OpRead, req.Path, req, func(r *ReadReply) *backends.Resolution { return &r.Resolution }, nil)
	if err != nil {
		return backends.ReadResult{}, err
	}
	return reply.unpack(req)
}

// unpack is the opposite of Pack.
func (r *ReadReply) unpack(req backends.ReadRequest) (backends.ReadResult, error) {
	limit := req.Limit
	if limit <= 0 {
		limit = backends.DefaultReadLines
	}
	most := req.MaxBytes
	if most <= 0 {
		most = backends.DefaultReadBytes
	}
	switch {
	case len(r.Text) > most+1: // the first line always fits, its end need not
		return backends.ReadResult{}, nonsense("%d bytes of text", len(r.Text))
	case r.Count < 0 || r.Count > limit || r.Count > r.TotalLines, r.Size < 0:
		return backends.ReadResult{}, nonsense("%d of %d lines", r.Count, r.TotalLines)
	case strings.Count(r.Text, "\n") != r.Count || r.Count > 0 && !strings.HasSuffix(r.Text, "\n") || r.Count == 0 && r.Text != "":
		return backends.ReadResult{}, nonsense("a text that has not the %d lines it says", r.Count)
	case len(r.Hashes) != 0 && len(r.Hashes) != r.Count:
		return backends.ReadResult{}, nonsense("%d hashes of %d lines", len(r.Hashes), r.Count)
	}
	out := backends.ReadResult{Resolution: r.Resolution, TotalLines: r.TotalLines, Size: r.Size, Version: clip(r.Version, maxFailureText),
		Lines: make([]backends.Line, r.Count)}
	rest := r.Text
	for i := range out.Lines {
		line := &out.Lines[i]
		line.Text, rest, _ = strings.Cut(rest, "\n")
		line.Cut = max(0, r.Cuts[i])
		if len(r.Hashes) > 0 {
			line.Hash = clip(r.Hashes[i], 16)
		}
	}
	return out, nil
}

// Edit implements [backends.Workspace].
func (c *Client) Edit(ctx context.Context, req backends.EditRequest) (backends.EditResult, error) {
	return ask(ctx, c, OpEdit, req.Path, req, resolutionOfEdit, checkEdit)
}

// EditLines implements [backends.Workspace].
func (c *Client) EditLines(ctx context.Context, req backends.EditLinesRequest) (backends.EditResult, error) {
	return ask(ctx, c, OpEditLines, req.Path, req, resolutionOfEdit, checkEdit)
}

func resolutionOfEdit(r *backends.EditResult) *backends.Resolution { return &r.Resolution }

func checkEdit(r *backends.EditResult) error {
	if r.Replaced < 0 || len(r.Diff) > backends.MaxDiff+1024 {
		return nonsense("an edit of %d places", r.Replaced)
	}
	return nil
}

// Glob implements [backends.Workspace].
func (c *Client) Glob(ctx context.Context, req backends.GlobRequest) (backends.GlobResult, error) {
	return ask(ctx, c, OpGlob, c.orDir(req.Path), req, func(r *backends.GlobResult) *backends.Resolution { return &r.Resolution },
		func(r *backends.GlobResult) error {
			if req.Limit > 0 && len(r.Paths) > req.Limit || r.Total < len(r.Paths) || r.Skipped < 0 {
				return nonsense("%d of %d paths", len(r.Paths), r.Total)
			}
			for _, p := range r.Paths {
				if !cleanAbs(strings.TrimSuffix(p, "/")) && p != "/" {
					return nonsense("a path %.200q", p)
				}
			}
			return nil
		})
}

// Grep implements [backends.Workspace].
func (c *Client) Grep(ctx context.Context, req backends.GrepRequest) (backends.GrepResult, error) {
	return ask(ctx, c, OpGrep, c.orDir(req.Path), req, func(r *backends.GrepResult) *backends.Resolution { return &r.Resolution },
		func(r *backends.GrepResult) error {
			matches := 0
			for _, f := range r.Files {
				if !cleanAbs(f.Path) || f.Count < 0 {
					return nonsense("a path %.200q with %d matches", f.Path, f.Count)
				}
				if req.Mode != backends.GrepContent {
					matches++
					continue
				}
				for _, line := range f.Lines {
					if strings.Contains(line.Text, "\n") || line.Number < 1 || line.Cut < 0 {
						return nonsense("a line %d", line.Number)
					}
					if !line.Context {
						matches++
					}
				}
			}
			if req.Limit > 0 && matches > req.Limit || r.Total < 0 || r.Matched < 0 || r.Withheld < 0 || r.Skipped < 0 {
				return nonsense("%d of %d matches", matches, r.Total)
			}
			return nil
		})
}

// orDir is the directory that a search without a path searches.
func (c *Client) orDir(path string) string {
	if path == "" {
		return c.dir
	}
	return path
}

// Open implements [backends.Workspace].
func (c *Client) Open(ctx context.Context, path string) (io.ReadCloser, backends.FileInfo, error) {
	if _, err := backends.CleanPath(c.dir, path); err != nil {
		return nil, backends.FileInfo{}, err
	}
	type opened struct {
		request *request
		info    backends.FileInfo
	}
	file, err := promptly(ctx, func() (file opened, err error) {
		if file.request, err = c.start(ctx, OpOpen, PathRequest{path}); err != nil {
			return file, err
		}
		var reply InfoReply
		err = file.request.answer(ctx, &reply)
		if err == nil {
			err = c.checkPath(path, reply.Resolution)
		}
		if err == nil {
			file.info, err = reply.unpack()
		}
		if err != nil {
			file.request.done()
		}
		return file, err
	}, func(file opened) { file.request.done() })
	if err != nil {
		return nil, backends.FileInfo{}, err
	}
	return &content{ctx: ctx, request: file.request}, file.info, nil
}

// content is a file's content as it arrives.
type content struct {
	ctx     context.Context //nolint:containedctx // of the Open that this is the rest of
	request *request
	buf     []byte // holds rest
	rest    []byte
	err     error // what ends it
	closed  bool
}

func (f *content) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		if len(p) == 0 {
			return 0, nil
		}
		if f.ctx.Err() != nil { // an agent that sends on would not let it be seen
			f.err = givenUp(f.ctx)
			return 0, f.err
		}
		kind, payload, err := f.request.receive(f.ctx, f.buf, MaxData)
		switch {
		case err != nil:
			f.err = err
		case kind == FrameData:
			f.buf, f.rest = payload, payload
		case kind == FrameEnd:
			f.err = io.EOF
		default:
			f.err = understand(kind, payload, &struct{}{})
			if f.err == nil {
				f.err = nonsense("a reply in the middle of a file")
			}
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (f *content) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	f.rest, f.err = nil, fmt.Errorf("guest: %w", io.ErrClosedPipe)
	f.request.done()
	return nil
}

// Write implements [backends.Workspace].
func (c *Client) Write(ctx context.Context, req backends.WriteRequest) (backends.WriteResult, error) {
	if _, err := backends.CleanPath(c.dir, req.Path); err != nil {
		return backends.WriteResult{}, err
	}
	reply, err := c.write(ctx, req)
	if err == nil {
		err = c.checkPath(req.Path, reply.Resolution)
	}
	if err == nil && (reply.Bytes < 0 || reply.Lines < 0) {
		err = nonsense("%d bytes written", reply.Bytes)
	}
	if err != nil {
		return backends.WriteResult{}, err
	}
	reply.Version = clip(reply.Version, maxFailureText)
	return reply, nil
}

// settlePatience is how long a write that is given up waits for the agent to
// have cleared away what it had begun.
const settlePatience = time.Second

// write is Write without the checks.
func (c *Client) write(ctx context.Context, req backends.WriteRequest) (reply backends.WriteResult, err error) {
	r, err := promptly(ctx, func() (*request, error) {
		return c.start(ctx, OpWrite, WriteRequest{Path: req.Path, Mode: req.Mode, Resolved: req.Resolved})
	}, (*request).done)
	if err != nil {
		return reply, err
	}
	defer r.done()
	if !r.stop() {
		return reply, givenUp(ctx)
	}
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(settlePatience, r.expire)
		r.cancel()
	})()
	answered := make(chan struct{})
	defer close(answered)
	go func() {
		// An agent that fails early answers before the content has ended.
		r.send(req.Content)
		select {
		case <-answered:
		case <-time.After(c.patience.operation):
			r.expire()
		}
	}()
	err = r.answer(context.WithoutCancel(ctx), &reply)
	if err != nil && ctx.Err() != nil {
		return reply, givenUp(ctx)
	}
	own := r.own.Load()
	switch {
	case err != nil && own != nil:
		return reply, *own // the caller's reader failed
	case err == nil && !r.whole.Load():
		return reply, nonsense("success, before it had the whole file")
	}
	return reply, err
}
