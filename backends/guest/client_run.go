package guest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// How much longer than it should an agent may take to stop a command, and how
// much more than it should it may send of its output, in bytes.
const (
	stopPatience = 10 * time.Second
	outputSlack  = 1 << 20
)

// Run implements [backends.Workspace].
func (c *Client) Run(ctx context.Context, cmd backends.Command) (backends.Exit, error) {
	r, err := promptly(ctx, func() (*request, error) {
		return c.start(ctx, OpRun, RunRequest{
			Argv: cmd.Argv, Script: cmd.Script, Dir: cmd.Dir, Env: cmd.Env, Stdin: cmd.Stdin != nil,
			Timeout: cmd.Timeout, Merge: cmd.Merge, KeepAbove: cmd.KeepAbove, MaxOutput: cmd.MaxOutput,
		})
	}, (*request).done)
	if err != nil {
		return backends.Exit{}, err
	}
	defer r.done()
	if !r.stop() {
		return backends.Exit{}, givenUp(ctx)
	}
	var late atomic.Bool
	expire := func() {
		late.Store(true)
		r.expire()
	}
	// A command that is given up is stopped by the agent, which then still has
	// its last words to send.
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(stopPatience, expire)
		r.cancel()
	})()
	if cmd.Timeout > 0 {
		defer time.AfterFunc(cmd.Timeout+stopPatience, expire).Stop()
	}
	if cmd.Stdin != nil {
		go r.send(cmd.Stdin)
	}
	exit, err := r.outcome(ctx, cmd, &late)
	var e *backends.Error
	if own := r.own.Load(); own != nil && errors.As(err, &e) && e.Code == backends.CodeInternal {
		e.Err = *own
	}
	return exit, err
}

// outcome hands on output until the command has ended, or late is set.
func (r *request) outcome(ctx context.Context, cmd backends.Command, late *atomic.Bool) (backends.Exit, error) {
	var buf []byte
	var total int64
	for {
		kind, payload, err := r.receive(context.WithoutCancel(ctx), buf, MaxReply)
		if err == nil && late.Load() { // of an agent that sends on, no read is late
			err = r.unanswered()
		}
		if err != nil {
			switch {
			case r.client.mux.IsClosed():
				return backends.Exit{}, r.client.lost(err)
			case ctx.Err() != nil:
				return backends.Exit{}, givenUp(ctx)
			default: // past its time limit
				return backends.Exit{}, err
			}
		}
		switch kind {
		case FrameData, FrameStderr:
			if cap(payload) > cap(buf) {
				buf = payload
			}
			total += int64(len(payload))
			if len(payload) > MaxData || cmd.MaxOutput > 0 && total > cmd.MaxOutput+outputSlack {
				return backends.Exit{}, nonsense("more output than the command may have")
			}
			stream := backends.Stdout
			if kind == FrameStderr {
				stream = backends.Stderr
			}
			if cmd.Output != nil {
				cmd.Output(stream, payload)
			}
		default:
			var reply RunReply
			if err := understand(kind, payload, &reply); err != nil {
				return backends.Exit{}, err
			}
			if reply.Code < 0 || reply.Code > 255 || reply.OutputFile != "" && !cleanAbs(reply.OutputFile) ||
				len(reply.Signal) > 20 || strings.ContainsAny(reply.Signal, " \n") {
				return backends.Exit{}, nonsense("an end of a command that there is not")
			}
			return reply.Exit, reply.Stopped.err()
		}
	}
}
