package tools

import (
	"strings"
	"testing"
)

// What the text of a command hides, the rules still see: on state every open of
// a script is asked about.
func TestRulesSeeTheFilesThatACommandOpens(t *testing.T) {
	b := onState(t, Options{Rules: rules(t, `
default: allow
read:
  default: allow
  rules:
    - {pattern: "**/.env", action: deny}
    - {pattern: "**/asked.txt", action: ask}
write:
  default: allow
  rules:
    - {pattern: "**/kept/f", action: deny}
execute: {default: allow}
`)})
	b.ok("execute", args{"command": "printf 'x=1\\n' > settings; mkdir kept"})
	b.ok("write_file", args{"path": ".env", "content": "s3cret\n"})
	for name, command := range map[string]string{
		"a script file":      `echo "cat .en''v" > s.sh; sh s.sh`,
		"a list of names":    `printf '.en%s\n' v > list; xargs cat < list`,
		"an awk program":     `awk 'BEGIN { while ((getline line < (".en" "v")) > 0) print line }'`,
		"a write from awk":   `awk 'BEGIN { print "x" > ("/workspace/ke" "pt/f") }'`,
		"a write by tee":     `printf 'kept/f\n' > list; echo x | xargs tee < list`,
		"a script's writing": `echo 'd=ke; echo x > ${d}pt/f' > w.sh; sh w.sh`,
		"a rule that asks":   `echo 'cat as""ked.txt' > a.sh; touch asked.tx; mv asked.tx "$(printf asked.txt)"; sh a.sh`,
	} {
		got := text(b.call("execute", args{"command": command}))
		said := strings.Contains(got, "denied by the ruleset") || strings.Contains(got, "needs a person's approval")
		if strings.Contains(got, "s3cret") || !said && name != "an awk program" { // getline has no words for it

			t.Errorf("%s: %s answered %q", name, command, got)
		}
	}
	if got := b.ok("glob", args{"pattern": "kept/f"}); !strings.HasPrefix(got, "No files") {
		t.Errorf("there is %q where nothing may be written", got)
	}
	// What only a default asks about, a command that is allowed may do.
	b = onState(t, Options{Rules: rules(t, "{default: allow, write: {default: ask}}")})
	if got := b.ok("execute", args{"command": `awk 'BEGIN { print "x" > ("co" "py") }'; ls`}); got != "copy" {
		t.Errorf("it answered %q", got)
	}
}
