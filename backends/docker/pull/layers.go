package pull

import (
	"fmt"
	"strings"
)

// layers adds up what the engine says of single layers.
type layers struct {
	ref   string
	order []string
	known map[string]*layer
}

type layer struct {
	got, size int64 // bytes; size is 0 until the download begins
	done      bool
	present   bool // was there before
}

// maxLayers bounds what an engine can make us keep. Images have at most 127.
const maxLayers = 1000

func newLayers(ref string) *layers { return &layers{ref: ref, known: map[string]*layer{}} }

// add takes one message. Messages that are about no layer change nothing.
func (l *layers) add(m message) {
	if m.ID == "" || strings.HasPrefix(m.Status, "Pulling from") {
		return
	}
	one, ok := l.known[m.ID]
	if !ok {
		if len(l.known) >= maxLayers {
			return
		}
		one = &layer{}
		l.known[m.ID] = one
		l.order = append(l.order, m.ID)
	}
	switch m.Status {
	case "Downloading":
		if m.Progress != nil {
			one.got = max(m.Progress.Current, 0)
			one.size = max(m.Progress.Total, one.got, one.size)
		}
	case "Download complete", "Verifying Checksum", "Extracting":
		one.got = one.size
	case "Pull complete":
		one.got, one.done = one.size, true
	case "Already exists":
		one.done, one.present = true, true
	}
}

// line says how far the pull is.
func (l *layers) line() string {
	if len(l.order) == 0 {
		return "pulling " + l.ref
	}
	var done int
	var got, size int64
	for _, id := range l.order {
		one := l.known[id]
		if one.done {
			done++
		}
		got += one.got
		size += one.size
	}
	text := fmt.Sprintf("pulling %s: %d of %s", l.ref, done, counted(len(l.order)))
	switch {
	case size == 0:
		return text
	case size < 1e6:
		return fmt.Sprintf("%s, %d of %d kB", text, rounded(got, 1e3), rounded(size, 1e3))
	default:
		return fmt.Sprintf("%s, %d of %d MB", text, rounded(got, 1e6), rounded(size, 1e6))
	}
}

// done is the last line.
func (l *layers) done() string {
	var fetched int
	var size int64
	for _, one := range l.known {
		if !one.present {
			fetched++
		}
		size += one.size
	}
	switch {
	case fetched == 0:
		return "pulled " + l.ref
	case size < 1e6:
		return fmt.Sprintf("pulled %s: %s", l.ref, counted(fetched))
	default:
		return fmt.Sprintf("pulled %s: %s, %d MB", l.ref, counted(fetched), rounded(size, 1e6))
	}
}

func rounded(bytes, unit int64) int64 { return (bytes + unit/2) / unit }

func counted(layers int) string {
	if layers == 1 {
		return "1 layer"
	}
	return fmt.Sprintf("%d layers", layers)
}
