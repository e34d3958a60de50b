package server

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

const auditedRules = `
default: allow
read:
  default: allow
  rules:
    - {pattern: "**/private/**", action: deny, description: "kept from agents"}
execute:
  default: allow
  rules:
    - {pattern: "git *", action: ask, description: "pushes are public"}
`

// auditLine is what tests look at of a line.
type auditLine struct {
	Time      string   `json:"time"`
	Event     string   `json:"event"`
	RequestID string   `json:"request_id"`
	Principal string   `json:"principal"`
	Session   string   `json:"session"`
	Workspace string   `json:"workspace"`
	Tool      string   `json:"tool"`
	Operation string   `json:"operation"`
	Target    string   `json:"target"`
	Decision  string   `json:"decision"`
	Rule      string   `json:"rule"`
	Outcome   string   `json:"outcome"`
	Approved  bool     `json:"approved"`
	ExitCode  *int     `json:"exit_code"`
	Duration  *float64 `json:"duration_ms"`
	Status    int      `json:"status"`
	Reason    string   `json:"reason"`
}

// audited reads an audit log.
func audited(t *testing.T, path string) (lines []auditLine, text string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var l auditLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, l)
	}
	return lines, string(data)
}

func TestTheAuditLogSaysWhoDidWhat(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	s := withOperator("permissions: " + fileOf(t, "rules.yaml", auditedRules))
	s.flags = []string{"--audit-log", path}
	p := start(t, s.options)
	alice := p.as(s.alice)
	session := alice.open(t)

	type done struct {
		answer
		want auditLine
	}
	exit := func(n int) *int { return &n }
	var all []done
	add := func(a answer, want auditLine) { all = append(all, done{a, want}) }
	add(alice.write(t, "a.txt", "x\n"), auditLine{Tool: "write_file", Operation: "write", Target: "a.txt", Decision: "allow", Outcome: "ok"})
	add(session.write(t, "b.txt", "x\n"), auditLine{Tool: "write_file", Operation: "write", Target: "b.txt", Decision: "allow", Outcome: "ok"})
	add(alice.call(t, "execute", args{"command": "exit 3"}), auditLine{Tool: "execute", Operation: "execute", Target: "exit 3", Decision: "allow", Outcome: "ok", ExitCode: exit(3)})
	add(alice.call(t, "read_file", args{"path": "missing.txt"}), auditLine{Tool: "read_file", Operation: "read", Target: "missing.txt", Decision: "allow", Outcome: "not_found"})
	add(alice.call(t, "read_file", args{"path": "private/a"}), auditLine{Tool: "read_file", Operation: "read", Target: "private/a", Decision: "deny", Outcome: "permission_denied"})
	add(alice.call(t, "execute", args{"command": "git push"}), auditLine{Tool: "execute", Operation: "execute", Target: "git push", Decision: "ask", Outcome: "approval_required"})
	git := args{"command": "git status"}
	asked := alice.asking().call(t, "execute", git)
	add(asked, auditLine{Tool: "execute", Operation: "execute", Target: "git status", Decision: "ask", Outcome: "asked"})
	approved := alice.asking().redeem(t, "execute", git, asked.state)
	add(approved, auditLine{Tool: "execute", Operation: "execute", Target: "git status", Decision: "ask", Outcome: "ok", Approved: true, ExitCode: exit(approved.exit)})
	refused, err := alice.asking().tryWith(t.Context(), answered("execute", git, alice.ask(t, "execute", git), "decline", ""))
	if err != nil {
		t.Fatal(err)
	}
	add(refused, auditLine{Tool: "execute", Operation: "execute", Target: "git status", Outcome: "approval_refused"})
	add(alice.call(t, "ls", args{"path": 7}), auditLine{Tool: "ls", Operation: "ls", Outcome: "invalid_argument"})
	nothing := "state:mcpws-0123456789ab"
	add(p.as(s.bob).withHeader("Mcp-Workspace-Ref", nothing).call(t, "ls", nil), auditLine{Principal: "bob", Tool: "ls", Operation: "ls", Outcome: "unavailable"})
	stranger := p.as(newPerson("x")).send(t, "tools/list", nil)
	p.stop(t)

	lines, text := audited(t, path)
	byRequest := map[string]auditLine{}
	for _, l := range lines {
		if l.Event == "call" {
			byRequest[l.RequestID] = l
		}
	}
	for _, d := range all {
		got, ok := byRequest[d.header.Get("X-Request-Id")]
		if !ok {
			t.Errorf("there is no line of the request %q: %+v", d.header.Get("X-Request-Id"), d.want)
			continue
		}
		want := d.want
		if want.Principal == "" {
			want.Principal = "alice"
		}
		if got.Principal != want.Principal || got.Tool != want.Tool || got.Operation != want.Operation || got.Target != want.Target || got.Outcome != want.Outcome || got.Approved != want.Approved || want.Decision != "" && got.Decision != want.Decision {
			t.Errorf("the line is %+v, not %+v", got, want)
		}
		if (got.ExitCode == nil) != (want.ExitCode == nil) || got.ExitCode != nil && *got.ExitCode != *want.ExitCode {
			t.Errorf("the exit code of %q is %v", got.Target, got.ExitCode)
		}
		if got.Workspace != d.ref && d.ref != "" || got.Time == "" || got.Duration == nil || got.Decision != "" && got.Rule == "" {
			t.Errorf("the line lacks something: %+v", got)
		}
	}
	if l := byRequest[all[1].header.Get("X-Request-Id")]; l.Session == "" || strings.Contains(text, session.session) {
		t.Errorf("of the session there is %q", l.Session)
	}
	found := false
	for _, l := range lines {
		found = found || l.Event == "refused" && l.RequestID == stranger.header.Get("X-Request-Id") && l.Status == http.StatusUnauthorized
	}
	if !found {
		t.Errorf("there is no line of a stranger's request in\n%s", text)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}

// TestNothingSecretIsWrittenAnywhere where operators look: neither tokens, nor
// content, nor what gives access to a session.
func TestNothingSecretIsWrittenAnywhere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	secrets := map[string]string{}
	mark := func(what string) string {
		secrets[what] = "MARK" + randomOf("ABCDEFGHJKLMNPQRSTUVWXYZ", 16)
		return secrets[what]
	}
	store := onPostgres(t, "permissions: "+fileOf(t, "rules.yaml", askingRules))
	s := store
	s.alice, s.bob = newPerson("alice", "permissions: permissive"), newPerson("bob", "operator: true")
	head, _, _ := strings.Cut(store.config, "principals:")
	s.config = configOf(head, s.alice, s.bob)
	s.flags = []string{"--audit-log", path, "--log-level=debug"}
	p := start(t, s.options)
	alice, bob := p.as(s.alice), p.as(s.bob)
	var errorTexts strings.Builder
	failing := func(c caller, tool string, a args) {
		got := c.call(t, tool, a)
		if !got.failed {
			t.Errorf("%s %v did not fail: %v", tool, a, got)
		}
		errorTexts.Write(got.body)
	}

	session, events := alice.open(t), alice.sse(t)
	secrets["session"] = session.session
	_, secrets["SSE session"], _ = strings.Cut(events.endpoint, "=")
	secrets["token"], secrets["operator's token"] = s.alice.token, s.bob.token
	unknown := newPerson("stranger")
	secrets["unknown token"] = unknown.token
	secrets["password of the database"] = "p%40ss"
	secrets["password of the database, unescaped"] = "p@ss"
	for _, c := range []caller{alice, session} {
		c.write(t, "a.txt", mark("content")+"\n")
		c.must(t, "edit_file", args{"path": "a.txt", "old_string": secrets["content"], "new_string": mark("new text")})
		c.must(t, "read_file", args{"path": "a.txt"})
		c.must(t, "execute", args{"command": "cat a.txt"})
		failing(c, "edit_file", args{"path": "a.txt", "old_string": mark("text that is not there"), "new_string": mark("unused text")})
		failing(c, "write_file", args{"path": "a.txt", "content": mark("refused content"), "no_such": 1})
		failing(c, "write_file", args{"path": "a.txt/b", "content": mark("content below a file")})
	}
	events.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a.txt","content":"`+mark("content over SSE")+`"}}}`)
	events.data(t)
	asked := args{"path": "b.txt", "content": mark("content to approve")}
	secrets["approval"] = bob.ask(t, "write_file", asked)
	bob.asking().redeem(t, "write_file", asked, secrets["approval"])
	errorTexts.Write(bob.asking().redeem(t, "write_file", asked, secrets["approval"]).body)
	for _, body := range []string{`{"` + mark("malformed message"), `{"jsonrpc":"2.0","id":1,"method":"ping","` + mark("odd member") + `":1`, mark("no JSON")} {
		errorTexts.Write(alice.plain(t, http.MethodPost, "/mcp", body).body)
	}
	errorTexts.Write(p.as(unknown).send(t, "tools/list", nil).body)
	errorTexts.Write(p.as(person{}).plain(t, http.MethodPost, "/mcp?token="+s.alice.token, `{}`).body)
	errorTexts.Write(alice.withHeader("Authorization", "Basic "+s.alice.token).plain(t, http.MethodPost, "/mcp", `{}`).body)
	gone := alice.open(t)
	secrets["ended session"] = gone.session
	gone.close(t)
	errorTexts.Write(gone.send(t, "tools/list", nil).body)
	foreign := session
	foreign.token = s.bob.token
	errorTexts.Write(foreign.send(t, "tools/list", nil).body)

	metrics := string(bob.plain(t, http.MethodGet, "/metrics", "").body)
	title, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	events.cancel()
	p.stop(t)
	_, audit := audited(t, path)
	for where, text := range map[string]string{"the audit log": audit, "the log": p.log.String(), "the metrics": metrics, "the process title": string(title), "error texts": errorTexts.String()} {
		if len(text) < 20 {
			t.Errorf("%s are too short to tell: %q", where, text)
		}
		for what, secret := range secrets {
			if where == "error texts" && what == "text that is not there" {
				continue // the caller, who has sent it, may be told which one it was
			}
			if strings.Contains(text, secret) {
				at := strings.Index(text, secret)
				t.Errorf("in %s there is the %s: …%s…", where, what, text[max(0, at-200):min(len(text), at+len(secret)+100)])
			}
		}
	}
}

// TestTheAuditLogIsOpenedAnew when whoever rotates it says so.
func TestTheAuditLogIsOpenedAnew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	s := withOperator()
	s.flags = []string{"--audit-log", path}
	p := start(t, s.options)
	p.as(s.alice).write(t, "a.txt", "x")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "there is a new file", func() bool { _, err := os.Stat(path); return err == nil })
	p.as(s.alice).write(t, "b.txt", "x")
	p.stop(t)
	before, _ := audited(t, path+".1")
	after, _ := audited(t, path)
	has := func(lines []auditLine, target string) bool {
		return slices.ContainsFunc(lines, func(l auditLine) bool { return l.Target == target })
	}
	if !has(before, "a.txt") || has(before, "b.txt") || !has(after, "b.txt") {
		t.Errorf("before there is %+v, after it %+v", before, after)
	}
}

// TestTheAuditLogHasForeignWorkspaces however they are named, and whatever for.
func TestTheAuditLogHasForeignWorkspaces(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	s := withOperator()
	s.flags = []string{"--audit-log", path}
	p := start(t, s.options)
	ref := p.as(s.alice).write(t, "a.txt", "x").ref
	bob := p.as(s.bob)
	header := bob.withHeader("Mcp-Workspace-Ref", ref)
	session := bob.open(t).withHeader("Mcp-Workspace-Ref", ref)
	resource := map[string]any{"uri": "workspace://current"}
	type attempt struct {
		reply
		call bool
	}
	attempts := map[string]attempt{
		"a header":                   {header.call(t, "ls", nil).reply, true},
		"a header, in a session":     {session.call(t, "ls", nil).reply, true},
		"_meta":                      {bob.withMeta("mcp-workspace/ref", ref).call(t, "ls", nil).reply, true},
		"the argument":               {bob.call(t, "ls", args{"workspace": ref}).reply, true},
		"a header, for the resource": {header.send(t, "resources/read", resource), false},
		"_meta, for the resource":    {bob.withMeta("mcp-workspace/ref", ref).send(t, "resources/read", resource), false},
	}
	if n := metric(t, bob, `mcp_workspace_refused_requests_total{reason="foreign_workspace"}`); n != float64(len(attempts)) {
		t.Errorf("the metric has %v of %d", n, len(attempts))
	}
	p.stop(t)
	lines, text := audited(t, path)
	for how, a := range attempts {
		var refused, calls int
		for _, l := range lines {
			if l.RequestID != a.header.Get("X-Request-Id") {
				continue
			}
			if l.Principal != "bob" || l.Workspace != ref {
				t.Errorf("by %s: the line %+v", how, l)
			}
			switch {
			case l.Event == "refused" && l.Reason == "foreign_workspace":
				refused++
			case l.Event == "call" && l.Outcome == "unavailable":
				calls++
			default:
				t.Errorf("by %s: the line %+v", how, l)
			}
		}
		if refused != 1 || (calls == 1) != a.call {
			t.Errorf("by %s: %d lines say that it was refused, and %d are of a call, in\n%s", how, refused, calls, text)
		}
	}
}

// happened are the events of one workspace or session, each with its reason.
func happened(lines []auditLine, of func(auditLine) bool) (events []string) {
	for _, l := range lines {
		if l.Event != "call" && l.Event != "refused" && of(l) {
			events = append(events, strings.TrimSpace(l.Event+" "+l.Reason))
		}
	}
	return events
}

func ofWorkspace(ref string) func(auditLine) bool {
	return func(l auditLine) bool { return l.Workspace == ref }
}

func ofSession(id string) func(auditLine) bool {
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(id)))[:12]
	return func(l auditLine) bool { return l.Session == hash }
}

// TestTheAuditLogHasTheLivesOfSessions, and of the workspaces that go with them.
func TestTheAuditLogHasTheLivesOfSessions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	s := withOperator()
	s.flags = []string{"--audit-log", path, "--destroy-on-exit", "--session-timeout=2s"}
	p := start(t, s.options)
	alice := p.as(s.alice)
	closed, silent, events := alice.open(t), alice.open(t), alice.sse(t)
	_, id, _ := strings.Cut(events.endpoint, "=")
	made := closed.write(t, "a.txt", "x")
	closed.close(t)
	silent.must(t, "ls", nil)
	events.cancel()
	within(t, time.Minute, "the silent session ends", func() bool {
		lines, _ := audited(t, path)
		return slices.Contains(happened(lines, ofSession(silent.session)), "session_ended idle")
	})
	last, stream := alice.open(t), alice.sse(t)
	_, lastStream, _ := strings.Cut(stream.endpoint, "=")
	kept := alice.write(t, "a.txt", "x")
	p.stop(t)

	lines, text := audited(t, path)
	const began, madeOne, gone = "session_started", "workspace_created", "workspace_removed session_ended"
	for what, c := range map[string]struct {
		of   func(auditLine) bool
		want []string
	}{
		"closed":                   {ofSession(closed.session), []string{began, madeOne, "session_ended closed", gone}},
		"silent":                   {ofSession(silent.session), []string{began, madeOne, "session_ended idle", gone}},
		"of SSE":                   {ofSession(id), []string{began, "session_ended disconnected"}},
		"until the end":            {ofSession(last.session), []string{began, "session_ended shutdown"}},
		"of SSE until the end":     {ofSession(lastStream), []string{began, "session_ended shutdown"}},
		"the workspace of closed":  {ofWorkspace(made.ref), []string{madeOne, gone}},
		"the workspace of nothing": {ofWorkspace(kept.ref), []string{madeOne}},
	} {
		if got := happened(lines, c.of); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", what, got, c.want)
		}
	}
	for _, l := range lines {
		if l.Principal != "alice" || l.Event == "workspace_created" && l.RequestID == "" {
			t.Errorf("the line %+v", l)
		}
	}
	for _, id := range []string{closed.session, silent.session, id} {
		if strings.Contains(text, id) {
			t.Error("the log has the id of a session")
		}
	}
}

// TestTheAuditLogHasTheLivesOfContainers that are stopped and removed.
func TestTheAuditLogHasTheLivesOfContainers(t *testing.T) {
	t.Parallel()
	e := engines.Docker(t)
	path := filepath.Join(t.TempDir(), "audit.log")
	s := onEngine(t, e, "per-principal: {running: 1}", "idle-stop: 2s", "max-age: 20s")
	s.flags = []string{"--audit-log", path}
	p := start(t, s.options)
	one, two := p.as(s.alice).withHeader("Mcp-Workspace-Name", "one"), p.as(s.alice).withHeader("Mcp-Workspace-Name", "two")
	first := one.must(t, "ls", nil).ref
	room := two.must(t, "ls", nil)
	within(t, time.Minute, "it is stopped", func() bool { return !running(t, e, room.ref) })
	one.must(t, "ls", nil)
	has := func(ref, event string) func() bool {
		return func() bool {
			lines, _ := audited(t, path)
			return slices.Contains(happened(lines, ofWorkspace(ref)), event)
		}
	}
	for _, ref := range []string{first, room.ref} {
		within(t, 2*time.Minute, "it is removed", has(ref, "workspace_removed age"))
	}
	p.stop(t)
	lines, _ := audited(t, path)
	want := []string{"workspace_created", "workspace_stopped room", "workspace_attached", "workspace_stopped idle", "workspace_removed age"}
	if got := happened(lines, ofWorkspace(first)); !slices.Equal(got, want) {
		t.Errorf("the first: %q, not %q", got, want)
	}
	want = []string{"workspace_created", "workspace_stopped idle", "workspace_removed age"}
	if got := happened(lines, ofWorkspace(room.ref)); !slices.Equal(got, want) {
		t.Errorf("the second: %q, not %q", got, want)
	}
	for _, l := range lines {
		if l.Principal != s.alice.name {
			t.Errorf("the line %+v", l)
		}
		if l.Reason == "room" && l.RequestID != room.header.Get("X-Request-Id") {
			t.Errorf("the room was made for %q", l.RequestID)
		}
	}
}
