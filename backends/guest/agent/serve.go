//go:build linux || darwin

package agent

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

// Config is what a session is made from.
type Config struct {
	// Env is the environment that commands start from, K=V. Nil is that of this
	// process.
	Env []string
	// Release is this program's version, for people.
	Release string
	// Log hears of what goes wrong beside the answers. Nil is silent.
	Log *slog.Logger
}

// Serve answers requests from conn until it ends, or ctx does, and closes it.
// Commands that are still running then are stopped. The end of conn is no error.
func Serve(ctx context.Context, conn io.ReadWriteCloser, cfg Config) error {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Env == nil {
		cfg.Env = os.Environ()
	}
	if _, err := io.WriteString(conn, guest.Greeting(cfg.Release)); err != nil {
		_ = conn.Close()
		return err
	}
	mux, err := yamux.Server(guest.Join(conn), guest.Multiplexing(lines{cfg.Log}))
	if err != nil {
		_ = conn.Close()
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &session{cfg: cfg, ledger: newLedger(cfg.Log), running: map[uint32]*call{}}
	defer func() {
		cancel()
		_ = mux.Close()
		s.calls.Wait()
		s.close()
	}()
	defer context.AfterFunc(ctx, func() { _ = mux.Close() })()
	for {
		stream, err := mux.AcceptStream()
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, yamux.ErrSessionShutdown) {
				err = nil
			}
			return err
		}
		// In the order in which they come: what cancels a request comes after it.
		c := s.begin(ctx, stream)
		s.calls.Go(func() { s.serve(c) })
	}
}

// lines hands text on to a log.
type lines struct{ log *slog.Logger }

func (l lines) Write(p []byte) (int, error) {
	l.log.Debug("stream", "message", string(p))
	return len(p), nil
}

// session is one connection of a host.
type session struct {
	cfg    Config
	ledger *ledger
	calls  sync.WaitGroup

	mu      sync.Mutex
	running map[uint32]*call // by stream
	place   *place           // set by setup
}

// call is a request under way.
type call struct {
	op     guest.Op // under session.mu
	stream *yamux.Stream
	ctx    context.Context //nolint:containedctx // the call is what it is the context of
	cancel context.CancelFunc
}

// lastWords is how long a command that was given up may take to send what it
// still has to say, to a host that may have stopped listening.
const lastWords = 10 * time.Second

// begin knows the call that comes over stream.
func (s *session) begin(ctx context.Context, stream *yamux.Stream) *call {
	c := &call{stream: stream}
	c.ctx, c.cancel = context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[stream.StreamID()] = c
	return c
}

// end forgets a call.
func (s *session) end(c *call) {
	c.cancel()
	s.mu.Lock()
	delete(s.running, c.stream.StreamID())
	s.mu.Unlock()
	_ = c.stream.Close() // fails when the session has
}

// serve answers the request of a call.
func (s *session) serve(c *call) {
	defer s.end(c)
	stream := c.stream
	kind, payload, err := guest.ReadFrame(stream, nil, guest.MaxRequest)
	if err != nil || kind != guest.FrameRequest {
		s.cfg.Log.Debug("no request came", "kind", kind, "error", err)
		return
	}
	op, body, err := guest.DecodeRequest(payload)
	if err != nil {
		s.cfg.Log.Debug("no request came", "error", err)
		return
	}
	s.mu.Lock()
	c.op = op
	s.mu.Unlock()
	reply, err := s.answer(c, op, body)
	if err == nil {
		var frame []byte
		if frame, err = guest.EncodeReply(reply); err == nil {
			s.note(guest.WriteFrame(stream, frame))
			return
		}
	}
	frame, encodeErr := guest.Encode(guest.FailureOf(err))
	if encodeErr == nil {
		encodeErr = guest.NewFrameWriter(stream).Write(guest.FrameFailure, frame)
	}
	s.note(encodeErr)
}

// note logs that an answer did not arrive. The host knows by itself.
func (s *session) note(err error) {
	if err != nil {
		s.cfg.Log.Debug("an answer could not be sent", "error", err)
	}
}

// cancelCall ends the call that the host has given up.
func (s *session) cancelCall(stream uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.running[stream]
	if c == nil {
		return
	}
	c.cancel()
	until := time.Now()
	_ = c.stream.SetReadDeadline(until) // of a stream, it cannot fail
	if c.op == guest.OpRun {
		until = until.Add(lastWords)
	}
	_ = c.stream.SetWriteDeadline(until) // likewise
}

// answer runs one operation.
func (s *session) answer(c *call, op guest.Op, body []byte) (any, error) {
	switch op {
	case guest.OpCancel:
		return with(body, func(req guest.CancelRequest) (struct{}, error) {
			s.cancelCall(req.Stream)
			return struct{}{}, nil
		})
	case guest.OpPing:
		return struct{}{}, nil
	case guest.OpSetup:
		return with(body, func(req guest.Setup) (guest.SetupReply, error) { return s.setUp(c.ctx, req) })
	}
	s.mu.Lock()
	p := s.place
	s.mu.Unlock()
	if p == nil {
		return nil, backends.Errorf(backends.CodeInternal, "guest", "", "the session has not been set up")
	}
	return p.answer(c, op, body)
}

// with decodes a request for f.
func with[Req, Reply any](body []byte, f func(Req) (Reply, error)) (any, error) {
	var req Req
	if err := guest.Decode(body, &req); err != nil {
		return nil, backends.Errorf(backends.CodeInternal, "guest", "", "the request cannot be read: %v", err)
	}
	reply, err := f(req)
	if err != nil {
		return nil, err
	}
	return reply, nil
}

// close frees what the session holds.
func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.place != nil {
		s.place.close()
	}
	s.ledger.close()
}
