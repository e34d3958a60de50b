// Package awk runs AWK programs: those of POSIX, with what gawk adds that
// programs use. A program reaches files, commands and the environment through
// its [Config] only. What it holds in memory is counted, and it stops when its
// context ends.
//
// Programs are parsed to a tree in which variables are slots, and the tree is
// walked. Failures unwind as panics of type fault.
package awk

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"
)

// Host bounds a program; see posixre.Host.
type Host interface {
	Context() context.Context
	Hold(n int) error
	Release(n int)
}

// Config is what a program has to work with. All of it is needed.
type Config struct {
	Host   Host
	Stdin  io.Reader
	Stdout *bufio.Writer
	Stderr io.Writer
	// Open opens a file to read, Create one to write from its start or at its end.
	Open   func(name string) (io.ReadCloser, error)
	Create func(name string, atEnd bool) (io.WriteCloser, error)
	// Run runs a command of the shell to its end.
	Run func(command string, stdin io.Reader, stdout io.Writer) (code int)
	// Reason says why something failed.
	Reason func(err error) string
	// Time writes a time by a format of strftime, in UTC where utc is set.
	Time func(format string, t time.Time, utc bool) string
	// Location is the time zone of mktime.
	Location *time.Location
	Env      []string // K=V
	Name     string   // ARGV[0]
	Args     []string // the rest of ARGV
	Vars     []string // name, value, name, value…; set before BEGIN
	// FieldSeparator is -F; it is set where HasFieldSeparator is.
	FieldSeparator    string
	HasFieldSeparator bool
}

// SyntaxError is a program that cannot be understood.
type SyntaxError struct {
	Line int
	Text string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d: %s", e.Line, e.Text) }

// FatalError is why a program was given up while it ran.
type FatalError struct {
	Line int
	Text string
	err  error
}

func (e *FatalError) Error() string { return e.Text }

func (e *FatalError) Unwrap() error { return e.err }

// fault unwinds to where the program was started.
type fault struct{ err error }
