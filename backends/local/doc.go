// Package local is the backend whose workspace is a directory on this machine.
//
// Paths in the workspace are the machine's own: relative ones start at the
// working directory, absolute ones must lead below the root. Files are reached
// from the root's descriptor and nothing else, so neither a path nor a symlink
// leads outside, not even one that is put there while an operation is under way.
// On Linux (openat2, since 5.6) such a symlink is not followed inside the root
// either: what is read and written is what a ruleset was asked about. On macOS,
// older kernels, and where a filter of system calls forbids openat2, it is
// followed inside the root. What is hard-linked or mounted below the root is
// part of it.
//
// Commands are not confined: they run as the user of this process, with a
// minimal environment, and can reach what that user can. Who may run which is
// for a ruleset to say, and a container for what is not trusted.
//
// On Linux a command cannot read the environment or the memory of this process,
// where tokens may be. That does not stop root or who has CAP_SYS_PTRACE, and
// does not cover what has the same tokens elsewhere: the program that started
// this one, its other children, a configuration file. On macOS nothing stops it.
package local

import "log/slog"

// Provider is the first part of a local workspace's ref; the second is the
// root's path, as in "local:/home/u/project".
const Provider = "local"

// Config is what a [Backend] is made from.
type Config struct {
	// Root is the directory, an absolute path. It must exist. Symlinks in the
	// path are resolved once, when the Backend is made.
	Root string
	// WorkingDir is where relative paths and commands start: an absolute path
	// below Root, or "" for Root itself. It is made when it is missing, with
	// the first use of the workspace.
	WorkingDir string
	// Env is for every command, K=V, added to the minimal environment.
	Env []string
	// Logger hears of what goes wrong beside an operation's own result; nil is
	// silent.
	Logger *slog.Logger
}
