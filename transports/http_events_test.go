package transports

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// rest returns the data after the event with this id.
func rest(t *testing.T, s *sessionEvents, id string) string {
	t.Helper()
	st, n, err := s.resume(id)
	if errors.Is(err, errUnknownEvent) {
		return "unknown"
	}
	if err != nil {
		t.Fatal(err)
	}
	events, _, _ := st.since(n, st.takeOver())
	var out []string
	for _, e := range events {
		out = append(out, string(e.data))
	}
	return strings.Join(out, " ")
}

func TestEventsAreKeptWithinBounds(t *testing.T) {
	unlimited := int64(1 << 40)
	one := int64(eventOverhead + 1)
	for name, c := range map[string]struct {
		limits storeLimits
		want   [3]string // after the first, second and third of five events in each of two streams of two sessions
	}{
		"all":         {storeLimits{unlimited, unlimited, unlimited, unlimited, time.Hour}, [3]string{"1 2 3 4", "2 3 4", "3 4"}},
		"per stream":  {storeLimits{3 * one, unlimited, unlimited, unlimited, time.Hour}, [3]string{"unknown", "2 3 4", "3 4"}},
		"per session": {storeLimits{unlimited, 6 * one, unlimited, unlimited, time.Hour}, [3]string{"unknown", "2 3 4", "3 4"}},
		"principal":   {storeLimits{unlimited, unlimited, 12 * one, unlimited, time.Hour}, [3]string{"unknown", "2 3 4", "3 4"}},
		"of all":      {storeLimits{unlimited, unlimited, unlimited, 12 * one, time.Hour}, [3]string{"unknown", "2 3 4", "3 4"}},
	} {
		t.Run(name, func(t *testing.T) {
			store := newEventStore(c.limits)
			sessions := []*sessionEvents{store.session("alice"), store.session("alice")}
			var streams []*eventStream
			for _, s := range sessions {
				streams = append(streams, s.open(), s.open())
			}
			for i := range 5 {
				for _, st := range streams {
					st.add([]byte{byte('0' + i)})
				}
			}
			for i, want := range c.want {
				for _, s := range sessions {
					for stream := 1; stream <= 2; stream++ {
						if got := rest(t, s, fmt.Sprintf("%d-%d", stream, i)); got != want {
							t.Errorf("after %d of stream %d: %q, not %q", i, stream, got, want)
						}
					}
				}
			}
			sessions[0].purge()
			if got := rest(t, sessions[0], "1-4"); got != "unknown" {
				t.Errorf("purged: %q", got)
			}
			streams[0].add([]byte("late"))
			for _, st := range streams {
				st.end()
			}
			sessions[1].purge()
			if len(store.by) != 0 || store.bytes != 0 || store.order.Len() != 0 || sessions[0].order.Len() != 0 || len(sessions[1].streams) != 0 {
				t.Errorf("left: %d bytes in %d events", store.bytes, store.order.Len())
			}
		})
	}
}

func TestOnePrincipalsEventsLeaveThoseOfOthers(t *testing.T) {
	one := int64(eventOverhead + 1)
	store := newEventStore(storeLimits{1 << 40, 1 << 40, 4 * one, 8 * one, time.Hour})
	alice, bob := store.session("alice"), store.session("bob")
	mine := alice.open()
	first, _ := mine.add([]byte("1"))
	mine.add([]byte("2"))
	flood := bob.open()
	for range 100 {
		flood.add([]byte("x"))
	}
	if got := rest(t, alice, first); got != "2" {
		t.Errorf("after another principal's flood: %q", got)
	}
}

func TestEventsGrowOld(t *testing.T) {
	store := newEventStore(storeLimits{1 << 20, 1 << 20, 1 << 20, 1 << 20, 30 * time.Millisecond})
	s := store.session("alice")
	st := s.open()
	id, _ := st.add([]byte("a"))
	last, _ := st.add([]byte("b"))
	ended := s.open()
	gone, _ := ended.add([]byte("c"))
	ended.end()
	eventually(t, "they are kept", func() bool {
		store.mu.Lock()
		defer store.mu.Unlock()
		return store.order.Len() == 0 && len(s.streams) == 1
	})
	if got := rest(t, s, id); got != "unknown" {
		t.Errorf("%q although b is gone", got)
	}
	if got := rest(t, s, last); got != "" {
		t.Errorf("%q although nothing is missing", got)
	}
	if got := rest(t, s, gone); got != "unknown" {
		t.Errorf("%q of a stream that is over", got)
	}
}
