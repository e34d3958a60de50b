package transports

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// gatedWriter records what each Write got, the first after it is let through.
type gatedWriter struct {
	entered chan struct{}
	gate    chan struct{}
	once    sync.Once
	writes  []string
}

func (g *gatedWriter) Write(p []byte) (int, error) {
	g.once.Do(func() { close(g.entered); <-g.gate })
	g.writes = append(g.writes, string(p))
	return len(p), nil
}

func TestLinesAreNeverSplitAndThoseThatWaitGoTogether(t *testing.T) {
	g := &gatedWriter{entered: make(chan struct{}), gate: make(chan struct{})}
	w := newLineWriter(g, func(err error) { t.Error(err) })
	go w.write([]byte("first\n"))
	<-g.entered
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() { w.write(fmt.Appendf(nil, "%d\n", i)) })
	}
	wg.Wait()
	close(g.gate)
	<-w.idle()
	if len(g.writes) != 2 || g.writes[0] != "first\n" || strings.Count(g.writes[1], "\n") != 100 {
		t.Errorf("%q", g.writes)
	}
	w.write([]byte("last\n"))
	if g.writes[2] != "last\n" {
		t.Errorf("%q", g.writes[2:])
	}
}

func TestWhatWaitsToBeWrittenIsBounded(t *testing.T) {
	g := &gatedWriter{entered: make(chan struct{}), gate: make(chan struct{})}
	w := newLineWriter(g, func(err error) { t.Error(err) })
	go w.write([]byte("first\n"))
	<-g.entered
	line := append(bytes.Repeat([]byte("x"), 1<<20), '\n')
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { w.write(line) })
	}
	close(g.gate)
	wg.Wait()
	<-w.idle()
	total := 0
	for _, s := range g.writes {
		total += len(s)
		if len(s) > maxPending+len(line) {
			t.Errorf("%d bytes were held", len(s))
		}
	}
	if total != len("first\n")+20*len(line) {
		t.Errorf("%d bytes were written", total)
	}
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }

func TestABrokenWriterIsReportedOnce(t *testing.T) {
	broken := errors.New("broken")
	var got []error
	w := newLineWriter(brokenWriter{broken}, func(err error) { got = append(got, err) })
	w.write([]byte("a\n"))
	w.write([]byte("b\n"))
	<-w.idle()
	if len(got) != 1 || !errors.Is(got[0], broken) {
		t.Error(got)
	}
}
