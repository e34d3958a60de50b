package transports

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// call is one request or notification from its arrival to its end.
type call struct {
	raw    []byte
	id     []byte // raw JSON; nil of a notification
	key    string // see idKey
	method string
	size   int64
	origin origin
	sends  int64 // session.sends when it began

	ctx    context.Context
	cancel context.CancelCauseFunc
	view   requestSession
	pass   gatePass

	// Guarded by callTable.mu.
	state     callState
	cancelled bool // by the client, which expects no answer
	waits     int  // requests to the client that it waits for
	finished  bool
}

type callState uint8

const (
	callQueued callState = iota
	callRunning
	callAside // running, but neither counted nor ordered
)

// barrier tells whether later calls wait for this one, so that what it sets
// up is there for them.
func (c *call) barrier() bool {
	return c.method == string(mcp.MethodInitialize) || c.method == "notifications/initialized"
}

// endless tells whether this call answers when it is cancelled and not before.
func (c *call) endless() bool { return c.method == string(mcp.MethodSubscriptionsListen) }

// callTable decides when a call runs. Calls start in the order they arrived,
// limit of them run at once (one, in order), and those that wait for the
// client's own answer do not count, so that approvals nobody looks at stop
// nothing else.
type callTable struct {
	inOrder  bool
	limit    int   // calls running at once
	maxBytes int64 // of messages held before the reader waits

	mu      sync.Mutex
	queue   []*call
	byID    map[string]*call // requests that have not been answered
	running int
	barrier bool          // the call that runs is one, so nothing starts
	bytes   int64         // held by calls that are queued or running
	charge  func(n int64) // is told of each change of bytes; may be nil
	asking  int           // requests to the client that are open
	owed    int           // calls that have not ended, without cancelled ones
	live    int           // calls that have a goroutine
	closed  bool
	room    sync.Cond     // bytes or asking changed, or closed
	ended   chan struct{} // capacity 1: a call has ended
}

func newCallTable(inOrder bool, limit int, maxBytes int64) *callTable {
	t := &callTable{inOrder: inOrder, limit: limit, maxBytes: maxBytes,
		byID: map[string]*call{}, ended: make(chan struct{}, 1)}
	t.room.L = &t.mu
	return t
}

// admission is what became of a call that arrived.
type admission uint8

const (
	admitQueued    admission = iota // will be started when its turn comes
	admitRun                        // to be run now, by the caller
	admitDuplicate                  // its id is in use
	admitBusy                       // too much is held, and waiting could be for ever
	admitClosed                     // the connection is ending
)

// admit takes in a call, waiting for room while too much is held.
func (t *callTable) admit(c *call) admission {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.closed && t.bytes > 0 && t.bytes+c.size > t.maxBytes {
		if t.asking > 0 {
			// The answer that would make room is behind this message.
			return admitBusy
		}
		t.room.Wait()
	}
	if t.closed {
		return admitClosed
	}
	if c.id != nil {
		if t.byID[c.key] != nil {
			return admitDuplicate
		}
		t.byID[c.key] = c
	}
	t.hold(c.size)
	t.owed++
	switch {
	case c.endless(), c.method == string(mcp.MethodPing):
		c.state = callAside
		t.live++
		return admitRun
	case len(t.queue) == 0 && t.free():
		t.start(c)
		return admitRun
	default:
		t.queue = append(t.queue, c)
		return admitQueued
	}
}

func (t *callTable) free() bool {
	return !t.barrier && (t.running == 0 || !t.inOrder && t.running < t.limit)
}

func (t *callTable) start(c *call) {
	c.state = callRunning
	t.running++
	t.live++
	t.barrier = c.barrier()
}

// startable takes from the queue what can run now.
func (t *callTable) startable() []*call {
	var out []*call
	for len(t.queue) > 0 && t.free() {
		c := t.queue[0]
		t.queue[0] = nil
		t.queue = t.queue[1:]
		if c.cancelled {
			continue
		}
		t.start(c)
		out = append(out, c)
	}
	return out
}

// cancelID cancels the request with this id, unless it has been answered, is
// unknown or cannot be cancelled. It tells the call whose answer is now not
// owed any more.
func (t *callTable) cancelID(key string, cause error) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.byID[key]
	if c == nil || c.method == string(mcp.MethodInitialize) {
		return nil
	}
	delete(t.byID, key)
	c.cancelled = true
	t.owed--
	if c.state == callQueued {
		// The queue forgets it in its turn; what it holds is freed now.
		c.raw = nil
		t.hold(-c.size)
		t.room.Broadcast()
	}
	c.cancel(cause)
	t.signal()
	return c
}

// endListening makes the calls that would go on for ever answer.
func (t *callTable) endListening(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.byID {
		if c.endless() {
			c.cancel(cause)
		}
	}
}

// claim tells whether a request's answer is still wanted, after which it
// cannot be cancelled any more.
func (t *callTable) claim(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.cancelled {
		return false
	}
	delete(t.byID, c.key)
	return true
}

// finish ends a call that ran and returns what can run in its place.
func (t *callTable) finish(c *call) []*call {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.finished = true
	t.live--
	if !c.cancelled {
		t.owed--
	}
	if c.barrier() {
		t.barrier = false
	}
	if c.waits == 0 || t.inOrder {
		if c.state == callRunning {
			t.running--
		}
		t.hold(-c.size)
		t.room.Broadcast()
	}
	t.signal()
	if t.closed {
		return nil
	}
	return t.startable()
}

// hold counts bytes of messages. The caller has the lock.
func (t *callTable) hold(n int64) {
	t.bytes += n
	if t.charge != nil {
		t.charge(n)
	}
}

// letGo takes what calls hold that have not ended off the charge, once and for
// all.
func (t *callTable) letGo() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.charge != nil {
		t.charge(-t.bytes)
		t.charge = nil
	}
}

// suspend says that c waits for the client, and returns what can run
// meanwhile. In order, nothing can.
func (t *callTable) suspend(c *call) []*call {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asking++
	t.room.Broadcast()
	if c.finished {
		return nil
	}
	c.waits++
	if c.waits > 1 || t.inOrder {
		return nil
	}
	if c.state == callRunning {
		t.running--
	}
	t.hold(-c.size)
	if t.closed {
		return nil
	}
	return t.startable()
}

// resume is the end of suspend. The call goes on at once, over the limit if
// need be.
func (t *callTable) resume(c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asking--
	if c.finished {
		return
	}
	c.waits--
	if c.waits > 0 || t.inOrder {
		return
	}
	if c.state == callRunning {
		t.running++
	}
	t.hold(c.size)
}

// close makes sure that nothing starts any more.
func (t *callTable) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.room.Broadcast()
}

func (t *callTable) signal() {
	select {
	case t.ended <- struct{}{}:
	default:
	}
}

// counts returns how many calls have an answer owed to them, and how many run.
func (t *callTable) counts() (owed, live int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.owed, t.live
}
