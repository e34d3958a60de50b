// Package backendtest is the suite that every backend passes: each promise of
// package backends as a named case. A backend's own test hands it a [Harness]:
//
//	func TestContract(t *testing.T) {
//		backendtest.Run(t, backendtest.Harness{
//			New:     func(t *testing.T) backends.Backend { … },
//			Commands: true,
//			Fresh:    true,
//			Destroys: true,
//		})
//	}
//
// The suite assumes the contract and nothing else. Commands that it runs use
// what POSIX asks of sh and its utilities, as busybox has them; a case that
// needs more looks for it and is skipped where it is missing.
//
// Cases about files and commands share one environment, each in a directory of
// its own, because environments can be slow to make. Cases about the life of an
// environment make their own.
package backendtest

import (
	"fmt"
	"path"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Harness says how to get at a backend and what its environments can do. The
// zero value of every field but New is the narrowest claim.
type Harness struct {
	// New returns a backend that has no environments yet, and registers with
	// t.Cleanup what takes it and all its environments away again. It is called
	// once for the suite and once for each case that needs a backend to itself.
	New func(t *testing.T) backends.Backend

	// Reopen returns another Backend over the same environments as b, as a
	// second process would have it. Nil where environments live and die with
	// their Backend value.
	Reopen func(t *testing.T, b backends.Backend) backends.Backend

	// Commands tells that Run works; otherwise it must answer unsupported.
	Commands bool
	// NoProcesses tells that commands have no processes and no FIFOs: cases
	// that can only be shown with those are skipped, and background jobs end
	// with the command.
	NoProcesses bool
	// Destroys tells that Destroy works; otherwise it must answer unsupported.
	Destroys bool
	// Fresh tells that each Create without a name, or with another name, makes
	// an environment of its own; otherwise all Creates answer with the same.
	Fresh bool
	// Confined tells that nothing above the working directory can be reached.
	Confined bool

	// Gone removes an environment behind the backend's back, as an operator
	// would. Nil uses Destroy, where that works.
	Gone func(t *testing.T, ws backends.Workspace)
	// Foreign makes an environment of the backend's kind that is not this
	// program's, and returns a ref that would name it. Nil where there is no
	// such thing.
	Foreign func(t *testing.T, b backends.Backend) backends.Ref
	// Symlink makes link, an absolute path, a symlink with the text target,
	// with the parents it lacks and in place of a link that is there. Nil uses
	// ln, where commands work; where neither is there, the cases about symlinks
	// are skipped.
	Symlink func(t *testing.T, ws backends.Workspace, target, link string)
	// Mkdir makes dir, an absolute path, a directory, with the parents it
	// lacks. Nil uses mkdir, like Symlink.
	Mkdir func(t *testing.T, ws backends.Workspace, dir string)

	// Prompt is how long an answer may take that must not wait for anything;
	// 0 means 10 seconds.
	Prompt time.Duration
	// BigFile is the size in bytes of the largest file that is written and
	// read back; 0 means 8 MB.
	BigFile int
	// HugeLines is how many lines the file has that slices are read from; 0
	// means 200,000, which is about 5 MB.
	HugeLines int
}

// Run holds a backend against the contract. Each case is a subtest whose name
// is what it claims, below one of the subjects; see go test's -run.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.Prompt == 0 {
		h.Prompt = 10 * time.Second
	}
	if h.BigFile == 0 {
		h.BigFile = 8 << 20
	}
	if h.HugeLines == 0 {
		h.HugeLines = 200_000
	}
	ws := mustCreate(t, h.New(t), backends.Spec{})
	dirs := new(atomic.Int64)
	for _, subject := range []struct {
		name   string
		claims func(*suite)
	}{
		{"paths", testPaths},
		{"kinds", testKinds},
		{"symlinks", testSymlinks},
		{"confinement", testConfinement},
		{"files", testFiles},
		{"modes", testModes},
		{"list", testList},
		{"read", testRead},
		{"versions", testVersions},
		{"edit", testEdit},
		{"edit lines", testEditLines},
		{"glob", testGlob},
		{"ignored", testIgnored},
		{"grep", testGrep},
		{"filter", testFilter},
		{"concurrency", testConcurrency},
		{"cancellation", testCancellation},
		{"commands", testCommands},
		{"output", testOutput},
		{"stopping", testStopping},
		{"lifecycle", testLifecycle},
		{"lazy", testLazy},
	} {
		t.Run(subject.name, func(t *testing.T) {
			subject.claims(&suite{t: t, h: h, ws: ws, dirs: dirs})
		})
	}
}

// suite is what the claims of one subject are made in.
type suite struct {
	t    *testing.T
	h    Harness
	ws   backends.Workspace
	dirs *atomic.Int64
}

// newDir names a directory of the shared environment that no case has used.
func (s *suite) newDir() string {
	return path.Join(s.ws.WorkingDir(), fmt.Sprintf("case-%03d", s.dirs.Add(1)))
}

// claim runs one case in a directory of its own in the shared environment.
func (s *suite) claim(name string, check func(p *place)) {
	s.t.Run(name, func(t *testing.T) {
		check(newPlace(t, s.h, s.ws, s.newDir()))
	})
}

// over returns a claim whose cases share one directory, into which the first of
// them to run puts what they read; none of them may change it.
func (s *suite) over(fill func(p *place)) func(name string, check func(p *place)) {
	dir := s.newDir()
	filled := false
	return func(name string, check func(p *place)) {
		s.t.Run(name, func(t *testing.T) {
			p := newPlace(t, s.h, s.ws, dir)
			if !filled {
				fill(p)
				filled = true
			}
			check(p)
		})
	}
}

// ownClaim runs one case with a backend to itself.
func (s *suite) ownClaim(name string, check func(t *testing.T, b backends.Backend)) {
	s.t.Run(name, func(t *testing.T) { check(t, s.h.New(t)) })
}

// mustCreate creates an environment and closes the connection to it when the
// test ends.
func mustCreate(t *testing.T, b backends.Backend, spec backends.Spec) backends.Workspace {
	t.Helper()
	ws, err := b.Create(t.Context(), spec)
	if err != nil {
		t.Fatalf("Create(%+v): %v", spec, err)
	}
	closeLater(t, ws)
	return ws
}

// mustAttach is mustCreate for an environment that exists.
func mustAttach(t *testing.T, b backends.Backend, ref backends.Ref) backends.Workspace {
	t.Helper()
	ws, err := b.Attach(t.Context(), ref)
	if err != nil {
		t.Fatalf("Attach(%v): %v", ref, err)
	}
	closeLater(t, ws)
	return ws
}

func closeLater(t *testing.T, ws backends.Workspace) {
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Errorf("Close of %v: %v", ws.Ref(), err)
		}
	})
}
