package guest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/yamux"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// ErrIncompatible is the cause when an agent speaks another version of the
// protocol.
var ErrIncompatible = errors.New("the guest agent is of another version")

// Client is a session with a guest agent. Its methods are those of
// [backends.Workspace] of the same names, safe for concurrent use. When the
// stream breaks, the calls in flight and all later ones fail with
// CodeUnavailable.
type Client struct {
	mux      *yamux.Session
	watched  *watched // what mux reads and writes
	log      *slog.Logger
	patience patience
	frames   atomic.Int64 // that have been received
	release  string
	dir      string

	closeOnce sync.Once
	closed    atomic.Bool
	silent    atomic.Bool // the session was ended because the agent did not answer
}

// Dial greets the agent at the other end of conn, which the Client closes in the
// end, also when Dial fails; that has to end reads and writes under way. The Client is of use once SetUp has succeeded.
// Log hears what the multiplexer has to say; nil is silent.
//
// It fails with CodeUnavailable when something else than an agent answers, with
// the cause [ErrIncompatible] for an agent of another version.
func Dial(ctx context.Context, conn io.ReadWriteCloser, log *slog.Logger) (*Client, error) {
	return dial(ctx, conn, log, usualPatience)
}

func dial(ctx context.Context, conn io.ReadWriteCloser, log *slog.Logger, patience patience) (*Client, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // unblocks the read
	release, err := readGreeting(conn)
	if !stop() {
		return nil, &backends.Error{Code: backends.CodeCancelled, Op: "open", Err: context.Cause(ctx),
			Message: "given up while waiting for the guest agent"}
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	cfg := Multiplexing(lines{log, new(atomic.Int32)})
	cfg.EnableKeepAlive = false // watch asks the agent itself, not its multiplexer
	cfg.ConnectionWriteTimeout = writePatience
	watched := watch(conn)
	mux, err := yamux.Client(Join(watched), cfg)
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("guest: %w", err)
	}
	if err := mux.GoAway(); err != nil { // the agent has no business opening streams
		_ = mux.Close()
		return nil, broken(err)
	}
	c := &Client{mux: mux, watched: watched, log: log, patience: patience, release: release}
	go c.watch()
	return c, nil
}

// Connect is Dial and SetUp.
func Connect(ctx context.Context, conn io.ReadWriteCloser, setup Setup, log *slog.Logger) (*Client, error) {
	c, err := Dial(ctx, conn, log)
	if err != nil {
		return nil, err
	}
	if err := c.SetUp(ctx, setup); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// readGreeting reads the agent's first line, byte for byte: what follows is not
// for this reader.
func readGreeting(r io.Reader) (release string, err error) {
	var line []byte
	one := make([]byte, 1)
	for len(line) < maxGreeting {
		if _, err = io.ReadFull(r, one); err != nil || one[0] == '\n' {
			break
		}
		line = append(line, one[0])
	}
	text, ok := strings.CutPrefix(string(line), greetingPrefix)
	version, release, ok2 := strings.Cut(text, " ")
	switch n, convErr := strconv.Atoi(version); {
	case err != nil && len(line) == 0:
		return "", &backends.Error{Code: backends.CodeUnavailable, Op: "open", Err: err,
			Message: "the guest agent did not start in the container"}
	case err != nil || !ok || !ok2 || convErr != nil:
		return "", &backends.Error{Code: backends.CodeUnavailable, Op: "open", Err: err,
			Message: fmt.Sprintf("what was started in the container is no guest agent; it says %.100q", line)}
	case n != ProtocolVersion:
		return "", &backends.Error{Code: backends.CodeUnavailable, Op: "open", Err: ErrIncompatible, Message: fmt.Sprintf(
			"the container has a guest agent %.100q of protocol %d, and this program speaks protocol %d; use the version that made the container, or make a new workspace",
			release, n, ProtocolVersion)}
	}
	return release, nil
}

// maxLines is how much of a stream's own troubles is logged: whoever is root in
// the container can make as many as they like.
const maxLines = 100

// lines hands text on to a log.
type lines struct {
	log     *slog.Logger
	written *atomic.Int32
}

func (l lines) Write(p []byte) (int, error) {
	if l.written.Add(1) > maxLines {
		l.written.Store(maxLines) // it never comes round
		return len(p), nil
	}
	l.log.Debug("guest stream", "message", strings.TrimSpace(string(p)))
	return len(p), nil
}

// SetUp has the agent work as setup says. It may be tried again after a failure:
// CodePermission when the working directory can neither be found nor made by the
// container's user, CodeReadOnly when its file system is, CodeNotDirectory when
// something else is there.
func (c *Client) SetUp(ctx context.Context, setup Setup) error {
	reply, err := call[SetupReply](ctx, c, OpSetup, setup)
	if err != nil {
		return err
	}
	if !cleanAbs(reply.WorkingDir) {
		return nonsense("a working directory %q", reply.WorkingDir)
	}
	c.dir = reply.WorkingDir
	return nil
}

// WorkingDir is where relative paths and commands start.
func (c *Client) WorkingDir() string { return c.dir }

// Release is the agent's version, as it says.
func (c *Client) Release() string { return c.release }

// Done is closed when the session has ended.
func (c *Client) Done() <-chan struct{} { return c.mux.CloseChan() }

// Close ends the session, and with it the agent's process and the commands that
// are running.
func (c *Client) Close() error {
	var err error
	c.closeOnce.Do(func() {
		c.closed.Store(true)
		err = c.mux.Close()
	})
	return err
}

// broken is the failure of a call whose session has ended.
func broken(err error) error {
	return &backends.Error{Code: backends.CodeUnavailable, Op: "guest", Err: err,
		Message: "the connection to the workspace broke while this call was under way, so what became of it is not known; look before you repeat it"}
}

func (c *Client) lost(err error) error {
	switch {
	case c.closed.Load():
		return backends.Errorf(backends.CodeUnavailable, "guest", "", "the connection to this workspace is closed")
	case c.silent.Load():
		return silent()
	default:
		return broken(err)
	}
}

// nonsense is the failure of a call that was answered with what no agent of ours
// says.
func nonsense(format string, args ...any) error {
	return backends.Errorf(backends.CodeInternal, "guest", "", "the guest agent answered with "+format+
		", which it never should; something in the container may be speaking in its place", args...)
}

// knownCodes are what an agent may fail with.
var knownCodes = map[backends.Code]bool{
	backends.CodeNotFound: true, backends.CodeIsDirectory: true, backends.CodeNotDirectory: true, backends.CodePermission: true,
	backends.CodeStale: true, backends.CodeNotUnique: true, backends.CodeNoMatch: true, backends.CodeInvalidArgument: true,
	backends.CodeTooLarge: true, backends.CodeBinary: true, backends.CodeTimeout: true, backends.CodeUnavailable: true,
	backends.CodeUnsupported: true, backends.CodeReadOnly: true, backends.CodeCancelled: true, backends.CodeInternal: true,
}

// maxFailureText bounds each text of a failure, in bytes.
const maxFailureText = 64 << 10

// err unpacks a failure.
func (f *Failure) err() error {
	if f == nil {
		return nil
	}
	if !knownCodes[f.Code] || f.Code == backends.CodeBinary && f.Binary == nil {
		return nonsense("a failure of the kind %.40q", f.Code)
	}
	if f.Binary != nil {
		f.Binary.MIME = clip(f.Binary.MIME, 100)
	}
	e := &backends.Error{Code: f.Code, Op: clip(f.Op, 40), Path: clip(f.Path, maxFailureText), Message: clip(f.Message, maxFailureText), Binary: f.Binary}
	switch f.Cause {
	case "":
	case backends.ErrNoShell.Error():
		e.Err = backends.ErrNoShell
	default:
		e.Err = errors.New(clip(f.Cause, maxFailureText))
	}
	return e
}

func clip(s string, limit int) string { return s[:min(len(s), limit)] }

// cleanAbs tells whether p is a path as the contract has them in answers.
func cleanAbs(p string) bool {
	return path.IsAbs(p) && path.Clean(p) == p && strings.IndexByte(p, 0) < 0
}
