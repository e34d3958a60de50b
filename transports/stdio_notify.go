package transports

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// pumpNotifications writes notifications as they come, until the last call has
// ended.
func (c *conn) pumpNotifications() {
	defer close(c.pumped)
	for {
		select {
		case n := <-c.session.notifications:
			c.notify(n)
		case <-c.done:
			for {
				select {
				case n := <-c.session.notifications:
					c.notify(n)
				default:
					return
				}
			}
		}
	}
}

// flushMark is the method of a notification that is never sent: it carries a
// channel to be closed when the pump has come to it.
const flushMark = "\x00flush"

func (c *conn) notify(n mcp.JSONRPCNotification) {
	if n.Method == flushMark {
		close(n.Params.AdditionalFields[flushMark].(chan struct{}))
		return
	}
	data, err := marshalNotification(n)
	if err != nil {
		c.log.Error("a notification could not be encoded", "method", n.Method, "error", err)
		return
	}
	c.out.write(append(data, '\n'))
}

func marshalNotification(n mcp.JSONRPCNotification) (data []byte, err error) {
	defer recoverEncoding(&err)
	return json.Marshal(n)
}

// flushSince makes sure that the notifications sent since the call began are
// written before what is written next, although they go through mcp-go's
// channel. In most calls there are none, and then it costs nothing.
func (c *conn) flushSince(cl *call) {
	if c.session.sends.Load() == cl.sends {
		return
	}
	mark := mcp.JSONRPCNotification{}
	mark.Method = flushMark
	written := make(chan struct{})
	mark.Params.AdditionalFields = map[string]any{flushMark: written}
	select {
	case c.session.notifications <- mark:
	case <-c.done:
		return
	}
	select {
	case <-written:
	case <-c.pumped:
	}
}
