//go:build linux || darwin

package agent

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// Stdio is standard input and output as one stream.
func Stdio() io.ReadWriteCloser {
	return stdio{pollable(os.Stdin), pollable(os.Stdout)}
}

type stdio struct{ in, out *os.File }

func (s stdio) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s stdio) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s stdio) Close() error                { return errors.Join(s.in.Close(), s.out.Close()) }

// pollable is f such that a read that waits takes no thread and ends with Close,
// where f is a pipe.
func pollable(f *os.File) *os.File {
	fd := f.Fd()
	if err := syscall.SetNonblock(int(fd), true); err != nil {
		return f
	}
	return os.NewFile(fd, f.Name())
}
