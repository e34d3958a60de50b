package tools

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	gobwas "github.com/gobwas/glob"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

// Codes of failures that only the tools have; the others are those of
// [backends.Error].
const (
	codeApprovalRequired backends.Code = "approval_required"
	codeApprovalRefused  backends.Code = "approval_refused"
)

// askError ends a call that a person must approve first.
type askError struct {
	decision permissions.Decision
	target   string
}

func (e *askError) Error() string { return "approval needed: " + e.decision.Why }

// allow turns a decision about target into nil, a refusal, or a question to
// the person. The target is all that the decision is about: a whole command, or
// a path in every form it has; see pathTarget.
func (c *call) allow(d permissions.Decision, target string) error {
	c.decided(d)
	switch d.Action {
	case permissions.Allow:
		return nil
	case permissions.Deny:
		return c.denied(d)
	}
	key := approvalKey(d.Operation, target)
	if c.grant != nil && c.grant(key) || c.conn.isApproved(key) {
		c.event.Approved = true
		return nil
	}
	if canAsk(c) {
		if len(target) > maxAsked {
			return &backends.Error{Code: codeApprovalRequired, Message: fmt.Sprintf(
				"this needs a person's approval (%s), and at %d characters it is too long to be read and approved; write it to a script file and run that", d.Why, len(target))}
		}
		return &askError{d, target}
	}
	if c.set.Fallback == FallbackDeny {
		return c.denied(d)
	}
	if d.Unclear {
		return &backends.Error{Code: codeApprovalRequired, Message: fmt.Sprintf(
			"%s needs a person's approval (%s), and this client cannot ask for it. Mend the command if it is wrong, or write it so that all of it can be read before it runs: names and values in place of what is put together or comes from other commands",
			subject(d), d.Why)}
	}
	return &backends.Error{Code: codeApprovalRequired, Message: fmt.Sprintf(
		"%s needs a person's approval (%s), and this client cannot ask for it. Use a client that supports MCP elicitation, or have the ruleset allow it: a rule such as {pattern: %q, action: allow} under %q",
		subject(d), d.Why, allowing(d), d.Operation)}
}

// allowing is a pattern that an allow rule for d could have.
func allowing(d permissions.Decision) string {
	if d.Operation != permissions.Execute {
		return gobwas.QuoteMeta(d.Target)
	}
	// Words that are known when it runs only match no other way.
	program, _, more := strings.Cut(d.Target, " ")
	if more {
		return gobwas.QuoteMeta(program) + " *"
	}
	return gobwas.QuoteMeta(program)
}

func (c *call) denied(d permissions.Decision) error {
	c.decided(d)
	return &backends.Error{Code: backends.CodePermission, Message: fmt.Sprintf(
		"%s is denied by the ruleset: %s. Do the work without it, or ask for the ruleset to be changed", subject(d), d.Why)}
}

// subject names what a decision is about: "write of /workspace/a.txt".
func subject(d permissions.Decision) string {
	if d.Operation == permissions.Execute {
		return fmt.Sprintf("execute of `%s`", d.Target)
	}
	return fmt.Sprintf("%s of %s", d.Operation, d.Target)
}

// approvalKey stands for an operation and its whole target. Approving one for
// the connection approves no other path and no other command.
func approvalKey(op permissions.Operation, target string) string {
	return string(op) + "\x00" + target
}

// pathTarget is a path as approval is bound to it: as it is written, and where
// its symlinks lead.
func pathTarget(res backends.Resolution) string {
	if res.Resolved == res.Path {
		return res.Path
	}
	return res.Path + "\x00" + res.Resolved
}

// canAsk tells whether the client has said, for this request or in its
// handshake, that it can put a form before a person.
func canAsk(c *call) bool {
	var can *mcp.ElicitationCapability
	if server.IsModernRequest(c.ctx) {
		can = server.RequestProtocolInfoFromContext(c.ctx).ClientCapabilities.Elicitation
	} else if s, ok := server.ClientSessionFromContext(c.ctx).(interface {
		server.SessionWithClientInfo
		server.SessionWithElicitation
	}); ok {
		can = s.GetClientCapabilities().Elicitation
	}
	// A client that only opens URLs cannot show a form. One that says nothing
	// can: forms came first.
	return can != nil && (can.Form != nil || can.URL == nil)
}

// The elicitation's one question and its answers.
const (
	approvalID       = "approval"
	answerField      = "answer"
	answerOnce       = "once"
	answerConnection = "connection"
	answerNo         = "no"
)

// approvalTime is how long a question may stay unanswered.
const approvalTime = 10 * time.Minute

// maxAsked is the longest target that a person is asked about, in bytes: all of
// it is shown, for what is not shown cannot be approved.
const maxAsked = 4000

// askPerson is the result that puts the question to the person, in either
// protocol era: mcp-go sends it as a request of its own to clients that do not
// know input-required results.
func (c *call) askPerson(ask *askError) *mcp.CallToolResult {
	d := ask.decision
	message := fmt.Sprintf("Allow %s of", d.Operation)
	for line := range strings.Lines(strings.ReplaceAll(ask.target, "\x00", "\nwhich leads to\n")) {
		message += "\n    " + visible(strings.TrimSuffix(line, "\n"))
	}
	message += "\n\nThe ruleset asks before this: " + visible(d.Why) + "."
	if d.Operation == permissions.Execute && d.Target != ask.target {
		message += " It is about the part: " + visible(d.Target)
	}
	schema := map[string]any{
		"type": "object",
		"properties": map[string]any{
			answerField: map[string]any{
				"type":        "string",
				"title":       "Answer",
				"description": "\"connection\" allows the same operation on the same target until the client disconnects.",
				"enum":        []string{answerOnce, answerConnection, answerNo},
				"enumNames":   []string{"Allow once", "Allow for this connection", "No"},
			},
		},
		"required": []string{answerField},
	}
	if c.conn.cfg.OneCall {
		schema["properties"] = map[string]any{
			answerField: map[string]any{
				"type": "string", "title": "Answer",
				"enum": []string{answerOnce, answerNo}, "enumNames": []string{"Allow once", "No"},
			},
		}
	}
	return server.NewInputRequestBuilder(c.seal(approvalKey(d.Operation, ask.target))).
		Elicit(approvalID, mcp.ElicitationParams{Mode: mcp.ElicitationModeForm, Message: message, RequestedSchema: schema}).
		ToolResult()
}

// visible is s with what could change how a text around it is shown written as
// escapes: control characters, and those that turn its direction.
func visible(s string) string {
	var b strings.Builder
	for _, r := range valid(s) {
		if unicode.IsPrint(r) && !unicode.Is(unicode.Bidi_Control, r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// A sealed request state is nonce, expiry and key hash, followed by a MAC over
// them, the tool and the arguments. It holds for one use of one call on one
// connection.
const (
	nonceSize  = 16
	expirySize = 8
	sealedSize = nonceSize + expirySize + 2*sha256.Size
)

func (c *call) seal(key string) string {
	state := make([]byte, nonceSize, sealedSize)
	rand.Read(state) // never fails
	state = binary.BigEndian.AppendUint64(state, uint64(time.Now().Add(approvalTime).Unix()))
	hash := sha256.Sum256([]byte(key))
	state = append(state, hash[:]...)
	return base64.RawURLEncoding.EncodeToString(append(state, c.mac(state)...))
}

func (c *call) mac(state []byte) []byte {
	h := hmac.New(sha256.New, c.conn.cfg.Key)
	h.Write(state)
	// The encoding of decoded arguments is the same whatever order and spacing
	// they came in.
	if err := json.NewEncoder(h).Encode([]any{c.conn.cfg.Binding, c.tool, c.req.Params.Arguments, c.asked}); err != nil {
		panic(err) // they were decoded from JSON
	}
	return h.Sum(nil)
}

// redeem takes the answer to an earlier question out of the request, if there
// is one.
func (c *call) redeem() error {
	params := c.req.Params
	if params.RequestState == "" && len(params.InputResponses) == 0 {
		return nil
	}
	refuse := func(why string) error {
		c.decided(permissions.Decision{Action: permissions.Ask, Why: "the person's answer"})
		return &backends.Error{Code: codeApprovalRefused, Message: why}
	}
	state, err := base64.RawURLEncoding.DecodeString(params.RequestState)
	if err != nil || len(state) != sealedSize || !hmac.Equal(state[sealedSize-sha256.Size:], c.mac(state[:sealedSize-sha256.Size])) {
		return refuse("this approval was not given for this call with these arguments on this connection; make the call again without it")
	}
	expires := time.Unix(int64(binary.BigEndian.Uint64(state[nonceSize:])), 0)
	fresh, err := c.conn.useOnce(c.ctx, string(state[:nonceSize]), expires)
	if err != nil {
		return &backends.Error{Code: backends.CodeUnavailable, Err: err, Message: "it could not be found out whether this approval was used before, so this was not done; try again"}
	}
	if !fresh {
		return refuse("this approval has expired or was used before; make the call again without it")
	}
	const hint = " Some clients declare that they can ask and then decline by themselves; to allow the operation without asking, add an allow rule for it to the ruleset (--permissions)"
	answer := server.ElicitationResponse(params.InputResponses, approvalID)
	if answer == nil || answer.Action == mcp.ElicitationResponseActionCancel {
		return refuse("the question was closed, or not answered in time, so this was not done." + hint)
	}
	content, _ := answer.Content.(map[string]any)
	choice, _ := content[answerField].(string)
	offered := choice == answerOnce || choice == answerConnection && !c.conn.cfg.OneCall
	if answer.Action != mcp.ElicitationResponseActionAccept || !offered {
		return refuse("the person was asked and did not allow this, so it was not done. Do something else, or ask them in the conversation." + hint)
	}
	hash := [sha256.Size]byte(state[nonceSize+expirySize:])
	c.grant = func(key string) bool {
		if sha256.Sum256([]byte(key)) != hash {
			return false
		}
		if choice == answerConnection {
			c.conn.approve(key)
		}
		return true
	}
	return nil
}

// useOnce spends a nonce; false when it has expired or been spent.
func (c *Connection) useOnce(ctx context.Context, nonce string, expires time.Time) (bool, error) {
	now := time.Now()
	if now.After(expires) {
		return false, nil
	}
	if c.cfg.Spent != nil {
		return c.cfg.Spent.Use(ctx, nonce, expires)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, t := range c.redeemed {
		if now.After(t) {
			delete(c.redeemed, n)
		}
	}
	if _, spent := c.redeemed[nonce]; spent {
		return false, nil
	}
	if c.redeemed == nil {
		c.redeemed = map[string]time.Time{}
	}
	c.redeemed[nonce] = expires
	return true, nil
}

func (c *Connection) approve(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.approved == nil {
		c.approved = map[string]bool{}
	}
	c.approved[key] = true
}

func (c *Connection) isApproved(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.approved[key]
}
