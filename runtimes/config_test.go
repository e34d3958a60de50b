package runtimes_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/mcp-workspace/mcp-workspace/internal/config"
	"github.com/mcp-workspace/mcp-workspace/runtimes"
)

// load reads a configuration file as the program does.
func load(t *testing.T, file string) (path string, set runtimes.Set, err error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.String("config", path, "")
	var c runtimes.Config
	if _, err := config.Load(flags, nil, c.Sections()); err != nil {
		return path, nil, err
	}
	return path, c.Set(), nil
}

// readConfig is the set of a configuration file that must be right.
func readConfig(t *testing.T, file string) runtimes.Set {
	t.Helper()
	_, set, err := load(t, file)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestDefinitionsInTheFile(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       runtimes.Runtime
	}{
		{"an image", "x: {image: python:3.13}", runtimes.Runtime{Image: "python:3.13"}},
		{"a base alone", "x: {base: python:3.13}", runtimes.Runtime{Base: "python:3.13"}},
		{"everything", `
  x:
    description: What it is for
    base: registry.example:5000/team/base:1.0@sha256:` + strings.Repeat("0", 64) + `
    packages:
      apt: [git]
      apk: [git]
      pip: ["pandas[excel]>=2,<3"]
      npm: ["@types/react@^18"]
      cargo: [ripgrep]
    setup:
      - echo one
      - |
        echo two
        echo three
    env: {A: text, B: 1, C: true, D: ''}
    working_dir: /work
    build_args: {PIP_INDEX_URL: "https://user:pw@index.example/simple"}
    build_network: host`, runtimes.Runtime{
			Description: "What it is for", Base: "registry.example:5000/team/base:1.0@sha256:" + strings.Repeat("0", 64),
			Packages: runtimes.Packages{Apt: []string{"git"}, Apk: []string{"git"}, Pip: []string{"pandas[excel]>=2,<3"}, Npm: []string{"@types/react@^18"}, Cargo: []string{"ripgrep"}},
			Setup:    []string{"echo one", "echo two\necho three\n"}, Env: map[string]string{"A": "text", "B": "1", "C": "true", "D": ""},
			WorkingDir: "/work", BuildArgs: map[string]string{"PIP_INDEX_URL": "https://user:pw@index.example/simple"}, BuildNetwork: "host",
		}},
		{"one item in place of a list", "x: {base: b, packages: {pip: six}, setup: echo}", runtimes.Runtime{Base: "b", Packages: runtimes.Packages{Pip: []string{"six"}}, Setup: []string{"echo"}}},
		{"anchors", "x: {base: &b b, packages: {pip: &l [six], npm: *l}, setup: [*b]}", runtimes.Runtime{Base: "b", Packages: runtimes.Packages{Pip: []string{"six"}, Npm: []string{"six"}}, Setup: []string{"b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := readConfig(t, "runtimes:\n  "+strings.TrimPrefix(c.file, "\n  ")+"\n")
			got, err := set.Lookup("x")
			if err != nil {
				t.Fatal(err)
			}
			c.want.Name = "x"
			if got.Digest() != c.want.Digest() || !reflect.DeepEqual(got.Packages, c.want.Packages) || !slices.Equal(got.Setup, c.want.Setup) || got.Description != c.want.Description {
				t.Errorf("got %+v\nwant %+v", *got, c.want)
			}
		})
	}
}

func TestOwnRuntimeReplacesOneOfTheCatalogue(t *testing.T) {
	set := readConfig(t, "runtimes: {go: {image: golang:1.26}, mine: {image: x}}")
	if got, err := set.Lookup("go"); err != nil || got.Image != "golang:1.26" {
		t.Errorf("go is %+v, %v", got, err)
	}
	if want := len(runtimes.Catalogue()) + 1; len(set) != want || !slices.IsSorted(set.Names()) || !slices.Contains(set.Names(), "mine") {
		t.Errorf("there are %q, want %d", set.Names(), want)
	}
}

func TestMistakesInTheFile(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"no mapping", "runtimes: [x]", `FILE:1: runtimes: it must be a mapping such as "name: {image: …}"`},
		{"a definition that is no mapping", "runtimes:\n  x: python", `FILE:2: runtimes: x: it must be a mapping`},
		{"a name that no image can have", "runtimes:\n  My_Runtime: {image: x}", `FILE:2: runtimes: My_Runtime: "My_Runtime" cannot be the name of a runtime; use`},
		{"a name twice", "runtimes:\n  x: {image: x}\n  x: {image: y}", `is there twice`},
		{"nothing in it", "runtimes:\n  x: {}", `FILE:2: runtimes: x: it needs an image to use as it is, or a base to build on`},
		{"both", "runtimes:\n  x:\n    image: x\n    base: y", `FILE:4: runtimes: x: base: there is an image as well`},
		{"packages of an image", "runtimes:\n  x:\n    image: x\n    packages:\n      pip: [six]", `FILE:4: runtimes: x: packages: an image is used as it is; to add packages write "base" in place of "image"`},
		{"setup of an image", "runtimes:\n  x:\n    image: x\n    setup: [true]", `FILE:4: runtimes: x: setup: an image is used as it is`},
		{"an unknown key", "runtimes:\n  x:\n    image: x\n    working-dirr: /x", `FILE:4: runtimes: x: there is no key "working-dirr"; did you mean "working_dir"?; it takes description, image, base,`},
		{"a key of pydantic-ai-backend", "runtimes:\n  x:\n    base_image: x", `FILE:3: runtimes: x: there is no key "base_image"; did you mean "base"?`},
		{"an unknown manager", "runtimes:\n  x:\n    base: x\n    packages:\n      pipp: [a]", `FILE:5: runtimes: x: packages: there is no key "pipp"; did you mean "pip"?; it takes apt, apk, pip, cargo, npm`},
		{"packages without a manager", "runtimes:\n  x:\n    base: x\n    packages: [pandas]", `FILE:4: runtimes: x: packages: it must be a mapping such as "pip: [pandas]"`},
		{"a package that is an option", "runtimes:\n  x:\n    base: x\n    packages:\n      pip:\n        - six\n        - --index-url=http://evil", `FILE:7: runtimes: x: packages: pip: "--index-url=http://evil" is no package of pip; write a name`},
		{"a package that is a command", "runtimes:\n  x:\n    base: x\n    packages: {apt: [\"git; touch /x\"]}", `FILE:4: runtimes: x: packages: apt: "git; touch /x" is no package of apt`},
		{"an empty setup command", "runtimes:\n  x:\n    base: x\n    setup:\n      - echo\n      - ' '", `FILE:6: runtimes: x: setup: command 2 is empty`},
		{"a list for a text", "runtimes:\n  x:\n    base: [x]", `FILE:3: runtimes: x: base: it must be a single value`},
		{"no value", "runtimes:\n  x:\n    base:", `FILE:3: runtimes: x: base: it has no value`},
		{"a variable's name", "runtimes:\n  x:\n    base: x\n    env:\n      A-B: c", `FILE:4: runtimes: x: env: "A-B" cannot be the name of a variable`},
		{"a variable of two lines", "runtimes:\n  x:\n    base: x\n    env:\n      A: b\n      B: \"c\\nRUN evil\"", `FILE:6: runtimes: x: env: B: the value has a line break`},
		{"a variable in both", "runtimes:\n  x:\n    base: x\n    env: {A: b}\n    build_args: {A: b}", `FILE:5: runtimes: x: build_args: A: it is in env as well`},
		{"a relative directory", "runtimes:\n  x:\n    image: x\n    working_dir: work", `FILE:4: runtimes: x: working_dir: "work" must be an absolute path`},
		{"a network", "runtimes:\n  x:\n    base: x\n    build_network: '--x'", `FILE:4: runtimes: x: build_network: "--x" is no network`},
		{"build arguments for all", "build_args:\n  A: b\n  B: \"c\\nd\"", `FILE:3: build_args: B: the value has a line break`},
		{"build arguments that are a list", "build_args: [A]", `build_args: it must be a mapping such as "NAME: value"`},
		{"a network for all", "build_network: a b", `FILE:1: build_network: "a b" is no network`},
		{"a misspelt section", "runtime: {}", `did you mean "runtimes"?`},
		{"a list that holds itself", "runtimes: {x: {base: b, setup: &a [*a]}}", `it must be a single value`},
		{"a mapping that holds itself", "runtimes: &a {x: *a}", `FILE:1: runtimes: x`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, _, err := load(t, c.file+"\n")
			if want := strings.ReplaceAll(c.want, "FILE", path); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v\nwant %q in it", err, want)
			} else if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("the error has more than one line: %q", err)
			}
		})
	}
}

// FuzzConfig: no file makes the program panic, and what is accepted is valid.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{"runtimes: {x: {image: y}}", "runtimes: {x: {base: y, packages: {pip: [a]}, env: {A: b}}}", "build_args: {A: b}", "build_network: host", "runtimes: &a {x: *a}", "runtimes: {? [a] : b}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		_, set, err := load(t, file)
		if err != nil {
			return
		}
		for _, r := range set {
			if err := r.Validate(); err != nil {
				t.Error(err)
			}
		}
	})
}
