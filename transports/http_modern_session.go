package transports

import (
	"context"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// modernSession is what mcp-go takes for the session of a request that has none.
// Its notifications go to the response of the request, all of them before the
// answer: mcp-go's own loses one that is sent as the request ends.
type modernSession struct {
	out *modernWriter

	notes notes

	mu     sync.Mutex
	client clientIdentity
	level  mcp.LoggingLevel
}

type modernSessionKey struct{}

// withModernSession is for mcp-go, which has put a session of its own into ctx.
func withModernSession(srv *server.MCPServer) server.HTTPContextFunc {
	return func(ctx context.Context, _ *http.Request) context.Context {
		if s, ok := ctx.Value(modernSessionKey{}).(*modernSession); ok {
			return srv.WithContext(ctx, s)
		}
		return ctx
	}
}

func (s *modernSession) SessionID() string { return "" }
func (s *modernSession) Initialize()       {}
func (s *modernSession) Initialized() bool { return true }

func (s *modernSession) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return s.notes.channel(s.out.notify)
}

func (s *modernSession) SetLogLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
}

func (s *modernSession) GetLogLevel() mcp.LoggingLevel {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.level == "" {
		return mcp.LoggingLevelError
	}
	return s.level
}

func (s *modernSession) GetClientInfo() mcp.Implementation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client.info
}

func (s *modernSession) SetClientInfo(info mcp.Implementation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client.info = info
}

func (s *modernSession) GetClientCapabilities() mcp.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client.capabilities
}

func (s *modernSession) SetClientCapabilities(c mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client.capabilities = c
}

var (
	_ server.SessionWithLogging    = (*modernSession)(nil)
	_ server.SessionWithClientInfo = (*modernSession)(nil)
)
