package fsops

import (
	"container/heap"
	"slices"
	"strings"
	"sync"
)

// walkFirst keeps the first results of a search in the byte order of their
// paths, as many as are asked for, while they come in any order. It is safe
// for concurrent use.
type walkFirst[T any] struct {
	limit int // weight to keep; 0 is no limit

	mu    sync.Mutex
	heap  walkHeap[T]
	total int // weight of what is kept
}

type walkResult[T any] struct {
	path   string
	weight int // what it takes of the limit
	value  T
}

// wants tells whether a result with this path could still be among the first.
func (f *walkFirst[T]) wants(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limit == 0 || f.total < f.limit || path < f.heap[0].path
}

// add keeps a result, as long as it is among the first.
func (f *walkFirst[T]) add(r walkResult[T]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.limit == 0 {
		f.heap = append(f.heap, r)
		return
	}
	heap.Push(&f.heap, r)
	f.total += r.weight
	for f.total-f.heap[0].weight >= f.limit {
		f.total -= heap.Pop(&f.heap).(walkResult[T]).weight
	}
}

// sorted returns what was kept, in order. Together it has at least the weight
// asked for when there is that much, and without the last result less.
func (f *walkFirst[T]) sorted() []walkResult[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.SortFunc(f.heap, func(a, b walkResult[T]) int { return strings.Compare(a.path, b.path) })
	return f.heap
}

// walkHeap has the last path on top.
type walkHeap[T any] []walkResult[T]

func (h walkHeap[T]) Len() int           { return len(h) }
func (h walkHeap[T]) Less(i, j int) bool { return h[i].path > h[j].path }
func (h walkHeap[T]) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *walkHeap[T]) Push(x any)        { *h = append(*h, x.(walkResult[T])) }
func (h *walkHeap[T]) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = walkResult[T]{}
	*h = (*h)[:last]
	return x
}
