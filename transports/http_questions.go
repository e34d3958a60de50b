package transports

import "sync"

// maxQuestions is how many questions to people may be open at once of one
// principal. A call that waits for an answer keeps a connection and gives up its
// turn, so nothing else bounds them.
const maxQuestions = 128

// questions counts those that are open, by principal.
type questions struct {
	mu   sync.Mutex
	open map[string]int
}

// ask counts one more, until done is called. It returns false when there are as
// many as may be.
func (q *questions) ask(principal string) (done func(), ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open[principal] >= maxQuestions {
		return nil, false
	}
	if q.open == nil {
		q.open = map[string]int{}
	}
	q.open[principal]++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.open[principal]--; q.open[principal] == 0 {
			delete(q.open, principal)
		}
	}, true
}
