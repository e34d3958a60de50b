// Package runtimes holds ready-made environments for containers: a catalogue
// of names, and those that a user defines. A runtime is an image, or a base
// image with packages, setup commands and environment that an engine builds
// into an image on first use. The package knows no engine: it hands a
// [Builder] a tar with a Dockerfile and watches what comes back.
package runtimes

import (
	"cmp"
	"context"
	"io"
)

// DefaultWorkingDir is where commands start in a runtime that names no other
// directory.
const DefaultWorkingDir = "/workspace"

// Labels of the images that are built.
const (
	LabelName   = "io.mcp-workspace.runtime"        // the runtime's name
	LabelDigest = "io.mcp-workspace.runtime-digest" // hex SHA-256 of its definition
)

// Runtime is one environment. It has either an Image, which is used as it is,
// or a Base that the rest is built on. It is not changed once it is in use.
type Runtime struct {
	// Name is 1 to 63 lower-case letters, digits, and single ".", "_" or "-"
	// between them: it is part of the name of the image that is built.
	Name        string
	Description string // one line for people
	Image       string // reference of a ready image
	Base        string // reference of the image to build on
	Packages    Packages
	// Setup are shell scripts, run as the base image's user after the packages
	// are installed, in WorkingDir, with /bin/sh -e: the first command that
	// fails ends the build.
	Setup []string
	// Env is set while a runtime is built and stays in the image that is built.
	// Who runs a ready Image sets it on the container.
	Env map[string]string
	// WorkingDir is absolute; empty is [DefaultWorkingDir].
	WorkingDir string
	// BuildArgs are environment variables of the build alone, such as the
	// address of a package index or a proxy. Nothing of this process's own
	// environment reaches a build.
	BuildArgs map[string]string
	// BuildNetwork is the network of the build: "" for the engine's default,
	// "host", "none", or the name of a network.
	BuildNetwork string

	// defaults are the settings for all builds. They say how to reach things
	// from here, not what the runtime is, so the digest leaves them out.
	defaults BuildOptions
}

// Packages are what package managers install. The managers are run in the
// order of the fields, system packages first, so that runtimes on one base
// share layers.
type Packages struct {
	Apt   []string `json:"apt,omitempty"`   // Debian and Ubuntu: "git", "git=1:2.39.5-0"
	Apk   []string `json:"apk,omitempty"`   // Alpine: "git", "git=2.45.2-r0"
	Pip   []string `json:"pip,omitempty"`   // Python: "pandas", "pandas[excel]>=2,<3"
	Npm   []string `json:"npm,omitempty"`   // Node.js, into WorkingDir/node_modules: "vite", "@types/react@18"
	Cargo []string `json:"cargo,omitempty"` // Rust, programs only: "ripgrep", "ripgrep@14.1.0"
}

// BuildOptions are what a build has besides its definition.
type BuildOptions struct {
	Args    map[string]string // see [Runtime.BuildArgs]
	Network string            // see [Runtime.BuildNetwork]
}

// A Builder is an engine that has images and makes them. Its methods may be
// called at the same time.
type Builder interface {
	// HasImage tells whether the engine has the image. It pulls nothing.
	HasImage(ctx context.Context, ref string) (bool, error)
	// ImageUser is the user that an image's commands run as, as it says: "" for
	// root, a name or a number, with ":" and a group or without. The engine has
	// the image.
	ImageUser(ctx context.Context, ref string) (string, error)
	// Pull fetches an image. Progress gets a line at a time.
	Pull(ctx context.Context, ref string, progress func(string)) error
	// Build builds the Dockerfile at the top of a tar, which is the build
	// context, pulls no newer base image, and tags the result once all of it has
	// been built. Progress gets the engine's output in order, at least a line at a
	// time, with or without line ends, and not after Build has returned. A build
	// that fails or is cancelled leaves no container and no tag behind.
	Build(ctx context.Context, tag string, context io.Reader, labels map[string]string, progress func(string)) error
}

// An OptionBuilder is a Builder whose builds can have options.
type OptionBuilder interface {
	Builder
	// WithBuildOptions is a Builder of the same engine whose builds have the
	// options: the arguments as build arguments, the network as network mode.
	WithBuildOptions(BuildOptions) Builder
}

// IsBuilt tells whether the runtime is built here, and not a ready image. The
// image of one that is built must never be pulled: nobody has published it, so
// whatever a registry answers under that name is somebody else's.
func (r *Runtime) IsBuilt() bool { return r.Base != "" }

// Dir is the directory where commands start.
func (r *Runtime) Dir() string { return cmp.Or(r.WorkingDir, DefaultWorkingDir) }

// buildOptions are those of this runtime over those of all builds.
func (r *Runtime) buildOptions() BuildOptions {
	o := BuildOptions{Args: map[string]string{}, Network: r.defaults.Network}
	for _, args := range []map[string]string{r.defaults.Args, r.BuildArgs} {
		for k, v := range args {
			o.Args[k] = v
		}
	}
	if r.BuildNetwork != "" {
		o.Network = r.BuildNetwork
	}
	return o
}
