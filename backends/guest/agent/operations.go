//go:build linux || darwin

package agent

import (
	"errors"
	"io"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
	"github.com/mcp-workspace/mcp-workspace/backends/procs"
)

// answer runs one operation in the place.
func (p *place) answer(c *call, op guest.Op, body []byte) (any, error) {
	ctx := c.ctx
	switch op {
	case guest.OpResolve:
		return with(body, func(req guest.PathRequest) (backends.Resolution, error) { return p.Resolve(ctx, req.Path) })
	case guest.OpStat:
		return with(body, func(req guest.PathRequest) (guest.InfoReply, error) {
			info, err := p.Stat(ctx, req.Path)
			return guest.PackInfo(info), err
		})
	case guest.OpList:
		return with(body, func(req backends.ListRequest) (backends.ListResult, error) { return p.List(ctx, req) })
	case guest.OpRead:
		return with(body, func(req backends.ReadRequest) (guest.ReadReply, error) {
			res, err := p.Read(ctx, req)
			return guest.Pack(res), err
		})
	case guest.OpEdit:
		return with(body, func(req backends.EditRequest) (backends.EditResult, error) { return p.Edit(ctx, req) })
	case guest.OpEditLines:
		return with(body, func(req backends.EditLinesRequest) (backends.EditResult, error) { return p.EditLines(ctx, req) })
	case guest.OpGlob:
		return with(body, func(req backends.GlobRequest) (backends.GlobResult, error) { return p.Glob(ctx, req) })
	case guest.OpGrep:
		return with(body, func(req backends.GrepRequest) (backends.GrepResult, error) { return p.Grep(ctx, req) })
	case guest.OpOpen:
		return with(body, func(req guest.PathRequest) (struct{}, error) { return struct{}{}, p.send(c, req.Path) })
	case guest.OpWrite:
		return with(body, func(req guest.WriteRequest) (backends.WriteResult, error) {
			return p.Write(ctx, backends.WriteRequest{Path: req.Path, Mode: req.Mode, Resolved: req.Resolved, Content: &incoming{stream: c.stream}})
		})
	case guest.OpRun:
		return with(body, func(req guest.RunRequest) (guest.RunReply, error) { return p.run(c, req) })
	default:
		return nil, backends.Errorf(backends.CodeUnsupported, "guest", "", "the guest agent does not know operation %d; it is of another version", op)
	}
}

// send answers with a file's description and sends its content.
func (p *place) send(c *call, path string) error {
	file, info, err := p.Open(c.ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	head, err := guest.EncodeReply(guest.PackInfo(info))
	if err != nil {
		return err
	}
	if _, err := c.stream.Write(head); err != nil {
		return err
	}
	out := guest.NewFrameWriter(c.stream)
	buf := make([]byte, guest.MaxData)
	for c.ctx.Err() == nil {
		n, err := file.Read(buf)
		if n > 0 {
			if err := out.Write(guest.FrameData, buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return out.Write(guest.FrameEnd, nil)
		}
		if err != nil {
			return err
		}
	}
	return c.ctx.Err()
}

// incoming is the data that a host sends behind a request.
type incoming struct {
	stream io.Reader
	buf    []byte // holds rest
	rest   []byte
	err    error
}

// errInput is the failure of the host's own reader. The host knows the rest.
var errInput = errors.New("the input could not be read to its end")

func (in *incoming) Read(p []byte) (int, error) {
	for len(in.rest) == 0 {
		if in.err != nil {
			return 0, in.err
		}
		kind, payload, err := guest.ReadFrame(in.stream, in.buf, guest.MaxData)
		switch {
		case err != nil:
			if errors.Is(err, io.EOF) { // without FrameEnd it is not whole
				err = io.ErrUnexpectedEOF
			}
			in.err = err
		case kind == guest.FrameData:
			in.buf, in.rest = payload, payload
		case kind == guest.FrameEnd:
			in.err = io.EOF
		case kind == guest.FrameBroken:
			in.err = errors.New(string(payload))
		default:
			in.err = errInput
		}
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}

// run runs a command and sends its output as it comes.
func (p *place) run(c *call, req guest.RunRequest) (guest.RunReply, error) {
	cmd := backends.Command{
		Argv: req.Argv, Script: req.Script, Dir: req.Dir, Env: req.Env, Timeout: req.Timeout,
		Merge: req.Merge, KeepAbove: req.KeepAbove, MaxOutput: req.MaxOutput,
	}
	if req.Stdin {
		cmd.Stdin = &incoming{stream: c.stream}
	}
	if cmd.Dir == "" {
		cmd.Dir = p.WorkingDir()
	}
	at, err := p.Resolve(c.ctx, cmd.Dir)
	if err != nil {
		return guest.RunReply{}, err
	}
	cmd.Dir = at.Resolved
	out := guest.NewFrameWriter(c.stream)
	gone := false
	cmd.Output = func(stream backends.Stream, data []byte) {
		kind := guest.FrameData
		if stream == backends.Stderr {
			kind = guest.FrameStderr
		}
		for len(data) > 0 && !gone {
			n := min(len(data), guest.MaxData)
			if err := out.Write(kind, data[:n]); err != nil {
				gone = true // nobody listens; the session's end stops the command
				p.session.note(err)
			}
			data = data[n:]
		}
	}
	exit, err := procs.Run(c.ctx, cmd, procs.Options{
		Env:            p.env,
		Dir:            p.WorkingDir(),
		OpenOutputFile: p.openOutput,
		Track:          p.session.ledger.track,
		Logger:         p.session.cfg.Log,
	})
	var e *backends.Error
	if err != nil && !errors.As(err, &e) {
		return guest.RunReply{}, err
	}
	reply := guest.RunReply{Exit: exit}
	if err != nil {
		reply.Stopped = guest.FailureOf(err)
	}
	return reply, nil
}
