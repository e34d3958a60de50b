package shell

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// shell is one shell or subshell. It belongs to one goroutine.
type shell struct {
	m    *machine
	ctx  context.Context
	turn *fair.Turn
	// pid tells subshells apart; root is that of the script, which is $$.
	pid, root int
	name      string // $0
	params    []string
	dir       string // physical or not, as cd went; absolute
	fds       map[int]*descriptor
	scope     *scope
	funcs     map[string]*function
	aliases   map[string]string
	options   options
	traps     map[string]string
	dirStack  []string
	jobs      []*job // of this shell
	outerJobs []*job // see knownJobs
	lastJob   int    // $!

	status     int
	pipeStatus []int
	substatus  int // of the last command substitution in the current command
	line       int
	pinned     int          // > 0: the level of functions, counted from 1, at which line stays
	running    *syntax.Stmt // $BASH_COMMAND
	lastArg    string       // $_

	depth      int
	deepest    int // that depth has been
	arithDepth int
	subshells  int
	nesting    int // how often set -x repeats the first character of $PS4
	loops      int
	calls      []string // names of the functions that run
	frames     []frame  // those and the files that are sourced
	script     string   // the file that this shell was started with, "" for none
	sourced    int
	unchecked  int // > 0 where a failure does not count for errexit
	trapping   bool
	// break, continue: how many loops are left to leave.
	levels int

	optIndex, optOffset int // getopts
	inbox               *inbox
	// endedBy is the signal that ended this shell, childSignal the one that
	// ended the last script that it ran; "" when none did.
	endedBy, childSignal string
	// commandString tells that the script is one of sh -c: it ends with 127
	// where others end with 1.
	commandString bool
	temporary     []int // descriptors of process substitutions
	random        *rand.Rand

	spent, taken int64 // see charge
	held         int64 // see hold
}

// function is a function as it was defined.
type function struct {
	body   *syntax.Stmt
	source string // the file, "environment" when it was in none
	owner  *shell // that holds cost for it
	cost   int64
}

// frame is a call of a function, or a file that is sourced.
type frame struct {
	name   string // of the function, or "source"
	source string // the file that its commands are in
	line   int    // where it was called
}

// source is the file that the running commands are in, "" for none.
func (s *shell) source() string {
	if n := len(s.frames); n > 0 {
		return s.frames[n-1].source
	}
	return s.script
}

// callStack are the values of $FUNCNAME, $BASH_SOURCE and $BASH_LINENO, the
// innermost first.
func (s *shell) callStack() (names, sources, lines []string) {
	for _, f := range slices.Backward(s.frames) {
		names, sources, lines = append(names, f.name), append(sources, f.source), append(lines, strconv.Itoa(f.line))
	}
	if s.script != "" {
		names, sources, lines = append(names, "main"), append(sources, s.script), append(lines, "0")
	}
	return names, sources, lines
}

// subshell makes a shell that starts as s is and changes nothing of it. End it
// with end.
func (s *shell) subshell(ctx context.Context) *shell {
	out := &shell{
		m: s.m, ctx: ctx, turn: fair.TurnOf(ctx), pid: int(s.m.pids.Add(1)), root: s.root, name: s.name, params: s.params, dir: s.dir,
		fds: make(map[int]*descriptor, len(s.fds)), scope: s.scope.share(), funcs: maps.Clone(s.funcs), aliases: maps.Clone(s.aliases),
		options: s.options, dirStack: slices.Clone(s.dirStack), lastJob: s.lastJob,
		status: s.status, pipeStatus: s.pipeStatus, line: s.line, running: s.running, lastArg: s.lastArg,
		depth: s.depth, subshells: s.subshells + 1, nesting: s.nesting, loops: s.loops, calls: slices.Clone(s.calls), frames: slices.Clone(s.frames), script: s.script, sourced: s.sourced, unchecked: s.unchecked,
		optIndex: s.optIndex, optOffset: s.optOffset, commandString: s.commandString,
		random: rand.New(rand.NewPCG(s.random.Uint64(), s.random.Uint64())),
	}
	// Ignored signals stay ignored; other traps are not inherited.
	for name, action := range s.traps {
		if action == "" {
			out.setTrap(name, action)
		}
	}
	for n, d := range s.fds {
		out.fds[n] = d.keep()
	}
	return out
}

// end lets go of what the shell holds.
func (s *shell) end() {
	for n, d := range s.fds {
		d.release()
		delete(s.fds, n)
	}
	s.m.memory.Free(s.held + s.taken)
	s.held, s.taken, s.spent = 0, 0, 0
}

// check unwinds when the script is to end.
func (s *shell) check() {
	s.turn.Take(s.ctx)
	if s.ctx.Err() != nil {
		panic(stopped{})
	}
}

// errorf says what is wrong, as bash has it.
func (s *shell) errorf(format string, args ...any) {
	s.say(fmt.Sprintf("%s: line %d: %s\n", s.name, max(1, s.line), fmt.Sprintf(format, args...)))
}

// unbound ends the shell because a parameter has no value.
func (s *shell) unbound(format string, args ...any) {
	s.errorf(format, args...)
	code := 1
	if s.commandString && s.subshells == 0 && !s.options.errexit {
		code = 127
	}
	panic(failed{code: code, fatal: true})
}

// fault says what is wrong with an expansion and ends the command.
func (s *shell) fault(format string, args ...any) {
	s.errorf(format, args...)
	panic(failed{code: 1, fatal: true})
}

// options are what set and shopt change.
type options struct {
	errexit, nounset, xtrace, noglob, pipefail, noexec, allexport, noclobber, verbose, errtrace, functrace, monitor, hashall, braceexpand, physical, posix bool
	patsubReplacement                                                                                                                                      bool
	nullglob, failglob, dotglob, globstar, nocaseglob, nocasematch, extglob, lastpipe, expandAliases, inheritErrexit, sourcepath, xpgEcho                  bool
}

// setOptions are those of set -o, with their letters.
var setOptions = []struct {
	letter byte
	name   string
	field  func(*options) *bool
}{
	{'a', "allexport", func(o *options) *bool { return &o.allexport }},
	{'B', "braceexpand", func(o *options) *bool { return &o.braceexpand }},
	{'e', "errexit", func(o *options) *bool { return &o.errexit }},
	{'E', "errtrace", func(o *options) *bool { return &o.errtrace }},
	{'T', "functrace", func(o *options) *bool { return &o.functrace }},
	{'h', "hashall", func(o *options) *bool { return &o.hashall }},
	{'m', "monitor", func(o *options) *bool { return &o.monitor }},
	{'C', "noclobber", func(o *options) *bool { return &o.noclobber }},
	{'n', "noexec", func(o *options) *bool { return &o.noexec }},
	{'f', "noglob", func(o *options) *bool { return &o.noglob }},
	{'u', "nounset", func(o *options) *bool { return &o.nounset }},
	{'P', "physical", func(o *options) *bool { return &o.physical }},
	{0, "pipefail", func(o *options) *bool { return &o.pipefail }},
	{0, "posix", func(o *options) *bool { return &o.posix }},
	{'v', "verbose", func(o *options) *bool { return &o.verbose }},
	{'x', "xtrace", func(o *options) *bool { return &o.xtrace }},
}

// shoptOptions are those of shopt.
var shoptOptions = []struct {
	name  string
	field func(*options) *bool
}{
	{"dotglob", func(o *options) *bool { return &o.dotglob }},
	{"expand_aliases", func(o *options) *bool { return &o.expandAliases }},
	{"extglob", func(o *options) *bool { return &o.extglob }},
	{"failglob", func(o *options) *bool { return &o.failglob }},
	{"globstar", func(o *options) *bool { return &o.globstar }},
	{"inherit_errexit", func(o *options) *bool { return &o.inheritErrexit }},
	{"lastpipe", func(o *options) *bool { return &o.lastpipe }},
	{"nocaseglob", func(o *options) *bool { return &o.nocaseglob }},
	{"nocasematch", func(o *options) *bool { return &o.nocasematch }},
	{"nullglob", func(o *options) *bool { return &o.nullglob }},
	{"patsub_replacement", func(o *options) *bool { return &o.patsubReplacement }},
	{"sourcepath", func(o *options) *bool { return &o.sourcepath }},
	{"xpg_echo", func(o *options) *bool { return &o.xpgEcho }},
}

// letters are the options that are on, as $- has them.
func (o *options) letters() string {
	var out []byte
	for _, opt := range setOptions {
		if opt.letter != 0 && *opt.field(o) {
			out = append(out, opt.letter)
		}
	}
	slices.SortFunc(out, func(a, b byte) int { return int(a^0x20) - int(b^0x20) }) // small letters first
	return string(out) + "c"
}

// names are the options that are on, as $SHELLOPTS has them.
func (o *options) names() string {
	var out []string
	for _, opt := range setOptions {
		if *opt.field(o) {
			out = append(out, opt.name)
		}
	}
	return strings.Join(out, ":")
}
