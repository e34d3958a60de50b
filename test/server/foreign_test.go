package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// ways are those in which a request can name a workspace.
var ways = map[string]func(c caller, ref string) caller{
	"header": func(c caller, ref string) caller { return c.withHeader("Mcp-Workspace-Ref", ref) },
	"_meta":  func(c caller, ref string) caller { return c.withMeta("mcp-workspace/ref", ref) },
}

// callsOf are calls that would do something, of each kind.
var callsOf = map[string]args{
	"ls":         {},
	"read_file":  {"path": "diary.txt"},
	"write_file": {"path": "diary.txt", "content": "changed"},
	"edit_file":  {"path": "diary.txt", "old_string": "diary", "new_string": "changed"},
	"glob":       {"pattern": "**"},
	"grep":       {"pattern": "diary"},
	"execute":    {"command": "cat diary.txt; rm -f diary.txt"},
}

// attempt tries to get at a workspace; it is made again for one that never was.
type attempt struct {
	name string
	try  func(t *testing.T, c caller, ref string) reply
}

// attemptsByRef are made in each era.
func attemptsByRef() []attempt {
	var all []attempt
	for tool, a := range callsOf {
		for way, name := range ways {
			all = append(all, attempt{tool + " by " + way, func(t *testing.T, c caller, ref string) reply {
				return name(c, ref).send(t, "tools/call", toolParams(tool, a))
			}})
		}
		all = append(all, attempt{tool + " by argument", func(t *testing.T, c caller, ref string) reply {
			with := args{"workspace": ref}
			for k, v := range a {
				with[k] = v
			}
			return c.send(t, "tools/call", toolParams(tool, with))
		}})
	}
	for way, name := range ways {
		all = append(all, attempt{"workspace://current by " + way, func(t *testing.T, c caller, ref string) reply {
			return name(c, ref).send(t, "resources/read", map[string]any{"uri": "workspace://current"})
		}})
	}
	return append(all,
		attempt{"a ref and a name", func(t *testing.T, c caller, ref string) reply {
			return c.withHeader("Mcp-Workspace-Ref", ref).withHeader("Mcp-Workspace-Name", "default").send(t, "tools/call", toolParams("ls", nil))
		}},
		attempt{"two refs, one of them nothing's", func(t *testing.T, c caller, ref string) reply {
			return c.withHeader("Mcp-Workspace-Ref", ref).withMeta("mcp-workspace/ref", "state:mcpws-000000000000").send(t, "tools/call", toolParams("ls", nil))
		}},
		attempt{"a call without arguments", func(t *testing.T, c caller, ref string) reply {
			return c.withHeader("Mcp-Workspace-Ref", ref).send(t, "tools/call", toolParams("read_file", nil))
		}},
	)
}

// refuseAll makes every attempt at a ref and at one of the same form that never
// was, in both eras.
func refuseAll(t *testing.T, bob caller, ref string) {
	t.Helper()
	for era, newCaller := range map[string]func(t *testing.T) caller{
		"stateless": func(*testing.T) caller { return bob },
		// A session of its own for each, so that the numbers of streams are those
		// of the first.
		"session": bob.open,
	} {
		for _, a := range attemptsByRef() {
			t.Run(era+", "+a.name, func(t *testing.T) {
				nothing := ghost(ref)
				got := a.try(t, newCaller(t), ref)
				same(t, shape(got, ref), shape(a.try(t, newCaller(t), nothing), nothing))
				if answer, err := answerOf(got); err == nil && !answer.failed {
					t.Errorf("it was not refused: %v", answer)
				}
				if strings.Contains(string(got.body), "alice") {
					t.Errorf("the answer names the owner: %s", got.body)
				}
			})
		}
	}
}

func TestAnothersWorkspaceDoesNotExist(t *testing.T) {
	t.Parallel()
	onBackends(t, func(t *testing.T, s shared) {
		p := start(t, s.options)
		alice, bob := p.as(s.alice), p.as(s.bob)
		mine := map[string]caller{
			"the default workspace": alice,
			"a named one":           alice.withHeader("Mcp-Workspace-Name", "work"),
			"that of a session":     alice.open(t),
		}
		for what, c := range mine {
			made := c.write(t, "diary.txt", "diary of alice\n")
			t.Run(what, func(t *testing.T) {
				refuseAll(t, bob, made.ref)
				if got := c.content(t, "diary.txt"); got != "diary of alice" {
					t.Errorf("the file has %q", got)
				}
			})
			t.Run(what+", by name", func(t *testing.T) { byName(t, s, bob, made.ref) })
		}
		t.Run("bob's own is there, and empty", func(t *testing.T) {
			if got := bob.must(t, "ls", nil); strings.Contains(got.text, "diary") {
				t.Error(got)
			}
		})
	})
}

// byName tries the names that another's workspace has, or seems to have: each
// gives the principal a workspace of its own, as any other name does.
func byName(t *testing.T, s shared, bob caller, ref string) {
	t.Helper()
	_, id, _ := strings.Cut(ref, ":")
	names := []string{strings.TrimPrefix(id, "mcpws-")}
	if s.engine == nil {
		names = append(names, id, ref, "../"+id)
	}
	if len(names[0]) > 13 { // <12 hexadecimal digits>-name
		names = append(names, names[0][13:])
	}
	for _, name := range names {
		nothing := ghost(name)
		if nothing == name {
			continue
		}
		got, err := answerOf(bob.withHeader("Mcp-Workspace-Name", name).send(t, "tools/call", toolParams("ls", nil)))
		if err != nil {
			t.Fatal(err)
		}
		other, err := answerOf(bob.withHeader("Mcp-Workspace-Name", nothing).send(t, "tools/call", toolParams("ls", nil)))
		if err != nil {
			t.Fatal(err)
		}
		if got.ref == ref || strings.Contains(got.text, "diary") {
			t.Errorf("the name %q is alice's %s: %v", name, ref, got)
		}
		same(t, shape(got.reply, got.ref, name), shape(other.reply, other.ref, nothing))
	}
}

func TestAnothersSessionDoesNotExist(t *testing.T) {
	t.Parallel()
	s := onPostgres(t)
	p := start(t, s.options)
	alice := p.as(s.alice).open(t)
	alice.write(t, "diary.txt", "diary of alice\n")
	listening := alice.listen(t, "/mcp")
	if listening.status != http.StatusOK {
		t.Fatalf("alice cannot listen: %d", listening.status)
	}
	post := func(body string) func(*testing.T, caller) reply {
		return func(t *testing.T, c caller) reply { return c.plain(t, http.MethodPost, "/mcp", body) }
	}
	attempts := map[string]func(*testing.T, caller) reply{
		"a call": func(t *testing.T, c caller) reply {
			return c.send(t, "tools/call", toolParams("read_file", args{"path": "diary.txt"}))
		},
		"a list": func(t *testing.T, c caller) reply { return c.send(t, "tools/list", nil) },
		"the resource": func(t *testing.T, c caller) reply {
			return c.send(t, "resources/read", map[string]any{"uri": "workspace://current"})
		},
		"ping":            post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`),
		"an initialize":   post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`),
		"a notification":  post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`),
		"a cancellation":  post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`),
		"an answer":       post(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"answer":"once"}}}`),
		"a batch":         post(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`),
		"what is no JSON": post(`{`),
		"an unknown":      post(`{"jsonrpc":"2.0","id":1,"method":"no/such"}`),
		"a stream":        func(t *testing.T, c caller) reply { return c.glimpse(t, http.MethodGet, "/mcp") },
		"a stream resumed": func(t *testing.T, c caller) reply {
			return c.withHeader("Last-Event-ID", "1-0").glimpse(t, http.MethodGet, "/mcp")
		},
		"POST /message": func(t *testing.T, c caller) reply {
			return c.plain(t, http.MethodPost, "/message?sessionId="+c.session, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		},
		"POST /message with session_id": func(t *testing.T, c caller) reply {
			return c.plain(t, http.MethodPost, "/message?session_id="+c.session, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		},
		"a stateless call that has the header too": func(t *testing.T, c caller) reply {
			id := c.session
			c.session = ""
			return c.withHeader("Mcp-Session-Id", id).send(t, "tools/call", toolParams("read_file", args{"path": "diary.txt"}))
		},
	}
	for who, c := range map[string]caller{"bob": p.as(s.bob), "nobody": p.as(person{}), "a stranger": p.as(newPerson("stranger"))} {
		for _, what := range append(slices.Sorted(maps.Keys(attempts)), "an end") { // if that worked, no other would
			try := attempts[what]
			if what == "an end" {
				try = func(t *testing.T, c caller) reply { return c.glimpse(t, http.MethodDelete, "/mcp") }
			}
			t.Run(who+", "+what, func(t *testing.T) {
				real, ghost := c, c
				real.session, ghost.session = alice.session, randomOf(base64url, len(alice.session))
				got := try(t, real)
				other := try(t, ghost)
				same(t, shape(got, real.session, got.header.Get("Mcp-Session-Id")), shape(other, ghost.session, other.header.Get("Mcp-Session-Id")))
				if got.header.Get("Mcp-Session-Id") == alice.session {
					t.Error("it was given alice's session")
				}
				if strings.Contains(string(got.body), "diary of") {
					t.Errorf("it was told what is in the diary: %s", got.body)
				}
			})
		}
	}
	if got := alice.content(t, "diary.txt"); got != "diary of alice" {
		t.Errorf("alice's file has %q", got)
	}
	select {
	case line, open := <-listening.lines:
		if !open {
			t.Error("alice's stream was ended")
		} else if line != "" && !strings.HasPrefix(line, ":") && !strings.HasPrefix(line, "id:") && !strings.HasPrefix(line, "retry:") && line != "data:" && line != "data: " {
			t.Errorf("alice's stream brought %q", line)
		}
	default:
	}
}

func TestAnothersEventStreamDoesNotExist(t *testing.T) {
	t.Parallel()
	s := onPostgres(t)
	p := start(t, s.options)
	alice := p.as(s.alice).sse(t)
	write := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"diary.txt","content":"diary"}}}`
	if got := alice.post(t, write); got.status != http.StatusAccepted {
		t.Fatalf("a call is answered with %d %s", got.status, got.body)
	}
	a, err := answerOf(reply{status: 200, header: http.Header{}, body: []byte(alice.data(t))})
	if err != nil || a.failed {
		t.Fatal(a, err)
	}
	path, query, _ := strings.Cut(alice.endpoint, "?")
	key, id, _ := strings.Cut(query, "=")
	for who, c := range map[string]caller{"bob": p.as(s.bob), "nobody": p.as(person{})} {
		for what, body := range map[string]string{
			"a call":          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute","arguments":{"command":"rm diary.txt"}}}`,
			"a cancellation":  `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
			"an answer":       `{"jsonrpc":"2.0","id":1,"result":{}}`,
			"what is no JSON": `{`,
		} {
			t.Run(who+", "+what, func(t *testing.T) {
				nothing := randomOf(base64url, len(id))
				real := c.plain(t, http.MethodPost, path+"?"+key+"="+id, body)
				same(t, shape(real, id), shape(c.plain(t, http.MethodPost, path+"?"+key+"="+nothing, body), nothing))
				if real.status/100 != 4 {
					t.Errorf("it is answered with %d %s", real.status, real.body)
				}
			})
			t.Run(who+", "+what+" at /mcp", func(t *testing.T) {
				nothing := randomOf(base64url, len(id))
				real, ghost := c, c
				real.session, ghost.session = id, nothing
				same(t, shape(real.plain(t, http.MethodPost, "/mcp", body), id), shape(ghost.plain(t, http.MethodPost, "/mcp", body), nothing))
			})
		}
	}
	t.Run("a ref over SSE", func(t *testing.T) {
		ask := func(ref string) string {
			bob := p.as(s.bob).sse(t)
			bob.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"diary.txt"},"_meta":{"mcp-workspace/ref":%q}}}`, ref))
			got := bob.data(t)
			if !strings.Contains(got, `"isError":true`) {
				t.Errorf("it was not refused: %s", got)
			}
			return strings.ReplaceAll(got, ref, "*")
		}
		same(t, ask(a.ref), ask(ghost(a.ref)))
	})
	alice.post(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"diary.txt"}}}`)
	if got := alice.data(t); !strings.Contains(got, "diary") || strings.Contains(got, `"isError":true`) {
		t.Errorf("alice's next call is answered with %s", got)
	}
}
