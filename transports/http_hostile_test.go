package transports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestABatchHasNoMoreAnswersThanMemoryShouldHold(t *testing.T) {
	const n = 40
	b := newBatch(n)
	big, err := appendResponse(nil, []byte("7"), mcp.NewJSONRPCResponse(mcp.NewRequestId(7), mcp.Result{}))
	if err != nil {
		t.Fatal(err)
	}
	big = bytes.Replace(big, []byte("{}"), []byte(`{"x":"`+strings.Repeat("x", 1<<20)+`"}`), 1)
	var whole []byte
	for i := range n {
		whole = b.settle(i, big)
	}
	if len(whole) > maxBatchAnswers+n<<10 {
		t.Errorf("the answer has %d bytes", len(whole))
	}
	answers, err := splitBatch(whole)
	if err != nil || len(answers) != n {
		t.Fatalf("%d answers, %v", len(answers), err)
	}
	last, err := parseEnvelope(answers[n-1])
	if err != nil || string(last.id) != "7" || !strings.Contains(string(last.failure), "smaller batches") {
		t.Errorf("the last answer is %.200s", answers[n-1])
	}
}

func TestARefusedRequestIsNotHeldOpenByItsBody(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, head := range []string{"POST /nothing", "POST /healthz", "POST /mcp", "GET /mcp", "DELETE /mcp"} {
		t.Run(head, func(t *testing.T) {
			t.Parallel()
			c, err := net.Dial("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n", head); err != nil {
				t.Fatal(err)
			}
			if err := c.SetReadDeadline(time.Now().Add(6 * unreadTime)); err != nil {
				t.Fatal(err)
			}
			// The body never comes: the server answers, and ends the connection.
			var got bytes.Buffer
			if _, err := got.ReadFrom(c); err != nil {
				t.Errorf("the connection is open after %v: %v", 6*unreadTime, err)
			}
			if !strings.HasPrefix(got.String(), "HTTP/1.1 4") {
				t.Errorf("answered %.60q", got.String())
			}
		})
	}
}

func TestAHeaderThatIsThereTwiceSaysNothing(t *testing.T) {
	s := newSite(t, nil)
	for _, name := range single {
		req := s.request(t.Context(), "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Authorization: Bearer alice", "Content-Type: application/json")
		req.Header.Add(name, "a")
		req.Header.Add(name, "b")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), name+" is there more than once") {
			t.Errorf("%s: %d %s", name, resp.StatusCode, body)
		}
	}
}

func TestOpenQuestionsOfOnePrincipalAreBounded(t *testing.T) {
	var q questions
	var done []func()
	for range maxQuestions {
		d, ok := q.ask("alice")
		if !ok {
			t.Fatal("too few may be open")
		}
		done = append(done, d)
	}
	if _, ok := q.ask("alice"); ok {
		t.Error("one too many may be open")
	}
	if d, ok := q.ask("bob"); !ok {
		t.Error("another principal's count")
	} else {
		d()
	}
	for _, d := range done {
		d()
	}
	if len(q.open) != 0 {
		t.Errorf("left: %v", q.open)
	}
}
