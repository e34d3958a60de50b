package guest

import (
	"context"
	"io"
	"time"
)

// Streams is how many requests have a stream.
func (c *Client) Streams() int { return c.mux.NumStreams() }

// Strays is how many frames of the agent belonged to nothing, of late.
func (c *Client) Strays() int {
	c.watched.mu.Lock()
	defer c.watched.mu.Unlock()
	return c.watched.strays
}

// ConnectPatient is Connect by a client that waits so long for an agent.
func ConnectPatient(ctx context.Context, conn io.ReadWriteCloser, setup Setup, between, ping, operation time.Duration) (*Client, error) {
	c, err := dial(ctx, conn, nil, patience{between, ping, operation})
	if err != nil {
		return nil, err
	}
	return c, c.SetUp(ctx, setup)
}
