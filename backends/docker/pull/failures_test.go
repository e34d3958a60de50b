package pull

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/distribution/reference"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// What engines and registries of several makes and versions write, where no
// test can have them write it.
func TestTextsOfEnginesAreUnderstood(t *testing.T) {
	for _, c := range []struct {
		from string
		text string
		want backends.Code
	}{
		{"Docker 20.10, hub, unknown or private", "pull access denied for nosuch/image, repository does not exist or may require 'docker login': denied: requested access to the resource is denied", backends.CodeNotFound},
		{"Docker 28, containerd store, unknown or private", "failed to resolve reference \"docker.io/nosuch/image:latest\": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed", backends.CodeNotFound},
		{"hub, unknown tag", "manifest for python:9 not found: manifest unknown: manifest unknown", backends.CodeNotFound},
		{"containerd store, unknown tag", "failed to resolve reference \"docker.io/library/python:9\": docker.io/library/python:9: not found", backends.CodeNotFound},
		{"Podman, unknown tag", "initializing source docker://registry.example/x:9: reading manifest 9 in registry.example/x: manifest unknown", backends.CodeNotFound},
		{"Podman, refused", "initializing source docker://registry.example/x:1: reading manifest 1 in registry.example/x: unauthorized: authentication required", backends.CodePermission},
		{"hub, wrong password", "Get \"https://registry-1.docker.io/v2/\": unauthorized: incorrect username or password", backends.CodePermission},
		{"no credentials", "Head \"https://registry.example/v2/x/manifests/1\": no basic auth credentials", backends.CodePermission},
		{"another registry, refused", "failed to do request: unexpected status from HEAD request to https://registry.example/v2/x/manifests/1: 403 Forbidden", backends.CodePermission},
		{"hub, too many", "toomanyrequests: You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit", backends.CodeUnavailable},
		{"no name service", "Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io: no such host", backends.CodeUnavailable},
		{"no network", "Get \"https://registry-1.docker.io/v2/\": dial tcp 1.2.3.4:443: connect: network is unreachable", backends.CodeUnavailable},
		{"a firewall", "Get \"https://registry-1.docker.io/v2/\": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)", backends.CodeUnavailable},
		{"a proxy's certificate", "Get \"https://registry-1.docker.io/v2/\": x509: certificate signed by unknown authority", backends.CodeUnavailable},
		{"a full disk", "write /var/lib/docker/tmp/GetImageBlob12: no space left on device", backends.CodeUnavailable},
		{"another platform", "no matching manifest for linux/arm64/v8 in the manifest list entries", backends.CodeUnsupported},
		{"Podman, another platform", "choosing an image from manifest list docker://x: no image found in manifest list for architecture \"arm64\", variant \"v8\", OS \"linux\"", backends.CodeUnsupported},
		{"something new", "the moon is in the wrong phase", backends.CodeInternal},
	} {
		t.Run(c.from, func(t *testing.T) {
			err := attempt{ref: "python:3.12-slim", registry: hubKey}.failed(t.Context(), errors.New(c.text))
			if got := backends.CodeOf(err); got != c.want {
				t.Errorf("code %q, want %q", got, c.want)
			}
			if !strings.Contains(err.Error(), c.text) {
				t.Errorf("the engine's own text is not in: %v", err)
			}
		})
	}
}

func TestAnEngineCannotFillOurMemoryWithLayers(t *testing.T) {
	l := newLayers("x")
	for i := range 100_000 {
		l.add(message{Status: "Downloading", ID: strings.Repeat("a", 1+i%3000) + string(rune('a'+i%26))})
	}
	if len(l.known) > maxLayers {
		t.Errorf("%d layers are kept", len(l.known))
	}
}

func TestCredentialsOfTheHubAreKeptUnderItsOldName(t *testing.T) {
	c := Credentials{Env: []string{`DOCKER_AUTH_CONFIG={"auths":{"https://index.docker.io/v1/":{"auth":"dTpw"}}}`}}
	for _, ref := range []string{"python:3.12-slim", "docker.io/library/python", "index.docker.io/me/mine:1", "me/mine"} {
		named, err := reference.ParseNormalizedNamed(ref)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.find(context.Background(), registryOf(named))
		if err != nil || got.auth.Username != "u" || got.auth.Password != "p" {
			t.Errorf("%s: %+v, %v", ref, got, err)
		}
	}
	named, err := reference.ParseNormalizedNamed("registry.example:5000/me/mine:1")
	if err != nil {
		t.Fatal(err)
	}
	if got := registryOf(named); got != "registry.example:5000" {
		t.Errorf("registry %q", got)
	}
	if got, err := c.find(context.Background(), registryOf(named)); err != nil || got.from != "" {
		t.Errorf("got %+v, %v for another registry", got, err)
	}
}
