package awk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

// Variables with a meaning; their slots are the first of the globals.
const (
	vNF = iota
	vNR
	vFNR
	vFS
	vOFS
	vORS
	vRS
	vFILENAME
	vSUBSEP
	vRSTART
	vRLENGTH
	vCONVFMT
	vOFMT
	vRT
	vIGNORECASE
	vFPAT
	vFIELDWIDTHS
	vENVIRON
	vARGC
	vARGV
	vPROCINFO
	vERRNO
	specialCount
)

var specials = []string{"NF", "NR", "FNR", "FS", "OFS", "ORS", "RS", "FILENAME", "SUBSEP", "RSTART", "RLENGTH", "CONVFMT", "OFMT", "RT",
	"IGNORECASE", "FPAT", "FIELDWIDTHS", "ENVIRON", "ARGC", "ARGV", "PROCINFO", "ERRNO"}

// cell is a variable: a value, or an array. A parameter that was given a
// variable without a value refers to it, for the function can make it an array.
type cell struct {
	v   value
	arr *array
	ref *cell
	own bool // the array was made by the function that the cell is local to
}

type interp struct {
	cfg     Config
	prog    *program
	globals []cell
	frame   []cell
	depth   int
	line    int // of the statement, for messages
	ticks   int

	used, taken int // memory
	record      string
	stale       bool // $0 is to be made of the fields
	split       bool // the fields are those of the record
	fields      []value
	fieldRoom   int
	fieldsHeld  int // texts of fields that were set
	nr, fnr     float64
	convfmt     string
	ofs, ors    string
	subsep      string
	fs          splitter
	fold        bool
	parsingMode byte // 0: FS, 'p': FPAT, 'w': FIELDWIDTHS

	input   *source
	argAt   int
	opened  bool // a file of the arguments was opened
	sources map[string]*source
	sinks   map[string]*sink
	order   []string // of sinks

	regexps   map[reKey]*posixre.Regexp
	recordsBy recordSep
	random    *rand.Rand
	seed      float64
	exitCode  int
	returned  value
	ending    bool
}

// Run runs a program and returns its exit code; what it printed is flushed. The error is a *SyntaxError, a
// *FatalError, or why the context ended.
func Run(src string, cfg Config) (code int, err error) {
	prog, err := parse(src)
	if err != nil {
		return 1, err
	}
	in := &interp{cfg: cfg, prog: prog, sources: map[string]*source{}, sinks: map[string]*sink{}, regexps: map[reKey]*posixre.Regexp{}}
	in.globals = make([]cell, len(prog.globals))
	in.random = rand.New(rand.NewPCG(0, 0))
	in.recordsBy.in = in
	in.hold(len(src) * 20)
	defer func() { cfg.Host.Release(in.taken) }()
	err = in.protect(in.start)
	if err == nil {
		err = in.protect(in.main)
	}
	if errors.Is(err, errExit) {
		err = in.protect(in.end)
	}
	if cerr := in.protect(in.closeAll); err == nil {
		err = cerr
	}
	if ferr := in.protect(in.flush); err == nil {
		err = ferr
	}
	if err != nil {
		return 2, err
	}
	return in.exitCode, nil
}

// protect runs do; what unwinds it becomes an error.
func (in *interp) protect(do func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fault)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	do()
	return nil
}

// fatal gives the program up.
func (in *interp) fatal(format string, args ...any) {
	panic(fault{&FatalError{Line: in.line, Text: fmt.Sprintf(format, args...)}})
}

// failed gives the program up because of err.
func (in *interp) failed(err error) {
	if ctx := in.cfg.Host.Context(); ctx.Err() != nil {
		panic(fault{context.Cause(ctx)})
	}
	panic(fault{&FatalError{Line: in.line, Text: in.cfg.Reason(err), err: err}})
}

// start sets the variables up.
func (in *interp) start() {
	set := func(i int, v value) { in.setSpecial(i, v) }
	set(vFS, str(" "))
	set(vOFS, str(" "))
	set(vORS, str("\n"))
	set(vRS, str("\n"))
	set(vSUBSEP, str("\x1c"))
	set(vCONVFMT, str("%.6g"))
	set(vOFMT, str("%.6g"))
	set(vRLENGTH, num(-1))
	in.split = true
	argv := newArray()
	in.globals[vARGV].arr = argv
	for i, arg := range append([]string{in.cfg.Name}, in.cfg.Args...) {
		in.store(in.element(argv, fmt.Sprint(i)), fromInput(arg, false))
	}
	set(vARGC, num(float64(len(in.cfg.Args)+1)))
	env := newArray()
	in.globals[vENVIRON].arr = env
	for _, kv := range in.cfg.Env {
		k, v, _ := strings.Cut(kv, "=")
		in.store(in.element(env, k), fromInput(v, false))
	}
	info := newArray()
	in.globals[vPROCINFO].arr = info
	in.store(in.element(info, "version"), str("5.2.1"))
	in.store(in.element(info, "FS"), str("FS"))
	in.argAt = 1
	if in.cfg.HasFieldSeparator {
		fs := in.cfg.FieldSeparator
		if fs == "t" {
			fs = "\t"
		}
		set(vFS, str(unescape(fs)))
	}
	for i := 0; i+1 < len(in.cfg.Vars); i += 2 {
		in.assignByName(in.cfg.Vars[i], in.cfg.Vars[i+1])
	}
}

// unescape processes the escapes of a value given with -v.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	l := lexer{src: s}
	for l.i < len(s) {
		c := s[l.i]
		l.i++
		if c == '\\' && l.i < len(s) {
			l.escape(&b)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// assignByName sets a variable from outside; one that the program does not use
// is of no effect.
func (in *interp) assignByName(name, text string) {
	i, ok := in.prog.globals[name]
	if !ok {
		return
	}
	v := fromInput(unescape(text), false)
	if i < specialCount {
		in.setSpecial(i, v)
		return
	}
	if in.globals[i].arr != nil {
		in.fatal("cannot use array `%s' as a variable", name)
	}
	in.store(&in.globals[i].v, v)
}

// main runs BEGIN, the rules and END.
func (in *interp) main() {
	for _, b := range in.prog.begin {
		if f := in.guarded(func() flow { return in.stmts(b.list) }); f == flowExit {
			in.end()
			return
		}
	}
	if len(in.prog.rules) == 0 && len(in.prog.end) == 0 && len(in.prog.beginFile) == 0 && len(in.prog.endFile) == 0 {
		return
	}
	for in.nextRecord() {
		f := in.guarded(in.rules)
		if f == flowExit {
			in.end()
			return
		}
		if f == flowNextFile {
			in.skipFile()
		}
	}
	in.end()
}

// end runs END, also after an exit elsewhere.
func (in *interp) end() {
	if in.ending {
		return
	}
	in.ending = true
	for _, b := range in.prog.end {
		if f := in.guarded(func() flow { return in.stmts(b.list) }); f == flowExit {
			return
		}
	}
}

// rules runs all rules on the record.
func (in *interp) rules() flow {
	in.tick()
	for _, r := range in.prog.rules {
		if !in.selected(r) {
			continue
		}
		if r.prints {
			in.cfg.Stdout.WriteString(in.record0())
			in.cfg.Stdout.WriteString(in.ors)
			continue
		}
		switch f := in.stmts(r.body.list); f {
		case flowNext, flowNextFile, flowExit:
			return f
		}
	}
	return goOn
}

func (in *interp) selected(r *rule) bool {
	switch {
	case r.pattern == nil:
		return true
	case r.until == nil:
		return in.truth(r.pattern)
	}
	if !r.active {
		if !in.truth(r.pattern) {
			return false
		}
		r.active = true
	}
	if in.truth(r.until) {
		r.active = false
	}
	return true
}
