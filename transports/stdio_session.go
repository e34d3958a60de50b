package transports

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// maxNotifications is how many notifications may wait to be written before
// mcp-go drops further ones with an error to their sender.
const maxNotifications = 1024

// connections counts those of Stdio, to name their sessions.
var connections atomic.Int64

// session is the connection as mcp-go knows it.
type session struct {
	id            string
	conn          *conn
	notifications chan mcp.JSONRPCNotification
	// sends counts how often the channel was asked for, which mcp-go does
	// before each send. What has not moved has nothing to flush.
	sends       atomic.Int64
	initialized atomic.Bool
	level       atomic.Value // mcp.LoggingLevel

	mu       sync.Mutex
	client   clientIdentity
	protocol string
}

type clientIdentity struct {
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
}

func newSession(c *conn, id string) *session {
	return &session{
		id:            id,
		conn:          c,
		notifications: make(chan mcp.JSONRPCNotification, maxNotifications),
	}
}

func (s *session) SessionID() string { return s.id }

func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification {
	s.sends.Add(1)
	return s.notifications
}

func (s *session) Initialize() {
	s.level.CompareAndSwap(nil, mcp.LoggingLevelError)
	s.initialized.Store(true)
}

func (s *session) Initialized() bool { return s.initialized.Load() }

func (s *session) SetLogLevel(level mcp.LoggingLevel) { s.level.Store(level) }

func (s *session) GetLogLevel() mcp.LoggingLevel {
	if level, ok := s.level.Load().(mcp.LoggingLevel); ok {
		return level
	}
	return mcp.LoggingLevelError
}

func (s *session) ProtocolVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.protocol
}

func (s *session) SetProtocolVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.protocol = version
}

// requestSession is the session as one request sees it. A client of protocol
// 2026-07-28 says in each request who it is and what it can do, and mcp-go
// stores that in the session: here it stays with the request, so that requests
// that run at the same time, or later ones that say nothing, are not taken for
// something else. Only initialize speaks for the whole connection.
type requestSession struct {
	*session
	call *call

	mu          sync.Mutex
	own         *clientIdentity // what this request said; nil when nothing
	initialized bool
}

func (v *requestSession) connectionWide() bool {
	return v.call.method == string(mcp.MethodInitialize)
}

// Initialize is called by initialize, and by a request of protocol 2026-07-28.
// The latter opts in to nothing that the server broadcasts, unless it is there
// to listen.
func (v *requestSession) Initialize() {
	v.mu.Lock()
	v.initialized = true
	v.mu.Unlock()
	if v.connectionWide() || v.call.endless() {
		v.session.Initialize()
	}
}

func (v *requestSession) Initialized() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.initialized || v.session.Initialized()
}

func (v *requestSession) identity() clientIdentity {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.own != nil {
		return *v.own
	}
	v.session.mu.Lock()
	defer v.session.mu.Unlock()
	return v.client
}

func (v *requestSession) setIdentity(set func(*clientIdentity)) {
	if v.connectionWide() {
		v.session.mu.Lock()
		defer v.session.mu.Unlock()
		set(&v.client)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.own == nil {
		v.own = &clientIdentity{}
	}
	set(v.own)
}

func (v *requestSession) GetClientInfo() mcp.Implementation { return v.identity().info }

func (v *requestSession) SetClientInfo(info mcp.Implementation) {
	v.setIdentity(func(c *clientIdentity) { c.info = info })
}

func (v *requestSession) GetClientCapabilities() mcp.ClientCapabilities {
	return v.identity().capabilities
}

func (v *requestSession) SetClientCapabilities(capabilities mcp.ClientCapabilities) {
	v.setIdentity(func(c *clientIdentity) { c.capabilities = capabilities })
}

// RequestElicitation asks the person through the client. It fails with
// [server.ErrElicitationNotSupported] when the client has not declared that it
// can, and with the cause of ctx. A question that gets no answer, because time
// is up, or the client answers with an error or has closed its side, counts as
// one that the person has closed: an error would fail the call before the tool
// that asked can say what that means.
func (v *requestSession) RequestElicitation(ctx context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	if v.GetClientCapabilities().Elicitation == nil {
		return nil, server.ErrElicitationNotSupported
	}
	if v.conn.askable != nil {
		done, ok := v.conn.askable()
		if !ok {
			return unasked(v.conn.log), nil
		}
		defer done()
	}
	limited, cancel := context.WithTimeout(ctx, v.conn.questionTime)
	defer cancel()
	result := new(mcp.ElicitationResult)
	raw, err := ask(limited, v, mcp.MethodElicitationCreate, request.Params)
	if err == nil {
		err = json.Unmarshal(raw, result)
	}
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	v.conn.log.Info("a question to the person got no answer", "cause", err)
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionCancel}}, nil
}

// unasked is the answer to a question that was not put to the person because
// too many are open.
func unasked(log *slog.Logger) *mcp.ElicitationResult {
	log.Warn("a question was not put to the person: too many have no answer yet")
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionCancel}}
}

var (
	_ server.ClientSession              = (*session)(nil)
	_ server.SessionWithLogging         = (*requestSession)(nil)
	_ server.SessionWithClientInfo      = (*requestSession)(nil)
	_ server.SessionWithProtocolVersion = (*requestSession)(nil)
	_ server.SessionWithElicitation     = (*requestSession)(nil)
)
