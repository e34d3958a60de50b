package transports

import "sync"

// maxBatch is how many messages one batch may hold.
const maxBatch = 1000

// batch collects the answers to the messages of a JSON array, which go out as
// one array when the last is there. Notifications have none, and neither have
// requests that were cancelled; when no answer is left, nothing goes out.
type batch struct {
	mu      sync.Mutex
	open    int
	answers [][]byte
}

func newBatch(n int) *batch {
	return &batch{open: n, answers: make([][]byte, n)}
}

// settle records the answer to the message at slot, nil for none, and returns
// the whole batch's answer when that was the last.
func (b *batch) settle(slot int, answer []byte) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers[slot] = answer
	if b.open--; b.open > 0 {
		return nil
	}
	var out []byte
	for _, a := range b.answers {
		if a == nil {
			continue
		}
		if out == nil {
			out = append(out, '[')
		} else {
			out = append(out, ',')
		}
		out = append(out, a...)
	}
	if out == nil {
		return nil
	}
	return append(out, ']')
}
