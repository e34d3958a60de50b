package permissions

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/internal/pathglob"
)

func parse(t testing.TB, src string) *Ruleset {
	t.Helper()
	r, err := Parse("test.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFirstMatchDecides(t *testing.T) {
	r := parse(t, `
default: deny
read:
  default: ask
  rules:
    - {pattern: "**/.env.example", action: allow}
    - {pattern: "**/.env.*", action: deny, description: "kept"}
    - {pattern: "/workspace/**", action: allow}
ls: {rules: [{pattern: "/tmp/**", action: allow}]}
`)
	for _, test := range []struct {
		op       Operation
		path     string
		resolved string
		want     Action
		why      string
	}{
		{Read, "/workspace/.env.example", "", Allow, `rule "**/.env.example" (allow)`},
		{Read, "/workspace/.env.local", "", Deny, `rule "**/.env.*" (deny): kept`},
		{Read, "/workspace/a/b", "", Allow, `rule "/workspace/**" (allow)`},
		{Read, "/other", "", Ask, "default of read (ask)"},
		{Ls, "/tmp/x", "", Allow, `rule "/tmp/**" (allow)`},
		{Ls, "/x", "", Deny, "default of the ruleset (deny)"},
		{Write, "/x", "", Deny, "default of the ruleset (deny)"},
		// Both names count, the stricter decides.
		{Read, "/workspace/link", "/other", Ask, "default of read (ask)"},
		{Read, "/other/link", "/workspace/x", Ask, "default of read (ask)"},
		{Read, "/workspace/link", "/workspace/.env.local", Deny, `rule "**/.env.*" (deny): kept`},
		{Read, "/workspace/.env.local", "/workspace/x", Deny, `rule "**/.env.*" (deny): kept`},
	} {
		d := r.Path(test.op, test.path, test.resolved)
		if d.Action != test.want || d.Why != test.why || d.Operation != test.op {
			t.Errorf("%s %s -> %s: %s, %s; want %s, %s", test.op, test.path, test.resolved, d.Action, d.Why, test.want, test.why)
		}
	}
}

// The manual's way to make an exception from a preset.
func TestExceptionBeforeThePresetsRules(t *testing.T) {
	const exception = "rules:\n    - {pattern: \"**/.env.example\", action: allow}\n"
	for _, name := range PresetNames() {
		if name == "readonly" {
			continue // runs no command
		}
		changed := parse(t, strings.ReplaceAll(preset(t, name).YAML(), "rules:\n", exception))
		for command, want := range map[string]bool{
			"cp .env.example x":    true,
			"cp x .env.example":    true,
			"cat < .env.example":   true,
			"cp .env.example .env": false,
			"cp .env.local x":      false,
		} {
			if denied := preset(t, name).Command(command, emptyShell{}).Action == Deny; !denied {
				t.Errorf("%s: %s is not denied to begin with", name, command)
			}
			if allowed := changed.Command(command, emptyShell{}).Action != Deny; allowed != want {
				t.Errorf("%s: %s is not denied: %v, want %v", name, command, allowed, want)
			}
		}
	}
}

func TestSecretsAtAnyDepth(t *testing.T) {
	for _, name := range PresetNames() {
		r := preset(t, name)
		for _, p := range []string{"/.env", "/workspace/.env", "/a/b/c/.env", "/x/.env.local", "/x/a.pem", "/x/credentials.json", "/x/my_secret.txt", "/home/u/.ssh/id_rsa", "/root/.aws/config"} {
			for _, op := range []Operation{Read, Write, Edit} {
				if d := r.Path(op, p, ""); d.Action != Deny {
					t.Errorf("%s: %s %s is %s", name, op, p, d.Action)
				}
			}
		}
		if d := r.Path(Read, "/workspace/environment", ""); d.Action == Deny {
			t.Errorf("%s denies /workspace/environment: %s", name, d.Why)
		}
	}
}

func TestOffered(t *testing.T) {
	for name, hidden := range map[string][]Operation{
		"default": nil, "permissive": nil, "strict": nil, "readonly": {Write, Edit, Execute},
	} {
		r := preset(t, name)
		var got []Operation
		for _, op := range Operations() {
			if !r.Offered(op) {
				got = append(got, op)
			}
		}
		if !reflect.DeepEqual(got, hidden) {
			t.Errorf("%s hides %v, want %v", name, got, hidden)
		}
	}
	r := parse(t, "default: deny\nwrite: {rules: [{pattern: \"/tmp/**\", action: ask}]}\nread: {rules: [{pattern: \"/x\", action: deny}]}")
	if !r.Offered(Write) || r.Offered(Read) || r.Offered(Ls) {
		t.Error("an operation is offered when a rule can allow or ask, and only then")
	}
}

// shows is what a filter means, matched as its readers do.
func shows(sets []backends.FilterSet, path string) bool {
	for _, set := range sets {
		show := set.Default
		for _, rule := range set.Rules {
			p, err := pathglob.Compile(rule.Pattern)
			if err != nil {
				panic(err)
			}
			if p.Match(path) {
				show = rule.Show
				break
			}
		}
		if !show {
			return false
		}
	}
	return true
}

func TestFilter(t *testing.T) {
	r := parse(t, `
default: allow
read:
  rules:
    - {pattern: "**/.env", action: deny}
    - {pattern: "**/private/**", action: ask}
grep:
  rules: [{pattern: "**/vendor/**", action: deny}]
ls:
  rules: [{pattern: "**/hidden/**", action: deny}]
`)
	type seen struct{ name, content bool }
	for _, test := range []struct {
		filter backends.Filter
		name   string
		path   string
		want   seen
	}{
		{r.Filter(Grep), "grep", "/w/a", seen{true, true}},
		{r.Filter(Grep), "grep", "/w/.env", seen{false, false}},
		{r.Filter(Grep), "grep", "/w/vendor/x", seen{false, true}},
		{r.Filter(Grep), "grep", "/w/private/x", seen{true, false}},
		{r.ApprovedFilter(Grep), "approved grep", "/w/private/x", seen{true, true}},
		{r.ApprovedFilter(Grep), "approved grep", "/w/.env", seen{false, true}},
		{r.Filter(Ls), "ls", "/w/.env", seen{true, true}},
		{r.Filter(Ls), "ls", "/w/hidden/x", seen{false, true}},
		{r.Filter(Glob), "glob", "/w/hidden/x", seen{true, true}},
		{preset(t, "strict").Filter(Grep), "strict grep", "/w/a", seen{true, true}},
		{preset(t, "strict").Filter(Grep), "strict grep", "/w/.env", seen{false, true}},
		{preset(t, "default").Filter(Grep), "default grep", "/w/.env", seen{false, false}},
		{(&Ruleset{}).Filter(Ls), "unready", "/w/a", seen{false, true}},
	} {
		got := seen{shows(test.filter.Names, test.path), shows(test.filter.Content, test.path)}
		if got != test.want {
			t.Errorf("%s %s: %+v, want %+v", test.name, test.path, got, test.want)
		}
	}
	if f := preset(t, "permissive").Filter(Ls); f.Names != nil || f.Content != nil {
		t.Errorf("a filter that hides nothing is not empty: %+v", f)
	}
}

func TestRulesetNotMadeReadyDenies(t *testing.T) {
	r := &Ruleset{Default: Allow}
	if r.Path(Read, "/x", "").Action != Deny || r.Command("ls", nil).Action != Deny || r.Offered(Read) {
		t.Error("a ruleset without compiled rules must deny")
	}
}

func TestCommandDecisionNamesWhatDecided(t *testing.T) {
	r := preset(t, "permissive")
	d := r.Command("ls && cat src/../.env", emptyShell{})
	if d.Operation != Read || d.Target != "/workspace/.env" || d.Rule == nil || d.Why != `rule "**/.env" (deny): looks like a secret` {
		t.Errorf("%+v", d)
	}
	d = r.Command("echo a; sudo rm -rf /", nil)
	if d.Operation != Execute || d.Target != "sudo rm -rf /" && d.Target != "rm -rf /" || d.Rule == nil {
		t.Errorf("%+v", d)
	}
	d = preset(t, "default").Command("ls", nil)
	if d.Action != Ask || d.Why != "default of execute (ask)" || d.Target != "ls" || d.Rule != nil {
		t.Errorf("%+v", d)
	}
}

func TestDefaultsOfOtherOperationsDoNotApplyToWords(t *testing.T) {
	r := parse(t, "default: deny\nexecute: {default: allow}\nread: {default: ask}\nwrite: {default: ask}")
	if d := r.Command("cat a.txt", nil); d.Action != Allow {
		t.Errorf("a word is held against denies only: %+v", d)
	}
	if d := r.Command("cat a.txt > b.txt", nil); d.Action != Ask || d.Operation != Write {
		t.Errorf("a redirection is a write: %+v", d)
	}
	if d := r.Command("cat < a.txt", nil); d.Action != Ask || d.Operation != Read {
		t.Errorf("a redirection is a read: %+v", d)
	}
}

func TestDenyingDefaultIsNotSoftened(t *testing.T) {
	r := preset(t, "readonly")
	for _, c := range []string{"ls", "$X", "'", "sh -c \"$X\"", "> x", "X=1", "cd x", "", "f() { :; }", "curl x | sh", "git -c \"$X\" log", "[[ a ]]", "((1))"} {
		if d := r.Command(c, nil); d.Action != Deny {
			t.Errorf("%q is %s: %s", c, d.Action, d.Why)
		}
	}
}

func TestLimits(t *testing.T) {
	r := preset(t, "permissive")
	repeat := func(s string, n int) string {
		b := make([]byte, 0, len(s)*n)
		for range n {
			b = append(b, s...)
		}
		return string(b)
	}
	nested := "echo hi"
	for range 20 {
		nested = "sh -c " + text(nested).quote()
		if len(nested) > maxScript {
			break
		}
	}
	for name, script := range map[string]string{
		"too long":           "echo " + repeat("a", maxScript),
		"brackets":           repeat("(", 200000),
		"braces":             repeat("{ ", 100000),
		"ifs":                repeat("if ", 80000),
		"substitutions":      repeat("$(", 100000),
		"brace expansion":    "echo " + repeat("{a,b}", 64) + " | sh",
		"nested brackets":    repeat("[", 100000) + " | sh",
		"many commands":      repeat("a;", 100000),
		"many alternatives":  repeat("a && ", 50000) + "b",
		"recursive function": "f() { f; f; $x; }; f",
		"mutual functions":   "f() { g; g; }; g() { h; h; }; h() { f; f; }; f; $x",
		"deep shells":        nested + "; $x",
		"many variables":     "for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8; do for c in 1 2 3 4 5 6 7 8; do for d in 1 2 3 4 5 6 7 8; do $a$b$c$d; done; done; done; done",
		"doubling":           "x=a; " + repeat("x=$x$x;", 60) + "echo $x",
		"doubling arguments": "set -- a b; " + repeat(`set -- "$@" "$@";`, 60),
		"appending":          repeat("x+=a$y;", 3000) + "cat $x",
		"many unknown parts": "cat " + repeat("$x", 100000),
		"many patterns":      "cat " + repeat("a*", 100000),
		"deep directory":     "cd " + repeat("longer/", 500) + "; " + repeat("rm a;", 1900),
		"deep git directory": "git " + repeat("-C x ", 1000) + "rm -- " + repeat("a ", 2000),
		"long placeholders":  "echo " + repeat("a ", 1000) + "| xargs -I{} rm {} " + repeat("{}", 1000),
	} {
		start := time.Now()
		if d := r.Command(script, nil); d.Action != Ask {
			t.Errorf("%s: %s (%s)", name, d.Action, d.Why)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s: took %v", name, took)
		}
	}
	// What no rule allows is not let through by what comes before it.
	closed := parse(t, "default: deny\nexecute: {rules: [{pattern: \"git *\", action: allow}]}")
	for name, script := range map[string]string{
		"many commands": repeat("git status;", 4000) + "rm x",
		"much work":     "cd " + repeat("longer/", 500) + "; git rm " + repeat("a ", 2000) + "; rm x",
	} {
		if d := closed.Command(script, nil); d.Action != Deny {
			t.Errorf("%s, with a denying default: %s (%s)", name, d.Action, d.Why)
		}
	}
	// A danger is found in what is too long as well.
	if d := r.Command("rm -rf /; echo "+repeat("a", maxScript), nil); d.Action != Deny {
		t.Errorf("too long, with a danger: %s", d.Action)
	}
}
