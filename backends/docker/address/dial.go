package address

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/docker/cli/cli/connhelper/commandconn"
	"github.com/docker/cli/cli/connhelper/ssh"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// dialer makes one connection. What it is asked to dial is ignored: an
// endpoint has one address only.
type dialer func(ctx context.Context) (net.Conn, error)

// sshHost stands for the engine in requests that go through ssh.
const sshHost = "http://docker.example.com"

// tlsFiles are the certificates of an endpoint, as PEM.
type tlsFiles struct {
	from          string // the directory, for messages
	ca, cert, key []byte
	skipVerify    bool
}

// unix is the endpoint of a socket on this machine.
func (a Address) unix(path string) endpoint {
	d := &net.Dialer{Timeout: a.wait.dial}
	return endpoint{
		host: "unix://" + path, url: "unix://" + path, path: path,
		dial: func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "unix", path) },
	}
}

// endpoint understands a host in the form scheme://…; files is nil without TLS.
func (a Address) endpoint(e environment, host string, files *tlsFiles) (endpoint, error) {
	scheme, rest, _ := strings.Cut(host, "://")
	switch scheme {
	case "unix":
		if !strings.HasPrefix(rest, "/") {
			return endpoint{}, backends.Errorf(backends.CodeInvalidArgument, "connect", "",
				"%s is %q, whose path is not absolute: write unix:///path/of.sock, with three slashes", a.source, redacted(host))
		}
		return a.unix(rest), nil
	case "tcp", "http", "https":
		return a.tcp(host, scheme, files)
	case "ssh":
		return a.overSSH(e, host)
	case "npipe":
		return endpoint{}, backends.Errorf(backends.CodeUnsupported, "connect", "",
			"%s is %q: Windows named pipes are not supported; run this program in WSL, or write tcp://host:port or ssh://user@host",
			a.source, redacted(host))
	default:
		return endpoint{}, backends.Errorf(backends.CodeInvalidArgument, "connect", "",
			"%s is %q: write unix:///path/of.sock, tcp://host:port or ssh://user@host", a.source, redacted(host))
	}
}

// tcp is the endpoint of an engine on the network. TLS is done by the dialler
// and not left to the client, which has no time limit for it on the streams
// of exec and attach.
func (a Address) tcp(host, scheme string, files *tlsFiles) (endpoint, error) {
	u, err := url.Parse(host)
	if err != nil || u.Hostname() == "" {
		return endpoint{}, backends.Errorf(backends.CodeInvalidArgument, "connect", "",
			"%s is %q, which names no host: write tcp://host:port", a.source, redacted(host))
	}
	if scheme == "https" && files == nil {
		files = &tlsFiles{}
	}
	port := u.Port()
	if port == "" {
		port = "2375"
		if files != nil {
			port = "2376"
		}
	}
	address := net.JoinHostPort(u.Hostname(), port)
	config, err := files.config(u.Hostname())
	if err != nil {
		return endpoint{}, &backends.Error{
			Code: backends.CodeInvalidArgument, Op: "connect", Path: files.from, Err: err,
			Message: "the certificates for " + redacted(host) + " cannot be used: " + err.Error(),
		}
	}
	limit := a.wait.dial
	dial := func(ctx context.Context) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		conn, err := (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext(ctx, "tcp", address)
		if err != nil || config == nil {
			return conn, err
		}
		secured := tls.Client(conn, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close() // the handshake's error is the one that counts
			return nil, err
		}
		return secured, nil
	}
	return endpoint{host: redacted(host), url: "tcp://" + address + u.Path, dial: dial}, nil
}

// redacted is host without a password that somebody may have put there.
func redacted(host string) string {
	if u, err := url.Parse(host); err == nil {
		return u.Redacted()
	}
	if _, rest, ok := strings.Cut(host, "@"); ok {
		return "…@" + rest
	}
	return host
}

// config is nil without TLS.
func (f *tlsFiles) config(serverName string) (*tls.Config, error) {
	if f == nil {
		return nil, nil //nolint:nilnil // no files, no TLS: the caller asks for exactly that
	}
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         serverName,
		InsecureSkipVerify: f.skipVerify, //nolint:gosec // what DOCKER_TLS without VERIFY and SkipTLSVerify ask for
	}
	if f.ca != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(f.ca) {
			return nil, errors.New("ca.pem holds no certificate in PEM form")
		}
	}
	if f.cert != nil && f.key != nil {
		pair, err := tls.X509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, errors.New("cert.pem and key.pem: " + err.Error())
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// overSSH is the endpoint of an engine behind ssh: each connection is an ssh
// process in which the engine's command line on the other side passes a
// stream to its engine.
func (a Address) overSSH(e environment, host string) (endpoint, error) {
	spec, err := ssh.ParseURL(host)
	if err != nil {
		return endpoint{}, backends.Errorf(backends.CodeInvalidArgument, "connect", "",
			"%s is %q, which cannot be used (%v): write ssh://user@host or ssh://user@host:port/path/of.sock, without a password",
			a.source, redacted(host), err)
	}
	program := Program("ssh", e.env, e.home)
	if program == "" {
		return endpoint{}, backends.Errorf(backends.CodeUnavailable, "connect", "",
			"%s is %q, and there is no ssh program in PATH or /usr/bin: install the OpenSSH client", a.source, redacted(host))
	}
	flags := []string{"-o", "ConnectTimeout=30", "-T"}
	remote := []string{"docker", "system", "dial-stdio"}
	path := strings.Trim(spec.Path, "/") != ""
	switch {
	case a.engine == "Podman" && path:
		remote = []string{"podman", "--url=unix://" + spec.Path, "system", "dial-stdio"}
	case a.engine == "Podman":
		remote[0] = "podman"
	case path:
		remote = []string{"docker", "--host=unix://" + spec.Path, "system", "dial-stdio"}
	}
	if key := e.get("CONTAINER_SSHKEY"); a.engine == "Podman" && key != "" {
		flags = append(flags, "-i", key)
	}
	args, err := spec.Command(flags, remote...)
	if err != nil {
		return endpoint{}, backends.Errorf(backends.CodeInvalidArgument, "connect", "",
			"%s is %q, which cannot be used: %v", a.source, redacted(host), err)
	}
	return endpoint{
		host: host, url: sshHost, ssh: true,
		// The process lives as long as the connection, not as long as ctx:
		// the transport closes the connection of a call that is given up.
		dial: func(ctx context.Context) (net.Conn, error) { return commandconn.New(ctx, program, args...) },
	}, nil
}

// keptError is a dialler that remembers how its first failure read.
type keptError struct {
	dial dialer

	mu  sync.Mutex
	err error
}

func (k *keptError) dialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := k.dial(ctx)
	if err != nil {
		k.mu.Lock()
		if k.err == nil {
			k.err = err
		}
		k.mu.Unlock()
	}
	return conn, err
}

func (k *keptError) first() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}
