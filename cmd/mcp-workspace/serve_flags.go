package main

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-workspace/mcp-workspace/internal/config"
)

// serveFlags are the flags that only serve has.
type serveFlags struct {
	listen          string
	noAuth          bool
	tlsCert         string
	tlsKey          string
	publicURL       string
	allowedHosts    []string
	allowedOrigins  []string
	maxBody         string
	sessionTimeout  time.Duration
	idleStop        time.Duration
	maxAge          time.Duration
	shutdownTimeout time.Duration
	metricsListen   string
	auditLog        string
	auditRequired   bool
	shared          string
}

func (f *serveFlags) add(flags *pflag.FlagSet) {
	under(flags, headListen, func(s *pflag.FlagSet) {
		s.StringVar(&f.listen, "listen", "127.0.0.1:8080", "`address` to listen on; port 0 picks a free one")
		s.StringVar(&f.tlsCert, "tls-cert", "", "`file` with the certificate chain, in PEM; read again when it changes")
		s.StringVar(&f.tlsKey, "tls-key", "", "`file` with its private key, in PEM")
		s.StringVar(&f.publicURL, "public-url", "", "the server's `URL` as clients see it, with the path prefix of a reverse proxy if there is one")
	})
	under(flags, headClients, func(s *pflag.FlagSet) {
		s.BoolVar(&f.noAuth, "no-auth", false, "serve whoever can connect, on a loopback address only; otherwise see principals and oauth of the configuration file")
		s.StringArrayVar(&f.allowedHosts, "allowed-hosts", nil, "other `names` that clients may call this server by, separated by commas")
		s.StringArrayVar(&f.allowedOrigins, "allowed-origins", nil, "web `origins` whose pages may call this server, such as https://app.example.com")
	})
	under(flags, headLimits, func(s *pflag.FlagSet) {
		s.StringVar(&f.maxBody, "max-body", "16MB", "the largest request, such as 16MB")
		s.DurationVar(&f.sessionTimeout, "session-timeout", time.Hour, "how long an MCP session may be silent before it ends")
		s.DurationVar(&f.idleStop, "idle-stop", 15*time.Minute, "how long a container may be idle before it is stopped; its files stay, and the next call starts it; 0 is for ever")
		s.DurationVar(&f.maxAge, "max-age", 0, "remove workspaces this long after they were made, with their files; 0 keeps them")
	})
	under(flags, headOperation, func(s *pflag.FlagSet) {
		s.StringVar(&f.shared, "shared", "memory", "what the replicas of a server share: memory (there is one), file:DIR, postgres://…")
		s.DurationVar(&f.shutdownTimeout, "shutdown-timeout", 30*time.Second, "how long calls in flight may go on when the server is asked to stop")
		s.StringVar(&f.metricsListen, "metrics-listen", "", "`address` that serves /metrics, /healthz and /readyz to whoever can connect")
		s.StringVar(&f.auditLog, "audit-log", "", "`file` that gets a JSON line for every call, session and workspace, or - for standard error")
		s.BoolVar(&f.auditRequired, "audit-required", false, "refuse calls when the audit log cannot be written")
	})
}

// serveOnly are sections that take the place of serve's flags in the file when
// another command reads it: one file serves all.
func serveOnly(cmd *pflag.FlagSet) config.Sections {
	own := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	(&serveFlags{}).add(own)
	sections := config.Sections{}
	own.VisitAll(func(f *pflag.Flag) {
		if cmd.Lookup(f.Name) == nil {
			sections[f.Name] = config.Ignored{}
		}
	})
	return sections
}

// loopback tells whether an address to listen on is one that only this machine
// reaches.
func loopback(address string) (bool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, err
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}

// check refuses what cannot work.
func (f *serveFlags) check(s *settings) error {
	local, err := loopback(f.listen)
	switch {
	case err != nil:
		return s.wrong("listen", "is %q; it takes an address and a port, such as 127.0.0.1:8080 or :8080", f.listen)
	case f.noAuth && !local:
		return s.wrong("no-auth", "would let everybody in who reaches %s; listen on a loopback address such as 127.0.0.1:8080, or give clients tokens (section %s of the configuration file)", f.listen, sectionPrincipals)
	case f.noAuth && (len(s.serve.principals) > 0 || s.serve.oauth.issuer != ""):
		return s.wrong("no-auth", "cannot be used while there are %s or %s in the configuration file; leave it out, or them", sectionPrincipals, sectionOAuth)
	case !f.noAuth && len(s.serve.principals) == 0 && s.serve.oauth.issuer == "":
		return fmt.Errorf("nobody could come in: the configuration file has neither %s nor %s; make a token with: mcp-workspace token, or, on this machine alone, add --no-auth", sectionPrincipals, sectionOAuth)
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return s.wrong("tls-cert", "and --tls-key go together; give both")
	}
	if f.publicURL != "" {
		u, err := url.Parse(f.publicURL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return s.wrong("public-url", "is %q; it takes a URL such as https://mcp.example.com or https://example.com/tools", f.publicURL)
		}
	}
	if s.serve.oauth.issuer != "" && f.publicURL == "" {
		return fmt.Errorf("%s needs --public-url: clients are told which resource their tokens must be for", s.loaded.Place(sectionOAuth))
	}
	for _, host := range split(f.allowedHosts) {
		if strings.ContainsAny(host, "/ ") {
			return s.wrong("allowed-hosts", "has %q; a host is a name, such as mcp.example.com", host)
		}
	}
	for _, origin := range split(f.allowedOrigins) {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.RawQuery != "" {
			return s.wrong("allowed-origins", "has %q; an origin is a scheme and a host, such as https://app.example.com", origin)
		}
	}
	if f.metricsListen != "" {
		if _, err := loopback(f.metricsListen); err != nil {
			return s.wrong("metrics-listen", "is %q; it takes an address and a port, such as 127.0.0.1:9090", f.metricsListen)
		}
	}
	for flag, d := range map[string]time.Duration{"session-timeout": f.sessionTimeout, "idle-stop": f.idleStop, "max-age": f.maxAge, "shutdown-timeout": f.shutdownTimeout} {
		if d < 0 {
			return s.wrong(flag, "is %v; it takes a time such as 15m", d)
		}
	}
	if f.auditRequired && f.auditLog == "" {
		return s.wrong("audit-required", "needs --audit-log")
	}
	switch {
	case s.ref != "":
		return s.wrong("ref", "is for one connection; clients of a server name a workspace themselves (%s)", "Mcp-Workspace-Ref")
	case s.inOrder:
		return s.wrong("in-order", "is for stdio; leave it out")
	}
	return nil
}

// split takes apart values that may hold several, separated by commas.
func split(values []string) []string {
	var out []string
	for _, v := range values {
		for _, one := range strings.Split(v, ",") {
			if one = strings.TrimSpace(one); one != "" {
				out = append(out, one)
			}
		}
	}
	return out
}

func serveCommand() *cobra.Command {
	s := &settings{}
	flags := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP over HTTP: Streamable HTTP at /mcp, SSE at /sse",
		Long: `Serve many clients over HTTP: Streamable HTTP at /mcp, for clients of all protocol
versions since 2025-03-26, and SSE at /sse for those of 2024-11-05. Each MCP
session has a workspace of its own; clients without sessions have one each, and
name others by their ref.

Who may come in, and how much each may use, stands in the configuration file, in
the sections principals, oauth, limits and per-principal; see docs/server.md.`,
		Example: `  mcp-workspace serve --no-auth
  mcp-workspace serve --backend docker --config server.yaml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.listenAndServe(cmd, flags) },
	}
	flags.add(cmd.Flags())
	s.addFlags(cmd)
	for _, name := range []string{"ref", "in-order"} { // which serve refuses
		if err := cmd.Flags().MarkHidden(name); err != nil {
			panic(err) // they are flags
		}
	}
	return cmd
}
