// Package podman makes each workspace a container of Podman. It is
// backends/docker over Podman's Docker-compatible socket, with what differs
// there; it holds nothing else.
package podman

import (
	"context"

	"github.com/mcp-workspace/mcp-workspace/backends/docker"
)

// Provider is the first part of this backend's refs.
const Provider = "podman"

// New returns a backend over Podman, from version 4.3 on, that cfg.Client is
// connected to. Provider and Differences of cfg are set here.
func New(ctx context.Context, cfg docker.Config) (*docker.Backend, error) {
	return docker.New(ctx, differing(cfg))
}

// Check is [docker.Config.Check] of what New is given.
func Check(cfg docker.Config) error { return differing(cfg).Check() }

// differing is cfg with what differs.
func differing(cfg docker.Config) docker.Config {
	cfg.Provider = Provider
	cfg.Differences = docker.Differences{
		Engine:  "Podman",
		Command: "podman",
		// The compatible API looks for names without a registry at Docker Hub
		// only, where Podman's own commands find local images as well.
		LocalImages: "localhost/",
		// Its default is a bridge for root; a rootless user may have none and
		// gets what reaches as far.
		DefaultNetwork: "default",
		// It sets up a timer with systemd for whatever health check it is told,
		// "none" included.
		HealthchecksStay: true,
		MakesSources:     true,
		SplitsMounts:     true,
		LacksRuntimes:    true,
		LacksGPUs:        true,
		HidesOwners:      true,
		KeepsIDs:         true,
		BuildsGoOn:       true,
		AddsEnv:          []string{"TERM=xterm"},
		// It asks the machine's package manager about each of its programs.
		SlowVersion: true,
	}
	return cfg
}
