package transports

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// Client is who a request was authenticated as, and what answers it.
type Client struct {
	// Principal is "" for the only user of a server without authentication.
	Principal string
	// Server handles the client's messages. Clients under the same rules
	// share one.
	Server *server.MCPServer
	// Operator may read /metrics.
	Operator bool
}

// HTTPEvent is a request that has been answered.
type HTTPEvent struct {
	Method    string // of HTTP; OTHER for one that no route has
	Route     string // the path as this package names it, never the client's own text
	Status    int    // 499 when the client left before there was one
	Took      time.Duration
	Principal string // "" also for who was not authenticated
	RequestID string
	Remote    string // address of the peer, without its port
	// Refused is why it was refused where the status does not tell: RefusedHost,
	// RefusedOrigin or RefusedSessions.
	Refused string
}

// Values of HTTPEvent.Refused.
const (
	RefusedHost     = "host"
	RefusedOrigin   = "origin"
	RefusedSessions = "sessions"
)

// HTTP serves MCP over the network:
//
//   - /mcp is Streamable HTTP: the revisions from 2025-03-26 to 2025-11-25
//     with sessions, 2026-07-28 without, as each request says;
//   - /sse and /message are the transport of 2024-11-05;
//   - /healthz, /readyz, /metrics and the metadata of an OAuth protected
//     resource.
//
// A session belongs to the principal that made it. To everybody else it does
// not exist.
//
// The fields must not change once Handler has been called.
type HTTP struct {
	// Authenticate finds the client of a request. An error with the methods
	// Status() int and Challenge() string is answered with that status and
	// that WWW-Authenticate header, any other one with 500, and logged.
	Authenticate func(*http.Request) (*Client, error)
	// Metadata answers below /.well-known/oauth-protected-resource, without
	// authentication. Nil: 404.
	Metadata http.Handler
	// Gate decides when a message is handled. Nil lets everything in.
	Gate Gate
	// MaxSessions is how many sessions and event streams without one may be
	// open, of this principal and of all. 0 is no limit, and so is nil.
	MaxSessions func(principal string) (perPrincipal, all int)
	// BeginSession is called once for each session, and each connection to
	// /sse, before its client knows of it. It must be quick. Nil is nothing to
	// do.
	BeginSession func(ctx context.Context, principal, session string)
	// EndSession is called once for each that BeginSession was, when it is over
	// and its calls have ended or have had two seconds to. The cause is
	// ErrSessionEnded, ErrSessionIdle, ErrDisconnected or ErrShutdown. It may
	// take its time. Nil is nothing to do.
	EndSession func(ctx context.Context, principal, session string, cause error)
	// Metrics answers /metrics, to operators. Nil: 404.
	Metrics http.Handler
	// Ready is asked by /readyz. Nil is always ready until Drain.
	Ready func(context.Context) error
	// PublicURL is where clients see the root of this server, with the path
	// prefix that a proxy gives it. May be nil.
	PublicURL *url.URL
	// AllowedHosts are values of the Host header that are taken beside
	// loopback ones and PublicURL's: "name" with any port, or "name:port".
	AllowedHosts []string
	// AllowedOrigins are the origins, as browsers write them, that pages of
	// other sites may call from.
	AllowedOrigins []string
	// MaxBody is the most bytes of a request's body, 16 MiB if 0.
	MaxBody int64
	// Heartbeat is how long a response stays silent before a comment is
	// written, 15 s if 0.
	Heartbeat time.Duration
	// SessionTimeout ends a session that has had no request, and no stream or
	// call open, for this long; 1 h if 0.
	SessionTimeout time.Duration
	// WriteTimeout is how long one write may block before the connection is
	// given up, 30 s if 0.
	WriteTimeout time.Duration
	// Logger hears of what goes wrong. Nil discards.
	Logger *slog.Logger
	// Observe is told of every request at its end. It must be quick. May be nil.
	Observe func(HTTPEvent)

	questionTime time.Duration // tests lower it
	bodyGrace    time.Duration // tests lower it
	sseHeld      int64         // tests lower it

	once sync.Once
	hub  *hub
}

// Defaults of HTTP.
const (
	DefaultMaxBody        = 16 << 20
	DefaultHeartbeat      = 15 * time.Second
	DefaultSessionTimeout = time.Hour
	DefaultWriteTimeout   = 30 * time.Second
)

// Handler returns what answers requests. It can be called more than once; the
// handlers share everything.
func (h *HTTP) Handler() http.Handler { return h.start() }

// Server returns an http.Server for Handler, with the limits that it needs:
// slow headers end after 10 s, idle connections after 2 min, headers can have
// 64 KiB. A response has no time limit, since streams stay open: each write
// has one. The caller sets Addr or a listener, and TLS.
func (h *HTTP) Server() *http.Server {
	hub := h.start()
	return &http.Server{
		Handler:           hub,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 256,
			SendPingTimeout:      hub.heartbeat,
			PingTimeout:          hub.writeTimeout,
			WriteByteTimeout:     hub.writeTimeout,
		},
		ErrorLog: slog.NewLogLogger(hub.log.Handler(), slog.LevelDebug),
	}
}

// Drain stops the server in an orderly way: /readyz says no, new calls are
// refused with 503, and those in flight can end, with what they need for it
// (answers, cancellations, streams that are resumed). Then, or when ctx ends,
// streams and sessions end. It returns the cause of ctx when calls had to be
// cancelled, and how many ended by themselves and were cut. The http.Server can
// be shut down after it.
func (h *HTTP) Drain(ctx context.Context) (Drained, error) { return h.start().drain(ctx) }

func (h *HTTP) start() *hub {
	h.once.Do(func() { h.hub = newHub(h) })
	return h.hub
}

// hub is an HTTP that runs.
type hub struct {
	cfg            *HTTP
	log            *slog.Logger
	maxBody        int64
	heartbeat      time.Duration
	sessionTimeout time.Duration
	writeTimeout   time.Duration
	questionTime   time.Duration
	bodyGrace      time.Duration
	sseHeld        int64

	prefix    string // path of PublicURL, without a slash at its end
	hosts     map[string]bool
	origins   map[string]bool
	publicURL string // origin of PublicURL

	bodies   *budget
	asking   questions
	sessions *sessionTable
	events   *eventStore
	modern   sync.Map // *server.MCPServer to *server.StreamableHTTPServer
	flight   flight
	ends     sync.WaitGroup // calls of EndSession

	ctx    context.Context // of everything; ends with Drain
	cancel context.CancelCauseFunc
}

func newHub(cfg *HTTP) *hub {
	h := &hub{
		cfg:            cfg,
		log:            cfg.Logger,
		maxBody:        orDefault(cfg.MaxBody, DefaultMaxBody),
		heartbeat:      orDefault(cfg.Heartbeat, DefaultHeartbeat),
		sessionTimeout: orDefault(cfg.SessionTimeout, DefaultSessionTimeout),
		writeTimeout:   orDefault(cfg.WriteTimeout, DefaultWriteTimeout),
		questionTime:   orDefault(cfg.questionTime, questionTime),
		bodyGrace:      orDefault(cfg.bodyGrace, bodyGrace),
		sseHeld:        orDefault(cfg.sseHeld, maxSSEHeld),
		hosts:          map[string]bool{},
		origins:        map[string]bool{},
		events:         newEventStore(eventLimits),
		bodies:         newBudget(),
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	h.sessions = newSessionTable(h)
	h.flight.empty = make(chan struct{})
	h.learnHosts()
	return h
}
