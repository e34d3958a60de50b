//go:build !linux && !darwin

package procs

import (
	"context"
	"runtime"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func run(context.Context, backends.Command, Options) (backends.Exit, error) {
	return backends.Exit{}, backends.Errorf(backends.CodeUnsupported, op, "",
		"commands cannot be run on %s; use a container backend", runtime.GOOS)
}
