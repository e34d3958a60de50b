package runtimes

import (
	"context"
	"reflect"
	"sync"
)

// jobs are the pulls and builds that are under way in this process.
var jobs = struct {
	sync.Mutex
	running map[jobKey]*job
}{running: map[jobKey]*job{}}

// jobKey is what is done, by which engine.
type jobKey struct {
	builder any
	kind    string
	ref     string
}

// job is something that is done once for all who ask at the same time.
type job struct {
	done   chan struct{}
	err    error // once done is closed
	cancel context.CancelFunc

	mu      sync.Mutex
	waiting map[*func(string)]bool // who wants to hear of it
}

// tell passes a line on to everybody who waits.
func (j *job) tell(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for progress := range j.waiting {
		if *progress != nil {
			(*progress)(line)
		}
	}
}

// share does work, or joins those for whom it is being done. Who gives up
// leaves it to the others; when the last one does, it is cancelled, and ended
// before share returns.
func share(ctx context.Context, key jobKey, progress func(string), work func(context.Context, func(string)) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !reflect.ValueOf(key.builder).Comparable() {
		key.builder = new(int) // nobody can tell whether it is the same
	}
	me := &progress

	jobs.Lock()
	j := jobs.running[key]
	if j == nil {
		shared, cancel := context.WithCancel(context.WithoutCancel(ctx))
		j = &job{done: make(chan struct{}), cancel: cancel, waiting: map[*func(string)]bool{}}
		jobs.running[key] = j
		go j.run(shared, key, work)
	}
	j.mu.Lock()
	j.waiting[me] = true
	j.mu.Unlock()
	jobs.Unlock()

	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
	}
	jobs.Lock()
	j.mu.Lock()
	delete(j.waiting, me)
	last := len(j.waiting) == 0
	j.mu.Unlock()
	if last {
		j.forget(key)
	}
	jobs.Unlock()
	if last {
		j.cancel()
		<-j.done
	}
	return ctx.Err()
}

func (j *job) run(ctx context.Context, key jobKey, work func(context.Context, func(string)) error) {
	defer close(j.done)
	defer j.cancel()
	j.err = work(ctx, j.tell)
	jobs.Lock()
	j.forget(key)
	jobs.Unlock()
}

// forget makes the next who asks start anew. The caller has locked jobs.
func (j *job) forget(key jobKey) {
	if jobs.running[key] == j {
		delete(jobs.running, key)
	}
}
