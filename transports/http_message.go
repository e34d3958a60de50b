package transports

import (
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// checkMessage is readMessage for what came in the body of a request.
func checkMessage(msg []byte) (env envelope, refused answer, ok bool) {
	env, wrong := readMessage(msg)
	switch {
	case wrong == nil:
		return env, answer{}, true
	case wrong.code == mcp.PARSE_ERROR:
		wrong.message = notJSON
	}
	return env, refusal(http.StatusBadRequest, wrong.id, wrong.code, wrong.message), false
}
