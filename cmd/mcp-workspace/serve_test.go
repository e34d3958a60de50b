package main

import (
	"strings"
	"testing"
)

// TestMistakesStopTheServer: what cannot work is said in one line, before
// anything listens.
func TestMistakesStopTheServer(t *testing.T) {
	t.Parallel()
	const hash = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	alice := "principals: {alice: {tokens: [\"" + hash + "\"]}}\n"
	for _, c := range []struct {
		name string
		args []string
		file string
		want string // FILE is the configuration file
	}{
		{name: "nobody can come in", want: `nobody could come in: the configuration file has neither principals nor oauth; make a token with: mcp-workspace token`},
		{name: "no-auth for the world", args: []string{"--no-auth", "--listen=0.0.0.0:0"}, want: `--no-auth would let everybody in who reaches 0.0.0.0:0`},
		{name: "no-auth with principals", args: []string{"--no-auth"}, file: alice, want: `--no-auth cannot be used while there are principals`},
		{name: "listen", args: []string{"--no-auth", "--listen=8080"}, want: `--listen is "8080"; it takes an address and a port`},
		{name: "listen in the file", args: []string{"--no-auth"}, file: "listen: nowhere\n", want: `FILE:1: listen is "nowhere"`},
		{name: "half a certificate", args: []string{"--no-auth", "--tls-cert=x"}, want: `--tls-cert and --tls-key go together`},
		{name: "certificate that is not there", args: []string{"--no-auth", "--listen=127.0.0.1:0", "--tls-cert=/none", "--tls-key=/none"}, want: `--tls-cert cannot be used: `},
		{name: "public-url", args: []string{"--no-auth", "--public-url=mcp.example.com"}, want: `--public-url is "mcp.example.com"; it takes a URL`},
		{name: "origin", args: []string{"--no-auth", "--allowed-origins=app.example.com"}, want: `--allowed-origins has "app.example.com"; an origin is a scheme and a host`},
		{name: "max-body", args: []string{"--no-auth", "--max-body=much"}, want: `--max-body is "much"; it takes a size`},
		{name: "idle-stop", args: []string{"--no-auth", "--idle-stop=-1s"}, want: `--idle-stop is -1s; it takes a time`},
		{name: "ref", args: []string{"--no-auth", "--ref=state:x", "--store=file:x"}, want: `--ref is for one connection`},
		{name: "in-order", args: []string{"--no-auth", "--in-order"}, want: `--in-order is for stdio`},
		{name: "audit", args: []string{"--no-auth", "--audit-required"}, want: `--audit-required needs --audit-log`},
		{name: "audit log in no directory", args: []string{"--no-auth", "--audit-log=/none/x"}, want: `--audit-log cannot be written: `},
		{name: "shared", args: []string{"--no-auth", "--shared=redis:x"}, want: `--shared cannot be used: `},

		{name: "token for its hash", file: "principals: {alice: {tokens: [mcpws_x]}}\n", want: `principals: alice: this is a token, not the hash of one`},
		{name: "principal without tokens", file: "principals:\n  alice: {operator: true}\n", want: `FILE:2: principals: alice can never come in; give it tokens`},
		{name: "name of a principal", file: "principals: {\"a b\": {tokens: [\"" + hash + "\"]}}\n", want: `"a b" cannot name a principal`},
		{name: "key of a principal", file: "principals: {alice: {token: [\"" + hash + "\"]}}\n", want: `principals: alice has no key "token"; did you mean "tokens"?`},
		{name: "one token twice", file: "principals: {alice: {tokens: [\"" + hash + "\"]}, bob: {tokens: [\"" + hash + "\"]}}\n", want: `in the configuration twice`},
		{name: "one subject twice", file: "principals: {alice: {subjects: [x]}, bob: {subjects: [x]}}\n", want: `the subject "x" is alice's already`},
		{name: "image of a principal", file: "backend: docker\nprincipals: {alice: {image: \"UPPER:x\", tokens: [\"" + hash + "\"]}}\n", want: `principals: alice: image "UPPER:x" is no image's name`},
		{name: "backend of a principal", file: "principals: {alice: {backend: dokcer, tokens: [\"" + hash + "\"]}}\n", want: `principals: alice: backend is "dokcer"; did you mean "docker"?`},
		{name: "images without containers", file: "principals:\n\n  alice: {images: [x], tokens: [\"" + hash + "\"]}\n", want: `FILE:3: principals: alice: images and runtimes are for containers, but the backend is state`},
		{name: "runtime that there is not", file: "backend: docker\nprincipals: {alice: {runtimes: [pythn-minimal], tokens: [\"" + hash + "\"]}}\n", want: `principals: alice: `},
		{name: "ruleset of a principal", file: "principals: {alice: {permissions: none.yaml, tokens: [\"" + hash + "\"]}}\n", want: `principals: alice: `},
		{name: "one directory for many", args: []string{"--backend=local", "--root=/tmp"}, file: alice, want: `--backend is local, which is one directory for everybody`},
		{name: "limit", file: alice + "limits: {calls: many}\n", want: `FILE:2: limits: calls takes a number`},
		{name: "limit that is none", file: alice + "per-principal: {call: 2}\n", want: `limits has no key "call"; did you mean "calls"?`},
		{name: "size", file: alice + "limits: {output: big}\n", want: `output takes a size such as 10MB`},
		{name: "oauth without an issuer", file: "public-url: https://x.example\noauth: {scopes: [a]}\n", want: `oauth needs the issuer`},
		{name: "oauth without a URL", file: "oauth: {issuer: https://login.example.com}\n", want: `FILE:1: oauth needs --public-url`},
		{name: "issuer without TLS", file: "public-url: https://x.example\noauth: {issuer: http://login.example.com}\n", want: `who may come in: oauth: `},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := "FILE"
			args := append([]string{"serve"}, c.args...)
			if c.file != "" {
				file = writeFile(t, t.TempDir(), "settings.yaml", c.file)
				args = append(args, "--config="+file)
			}
			got := program{args: args}.run(t)
			if got.code != 1 || got.stdout != "" {
				t.Errorf("it ended with %d and printed %q", got.code, got.stdout)
			}
			want := strings.ReplaceAll(c.want, "FILE", file)
			last := got.stderr[strings.LastIndex(strings.TrimSuffix(got.stderr, "\n"), "\n")+1:]
			if !strings.HasPrefix(last, "mcp-workspace: ") || !strings.Contains(last, want) {
				t.Errorf("it said %s\nwant %s", got.stderr, want)
			}
		})
	}
}

// TestOneFileServesAllCommands: what is for serve stops no other command.
func TestOneFileServesAllCommands(t *testing.T) {
	t.Parallel()
	file := writeFile(t, t.TempDir(), "settings.yaml",
		"listen: 127.0.0.1:0\nidle-stop: 5m\nlimits: {calls: 5}\nprincipals: {alice: {subjects: [x]}}\n")
	got := program{args: []string{"call", "ls", "--config=" + file}, env: []string{"MCP_WORKSPACE_LISTEN=127.0.0.1:0"}}.run(t)
	if got.code != 0 {
		t.Errorf("it ended with %d: %s", got.code, got.stderr)
	}
}

func TestTokenPrintsATokenAndItsHash(t *testing.T) {
	t.Parallel()
	first, second := program{args: []string{"token"}}.run(t), program{args: []string{"token"}}.run(t)
	if !strings.HasPrefix(first.stdout, "token: mcpws_") || !strings.Contains(first.stdout, "\nhash:  sha256:") || first.stdout == second.stdout {
		t.Errorf("it printed %q, then %q", first.stdout, second.stdout)
	}
}
