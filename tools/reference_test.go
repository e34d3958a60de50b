package tools

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/permissions"
)

var update = flag.Bool("update", false, "rewrite the golden files and docs/tools.md")

// golden holds got against a file, or writes it there with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale; look at what changed with\n\tgo test ./tools -update && git diff", name)
	}
}

func permissive(t *testing.T) *permissions.Ruleset {
	t.Helper()
	rules, ok := permissions.Preset("permissive")
	if !ok {
		t.Fatal("no preset permissive")
	}
	return rules
}

// What a model reads is part of the product: a change of it is seen in review.
func TestDefinitionsAreAsReviewed(t *testing.T) {
	for _, c := range []struct {
		name string
		opts Options
	}{
		{"coding", Options{}},
		{"agent", Options{Profile: ProfileAgent}},
		{"hashline", Options{EditFormat: EditByLine}},
		{"structured", Options{Structured: true}},
		{"no-background", Options{NoBackground: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opts.Rules = permissive(t)
			defs, _, err := selected(c.opts)
			if err != nil {
				t.Fatal(err)
			}
			var list []json.RawMessage
			for _, d := range defs {
				tool, err := d.describe(c.opts)
				if err != nil {
					t.Fatal(err)
				}
				b, err := json.Marshal(tool)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, b)
			}
			var out bytes.Buffer
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(list); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "definitions", c.name+".json"), out.Bytes())
		})
	}
}

// docs/tools.md is written from the definitions.
func TestReferenceIsFresh(t *testing.T) {
	var b strings.Builder
	b.WriteString("# The tools\n\n" +
		"What a model reads about each tool, in the profile `coding`; with `--profile agent` the paragraph after the\n" +
		"first is left out. Written by `go test ./tools -update`.\n\n" +
		"Results carry, in `_meta`, `mcp-workspace/ref` once a workspace is open, and where they apply `mcp-workspace/` `path`, `count`,\n" +
		"`total_lines`, `truncated`, `diff`, `exit_code` and `output_file`. A failure is a result with `isError`, a text\n" +
		"that begins with `Error: `, and `mcp-workspace/code`:\n\n" +
		"`not_found` `is_directory` `not_directory` `permission_denied` `approval_required` `approval_refused` `stale`\n" +
		"`not_unique` `no_match` `invalid_argument` `too_large` `binary` `timeout` `unavailable` `unsupported`\n" +
		"`read_only` `cancelled` `internal`\n")
	for _, d := range append(definitions(EditByString), hashlineEdit) {
		text, err := d.text(Options{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n## %s\n\n", d.name)
		if d.name == hashlineEdit.name {
			b.WriteString("In place of `edit_file` with `--edit-format hashline`.\n\n")
		}
		b.WriteString(text.Description + "\n\n| argument | type | default | |\n|---|---|---|---|\n")
		for _, p := range d.params {
			def := ""
			switch {
			case p.required:
				def = "required"
			case p.fallback != "":
				def = fmt.Sprintf("`%v`", p.fallback)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.name, typeNames[p.kind], def, strings.ReplaceAll(text.Arguments[p.name], "|", "\\|"))
		}
	}
	golden(t, filepath.Join("..", "docs", "tools.md"), []byte(b.String()))
}

func TestEveryArgumentHasAText(t *testing.T) {
	for _, d := range append(definitions(EditByString), hashlineEdit) {
		text, err := d.text(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(text.Arguments) != len(d.params) {
			t.Errorf("%s has %d arguments and %d texts", d.name, len(d.params), len(text.Arguments))
		}
		for _, p := range d.params {
			if text.Arguments[p.name] == "" {
				t.Errorf("%s: %s has no text", d.name, p.name)
			}
		}
	}
}
