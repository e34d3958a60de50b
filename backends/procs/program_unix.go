//go:build linux || darwin

package procs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// defaultPath is where programs are looked up when the environment has no PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// shells are where the program for scripts is looked for, in this order.
var shells = []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh", "/usr/bin/sh"}

// program is what a command comes down to.
type program struct {
	name string // as the caller gave it
	path string // as the system is asked for it; "" when it was not found
	dir  string
	argv []string
	env  []string
	err  error // why path is not known
}

// refusal is a program that cannot be executed, as a shell has it.
type refusal struct {
	code int // 126 or 127
	text string
}

func (r *refusal) Error() string { return r.text }

// prepare finds the program of cmd and its environment.
func prepare(cmd backends.Command, opt Options) (*program, error) {
	p := &program{dir: cmd.Dir, env: environment(opt.Env, cmd.Dir, cmd.Env)}
	if cmd.Script == "" {
		p.name, p.argv = cmd.Argv[0], cmd.Argv
		p.path, p.err = p.find()
		return p, nil
	}
	shell, err := findShell(opt.Shell)
	if err != nil {
		return nil, err
	}
	// The name without its directory is what the shell's own messages start
	// with. "--" keeps a script that starts with "-" from being an option.
	p.name, p.path = shell, shell
	p.argv = []string{filepath.Base(shell), "-c", "--", cmd.Script}
	return p, nil
}

func findShell(shell string) (string, error) {
	if shell != "" {
		return shell, nil
	}
	for _, s := range shells {
		if info, err := os.Stat(s); err == nil && info.Mode().IsRegular() && unix.Access(s, unix.X_OK) == nil {
			return s, nil
		}
	}
	return "", &backends.Error{Code: backends.CodeUnsupported, Op: op, Err: backends.ErrNoShell, Message: fmt.Sprintf(
		"there is no shell here (looked for %s); give the program and its arguments as a list instead", strings.Join(shells, ", "))}
}

// find looks the program up as a shell does: in the PATH that the command
// itself gets, and relative to the directory it starts in.
func (prog *program) find() (string, error) {
	if strings.Contains(prog.name, "/") {
		return prog.name, nil
	}
	search, ok := lookupEnv(prog.env, "PATH")
	if !ok {
		search = defaultPath
	}
	err := error(unix.ENOENT)
	if prog.name == "" {
		return "", err
	}
	for _, dir := range filepath.SplitList(search) {
		if dir == "" {
			dir = "."
		}
		at := dir + "/" + prog.name
		full := prog.full(at)
		info, statErr := os.Stat(full)
		if statErr != nil || info.IsDir() {
			continue
		}
		if unix.Access(full, unix.X_OK) == nil {
			return at, nil
		}
		err = unix.EACCES
	}
	return "", err
}

// full is path as this process has to name it.
func (prog *program) full(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return prog.dir + "/" + path
}

// explain says why the program could not be started: as a [*refusal] when it is
// for the program, otherwise as a [*backends.Error].
func (prog *program) explain(err error) error {
	refuse := func(code int, why string) error { return &refusal{code: code, text: prog.name + ": " + why} }
	switch {
	case errors.Is(err, unix.ENOENT) && prog.path == "":
		return refuse(127, "command not found")
	case errors.Is(err, unix.ENOENT):
		if _, err := os.Stat(prog.full(prog.path)); err == nil {
			return refuse(127, "cannot execute: the interpreter it asks for does not exist")
		}
		return refuse(127, "No such file or directory")
	case errors.Is(err, unix.E2BIG):
		return &backends.Error{Code: backends.CodeTooLarge, Op: op, Err: err,
			Message: "the command line is longer than the system takes; write the text to a file first and name the file in the command"}
	}
	for _, errno := range []unix.Errno{unix.EACCES, unix.EPERM, unix.ENOEXEC, unix.ENOTDIR, unix.EISDIR, unix.ELOOP, unix.ENAMETOOLONG,
		unix.ETXTBSY, unix.EINVAL} {
		if errors.Is(err, errno) {
			why := errno.Error()
			if info, err := os.Stat(prog.full(prog.path)); prog.path != "" && err == nil && info.IsDir() {
				why = unix.EISDIR.Error()
			}
			return refuse(126, strings.ToUpper(why[:1])+why[1:])
		}
	}
	return cannotStart(err)
}

// cannotStart is for what is not the command's fault: no descriptors, memory or
// processes left.
func cannotStart(err error) error {
	return &backends.Error{Code: backends.CodeInternal, Op: op, Err: err,
		Message: fmt.Sprintf("the system cannot start another process now: %v; wait for running commands to end, or end some", err)}
}

// checkDir tells what is wrong with the directory to start in. It comes first,
// because a failed start does not tell the directory from the program.
func checkDir(dir string) error {
	fail := func(code backends.Code, err error, message string) error {
		return &backends.Error{Code: code, Op: op, Path: dir, Message: message, Err: err}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(backends.CodeNotFound, err, "the directory to start in does not exist; make it first, as writing a file in it does, or name another")
	case errors.Is(err, syscall.ENOTDIR), err == nil && !info.IsDir():
		return fail(backends.CodeNotDirectory, err, "the place to start in is not a directory")
	case errors.Is(err, fs.ErrPermission):
		return fail(backends.CodePermission, err, "the directory to start in cannot be reached: permission denied")
	case err != nil:
		return fail(backends.CodeInvalidArgument, err, fmt.Sprintf("the directory to start in cannot be used: %v", err))
	case unix.Access(dir, unix.X_OK) != nil:
		return fail(backends.CodePermission, fs.ErrPermission, "the directory to start in cannot be entered: permission denied")
	}
	return nil
}
