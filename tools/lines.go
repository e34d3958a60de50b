package tools

import (
	"fmt"
	"strings"
)

// lines collects a result line by line until its budget is used up.
type lines struct {
	b      strings.Builder
	budget int // bytes of JSON left
	count  int // lines taken by add
}

// moreRoom is kept free for the note that there is more.
const moreRoom = 200

func newLines(budget int) *lines { return &lines{budget: budget - moreRoom} }

// add takes a line, or reports that it does not fit.
func (l *lines) add(line string) bool {
	if l.budget -= jsonSize(line) + len(`\n`); l.budget < 0 {
		return false
	}
	l.force(line)
	l.count++
	return true
}

// force takes a line that always fits.
func (l *lines) force(line string) {
	if l.b.Len() > 0 {
		l.b.WriteByte('\n')
	}
	l.b.WriteString(line)
}

// more says that n items are left out.
func (l *lines) more(n int) { l.force(fmt.Sprintf("… and %d more", n)) }

func (l *lines) String() string { return l.b.String() }
