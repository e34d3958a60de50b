package transports

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
)

// unfit is why a message is not handled.
type unfit struct {
	id      []byte // raw JSON; nil when there is none to answer to
	code    int    // of JSON-RPC
	message string
}

// readMessage takes a message apart, as far as every transport has to know it
// before it is handled, and refuses one that is none, or that mcp-go could
// understand differently. What is in its params is otherwise left to mcp-go.
func readMessage(msg []byte) (envelope, *unfit) {
	if len(msg) == 0 || msg[0] != '{' {
		if json.Valid(msg) {
			return envelope{}, &unfit{nil, mcp.INVALID_REQUEST, "a message must be a JSON object"}
		}
		return envelope{}, &unfit{nil, mcp.PARSE_ERROR, errSyntax.Error()}
	}
	env, err := parseEnvelope(msg)
	if errors.Is(err, errSyntax) {
		return env, &unfit{nil, mcp.PARSE_ERROR, err.Error()}
	}
	if env.id != nil && (!env.isResponse() || !bytes.Equal(env.id, null)) {
		if _, err := idKey(env.id); err != nil {
			return env, &unfit{nil, mcp.INVALID_REQUEST, `"id" must be a string or a number`}
		}
	}
	id := env.id
	if env.isResponse() {
		id = nil // it is ours, and could be that of a request of the client's too
	}
	version, _ := unquote(env.version)
	var inside *memberError
	switch {
	case version != mcp.JSONRPC_VERSION:
		return env, &unfit{id, mcp.INVALID_REQUEST, `"jsonrpc" must be "2.0"`}
	case errors.As(err, &inside) && inside.in != "":
		return env, &unfit{id, mcp.INVALID_PARAMS, err.Error()}
	case err != nil:
		return env, &unfit{id, mcp.INVALID_REQUEST, err.Error()}
	case env.isResponse():
	case !env.named:
		return env, &unfit{id, mcp.INVALID_REQUEST, `"method" is missing`}
	case env.result != nil || env.failure != nil:
		return env, &unfit{id, mcp.INVALID_REQUEST, `a message cannot have both "method" and "result" or "error"`}
	}
	return env, nil
}
