//go:build linux || darwin

package procs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/output"
)

// How long a command has to end by itself after SIGTERM, and how long SIGKILL
// is given to take effect. A caller that gave up waits less.
const (
	stopGrace   = 2 * time.Second
	cancelGrace = 500 * time.Millisecond
	killGrace   = 5 * time.Second
)

func run(ctx context.Context, cmd backends.Command, opt Options) (backends.Exit, error) {
	if err := checkDir(cmd.Dir); err != nil {
		return backends.Exit{}, err
	}
	prog, err := prepare(cmd, opt)
	if err != nil {
		return backends.Exit{}, err
	}
	if err := keepInherited(); err != nil {
		opt.Logger.Debug("descriptors that this process inherited cannot be listed, and commands inherit them", "error", err)
	}
	full := make(chan struct{}) // closed when the command has printed more than it may
	out := output.New(cmd, opt.OpenOutputFile, opt.Logger, func() { close(full) })
	p, err := prog.start(cmd, out, opt.Track)
	if err != nil {
		var refused *refusal
		if !errors.As(err, &refused) {
			return backends.Exit{}, err
		}
		stream := backends.Stderr
		if cmd.Merge {
			stream = backends.Stdout
		}
		out.Write(stream, []byte(refused.text+"\n"))
		exit := backends.Exit{Code: refused.code}
		exit.OutputFile, exit.NotKept = out.Close()
		return exit, nil
	}

	failed := p.wait(ctx, cmd, full, opt)
	if failed == nil && out.Overflowed() {
		failed = tooLarge(cmd)
		p.stop(stopGrace, opt)
	}
	p.untrack()
	exit, err := p.reap(opt)
	exit.OutputFile, exit.NotKept = out.Close()
	if failed == nil {
		return exit, err
	}
	if failed.Code == backends.CodeTimeout {
		exit.Code, exit.Signal = 124, ""
	}
	return exit, failed
}

// process is a command that was started.
type process struct {
	leader  *os.Process
	untrack func() // see Options.Track
	// exited is closed when the leader has ended. It is left as a zombie until
	// reap: so long its id, and that of its session, can be no one else's.
	exited  chan struct{}
	watched chan error // then says whether waiting for that failed
	pipes   []*os.File // our ends of its outputs
	pumps   sync.WaitGroup
	stdin   *os.File // our end of its input, nil when it has none
	fed     chan error
}

// start starts prog. The error is a [*refusal] when the program cannot be
// executed.
func (prog *program) start(cmd backends.Command, out *output.Output, track func(leader int) (ended func())) (_ *process, err error) {
	if prog.err != nil {
		return nil, prog.explain(prog.err)
	}
	p := &process{untrack: func() {}, exited: make(chan struct{}), watched: make(chan error, 1), fed: make(chan error, 1)}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			for _, f := range p.pipes {
				f.Close()
			}
			if p.stdin != nil {
				p.stdin.Close()
			}
		}
	}()

	var stdin *os.File
	if cmd.Stdin == nil {
		stdin, err = noInput()
	} else {
		stdin, p.stdin, err = os.Pipe()
	}
	if err != nil {
		return nil, cannotStart(err)
	}
	theirs = append(theirs, stdin)
	streams := 2
	if cmd.Merge {
		streams = 1
	}
	for range streams {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, cannotStart(err)
		}
		p.pipes, theirs = append(p.pipes, r), append(theirs, w)
	}

	err = p.launch(prog, track, &os.ProcAttr{
		Dir:   cmd.Dir,
		Env:   prog.env,
		Files: []*os.File{stdin, theirs[1], theirs[len(theirs)-1]},
		Sys:   endsWithParent(&syscall.SysProcAttr{Setsid: true}),
	})
	if err != nil {
		return nil, prog.explain(err)
	}

	p.pumps.Add(len(p.pipes))
	for i, r := range p.pipes {
		write := func(b []byte) { out.Write(backends.Stream(i), b) }
		go pump(r, write, p.pumps.Done)
	}
	if p.stdin != nil {
		go func() {
			if err := feed(p.stdin, cmd.Stdin); err != nil {
				p.fed <- err
			}
		}()
	}
	return p, nil
}

// starter runs functions in one thread that lives as long as this process does:
// what ends with its parent ends with the thread that started it. The system
// starts one process at a time anyway.
var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// launch starts the leader and has its end watched.
func (p *process) launch(prog *program, track func(leader int) (ended func()), attr *os.ProcAttr) error {
	started := make(chan error, 1)
	starter() <- func() {
		leader, err := os.StartProcess(prog.path, prog.argv, attr)
		p.leader = leader
		if err == nil && track != nil { // at once: it may be forking already
			p.untrack = track(leader.Pid)
		}
		started <- err
	}
	if err := <-started; err != nil {
		return err
	}
	go func() {
		p.watched <- awaitExit(p.leader.Pid)
		close(p.exited)
	}()
	return nil
}

// wait returns when the leader has ended and its output has been delivered. The
// error says why the command was stopped, if it was.
func (p *process) wait(ctx context.Context, cmd backends.Command, full <-chan struct{}, opt Options) (failed *backends.Error) {
	var limit <-chan time.Time
	if cmd.Timeout > 0 {
		t := time.NewTimer(cmd.Timeout)
		defer t.Stop()
		limit = t.C
	}

	grace := stopGrace
	select {
	case <-p.exited:
	case <-full:
		failed = tooLarge(cmd)
	case <-limit:
		failed = backends.Errorf(backends.CodeTimeout, op, "",
			"the command did not end within %s; it and everything of its session have been stopped", cmd.Timeout)
	case <-ctx.Done():
		grace = cancelGrace
		failed = &backends.Error{Code: backends.CodeCancelled, Op: op, Err: context.Cause(ctx),
			Message: "the call was cancelled; the command and everything of its session have been stopped"}
	case err := <-p.fed:
		failed = &backends.Error{Code: backends.CodeInternal, Op: op, Err: err,
			Message: fmt.Sprintf("the command was stopped because its input could not be read to the end: %v", err)}
	}
	if failed != nil {
		select {
		case <-p.exited: // at the same moment: the command's own end counts
			failed = nil
		default:
			p.stop(grace, opt)
		}
	}
	select {
	case err := <-p.watched:
		if err != nil {
			opt.Logger.Error("waiting for a command", "pid", p.leader.Pid, "error", err)
		}
	default: // it cannot be killed; see stop
	}
	for _, r := range p.pipes {
		// Fails for a pipe that has been read to its end and closed.
		_ = r.SetReadDeadline(time.Unix(1, 0))
	}
	p.pumps.Wait()
	if p.stdin != nil {
		_ = p.stdin.Close() // closed already when all of the input was taken
	}
	return failed
}

// stop ends the command and what it started.
func (p *process) stop(grace time.Duration, opt Options) {
	left := stopSession(p.leader.Pid, p.exited, grace)
	if left == 0 {
		<-p.exited
		return
	}
	opt.Logger.Error("processes of a command could not be killed; they may be waiting for a device or belong to someone else",
		"session", p.leader.Pid, "processes", left)
}

// reap takes the leader's exit status, which frees its id.
func (p *process) reap(opt Options) (backends.Exit, error) {
	select {
	case <-p.exited:
	default:
		go func() {
			<-p.exited
			if _, err := p.leader.Wait(); err != nil {
				opt.Logger.Error("waiting for a command that could not be killed", "pid", p.leader.Pid, "error", err)
			}
		}()
		return backends.Exit{Code: 128 + int(unix.SIGKILL)}, nil
	}
	state, err := p.leader.Wait()
	if err != nil {
		return backends.Exit{}, &backends.Error{Code: backends.CodeInternal, Op: op, Err: err,
			Message: fmt.Sprintf("how the command ended is not known: %v", err)}
	}
	status := state.Sys().(syscall.WaitStatus)
	if !status.Signaled() {
		return backends.Exit{Code: status.ExitStatus()}, nil
	}
	return backends.Exit{Code: 128 + int(status.Signal()), Signal: signalName(status.Signal())}, nil
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(s)) // a real-time signal
}

func tooLarge(cmd backends.Command) *backends.Error {
	return backends.Errorf(backends.CodeTooLarge, op, "",
		"the command printed more than %d bytes and was stopped; send its output to a file and look at parts of that", cmd.MaxOutput)
}
