package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
)

// commandSubst runs $(…) and returns its output without final newlines.
func (s *shell) commandSubst(p *syntax.CmdSubst) string {
	s.enter()
	defer func() { s.depth-- }()
	if text, ok := s.contentOf(p.Stmts); ok {
		return text
	}
	out := newGathered(s)
	defer out.free()
	sub := s.subshell(s.ctx)
	sub.nesting++
	sub.outerJobs = s.knownJobs()
	sub.setFD(1, newDescriptor(nil, out, nil))
	if !s.options.inheritErrexit && !s.options.posix {
		sub.options.errexit = false
	}
	s.substatus = sub.run(func(sub *shell) flow { return sub.stmts(p.Stmts) })
	s.status = s.substatus
	s.check()
	out.mu <- struct{}{}
	defer func() { <-out.mu }()
	out.closed = true
	text := out.buf
	s.charge(len(text))
	if bytes.IndexByte(text, 0) >= 0 {
		text = bytes.ReplaceAll(text, []byte{0}, nil)
	}
	return string(bytes.TrimRight(text, "\n"))
}

// contentOf reads the file of $(<file).
func (s *shell) contentOf(stmts []*syntax.Stmt) (string, bool) {
	if len(stmts) != 1 || stmts[0].Cmd != nil || len(stmts[0].Redirs) != 1 || stmts[0].Redirs[0].Op != syntax.RdrIn || stmts[0].Redirs[0].N != nil {
		return "", false
	}
	name := s.target(stmts[0].Redirs[0].Word)
	d, err := s.openFile(name, 0)
	if err != nil {
		s.errorf("%s: %s", name, commands.Reason(err))
		s.substatus, s.status = 1, 1
		return "", true
	}
	defer d.release()
	s.substatus, s.status = 0, 0
	out := newGathered(s)
	defer out.free()
	buf := make([]byte, 32<<10)
	for {
		n, err := commands.ReadContext(s.ctx, d.in, buf)
		if _, werr := out.Write(buf[:n]); werr != nil {
			s.check()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.check()
			s.errorf("%s: %s", name, commands.Reason(err))
			s.substatus = 1
			break
		}
	}
	s.charge(len(out.buf))
	return strings.TrimRight(strings.ReplaceAll(string(out.buf), "\x00", ""), "\n"), true
}

// gathered is the output of a command substitution.
type gathered struct {
	s      *shell
	mu     chan struct{}
	buf    []byte
	closed bool
	spent  int
}

func newGathered(s *shell) *gathered { return &gathered{s: s, mu: make(chan struct{}, 1)} }

func (g *gathered) Write(b []byte) (int, error) {
	return g.WriteContext(context.Background(), b)
}

// WriteContext adds b, which is charged to the machine: several goroutines can
// write here while the shell waits.
func (g *gathered) WriteContext(_ context.Context, b []byte) (int, error) {
	g.mu <- struct{}{}
	defer func() { <-g.mu }()
	if g.closed {
		return len(b), nil // of a background job: nobody waits for it
	}
	if need := len(g.buf) + len(b); need > g.spent {
		grow := max(need, 2*g.spent, 512)
		if err := g.s.m.memory.Grow(int64(grow - g.spent)); err != nil {
			g.s.m.fail(g.s.m.memoryError())
			return 0, err
		}
		g.spent = grow
	}
	g.buf = append(g.buf, b...)
	return len(b), nil
}

// free gives back what was charged.
func (g *gathered) free() {
	g.s.m.memory.Free(int64(g.spent))
	g.spent = 0
}
