package transports

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// checkMessage takes a message apart, as far as it needs to be known here, and
// refuses one that is none.
func checkMessage(msg []byte) (env envelope, refused answer, ok bool) {
	invalid := func(id []byte, message string) (envelope, answer, bool) {
		return env, refusal(http.StatusBadRequest, id, mcp.INVALID_REQUEST, message), false
	}
	if len(msg) == 0 || msg[0] != '{' {
		if json.Valid(msg) {
			return invalid(nil, "a message must be a JSON object")
		}
		return env, refusal(http.StatusBadRequest, nil, mcp.PARSE_ERROR, notJSON), false
	}
	env, err := parseEnvelope(msg)
	if errors.Is(err, errSyntax) {
		return env, refusal(http.StatusBadRequest, nil, mcp.PARSE_ERROR, notJSON), false
	}
	if bytes.Equal(env.id, null) && !env.isResponse() {
		return invalid(nil, `"id" must be a string or a number`)
	}
	if env.id != nil && !bytes.Equal(env.id, null) {
		if _, err := idKey(env.id); err != nil {
			return invalid(nil, `"id" must be a string or a number`)
		}
	}
	version, _ := unquote(env.version)
	switch {
	case version != mcp.JSONRPC_VERSION:
		return invalid(env.id, `"jsonrpc" must be "2.0"`)
	case err != nil:
		return invalid(env.id, err.Error())
	case env.isResponse():
		return env, answer{}, true
	case !env.named:
		return invalid(env.id, `"method" is missing`)
	case env.result != nil || env.failure != nil:
		return invalid(env.id, `a message cannot have both "method" and "result" or "error"`)
	}
	return env, answer{}, true
}

// metaVersion returns the protocol version in the _meta of params; "" when
// there is none.
func metaVersion(params []byte) string {
	version, _ := unquote(memberOf(memberOf(params, "_meta"), mcp.MetaKeyProtocolVersion))
	return version
}

// memberOf returns the value of a member of a JSON object, the last if there are
// several; nil when there is none.
func memberOf(object []byte, name string) (value []byte) {
	i := skipSpace(object, 0)
	if i >= len(object) || object[i] != '{' {
		return nil
	}
	for i = skipSpace(object, i+1); i < len(object) && object[i] == '"'; {
		end := skipString(object, i)
		if end < 0 {
			return nil
		}
		key, err := unquote(object[i:end])
		i = skipSpace(object, end)
		if err != nil || i >= len(object) || object[i] != ':' {
			return nil
		}
		i = skipSpace(object, i+1)
		if end = skipValue(object, i); end < 0 {
			return nil
		}
		if key == name {
			value = object[i:end]
		}
		i = skipSpace(object, end)
		if i < len(object) && object[i] == ',' {
			i = skipSpace(object, i+1)
		}
	}
	return value
}
