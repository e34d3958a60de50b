package transports

import (
	"bytes"
	"container/list"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"
)

// eventLimits are what is kept of events, so that a client whose connection
// broke can ask for them again.
var eventLimits = storeLimits{stream: 4 << 20, session: 8 << 20, principal: 32 << 20, all: 256 << 20, age: 5 * time.Minute}

// storeLimits are bytes, and how long an event is kept.
type storeLimits struct {
	stream, session, principal, all int64
	age                             time.Duration
}

// eventOverhead is what an event costs beside its data, in bytes.
const eventOverhead = 256

// eventStore holds the events of all sessions. When there are too many, the
// oldest go first, of the stream, the session, the principal or all.
type eventStore struct {
	limits storeLimits

	mu    sync.Mutex
	by    map[string]*principalEvents
	order list.List // of *event, oldest first
	bytes int64
	timer *time.Timer // for the oldest event's age; nil while there is none
}

func newEventStore(limits storeLimits) *eventStore {
	return &eventStore{limits: limits, by: map[string]*principalEvents{}}
}

// principalEvents are those of one principal's sessions.
type principalEvents struct {
	name     string
	sessions int
	order    list.List // of *event, oldest first
	bytes    int64
}

// event is one message that was, or was to be, written.
type event struct {
	stream *eventStream
	n      int64
	data   []byte
	at     time.Time

	inAll, inItsSession, inItsPrincipal *list.Element
}

func (e *event) size() int64 { return int64(len(e.data)) + eventOverhead }

// sessionEvents are the streams of one session. Its fields, and those of the
// streams, are guarded by the store's mu.
type sessionEvents struct {
	store   *eventStore
	owner   *principalEvents
	order   list.List // of *event, oldest first
	bytes   int64
	last    int64 // stream number
	streams map[int64]*eventStream
	purged  bool
}

// session begins to keep events for a session, until it is purged.
func (s *eventStore) session(principal string) *sessionEvents {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := s.by[principal]
	if owner == nil {
		owner = &principalEvents{name: principal}
		s.by[principal] = owner
	}
	owner.sessions++
	return &sessionEvents{store: s, owner: owner}
}

// eventStream is a sequence of events, from number 0 on.
type eventStream struct {
	of      *sessionEvents
	number  int64
	kept    []*event // next-len(kept) to next-1
	next    int64
	bytes   int64
	ended   bool
	reader  int64         // counts who resumed it: only the newest goes on
	changed chan struct{} // closed, and replaced, when something changes
}

// open begins a stream.
func (s *sessionEvents) open() *eventStream {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.last++
	st := &eventStream{of: s, number: s.last, changed: make(chan struct{})}
	if s.purged {
		return st
	}
	if s.streams == nil {
		s.streams = map[int64]*eventStream{}
	}
	s.streams[st.number] = st
	return st
}

// add keeps data as the stream's next event and returns its id and number. No
// data is an event that only gives the client an id to resume from.
func (st *eventStream) add(data []byte) (id string, n int64) {
	s := st.of.store
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &event{stream: st, n: st.next, data: bytes.Clone(data), at: time.Now()}
	st.next++
	if st.of.purged {
		return eventID(st.number, e.n), e.n
	}
	st.kept = append(st.kept, e)
	owner := st.of.owner
	e.inAll, e.inItsSession, e.inItsPrincipal = s.order.PushBack(e), st.of.order.PushBack(e), owner.order.PushBack(e)
	s.count(e, e.size())
	for st.bytes > s.limits.stream {
		s.drop(st.kept[0])
	}
	for st.of.bytes > s.limits.session {
		s.drop(st.of.order.Front().Value.(*event))
	}
	for owner.bytes > s.limits.principal {
		s.drop(owner.order.Front().Value.(*event))
	}
	for s.bytes > s.limits.all {
		s.drop(s.order.Front().Value.(*event))
	}
	s.expire()
	st.signal()
	return eventID(st.number, e.n), e.n
}

func eventID(stream, n int64) string {
	return strconv.FormatInt(stream, 10) + "-" + strconv.FormatInt(n, 10)
}

func (s *eventStore) count(e *event, size int64) {
	s.bytes += size
	e.stream.of.bytes += size
	e.stream.of.owner.bytes += size
	e.stream.bytes += size
}

// drop forgets an event, which is its stream's oldest.
func (s *eventStore) drop(e *event) {
	st := e.stream
	st.kept[0] = nil
	st.kept = st.kept[1:]
	s.order.Remove(e.inAll)
	st.of.order.Remove(e.inItsSession)
	st.of.owner.order.Remove(e.inItsPrincipal)
	s.count(e, -e.size())
	st.forget()
}

// forget removes a stream that has nothing to give any more.
func (st *eventStream) forget() {
	if st.ended && len(st.kept) == 0 {
		delete(st.of.streams, st.number)
	}
}

// expire drops what is too old, and sees to it that this happens again.
func (s *eventStore) expire() {
	for front := s.order.Front(); front != nil; front = s.order.Front() {
		e := front.Value.(*event)
		if left := s.limits.age - time.Since(e.at); left > 0 {
			if s.timer == nil {
				s.timer = time.AfterFunc(left, func() {
					s.mu.Lock()
					defer s.mu.Unlock()
					s.timer = nil
					s.expire()
				})
			}
			return
		}
		s.drop(e)
	}
}

func (st *eventStream) signal() {
	close(st.changed)
	st.changed = make(chan struct{})
}

// end says that nothing will be added to the stream.
func (st *eventStream) end() {
	s := st.of.store
	s.mu.Lock()
	defer s.mu.Unlock()
	st.ended = true
	st.signal()
	st.forget()
}

// count returns the number of the next event.
func (st *eventStream) count() int64 {
	st.of.store.mu.Lock()
	defer st.of.store.mu.Unlock()
	return st.next
}

var errUnknownEvent = errors.New("the event id is not known, or what came after it is not kept any more")

// resume finds the stream that the event with this id is of, and the number of
// the event after it. It fails when that one has been dropped.
func (s *sessionEvents) resume(id string) (*eventStream, int64, error) {
	left, right, ok := strings.Cut(id, "-")
	number, err1 := strconv.ParseInt(left, 10, 64)
	n, err2 := strconv.ParseInt(right, 10, 64)
	if !ok || err1 != nil || err2 != nil || eventID(number, n) != id {
		return nil, 0, errUnknownEvent
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	st := s.streams[number]
	if st == nil || n < 0 || n >= st.next || n+1 < st.next-int64(len(st.kept)) {
		return nil, 0, errUnknownEvent
	}
	return st, n + 1, nil
}

// takeOver makes the caller the one who reads the stream.
func (st *eventStream) takeOver() (reader int64) {
	st.of.store.mu.Lock()
	defer st.of.store.mu.Unlock()
	st.reader++
	st.signal()
	return st.reader
}

// since returns the events from number n on that are kept, whether that is all
// there will ever be for this reader, and what is closed when there is more.
func (st *eventStream) since(n, reader int64) (events []*event, over bool, changed <-chan struct{}) {
	st.of.store.mu.Lock()
	defer st.of.store.mu.Unlock()
	if reader != st.reader {
		return nil, true, st.changed
	}
	if missing := st.next - n; missing > 0 {
		events = append(events, st.kept[max(0, int64(len(st.kept))-missing):]...)
	}
	return events, st.ended, st.changed
}

// purge forgets the session's events.
func (s *sessionEvents) purge() {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	for front := s.order.Front(); front != nil; front = s.order.Front() {
		s.store.drop(front.Value.(*event))
	}
	for _, st := range s.streams {
		st.ended = true
		st.signal()
	}
	s.streams = nil
	if !s.purged {
		s.purged = true
		if s.owner.sessions--; s.owner.sessions == 0 {
			delete(s.store.by, s.owner.name)
		}
	}
}
