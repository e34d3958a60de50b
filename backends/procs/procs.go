// Package procs runs commands as [backends.Command] and [backends.Exit]
// describe, on the machine that it is compiled for. It is used in this process
// for a directory, and in the guest agent for a container, so it imports
// little: it knows no backend, no ruleset and no protocol.
package procs

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/output"
)

// Options is what a workspace has in common for all its commands.
type Options struct {
	// Env is the base environment, K=V; nothing of this process's own
	// environment is added.
	Env []string
	// Dir is where a command starts that names no directory, and what a
	// relative one is relative to; "" is "/".
	Dir string
	// Shell is the program that runs scripts, as "Shell -c -- script". Empty
	// means bash where there is one, because that is what people and models
	// write, and otherwise sh; both are found without PATH.
	Shell string
	// OpenOutputFile makes the file that [backends.Command.KeepAbove] asks for.
	// The writer is closed in any case; one whose Write or Close fails removes
	// what it wrote, because the command then ends without an output file. Nil
	// means that no output is kept.
	OpenOutputFile output.OpenFile
	// Track, when set, is told the process id of a command's leader once it runs,
	// and what it returns is called before that id can be another process's. Who
	// outlives this process can then end what this one, when it is killed, leaves
	// of the command, with EndSession.
	Track func(leader int) (ended func())
	// Logger hears of what goes wrong beside the command's own result: output
	// that could not be kept, a process that cannot be killed. Nil is silent.
	Logger *slog.Logger
}

// Run runs one command; see [backends.Command] and [backends.Exit] for what it
// promises. Beyond that:
//
//   - the command is the leader of a session and process group of its own,
//     without a terminal. When it is stopped, every process of that session
//     gets SIGTERM, and SIGKILL 2 s later (0.5 s when the caller gave up). On
//     systems without /proc that is every process of its process group. A
//     process that made a session of its own is not stopped;
//   - when this process is killed, the leader is too, on Linux. What the leader
//     has started goes on unless somebody ends it (see [Options.Track]), and on
//     other systems the leader itself does;
//   - what a background child prints after the command's exit is read and
//     discarded for as long as this process lives, so that the child is not
//     ended by SIGPIPE;
//   - a Read of Stdin that is in flight may outlast Run. Stdin that fails stops
//     the command and is CodeInternal: half an input is not passed off as whole;
//   - a directory that is missing, or is none, is CodeNotFound or
//     CodeNotDirectory; an argument list beyond what the system takes is
//     CodeTooLarge; a script where there is no shell is CodeUnsupported.
//
// On systems other than Linux and macOS Run answers CodeUnsupported.
func Run(ctx context.Context, cmd backends.Command, opt Options) (backends.Exit, error) {
	if err := cmd.Check(); err != nil {
		return backends.Exit{}, err
	}
	if ctx.Err() != nil {
		return backends.Exit{}, &backends.Error{Code: backends.CodeCancelled, Op: op, Err: context.Cause(ctx),
			Message: "the call was cancelled before the command was started"}
	}
	if opt.Dir == "" {
		opt.Dir = "/"
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case cmd.Dir == "":
		cmd.Dir = opt.Dir
	case !filepath.IsAbs(cmd.Dir):
		cmd.Dir = filepath.Join(opt.Dir, cmd.Dir)
	}
	return run(ctx, cmd, opt)
}

// op is what errors say was being done.
const op = "run"

// environment is base with PWD and then added; of several values of one name
// the last counts.
func environment(base []string, dir string, added []string) []string {
	env := make([]string, 0, len(base)+1+len(added))
	at := make(map[string]int, cap(env))
	set := func(kv string) {
		name, _, _ := strings.Cut(kv, "=")
		if i, ok := at[name]; ok {
			env[i] = kv
			return
		}
		at[name] = len(env)
		env = append(env, kv)
	}
	for _, kv := range base {
		set(kv)
	}
	set("PWD=" + dir)
	for _, kv := range added {
		set(kv)
	}
	return env
}

// lookupEnv returns the value of name in env.
func lookupEnv(env []string, name string) (string, bool) {
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}
