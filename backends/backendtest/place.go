package backendtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// place is where one case works: a directory of its own in a workspace, and
// the short forms of what cases do there. Names given to its methods are
// relative to the directory unless they are absolute.
type place struct {
	*testing.T
	h   Harness
	ws  backends.Workspace
	dir string // absolute; there once something has been put into it

	ctx    context.Context
	giveUp context.CancelFunc // ends ctx

	late, together atomic.Int64 // calls of Output that should not have been
}

func newPlace(t *testing.T, h Harness, ws backends.Workspace, dir string) *place {
	p := &place{T: t, h: h, ws: ws, dir: dir}
	p.ctx, p.giveUp = context.WithCancel(t.Context())
	t.Cleanup(func() {
		p.giveUp()
		if n := p.late.Load(); n > 0 {
			t.Errorf("Output was called %d times after Run had returned", n)
		}
		if n := p.together.Load(); n > 0 {
			t.Errorf("Output was called %d times while another call of it was running", n)
		}
	})
	return p
}

// Context is what the case's operations run in: that of the test, or shorter
// when something in the case hangs.
func (p *place) Context() context.Context { return p.ctx }

// at is the absolute path of name.
func (p *place) at(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(p.dir, name)
}

// write puts content at name.
func (p *place) write(name, content string) backends.WriteResult {
	p.Helper()
	return p.writeReq(backends.WriteRequest{Path: p.at(name), Content: strings.NewReader(content)})
}

func (p *place) writeReq(req backends.WriteRequest) backends.WriteResult {
	p.Helper()
	res, err := p.ws.Write(p.Context(), req)
	if err != nil {
		p.Fatalf("Write %q: %v", req.Path, err)
	}
	return res
}

// writeBig is write for content so long that it should not stay: where a
// workspace is one document, all later writes would carry it.
func (p *place) writeBig(name, content string) backends.WriteResult {
	p.Helper()
	p.emptyLater(name)
	return p.write(name, content)
}

// emptyLater leaves the file at name empty when the case has ended.
func (p *place) emptyLater(name string) {
	p.Cleanup(func() {
		// The context of the test has ended by then.
		_, err := p.ws.Write(context.Background(), backends.WriteRequest{Path: p.at(name), Content: strings.NewReader("")})
		if err != nil {
			p.Errorf("emptying %s: %v", name, err)
		}
	})
}

// writeAll puts files there, given as name and content in turn.
func (p *place) writeAll(nameContent ...string) {
	p.Helper()
	for pair := range slices.Chunk(nameContent, 2) {
		p.write(pair[0], pair[1])
	}
}

// bytes are those of the file at name.
func (p *place) bytes(name string) string {
	p.Helper()
	content, err := readAll(p.Context(), p.ws, p.at(name))
	if err != nil {
		p.Fatalf("Open and read %q: %v", p.at(name), err)
	}
	return content
}

// wantBytes holds the file at name against content.
func (p *place) wantBytes(name, content string) {
	p.Helper()
	if got := p.bytes(name); got != content {
		p.Errorf("%s holds %s, want %s", name, brief(got), brief(content))
	}
}

func readAll(ctx context.Context, ws backends.Workspace, name string) (string, error) {
	r, _, err := ws.Open(ctx, name)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(r)
	return string(content), errors.Join(err, r.Close())
}

// read is Read with a path like at has it.
func (p *place) read(req backends.ReadRequest) backends.ReadResult {
	p.Helper()
	req.Path = p.at(req.Path)
	res, err := p.ws.Read(p.Context(), req)
	if err != nil {
		p.Fatalf("Read %+v: %v", req, err)
	}
	return res
}

func (p *place) stat(name string) backends.FileInfo {
	p.Helper()
	info, err := p.ws.Stat(p.Context(), p.at(name))
	if err != nil {
		p.Fatalf("Stat %q: %v", p.at(name), err)
	}
	return info
}

func (p *place) list(name string) []backends.Entry {
	p.Helper()
	res, err := p.ws.List(p.Context(), backends.ListRequest{Path: p.at(name)})
	if err != nil {
		p.Fatalf("List %q: %v", p.at(name), err)
	}
	return res.Entries
}

// entry is the entry called name in the case's directory.
func (p *place) entry(name string) backends.Entry {
	p.Helper()
	entries := p.list(".")
	i := slices.IndexFunc(entries, func(e backends.Entry) bool { return e.Name == name })
	if i < 0 {
		p.Fatalf("List shows no %q but %q", name, entryNames(entries))
	}
	return entries[i]
}

func entryNames(entries []backends.Entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name
	}
	return out
}

func texts(lines []backends.Line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Text
	}
	return out
}

func (p *place) resolve(name string) backends.Resolution {
	p.Helper()
	res, err := p.ws.Resolve(p.Context(), p.at(name))
	if err != nil {
		p.Fatalf("Resolve %q: %v", p.at(name), err)
	}
	return res
}

// edit is Edit with a path like at has it.
func (p *place) edit(req backends.EditRequest) (backends.EditResult, error) {
	req.Path = p.at(req.Path)
	return p.ws.Edit(p.Context(), req)
}

func (p *place) mustEdit(req backends.EditRequest) backends.EditResult {
	p.Helper()
	res, err := p.edit(req)
	if err != nil {
		p.Fatalf("Edit %+v: %v", req, err)
	}
	return res
}

// editLines is EditLines with a path like at has it.
func (p *place) editLines(req backends.EditLinesRequest) (backends.EditResult, error) {
	req.Path = p.at(req.Path)
	return p.ws.EditLines(p.Context(), req)
}

// symlink makes link lead to target, in place of a link that is there, and
// skips the case where nothing can.
func (p *place) symlink(target, link string) {
	p.Helper()
	switch {
	case p.h.Symlink != nil:
		p.h.Symlink(p.T, p.ws, target, p.at(link))
	case p.h.Commands:
		p.sh(`mkdir -p "$3" && rm -f "$2" && ln -s "$1" "$2"`, target, p.at(link), path.Dir(p.at(link)))
	default:
		p.Skip("nothing here can make symlinks")
	}
}

// mkdir makes an empty directory, and skips the case where nothing can.
func (p *place) mkdir(name string) {
	p.Helper()
	if p.h.Mkdir != nil {
		p.h.Mkdir(p.T, p.ws, p.at(name))
		return
	}
	p.needCommands()
	p.sh(`mkdir -p "$1"`, p.at(name))
}

func (p *place) needCommands() {
	p.Helper()
	if !p.h.Commands {
		p.Skip("this backend runs no commands")
	}
}

// needProcesses skips the case where commands have no processes, FIFOs or
// devices.
func (p *place) needProcesses() {
	p.Helper()
	p.needCommands()
	if p.h.NoProcesses {
		p.Skip("commands of this backend have no processes")
	}
}

// needProgram skips the case where the workspace lacks a program that POSIX
// does not ask for.
func (p *place) needProgram(name string) {
	p.Helper()
	p.needCommands()
	if res := p.run(backends.Command{Script: "command -v " + name}); res.exit.Code != 0 {
		p.Skipf("the workspace has no %s", name)
	}
}

// ran is how a command went.
type ran struct {
	exit     backends.Exit
	out, err string // what came as Stdout and as Stderr
}

// try runs cmd and keeps what it prints, holding Run to its promises about
// Output meanwhile: one call at a time, none after the return. It may be called
// from any goroutine, and outlive the case.
func (p *place) try(ctx context.Context, cmd backends.Command) (ran, error) {
	var (
		out, errOut bytes.Buffer
		busy, over  atomic.Bool
		also        = cmd.Output
		res         ran
	)
	cmd.Output = func(stream backends.Stream, data []byte) {
		if over.Load() {
			p.late.Add(1)
			return
		}
		if !busy.CompareAndSwap(false, true) {
			p.together.Add(1)
			return
		}
		if stream == backends.Stdout {
			out.Write(data)
		} else {
			errOut.Write(data)
		}
		if also != nil {
			also(stream, data)
		}
		busy.Store(false)
	}
	exit, err := p.ws.Run(ctx, cmd)
	over.Store(true)
	res.exit, res.out, res.err = exit, out.String(), errOut.String()
	return res, err
}

// outcome is what try answered.
type outcome struct {
	ran
	failed error
}

// start begins cmd and returns where its outcome will be, and what is closed
// when it prints for the first time (or ends without having printed).
func (p *place) start(ctx context.Context, cmd backends.Command) (ended <-chan outcome, printed <-chan struct{}) {
	end, first := make(chan outcome, 1), make(chan struct{})
	var once sync.Once
	cmd.Output = func(backends.Stream, []byte) { once.Do(func() { close(first) }) }
	go func() {
		res, err := p.try(ctx, cmd)
		once.Do(func() { close(first) })
		end <- outcome{res, err}
	}()
	return end, first
}

// run is try for a command that runs to its end.
func (p *place) run(cmd backends.Command) ran {
	p.Helper()
	p.needCommands()
	res, err := p.try(p.Context(), cmd)
	if err != nil {
		p.Fatalf("Run %q: %v (printed %s and %s)", cmd.Script+strings.Join(cmd.Argv, " "), err, brief(res.out), brief(res.err))
	}
	return res
}

// sh runs a script that must succeed, with args as $1 and on, in the working
// directory, and returns its standard output.
func (p *place) sh(script string, args ...string) string {
	p.Helper()
	res := p.run(shell(script, args...))
	if res.exit.Code != 0 {
		p.Fatalf("%s: exit code %d: %s%s", script, res.exit.Code, res.out, res.err)
	}
	return res.out
}

// shell is the command that runs script with args as $1 and on.
func shell(script string, args ...string) backends.Command {
	return backends.Command{Argv: append([]string{"sh", "-c", script, "sh"}, args...)}
}

// promptly fails the case when do takes longer than an answer may that must
// not wait for anything.
func (p *place) promptly(what string, do func()) {
	p.Helper()
	promptly(p.T, p.h, what, p.giveUp, do)
}

// promptly fails the test when do takes longer than an answer may that must not
// wait for anything. It calls giveUp then, which should bring do to its end: a
// do that goes on after its test would take the whole suite down with what it
// reports.
func promptly(t *testing.T, h Harness, what string, giveUp, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
		return
	case <-time.After(h.Prompt):
		t.Errorf("%s had not ended after %v; what follows comes of giving it up", what, h.Prompt)
	}
	giveUp()
	select {
	case <-done:
	case <-time.After(h.Prompt):
		t.Errorf("%s did not end when it was given up either", what)
	}
	t.FailNow()
}

// wantCode holds err against the codes that it may have: it must be an
// [*backends.Error] with one of them that says something.
func wantCode(t *testing.T, what string, err error, codes ...backends.Code) {
	t.Helper()
	var typed *backends.Error
	switch {
	case err == nil:
		t.Errorf("%s succeeded, want %q", what, codes)
	case !errors.As(err, &typed):
		t.Errorf("%s: %v (%T), want a *backends.Error of %q", what, err, err, codes)
	case !slices.Contains(codes, backends.CodeOf(err)):
		t.Errorf("%s: %v (%s), want %q", what, err, backends.CodeOf(err), codes)
	case strings.TrimSpace(err.Error()) == "":
		t.Errorf("%s: an error of %s that says nothing", what, backends.CodeOf(err))
	case typed.Path != "" && (!path.IsAbs(typed.Path) || path.Clean(typed.Path) != typed.Path):
		t.Errorf("%s: Error.Path is %q, want it absolute and clean", what, typed.Path)
	}
}

// wantMention holds err's text against words that it should have.
func wantMention(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		return // wantCode has told
	}
	for _, w := range words {
		if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(w)) {
			t.Errorf("the error does not mention %q: %v", w, err)
		}
	}
}

// wantPaths holds the path forms of an answer against those expected.
func (p *place) wantPaths(what string, got backends.Resolution, name, resolved string) {
	p.Helper()
	if got.Path != name || got.Resolved != resolved {
		p.Errorf("%s: Path %q and Resolved %q, want %q and %q", what, got.Path, got.Resolved, name, resolved)
	}
}

// wantEqual compares lists of strings.
func wantEqual(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// brief shows a text in a message.
func brief(s string) string {
	const most = 200
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%q … %q (%d bytes)", s[:most/2], s[len(s)-most/2:], len(s))
}
