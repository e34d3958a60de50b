package shell

import (
	"maps"
	"slices"
	"sort"
	"strconv"
	"time"
)

// variable is a shell variable. Its array and its map never change once they
// are shared with a subshell.
type variable struct {
	value string
	list  *array            // of an indexed array
	table map[string]string // of an associative array
	// order of the keys of table is that of bash only by chance: ours is sorted.
	kind     kind
	set      bool
	exported bool
	readOnly bool
	integer  bool
	lower    bool
	upper    bool
	shared   bool // list and table belong to another shell, too
	cost     int64
}

type kind uint8

const (
	scalar kind = iota
	indexed
	associative
	reference // declare -n
)

func (a *array) find(i int) (int, bool) {
	if a == nil {
		return 0, false
	}
	if a.indexes == nil {
		return min(max(i, 0), len(a.values)), i >= 0 && i < len(a.values)
	}
	return slices.BinarySearch(a.indexes, i)
}

func (a *array) get(i int) (string, bool) {
	if at, ok := a.find(i); ok {
		return a.values[at], true
	}
	return "", false
}

// last is the highest index, or -1.
func (a *array) last() int {
	switch {
	case a == nil || len(a.values) == 0:
		return -1
	case a.indexes == nil:
		return len(a.values) - 1
	}
	return a.indexes[len(a.indexes)-1]
}

func (a *array) put(i int, v string) {
	at, ok := a.find(i)
	switch {
	case ok:
		a.values[at] = v
		return
	case a.indexes == nil && i == len(a.values):
		a.values = append(a.values, v)
		return
	case a.indexes == nil:
		a.indexes = make([]int, len(a.values))
		for k := range a.indexes {
			a.indexes[k] = k
		}
		at = sort.SearchInts(a.indexes, i)
	}
	a.values = slices.Insert(a.values, at, v)
	a.indexes = slices.Insert(a.indexes, at, i)
}

func (a *array) remove(i int) {
	at, ok := a.find(i)
	if !ok {
		return
	}
	if a.indexes == nil {
		if at == len(a.values)-1 {
			a.values = a.values[:at]
			return
		}
		a.indexes = make([]int, len(a.values))
		for k := range a.indexes {
			a.indexes[k] = k
		}
	}
	a.values = slices.Delete(a.values, at, at+1)
	a.indexes = slices.Delete(a.indexes, at, at+1)
}

func (a *array) keys() []string {
	if a == nil {
		return nil
	}
	out := make([]string, len(a.values))
	for i := range out {
		k := i
		if a.indexes != nil {
			k = a.indexes[i]
		}
		out[i] = strconv.Itoa(k)
	}
	return out
}

func (a *array) clone() *array {
	if a == nil {
		return &array{}
	}
	return &array{slices.Clone(a.values), slices.Clone(a.indexes)}
}

// own makes the array or map of v one that can be changed.
func (v *variable) own() {
	switch {
	case v.kind == indexed && (v.shared || v.list == nil):
		v.list = v.list.clone()
	case v.kind == associative && v.shared:
		v.table = maps.Clone(v.table)
	}
	if v.kind == associative && v.table == nil {
		v.table = map[string]string{}
	}
	v.shared = false
}

// str is the value of v as a plain string, and whether it has one.
func (v *variable) str() (string, bool) {
	switch {
	case v == nil || !v.set:
		return "", false
	case v.kind == indexed:
		return v.list.get(0)
	case v.kind == associative:
		s, ok := v.table["0"]
		return s, ok
	}
	return v.value, true
}

// values are all elements, in the order of their keys.
func (v *variable) values() []string {
	switch {
	case v == nil || !v.set:
		return nil
	case v.kind == indexed:
		if v.list == nil {
			return nil
		}
		return v.list.values
	case v.kind == associative:
		out := make([]string, 0, len(v.table))
		for _, k := range v.keys() {
			out = append(out, v.table[k])
		}
		return out
	}
	return []string{v.value}
}

func (v *variable) keys() []string {
	switch {
	case v == nil || !v.set:
		return nil
	case v.kind == indexed:
		return v.list.keys()
	case v.kind == associative:
		return slices.Sorted(maps.Keys(v.table))
	}
	return []string{"0"}
}

// scope holds the variables of the shell, or those local to a function.
type scope struct {
	vars  map[string]*variable
	outer *scope
}

// lookup finds a variable, or nil. References are not followed.
func (s *shell) lookup(name string) *variable {
	for sc := s.scope; sc != nil; sc = sc.outer {
		if v := sc.vars[name]; v != nil {
			return v
		}
	}
	return nil
}

// deref follows references (declare -n) from name, which may come out as
// name[index].
func (s *shell) deref(name string) string {
	for range 16 {
		v := s.lookup(name)
		if v == nil || v.kind != reference || !v.set || v.value == "" {
			return name
		}
		name = v.value
	}
	return name
}

// variable finds what name leads to; dynamic variables are made on the spot.
func (s *shell) variable(name string) *variable {
	if v := s.lookup(name); v != nil {
		if v.kind == reference {
			name = s.deref(name)
			v = s.lookup(name)
		}
		if v != nil {
			if v.kind == reference { // references in a circle lead nowhere
				return nil
			}
			return v
		}
	}
	if value, ok := s.dynamic(name); ok {
		return &variable{value: value, set: true}
	}
	switch name {
	case "PIPESTATUS":
		out := &array{}
		if s.pipeStatus == nil {
			out.values = []string{strconv.Itoa(s.status)}
		}
		for _, code := range s.pipeStatus {
			out.values = append(out.values, strconv.Itoa(code))
		}
		return &variable{kind: indexed, list: out, set: true}
	case "FUNCNAME":
		if names, _, _ := s.callStack(); len(s.frames) > 0 {
			return &variable{kind: indexed, list: &array{values: names}, set: true}
		}
	case "BASH_SOURCE":
		_, sources, _ := s.callStack()
		return &variable{kind: indexed, list: &array{values: sources}, set: true}
	case "BASH_LINENO":
		_, _, lines := s.callStack()
		return &variable{kind: indexed, list: &array{values: lines}, set: true}
	}
	return nil
}

// get is the value of a variable, "" when it is not set.
func (s *shell) get(name string) string {
	v, _ := s.variable(name).str()
	return v
}

// dynamic are variables whose value is made when it is asked for.
func (s *shell) dynamic(name string) (string, bool) {
	switch name {
	case "RANDOM":
		return strconv.Itoa(int(s.random.Uint32() >> 17)), true
	case "SRANDOM":
		return strconv.FormatUint(uint64(s.random.Uint32()), 10), true
	case "SECONDS":
		return strconv.Itoa(int(time.Since(s.m.begun).Seconds())), true
	case "LINENO":
		return strconv.Itoa(max(1, s.line)), true
	case "BASH_COMMAND":
		return s.commandText(), true
	case "BASHPID":
		return strconv.Itoa(s.pid), true
	case "EPOCHSECONDS":
		return strconv.FormatInt(time.Now().Unix(), 10), true
	case "EPOCHREALTIME":
		now := time.Now()
		return strconv.FormatInt(now.Unix(), 10) + "." + strconv.FormatInt(int64(now.Nanosecond())/1000+1_000_000, 10)[1:], true
	case "BASH_SUBSHELL":
		return strconv.Itoa(s.subshells), true
	case "SHELLOPTS":
		return s.options.names(), true
	}
	return "", false
}

// define returns the variable that an assignment to name changes, made where it
// is missing.
func (s *shell) define(name string) *variable {
	if v := s.lookup(name); v != nil {
		return v
	}
	sc := s.scope
	for sc.outer != nil {
		sc = sc.outer
	}
	v := &variable{}
	sc.vars[name] = v
	s.account(v, 64+int64(len(name)))
	return v
}

// account notes that v now costs n bytes.
func (s *shell) account(v *variable, n int64) {
	s.hold(n - v.cost)
	v.cost = n
}

// measure charges what v holds.
func (s *shell) measure(v *variable) {
	n := int64(64 + len(v.value))
	if v.list != nil {
		for _, e := range v.list.values {
			n += int64(len(e)) + 24
		}
	}
	for k, e := range v.table {
		n += int64(len(k)+len(e)) + 64
	}
	s.account(v, n)
}

// unset removes name; a local variable uncovers nothing until its function
// returns.
func (s *shell) unset(name string) {
	for sc := s.scope; sc != nil; sc = sc.outer {
		if v := sc.vars[name]; v != nil {
			s.account(v, 0)
			if sc.outer != nil {
				*v = variable{}
			} else {
				delete(sc.vars, name)
			}
			return
		}
	}
}

// names returns the names of all variables that are set, sorted.
func (s *shell) names() []string {
	seen := map[string]bool{}
	var out []string
	for sc := s.scope; sc != nil; sc = sc.outer {
		for name, v := range sc.vars {
			if !seen[name] && v.set {
				out = append(out, name)
			}
			seen[name] = true
		}
	}
	slices.Sort(out)
	return out
}

// environment is what commands get: exported variables, K=V.
func (s *shell) environment() []string {
	var out []string
	for _, name := range s.names() {
		if v := s.lookup(name); v.exported && v.kind == scalar {
			out = append(out, name+"="+v.value)
		}
	}
	return out
}

// share returns a scope for a subshell, which shares what never changes.
func (sc *scope) share() *scope {
	if sc == nil {
		return nil
	}
	out := &scope{vars: make(map[string]*variable, len(sc.vars)), outer: sc.outer.share()}
	for name, v := range sc.vars {
		v.shared = v.kind == indexed || v.kind == associative
		fresh := *v
		fresh.cost = 0
		out.vars[name] = &fresh
	}
	return out
}
