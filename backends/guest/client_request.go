package guest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// request is a request under way.
type request struct {
	client *Client
	stream *yamux.Stream
	op     Op
	over   bool                  // nothing more will come
	stop   func() bool           // of watching the context
	whole  atomic.Bool           // all data that goes with it was there to be sent
	own    atomic.Pointer[error] // of the reader that the data comes from
}

// past is a deadline that is over.
var past = time.Unix(1, 0)

// start sends a request, whose stream ends with ctx. The caller ends it with
// done.
func (c *Client) start(ctx context.Context, op Op, body any) (*request, error) {
	frame, err := EncodeRequest(op, body)
	if err != nil {
		return nil, fmt.Errorf("guest: encoding a request: %w", err)
	}
	if len(frame) > MaxRequest {
		return nil, backends.Errorf(backends.CodeTooLarge, "guest", "", "the request has more than %d MB", MaxRequest>>20)
	}
	stream, err := c.mux.OpenStream()
	switch {
	case errors.Is(err, yamux.ErrConnectionWriteTimeout):
		c.endSilent()
		return nil, c.lost(err)
	case err != nil:
		_ = c.mux.Close() // one that takes no more requests is of no use
		return nil, c.lost(err)
	}
	r := &request{client: c, stream: stream, op: op}
	r.stop = context.AfterFunc(ctx, func() {
		_ = stream.SetDeadline(past) // of a stream, it cannot fail
	})
	// An agent may leave a large request lying.
	limit := time.AfterFunc(c.patience.operation, func() { _ = stream.SetWriteDeadline(past) }) // of a stream, it cannot fail
	defer limit.Stop()
	if err := WriteFrame(stream, frame); err != nil {
		r.done()
		switch {
		case ctx.Err() != nil:
			return nil, givenUp(ctx)
		case errors.Is(err, yamux.ErrTimeout):
			return nil, r.unanswered()
		case errors.Is(err, yamux.ErrConnectionWriteTimeout):
			c.endSilent()
		}
		return nil, c.lost(err)
	}
	return r, nil
}

func givenUp(ctx context.Context) error {
	return &backends.Error{Code: backends.CodeCancelled, Op: "guest", Err: context.Cause(ctx), Message: "the call was cancelled"}
}

// promptly returns what f does, or that the call was given up as soon as ctx
// ends: where the other end is stuck, writing to a stream and closing it take
// their time. What f makes too late is released.
func promptly[T any](ctx context.Context, f func() (T, error), release func(T)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, givenUp(ctx)
	}
	type result struct {
		value T
		err   error
	}
	results := make(chan result)
	go func() {
		value, err := f()
		select {
		case results <- result{value, err}:
		case <-ctx.Done():
			if err == nil && release != nil {
				release(value)
			}
		}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
		return none, givenUp(ctx)
	}
}

// done frees the request's stream. A request that is not over is cancelled.
func (r *request) done() {
	r.stop()
	if r.over || r.op == OpCancel {
		_ = r.stream.Close() // fails only when the session has
		return
	}
	go func() {
		r.cancel()
		_ = r.stream.Close() // likewise
	}()
}

// cancel tells the agent that nobody waits for the request any more.
func (r *request) cancel() {
	ctx, cancel := context.WithTimeout(context.Background(), cancelPatience)
	defer cancel()
	if _, err := call[struct{}](ctx, r.client, OpCancel, CancelRequest{Stream: r.stream.StreamID()}); err != nil {
		r.client.log.Debug("a request could not be cancelled", "error", err)
	}
}

const cancelPatience = 5 * time.Second

// receive reads one frame. The error is that of the call.
//
// A command may be silent for as long as it likes, and a write while its content
// is sent. All else ends when nothing has come for as long as an answer may take.
func (r *request) receive(ctx context.Context, buf []byte, limit int) (FrameKind, []byte, error) {
	if r.op != OpRun && r.op != OpWrite {
		defer time.AfterFunc(r.client.patience.operation, r.expire).Stop()
	}
	kind, payload, err := ReadFrame(r.stream, buf, limit)
	switch {
	case err == nil:
		r.client.frames.Add(1)
		r.over = kind == FrameFailure || kind == FrameEnd || kind == FrameReply && r.op != OpOpen
		return kind, payload, nil
	case ctx.Err() != nil:
		return 0, nil, givenUp(ctx)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), r.client.mux.IsClosed(), errors.Is(err, yamux.ErrConnectionReset):
		r.over = true
		return 0, nil, r.client.lost(err)
	case errors.Is(err, yamux.ErrTimeout):
		return 0, nil, r.unanswered()
	default:
		return 0, nil, nonsense("%v", err)
	}
}

// expire ends the wait for the next frame.
func (r *request) expire() { _ = r.stream.SetReadDeadline(past) } // of a stream, it cannot fail

// answer reads the last frame of a request into v.
func (r *request) answer(ctx context.Context, v any) error {
	kind, payload, err := r.receive(ctx, nil, MaxReply)
	if err != nil {
		return err
	}
	return understand(kind, payload, v)
}

// understand takes apart a request's last frame.
func understand(kind FrameKind, payload []byte, v any) error {
	switch kind {
	case FrameReply:
		if err := Decode(payload, v); err != nil {
			return nonsense("a reply that cannot be read (%.200v)", err)
		}
		return nil
	case FrameFailure:
		var f Failure
		if err := Decode(payload, &f); err != nil {
			return nonsense("a failure that cannot be read (%.200v)", err)
		}
		return f.err()
	default:
		return nonsense("a frame %q", kind)
	}
}

// call makes a request that is answered by one frame.
func call[Reply any](ctx context.Context, c *Client, op Op, body any) (Reply, error) {
	return promptly(ctx, func() (reply Reply, err error) {
		r, err := c.start(ctx, op, body)
		if err != nil {
			return reply, err
		}
		defer r.done()
		err = r.answer(ctx, &reply)
		return reply, err
	}, nil)
}

// send sends what from has as data frames. That from failed is kept in r.own;
// that the stream did shows when the answer is read. Only a command may leave its
// input lying for longer than an operation may take.
func (r *request) send(from io.Reader) {
	out := NewFrameWriter(r.stream)
	buf := make([]byte, MaxData)
	for {
		n, err := from.Read(buf)
		if r.op != OpRun {
			_ = r.stream.SetWriteDeadline(time.Now().Add(r.client.patience.operation)) // of a stream, it cannot fail
		}
		if n > 0 && out.Write(FrameData, buf[:n]) != nil {
			return // the agent has stopped reading, and says why
		}
		switch {
		case err == io.EOF:
			r.whole.Store(true)
			_ = out.Write(FrameEnd, nil) // likewise
			return
		case err != nil:
			r.own.Store(&err)
			_ = out.Write(FrameBroken, []byte(clip(err.Error(), 4096))) // likewise
			return
		}
	}
}
