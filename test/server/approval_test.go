package server

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestAnApprovalHoldsForOneCallOfOnePrincipal, and attempts to use it for
// another neither work nor use it up.
func TestAnApprovalHoldsForOneCallOfOnePrincipal(t *testing.T) {
	t.Parallel()
	rules := fileOf(t, "rules.yaml", askingRules)
	s := onPostgres(t, "permissions: "+rules)
	p := start(t, s.options)
	alice, bob := p.as(s.alice), p.as(s.bob)
	write := args{"path": "a.txt", "content": "approved\n"}
	state := alice.ask(t, "write_file", write)
	raw, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil {
		t.Fatal(err)
	}
	flipped := func(i int) string {
		other := append([]byte(nil), raw...)
		other[i] ^= 1
		return base64.RawURLEncoding.EncodeToString(other)
	}
	type use struct {
		c     caller
		tool  string
		a     args
		state string
	}
	ok := use{c: alice, tool: "write_file", a: write, state: state}
	with := func(change func(*use)) use {
		u := ok
		change(&u)
		return u
	}
	for name, u := range map[string]use{
		"another principal":      with(func(u *use) { u.c = bob }),
		"other content":          with(func(u *use) { u.a = args{"path": "a.txt", "content": "other\n"} }),
		"another path":           with(func(u *use) { u.a = args{"path": "b.txt", "content": "approved\n"} }),
		"another spelling of it": with(func(u *use) { u.a = args{"path": "./a.txt", "content": "approved\n"} }),
		"one argument more":      with(func(u *use) { u.a = args{"path": "a.txt", "content": "approved\n", "x": 1} }),
		"another tool":           with(func(u *use) { u.tool, u.a = "execute", args{"command": "echo > a.txt"} }),
		"another workspace, by name in a header": with(func(u *use) {
			u.c = alice.withHeader("Mcp-Workspace-Name", "other")
		}),
		"another workspace, by name in _meta": with(func(u *use) { u.c = alice.withMeta("mcp-workspace/name", "other") }),
		"another workspace, by ref in a header": with(func(u *use) {
			u.c = alice.withHeader("Mcp-Workspace-Ref", alice.withHeader("Mcp-Workspace-Name", "other").must(t, "ls", nil).ref)
		}),
		"another workspace, by argument": with(func(u *use) {
			u.a = args{"path": "a.txt", "content": "approved\n", "workspace": alice.withHeader("Mcp-Workspace-Name", "other").must(t, "ls", nil).ref}
		}),
		"a session":              with(func(u *use) { u.c = alice.open(t) }),
		"a changed nonce":        with(func(u *use) { u.state = flipped(0) }),
		"a changed expiry":       with(func(u *use) { u.state = flipped(20) }),
		"a changed target":       with(func(u *use) { u.state = flipped(30) }),
		"a changed seal":         with(func(u *use) { u.state = flipped(len(raw) - 1) }),
		"a truncated state":      with(func(u *use) { u.state = state[:len(state)-4] }),
		"half of it":             with(func(u *use) { u.state = state[:len(state)/2] }),
		"a state with more":      with(func(u *use) { u.state = state + "AAAA" }),
		"padding":                with(func(u *use) { u.state = state + "=" }),
		"no state":               with(func(u *use) { u.state = "" }),
		"random":                 with(func(u *use) { u.state = randomOf(base64url, len(state)) }),
		"what is no base64":      with(func(u *use) { u.state = strings.Repeat("!", len(state)) }),
		"an answer too long ago": with(func(u *use) { u.state = base64.RawURLEncoding.EncodeToString(make([]byte, len(raw))) }),
	} {
		t.Run(name, func(t *testing.T) {
			got := u.c.asking().redeem(t, u.tool, u.a, u.state)
			if got.code != "approval_refused" && (name != "one argument more" || got.code != "invalid_argument") {
				t.Errorf("it is answered with %v", got)
			}
			forged := u.c.asking().redeem(t, u.tool, u.a, randomOf(base64url, len(u.state)))
			if u.state != "" {
				same(t, shape(got.reply, u.state, got.ref), shape(forged.reply, forged.ref))
			}
			if got := alice.must(t, "ls", nil).text; strings.Contains(got, ".txt") {
				t.Errorf("something was written: %s", got)
			}
		})
	}
	if got := alice.asking().redeem(t, "write_file", write, state); got.failed || got.state != "" {
		t.Fatalf("after all that, alice's own is answered with %v", got)
	}
	again := alice.asking().redeem(t, "write_file", write, state)
	if again.code != "approval_refused" {
		t.Errorf("a second time: %v", again)
	}
	if other := bob.asking().redeem(t, "write_file", write, state); other.code != "approval_refused" || strings.Contains(other.text, "used before") {
		t.Errorf("bob learns that it was used: %v", other)
	}
}

// TestAnApprovalThatWasNotGivenIsRefused whatever the client makes of no.
func TestAnApprovalThatWasNotGivenIsRefused(t *testing.T) {
	t.Parallel()
	s := onPostgres(t, "permissions: "+fileOf(t, "rules.yaml", askingRules))
	alice := start(t, s.options).as(s.alice).asking()
	command := args{"command": "echo x > a.txt"}
	for name, answer := range map[string]struct{ action, choice string }{
		"declined":                          {"decline", ""},
		"closed":                            {"cancel", ""},
		"no":                                {"accept", "no"},
		"nothing chosen":                    {"accept", ""},
		"what could not be chosen":          {"accept", "always"},
		"declined with a choice":            {"decline", "once"},
		"an action that there is not":       {"approve", "once"},
		"a connection that there is not":    {"accept", "connection"},
		"an action in another case":         {"Accept", "once"},
		"a choice in another case":          {"accept", "Once"},
		"a choice with something around it": {"accept", " once"},
	} {
		t.Run(name, func(t *testing.T) {
			state := alice.ask(t, "execute", command)
			got, err := alice.tryWith(t.Context(), answered("execute", command, state, answer.action, answer.choice))
			if err != nil {
				t.Fatal(err)
			}
			if !got.failed || got.state != "" {
				t.Errorf("it is answered with %v", got)
			}
			// What was answered with no is not asked again by the same state.
			if got := alice.redeem(t, "execute", command, state); got.code != "approval_refused" {
				t.Errorf("yes after that is answered with %v", got)
			}
		})
	}
	if got := alice.must(t, "ls", nil).text; strings.Contains(got, "a.txt") {
		t.Errorf("the command ran: %s", got)
	}
}
