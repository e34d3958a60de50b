package permissions

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxAlternatives is how many values of one variable, or working directories,
// are kept apart; beyond it they are unknown.
const maxAlternatives = 64

// state is what the check knows of a shell at one point of a script.
type state struct {
	vars    map[string][]value // what a variable may hold; a hole when unknown
	cwd     []value            // where the shell may be; absolute
	been    []value            // where it was before
	funcs   map[string]*syntax.Stmt
	aliases map[string]string
	args    []field // positional parameters, when argsSet
	argsSet bool
	stdin   stdin           // what exec has redirected
	odd     map[string]bool // variables that do not take every value: readonly, lower case, numbers
	// unsure: what a variable holds cannot be told from what was assigned
	// to its name: there are references to others, or traps that assign.
	unsure bool
	globs  bool // patterns stand for other names than usual
	// tampered: a program's name may mean another program than it does
	// elsewhere, so that rules which allow by name do not count.
	tampered bool
}

// newState is a shell that has just been started.
func (c *checker) newState() *state {
	st := &state{vars: map[string][]value{}, funcs: map[string]*syntax.Stmt{}, aliases: map[string]string{}, odd: map[string]bool{}}
	// A directory that is not known is not the root, as home is not.
	dir := value{{kind: home}, {kind: lit, text: "/workspace"}}
	if c.sh != nil && c.sh.Dir() != "" {
		dir = text(c.sh.Dir())
	}
	st.cwd = []value{dir}
	st.vars["IFS"] = []value{text(" \t\n")}
	st.vars["HOME"] = []value{{{kind: home}}}
	return st
}

func (st *state) clone() *state {
	out := *st
	out.vars, out.funcs, out.aliases, out.odd = maps.Clone(st.vars), maps.Clone(st.funcs), maps.Clone(st.aliases), maps.Clone(st.odd)
	return &out
}

// merge makes st what it is after either it or other.
func (st *state) merge(other *state) {
	for name, values := range other.vars {
		mine, ok := st.vars[name]
		if !ok {
			mine = []value{{{kind: hole}}}
		}
		st.vars[name] = alternatives(mine, values)
	}
	for name := range st.vars {
		if _, ok := other.vars[name]; !ok {
			st.vars[name] = alternatives(st.vars[name], []value{{{kind: hole}}})
		}
	}
	st.cwd = alternatives(st.cwd, other.cwd)
	st.been = alternatives(st.been, other.been)
	maps.Copy(st.funcs, other.funcs)
	maps.Copy(st.aliases, other.aliases)
	maps.Copy(st.odd, other.odd)
	st.tampered = st.tampered || other.tampered
	st.unsure = st.unsure || other.unsure
	st.globs = st.globs || other.globs
	if other.stdin.piped {
		st.stdin = other.stdin
	}
}

// alternatives is the union of a and b, or one hole when that is too much.
func alternatives(a, b []value) []value {
	if len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) {
		return a
	}
	out := slices.Clone(a)
	for _, v := range b {
		if !slices.ContainsFunc(out, func(w value) bool { return slices.Equal(v, w) }) {
			out = append(out, v)
		}
	}
	if len(out) > maxAlternatives {
		return []value{{{kind: hole, made: true}}}
	}
	return out
}

// set assigns a variable, of which one of vs is the value.
func (st *state) set(name string, vs ...value) {
	name, _, element := strings.Cut(name, "[")
	if st.odd[name] || element {
		vs = []value{{{kind: hole, made: true}}}
	}
	st.vars[name] = vs
	st.globs = st.globs || name == "GLOBIGNORE"
	st.tampered = st.tampered || takenFrom[name] || strings.HasPrefix(name, "GIT_CONFIG_") || strings.HasPrefix(name, "BASH_FUNC_")
}

// takenFrom are the variables from which programs take other programs, or
// settings that name some.
var takenFrom = byName(map[string]bool{
	"PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV BASH_CMDS BASH_ALIASES":                    true,
	"HOME XDG_CONFIG_HOME GIT_EXEC_PATH GIT_DIR GIT_COMMON_DIR GIT_WORK_TREE GIT_ALLOW_PROTOCOL GIT_TEMPLATE_DIR":           true,
	"GOFLAGS MAKEFLAGS MAKEFILES NODE_OPTIONS PERL5OPT PERL5LIB PYTHONSTARTUP PYTHONPATH RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS": true,
})

// lookup is the value of a variable: a hole when it has none that is known, or
// several.
func (st *state) lookup(name string) value {
	switch name {
	case "PWD":
		if len(st.cwd) == 1 {
			return st.cwd[0]
		}
		return value{{kind: hole}}
	case "?", "#", "$", "!", "PPID", "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "OPTIND", "EPOCHSECONDS":
		return value{{kind: digits}}
	}
	if n, err := strconv.Atoi(name); err == nil && st.argsSet && n > 0 {
		if n <= len(st.args) {
			return st.args[n-1].value
		}
		return nil
	}
	if vs := st.vars[name]; len(vs) == 1 && !st.unsure {
		return vs[0]
	}
	return value{{kind: hole}}
}

// forget makes the variables that node assigns unknown: it may run any number
// of times.
func (st *state) forget(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil && !n.Naked {
				st.vars[n.Name.Value] = []value{{{kind: hole, made: n.Append || !plainValue(n.Value)}}}
			}
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				return true
			}
			switch n.Args[0].Lit() {
			case "read", "printf", "mapfile", "readarray", "getopts", "unset", "let":
				for _, a := range n.Args[1:] {
					if name := a.Lit(); syntax.ValidName(name) {
						st.vars[name] = []value{{{kind: hole}}}
					}
				}
			case "eval", ".", "source":
				st.unsure = true // it may assign anything
			case "cd", "pushd", "popd":
				st.cwd = alternatives(st.cwd, []value{{{kind: hole}}})
			}
		}
		return true
	})
}

// plainValue tells whether w has no substitution that could compute a text.
func plainValue(w *syntax.Word) bool {
	plain := true
	if w != nil {
		syntax.Walk(w, func(n syntax.Node) bool {
			if _, ok := n.(*syntax.CmdSubst); ok {
				plain = false
			}
			return plain
		})
	}
	return plain
}

// paths are the absolute forms of word v in each directory the shell may be.
func (st *state) paths(v value) []value {
	if v.hasPrefix("/") || len(v) > 0 && (v[0].kind == home || v[0].kind == hole || v[0].kind == word) {
		return []value{cleanPath(v)}
	}
	out := make([]value, 0, len(st.cwd))
	for _, dir := range st.cwd {
		out = append(out, cleanPath(join(dir, text("/"), v)))
	}
	return out
}

// cleanPath is path.Clean for paths with holes. Where ".." follows a hole, what
// is left of it is a hole.
func cleanPath(v value) value {
	if s, ok := v.known(); ok {
		return text(cleanText(s))
	}
	rooted := v.hasPrefix("/")
	var parts []value
	var cur value
	end := func() {
		s, known := cur.known()
		switch {
		case known && (s == "" || s == "."):
		case known && s == "..":
			n := len(parts)
			switch {
			case n == 0:
				if !rooted {
					parts = append(parts, value{{kind: hole}})
				}
			case parts[n-1].has(hole, word, home):
				parts, rooted = []value{{{kind: hole}}}, false
			default:
				parts = parts[:n-1]
			}
		default:
			parts = append(parts, cur)
		}
		cur = nil
	}
	for _, p := range v {
		if p.kind != lit {
			cur.add(p)
			continue
		}
		rest := p.text
		for {
			before, after, more := strings.Cut(rest, "/")
			cur.add(piece{kind: lit, text: before})
			if !more {
				break
			}
			end()
			rest = after
		}
	}
	end()
	if len(parts) == 0 && rooted {
		return text("/")
	}
	var out value
	var literal strings.Builder
	flush := func() {
		out.add(piece{kind: lit, text: literal.String()})
		literal.Reset()
	}
	for i, part := range parts {
		if i > 0 || rooted {
			literal.WriteByte('/')
		}
		for _, p := range part {
			if p.kind == lit {
				literal.WriteString(p.text)
				continue
			}
			flush()
			out.add(p)
		}
	}
	flush()
	return out
}

// cleanText is path.Clean for absolute paths, which leaves others as they are.
func cleanText(s string) string {
	if !strings.HasPrefix(s, "/") {
		return s
	}
	return path.Clean(s)
}
