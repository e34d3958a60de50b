package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/tools"
)

// TestMistakesStopTheStart holds every mistake against the one line that it
// must end with.
func TestMistakesStopTheStart(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
		env  []string
		file string // content of the configuration file
		want string // FILE is the configuration file
	}{
		// Words that are no setting.
		{name: "command", args: []string{"calll"}, want: `there is no command "calll"; did you mean "call"?; mcp-workspace has call, permissions, runtimes, serve, stdio, token, version, workspaces`},
		{name: "command of permissions", args: []string{"permissions", "chek"}, want: `there is no command "chek"; did you mean "check"?`},
		{name: "word behind stdio", args: []string{"stdio", "x"}, want: `"x" is not expected behind mcp-workspace stdio`},
		{name: "word behind version", args: []string{"version", "x"}, want: `"x" is not expected behind mcp-workspace version`},
		{name: "flag", args: []string{"--rooot", "x"}, want: `unknown flag: --rooot; did you mean "root"?; see mcp-workspace --help`},
		{name: "flag of call", args: []string{"call", "ls", "--in_order"}, want: `unknown flag: --in_order; did you mean "in-order"?; see mcp-workspace call --help`},
		{name: "short flag", args: []string{"-x"}, want: `unknown shorthand flag: 'x' in -x; see mcp-workspace --help`},
		{name: "flag without value", args: []string{"--root"}, want: `--root has no value; write --root=VALUE`},
		{name: "variable", env: []string{"MCP_WORKSPACE_ROOOT=x"}, want: `MCP_WORKSPACE_ROOOT is no setting; did you mean "MCP_WORKSPACE_ROOT"?`},
		{name: "key", file: "rooot: x\n", want: `FILE:1: rooot is no setting; did you mean "root"?`},
		{name: "config in the file", file: "config: x\n", want: `FILE:1: config cannot be set in the file itself`},
		{name: "missing file", args: []string{"--config=missing.yaml"}, want: `--config: the configuration file cannot be read: open `},

		// Values.
		{name: "backend", args: []string{"--backend=locl"}, want: `--backend is "locl"; did you mean "local"?; it takes docker, local, podman, state`},
		{name: "backend of a later version", args: []string{"--backend=kubernetes"}, want: `--backend is "kubernetes"; it takes docker, local, podman, state`},
		{name: "backend that is empty", env: []string{"MCP_WORKSPACE_BACKEND="}, want: `MCP_WORKSPACE_BACKEND is ""; it takes docker, local, podman, state`},
		{name: "ask-fallback", args: []string{"--ask-fallback=allow"}, want: `--ask-fallback is "allow"; it takes deny, error`},
		{name: "profile", env: []string{"MCP_WORKSPACE_PROFILE=codign"}, want: `MCP_WORKSPACE_PROFILE is "codign"; did you mean "coding"?; it takes coding, agent`},
		{name: "edit-format", file: "\nedit-format: diff\n", want: `FILE:2: edit-format is "diff"; it takes str_replace, hashline`},
		{name: "log-level", args: []string{"--log-level=verbose"}, want: `--log-level is "verbose"; it takes debug, info, warn, error`},
		{name: "log-format", args: []string{"--log-format=JSN"}, want: `--log-format is "JSN"; did you mean "json"?; it takes text, json`},
		{name: "boolean flag", args: []string{"--structured=maybe"}, want: `--structured is "maybe"; it takes true or false`},
		{name: "boolean variable", env: []string{"MCP_WORKSPACE_IN_ORDER=yes"}, want: `the environment variable MCP_WORKSPACE_IN_ORDER is "yes": it takes true or false`},
		{name: "boolean key", file: "destroy-on-exit: maybe\n", want: `FILE:1: destroy-on-exit: it takes true or false`},
		{name: "permissions", args: []string{"--permissions=permisive"}, want: `--permissions is "permisive", which is no preset, and there is no file `},
		{name: "permissions in the file", file: "permissions: readonyl\n", want: `; did you mean "readonly"?; the presets are default, permissive, readonly, strict`},
		{name: "permissions of one's own home", args: []string{"--permissions=~/rules.yaml"}, want: `--permissions names "~/rules.yaml", but no home directory is known`},
		{name: "tools", args: []string{"--tools=ls,read"}, want: `--tools names "read", which is no tool; the tools are ls, read_file, `},
		{name: "tools that are misspelt", file: "tools:\n- gerp\n", want: `FILE:1: tools names "gerp", which is no tool; did you mean "grep"?`},
		{name: "tools of the other edit format", args: []string{"--tools=edit_file", "--edit-format=hashline"}, want: `--tools names "edit_file", which is no tool; the tools are ls, read_file, write_file, hashline_edit`},
		{name: "env", args: []string{"--env=CI"}, want: `--env is "CI"; write it as NAME=value`},
		{name: "env without name", env: []string{"MCP_WORKSPACE_ENV=A=1\n=2"}, want: `MCP_WORKSPACE_ENV is "=2"; write it as NAME=value`},
		{name: "env in the file", file: "env: [A=1, B]\n", want: `FILE:1: env is "B"; write it as NAME=value`},
		{name: "working-dir", args: []string{"--working-dir=src"}, want: `--working-dir is "src"; it must be an absolute path`},
		{name: "name", args: []string{"--name=a/b"}, want: `--name is wrong: "a/b" cannot name a workspace; use 1 to 63 letters, digits`},
		{name: "ref that is empty", env: []string{"MCP_WORKSPACE_REF="}, want: `MCP_WORKSPACE_REF is wrong: "" is not a workspace ref`},
		{name: "container's flag in the file", file: "backend: podman\nmemory: lots\n", want: `:2: memory "lots": no amount of memory; write bytes, or a number with k, m or g`},
		{name: "ref", args: []string{"--ref=demo", "--store=file:x"}, want: `--ref is wrong: "demo" is not a workspace ref; one looks like provider:id`},
		{name: "store", args: []string{"--store=redis:x"}, want: `a store of the kind "redis" is not known; use memory, file:DIR, sqlite:FILE or postgres://…`},
		{name: "max-memory", args: []string{"--max-memory=much"}, want: `--max-memory is "much"; it takes a size such as 4GB, at least 16MB, or 0, which is no limit`},
		{name: "max-memory that is of no use", file: "max-memory: 1MB\n", want: `FILE:1: max-memory is "1MB"; it takes a size such as 4GB, at least 16MB, or 0`},
		{name: "store without a path", args: []string{"--store=file:"}, want: `the path is missing; write file:DIR or sqlite:FILE`},
		{name: "store that is not there", args: []string{"--store=postgres://127.0.0.1:1/x"}, want: `the store postgres://127.0.0.1:1/x cannot be used: `},
		{name: "root that is not there", args: []string{"--backend=local", "--root=/nowhere"}, want: `/nowhere: the root does not exist; make the directory first, or name another with --root`},

		// Combinations.
		{name: "ref and name", args: []string{"--ref=state:x", "--name=x", "--store=file:x"}, want: `--name and --ref both say which workspace to use; give one of them`},
		{name: "ref of another backend", args: []string{"--ref=local:/x", "--backend=state"}, want: `--ref names a workspace of local, but the backend is state; add --backend local`},
		{name: "ref with the store memory", args: []string{"--ref=state:x"}, want: `--ref names a workspace that exists, but the store "memory" keeps none between runs; add --store file:DIR`},
		{name: "relative root that is the machine's", args: []string{"--backend=local", "--root=../../../../../../../.."}, want: `--root is "../../../../../../../..", which is relative and comes out as /, the whole machine`},
		{name: "root without local", args: []string{"--root=/x"}, want: `--root is for the backend local, but the backend is state; add --backend local, or leave it out`},
		{name: "root in the file without local", file: "root: /x\n", want: `FILE:1: root is for the backend local, but the backend is state`},
		{name: "local without root", args: []string{"--backend=local"}, want: `--backend is local, which needs a directory to work in; add --root DIR`},
		{name: "store with local", args: []string{"--backend=local", "--root", root, "--store=file:x"}, want: `--store is for the backend state, but the backend is local; add --backend state, or leave it out`},
		{name: "destroy-on-exit with local", args: []string{"--backend=local", "--root", root}, env: []string{"MCP_WORKSPACE_DESTROY_ON_EXIT=true"}, want: `MCP_WORKSPACE_DESTROY_ON_EXIT cannot be used with the backend local: the directory is yours`},
		{name: "no tool left", args: []string{"--tools=write_file,execute", "--permissions=readonly"}, want: `--permissions denies every tool that would be offered; allow one, or offer others with --tools`},

		// Texts for the model.
		{name: "descriptions of another form", file: "descriptions: [ls]\n", want: `FILE:1: descriptions must be a mapping such as "tool: text"`},
		{name: "description of no tool", file: "descriptions:\n  sl: x\n", want: `FILE:2: descriptions: there is no tool "sl"`},
		{name: "description of a misspelt tool", file: "descriptions:\n  gerp: x\n", want: `there is no tool "gerp"; did you mean "grep"?; the tools are ls, `},
		{name: "description that is empty", file: "descriptions:\n  ls:\n", want: `FILE:2: descriptions: ls must be text; write some, or remove the line`},
		{name: "description that is a list", file: "descriptions:\n  ls: [x]\n", want: `FILE:2: descriptions: ls must be a mapping such as "description: text"`},
		{name: "description with another key", file: "descriptions:\n  ls:\n    text: x\n", want: `FILE:3: descriptions: ls has no key "text"; it takes description and arguments`},
		{name: "description twice", file: "descriptions:\n  ls: x\n  ls: y\n", want: `FILE:3: descriptions has "ls" twice, first in line 2; remove one`},
		{name: "arguments of another form", file: "descriptions:\n  ls:\n    arguments: x\n", want: `FILE:3: descriptions: ls: arguments must be a mapping such as "argument: text"`},
		{name: "argument that is null", file: "descriptions:\n  ls:\n    arguments: {path: ~}\n", want: `FILE:3: descriptions: ls: arguments: path must be text`},
		{name: "argument that is none", file: "\ndescriptions:\n  ls: {arguments: {file: x}}\n", want: `FILE:2: descriptions cannot be used: ls has no argument "file"; it has path`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := "FILE"
			if c.file != "" {
				file = writeFile(t, t.TempDir(), "settings.yaml", c.file)
				c.args = append(c.args, "--config="+file)
			}
			got := program{args: c.args, env: c.env}.run(t)
			if got.code != 1 || got.stdout != "" {
				t.Errorf("it ended with %d and printed %q", got.code, got.stdout)
			}
			want := strings.ReplaceAll(c.want, "FILE", file)
			if !strings.HasPrefix(got.stderr, "mcp-workspace: ") || !strings.Contains(got.stderr, want) {
				t.Errorf("it said %s\nwant %s", got.stderr, want)
			}
			if strings.Count(got.stderr, "\n") != 1 {
				t.Errorf("it said more than one line:\n%s", got.stderr)
			}
		})
	}
}

// TestFlagsOfContainersNeedABackendOfContainers, one that was chosen over the
// file's head excepted.
func TestFlagsOfContainersNeedABackendOfContainers(t *testing.T) {
	t.Parallel()
	for _, flag := range containerFlags {
		arg := "--" + flag + "=1"
		got := program{args: []string{"call", "ls", arg}}.run(t)
		if want := "--" + flag + " is for the backend docker, but the backend is state; add --backend docker, or leave it out"; got.code != 1 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s answered %+v", arg, got)
		}
	}
	file := writeFile(t, t.TempDir(), "x.yaml", "backend: docker\nimage: x\n")
	if got := run(t, "call", "ls", "--config="+file, "--backend=state"); !strings.Contains(got, "empty") {
		t.Errorf("it answered %q", got)
	}
}

func TestARulesetWithMistakesIsRefusedInOneLine(t *testing.T) {
	t.Parallel()
	rules := writeFile(t, t.TempDir(), "rules.yaml", "default: maybe\nreed:\n  default: allow\n")
	got := program{args: []string{"--permissions", rules}}.run(t)
	if got.code != 1 || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, rules+":1: ") || !strings.Contains(got.stderr, rules+":2: ") {
		t.Errorf("it ended with %d and said %s", got.code, got.stderr)
	}
}

// TestMistakesMakeNothing: what is refused has left no trace.
func TestMistakesMakeNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := writeFile(t, dir, "settings.yaml", "store: file:docs\ndescriptions: {ls: {arguments: {file: x}}}\n")
	if got := (program{args: []string{"--config", file}}).run(t); got.code != 1 {
		t.Fatalf("it ended with %d", got.code)
	}
	if _, err := os.Stat(filepath.Join(dir, "docs")); !os.IsNotExist(err) {
		t.Errorf("the store has been made: %v", err)
	}
}

// TestPathsInTheFile: they count from the file's directory, wherever the
// program is started.
func TestPathsInTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, dir, "project/a.txt", "hello\n")
	writeFile(t, dir, "rules/mine.yaml", "default: allow\nread:\n  rules:\n    - {pattern: \"**/b.txt\", action: deny}\n")
	local := writeFile(t, dir, "local.yaml", "backend: local\nroot: project\npermissions: rules/mine.yaml\n")
	if got := run(t, "call", "ls", "--config", local); got != "a.txt (6 bytes)\n" {
		t.Errorf("ls printed %q", got)
	}
	if got := run(t, "permissions", "check", "read", "b.txt", "--config", local); !strings.HasPrefix(got, "deny\n") {
		t.Errorf("the ruleset of the file says %q", got)
	}

	for store, made := range map[string]string{"file:docs": "docs/demo.json", "sqlite:data/demo.db": "data/demo.db"} {
		file := writeFile(t, dir, "state.yaml", "store: "+store+"\nname: demo\n")
		run(t, "call", "write_file", "path=a.txt", "content=x", "--config", file)
		if _, err := os.Stat(filepath.Join(dir, made)); err != nil {
			t.Errorf("%s: %v", store, err)
		}
	}
}

// TestPathsOfFlags: they count from the current directory.
func TestPathsOfFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, dir, "project/a.txt", "hello\n")
	writeFile(t, dir, "rules.yaml", "default: allow\n")
	p := program{dir: dir, args: []string{"call", "ls", "--backend=local", "--root=project"}, env: []string{"MCP_WORKSPACE_PERMISSIONS=rules.yaml"}}
	if got := p.run(t); got.stdout != "a.txt (6 bytes)\n" {
		t.Errorf("ls answered %+v", got)
	}
	p = program{args: []string{"call", "ls", "--backend=local", "--root=~/project"}, env: []string{"HOME=" + dir}}
	if got := p.run(t); got.stdout != "a.txt (6 bytes)\n" {
		t.Errorf("ls of a root in the home directory answered %+v", got)
	}
}

// TestAFileServesSeveralBackends: what it sets for one is no mistake when a
// flag chooses another.
func TestAFileServesSeveralBackends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := writeFile(t, dir, "settings.yaml", "backend: local\nroot: .\n")
	if got := run(t, "call", "ls", "--config", file, "--backend=state"); !strings.Contains(got, "empty") {
		t.Errorf("ls printed %q", got)
	}
}

func TestTheUsersOwnFileIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, dir, "mcp-workspace.yaml", "backend: local\nroot: .\n")
	got := program{args: []string{"call", "ls"}, env: []string{"XDG_CONFIG_HOME=" + dir, "HOME=" + dir}, dir: dir}.run(t)
	if os.Getenv("XDG_CONFIG_HOME") == "" && strings.Contains(got.stdout, "empty") {
		t.Skip("the user's configuration is elsewhere on this system")
	}
	if !strings.Contains(got.stdout, "mcp-workspace.yaml") {
		t.Errorf("ls answered %+v", got)
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"stdio", "--help"}, {"call", "--help"}, {"permissions", "check", "--help"}} {
		help := run(t, args...)
		for _, flag := range []string{"config", "backend", "ref", "name", "permissions", "ask-fallback", "working-dir", "root", "env", "store",
			"image", "runtime", "network", "memory", "cpus", "pids-limit", "user", "read-only", "cap-drop", "mount", "tmpfs", "gpus", "oci-runtime", "add-host", "guest",
			"destroy-on-exit", "tools", "structured", "profile", "edit-format", "in-order", "log-level", "log-format"} {
			if !regexp.MustCompile(`--` + flag + `\s`).MatchString(help) {
				t.Errorf("%q does not name --%s", args, flag)
			}
		}
	}
	topic := run(t, "help", "containers")
	for _, flag := range containerFlags {
		if !strings.Contains(topic, "\n      --"+flag+" ") {
			t.Errorf("help containers does not tell what --%s is", flag)
		}
	}
	root := run(t, "--help")
	for _, command := range []string{"stdio", "call", "workspaces", "runtimes", "permissions", "version"} {
		if !strings.Contains(root, "\n  "+command+" ") {
			t.Errorf("--help does not name %s", command)
		}
	}
}

// TestHelpOfServeHasHeadings under which its flags are, each of them once.
func TestHelpOfServeHasHeadings(t *testing.T) {
	t.Parallel()
	help := run(t, "serve", "--help")
	_, flags, _ := strings.Cut(help, "\n\nWhere it listens:\n")
	for heading, flag := range map[string]string{
		headClients: "no-auth", headWorkspace: "backend", headContainers: "image", headAllowed: "permissions",
		headModel: "profile", headLimits: "idle-stop", headOperation: "audit-log", headOther: "help",
	} {
		block := regexp.MustCompile(`(?s)\n\n` + heading + `( \(see .*?\))?:\n(.*?)(\n\n|\n$)`).FindString(flags)
		if !strings.Contains(block, "--"+flag+" ") || strings.Count(flags, " --"+flag+" ") != 1 {
			t.Errorf("--%s is not under %q: %s", flag, heading, block)
		}
	}
	if strings.Contains(help, "--ref ") || strings.Contains(help, "--in-order") {
		t.Error("it names what serve refuses")
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if got := strings.Fields(run(t, "version")); len(got) != 4 || got[0] != "mcp-workspace" {
		t.Errorf("it printed %q", got)
	}
}

// TestDescriptionsReachTheModel in each of their forms, and with the anchors
// of YAML.
func TestDescriptionsReachTheModel(t *testing.T) {
	t.Parallel()
	file := writeFile(t, t.TempDir(), "settings.yaml", `
descriptions:
  ls: &text My own list.
  glob:
    description: *text
    arguments: {pattern: My own pattern.}
  hashline_edit: For the other edit format.
`)
	s := program{args: []string{"--config", file}}.start(t)
	s.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	line, err := s.lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(line, `"My own list."`); n != 2 || !strings.Contains(line, `"My own pattern."`) {
		t.Errorf("tools/list answered %s", line)
	}
	s.stdin.Close()
	s.end(t)
}

func TestToolsToOffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		env  []string
		want []string
	}{
		{name: "all", want: tools.Names(tools.EditByString)},
		{name: "by commas", args: []string{"--tools=ls, grep"}, want: []string{"ls", "grep"}},
		{name: "by repetition", args: []string{"--tools=ls", "--tools=grep,glob"}, want: []string{"ls", "glob", "grep"}},
		{name: "by lines", env: []string{"MCP_WORKSPACE_TOOLS=ls\ngrep"}, want: []string{"ls", "grep"}},
		{name: "none is all", env: []string{"MCP_WORKSPACE_TOOLS="}, want: tools.Names(tools.EditByString)},
		{name: "what the ruleset denies is left out", args: []string{"--permissions=readonly"}, want: []string{"ls", "read_file", "glob", "grep"}},
		{name: "hashline", args: []string{"--edit-format=hashline"}, want: tools.Names(tools.EditByLine)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := program{args: c.args, env: c.env}.start(t)
			s.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			var got []string
			for _, tool := range s.answer(t).Result.Tools {
				got = append(got, tool.Name)
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("it offers %q, want %q", got, c.want)
			}
			s.stdin.Close()
			s.end(t)
		})
	}
}
