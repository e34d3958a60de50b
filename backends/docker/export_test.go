package docker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// What the tests need to see from outside, where they can use backends/podman.
const (
	NamePrefix   = namePrefix
	VolumePrefix = volumePrefix
	HelperPrefix = helperPrefix
	GuestDir     = guestDir
)

var (
	DefaultEnv  = defaultEnv
	IsGone      = isGone
	ResolveUser = resolveUser
)

// Engine is the client of b.
func (b *Backend) Engine() *client.Client { return b.engine }

// Scope is the scope of b.
func (b *Backend) Scope() string { return b.cfg.Scope }

// Image is what b makes containers of.
func (b *Backend) Image() string { return b.cfg.Image }

// UseImagesDir has b use the image's own working directory.
func (b *Backend) UseImagesDir() { b.cfg.WorkingDir = "" }

// AwaitCleanups waits until what was given up has been removed.
func (b *Backend) AwaitCleanups() { b.cleanups.Wait() }

// User is the container's user as the engine is told.
func (b *Backend) User(ctx context.Context) (string, error) {
	user, _, err := b.user(ctx)
	return user, err
}

// CreateOnly creates the container of spec and does no more.
func (b *Backend) CreateOnly(ctx context.Context, spec backends.Spec) error {
	agent, err := b.agent(ctx, "", nil)
	if err != nil {
		return err
	}
	_, err = b.createContainer(ctx, plan{id: namePrefix + spec.Name, image: b.cfg.Image, guest: short(agent), spec: spec})
	return err
}

// Abandon is the end of a creation that has failed.
func (b *Backend) Abandon(ctx context.Context, ref backends.Ref, spec backends.Spec) error {
	return b.abandon(ctx, ref.ID, spec, errors.New("failed"))
}

// GuestDigest is the part of the agent's digest that names are made of.
func (b *Backend) GuestDigest(ctx context.Context) (string, error) {
	agent, err := b.agent(ctx, "", nil)
	if err != nil {
		return "", err
	}
	return short(agent), nil
}

// SetQuickLimit changes, for one test, how long questions to an engine may take.
func SetQuickLimit(t *testing.T, limit time.Duration) {
	before := quickLimit
	quickLimit = limit
	t.Cleanup(func() { quickLimit = before })
}

// SetStaleHelper changes, for one test, when a helper is taken to be left over.
func SetStaleHelper(t *testing.T, age time.Duration) {
	before := staleHelper
	staleHelper = age
	t.Cleanup(func() { staleHelper = before })
}
