package transports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// Limits of a connection.
const (
	// DefaultMaxLine is the longest line taken, in bytes, unless Stdio says
	// otherwise.
	DefaultMaxLine = 256 << 20

	maxRunning   = 100              // calls running at once
	maxHeld      = 256 << 20        // bytes of messages held before reading waits
	callOverhead = 8 << 10          // what a call costs beside its message, in bytes
	grace        = 2 * time.Second  // for cancelled calls to end
	questionTime = 10 * time.Minute // for a person to answer a question
)

// Why a call's context ended, from [context.Cause]; [*CancelledError] is the
// third.
var (
	// ErrDisconnected says that nothing can be written to the client any more.
	ErrDisconnected = errors.New("the client is gone")
	// ErrShutdown says that the server is stopping.
	ErrShutdown = errors.New("the server is shutting down")
)

// CancelledError says that the client has cancelled the call.
type CancelledError struct {
	Reason string // the client's own words, may be empty
}

func (e *CancelledError) Error() string {
	if e.Reason == "" {
		return "cancelled by the client"
	}
	return "cancelled by the client: " + e.Reason
}

// Stdio serves MCP over a pair of streams, as a child process does on its
// standard input and output: one JSON-RPC message a line.
//
// Calls run at the same time, each from its own goroutine, except that
// initialize takes effect before what follows it. Cancellations, and answers
// to what the server asked, are seen however much waits in front of them. A
// cancelled call gets no answer.
type Stdio struct {
	// Server handles the messages.
	Server *server.MCPServer
	// InOrder runs one call at a time, in the order they arrive. A ping is
	// answered at once all the same: it asks whether anybody is there.
	InOrder bool
	// Logger hears of panics and of what had to be dropped. Nil discards.
	Logger *slog.Logger
	// MaxLine is the longest line taken, in bytes with its newline; a longer
	// one is skipped and answered with an error. 0 means DefaultMaxLine.
	MaxLine int64

	// Limits that tests lower; 0 means the constant of the same name.
	maxRunning   int
	maxHeld      int64
	questionTime time.Duration
}

// Serve reads messages from in and writes to out. It returns
//
//   - nil when in has ended and everything read has been answered;
//   - an error of [ErrShutdown] when ctx ends: the calls in flight are
//     cancelled and given two seconds to answer;
//   - an error of [ErrDisconnected] when out fails: the calls in flight are
//     cancelled and given two seconds to end;
//   - any other error when in cannot be read, once everything read has been
//     answered.
//
// A read or write that blocks for ever cannot be interrupted unless the stream
// supports deadlines: then its goroutine is left behind. Serve closes neither
// stream. A program that serves its own standard output has to take SIGPIPE (signal.Notify),
// or it dies of a client that is gone before Serve can see it.
func (s *Stdio) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	log := s.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := newConn(ctx, &conn{
		server:       s.Server,
		log:          log,
		maxLine:      orDefault(s.MaxLine, DefaultMaxLine),
		questionTime: orDefault(s.questionTime, questionTime),
		calls:        newCallTable(s.InOrder, orDefault(s.maxRunning, maxRunning), orDefault(s.maxHeld, maxHeld)),
	}, out, "stdio-"+strconv.FormatInt(connections.Add(1), 10))
	if err := s.Server.RegisterSession(c.ctx, c.session); err != nil {
		c.cancel(err)
		return fmt.Errorf("registering the connection: %w", err)
	}
	defer s.Server.UnregisterSession(context.WithoutCancel(ctx), c.session.id)

	go c.pumpNotifications()
	go c.read(newLineReader(in, c.maxLine))

	err := c.wait(ctx)
	if err != nil {
		releaseReader(in)
	}
	if !c.close(err) {
		log.Warn("the connection ended with calls still running or answers not taken", "waited", grace)
		releaseWriter(out)
	}
	return err
}

// newConn completes c, which writes to out. Calls learn why they were ended, so
// the end of ctx has to be passed on to c.cancel by hand.
func newConn(ctx context.Context, c *conn, out io.Writer, sessionID string) *conn {
	c.work = make(chan *call)
	c.broken = make(chan struct{})
	c.done = make(chan struct{})
	c.pumped = make(chan struct{})
	c.eof = make(chan error, 1)
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	c.out = newLineWriter(out, c.fail)
	c.session = newSession(c, sessionID)
	return c
}

func orDefault[T int | int64 | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// releaseReader and releaseWriter end a blocked read or write where the stream
// has deadlines. One that has none says so, and nothing is lost.

func releaseReader(in io.Reader) {
	if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok {
		_ = d.SetReadDeadline(time.Unix(1, 0))
	}
}

func releaseWriter(out io.Writer) {
	if d, ok := out.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = d.SetWriteDeadline(time.Unix(1, 0))
	}
}
