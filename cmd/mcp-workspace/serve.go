package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/mcp-workspace/mcp-workspace/internal/audit"
	"github.com/mcp-workspace/mcp-workspace/internal/telemetry"
	"github.com/mcp-workspace/mcp-workspace/internal/version"
	"github.com/mcp-workspace/mcp-workspace/sessions"
	"github.com/mcp-workspace/mcp-workspace/transports"
)

// leastBody is what a request needs, in bytes.
const leastBody = 1 << 10

// listenAndServe serves until the context of cmd ends.
func (s *settings) listenAndServe(cmd *cobra.Command, f *serveFlags) error {
	if err := s.read(cmd.Flags()); err != nil {
		return err
	}
	for _, check := range []func() error{
		func() error { return s.checkBackends(s.usedBackends()...) },
		func() error { return f.check(s) },
		func() error { return s.checkTenants(f.noAuth) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	running, err := s.assemble(cmd.Context(), f)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	calls, err := running.serve(ctx)
	err = errors.Join(err, running.close(ctx))
	if ctx.Err() == nil {
		return err // it has never listened, or could not go on
	}
	running.log.Info("stopped", "reason", context.Cause(ctx), "calls_finished", calls.Finished, "calls_cut", calls.Cut)
	return err
}

// service is a server with all that it holds.
type service struct {
	settings *settings
	flags    *serveFlags
	log      *slog.Logger
	handler  *transports.HTTP
	metrics  *telemetry.Metrics
	tracing  *telemetry.Tracing            // nil without it
	audit    *audit.Log                    // nil without one
	closers  []func(context.Context) error // in the order in which they were opened
}

func (v *service) onClose(f func(context.Context) error) { v.closers = append(v.closers, f) }

// close gives back what the service holds, the latest first.
func (v *service) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	var errs []error
	for i := len(v.closers) - 1; i >= 0; i-- {
		errs = append(errs, v.closers[i](ctx))
	}
	return errors.Join(errs...)
}

// assemble puts the server together.
func (s *settings) assemble(ctx context.Context, f *serveFlags) (_ *service, err error) {
	v := &service{settings: s, flags: f, log: s.logger()}
	defer func() {
		if err != nil {
			err = errors.Join(err, v.close(ctx))
		}
	}()
	authenticator, err := s.authenticator(f)
	if err != nil {
		return nil, err
	}
	shared, err := v.openShared(ctx)
	if err != nil {
		return nil, err
	}
	if v.audit, err = v.openAudit(); err != nil {
		return nil, err
	}
	if v.tracing, err = telemetry.NewTracing(ctx, telemetry.TracingConfig{Version: version.String(), Transport: telemetry.TransportTCP, Logger: v.log}); err != nil {
		return nil, err
	}
	v.onClose(v.tracing.Shutdown)

	all := s.serve.limits.over(sessions.DefaultLimits)
	s.scope = serveScope
	manager := sessions.NewManager(sessions.ManagerConfig{
		Shared: shared, Limits: all, IdleStop: f.idleStop, MaxAge: f.maxAge, Served: s.serves(f.noAuth),
		Observe: v.observeWorkspace, Logger: v.log,
	})
	v.onClose(manager.Close)
	v.metrics = telemetry.NewMetrics(telemetry.MetricsConfig{
		Version: version.String(), Backends: backendNames(), Routes: transports.Routes(),
		Backend:    func(ctx context.Context) string { return s.backendOf(sessions.CallerFrom(ctx).Principal) },
		Workspaces: workspaceCounts(manager),
		Sessions:   func() int { return v.handler.Sessions() },
		AuditLost:  v.audit.Lost, SpansLost: v.tracing.SpansLost, Logger: v.log,
	})
	options := slices.Concat(v.metrics.ServerOptions(), v.tracing.ServerOptions(), v.audit.ServerOptions())
	tenants, err := s.makeTenants(manager, v.observeCall, options)
	if err != nil {
		return nil, err
	}
	// Go reads from the network at once only while one of its threads has nothing
	// to do. The gate lets one principal occupy half of the processors, and one
	// thread more than there are processors is left for whoever comes then: measured
	// with make bench-http, it makes the difference for a client beside a flood.
	processors := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(processors + 1)
	gate := sessions.NewGate(sessions.GateConfig{Server: all, Short: max(1, processors/2), Principal: func(p string) sessions.Limits { return tenants.of(p).limits }})
	v.handler = &transports.HTTP{
		Authenticate: v.client(authenticator, tenants),
		Gate:         gate,
		MaxSessions:  func(p string) (int, int) { return tenants.of(p).limits.Sessions, all.Sessions },
		BeginSession: v.sessionStarted,
		EndSession: func(ctx context.Context, principal, session string, cause error) {
			v.sessionEnded(principal, session, cause)
			if err := manager.EndSession(ctx, principal, session); err != nil {
				v.log.Warn("a session could not be ended", "error", err)
			}
		},
		Ready:          func(context.Context) error { return v.audit.Ready() },
		Metrics:        v.metrics.Handler(),
		AllowedHosts:   split(f.allowedHosts),
		AllowedOrigins: split(f.allowedOrigins),
		SessionTimeout: f.sessionTimeout,
		Logger:         v.log,
		Observe:        v.observeHTTP,
	}
	if authenticator != nil {
		v.handler.Metadata = authenticator.Metadata()
	}
	if v.handler.MaxBody, err = units.RAMInBytes(f.maxBody); err != nil || v.handler.MaxBody < leastBody {
		return nil, s.wrong("max-body", "is %q; it takes a size such as 16MB, at least 1KB", f.maxBody)
	}
	if f.publicURL != "" {
		if v.handler.PublicURL, err = url.Parse(f.publicURL); err != nil {
			return nil, err // check has seen to it
		}
	}
	return v, nil
}

// serveScope marks the containers of servers, so that what they do to idle and
// old ones leaves those alone that somebody has made without a server.
const serveScope = "serve"

// serves tells whose workspaces are this server's to look after.
func (s *settings) serves(noAuth bool) func(owner string) bool {
	if noAuth {
		return func(owner string) bool { return owner == everybody }
	}
	return func(owner string) bool {
		known := slices.ContainsFunc(s.serve.principals, func(p principal) bool { return p.name == owner })
		return known || s.serve.oauth.permitted && strings.HasPrefix(owner, "oauth:")
	}
}

func (v *service) openShared(ctx context.Context) (sessions.Shared, error) {
	where := v.flags.shared
	if dir, ok := strings.CutPrefix(where, "file:"); ok && dir != "" {
		abs, err := v.settings.loaded.Abs("shared", dir)
		if err != nil {
			return nil, err
		}
		where = "file:" + abs
	}
	shared, err := sessions.OpenShared(ctx, where)
	if err != nil {
		return nil, v.settings.wrong("shared", "cannot be used: %v", err)
	}
	v.onClose(func(context.Context) error { return shared.Close() })
	return shared, nil
}

// serve listens until ctx ends, and lets the calls in flight finish. It answers
// with what became of them.
func (v *service) serve(ctx context.Context) (calls transports.Drained, err error) {
	listener, err := v.listen(ctx, v.flags.listen)
	if err != nil {
		return calls, v.settings.wrong("listen", "cannot be used: %v; choose another address, or end what uses it", err)
	}
	address := listener.Addr()
	scheme := "http"
	if v.flags.tlsCert != "" {
		scheme = "https"
		certificates := &certificates{cert: v.flags.tlsCert, key: v.flags.tlsKey}
		if _, err := certificates.get(nil); err != nil {
			return calls, errors.Join(v.settings.wrong("tls-cert", "cannot be used: %v", err), listener.Close())
		}
		listener = tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificates.get, NextProtos: []string{"h2", "http/1.1"}})
	}
	main := v.handler.Server()
	main.Handler = v.traced(main.Handler)
	servers := []*http.Server{main}
	listeners := []net.Listener{listener}
	if v.flags.metricsListen != "" {
		extra, err := v.listen(ctx, v.flags.metricsListen)
		if err != nil {
			return calls, errors.Join(v.settings.wrong("metrics-listen", "cannot be used: %v", err), listener.Close())
		}
		v.log.Info("metrics", "url", reachable("http", extra.Addr())+"/metrics", "address", extra.Addr().String())
		operations := v.handler.Server()
		operations.Handler = v.operations()
		servers = append(servers, operations)
		listeners = append(listeners, extra)
	}
	failed := make(chan error, len(servers))
	var done sync.WaitGroup
	for i, srv := range servers {
		done.Go(func() {
			if err := srv.Serve(listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	v.log.Info("listening", "url", reachable(scheme, address), "address", address.String(), "backend", v.settings.backend, "version", version.String())
	v.warn()
	select {
	case err = <-failed:
	case <-ctx.Done():
		v.log.Info("stopping; calls in flight may finish", "reason", context.Cause(ctx), "within", v.flags.shutdownTimeout)
	}
	calls, draining := v.drain(servers)
	done.Wait()
	return calls, errors.Join(err, draining)
}

// reachable is the URL of what listens on address, for clients on this machine:
// one that means every address cannot be called by all of them.
func reachable(scheme string, address net.Addr) string {
	host := address.String()
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		host = net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return (&url.URL{Scheme: scheme, Host: host}).String()
}

// warn says what works, and is seldom meant.
func (v *service) warn() {
	f := v.flags
	if local, _ := loopback(f.listen); !local { // check has seen the error
		if f.publicURL == "" && len(f.allowedHosts) == 0 {
			v.log.Warn("clients can call this server by loopback names only; set --public-url, or --allowed-hosts", "listen", f.listen)
		}
		if f.tlsCert == "" {
			v.log.Warn("tokens travel in clear text unless a proxy in front of this server has TLS; see --tls-cert", "listen", f.listen)
		}
	}
	if slices.Contains(v.settings.usedBackends(), "state") && v.settings.store == "memory" {
		v.log.Warn("workspaces are in memory, and end with this server; --store keeps them", "store", v.settings.store)
	}
}

// drain ends the servers once their calls have, or time is up.
func (v *service) drain(servers []*http.Server) (transports.Drained, error) {
	ctx, cancel := context.WithTimeout(context.Background(), v.flags.shutdownTimeout)
	defer cancel()
	calls, err := v.handler.Drain(ctx)
	if err != nil {
		v.log.Warn("calls were still running when the time to stop had come, and were cancelled", "calls", calls.Cut, "error", err)
	}
	var errs []error
	for _, srv := range servers {
		closing, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		if err := srv.Shutdown(closing); err != nil {
			errs = append(errs, srv.Close())
		}
		cancel()
	}
	return calls, errors.Join(errs...)
}

func (v *service) listen(ctx context.Context, address string) (net.Listener, error) {
	var c net.ListenConfig
	return c.Listen(ctx, "tcp", address)
}
