package runtimes

import (
	"slices"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/internal/suggest"
)

// A Set is the runtimes that can be named, sorted by name.
type Set []*Runtime

// Names are the names of the runtimes, sorted.
func (s Set) Names() []string {
	names := make([]string, len(s))
	for i, r := range s {
		names[i] = r.Name
	}
	return names
}

// Lookup returns the runtime of a name. The error of an unknown one has
// CodeInvalidArgument and names those that there are.
func (s Set) Lookup(name string) (*Runtime, error) {
	for _, r := range s {
		if r.Name == name {
			return r, nil
		}
	}
	return nil, backends.Errorf(backends.CodeInvalidArgument, "runtime", "", "there is no runtime %q%s; the runtimes are %s",
		name, suggest.DidYouMean(name, s.Names()), strings.Join(s.Names(), ", "))
}

// with is the set with more runtimes, which replace those of the same name.
func (s Set) with(more ...*Runtime) Set {
	out := slices.Clone(s)
	for _, r := range more {
		if i := slices.IndexFunc(out, func(old *Runtime) bool { return old.Name == r.Name }); i >= 0 {
			out[i] = r
		} else {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *Runtime) int { return strings.Compare(a.Name, b.Name) })
	return out
}
