package transports

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxBatch is how many messages one batch may hold.
const maxBatch = 1000

// splitBatch returns the messages of a JSON array. It fails with errSyntax when
// that is none.
func splitBatch(b []byte) (messages [][]byte, err error) {
	if !json.Valid(b) {
		return nil, errSyntax
	}
	for i := skipSpace(b, 1); b[i] != ']'; {
		if len(messages) == maxBatch {
			return nil, fmt.Errorf("a batch can hold at most %d messages", maxBatch)
		}
		end := skipValue(b, i)
		messages = append(messages, b[i:end])
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	if len(messages) == 0 {
		return nil, errors.New("a batch cannot be empty")
	}
	return messages, nil
}

// maxBatchAnswers is how many bytes of answers one batch may have.
const maxBatchAnswers = 32 << 20

// batch collects the answers to the messages of a JSON array, which go out as
// one array when the last is there. Notifications have none, and neither have
// requests that were cancelled; when no answer is left, nothing goes out.
type batch struct {
	mu      sync.Mutex
	open    int
	answers [][]byte
	size    int // of answers, in bytes
}

func newBatch(n int) *batch {
	return &batch{open: n, answers: make([][]byte, n)}
}

// settle records the answer to the message at slot, nil for none, and returns
// the whole batch's answer when that was the last.
func (b *batch) settle(slot int, answer []byte) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size+len(answer) > maxBatchAnswers {
		answer = tooMuch(answer)
	}
	b.size += len(answer)
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

// tooMuch takes the place of an answer that the batch has no room for.
func tooMuch(answer []byte) []byte {
	id := null
	if env, err := parseEnvelope(answer); err == nil && env.id != nil {
		id = env.id
	}
	refused, _ := appendErrorResponse(nil, id, mcp.NewJSONRPCErrorDetails(mcp.INTERNAL_ERROR, fmt.Sprintf(
		"this was done, but the answers to the batch are over %d bytes together, so its own is left out; ask for less, or in smaller batches", maxBatchAnswers), nil))
	return refused
}
