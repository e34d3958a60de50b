package transports

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/mcp-workspace/mcp-workspace/sessions"
)

const requestIDHeader = "X-Request-Id"

// requestID returns the client's own id of a request when it can be logged as
// it is, else a new one.
func requestID(r *http.Request) string {
	id := r.Header.Get(requestIDHeader)
	if len(id) > 0 && len(id) <= 64 {
		for i := 0; ; i++ {
			if i == len(id) {
				return id
			}
			if id[i] <= ' ' || id[i] > '~' {
				break
			}
		}
	}
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b)
}

// callerOf is what a request says of its workspace, and who makes it. ServeHTTP
// has put the request's id into the header.
func callerOf(r *http.Request, client *Client, session string, retry func(time.Duration)) sessions.Caller {
	return sessions.Caller{
		Principal:  client.Principal,
		Session:    session,
		RequestID:  r.Header.Get(requestIDHeader),
		Ref:        r.Header.Get("Mcp-Workspace-Ref"),
		Name:       r.Header.Get("Mcp-Workspace-Name"),
		Image:      r.Header.Get("Mcp-Workspace-Image"),
		Runtime:    r.Header.Get("Mcp-Workspace-Runtime"),
		RetryAfter: retry,
	}
}

// single are headers that say something only if they are there once.
var single = []string{"Mcp-Workspace-Ref", "Mcp-Workspace-Name", "Mcp-Workspace-Image", "Mcp-Workspace-Runtime", "Mcp-Session-Id", "Mcp-Protocol-Version"}

// saidTwice returns the first header of a request that may be there once and is
// there more often, or "".
func saidTwice(r *http.Request) string {
	for _, name := range single {
		if len(r.Header[name]) > 1 {
			return name
		}
	}
	return ""
}
