package pull_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker/pull"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// configured is a home directory with a docker configuration.
func configured(t *testing.T, config map[string]any) pull.Credentials {
	t.Helper()
	home := t.TempDir()
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	file(t, filepath.Join(home, ".docker", "config.json"), string(data), 0o600)
	return pull.Credentials{Home: home}
}

func file(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func auth(user, password string) map[string]any {
	return map[string]any{"auth": base64.StdEncoding.EncodeToString([]byte(user + ":" + password))}
}

// helper puts a credential helper where Docker Desktop does. It answers for
// one registry and knows nothing of others.
func helper(t *testing.T, home, name, registry, user, secret string) {
	t.Helper()
	file(t, filepath.Join(home, ".docker", "bin", "docker-credential-"+name), `#!/bin/sh
[ "$1" = get ] || exit 2
server=$(cat)
if [ "$server" != "`+registry+`" ]; then echo "credentials not found in native keychain"; exit 1; fi
printf '{"ServerURL":"%s","Username":"`+user+`","Secret":"`+secret+`"}\n' "$server"
`, 0o700)
}

func TestARegistryGetsTheConfiguredCredentials(t *testing.T) {
	cli := engines.Docker(t).Client(t)
	guarded := startRegistry(t, &server{guard: basicAuth})
	open := startRegistry(t, &server{})
	tokenGuard, tokensGiven := tokenAuth(t)
	tokens := startRegistry(t, &server{guard: tokenGuard})

	for _, c := range []struct {
		name   string
		server *server
		creds  func(t *testing.T) pull.Credentials
		code   backends.Code // "" when it is pulled
		says   []string
	}{
		{"none are needed", open, func(t *testing.T) pull.Credentials { return pull.Credentials{Home: t.TempDir()} }, "", nil},
		{"none are there", guarded, func(*testing.T) pull.Credentials { return pull.Credentials{} }, backends.CodePermission,
			[]string{"no credentials were sent", "docker login " + guarded.host}},
		{"auths has them", guarded, func(t *testing.T) pull.Credentials {
			return configured(t, map[string]any{"auths": map[string]any{guarded.host: auth(user, password)}})
		}, "", nil},
		{"auths has them under an old kind of key", guarded, func(t *testing.T) pull.Credentials {
			return configured(t, map[string]any{"auths": map[string]any{"http://" + guarded.host + "/v1/": auth(user, password)}})
		}, "", nil},
		{"auths has them for another registry", guarded, func(t *testing.T) pull.Credentials {
			return configured(t, map[string]any{"auths": map[string]any{"elsewhere.example": auth(user, password)}})
		}, backends.CodePermission, []string{"no credentials were sent"}},
		{"auths has the wrong password", guarded, func(t *testing.T) pull.Credentials {
			return configured(t, map[string]any{"auths": map[string]any{guarded.host: auth(user, "wrong-one")}})
		}, backends.CodePermission, []string{".docker/config.json do not allow it", "docker login " + guarded.host}},
		{"another directory has them", guarded, func(t *testing.T) pull.Credentials {
			c := configured(t, map[string]any{"auths": map[string]any{guarded.host: auth(user, password)}})
			return pull.Credentials{Env: []string{"DOCKER_CONFIG=" + c.Home + "/.docker"}}
		}, "", nil},
		{"the environment has them", guarded, func(t *testing.T) pull.Credentials {
			data, err := json.Marshal(map[string]any{"auths": map[string]any{guarded.host: auth(user, password)}})
			if err != nil {
				t.Fatal(err)
			}
			return pull.Credentials{Env: []string{"DOCKER_AUTH_CONFIG=" + string(data)}}
		}, "", nil},
		{"the environment's are broken and auths has them", guarded, func(t *testing.T) pull.Credentials {
			c := configured(t, map[string]any{"auths": map[string]any{guarded.host: auth(user, password)}})
			c.Env = []string{"DOCKER_AUTH_CONFIG={"}
			return c
		}, "", nil},
		{"the environment's are broken", guarded, func(*testing.T) pull.Credentials {
			return pull.Credentials{Env: []string{"DOCKER_AUTH_CONFIG={"}}
		}, backends.CodePermission, []string{"DOCKER_AUTH_CONFIG is not valid"}},
		{"a helper for the registry has them", guarded, func(t *testing.T) pull.Credentials {
			c := configured(t, map[string]any{"credsStore": "gone", "credHelpers": map[string]string{guarded.host: "mine"}})
			helper(t, c.Home, "mine", guarded.host, user, password)
			return c
		}, "", nil},
		{"the store has them", guarded, func(t *testing.T) pull.Credentials {
			c := configured(t, map[string]any{"credsStore": "mine"})
			helper(t, c.Home, "mine", guarded.host, user, password)
			return c
		}, "", nil},
		{"the store does not know the registry", guarded, func(t *testing.T) pull.Credentials {
			c := configured(t, map[string]any{"credsStore": "mine"})
			helper(t, c.Home, "mine", "elsewhere.example", user, password)
			return c
		}, backends.CodePermission, []string{"no credentials were sent; log in"}},
		{"the store's program is gone", guarded, func(t *testing.T) pull.Credentials {
			return configured(t, map[string]any{"credsStore": "gone"})
		}, backends.CodePermission, []string{"docker-credential-gone", "install it", ".docker/config.json"}},
		{"the store's program is gone and nothing is needed", open, func(t *testing.T) pull.Credentials {
			return configured(t, map[string]any{"credsStore": "gone"})
		}, "", nil},
		{"the store's program fails", guarded, func(t *testing.T) pull.Credentials {
			c := configured(t, map[string]any{"credsStore": "mine"})
			file(t, filepath.Join(c.Home, ".docker", "bin", "docker-credential-mine"), "#!/bin/sh\necho the keychain is locked >&2\nexit 3\n", 0o700)
			return c
		}, backends.CodePermission, []string{"docker-credential-mine", "the keychain is locked"}},
		{"the configuration is broken", guarded, func(t *testing.T) pull.Credentials {
			c := pull.Credentials{Home: t.TempDir()}
			file(t, filepath.Join(c.Home, ".docker", "config.json"), "{", 0o600)
			return c
		}, backends.CodePermission, []string{".docker/config.json is not valid"}},
		{"the helper has an identity token", tokens, func(t *testing.T) pull.Credentials {
			c := configured(t, map[string]any{"credsStore": "mine"})
			helper(t, c.Home, "mine", tokens.host, "<token>", token)
			return c
		}, "", nil},
		{"auths has an identity token", tokens, func(t *testing.T) pull.Credentials {
			return configured(t, map[string]any{"auths": map[string]any{tokens.host: map[string]any{"identitytoken": token}}})
		}, "", nil},
		{"the identity token is wrong", tokens, func(t *testing.T) pull.Credentials {
			return configured(t, map[string]any{"auths": map[string]any{tokens.host: map[string]any{"identitytoken": "wrong-one"}}})
		}, backends.CodePermission, []string{"do not allow it"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ref := c.server.push(t, "team/thing", runtime.GOARCH, 2000, 1)
			removed(t, cli, ref)
			before := tokensGiven.Load()
			var lines []string
			err := c.creds(t).Image(t.Context(), cli, ref, "", func(line string) { lines = append(lines, line) })
			if backends.CodeOf(err) != c.code {
				t.Fatalf("code %q, want %q: %v", backends.CodeOf(err), c.code, err)
			}
			_, inspectErr := cli.ImageInspect(t.Context(), ref)
			if c.code == "" {
				if inspectErr != nil {
					t.Errorf("the engine does not have it: %v", inspectErr)
				}
				if last := lines[len(lines)-1]; last != "pulled "+ref+": 1 layer" {
					t.Errorf("the last line is %q", last)
				}
				if c.server == tokens && tokensGiven.Load() == before {
					t.Error("the identity token was not used")
				}
				return
			}
			if !errdefs.IsNotFound(inspectErr) {
				t.Errorf("the engine has it all the same: %v", inspectErr)
			}
			for _, part := range append(c.says, ref, c.server.host) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in: %v", part, err)
				}
			}
			for _, secret := range []string{password, token, "wrong-one"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("a secret is in: %v", err)
				}
			}
		})
	}
}

func TestCancellingEndsAHelperThatHangs(t *testing.T) {
	cli := engines.Docker(t).Client(t)
	registry := startRegistry(t, &server{})
	c := configured(t, map[string]any{"credsStore": "stuck"})
	asked := filepath.Join(c.Home, "asked")
	file(t, filepath.Join(c.Home, ".docker", "bin", "docker-credential-stuck"),
		"#!/bin/sh\nmkfifo "+asked+".end\n: > "+asked+"\nread x < "+asked+".end\n", 0o700)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- c.Image(ctx, cli, registry.host+"/x:1", "", nil) }()
	deadline := time.Now().Add(10 * time.Second)
	for _, err := os.Stat(asked); err != nil; _, err = os.Stat(asked) {
		if time.Now().After(deadline) {
			t.Fatal("the helper was not run")
		}
		time.Sleep(5 * time.Millisecond) // the file is the only sign of the helper
	}
	cancel()
	select {
	case err := <-result:
		if backends.CodeOf(err) != backends.CodeCancelled {
			t.Errorf("got %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the helper is still waited for")
	}
}
