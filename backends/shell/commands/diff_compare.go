package commands

// This file finds which lines of two files differ: Myers' algorithm in linear
// space, with the rules of GNU diff for what it may choose freely, so that the
// same hunks come out.

// maxCost is how many edits a search for a middle goes on before it takes the
// best place so far: it keeps time bounded where files have little in common.
const maxCost = 4096

// lineComparison compares two sequences of line classes.
type lineComparison struct {
	stopped func() bool
	x, y    []int32
	// changedX and changedY have one more element at each end, which stay false.
	changedX, changedY []bool
	// indexX and indexY say which line of the file an element of x and y is.
	indexX, indexY []int32
	forward, back  []int32
	origin         int
}

// compareLines marks the lines of a and b that differ. Element i+1 of what it
// returns is about line i; the elements at both ends are false. classes is one
// more than the highest class.
func compareLines(a, b []int32, classes int, minimal bool, stopped func() bool) (changedA, changedB []bool) {
	changedA, changedB = make([]bool, len(a)+2), make([]bool, len(b)+2)
	c := &lineComparison{stopped: stopped, changedX: changedA, changedY: changedB}
	countA, countB := make([]int32, classes), make([]int32, classes)
	for _, v := range a {
		countA[v]++
	}
	for _, v := range b {
		countB[v]++
	}
	c.x, c.indexX = setAside(a, countB, changedA, minimal)
	c.y, c.indexY = setAside(b, countA, changedB, minimal)
	c.origin = len(c.y) + 1
	c.forward = make([]int32, len(c.x)+len(c.y)+3)
	c.back = make([]int32, len(c.x)+len(c.y)+3)
	c.compare(0, len(c.x), 0, len(c.y), minimal)
	shiftRuns(a, changedA, changedB)
	shiftRuns(b, changedB, changedA)
	return changedA, changedB
}

// compare marks what differs between x[x0:x1] and y[y0:y1].
func (c *lineComparison) compare(x0, x1, y0, y1 int, minimal bool) {
	for {
		for x0 < x1 && y0 < y1 && c.x[x0] == c.y[y0] {
			x0++
			y0++
		}
		for x0 < x1 && y0 < y1 && c.x[x1-1] == c.y[y1-1] {
			x1--
			y1--
		}
		if x0 == x1 || y0 == y1 || c.stopped() {
			for ; x0 < x1; x0++ {
				c.changedX[c.indexX[x0]+1] = true
			}
			for ; y0 < y1; y0++ {
				c.changedY[c.indexY[y0]+1] = true
			}
			return
		}
		mx, my, lowMinimal, highMinimal := c.middle(x0, x1, y0, y1, minimal)
		c.compare(x0, mx, y0, my, lowMinimal)
		x0, y0, minimal = mx, my, highMinimal
	}
}

// middle finds a point that a shortest edit goes through, or a good one where
// that takes too long. The last two results tell which halves are still to be
// searched exactly.
func (c *lineComparison) middle(x0, x1, y0, y1 int, minimal bool) (mx, my int, lowMinimal, highMinimal bool) {
	const far = int32(1<<31 - 1)
	f, b, o := c.forward, c.back, c.origin
	dmin, dmax := x0-y1, x1-y0
	fmid, bmid := x0-y0, x1-y1
	fmin, fmax, bmin, bmax := fmid, fmid, bmid, bmid
	odd := (fmid-bmid)&1 != 0
	f[o+fmid], b[o+bmid] = int32(x0), int32(x1)
	for cost := 1; ; cost++ {
		if fmin > dmin {
			fmin--
			f[o+fmin-1] = -1
		} else {
			fmin++
		}
		if fmax < dmax {
			fmax++
			f[o+fmax+1] = -1
		} else {
			fmax--
		}
		for d := fmax; d >= fmin; d -= 2 {
			low, high := f[o+d-1], f[o+d+1]
			x := int(high)
			if low >= high {
				x = int(low) + 1
			}
			y := x - d
			for x < x1 && y < y1 && c.x[x] == c.y[y] {
				x++
				y++
			}
			f[o+d] = int32(x)
			if odd && bmin <= d && d <= bmax && int(b[o+d]) <= x {
				return x, y, true, true
			}
		}
		if bmin > dmin {
			bmin--
			b[o+bmin-1] = far
		} else {
			bmin++
		}
		if bmax < dmax {
			bmax++
			b[o+bmax+1] = far
		} else {
			bmax--
		}
		for d := bmax; d >= bmin; d -= 2 {
			low, high := b[o+d-1], b[o+d+1]
			x := int(low)
			if low >= high {
				x = int(high) - 1
			}
			y := x - d
			for x0 < x && y0 < y && c.x[x-1] == c.y[y-1] {
				x--
				y--
			}
			b[o+d] = int32(x)
			if !odd && fmin <= d && d <= fmax && x <= int(f[o+d]) {
				return x, y, true, true
			}
		}
		if (cost >= maxCost && !minimal) || cost >= 16*maxCost || cost%64 == 0 && c.stopped() {
			return c.bestSoFar(x0, x1, y0, y1, fmin, fmax, bmin, bmax)
		}
	}
}

// bestSoFar is the point that the search from either end got furthest to.
func (c *lineComparison) bestSoFar(x0, x1, y0, y1, fmin, fmax, bmin, bmax int) (mx, my int, lowMinimal, highMinimal bool) {
	o := c.origin
	fsum, fx := -1, x0
	for d := fmax; d >= fmin; d -= 2 {
		x := min(int(c.forward[o+d]), x1)
		y := x - d
		if y > y1 {
			x, y = y1+d, y1
		}
		if x+y > fsum {
			fsum, fx = x+y, x
		}
	}
	bsum, bx := int(^uint(0)>>1), x1
	for d := bmax; d >= bmin; d -= 2 {
		x := max(x0, int(c.back[o+d]))
		y := x - d
		if y < y0 {
			x, y = y0+d, y0
		}
		if x+y < bsum {
			bsum, bx = x+y, x
		}
	}
	if x1+y1-bsum < fsum-(x0+y0) {
		return fx, fsum - fx, true, false
	}
	return bx, bsum - bx, false, true
}
