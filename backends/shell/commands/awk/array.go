package awk

import "strings"

// array is an associative array that keeps the order in which elements came.
type array struct {
	index   map[string]int
	entries []entry
	dead    int
}

type entry struct {
	key  string
	val  value
	live bool
}

func newArray() *array { return &array{index: map[string]int{}} }

func (a *array) len() int { return len(a.index) }

func (a *array) has(key string) bool {
	_, ok := a.index[key]
	return ok
}

// get returns the element of key, which is made where it is not there. The
// pointer is good until the next element is made.
func (in *interp) element(a *array, key string) *value {
	i, ok := a.index[key]
	if !ok {
		in.hold(len(key) + elementCost)
		if len(key) < 64 {
			key = string([]byte(key)) // not a piece of a longer text
		} else {
			key = clone(key)
		}
		i = len(a.entries)
		a.entries = append(a.entries, entry{key: key, live: true})
		a.index[key] = i
	}
	return &a.entries[i].val
}

// elementCost is about what an element takes without its texts, in bytes.
const elementCost = 160

func (in *interp) deleteElement(a *array, key string) {
	i, ok := a.index[key]
	if !ok {
		return
	}
	in.forget(&a.entries[i].val)
	in.release(len(key) + elementCost)
	delete(a.index, key)
	a.entries[i] = entry{}
	a.dead++
	if a.dead > 32 && a.dead > len(a.entries)/2 {
		kept := make([]entry, 0, len(a.index))
		for _, e := range a.entries {
			if e.live {
				a.index[e.key] = len(kept)
				kept = append(kept, e)
			}
		}
		a.entries, a.dead = kept, 0
	}
}

func (in *interp) clear(a *array) {
	for i := range a.entries {
		if e := &a.entries[i]; e.live {
			in.forget(&e.val)
			in.release(len(e.key) + elementCost)
		}
	}
	clear(a.index)
	a.entries, a.dead = nil, 0
}

// forget gives back what v holds.
func (in *interp) forget(v *value) {
	if v.arr != nil {
		in.clear(v.arr)
	}
	in.release(len(v.s))
}

// keys are the keys as they are now.
func (a *array) keys() []string {
	out := make([]string, 0, len(a.index))
	for _, e := range a.entries {
		if e.live {
			out = append(out, e.key)
		}
	}
	return out
}

// array returns the array of a cell, which is made where nothing is there.
func (in *interp) array(c *cell, name string) *array {
	if c.arr != nil {
		return c.arr
	}
	if c.v.kind != unset {
		in.fatal("attempt to use scalar `%s' as an array", name)
	}
	if c.ref != nil {
		c.arr = in.array(c.ref, name)
		return c.arr
	}
	c.arr = newArray()
	c.own = true
	return c.arr
}

func (in *interp) cell(v *variable) *cell {
	if v.local {
		return &in.frame[v.index]
	}
	return &in.globals[v.index]
}

// arrayOf is the array that x names.
func (in *interp) arrayOf(x expr) *array {
	switch x := x.(type) {
	case *variable:
		return in.array(in.cell(x), x.name)
	case *indexExpr:
		base := in.arrayOf(x.base)
		e := in.element(base, in.key(x.keys))
		if e.arr == nil {
			if e.kind != unset {
				in.fatal("attempt to use a scalar value as an array")
			}
			in.hold(elementCost)
			e.arr = newArray()
		}
		return e.arr
	case *group:
		if len(x.list) == 1 {
			return in.arrayOf(x.list[0])
		}
	}
	in.fatal("attempt to use a scalar value as an array")
	return nil
}

// key joins subscripts.
func (in *interp) key(keys []expr) string {
	if len(keys) == 1 {
		return in.keyText(in.eval(keys[0]))
	}
	var b strings.Builder
	for i, k := range keys {
		if i > 0 {
			b.WriteString(in.subsep)
		}
		b.WriteString(in.keyText(in.eval(k)))
		in.passing(b.Len())
	}
	return b.String()
}

func (in *interp) keyText(v value) string { return v.str(in.convfmt) }
