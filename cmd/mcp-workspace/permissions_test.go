package main

import (
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/permissions"
)

// TestPermissionsShow: what is shown is a ruleset file that means the same.
func TestPermissionsShow(t *testing.T) {
	t.Parallel()
	for _, preset := range permissions.PresetNames() {
		shown := run(t, "permissions", "show", preset)
		if !strings.HasPrefix(shown, "default: ") || strings.Count(shown, "\n") < 10 {
			t.Errorf("%s is shown as %q", preset, shown)
		}
		file := writeFile(t, t.TempDir(), preset+".yaml", shown)
		for _, args := range [][]string{{file}, {"--permissions", file}, {"--permissions", preset}} {
			if again := run(t, append([]string{"permissions", "show"}, args...)...); again != shown {
				t.Errorf("%q shows\n%s\nwant\n%s", args, again, shown)
			}
		}
	}
}

func TestPermissionsShowsWhatIsInForce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for preset, args := range map[string][]string{
		"permissive": nil,
		"default":    {"--backend=local", "--root=" + dir},
		"strict":     {"--permissions=strict"},
	} {
		if got := run(t, append([]string{"permissions", "show"}, args...)...); got != run(t, "permissions", "show", preset) {
			t.Errorf("%q shows\n%s\nwant the preset %s", args, got, preset)
		}
	}
}

func TestPermissionsCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := writeFile(t, dir, "rules.yaml", `
default: ask
read:
  default: allow
  rules:
    - {pattern: "/workspace/private/**", action: deny, description: "kept from agents"}
execute:
  rules:
    - {pattern: "git push*", action: deny}
    - {pattern: "git *", action: allow}
`)
	for _, c := range []struct {
		args         []string
		action, rule string
	}{
		{[]string{"read", "notes.txt"}, "allow", "read"},
		{[]string{"read", "private/x"}, "deny", `rule "/workspace/private/**" (deny): kept from agents`},
		{[]string{"read", "a/../private/x"}, "deny", "/workspace/private/**"},
		{[]string{"read", "private/x", "--working-dir=/elsewhere"}, "allow", ""},
		{[]string{"write", "notes.txt"}, "ask", ""},
		{[]string{"execute", "git status"}, "allow", "git *"},
		{[]string{"execute", "git status && git push"}, "deny", "git push*"},
		{[]string{"execute", "git status\ngit push"}, "deny", "git push*"},
		{[]string{"execute", "make"}, "ask", ""},
		{[]string{"execute", "git status", "--permissions=strict"}, "ask", ""},
		{[]string{"read", "config/.env", "--permissions=default"}, "deny", "**/.env"},
		{[]string{"write", "x", "--permissions=default", "--backend=local", "--root=" + dir}, "ask", ""},
	} {
		args := append([]string{"permissions", "check"}, c.args...)
		if !strings.Contains(strings.Join(args, " "), "--permissions") {
			args = append(args, "--permissions="+rules)
		}
		lines := strings.Split(run(t, args...), "\n")
		if len(lines) != 4 || lines[0] != c.action || lines[1] == "" || !strings.Contains(lines[1], c.rule) || !strings.Contains(lines[2], " of ") || lines[3] != "" {
			t.Errorf("%q printed %q, want %q and then %q", c.args, lines, c.action, c.rule)
		}
	}
}

func TestPermissionsMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"check"}, "check takes an operation and a target"},
		{[]string{"check", "execute", "git", "status"}, "check takes an operation and a target, in quotes where it has blanks"},
		{[]string{"check", "reed", "x"}, `"reed" is no operation; did you mean "read"?; the operations are read, write, edit, execute, glob, grep, ls`},
		{[]string{"check", "read", ""}, "the path is empty"},
		{[]string{"show", "sturct"}, "there is no preset \"sturct\""},
		{[]string{"show", "strict", "default"}, `"default" is not expected: show takes one ruleset`},
		{[]string{"show", "strict", "--permissions=default"}, "NAME and --permissions both say which ruleset to show; give one of them"},
	} {
		got := program{args: append([]string{"permissions"}, c.args...)}.run(t)
		if got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, c.want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%q answered %+v, want %q", c.args, got, c.want)
		}
	}
}
