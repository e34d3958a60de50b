package transports

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// notes are the notifications of one request, on their way to its response. The
// zero value is ready.
type notes struct {
	once    sync.Once
	queue   chan mcp.JSONRPCNotification
	stop    chan struct{}
	pumped  chan struct{}
	flushed sync.Once
}

// channel takes notifications, which write is then called with, one at a time.
// It is asked for before each notification, of which most requests have none.
func (n *notes) channel(write func(mcp.JSONRPCNotification)) chan<- mcp.JSONRPCNotification {
	n.once.Do(func() {
		n.queue = make(chan mcp.JSONRPCNotification, 256)
		n.stop, n.pumped = make(chan struct{}), make(chan struct{})
		go n.pump(write)
	})
	return n.queue
}

func (n *notes) pump(write func(mcp.JSONRPCNotification)) {
	defer close(n.pumped)
	for {
		select {
		case note := <-n.queue:
			write(note)
		case <-n.stop:
			for {
				select {
				case note := <-n.queue:
					write(note)
				default:
					return
				}
			}
		}
	}
}

// flush writes what has been sent so far. Later notifications are lost.
func (n *notes) flush() {
	n.once.Do(func() {
		// A handler that goes on after its answer finds a channel all the same.
		n.queue = make(chan mcp.JSONRPCNotification, 1)
	})
	n.flushed.Do(func() {
		if n.stop != nil {
			close(n.stop)
			<-n.pumped
		}
	})
}
