package backendtest

import (
	"io"
	"strings"
	"sync"
)

// gate is a reader that holds its content back until it is opened.
type gate struct {
	reached chan struct{} // closed with the first Read
	open    chan struct{} // to be closed by the test
	once    sync.Once
	content io.Reader
}

func newGate(content string) *gate {
	return &gate{reached: make(chan struct{}), open: make(chan struct{}), content: strings.NewReader(content)}
}

func (g *gate) Read(b []byte) (int, error) {
	g.once.Do(func() { close(g.reached) })
	<-g.open
	return g.content.Read(b)
}
