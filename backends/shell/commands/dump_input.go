package commands

import (
	"context"
	"io"
)

// chain reads operands one after the other as one stream; what cannot be read
// is said and left out.
type chain struct {
	p     *Proc
	names []string
	now   io.ReadCloser
	name  string
	// code is 1 once something could not be read.
	code int
}

func newChain(p *Proc, names []string) *chain {
	if len(names) == 0 {
		names = []string{"-"}
	}
	return &chain{p: p, names: names}
}

func (c *chain) Read(b []byte) (int, error) {
	for {
		if c.p.Stopped() {
			return 0, context.Cause(c.p.ctx)
		}
		if c.now == nil {
			if len(c.names) == 0 {
				return 0, io.EOF
			}
			c.name, c.names = c.names[0], c.names[1:]
			if c.name == "-" {
				c.now = io.NopCloser(c.p.Stdin)
			} else if f, err := c.p.Open(c.name); err != nil {
				c.code = c.p.FileError(c.name, err)
				continue
			} else {
				c.now = f
			}
		}
		n, err := c.now.Read(b)
		if err != nil {
			if err != io.EOF {
				c.code = c.p.FileError(c.name, err)
			}
			c.Close()
		}
		if n > 0 {
			return n, nil
		}
	}
}

// Close closes the operand that is open.
func (c *chain) Close() {
	if c.now != nil {
		c.now.Close() // it was only read
		c.now = nil
	}
}
