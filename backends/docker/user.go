package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
)

// user is the container's user as the engine is told, and the mode of its user
// namespace.
func (b *Backend) user(ctx context.Context) (user string, userns container.UsernsMode, err error) {
	if b.cfg.Options.User != UserHost {
		return b.cfg.Options.User, "", nil
	}
	rootless, err := within(ctx, quickLimit, b.rootless)
	caller := fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	switch {
	case err != nil:
		return "", "", err
	case !rootless:
		return caller, "", nil
	case b.cfg.Differences.KeepsIDs:
		return caller, "keep-id", nil
	default:
		return "0:0", "", nil
	}
}

// rootless tells whether the engine runs as a user without rights.
func (b *Backend) rootless(ctx context.Context) (bool, error) {
	if b.cfg.Differences.KeepsIDs {
		return b.podmanRootless(ctx)
	}
	info, err := b.engine.Info(ctx)
	return slices.ContainsFunc(info.SecurityOptions, func(o string) bool { return strings.Contains(o, "name=rootless") }), err
}

// podmanRootless asks for what Podman has in a field of its own, which the
// client does not show.
func (b *Backend) podmanRootless(ctx context.Context) (bool, error) {
	host, err := client.ParseHostURL(b.engine.DaemonHost())
	if err != nil {
		return false, err
	}
	c := b.engine.HTTPClient()
	scheme, name := "http", host.Host
	if t, ok := c.Transport.(*http.Transport); ok && t.TLSClientConfig != nil {
		scheme = "https"
	}
	if host.Scheme == "unix" || host.Scheme == "npipe" {
		scheme, name = "http", client.DummyHost
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+name+"/v"+b.engine.ClientVersion()+"/info", http.NoBody)
	if err != nil {
		return false, err
	}
	response, err := c.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	var info struct{ Rootless bool }
	if response.StatusCode != http.StatusOK {
		return false, fmt.Errorf("asked for its description, it answers %s", response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxInfo)).Decode(&info); err != nil {
		return false, fmt.Errorf("its description cannot be read: %w", err)
	}
	return info.Rootless, nil
}

// maxInfo bounds an engine's description, in bytes.
const maxInfo = 4 << 20
