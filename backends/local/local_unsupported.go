//go:build !linux && !darwin

package local

import (
	"runtime"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Backend cannot be made on this system.
type Backend struct{ backends.Backend }

// New answers CodeUnsupported on this system.
func New(Config) (*Backend, error) {
	return nil, backends.Errorf(backends.CodeUnsupported, "open", "",
		"a local directory cannot be a workspace on %s yet; use another backend", runtime.GOOS)
}
