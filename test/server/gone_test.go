package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// TestTheCommandOfAClientThatIsGoneIsStopped in its container, with what it has
// started.
func TestTheCommandOfAClientThatIsGoneIsStopped(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, e *engines.Engine) {
		s := onEngine(t, e)
		p := start(t, s.options)
		call := func(seconds int) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute","arguments":{"command":"sleep %d & sleep %d; echo no"}}}`, seconds, seconds)
		}
		n := 1000
		for how, run := range map[string]func(t *testing.T, c caller, seconds int) (ref string, leave func()){
			"a stateless client closes its connection": func(t *testing.T, c caller, seconds int) (string, func()) {
				ref := c.must(t, "ls", nil).ref
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					if got, err := c.try(ctx, "execute", args{"command": fmt.Sprintf("sleep %d & sleep %d; echo no", seconds, seconds)}); !canceled(ctx, err) {
						t.Errorf("it is answered with %v, %v", got, err)
					}
				}()
				return ref, func() { cancel(); <-ended }
			},
			"a session is ended": func(t *testing.T, c caller, seconds int) (string, func()) {
				c = c.open(t)
				ref := c.must(t, "ls", nil).ref
				go c.abandon(requestOf(t, c, "/mcp", call(seconds)))
				return ref, func() { c.close(t) }
			},
			"a session's call is cancelled": func(t *testing.T, c caller, seconds int) (string, func()) {
				c = c.open(t)
				ref := c.must(t, "ls", nil).ref
				go c.abandon(requestOf(t, c, "/mcp", call(seconds)))
				return ref, func() {
					if got := c.plain(t, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`); got.status != http.StatusAccepted {
						t.Errorf("the cancellation is answered with %d %s", got.status, got.body)
					}
				}
			},
			"an SSE connection is closed": func(t *testing.T, c caller, seconds int) (string, func()) {
				events := c.sse(t)
				events.post(t, `{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"ls","arguments":{}}}`)
				made, err := answerOf(reply{body: []byte(strings.Replace(events.data(t), `"id":0`, `"id":1`, 1))})
				if err != nil {
					t.Fatal(err)
				}
				events.post(t, call(seconds))
				return made.ref, events.cancel
			},
		} {
			n++
			seconds := n // by which its processes are known
			t.Run(how, func(t *testing.T) {
				t.Parallel()
				ref, leave := run(t, p.as(s.alice), seconds)
				eventually(t, "the command runs", func() bool { return sleeping(t, e, ref, seconds) == 2 })
				leave()
				within(t, 30*time.Second, "the command is stopped", func() bool { return sleeping(t, e, ref, seconds) == 0 })
				if !running(t, e, ref) {
					t.Error("so is the container")
				}
			})
		}
	})
}

// abandon makes a request whose answer, if there is one, nobody looks at.
func (c caller) abandon(r *http.Request) {
	if res, err := c.http.Do(r); err == nil {
		_ = res.Body.Close() // it was read by nobody
	}
}

func requestOf(t *testing.T, c caller, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.root+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	c.dress(r)
	return r
}

// sleeping is how many processes of the container sleep for so many seconds.
func sleeping(t *testing.T, e *engines.Engine, ref string, seconds int) (count int) {
	t.Helper()
	_, id, _ := strings.Cut(ref, ":")
	top, err := e.Client(t).ContainerTop(t.Context(), id, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range top.Processes {
		if strings.HasSuffix(strings.Join(process, " "), fmt.Sprintf(" sleep %d", seconds)) {
			count++
		}
	}
	return count
}
