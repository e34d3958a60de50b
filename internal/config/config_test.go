package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// command is a set of flags with one of every kind.
type command struct {
	flags  *pflag.FlagSet
	root   string
	strict bool
	env    []string
	tools  []string
	texts  map[string]string
}

func newCommand(t *testing.T, args ...string) *command {
	t.Helper()
	c := &command{flags: pflag.NewFlagSet("test", pflag.ContinueOnError)}
	c.flags.String("config", "", "")
	c.flags.StringVar(&c.root, "root", "default", "")
	c.flags.BoolVar(&c.strict, "strict-mode", false, "")
	c.flags.StringArrayVar(&c.env, "env", nil, "")
	c.flags.StringSliceVar(&c.tools, "tools", []string{"default"}, "")
	c.flags.Bool("help", false, "")
	if err := c.flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return c
}

// load reads the settings of a user who has no file of their own, unless the
// test has set XDG_CONFIG_HOME.
func (c *command) load(t *testing.T, environ ...string) (*Settings, error) {
	t.Helper()
	if os.Getenv("XDG_CONFIG_HOME") == "" {
		withoutHome(t)
	}
	return Load(c.flags, environ, Sections{"texts": &c.texts})
}

func withoutHome(t *testing.T) {
	t.Helper()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, "")
	}
}

func writeFile(t *testing.T, content string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPrecedence(t *testing.T) {
	const file = "root: file\nstrict-mode: true\nenv: [A=file, B=file]\ntools: [file]\n"
	environ := []string{"MCP_WORKSPACE_ROOT=env", "MCP_WORKSPACE_STRICT_MODE=true", "MCP_WORKSPACE_ENV=A=env\nB=env", "MCP_WORKSPACE_TOOLS=env,too", "OTHER=x"}
	flags := []string{"--root=flag", "--strict-mode=false", "--env=A=flag", "--env=B=flag", "--tools=flag,too"}

	for _, c := range []struct {
		name    string
		args    []string
		environ []string
		file    string
		source  Source
		root    string
		strict  bool
		env     []string
		tools   []string
	}{
		{name: "default", root: "default", tools: []string{"default"}},
		{name: "file beats default", file: file, source: File, root: "file", strict: true, env: []string{"A=file", "B=file"}, tools: []string{"file"}},
		{name: "environment beats file", file: file, environ: environ, source: Env, root: "env", strict: true, env: []string{"A=env", "B=env"}, tools: []string{"env", "too"}},
		{name: "flag beats environment", file: file, environ: environ, args: flags, source: Flag, root: "flag", env: []string{"A=flag", "B=flag"}, tools: []string{"flag", "too"}},
		{name: "flag beats file", file: file, args: flags, source: Flag, root: "flag", env: []string{"A=flag", "B=flag"}, tools: []string{"flag", "too"}},
		{name: "environment beats default", environ: environ, source: Env, root: "env", strict: true, env: []string{"A=env", "B=env"}, tools: []string{"env", "too"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := c.args
			if c.file != "" {
				args = append(args, "--config="+writeFile(t, c.file))
			}
			cmd := newCommand(t, args...)
			s, err := cmd.load(t, c.environ...)
			if err != nil {
				t.Fatal(err)
			}
			if cmd.root != c.root || cmd.strict != c.strict || !slices.Equal(cmd.env, c.env) || !slices.Equal(cmd.tools, c.tools) {
				t.Errorf("root %q, strict-mode %v, env %q, tools %q\nwant %q, %v, %q, %q", cmd.root, cmd.strict, cmd.env, cmd.tools, c.root, c.strict, c.env, c.tools)
			}
			for _, name := range []string{"root", "strict-mode", "env", "tools"} {
				if got := s.Source(name); got != c.source {
					t.Errorf("the source of %s is %v, want %v", name, got, c.source)
				}
			}
		})
	}
}

func TestSourcesOfDifferentFlagsMix(t *testing.T) {
	cmd := newCommand(t, "--root=flag", "--config="+writeFile(t, "strict-mode: true\nroot: file\n"))
	if _, err := cmd.load(t, "MCP_WORKSPACE_TOOLS=env"); err != nil {
		t.Fatal(err)
	}
	if cmd.root != "flag" || !cmd.strict || !slices.Equal(cmd.tools, []string{"env"}) {
		t.Errorf("root %q, strict-mode %v, tools %q", cmd.root, cmd.strict, cmd.tools)
	}
}

func TestValuesInTheFile(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       command
	}{
		{"text", "root: a b\n", command{root: "a b"}},
		{"quoted", `root: "1.10"`, command{root: "1.10"}},
		{"a number keeps its spelling", "root: 1.10\n", command{root: "1.10"}},
		{"empty text", "root: ''\n", command{root: ""}},
		{"true", "strict-mode: true\n", command{root: "default", strict: true}},
		{"true in quotes", "strict-mode: 'true'\n", command{root: "default", strict: true}},
		{"a list", "env: [A=1, 'B=x,y', \"C=two\\nlines\"]\n", command{root: "default", env: []string{"A=1", "B=x,y", "C=two\nlines"}}},
		{"a mapping", "env:\n  A: 1\n  B: true\n  C: x=y\n  D: ''\n", command{root: "default", env: []string{"A=1", "B=true", "C=x=y", "D="}}},
		{"one value for a list", "env: A=1\n", command{root: "default", env: []string{"A=1"}}},
		{"commas", "tools: ls,grep\n", command{root: "default", tools: []string{"ls", "grep"}}},
		{"an empty list replaces the default", "tools: []\n", command{root: "default"}},
		{"an anchor", "root: &r x\nenv: [&a A=1, *a]\ntools: *r\n", command{root: "x", env: []string{"A=1", "A=1"}, tools: []string{"x"}}},
		{"an anchor of a list", "env: &l [A]\ntools: *l\n", command{root: "default", env: []string{"A"}, tools: []string{"A"}}},
		{"JSON", `{"root": "x", "env": {"A": "1"}}`, command{root: "x", env: []string{"A=1"}}},
		{"a byte order mark and CRLF", "\ufeffroot: x\r\nstrict-mode: true\r\n", command{root: "x", strict: true}},
		{"a document marker", "---\nroot: x\n", command{root: "x"}},
		{"an empty file", "", command{root: "default"}},
		{"only comments", "# root: x\n\n# y\n", command{root: "default"}},
		{"only a document marker", "---\n# nothing\n", command{root: "default"}},
		{"a section", "texts: {a: b}\n", command{root: "default", texts: map[string]string{"a": "b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := newCommand(t, "--config="+writeFile(t, c.file))
			if _, err := cmd.load(t); err != nil {
				t.Fatal(err)
			}
			if c.want.tools == nil && !strings.Contains(c.file, "tools") {
				c.want.tools = []string{"default"}
			}
			if cmd.root != c.want.root || cmd.strict != c.want.strict || !slices.Equal(cmd.env, c.want.env) ||
				!slices.Equal(cmd.tools, c.want.tools) || !maps.Equal(cmd.texts, c.want.texts) {
				t.Errorf("got %+v\nwant %+v", cmd, c.want)
			}
		})
	}
}

func TestMistakesInTheFile(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"an unknown key", "root: x\nimage: y\n", `FILE:2: image is no setting; see mcp-workspace --help`},
		{"a misspelt key", "\nrooot: x\n", `FILE:2: rooot is no setting; did you mean "root"?`},
		{"an underscore for a dash", "strict_mode: true\n", `FILE:1: strict_mode is no setting; did you mean "strict-mode"?`},
		{"a misspelt section", "text: {}\n", `FILE:1: text is no setting; did you mean "texts"?`},
		{"an unknown key of two lines", "\"a\\nb\": x\n", `FILE:1: "a\nb" is no setting`},
		{"config", "config: other.yaml\n", `FILE:1: config cannot be set in the file itself; remove the line`},
		{"help", "help: true\n", `FILE:1: help is no setting`},
		{"a key twice", "root: x\nenv: [A=1]\nroot: y\n", `FILE:3: root is set twice, first in line 1; remove one`},
		{"a list as a key", "[a, b]: x\n", `FILE:1: a list or a mapping is no setting`},
		{"a merge", "<<: {root: x}\n", `FILE:1: << is no setting`},
		{"no value", "root:\n", `FILE:1: root: it has no value; give one, or remove the line`},
		{"null", "env: ~\n", `FILE:1: env: it has no value`},
		{"a section without value", "texts:\n", `FILE:1: texts: it has no value`},
		{"no boolean", "strict-mode: maybe\n", `FILE:1: strict-mode: it takes true or false`},
		{"a list for a single value", "root: [x]\n", `FILE:1: root: it takes a single value`},
		{"a mapping for a single value", "strict-mode: {a: b}\n", `FILE:1: strict-mode: it takes a single value`},
		{"a list in a list", "env:\n  - A=1\n  - [B=2]\n", `FILE:3: env: an item must be a single value`},
		{"nothing in a list", "env:\n  - A=1\n  -\n", `FILE:3: env: an item has no value`},
		{"a list in a mapping", "env:\n  A: [1]\n", `FILE:2: env: an item must be a single value`},
		{"nothing in a mapping", "env:\n  A:\n", `FILE:2: env: an item has no value`},
		{"a list that holds itself", "env: &a [*a]\n", `FILE:1: env: an item must be a single value`},
		{"a section of another type", "\ntexts: [a]\n", `FILE:2: texts: cannot unmarshal`},
		{"a section with a wrong line", "texts:\n  a: b\n  c: [d]\n  e: [f]\n", `FILE:3: texts: cannot unmarshal`},
		{"a section twice", "texts: {a: b}\ntexts: {c: d}\n", `FILE:2: texts is set twice`},
		{"a section with a key twice", "texts:\n  a: b\n  a: c\n", `FILE:3: texts: mapping key "a" already defined`},
		{"not YAML", "root: x\n\tenv: y\n", `FILE:2: not YAML: `},
		{"not closed", "root: [x\n", `FILE:1: not YAML: `},
		{"an alias of nothing", "root: *x\n", `FILE: not YAML: unknown anchor 'x' referenced`},
		{"not text", "root: \x00\n", `FILE: not YAML: control characters are not allowed`},
		{"a list", "- root: x\n", `FILE:1: the file must be a mapping such as "backend: state"`},
		{"a word", "\n\nroot\n", `FILE:3: the file must be a mapping`},
		{"two documents", "root: x\n---\nroot: y\n", `FILE:2: a second document starts here`},
		{"a second document that is wrong", "root: x\n---\nroot: [\n", `not YAML`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := writeFile(t, c.file)
			_, err := newCommand(t, "--config="+path).load(t)
			wantError(t, err, strings.ReplaceAll(c.want, "FILE", path))
		})
	}
}

func TestMistakesInTheEnvironment(t *testing.T) {
	for _, c := range []struct{ name, kv, want string }{
		{"unknown", "MCP_WORKSPACE_IMAGE=x", `the environment variable MCP_WORKSPACE_IMAGE is no setting; unset it, or see mcp-workspace --help`},
		{"misspelt", "MCP_WORKSPACE_ROOOT=x", `the environment variable MCP_WORKSPACE_ROOOT is no setting; did you mean "MCP_WORKSPACE_ROOT"?`},
		{"a dash", "MCP_WORKSPACE_STRICT-MODE=true", `did you mean "MCP_WORKSPACE_STRICT_MODE"?`},
		{"lower case", "MCP_WORKSPACE_root=x", `did you mean "MCP_WORKSPACE_ROOT"?`},
		{"nothing but the prefix", "MCP_WORKSPACE_=x", `MCP_WORKSPACE_ is no setting`},
		{"two lines", "MCP_WORKSPACE_A\nB=x", `"MCP_WORKSPACE_A\nB" is no setting`},
		{"help", "MCP_WORKSPACE_HELP=true", `MCP_WORKSPACE_HELP is no setting`},
		{"no boolean", "MCP_WORKSPACE_STRICT_MODE=may\nbe", `the environment variable MCP_WORKSPACE_STRICT_MODE is "may\nbe": it takes true or false`},
		{"an empty boolean", "MCP_WORKSPACE_STRICT_MODE=", `the environment variable MCP_WORKSPACE_STRICT_MODE is "": it takes true or false`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newCommand(t).load(t, c.kv)
			wantError(t, err, c.want)
		})
	}
}

// wantError holds an error against what it must say, in one line.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Fatal("no error")
	case !strings.Contains(err.Error(), want):
		t.Errorf("the error is %q\nwant %q in it", err, want)
	case strings.ContainsAny(err.Error(), "\n\r"):
		t.Errorf("the error has more than one line: %q", err)
	}
}

func TestListsInTheEnvironment(t *testing.T) {
	cmd := newCommand(t)
	if _, err := cmd.load(t, "MCP_WORKSPACE_ENV=A=1,2\r\n\nB= x \n", "MCP_WORKSPACE_TOOLS="); err != nil {
		t.Fatal(err)
	}
	if want := []string{"A=1,2", "B= x "}; !slices.Equal(cmd.env, want) {
		t.Errorf("env is %q, want %q", cmd.env, want)
	}
	if len(cmd.tools) != 0 {
		t.Errorf("tools is %q, want none", cmd.tools)
	}
}

func TestPlaceNamesWhereAValueStands(t *testing.T) {
	path := writeFile(t, "# comment\nenv: [A=1]\ntexts: {a: b}\n")
	cmd := newCommand(t, "--config="+path, "--strict-mode")
	s, err := cmd.load(t, "MCP_WORKSPACE_ROOT=x")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"root":        "MCP_WORKSPACE_ROOT",
		"strict-mode": "--strict-mode",
		"env":         path + ":2: env",
		"texts":       path + ":3: texts",
		"tools":       "--tools",
	} {
		if got := s.Place(name); got != want {
			t.Errorf("the place of %s is %q, want %q", name, got, want)
		}
	}
}

func TestAbs(t *testing.T) {
	path := writeFile(t, "root: docs\n")
	cmd := newCommand(t, "--config="+path, "--env=x")
	s, err := cmd.load(t)
	if err != nil {
		t.Fatal(err)
	}
	home, here := t.TempDir(), t.TempDir()
	t.Chdir(here)
	for _, c := range []struct{ flag, path, want string }{
		{"root", "docs", filepath.Join(filepath.Dir(path), "docs")},
		{"root", "../docs", filepath.Join(filepath.Dir(path), "../docs")},
		{"root", "/docs", "/docs"},
		{"root", "~/docs", filepath.Join(home, "docs")},
		{"env", "docs", filepath.Join(here, "docs")},
		{"env", "~", home},
		{"env", "~docs", filepath.Join(here, "~docs")},
	} {
		t.Setenv("HOME", home)
		got, err := s.Abs(c.flag, c.path)
		if err != nil || got != c.want {
			t.Errorf("%s %s is %q (%v), want %q", c.flag, c.path, got, err, c.want)
		}
	}
	t.Setenv("HOME", "")
	_, err = s.Abs("root", "~/docs")
	wantError(t, err, path+`:1: root names "~/docs", but no home directory is known`)
}

func TestWhichFileIsRead(t *testing.T) {
	own := func(t *testing.T, content string) {
		t.Helper()
		path := writeFile(t, content)
		if err := os.Rename(path, filepath.Join(filepath.Dir(path), fileName)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("XDG_CONFIG_HOME", filepath.Dir(path))
	}
	missing := filepath.Join(t.TempDir(), "missing.yaml")

	t.Run("the user's own", func(t *testing.T) {
		own(t, "root: own\n")
		cmd := newCommand(t)
		if _, err := cmd.load(t); err != nil || cmd.root != "own" {
			t.Errorf("root is %q, %v", cmd.root, err)
		}
	})
	t.Run("the variable's in its place", func(t *testing.T) {
		own(t, "root: own\n")
		cmd := newCommand(t)
		if _, err := cmd.load(t, "MCP_WORKSPACE_CONFIG="+writeFile(t, "root: other\n")); err != nil || cmd.root != "other" {
			t.Errorf("root is %q, %v", cmd.root, err)
		}
	})
	t.Run("the flag's before the variable's", func(t *testing.T) {
		cmd := newCommand(t, "--config="+writeFile(t, "root: flag\n"))
		if _, err := cmd.load(t, "MCP_WORKSPACE_CONFIG="+missing); err != nil || cmd.root != "flag" {
			t.Errorf("root is %q, %v", cmd.root, err)
		}
	})
	t.Run("none when it is given as empty", func(t *testing.T) {
		own(t, "root: own\n")
		cmd := newCommand(t, "--config=")
		if _, err := cmd.load(t); err != nil || cmd.root != "default" {
			t.Errorf("root is %q, %v", cmd.root, err)
		}
	})
	t.Run("none when the user has none", func(t *testing.T) {
		t.Setenv("XDG_CONFIG_HOME", t.TempDir())
		if _, err := newCommand(t).load(t); err != nil {
			t.Error(err)
		}
	})
	t.Run("none when the home directory is none", func(t *testing.T) {
		t.Setenv("XDG_CONFIG_HOME", os.DevNull)
		if _, err := newCommand(t).load(t); err != nil {
			t.Error(err)
		}
	})
	t.Run("a missing one of the flag is an error", func(t *testing.T) {
		_, err := newCommand(t, "--config="+missing).load(t)
		wantError(t, err, "--config: the configuration file cannot be read: open "+missing)
	})
	t.Run("a missing one of the variable is an error", func(t *testing.T) {
		_, err := newCommand(t).load(t, "MCP_WORKSPACE_CONFIG="+missing)
		wantError(t, err, "MCP_WORKSPACE_CONFIG: the configuration file cannot be read")
	})
	t.Run("a directory is an error", func(t *testing.T) {
		_, err := newCommand(t, "--config="+t.TempDir()).load(t)
		wantError(t, err, "--config: the configuration file cannot be read")
	})
	t.Run("the user's own that cannot be read is an error", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, fileName), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("XDG_CONFIG_HOME", dir)
		_, err := newCommand(t).load(t)
		wantError(t, err, "name another with --config")
	})
	t.Run("a relative one counts from the current directory", func(t *testing.T) {
		path := writeFile(t, "root: x\n")
		t.Chdir(filepath.Dir(path))
		cmd := newCommand(t, "--config=settings.yaml")
		s, err := cmd.load(t)
		if err != nil || cmd.root != "x" {
			t.Fatalf("root is %q, %v", cmd.root, err)
		}
		if abs, err := s.Abs("root", "docs"); err != nil || !filepath.IsAbs(abs) {
			t.Errorf("docs is %q, %v", abs, err)
		}
	})
}

// FuzzFile holds what no content of a file may do: panic, or be refused with
// more than one line.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{"root: x\n", "env: {A: 1}\n", "env: &a [*a]\n", "? [a]\n: b\n", "a: b\n---\n", "texts: [", "\"\\n\": x", "root: \"\\xff\"", "!!x y: z"} {
		f.Add(seed)
	}
	path := filepath.Join(f.TempDir(), "settings.yaml")
	f.Fuzz(func(t *testing.T, content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := newCommand(t, "--config="+path)
		if _, err := Load(cmd.flags, nil, Sections{"texts": &cmd.texts}); err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("the error has more than one line: %q", err)
		}
	})
}
