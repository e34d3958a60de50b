package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/output"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// op is what errors say was being done.
const op = "run"

// Options say what a script runs over.
type Options struct {
	// Files is the file system; see package vfs, which also asks for access.
	Files commands.Files
	// Dir is where scripts start that name no directory, and what a relative
	// one is relative to.
	Dir string
	// Env is added to the environment that every script gets, K=V.
	Env    []string
	Limits Limits
	// Memory is what the process has for this script and others. A script that
	// needs more than there is ends as one over its own limit. Nil is no limit.
	Memory *fair.Account
	// Turns are what the script computes in, in turn by Owner. Nil is at any time.
	Turns *fair.Turns
	Owner string
	// OpenOutputFile makes the file that [backends.Command.KeepAbove] asks for,
	// as in package procs. Nil means that no output is kept.
	OpenOutputFile output.OpenFile
	// Logger hears of what goes wrong beside the script's own result. Nil is
	// silent.
	Logger *slog.Logger
}

// stuck is how long a script that was stopped has to end by itself.
const stuck = 5 * time.Second

// jobMoment is how long what runs beside a script has to end by itself when the
// script has ended.
const jobMoment = 200 * time.Millisecond

// Run runs one command; see [backends.Command] and [backends.Exit] for what it
// promises. Other than with processes,
//
//   - background jobs end with the script, which says so on standard error:
//     there is nothing in which they could go on;
//   - a script over one of its limits is CodeTooLarge, with the limit in the
//     message, and what it printed has been delivered.
//
// When Run returns, nothing of the script runs any more, but for a Read of
// Stdin that is in flight.
func Run(ctx context.Context, cmd backends.Command, opt Options) (backends.Exit, error) {
	if err := cmd.Check(); err != nil {
		return backends.Exit{}, err
	}
	if ctx.Err() != nil {
		return backends.Exit{}, &backends.Error{Code: backends.CodeCancelled, Op: op, Err: context.Cause(ctx),
			Message: "the call was cancelled before the command was started"}
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Dir == "" {
		opt.Dir = "/"
	}
	dir, err := startDir(opt, cmd.Dir)
	if err != nil {
		return backends.Exit{}, err
	}
	m := newMachine(ctx, opt)
	defer m.cancel(nil)
	return m.run(ctx, cmd, opt, dir)
}

// newMachine makes what a script runs on, until its cancel is called.
func newMachine(ctx context.Context, opt Options) *machine {
	m := &machine{files: opt.Files, turns: opt.Turns, owner: opt.Owner, limits: opt.Limits.withDefaults(), system: commands.DefaultSystem, log: opt.Logger, begun: time.Now(), jobs: map[int]*job{}, inboxes: map[int]*inbox{}}
	m.memory = commands.NewMemory(m.limits.Memory, opt.Memory)
	opt.Memory.OnFull(func(err error) { m.fail(overLimit("%v", err)) })
	m.pids.Store(firstPID - 1)
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	return m
}

// run runs a command that starts in dir.
func (m *machine) run(ctx context.Context, cmd backends.Command, opt Options, dir string) (backends.Exit, error) {
	if cmd.Timeout > 0 {
		timer := time.AfterFunc(cmd.Timeout, func() {
			m.fail(backends.Errorf(backends.CodeTimeout, op, "", "the command did not end within %s; it has been stopped", cmd.Timeout))
		})
		defer timer.Stop()
	}
	out := output.New(cmd, opt.OpenOutputFile, opt.Logger, func() {
		m.fail(backends.Errorf(backends.CodeTooLarge, op, "",
			"the command printed more than %d bytes and was stopped; send its output to a file and look at parts of that", cmd.MaxOutput))
	})
	return m.finish(ctx, cmd, out, m.launch(cmd, opt, dir, out))
}

// firstPID is $$ of every script.
const firstPID = 100

// startDir is where a command starts.
func startDir(opt Options, dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	clean, err := backends.CleanPath(opt.Dir, dir)
	if err != nil {
		return "", err
	}
	info, err := opt.Files.Stat(clean)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	real := ""
	if err == nil {
		real, err = opt.Files.Resolve(clean)
	}
	code := backends.CodeInvalidArgument // a name too long, links in a circle
	switch {
	case err == nil:
		return real, nil
	case errors.Is(err, syscall.ENOTDIR):
		code = backends.CodeNotDirectory
	case errors.Is(err, syscall.ENOENT):
		code = backends.CodeNotFound
	}
	return "", &backends.Error{Code: code, Op: op, Path: clean, Err: err, Message: "the command cannot start there: " + commands.Reason(err)}
}

// ending is how a script ended.
type ending struct {
	code   int
	signal string
}

// launch starts the script.
func (m *machine) launch(cmd backends.Command, opt Options, dir string, out *output.Output) <-chan ending {
	env := append(append([]string{
		"HOME=" + opt.Dir, "USER=" + m.system.User, "LOGNAME=" + m.system.User, "SHELL=/bin/bash", "TERM=dumb", "NO_COLOR=1", "PAGER=cat",
		"LANG=C.UTF-8", "PATH=" + strings.Join(programDirs, ":"), "HOSTNAME=" + m.system.Host, "TZ=UTC",
	}, opt.Env...), "PWD="+dir)
	env = append(env, cmd.Env...)
	s := newShell(m.goroutine(m.ctx), m, "bash", dir, env)
	var in io.Reader = nothing{}
	if cmd.Stdin != nil {
		in = feedReader{&feed{from: cmd.Stdin, fail: func(err error) {
			m.fail(&backends.Error{Code: backends.CodeInternal, Op: op, Err: err,
				Message: fmt.Sprintf("the command was stopped because its input could not be read to the end: %v", err)})
		}}}
	}
	s.fds[0] = newDescriptor(in, nil, nil)
	s.fds[1] = newDescriptor(nil, out.To(backends.Stdout), nil)
	s.fds[2] = newDescriptor(nil, out.To(standardError(cmd)), nil)
	done := make(chan ending, 1)
	m.ending.Add(1)
	go func() {
		defer m.ending.Done()
		defer s.turn.Give()
		done <- s.main(cmd)
	}()
	return done
}

// standardError is the stream that standard error goes to.
func standardError(cmd backends.Command) backends.Stream {
	if cmd.Merge {
		return backends.Stdout
	}
	return backends.Stderr
}

// main runs the script or the program.
func (s *shell) main(cmd backends.Command) (e ending) {
	defer func() {
		// A signal to the script itself, from anywhere in it.
		switch r := recover().(type) {
		case nil:
		case killed:
			e = ending{128 + r.number, r.signal}
		default:
			s.m.defect(r)
		}
	}()
	if len(cmd.Argv) > 0 {
		defer s.end()
		e.code = s.protectSignals(func() int {
			s.name, s.line = "sh", 0
			return s.external(cmd.Argv)
		})
		if n, ok := signals[strings.TrimPrefix(s.childSignal, "SIG")]; ok && e.code == 128+n {
			e.signal = s.childSignal
		}
		return e
	}
	e.code = s.runScript(cmd.Script)
	return e
}

// protectSignals is protect, but lets signals through.
func (s *shell) protectSignals(do func() int) int {
	var signal *killed
	code := s.protect(func() (code int) {
		defer func() {
			r := recover()
			if k, ok := r.(killed); ok && k.pid == s.pid {
				signal = &k
				return
			}
			if r != nil {
				panic(r)
			}
		}()
		return do()
	})
	if signal != nil {
		panic(*signal)
	}
	return code
}

// runScript runs the script of the command, with its exit trap.
func (s *shell) runScript(text string) int {
	defer s.end()
	s.receive(s.m.cancel)
	defer s.unreachable()
	s.commandString = true
	return s.protectSignals(func() int {
		return s.toEnd(func(s *shell) flow { return s.runText(text, s.name+": -c") })
	})
}

// finish waits for the script's end and tells how it was.
func (m *machine) finish(ctx context.Context, cmd backends.Command, out *output.Output, done <-chan ending) (backends.Exit, error) {
	var e ending
	left := 0
	select {
	case e = <-done:
		left = m.awaitJobs()
	case <-m.ctx.Done():
	}
	m.cancel(nil) // what runs in the background
	m.awaitTasks()
	if left > 0 {
		out.Write(standardError(cmd), []byte(jobsEnded(left)))
	}
	select {
	case e = <-done:
	default: // it was received above, or does not end
	}
	exit := backends.Exit{Code: e.code, Signal: e.signal}
	exit.OutputFile, exit.NotKept = out.Close()
	m.mu.Lock()
	fault := m.fault
	m.mu.Unlock()
	var k killed
	switch {
	case fault != nil:
		if backends.CodeOf(fault) == backends.CodeTimeout {
			exit.Code, exit.Signal = 124, ""
		}
		return exit, fault
	case errors.As(context.Cause(m.ctx), &k):
		return backends.Exit{Code: 128 + k.number, Signal: k.signal, OutputFile: exit.OutputFile, NotKept: exit.NotKept}, nil
	case ctx.Err() != nil && errors.Is(context.Cause(m.ctx), context.Cause(ctx)):
		return exit, &backends.Error{Code: backends.CodeCancelled, Op: op, Err: context.Cause(ctx),
			Message: "the call was cancelled; the command has been stopped"}
	}
	return exit, nil
}

// awaitJobs waits a moment for what runs beside a script that has ended, such as
// the tee of >(tee log), and returns how many jobs are left, of those that the
// script knows as such.
func (m *machine) awaitJobs() (left int) {
	m.mu.Lock()
	jobs := slices.Collect(maps.Values(m.jobs))
	m.mu.Unlock()
	moment := time.NewTimer(jobMoment)
	defer moment.Stop()
	over := false
	for _, j := range jobs {
		if !over {
			select {
			case <-j.done:
			case <-moment.C:
				over = true
			case <-m.ctx.Done():
				over = true
			}
		}
		if j.running() && j.text != "" && j.ctx.Err() == nil {
			left++
		}
	}
	return left
}

// jobsEnded says that n jobs have ended, which elsewhere would go on.
func jobsEnded(n int) string {
	jobs := "1 background job"
	if n > 1 {
		jobs = fmt.Sprintf("%d background jobs", n)
	}
	return "bash: " + jobs + " ended with the script: nothing goes on after it, so wait for what is to be done\n"
}

// awaitTasks waits until no goroutine of the script runs any more.
func (m *machine) awaitTasks() {
	ended := make(chan struct{})
	go func() {
		m.ending.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(stuck):
		m.log.Error("jobs of a script that has ended do not end", "jobs", m.tasks.Load())
	}
}

// newShell makes a shell with the environment env and no descriptors.
func newShell(ctx context.Context, m *machine, name, dir string, env []string) *shell {
	s := &shell{m: m, ctx: ctx, turn: fair.TurnOf(ctx), pid: int(m.pids.Add(1)), name: name, dir: dir, fds: map[int]*descriptor{}, scope: &scope{vars: map[string]*variable{}},
		random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	s.root = s.pid
	s.options.hashall, s.options.braceexpand = true, true
	s.options.sourcepath, s.options.patsubReplacement = true, true
	vars := s.scope.vars
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if ok && name != "" {
			vars[name] = &variable{value: value, set: true, exported: true}
		}
	}
	set := func(name, value string, v variable) {
		v.value, v.set = value, true
		vars[name] = &v
	}
	level := 1
	if v := vars["SHLVL"]; v != nil {
		if n, ok := number(v.value); ok {
			level = int(n) + 1
		}
	}
	set("SHLVL", itoa(level), variable{exported: true})
	set("PWD", dir, variable{exported: true})
	set("IFS", " \t\n", variable{})
	set("OPTIND", "1", variable{})
	set("PS4", "+ ", variable{})
	set("PPID", "1", variable{readOnly: true, integer: true})
	set("UID", itoa(m.system.UID), variable{readOnly: true, integer: true})
	set("EUID", itoa(m.system.UID), variable{readOnly: true, integer: true})
	set("BASH", "/bin/bash", variable{})
	set("BASH_VERSION", bashVersion, variable{})
	set("HOSTTYPE", "x86_64", variable{})
	set("OSTYPE", "linux-gnu", variable{})
	set("MACHTYPE", "x86_64-pc-linux-gnu", variable{})
	vars["BASH_VERSINFO"] = &variable{kind: indexed, set: true, readOnly: true, list: &array{values: []string{"5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"}}}
	vars["GROUPS"] = &variable{kind: indexed, set: true, list: &array{values: []string{itoa(m.system.GID)}}}
	for _, v := range vars {
		s.hold(64 + int64(len(v.value)))
		v.cost = 64 + int64(len(v.value))
	}
	return s
}
