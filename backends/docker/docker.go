package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest/program"
	"github.com/mcp-workspace/mcp-workspace/runtimes"
)

// Provider is the first part of this backend's refs.
const Provider = "docker"

// Labels of what this program makes.
const (
	LabelWorkspace  = "io.mcp-workspace.workspace"   // "true" on every workspace's container
	LabelOwner      = "io.mcp-workspace.owner"       // Spec.Owner, when there is one
	LabelName       = "io.mcp-workspace.name"        // Spec.Name, when there is one
	LabelWorkingDir = "io.mcp-workspace.working-dir" // where commands start
	LabelGuest      = "io.mcp-workspace.guest"       // first 12 hex digits of the agent's digest
	LabelVersion    = "io.mcp-workspace.version"     // of the program that made it
	LabelScope      = "io.mcp-workspace.scope"       // Config.Scope, when there is one
	LabelHelper     = "io.mcp-workspace.helper"      // "true" on containers that fill a volume
)

// namePrefix begins the name of every container of ours.
const namePrefix = "mcpws-"

// quickLimit is how long an engine may take to answer a question or start a
// process in a container; a test changes it.
var quickLimit = 30 * time.Second

// Limits on what else an engine may take. One under load needs seconds to create.
const (
	heavyLimit   = 2 * time.Minute // create, start, stop, remove
	cleanupLimit = time.Minute     // of what nobody waits for
)

// Config says which engine to use and what a new workspace is made of.
type Config struct {
	// Provider of the refs; empty means [Provider].
	Provider string
	// Client is connected to the engine, with the API version negotiated. The
	// Backend closes it.
	Client *client.Client
	// Image of a new container. Empty, and without a Runtime, the Backend can
	// do everything but create.
	Image string
	// AnyImage tells that nobody asked for Image: it is a default, and a
	// workspace that was made from another one is as good.
	AnyImage bool
	// Runtime, when set, gives the image instead.
	Runtime *runtimes.Runtime
	// WorkingDir is where commands start, also in a workspace that is attached
	// to: absolute, made when missing. Empty is the runtime's, else the image's
	// own.
	WorkingDir string
	// Env is for every command, K=V. It never shows in the container's
	// description.
	Env []string
	// Options are docker run's flags.
	Options Options
	// GuestPath is the agent's executable; empty uses the one that comes with
	// the program.
	GuestPath string
	// Scope, when set, is recorded with new workspaces, and List and Prune see
	// only those that have it: for several servers on one engine.
	Scope string
	// Logger hears what happens; nil is silent.
	Logger *slog.Logger
	// Differences are those of an engine that is not Docker's.
	Differences Differences
}

// Differences are where an engine that speaks this API does not do what
// Docker's does.
type Differences struct {
	// Engine is its name in messages, and Command its command line; empty
	// means "Docker" and "docker".
	Engine, Command string
	// LocalImages prefixes the names of images that were made on the machine:
	// an image that is not found is looked for there before it is pulled.
	LocalImages string
	// DefaultNetwork is the network mode for --network bridge.
	DefaultNetwork string
	// HealthchecksStay tells that the engine cannot be told to leave an
	// image's health check out.
	HealthchecksStay bool
	// MakesSources tells that the engine makes a missing source of a bind mount
	// an empty directory, where docker run --mount fails.
	MakesSources bool
	// BuildsGoOn tells that a build which is given up goes on, and holds its images,
	// until the step that it is at has ended. Removing them by force frees them.
	BuildsGoOn bool
	// SplitsMounts tells that a comma ends a path in the engine's mounts.
	SplitsMounts bool
	// LacksRuntimes and LacksGPUs tell that the engine leaves --oci-runtime or
	// --gpus unheeded without a word.
	LacksRuntimes, LacksGPUs bool
	// AddsEnv are variables, K=V, that the engine puts into the environment of
	// every container, as if the image had them.
	AddsEnv []string
	// SlowVersion tells that the engine takes long to say its version.
	SlowVersion bool
	// HidesOwners tells that the engine shows what it reads of a container as if all
	// were the container's user's.
	HidesOwners bool
	// KeepsIDs tells that a rootless engine can give the caller's uid the same
	// number in the container (user namespace keep-id). Otherwise the caller is
	// root there.
	KeepsIDs bool
}

// Backend makes workspaces that are containers of one engine. It is safe for
// concurrent use.
type Backend struct {
	cfg    Config
	engine *client.Client
	log    *slog.Logger

	mu      sync.Mutex
	closed  bool
	arch    string           // of the engine, once known
	program *program.Program // the agent for arch, once loaded

	told     sync.Map       // of which containers the log has heard that they are not what was asked
	cleanups sync.WaitGroup // of creations that were given up
}

var (
	_ backends.Backend = (*Backend)(nil)
	_ backends.Stopper = (*Backend)(nil)
	_ runtimes.Builder = (*Backend)(nil)
)

// New returns a Backend over cfg.Client. It does not speak to the engine yet. A
// configuration that cannot work is CodeInvalidArgument.
func New(_ context.Context, cfg Config) (*Backend, error) {
	if cfg.Client == nil {
		return nil, errors.New("docker: Config.Client is missing")
	}
	if cfg.Provider == "" {
		cfg.Provider = Provider
	}
	if cfg.Differences.Engine == "" {
		cfg.Differences.Engine, cfg.Differences.Command = "Docker", "docker"
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.WorkingDir == "" && cfg.Runtime != nil {
		cfg.WorkingDir = cfg.Runtime.Dir()
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if cfg.WorkingDir != "" {
		cfg.WorkingDir = path.Clean(cfg.WorkingDir)
	}
	for _, w := range cfg.Options.Warnings {
		cfg.Logger.Warn(w)
	}
	return &Backend{cfg: cfg, engine: cfg.Client, log: cfg.Logger}, nil
}

// Check refuses what cannot work whatever the engine says. The error is
// CodeInvalidArgument, and names the flag and the mend.
func (c Config) Check() error {
	wrong := func(format string, args ...any) error {
		return backends.Errorf(backends.CodeInvalidArgument, "open", "", format, args...)
	}
	if dir := c.WorkingDir; dir != "" {
		switch {
		case !path.IsAbs(dir), strings.ContainsRune(dir, 0):
			return wrong("--working-dir %q is not an absolute path in the container; write one like /workspace", dir)
		case covers(guestDir, path.Clean(dir)):
			return wrong("--working-dir %s is in the directory of the guest agent, which is read-only; use another", dir)
		}
	}
	if err := CheckImage(c.Image); c.Image != "" && err != nil {
		return wrong("--image %v", err)
	}
	commas := func(m mount.Mount) bool { return strings.Contains(m.Source+m.Target, ",") }
	switch d := c.Differences; {
	case d.SplitsMounts && slices.ContainsFunc(c.Options.Mounts, commas):
		return wrong("--mount of a path with a comma cannot be used: %s's API ends it there; mount its parent, or use --backend docker", d.Engine)
	case d.LacksRuntimes && c.Options.OCIRuntime != "":
		return wrong("--oci-runtime %s cannot be used: %s's API takes no runtime for one container; set it in its containers.conf and leave the flag out, or use --backend docker",
			c.Options.OCIRuntime, d.Engine)
	case d.LacksGPUs && len(c.Options.GPUs) > 0:
		return wrong("--gpus cannot be used: %s's API gives containers no devices that way; use --backend docker", d.Engine)
	}
	return nil
}

// CheckImage refuses what can be no image's name or id.
func CheckImage(name string) error {
	if _, err := reference.ParseAnyReference(name); err != nil {
		return fmt.Errorf("%q is no image's name: %w; write one such as python:3.12-slim", name, err)
	}
	return nil
}

// Provider is the first part of this backend's refs.
func (b *Backend) Provider() string { return b.cfg.Provider }

// Close waits, a minute at most, until what was given up half way has been
// removed, and closes the client. Containers go on running, and workspaces that
// are open stay open.
func (b *Backend) Close() error {
	b.mu.Lock()
	closed := b.closed
	b.closed = true
	b.mu.Unlock()
	b.cleanups.Wait()
	if closed {
		return nil
	}
	return b.engine.Close()
}

// open fails when the Backend is closed.
func (b *Backend) open() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return backends.Errorf(backends.CodeUnavailable, "open", "", "the connection to %s is closed", b.cfg.Differences.Engine)
	}
	return nil
}

// cleanUp runs f in the background, with a context of its own that ends after
// cleanupLimit. Close waits for it.
func (b *Backend) cleanUp(f func(ctx context.Context)) {
	b.cleanups.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupLimit)
		defer cancel()
		f(ctx)
	})
}

// within bounds one request to the engine.
func within[T any](ctx context.Context, limit time.Duration, request func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return request(ctx)
}

// doWithin is within for a request without an answer.
func doWithin(ctx context.Context, limit time.Duration, request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return request(ctx)
}

// containerName is what engines allow; it also keeps a ref from meaning another
// path of the API.
var containerName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]+$`)

// checkRef tells whether ref could be a container of this backend.
func (b *Backend) checkRef(op string, ref backends.Ref) error {
	if ref.Provider != b.cfg.Provider {
		return backends.Errorf(backends.CodeInvalidArgument, op, "", "%q is no workspace of the backend %s", ref, b.cfg.Provider)
	}
	if !containerName.MatchString(ref.ID) || len(ref.ID) > 255 {
		return backends.Errorf(backends.CodeInvalidArgument, op, "", "%q is no workspace ref; one looks like %s:mcpws-3f9a0c77d1e2",
			ref, b.cfg.Provider)
	}
	return nil
}

func (b *Backend) ref(id string) backends.Ref {
	return backends.Ref{Provider: b.cfg.Provider, ID: id}
}

// newID names a container that has no name from its user.
func newID() string {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	return namePrefix + hex.EncodeToString(random[:])
}
