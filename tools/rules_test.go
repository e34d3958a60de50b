package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

func preset(t *testing.T, name string) *permissions.Ruleset {
	t.Helper()
	r, ok := permissions.Preset(name)
	if !ok {
		t.Fatalf("no preset %s", name)
	}
	return r
}

// secretTree has a secret, a link to it, and a file to find beside it.
func secretTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{".env": "TOKEN=needle\n", "app.py": "needle\n", "sub/key.pem": "needle\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(".env", filepath.Join(dir, "innocent.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("sub", filepath.Join(dir, "alias")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDeniedPathsAreDeniedHoweverTheyAreReached(t *testing.T) {
	dir := secretTree(t)
	b := onLocal(t, dir, Options{})
	for _, p := range []string{".env", "./.env", "sub/../.env", dir + "/.env", "innocent.txt", "alias/key.pem", "sub//key.pem"} {
		b.fails(backends.CodePermission, "read_file", args{"path": p}, "denied by the ruleset", "rule ")
		b.fails(backends.CodePermission, "write_file", args{"path": p, "content": "x"})
		b.fails(backends.CodePermission, "edit_file", args{"path": p, "old_string": "needle", "new_string": "x"})
		if got := b.ok("grep", args{"pattern": "needle", "path": filepath.Dir(p), "ignore_hidden": false}); strings.Contains(got, ".env") || strings.Contains(got, "key.pem") || strings.Contains(got, "innocent") {
			t.Errorf("grep shows a secret: %q", got)
		}
	}
	if got := string(mustRead(t, filepath.Join(dir, ".env"))); got != "TOKEN=needle\n" {
		t.Errorf("the secret was changed to %q", got)
	}
	b.fails(backends.CodePermission, "grep", args{"pattern": "needle", "path": ".env"})
	b.fails(backends.CodePermission, "grep", args{"pattern": "needle", "path": "innocent.txt"})
	b.fails(backends.CodePermission, "execute", args{"command": "cat .e*"})
	b.fails(backends.CodePermission, "execute", args{"command": "true && cat innocent.txt"})
	b.fails(backends.CodePermission, "execute", args{"command": "cat s*/*"})
	b.fails(backends.CodePermission, "execute", args{"command": "cat inno*"})
	if got := b.ok("execute", args{"command": "cat a*.py; wc -l *.py"}); !strings.Contains(got, "needle") {
		t.Errorf("a pattern that stands for nothing denied: %q", got)
	}
}

// Nothing is told of what a link leads to when it may not be read.
func TestFailuresTellNothingOfWhatIsDenied(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"hid/b.dat": "\x7fELF\x00", "hid/asks.txt": "a secret here\n"} {
		if err := os.MkdirAll(filepath.Join(dir, "hid", "dir"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"bin": "hid/b.dat", "dir": "hid/dir", "gone": "hid/gone", "file": "hid/b.dat"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	b := onLocal(t, dir, Options{Rules: rules(t, `
default: allow
read: {rules: [{pattern: "**/hid/b.dat", action: deny}, {pattern: "**/hid/dir", action: deny}, {pattern: "**/hid/gone", action: deny}, {pattern: "**/asks.txt", action: ask}]}
ls: {rules: [{pattern: "**/hid/b.dat", action: deny}]}
`)})
	for _, link := range []string{"bin", "dir", "gone"} {
		b.fails(backends.CodePermission, "read_file", args{"path": link})
	}
	b.fails(backends.CodePermission, "ls", args{"path": "file"})
	if got := b.fails(codeApprovalRequired, "edit_file", args{"path": "hid/asks.txt", "old_string": "a secreX", "new_string": "x"}); strings.Contains(got, "secret") {
		t.Errorf("an edit tells what needs approval to read: %q", got)
	}
}

func TestAToolThatIsDeniedOutrightIsNotOffered(t *testing.T) {
	b := onState(t, Options{Rules: preset(t, "readonly")})
	listed, ok := b.request("tools/list", map[string]any{}).(mcp.JSONRPCResponse)
	if !ok {
		t.Fatal("there is no list")
	}
	offered := map[string]bool{}
	for _, tool := range listed.Result.(mcp.ListToolsResult).Tools {
		offered[tool.Name] = true
	}
	for name, want := range map[string]bool{"ls": true, "read_file": true, "glob": true, "grep": true, "write_file": false, "edit_file": false, "execute": false} {
		if offered[name] != want {
			t.Errorf("%s offered: %v", name, offered[name])
		}
	}
	for name, says := range map[string]string{"write_file": "the ruleset denies every write", "edit_file": "the ruleset denies every edit", "execute": "the ruleset denies every execute"} {
		if got := b.fails(backends.CodePermission, name, args{}); !strings.Contains(got, says) {
			t.Errorf("%s is answered with %q", name, got)
		}
	}
	// One that is not there at all is a mistake of the protocol.
	b = onState(t, Options{Tools: []string{"ls"}})
	for _, name := range []string{"write_file", "no_such_tool"} {
		if _, isError := b.request("tools/call", map[string]any{"name": name, "arguments": args{}}).(mcp.JSONRPCError); !isError {
			t.Errorf("%s was called", name)
		}
	}
}

func TestAnUnknownArgumentIsAnsweredWithThoseThereAre(t *testing.T) {
	for workspace, says := range map[bool]string{false: "the arguments are path", true: "the arguments are path, workspace"} {
		b := onState(t, Options{WorkspaceArgument: workspace})
		if got := b.fails(backends.CodeInvalidArgument, "ls", args{"dir": "x"}); !strings.HasSuffix(strings.TrimSpace(got), says) {
			t.Errorf("it is answered with %q, not %q", got, says)
		}
	}
}

func TestListingsLeaveOutWhatIsDenied(t *testing.T) {
	b := onState(t, Options{})
	b.ok("write_file", args{"path": "private/a.txt", "content": "x"})
	b.ok("write_file", args{"path": "public.txt", "content": "x"})
	hiding := newSibling(t, b, Options{Rules: rules(t, `
default: allow
ls: {rules: [{pattern: "**/private", action: deny}]}
glob: {rules: [{pattern: "**/private/**", action: deny}]}
`)})
	if got := hiding.ok("ls", nil); got != "public.txt (1 bytes)" {
		t.Errorf("ls: %q", got)
	}
	if got := hiding.ok("glob", args{"pattern": "**"}); got != "public.txt" {
		t.Errorf("glob: %q", got)
	}
}

func TestAskWithoutAClientThatCanAsk(t *testing.T) {
	rules := preset(t, "default")
	b := onState(t, Options{Rules: rules})
	b.fails(codeApprovalRequired, "write_file", args{"path": "a", "content": "x"}, "write of /workspace/a", "action: allow")
	b = onState(t, Options{Rules: rules, Fallback: FallbackDeny})
	b.fails(backends.CodePermission, "write_file", args{"path": "a", "content": "x"})
}

// person is a client of the session era whose person answers questions.
type person struct {
	mu     sync.Mutex
	asked  []mcp.ElicitationParams
	answer func(mcp.ElicitationParams) mcp.ElicitationResponse
}

func (*person) SessionID() string                                   { return "test" }
func (*person) Initialize()                                         {}
func (*person) Initialized() bool                                   { return true }
func (*person) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }
func (*person) GetClientInfo() mcp.Implementation                   { return mcp.Implementation{} }
func (*person) SetClientInfo(mcp.Implementation)                    {}
func (*person) SetClientCapabilities(mcp.ClientCapabilities)        {}
func (*person) GetClientCapabilities() (caps mcp.ClientCapabilities) {
	caps.Elicitation = &mcp.ElicitationCapability{}
	return caps
}

func (p *person) RequestElicitation(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.Params)
	return &mcp.ElicitationResult{ElicitationResponse: p.answer(r.Params)}, nil
}

func says(answer string) func(mcp.ElicitationParams) mcp.ElicitationResponse {
	return func(mcp.ElicitationParams) mcp.ElicitationResponse {
		return mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{answerField: answer}}
	}
}

// before puts a person before the bench's client.
func (b *bench) before(p *person) *bench {
	b.ctx = b.srv.WithContext(b.ctx, p)
	return b
}

func TestAskInTheSessionEra(t *testing.T) {
	p := &person{answer: says(answerOnce)}
	b := onState(t, Options{Rules: preset(t, "default")}).before(p)
	write := args{"path": "a", "content": "x\n"}
	b.ok("write_file", write)
	if len(p.asked) != 1 || !strings.Contains(p.asked[0].Message, "Allow write of\n    /workspace/a\n") {
		t.Fatalf("asked %+v", p.asked)
	}
	b.ok("write_file", write)
	if len(p.asked) != 2 {
		t.Fatalf("once was taken for more: asked %d times", len(p.asked))
	}
	p.answer = says(answerConnection)
	b.ok("write_file", write)
	b.ok("write_file", args{"path": "a", "content": "y\n"})
	if len(p.asked) != 3 {
		t.Fatalf("for this connection was not remembered: asked %d times", len(p.asked))
	}
	p.answer = says(answerNo)
	b.fails(codeApprovalRefused, "write_file", args{"path": "b", "content": "x"}, "did not allow", "allow rule")
	b.fails(codeApprovalRefused, "edit_file", args{"path": "a", "old_string": "y", "new_string": "z"})
	for _, action := range []mcp.ElicitationResponseAction{mcp.ElicitationResponseActionDecline, mcp.ElicitationResponseActionCancel} {
		p.answer = func(mcp.ElicitationParams) mcp.ElicitationResponse {
			return mcp.ElicitationResponse{Action: action, Content: map[string]any{answerField: answerOnce}}
		}
		b.fails(codeApprovalRefused, "write_file", args{"path": "b", "content": "x"}, "Some clients declare")
	}
	p.answer = func(mcp.ElicitationParams) mcp.ElicitationResponse {
		return mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept}
	}
	b.fails(codeApprovalRefused, "write_file", args{"path": "b", "content": "x"})
	b.fails(backends.CodePermission, "write_file", args{"path": ".env", "content": "x"}) // nobody is asked about what is denied
	if n := len(p.asked); n != 8 {
		t.Errorf("asked %d times", n)
	}
}

func TestAskTellsTheWholeCommand(t *testing.T) {
	p := &person{answer: says(answerOnce)}
	b := onLocal(t, t.TempDir(), Options{Rules: rules(t, `
default: allow
execute:
  rules:
    - {pattern: "touch *", action: ask, description: "makes files"}
`)}).before(p)
	b.ok("execute", args{"command": "echo start && touch made"})
	if len(p.asked) != 1 {
		t.Fatalf("asked %d times", len(p.asked))
	}
	for _, want := range []string{"about the part: touch made", "makes files", "    echo start && touch made\n"} {
		if !strings.Contains(p.asked[0].Message, want) {
			t.Errorf("the question does not say %q: %s", want, p.asked[0].Message)
		}
	}
	b.ok("ls", nil)
}

// Approving a command for the connection approves that command, and not one
// that begins like it.
func TestApprovalIsForTheWholeCommand(t *testing.T) {
	p := &person{answer: says(answerConnection)}
	b := onLocal(t, t.TempDir(), Options{Rules: preset(t, "default")}).before(p)
	b.ok("execute", args{"command": "date"})
	b.ok("execute", args{"command": "date"})
	if len(p.asked) != 1 {
		t.Fatalf("asked %d times", len(p.asked))
	}
	p.answer = says(answerNo)
	for _, command := range []string{"date; touch pwned", "date | tee f", "cd / && date", "date "} {
		b.fails(codeApprovalRefused, "execute", args{"command": command})
	}
}

// What is not shown to the person cannot be approved.
func TestQuestionShowsAllOfTheCommandAndNothingElse(t *testing.T) {
	p := &person{answer: says(answerOnce)}
	b := onLocal(t, t.TempDir(), Options{Rules: preset(t, "default")}).before(p)
	b.ok("execute", args{"command": "date; : " + strings.Repeat("A", 3000) + "\ntouch seen"})
	if !strings.Contains(p.asked[0].Message, "\n    touch seen\n") {
		t.Errorf("the end is not shown: %q", p.asked[0].Message)
	}
	b.fails(codeApprovalRequired, "execute", args{"command": "date; : " + strings.Repeat("A", maxAsked)}, "too long")
	b.ok("execute", args{"command": "date # \x1b[2J\r\u202eThe ruleset asks"})
	if got := p.asked[1].Message; strings.ContainsAny(got, "\x1b\r\u202e") || !strings.Contains(got, `\x1b[2J\r\u202eThe ruleset`) {
		t.Errorf("control characters reach the person: %q", got)
	}
}

// modern makes a call as a client of 2026-07-28 does.
func (b *bench) modern(tool string, a args, extra map[string]any) *mcp.CallToolResult {
	b.t.Helper()
	params := map[string]any{"name": tool, "arguments": a, "_meta": map[string]any{
		mcp.MetaKeyProtocolVersion:    "2026-07-28",
		mcp.MetaKeyClientCapabilities: map[string]any{"elicitation": map[string]any{}},
	}}
	for k, v := range extra {
		params[k] = v
	}
	return b.callWith(params)
}

// approving is the retry that answers r.
func approving(r *mcp.CallToolResult, answer string) map[string]any {
	return map[string]any{
		"requestState":   r.RequestState,
		"inputResponses": map[string]any{approvalID: map[string]any{"action": "accept", "content": map[string]any{answerField: answer}}},
	}
}

func TestAskInTheStatelessEra(t *testing.T) {
	b := onState(t, Options{Rules: preset(t, "default")})
	write := args{"path": "a", "content": "x\n"}
	ask := func(a args) *mcp.CallToolResult {
		t.Helper()
		r := b.modern("write_file", a, nil)
		if !r.NeedsInput() || r.RequestState == "" || len(r.InputRequests) != 1 {
			t.Fatalf("not asked but answered %+v", r)
		}
		return r
	}
	refused := func(tool string, a args, extra map[string]any) {
		t.Helper()
		r := b.modern(tool, a, extra)
		if !r.IsError || fact(r, "code") != string(codeApprovalRefused) {
			t.Errorf("%s %v %v: %+v", tool, a, extra, r)
		}
	}
	first := ask(write)
	if r := b.modern("write_file", write, approving(first, answerOnce)); r.IsError || r.NeedsInput() {
		t.Fatalf("not approved: %s", text(r))
	}
	refused("write_file", write, approving(first, answerOnce)) // replayed

	second := ask(write)
	refused("write_file", args{"path": "b", "content": "x\n"}, approving(second, answerOnce))     // another path
	refused("write_file", args{"path": "a", "content": "other\n"}, approving(second, answerOnce)) // other content
	refused("edit_file", args{"path": "a", "old_string": "x", "new_string": "y"}, approving(second, answerOnce))
	forged := approving(second, answerOnce)
	forged["requestState"] = strings.ToLower(second.RequestState)
	refused("write_file", write, forged)
	forged["requestState"] = ""
	refused("write_file", write, forged)
	other := onState(t, Options{Rules: preset(t, "default")})
	if r := other.modern("write_file", write, approving(second, answerOnce)); !r.IsError {
		t.Error("an approval of another connection was taken")
	}
	if r := b.modern("write_file", write, approving(second, answerConnection)); r.IsError || r.NeedsInput() {
		t.Fatalf("not approved: %s", text(r))
	}
	if r := b.modern("write_file", write, nil); r.IsError || r.NeedsInput() {
		t.Fatalf("approval for the connection was not kept: %s", text(r))
	}
	ask(args{"path": "b", "content": "x\n"})

	// What a request does not say the client can do, it cannot.
	r := b.callWith(map[string]any{"name": "write_file", "arguments": args{"path": "c", "content": "x"}, "_meta": map[string]any{
		mcp.MetaKeyProtocolVersion: "2026-07-28", mcp.MetaKeyClientCapabilities: map[string]any{},
	}})
	if fact(r, "code") != string(codeApprovalRequired) {
		t.Errorf("a client that cannot ask: %+v", r)
	}
}

// An approval covers what was asked about, not what a link has been made to
// lead to meanwhile.
func TestApprovalIsForWhatWasAskedAbout(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("one", link); err != nil {
		t.Fatal(err)
	}
	b := onLocal(t, dir, Options{Rules: rules(t, `{default: allow, write: {rules: [{pattern: "**/one", action: ask}, {pattern: "**/two", action: ask}]}}`)})
	write := args{"path": "link", "content": "x"}
	first := b.modern("write_file", write, nil)
	if !first.NeedsInput() {
		t.Fatalf("not asked: %+v", first)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("two", link); err != nil {
		t.Fatal(err)
	}
	if again := b.modern("write_file", write, approving(first, answerOnce)); !again.NeedsInput() {
		t.Fatalf("approval for one was used for two: %s", text(again))
	}
	if got := string(mustRead(t, filepath.Join(dir, "two"))); got != "two" {
		t.Errorf("two was written: %q", got)
	}
}

func TestStructuredContentIsCompleteAndValid(t *testing.T) {
	b := onLocal(t, t.TempDir(), Options{Structured: true})
	calls := []struct {
		tool string
		args args
		has  []string
	}{
		{"write_file", args{"path": "f", "content": "one\ntwo\n"}, []string{`"lines":2`}},
		{"edit_file", args{"path": "f", "old_string": "two", "new_string": "2"}, []string{`"replaced":1`, `-two`}},
		{"read_file", args{"path": "f"}, []string{`one`, `"total_lines":2`}},
		{"ls", nil, []string{`"name":"f"`, `"size":6`}},
		{"glob", args{"pattern": "*"}, []string{`"total":1`}},
		{"grep", args{"pattern": "one", "output_mode": "content"}, []string{`"line":1`}},
		{"execute", args{"command": "echo out; exit 3"}, []string{`"exit_code":3`, `"output":"out"`}},
		{"read_file", args{"path": "missing"}, []string{`"error":{"code":"not_found"`}},
		{"ls", args{"nonsense": 1}, []string{`"error":{"code":"invalid_argument"`}},
		{"execute", args{"command": "echo begun; sleep 60", "timeout": 0.2}, []string{`"code":"timeout"`, `begun`}},
	}
	for _, c := range calls {
		r := b.call(c.tool, c.args)
		encoded, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.has {
			if !strings.Contains(string(encoded), want) {
				t.Errorf("%s %v: %s has no %s", c.tool, c.args, encoded, want)
			}
		}
		validateOutput(t, c.tool, encoded)
	}
	if r := onState(t, Options{}).call("ls", nil); r.StructuredContent != nil {
		t.Error("structured content that nobody asked for")
	}
}

// validateOutput holds structured content against the tool's output schema.
func validateOutput(t *testing.T, tool string, content []byte) {
	t.Helper()
	for _, d := range definitions(EditByString) {
		if d.name != tool {
			continue
		}
		schema, err := d.output()
		if err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(content, &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); err != nil {
			t.Errorf("%s: %s does not fit its schema: %v", tool, content, err)
		}
	}
}

func TestSelectionAndTexts(t *testing.T) {
	b := onState(t, Options{Tools: []string{"ls", "read_file"}, Texts: map[string]Text{
		"ls": {Description: "Look around.", Arguments: map[string]string{"path": "Where."}},
	}})
	tools := b.srv.ListTools()
	if len(tools) != 2 {
		t.Errorf("%d tools", len(tools))
	}
	if ls := tools["ls"].Tool; ls.Description != "Look around." || !strings.Contains(string(ls.RawInputSchema), `"description":"Where."`) {
		t.Errorf("ls: %+v", ls)
	}
	srv := server.NewMCPServer("test", "0")
	for _, c := range []struct {
		opts Options
		says string
	}{
		{Options{Tools: []string{"cat"}}, `there is no tool "cat"; the tools are ls, read_file`},
		{Options{Texts: map[string]Text{"cat": {}}}, `descriptions: there is no tool "cat"`},
		{Options{Texts: map[string]Text{"ls": {Arguments: map[string]string{"dir": "x"}}}}, `ls has no argument "dir"; it has path`},
	} {
		c.opts.Rules = permissive(t)
		if err := Register(srv, c.opts); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.opts, err)
		}
	}
}

func TestResourceDescribesTheWorkspace(t *testing.T) {
	b := onState(t, Options{})
	read := func() string {
		t.Helper()
		r, ok := b.request("resources/read", map[string]any{"uri": currentURI}).(mcp.JSONRPCResponse)
		if !ok {
			t.Fatal("no answer")
		}
		encoded, err := json.Marshal(r.Result)
		if err != nil {
			t.Fatal(err)
		}
		return string(encoded)
	}
	if got := read(); strings.Contains(got, `\"ref\"`) || !strings.Contains(got, `\"backend\": \"state\"`) {
		t.Errorf("before first use: %s", got)
	}
	b.ok("ls", nil)
	if got := read(); !strings.Contains(got, b.conn.Ref()) || !strings.Contains(got, `/workspace`) {
		t.Errorf("after first use: %s", got)
	}
}
