// Package address finds a container engine as its own command line would:
// by the environment, the configuration directory and the usual sockets, and
// connects to it. It knows nothing of containers.
//
// The environment and the home directory are parameters. Two things come from
// the process all the same: its user id (for /run/user/UID), and the
// environment that ssh is started with.
package address

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Address is where an engine is, or the places where one may be. The zero
// value has none; make one with [Docker] or [Podman].
type Address struct {
	engine     string            // "Docker" or "Podman", for messages
	source     string            // the setting that chose it; "" for the usual places
	apiVersion string            // DOCKER_API_VERSION; "" negotiates
	headers    map[string]string // HttpHeaders of the configuration
	endpoints  []endpoint        // in the order to be tried
	wait       waits
}

// waits bounds what connecting may take.
type waits struct {
	dial time.Duration // one connection, TLS included
	ping time.Duration // the first answer, connecting included
	ssh  time.Duration // the first answer where ssh has to log in before it
}

var defaultWaits = waits{dial: 10 * time.Second, ping: 15 * time.Second, ssh: 40 * time.Second}

// endpoint is one engine's address and how to connect to it.
type endpoint struct {
	host string // as the user wrote it: unix:///path, tcp://host:port, ssh://…
	path string // of a unix socket, else ""
	url  string // what the client is told; differs from host for ssh
	dial dialer
	ssh  bool
}

// String names the address, or all addresses that are tried, separated by
// commas: "unix:///var/run/docker.sock", "ssh://dev@build-box".
func (a Address) String() string {
	hosts := make([]string, len(a.endpoints))
	for i, e := range a.endpoints {
		hosts[i] = e.host
	}
	return strings.Join(hosts, ", ")
}

// Source names the setting that chose the address, such as "DOCKER_HOST" or
// `the docker context "colima" (currentContext of /home/u/.docker/config.json)`.
// It is "" when nothing is configured and the usual places are tried.
func (a Address) Source() string { return a.source }

// Client connects to the first address that answers and returns a client that
// has agreed on an API version with it. The caller closes it. Connecting is
// bounded: 10 s a connection, 15 s until the first answer, 40 s through ssh.
//
// When no address answers, the error is a [*backends.Error] with
// CodeUnavailable whose message names what was tried, why each failed, the
// setting that chose it and what to do. When ctx ends it is CodeCancelled.
func (a Address) Client(ctx context.Context) (*client.Client, error) {
	cli, _, err := a.Connect(ctx)
	return cli, err
}

// Connect is [Address.Client] that also says which address answered, in the
// form of [Address.String].
func (a Address) Connect(ctx context.Context) (*client.Client, string, error) {
	failures := make([]failure, 0, len(a.endpoints))
	for _, e := range a.endpoints {
		cli, err := a.try(ctx, e)
		if err == nil {
			return cli, e.host, nil
		}
		if ctx.Err() != nil {
			return nil, "", &backends.Error{
				Code: backends.CodeCancelled, Op: "connect",
				Message: "gave up connecting to the " + a.engine + " engine at " + e.host,
				Err:     context.Cause(ctx),
			}
		}
		failures = append(failures, failure{endpoint: e, err: err})
	}
	return nil, "", a.unavailable(failures)
}

// try connects to one endpoint and asks it for its API version.
func (a Address) try(ctx context.Context, e endpoint) (*client.Client, error) {
	limit := a.wait.ping
	if e.ssh {
		limit = a.wait.ssh
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	// The client replaces some of what a dialler says by a sentence of its
	// own, so the first failure is kept on the way.
	kept := &keptError{dial: e.dial}
	transport := &http.Transport{MaxIdleConns: 6, IdleConnTimeout: 30 * time.Second}
	if e.ssh {
		transport.IdleConnTimeout = 5 * time.Minute // logging in again is slow
	}
	options := []client.Opt{
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
		client.WithHost(e.url), // sets the transport's dialler and proxy, so it comes first
		client.WithDialContext(kept.dialContext),
		client.WithAPIVersionNegotiation(),
		client.WithVersion(a.apiVersion),
	}
	if len(a.headers) > 0 {
		options = append(options, client.WithHTTPHeaders(a.headers))
	}
	cli, err := client.NewClientWithOpts(options...)
	if err != nil {
		return nil, err
	}
	// A proxy could carry the calls, but never the streams of exec and attach.
	transport.Proxy = nil
	transport.DisableCompression = true

	ping, err := cli.Ping(ctx)
	if dialled := kept.first(); err != nil && dialled != nil {
		err = dialled
	}
	if err == nil && ping.APIVersion == "" {
		err = errNotAnEngine
	}
	if err != nil {
		_ = cli.Close() // there is nothing to lose in a connection that failed
		return nil, err
	}
	cli.NegotiateAPIVersionPing(ping)
	return cli, nil
}
