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

// Where the shell reads commands as the check does, what cannot be read is its
// answer to give. What can be read decides as ever, and so does a denied command
// in what cannot.
func TestReadAlikeLeavesMistakesToTheShell(t *testing.T) {
	preset, _ := Preset("permissive")
	readonly, _ := Preset("readonly")
	asking, _ := Preset("strict")
	rules := preset.Sandboxed().ReadAlike()
	for command, want := range map[string]Action{
		"echo a; if true; then":            Allow,
		"echo 'x":                          Allow,
		"cat <<EOF\nhello":                 Allow,
		"bash -c 'if true'":                Allow,
		"declare -A h; h[a b]=1":           Allow,
		"rm -rf /; if true; then":          Deny,
		"if true; then rm -rf /":           Deny,
		"rm -rf /\necho 'x":                Deny,
		"cat .env; if":                     Deny,
		"cat <<EOF > .env\nhello":          Deny,
		"bash <<EOF\nrm -rf /":             Deny,
		"cat <<EOF\n$(cat .env)":           Deny,
		"h[$(cat .env).x]=1":               Deny,
		"echo ${h[a b $(cat .env)]}":       Deny,
		"h[x.y]=1; rm -rf /":               Deny,
		"h=([a.b]=$(rm -rf /))":            Deny,
		"bash -c 'h[x.y]=1; rm -rf /'":     Deny,
		"eval 'h[a b]=$(cat .env)'":        Deny,
		"x='a[$(cat .env)]'; echo $((x))":  Deny,
		"unset 'h[a b]'; cat .env; h[.]=1": Deny,
	} {
		if got := rules.Command(command, nil); got.Action != want {
			t.Errorf("%s: %s (%s), want %s", command, got.Action, got.Why, want)
		}
	}
	for _, command := range []string{"if true; then", "h[a b]=1", "cat <<EOF\nx"} {
		if got := preset.Command(command, nil); got.Action != Ask {
			t.Errorf("elsewhere, %s is %s", command, got.Action)
		}
		if got := readonly.ReadAlike().Command(command, nil); got.Action != Deny {
			t.Errorf("where commands are denied, %s is %s", command, got.Action)
		}
		if got := asking.ReadAlike().Command(command, nil); got.Action != Ask {
			t.Errorf("where commands are asked about, %s is %s", command, got.Action)
		}
	}
}
