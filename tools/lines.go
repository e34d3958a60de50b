package tools

import (
	"encoding/json"
	"fmt"
	"strings"
)

// lines collects a result line by line until its budget is used up.
type lines struct {
	b          strings.Builder
	structured bool // every line also has a structured form
	budget     int  // bytes of JSON left
	count      int  // lines taken by add
}

// moreRoom is kept free for the note that there is more.
const moreRoom = 200

func (c *call) newLines() *lines {
	return &lines{structured: c.set.Structured, budget: maxResult - moreRoom}
}

// add takes a line that is form in structured content, or reports that it does
// not fit.
func (l *lines) add(line string, form any) bool {
	l.budget -= jsonSize(line) + len(`\n`)
	if l.structured {
		encoded, err := json.Marshal(form)
		if err != nil {
			panic(err) // forms are structs of strings and numbers
		}
		l.budget -= len(encoded) + len(",")
	}
	if l.budget < 0 {
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
