package permissions

import (
	"path"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gobwas/glob"
)

// reference tells what a ruleset means for a path with gobwas alone.
type reference struct{ compiled map[string]*glob.Pattern }

func (ref *reference) action(r *Ruleset, op Operation, p string) Action {
	for _, rule := range r.Operations[op].Rules {
		if ref.compiled[rule.Pattern] == nil {
			ref.compiled[rule.Pattern] = glob.MustCompile(rule.Pattern, '/')
		}
		if ref.compiled[rule.Pattern].Match(p) {
			return rule.Action
		}
	}
	return r.Operations[op].Default
}

func FuzzPath(f *testing.F) {
	for _, p := range []string{"/", "/.env", "/workspace/a/../.env", "/x/my_secret.txt", "/home/u/.ssh/id_rsa", "/etc/passwd", "/a\xffb.pem", "/ñ/credentials"} {
		f.Add(p, "/workspace/x")
		f.Add("/workspace/x", p)
	}
	ref := reference{map[string]*glob.Pattern{}}
	var rulesets []*Ruleset
	for _, name := range PresetNames() {
		rulesets = append(rulesets, preset(f, name))
	}
	f.Fuzz(func(t *testing.T, cleaned, resolved string) {
		if len(cleaned) > 500 || len(resolved) > 500 {
			return // the reference is slow
		}
		cleaned, resolved = path.Clean("/"+cleaned), path.Clean("/"+resolved)
		for _, r := range rulesets {
			for _, op := range []Operation{Read, Write, Edit, Ls} {
				d := r.Path(op, cleaned, resolved)
				want := ref.action(r, op, cleaned)
				if other := ref.action(r, op, resolved); other.stricterThan(want) {
					want = other
				}
				if d.Action != want {
					t.Errorf("%s: %s of %q -> %q: %s (%s), want %s", r.Name, op, cleaned, resolved, d.Action, d.Why, want)
				}
				if d.Why == "" || d.Target != cleaned && d.Target != resolved {
					t.Errorf("a decision without a reason: %+v", d)
				}
				if alone := r.Path(op, cleaned, ""); alone.Action.stricterThan(d.Action) {
					t.Errorf("%q: knowing where it leads made it milder", cleaned)
				}
			}
		}
	})
}

// FuzzUnknown looks for a text that a pattern matches otherwise than it said
// it would when a part of the text was not known.
func FuzzUnknown(f *testing.F) {
	for _, p := range []string{"**/.env", "/etc/**", "*a*b*", "{a,b{c,d}}*", "[a-c]?", "[!ab]*x", `\*\{`, "rm -rf /*", "**/*.{pem,key}"} {
		f.Add(p, "/workspace/.env", 3, 6)
		f.Add(p, "rm -rf /etc", 0, 2)
	}
	f.Fuzz(func(t *testing.T, source, s string, from, to int) {
		if len(source) > 60 || len(s) > 200 || from < 0 || to < from || to > len(s) ||
			!utf8.ValidString(s[:from]) || !utf8.ValidString(s[from:to]) || !utf8.ValidString(s[to:]) {
			return
		}
		p, err := compileRule(Read, source)
		if err != nil {
			return
		}
		v := join(text(s[:from]), value{{kind: hole}}, text(s[to:]))
		possible, _ := p.may(v, len(v), len(v))
		if p.Match(s) && !possible {
			t.Errorf("%q matches %q, and cannot match %s", source, s, v)
		}
		if p.must(v) && !p.Match(s) {
			t.Errorf("%q does not match %q, and must match %s", source, s, v)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, name := range PresetNames() {
		f.Add(preset(f, name).YAML())
	}
	f.Add("default: ask\nread:\n  rules:\n    - {pattern: \"**\", action: deny, description: x}\n")
	f.Add("a: &a [*a]\n")
	f.Add("---\n---\n")
	f.Add("read: {rules: [{pattern: \"{a,{b,c}}\", action: ask}]}")
	f.Fuzz(func(t *testing.T, src string) {
		r, err := Parse("f.yaml", []byte(src))
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "f.yaml:") {
					t.Errorf("a mistake without its place: %q in %q", line, err)
				}
			}
			return
		}
		again, err := Parse("again.yaml", []byte(r.YAML()))
		if err != nil {
			t.Fatalf("%q is not read back: %v\n%s", src, err, r.YAML())
		}
		sameMeaning(t, r, again)
		r.Path(Read, "/workspace/a", "")
		r.Command("ls -la | cat $x > y", nil)
	})
}

func FuzzCommand(f *testing.F) {
	for _, e := range permissiveEvasions {
		f.Add(e.command)
	}
	for _, e := range gitEvasions {
		f.Add(e.command)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(everyday), "\n") {
		f.Add(strings.ReplaceAll(line, "⏎", "\n"))
	}
	permissive, readonly := preset(f, "permissive"), preset(f, "readonly")
	f.Fuzz(func(t *testing.T, script string) {
		if len(script) > 4000 {
			return
		}
		start := time.Now()
		d := permissive.Command(script, emptyShell{})
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		if d.Action != Allow && d.Why == "" {
			t.Errorf("no reason: %+v", d)
		}
		if d := readonly.Command(script, emptyShell{}); d.Action != Deny {
			t.Errorf("a default that denies was softened: %+v", d)
		}
		// A shell started anew has other parameters.
		if d.Action == Deny && !strings.ContainsAny(script, "\x00$") {
			for _, wrapped := range []string{
				"sh -c " + text(script).quote(),
				"eval " + text(script).quote(),
				"true && sudo bash -ec " + text(script).quote(),
			} {
				if d := permissive.Command(wrapped, emptyShell{}); d.Action == Allow {
					t.Errorf("denied, and allowed as %s", wrapped)
				}
			}
		}
		// What follows on a line of its own is another command, unless the
		// text before takes it in.
		if !strings.Contains(script, "<<") && !strings.HasSuffix(script, `\`) {
			if d := permissive.Command(script+"\nrm -rf /\n", emptyShell{}); d.Action == Allow {
				t.Errorf("allowed with a denied command after it: %q", script)
			}
		}
		if d := permissive.Command("rm -rf /\n"+script, emptyShell{}); d.Action != Deny {
			t.Errorf("%s with a denied command before it: %q", d.Action, script)
		}
	})
}
