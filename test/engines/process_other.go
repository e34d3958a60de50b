//go:build !linux

package engines

import (
	"context"
	"errors"
	"syscall"
)

// endProcess is not reached: there is no engine to end.
func endProcess(context.Context, int, syscall.Signal) error { return errors.ErrUnsupported }
