//go:build !unix

package state

import "errors"

func makeFIFO(string) error { return errors.ErrUnsupported }
