package runtimes_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/runtimes"
)

// TestCatalogueIsThatOfTheOriginal holds it against the table of the library
// that its names come from.
func TestCatalogueIsThatOfTheOriginal(t *testing.T) {
	want := map[string]string{ // the image, or the base and its language's packages
		"python-minimal":     "python:3.12-slim",
		"python-datascience": "python:3.12-slim + pandas, numpy, matplotlib, scikit-learn, seaborn",
		"python-analytics":   "python:3.12-slim + duckdb, polars, pyarrow",
		"python-web":         "python:3.12-slim + fastapi, uvicorn, sqlalchemy, httpx",
		"python-scraping":    "python:3.12-slim + httpx, beautifulsoup4, lxml, markdownify",
		"python-documents":   "python:3.12-slim + pypdf, python-docx, openpyxl, pillow",
		"node-minimal":       "node:20-slim",
		"node-typescript":    "node:20-slim + typescript, tsx, vitest",
		"node-react":         "node:20-slim + typescript, vite, react, react-dom, @types/react",
		"bun":                "oven/bun:1-slim",
		"deno":               "denoland/deno:alpine",
		"go":                 "golang:1.23-alpine",
		"rust":               "rust:1-slim",
		"coding":             "python:3.12-slim + uv",
		"polyglot":           "python:3.12-slim + numpy, duckdb, polars, httpx",
	}
	set := runtimes.Catalogue()
	if got := set.Names(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("the names are %q", got)
	}
	for _, r := range set {
		got := r.Image + r.Base
		if packages := slices.Concat(r.Packages.Pip, r.Packages.Npm); len(packages) > 0 {
			got += " + " + strings.Join(packages, ", ")
		}
		if got != want[r.Name] {
			t.Errorf("%s is %s\nwant %s", r.Name, got, want[r.Name])
		}
		if err := r.Validate(); err != nil || r.Description == "" || r.Dir() == "" {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestLookup(t *testing.T) {
	set := runtimes.Catalogue()
	if r, err := set.Lookup("rust"); err != nil || r.Name != "rust" {
		t.Errorf("rust is %+v, %v", r, err)
	}
	_, err := set.Lookup("pyhton-web")
	if backends.CodeOf(err) != backends.CodeInvalidArgument || !strings.Contains(err.Error(), `there is no runtime "pyhton-web"; did you mean "python-web"?; the runtimes are bun, coding,`) {
		t.Errorf("the error is %v", err)
	}
}

// full is a definition with something in every field.
func full() *runtimes.Runtime {
	return &runtimes.Runtime{
		Name: "full", Description: "d", Base: "base:1",
		Packages: runtimes.Packages{
			Apt: []string{"git", "g++=4:12.2.0-3"}, Apk: []string{"git>=2"}, Pip: []string{"pandas[excel]>=2,<3", "six"},
			Npm: []string{"vite", "@types/react@^18"}, Cargo: []string{"ripgrep@14.1.0"},
		},
		Setup:      []string{"echo one", "echo \"two\"\necho 'three' <&0 && true \\\n"},
		Env:        map[string]string{"A": `"$x" \`, "B": "b", "C": "c"},
		WorkingDir: "/work", BuildArgs: map[string]string{"PIP_INDEX_URL": "u", "NPM_CONFIG_REGISTRY": "v", "HTTPS_PROXY": "w"}, BuildNetwork: "host",
	}
}

// TestEveryChangeOfADefinitionIsAnotherTag changes a field at a time.
func TestEveryChangeOfADefinitionIsAnotherTag(t *testing.T) {
	seen := map[string]string{full().Digest(): "nothing"}
	for name, change := range map[string]func(r *runtimes.Runtime){
		"name":            func(r *runtimes.Runtime) { r.Name = "other" },
		"description":     func(r *runtimes.Runtime) { r.Description = "e" },
		"base":            func(r *runtimes.Runtime) { r.Base = "base:2" },
		"an apt package":  func(r *runtimes.Runtime) { r.Packages.Apt[0] = "curl" },
		"an apk package":  func(r *runtimes.Runtime) { r.Packages.Apk[0] = "curl" },
		"a pip package":   func(r *runtimes.Runtime) { r.Packages.Pip[1] = "seven" },
		"an npm package":  func(r *runtimes.Runtime) { r.Packages.Npm[1] = "@types/react@18" },
		"a cargo package": func(r *runtimes.Runtime) { r.Packages.Cargo = nil },
		"the order":       func(r *runtimes.Runtime) { slices.Reverse(r.Packages.Pip) },
		"one list to another": func(r *runtimes.Runtime) {
			r.Packages.Apk, r.Packages.Cargo = nil, append(r.Packages.Cargo, r.Packages.Apk...)
		},
		"setup":                    func(r *runtimes.Runtime) { r.Setup[1] += " " },
		"setup cut in another way": func(r *runtimes.Runtime) { r.Setup = []string{strings.Join(r.Setup, "\n")} },
		"a variable's value":       func(r *runtimes.Runtime) { r.Env["A"] = "" },
		"one variable more":        func(r *runtimes.Runtime) { r.Env["D"] = "" },
		"values exchanged":         func(r *runtimes.Runtime) { r.Env["B"], r.Env["C"] = r.Env["C"], r.Env["B"] },
		"the working directory":    func(r *runtimes.Runtime) { r.WorkingDir = "/other" },
		"a build argument":         func(r *runtimes.Runtime) { r.BuildArgs["HTTPS_PROXY"] = "x" },
		"the network":              func(r *runtimes.Runtime) { r.BuildNetwork = "" },
	} {
		r := full()
		change(r)
		digest := r.Digest()
		if other, same := seen[digest]; same {
			t.Errorf("changing %s gives the digest of changing %s", name, other)
		}
		seen[digest] = name
		if want := "mcp-workspace/runtime-" + r.Name + ":" + digest[:12]; r.Tag() != want {
			t.Errorf("the tag is %s, want %s", r.Tag(), want)
		}
	}
}

func TestDigestOfEqualDefinitionsIsEqual(t *testing.T) {
	for range 50 { // the order in which a map is visited changes
		if a, b := full().Digest(), full().Digest(); a != b {
			t.Fatalf("%s and %s", a, b)
		}
	}
	a, b := &runtimes.Runtime{Name: "x", Base: "b"}, &runtimes.Runtime{Name: "x", Base: "b", Setup: []string{}, Env: map[string]string{}, Packages: runtimes.Packages{Pip: []string{}}}
	if a.Digest() != b.Digest() {
		t.Error("empty and missing differ")
	}
}

func TestNamesThatAreNoPackages(t *testing.T) {
	long := strings.Repeat("a", 201)
	for manager, c := range map[string]struct {
		set       func(*runtimes.Packages, string)
		good, bad []string
	}{
		"apt": {
			func(p *runtimes.Packages, s string) { p.Apt = []string{s} },
			[]string{"git", "g++", "libc6:i386", "git=1:2.39.5-0+deb12u2~x", "git/bookworm-backports", "python3.11"},
			[]string{"", "x", "-y", "git-", "git=1-", "Git", "git curl", "git;id", "git*", "./x.deb", "git=", "$(id)", "git\n", long},
		},
		"apk": {
			func(p *runtimes.Packages, s string) { p.Apk = []string{s} },
			[]string{"git", "py3-pip", "git=2.45.2-r0", "git>=2", "git~2.45", "git@edge"},
			[]string{"", "-X", "!git", "git curl", ".git", "git>", "http://x", "`id`", long},
		},
		"pip": {
			func(p *runtimes.Packages, s string) { p.Pip = []string{s} },
			[]string{"six", "Pillow", "python-docx", "a.b_c", "pandas[excel,plot]", "pandas==2.*", "pandas>=2,<3", "pandas~=2.1", "x===1+local", "x!=1.0"},
			[]string{"", "-r", "--index-url=x", "six seven", "six;id", ".", "./x", "x @ http://y", "git+https://x", "x==", "x[", "x[]", "pandas >=2", "six\n", "x==1;python_version<'3'", long},
		},
		"npm": {
			func(p *runtimes.Packages, s string) { p.Npm = []string{s} },
			[]string{"vite", "@types/react", "@types/react@18", "vite@^5.0.0", "vite@~5", "vite@>=5", "vite@latest", "JSONStream", "lodash.get"},
			[]string{"", "-g", "--registry=x", "user/repo", "../x", "file:x", "git+ssh://x", "vite@", "a@npm:b", "@x", "@/x", "a b", "a|b", "a\n", long},
		},
		"cargo": {
			func(p *runtimes.Packages, s string) { p.Cargo = []string{s} },
			[]string{"ripgrep", "ripgrep@14.1.0", "cargo-edit", "x_y@^1"},
			[]string{"", "--git", "a b", "a@", "./a", "a/b", "1a", "a;b", long},
		},
	} {
		for _, name := range append(slices.Clone(c.good), c.bad...) {
			r := &runtimes.Runtime{Name: "x", Base: "b"}
			c.set(&r.Packages, name)
			err := r.Validate()
			if good := slices.Contains(c.good, name); good != (err == nil) {
				t.Errorf("%s: %q: %v", manager, name, err)
			}
			if err != nil && (backends.CodeOf(err) != backends.CodeInvalidArgument || !strings.Contains(err.Error(), "runtime \"x\": packages: "+manager+": ") || len(err.Error()) > 400) {
				t.Errorf("%s: %q: the error is %v", manager, name, err)
			}
		}
	}
}

func TestImagesAndDirectories(t *testing.T) {
	for image, good := range map[string]bool{
		"python": true, "python:3.12-slim": true, "oven/bun:1-slim": true, "localhost:5000/a/b__c:X_1": true, "Registry.example/a": true,
		"a@sha256:" + strings.Repeat("a", 64): true, "a:1@sha256:" + strings.Repeat("a", 64): true,
		"": false, "Python": false, "a b": false, "a AS b": false, "a\nRUN id": false, "$BASE": false, "${BASE:-x}": false, "--platform=x": false,
		"a:": false, "a@sha256:1": false, "/a": false, "a//b": false, "http://a/b": false, "a:1:2": false,
	} {
		for _, r := range []*runtimes.Runtime{{Name: "x", Image: image}, {Name: "x", Base: image}} {
			if err := r.Validate(); (err == nil) != good {
				t.Errorf("%q: %v", image, err)
			}
		}
	}
	for dir, good := range map[string]bool{
		"": true, "/app": true, "/a/b.c/d-e_f+g@h": true,
		"/": false, "app": false, "/a/": false, "/a//b": false, "/a/../b": false, "/a/.": false, "/a b": false, "/$HOME": false, "/a\nRUN id": false, `/a\`: false, `/"`: false,
	} {
		if err := (&runtimes.Runtime{Name: "x", Image: "y", WorkingDir: dir}).Validate(); (err == nil) != good {
			t.Errorf("%q: %v", dir, err)
		}
	}
}

// TestCatalogueIsDocumented: the table of the documentation has a line for
// every runtime, with its image, and no other.
func TestCatalogueIsDocumented(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "docs", "runtimes.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), "## The catalogue")
	table, _, _ = strings.Cut(table, "##")
	set := runtimes.Catalogue()
	for _, r := range set {
		line := "\n| `" + r.Name + "` | `" + r.Image + "` |"
		if r.IsBuilt() {
			line = "\n| `" + r.Name + "` | built on `" + r.Base + "` |"
		}
		if !strings.Contains(table, line) {
			t.Errorf("docs/runtimes.md lacks the line %q", line)
		}
	}
	if got := strings.Count(table, "\n| `"); got != len(set) {
		t.Errorf("docs/runtimes.md has %d runtimes, want %d", got, len(set))
	}
}
