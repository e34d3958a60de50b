package commands

// What setAside thinks of a line.
const (
	lineKept = iota
	lineAlone
	lineCommon
)

// setAside takes out the lines that have no equal in the other file, and of
// those with very many the ones that stand among them: they are changed
// whatever the search would say. It returns the rest.
func setAside(lines, others []int32, changed []bool, minimal bool) (rest, index []int32) {
	marks := make([]uint8, len(lines))
	many := int32(5)
	for n := len(lines) / 64 >> 2; n > 0; n >>= 2 {
		many *= 2
	}
	for i, v := range lines {
		switch n := others[v]; {
		case n == 0:
			marks[i] = lineAlone
		case n > many && !minimal:
			marks[i] = lineCommon
		}
	}
	for i := 0; i < len(marks); i++ {
		switch marks[i] {
		case lineCommon:
			marks[i] = lineKept
		case lineAlone:
			i += settleRun(marks[i:])
		}
	}
	for i, v := range lines {
		if marks[i] != lineKept {
			changed[i+1] = true
			continue
		}
		rest, index = append(rest, v), append(index, int32(i))
	}
	return rest, index
}

// settleRun decides about the common lines in the run of lines that can be set
// aside at the start of marks. It returns how far the last of the run is.
func settleRun(marks []uint8) int {
	n, common := 0, 0
	for n < len(marks) && marks[n] != lineKept {
		if marks[n] == lineCommon {
			common++
		}
		n++
	}
	for n > 0 && marks[n-1] == lineCommon {
		n--
		common--
		marks[n] = lineKept
	}
	run := marks[:n]
	if common*4 > n {
		for i := range run {
			if run[i] == lineCommon {
				run[i] = lineKept
			}
		}
		return max(n-1, 0)
	}
	// Many common lines in a row are kept.
	least := 1
	for t := n >> 2 >> 2; t > 0; t >>= 2 {
		least <<= 1
	}
	least++
	for i := 0; i < n; {
		j := i
		for j < n && run[j] == lineCommon {
			j++
		}
		if j-i >= least {
			for k := i; k < j; k++ {
				run[k] = lineKept
			}
		}
		i = max(j, i+1)
	}
	// So are those close to either end of the run.
	trim := func(at func(int) *uint8) {
		alone := 0
		for i := range n {
			m := at(i)
			if i >= 8 && *m == lineAlone {
				return
			}
			switch *m {
			case lineCommon:
				*m, alone = lineKept, 0
			case lineKept:
				alone = 0
			default:
				alone++
			}
			if alone == 3 {
				return
			}
		}
	}
	trim(func(i int) *uint8 { return &run[i] })
	trim(func(i int) *uint8 { return &run[n-1-i] })
	return n - 1
}

// shiftRuns moves runs of changed lines that could as well be elsewhere: joined
// to other runs, next to a change in the other file, or as far down as they go.
func shiftRuns(lines []int32, changed, other []bool) {
	// Both slices have an element before the first line.
	i, j, n := 0, 0, len(lines)
	at := func(i int) bool { return changed[i+1] }
	otherAt := func(j int) bool { return j+1 >= 0 && j+1 < len(other) && other[j+1] }
	back := func() {
		for j--; otherAt(j); j-- {
			continue
		}
	}
	for {
		for i < n && !at(i) {
			for otherAt(j) {
				j++
			}
			j++
			i++
		}
		if i == n {
			return
		}
		start := i
		for i++; at(i); i++ {
			continue
		}
		for otherAt(j) {
			j++
		}
		match := n
		for length := -1; length != i-start; {
			length = i - start
			for start > 0 && lines[start-1] == lines[i-1] {
				start--
				i--
				changed[start+1], changed[i+1] = true, false
				for at(start - 1) {
					start--
				}
				back()
			}
			match = n
			if otherAt(j - 1) {
				match = i
			}
			for i != n && lines[start] == lines[i] {
				changed[start+1], changed[i+1] = false, true
				start++
				for i++; at(i); i++ {
					continue
				}
				for j++; otherAt(j); j++ {
					match = i
				}
			}
		}
		for match < i {
			start--
			i--
			changed[start+1], changed[i+1] = true, false
			back()
		}
	}
}
