package guest

// Streams is how many requests have a stream.
func (c *Client) Streams() int { return c.mux.NumStreams() }
