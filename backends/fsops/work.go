package fsops

import "context"

// workClock looks at a context once in a while, for work of steps so small that
// a look before each would cost more than they do. Without a context nothing
// ends it.
type workClock struct {
	ctx   context.Context
	steps int
	ended bool
}

// workLook is how many steps there are between two looks: a few milliseconds.
const workLook = 1 << 18

// spend counts steps that were done and tells whether the context has ended.
func (c *workClock) spend(steps int) bool {
	if c.steps += steps; c.steps >= workLook {
		c.steps = 0
		c.ended = c.ended || c.ctx != nil && c.ctx.Err() != nil
	}
	return c.ended
}
