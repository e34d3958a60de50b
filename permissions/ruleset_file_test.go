package permissions

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test -update rewrites it. Got:\n%s", file, got)
	}
}

func TestPresetsGolden(t *testing.T) {
	for _, name := range PresetNames() {
		golden(t, "preset-"+name+".yaml", preset(t, name).YAML())
	}
}

func TestPresetDefaults(t *testing.T) {
	for name, want := range map[string][8]Action{ // ruleset, read, write, edit, execute, glob, grep, ls
		"default":    {Ask, Allow, Ask, Ask, Ask, Allow, Allow, Allow},
		"permissive": {Allow, Allow, Allow, Allow, Allow, Allow, Allow, Allow},
		"readonly":   {Deny, Allow, Deny, Deny, Deny, Allow, Allow, Allow},
		"strict":     {Ask, Ask, Ask, Ask, Ask, Ask, Ask, Ask},
	} {
		r := preset(t, name)
		got := [8]Action{r.Default}
		for i, op := range Operations() {
			got[i+1] = r.Operations[op].Default
		}
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestYAMLMeansTheSame(t *testing.T) {
	rulesets := []*Ruleset{
		parse(t, "default: deny"),
		parse(t, `
read: {default: allow, rules: [{pattern: "**/a \"b\" \\\\ é 日本 *", action: ask, description: "tab\t, colon: and #"}]}
execute: {rules: [{pattern: "- x: {a,b} #&*!", action: deny}]}
ls: {}
`),
	}
	for _, name := range PresetNames() {
		rulesets = append(rulesets, preset(t, name))
	}
	for _, r := range rulesets {
		again, err := Parse(r.Name+".yaml", []byte(r.YAML()))
		if err != nil {
			t.Errorf("%v\n%s", err, r.YAML())
			continue
		}
		sameMeaning(t, r, again)
	}
}

func sameMeaning(t *testing.T, a, b *Ruleset) {
	t.Helper()
	for _, op := range Operations() {
		x, y := a.compiled[op], b.compiled[op]
		if x.def != y.def || !reflect.DeepEqual(x.source, y.source) && len(x.source)+len(y.source) > 0 {
			t.Errorf("%s differs: %+v and %+v", op, x.source, y.source)
		}
	}
}

func TestMistakesGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	var b strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse(filepath.Base(file), data)
		if err == nil {
			t.Errorf("%s is accepted", file)
			continue
		}
		b.WriteString(err.Error() + "\n")
	}
	golden(t, "mistakes.golden", b.String())
}

func TestMistakesWithoutFile(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"empty", "", `x.yaml:1: the ruleset is empty; write at least "default: ask"`},
		{"comment", "# nothing\n", `the ruleset is empty`},
		{"null", "~\n", `the ruleset is empty`},
		{"too large", strings.Repeat("#", maxFile+1), "larger than the 1 MiB"},
		{"invalid UTF-8", "default: \xff", "x.yaml:1: this is not YAML"},
		{"tab", "read:\n\tdefault: allow", "x.yaml:2: this is not YAML"},
	} {
		if _, err := Parse("x.yaml", []byte(test.src)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "team.yaml")
	if err := os.WriteFile(file, []byte("default: deny\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Load(file)
	if err != nil || r.Name != "team" || r.Default != Deny {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := Load("strict"); err != nil || r.Name != "strict" {
		t.Errorf("%+v, %v", r, err)
	}
	for name, want := range map[string]string{
		"permisive":        `there is no preset "permisive", and no such file; the presets are default, permissive, readonly, strict; did you mean "permissive"?`,
		"./missing.yaml":   "the ruleset cannot be read: stat ./missing.yaml: no such file or directory",
		filepath.Dir(file): "is not a file",
	} {
		if _, err := Load(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%q): %v, want %q", name, err, want)
		}
	}
}

func TestNewNamesEveryMistake(t *testing.T) {
	_, err := New("mine", "maybe", map[Operation]Rules{
		"reed": {}, Read: {Default: "no", Rules: []Rule{{Pattern: "", Action: Deny}, {Pattern: "[", Action: "x"}}},
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{`"maybe" is no action`, "reed is no operation", `"no" is no action`, "pattern is empty", `pattern "["`, `"x" is no action`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
}
