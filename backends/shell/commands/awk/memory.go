package awk

import (
	"context"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// tick looks at the context from time to time.
func (in *interp) tick() {
	if in.ticks++; in.ticks&127 == 0 {
		ctx := in.cfg.Host.Context()
		fair.Take(ctx)
		if ctx.Err() != nil {
			panic(fault{context.Cause(ctx)})
		}
	}
}

const holdStep = 64 << 10

// hold takes n bytes; release gives them back.
func (in *interp) hold(n int) {
	if in.used += n; in.used <= in.taken {
		return
	}
	more := max(in.used-in.taken, holdStep)
	if err := in.cfg.Host.Hold(more); err != nil {
		in.used -= n
		in.failed(err)
	}
	in.taken += more
}

func (in *interp) release(n int) {
	in.used -= n
	if spare := in.taken - in.used; spare > 16*holdStep {
		in.cfg.Host.Release(spare - holdStep)
		in.taken -= spare - holdStep
	}
}

// passing makes sure that there is room for n bytes that are not kept for long.
func (in *interp) passing(n int) {
	if n < 4096 {
		return
	}
	if err := in.cfg.Host.Hold(n); err != nil {
		in.failed(err)
	}
	in.cfg.Host.Release(n)
}

func clone(s string) string { return strings.Clone(s) }

// store puts v into *dst, in place of what was there.
func (in *interp) store(dst *value, v value) {
	if dst.arr != nil {
		in.fatal("attempt to use an array in a scalar context")
	}
	if v.part {
		v.s, v.part = clone(v.s), false
	}
	if n := len(v.s) - len(dst.s); n > 0 {
		in.hold(n)
	} else if n < 0 {
		in.release(-n)
	}
	*dst = v
}
