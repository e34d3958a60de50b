package permissions

import "testing"

// A workspace that is its own boundary does not ask about what it cannot know,
// and still denies what it can.
func TestSandboxedRulesDecideByWhatIsKnown(t *testing.T) {
	preset, _ := Preset("permissive")
	rules := preset.Sandboxed()
	for command, want := range map[string]Action{
		`d=$(mktemp -d); trap 'rm -rf "$d"' EXIT; cp a "$d"`: Allow,
		`rm $tmp`:                             Allow,
		`rm -rf "${BUILD_DIR:?}"`:             Allow,
		`find . -name '*.o' | xargs rm -f`:    Allow,
		`rm -rf $(find . -name x)`:            Allow,
		`cat s.sh | bash`:                     Allow,
		`bash -c "$CMD"`:                      Allow,
		`seq 3 | xargs -I{} sh -c 'echo n{}'`: Allow,
		`$CMD --version`:                      Allow,
		`rm -rf /`:                            Deny,
		`x=/; rm -rf "$x"`:                    Deny,
		`git status; sudo rm -fr -- /`:        Deny,
		`bash -c 'rm -rf /'`:                  Deny,
		`cat .env`:                            Deny,
		`f=.en; cat "${f}v"`:                  Deny,
		`echo x > "/etc/passwd"`:              Deny,
		`if true; then`:                       Ask, // cannot be parsed
	} {
		if got := rules.Command(command, nil); got.Action != want {
			t.Errorf("%s: %s (%s), want %s", command, got.Action, got.Why, want)
		}
	}
	if got := preset.Command(`rm -rf "$x"`, nil); got.Action != Ask {
		t.Errorf("elsewhere it is %s", got.Action)
	}
}
