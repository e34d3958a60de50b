package commands

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// jqOrder knows in which order the keys of objects came. Objects are maps in the
// interpreter, which forget it. An object that was read keeps its order; one
// that has the keys of an object in the query has the order written there; of
// others, keys come in the order in which they were met first.
type jqOrder struct {
	read  map[uintptr][]string // by the map
	sets  map[string][]string  // by the sorted keys, of objects written in the query
	alike map[string][]string  // by the keys as read: shared between objects
	rank  map[string]int       // of keys that were read
	later map[string]int       // of keys that the query made
}

func newJqOrder() *jqOrder {
	return &jqOrder{map[uintptr][]string{}, map[string][]string{}, map[string][]string{}, map[string]int{}, map[string]int{}}
}

// maxNoted is how many keys are remembered; beyond it they are sorted.
const maxNoted = 1 << 17

// met notes a key that was read, note one that the query has or makes.
func (o *jqOrder) met(key string) { noteKey(o.rank, key) }

func (o *jqOrder) note(key string) { noteKey(o.later, key) }

func noteKey(rank map[string]int, key string) {
	if _, ok := rank[key]; !ok && len(rank) < maxNoted {
		rank[key] = len(rank)
	}
}

// place is where a key comes among others.
func (o *jqOrder) place(key string) int {
	if n, ok := o.rank[key]; ok {
		return n
	}
	if n, ok := o.later[key]; ok {
		return maxNoted + n
	}
	return 2 * maxNoted
}

func jqSet(keys []string) string {
	sorted := slices.Sorted(slices.Values(keys))
	return strings.Join(sorted, "\x00")
}

func (o *jqOrder) written(keys []string) {
	if set := jqSet(keys); o.sets[set] == nil {
		o.sets[set] = slices.Clone(keys)
	}
}

// came records the order of an object that was read.
func (o *jqOrder) came(m map[string]any, keys []string) {
	if len(keys) < 2 || len(o.read) >= 1<<20 {
		return
	}
	joined := strings.Join(keys, "\x00")
	shared := o.alike[joined]
	if shared == nil {
		shared = slices.Clone(keys)
		if len(o.alike) < maxNoted {
			o.alike[joined] = shared
		}
	}
	o.read[reflect.ValueOf(m).Pointer()] = shared
}

// forget drops what is known of the objects of a document that is done with.
func (o *jqOrder) forget() {
	clear(o.read)
	if len(o.alike) > 1024 {
		clear(o.alike)
	}
}

func (o *jqOrder) keys(m map[string]any) []string {
	fits := func(keys []string) bool {
		if len(keys) != len(m) {
			return false
		}
		for _, k := range keys {
			if _, ok := m[k]; !ok {
				return false
			}
		}
		return true
	}
	if keys := o.read[reflect.ValueOf(m).Pointer()]; keys != nil && fits(keys) {
		return keys
	}
	keys := slices.Sorted(maps.Keys(m))
	if len(o.sets) > 0 {
		if written := o.sets[strings.Join(keys, "\x00")]; written != nil {
			return written
		}
	}
	slices.SortStableFunc(keys, func(a, b string) int { return o.place(a) - o.place(b) })
	return keys
}
