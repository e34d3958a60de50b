package server

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// load is calls by several clients at once, each of which writes one file and
// says so, until it is told to stop.
type load struct {
	mu    sync.Mutex
	acked map[string]bool // paths
	lost  []lostCall
	wrong []string

	count atomic.Int64 // acknowledged
	over  chan struct{}
	all   sync.WaitGroup
}

// lostCall had no answer.
type lostCall struct {
	began time.Time
	why   string
}

func (l *load) run(t *testing.T, c caller, clients int) {
	l.acked, l.over = map[string]bool{}, make(chan struct{})
	for n := range clients {
		l.all.Go(func() {
			for i := 0; until(t.Context(), l.over); i++ {
				path := fmt.Sprintf("load/%d-%d.txt", n, i)
				call, a := "write_file", args{"path": path, "content": path + "\n"}
				if i%3 == 2 { // a third of them by commands, which take longer
					call, a = "execute", args{"command": "mkdir -p load && echo " + path + " > " + path + " && echo done"}
				}
				began := time.Now()
				got, err := c.try(t.Context(), call, a)
				l.note(path, began, got, err)
			}
		})
	}
}

func (l *load) note(path string, began time.Time, got answer, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case got.header.Get(brokenHeader) != "":
		l.lost = append(l.lost, lostCall{began, got.header.Get(brokenHeader)})
	case err != nil && got.status == 0:
		l.lost = append(l.lost, lostCall{began, err.Error()})
	case err != nil || got.failed || got.code != "":
		l.wrong = append(l.wrong, fmt.Sprintf("%s: %v %v", path, got, err))
	default:
		l.acked[path] = true
		l.count.Add(1)
	}
}

func (l *load) end() {
	close(l.over)
	l.all.Wait()
}

func TestAKilledReplicaLosesOnlyItsCallsInFlight(t *testing.T) {
	t.Parallel()
	onBackends(t, func(t *testing.T, s shared) {
		const clients, before, after = 6, 60, 120
		first, second := start(t, s.options), start(t, s.options)
		root, b := balance(t, first, second)
		alice := callerOf(root, s.alice)
		var l load
		l.run(t, alice, clients)
		within(t, callWithin, "calls have been answered", func() bool { return l.count.Load() >= before })
		second.kill(t)
		gone := time.Now()
		served := b.served[0].Load()
		at := l.count.Load()
		within(t, callWithin, "the other replica goes on", func() bool { return l.count.Load() >= at+after })
		l.end()

		for _, wrong := range l.wrong {
			t.Errorf("answered wrongly: %s", wrong)
		}
		t.Logf("%d answered, %d lost with the replica", len(l.acked), len(l.lost))
		if len(l.lost) > clients {
			t.Errorf("%d calls were lost, but only %d can have been in flight", len(l.lost), clients)
		}
		for _, lost := range l.lost {
			if lost.began.After(gone) {
				t.Errorf("a call that began %v after the end of the replica was lost: %s", lost.began.Sub(gone), lost.why)
				break // the others are alike
			}
		}
		if n := b.served[0].Load() - served; n < after {
			t.Errorf("the other replica has served %d of %d requests", n, after)
		}
		got := alice.must(t, "execute", args{"command": "cat load/*.txt"}).text
		kept := map[string]bool{}
		for line := range strings.Lines(got) {
			kept[strings.TrimSpace(line)] = true
		}
		for path := range l.acked {
			if !kept[path] {
				t.Errorf("%s was acknowledged and is not there", path)
			}
		}
	})
}
