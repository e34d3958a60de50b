package posixre

type opcode uint8

const (
	opRune opcode = iota
	opSet
	opAny
	opSplit // x first, then y
	opJump
	opSave
	opAssert
	opBackref
	opMark     // remember where an iteration starts
	opProgress // it must have matched something
	opMatch
)

type inst struct {
	op   opcode
	kind kind // of an assertion
	r    rune
	set  *set
	x, y int // targets; x is also the number of a slot
	id   int // of a split
}

// program is a pattern for the matcher of this package.
type program struct {
	insts    []inst
	splits   int
	marks    int
	groups   int
	backrefs bool
	// first tells the bytes a match can start with; nil when it can be empty.
	first *[256]bool
}

const maxInsts = 60_000

type compiler struct{ program }

func compile(n *node, groups int) (*program, error) {
	c := &compiler{}
	c.groups = groups
	if !c.node(n) {
		return nil, Error("Regular expression too big")
	}
	c.emit(inst{op: opMatch})
	c.firsts()
	return &c.program, nil
}

func (c *compiler) emit(in inst) int {
	if in.op == opSplit {
		in.id = c.splits
		c.splits++
	}
	c.insts = append(c.insts, in)
	return len(c.insts) - 1
}

// node compiles n; false when there is too much of it.
func (c *compiler) node(n *node) bool {
	if len(c.insts) > maxInsts {
		return false
	}
	switch n.kind {
	case kEmpty:
	case kRune:
		c.emit(inst{op: opRune, r: n.r})
	case kAny:
		c.emit(inst{op: opAny})
	case kSet:
		c.emit(inst{op: opSet, set: n.set})
	case kCat:
		for _, sub := range n.subs {
			if !c.node(sub) {
				return false
			}
		}
	case kAlt:
		return c.alternatives(n.subs)
	case kGroup:
		c.emit(inst{op: opSave, x: 2 * n.n})
		if !c.node(n.subs[0]) {
			return false
		}
		c.emit(inst{op: opSave, x: 2*n.n + 1})
	case kBackref:
		c.backrefs = true
		c.emit(inst{op: opBackref, x: n.n})
	case kRepeat:
		return c.repeat(n)
	default:
		c.emit(inst{op: opAssert, kind: n.kind})
	}
	return true
}

func (c *compiler) alternatives(subs []*node) bool {
	var ends []int
	for i, sub := range subs {
		split := -1
		if i+1 < len(subs) {
			split = c.emit(inst{op: opSplit})
			c.insts[split].x = split + 1
		}
		if !c.node(sub) {
			return false
		}
		if split >= 0 {
			ends = append(ends, c.emit(inst{op: opJump}))
			c.insts[split].y = len(c.insts)
		}
	}
	for _, end := range ends {
		c.insts[end].x = len(c.insts)
	}
	return true
}

func (c *compiler) repeat(n *node) bool {
	body := n.subs[0]
	for range n.min {
		if !c.node(body) {
			return false
		}
	}
	if n.max == -1 {
		loop := c.emit(inst{op: opSplit})
		c.insts[loop].x = loop + 1
		ok := c.iteration(body)
		c.emit(inst{op: opJump, x: loop})
		c.insts[loop].y = len(c.insts)
		return ok
	}
	var outs []int
	for range n.max - n.min {
		split := c.emit(inst{op: opSplit})
		c.insts[split].x = split + 1
		outs = append(outs, split)
		if !c.iteration(body) {
			return false
		}
	}
	for _, out := range outs {
		c.insts[out].y = len(c.insts)
	}
	return true
}

// iteration compiles a round that may be left out: one that matches nothing is
// of no use and would go on for ever.
func (c *compiler) iteration(body *node) bool {
	if !nullable(body) {
		return c.node(body)
	}
	mark := c.marks
	c.marks++
	c.emit(inst{op: opMark, x: mark})
	ok := c.node(body)
	c.emit(inst{op: opProgress, x: mark})
	return ok
}

func nullable(n *node) bool {
	switch n.kind {
	case kRune, kSet, kAny:
		return false
	case kCat:
		for _, sub := range n.subs {
			if !nullable(sub) {
				return false
			}
		}
		return true
	case kAlt:
		for _, sub := range n.subs {
			if nullable(sub) {
				return true
			}
		}
		return false
	case kGroup:
		return nullable(n.subs[0])
	case kRepeat:
		return n.min == 0 || nullable(n.subs[0])
	}
	return true
}

// firsts finds the bytes that a match can start with.
func (c *compiler) firsts() {
	var first [256]bool
	seen := map[int]bool{}
	var walk func(pc int) bool
	walk = func(pc int) bool {
		for !seen[pc] {
			seen[pc] = true
			in := &c.insts[pc]
			switch in.op {
			case opRune:
				if in.r >= 0x80 {
					for b := 0x80; b < 256; b++ {
						first[b] = true
					}
				} else {
					first[in.r] = true
				}
				return true
			case opSet:
				for b := range 0x80 {
					if in.set.has(rune(b)) {
						first[b] = true
					}
				}
				for b := 0x80; b < 256; b++ {
					first[b] = true
				}
				return true
			case opSplit:
				if !walk(in.y) {
					return false
				}
				pc = in.x
			case opJump:
				pc = in.x
			case opSave, opAssert, opMark, opProgress:
				pc++
			default:
				return false
			}
		}
		return true
	}
	if walk(0) {
		c.first = &first
	}
}
