package permissions

import (
	"slices"
	"strings"
)

// gitWritten are the options of git's subcommands whose value is written.
var gitWritten = byName(map[string]optionNames{
	"diff log show whatchanged reflog stash shortlog diff-tree diff-index diff-files range-diff": {words: []string{"--output"}},

	"archive":            {letters: "o", words: []string{"--output"}},
	"format-patch":       {letters: "o", words: []string{"--output", "--output-directory"}, stops: "CGMOSUlnv"},
	"bugreport diagnose": {letters: "o", words: []string{"--output-directory"}, stops: "s"},
	"checkout-index":     {words: []string{"--prefix"}},
	"mailsplit":          {words: []string{"-o"}},
	"config":             {letters: "f", words: []string{"--file"}},
	"clone init":         {words: []string{"--separate-git-dir"}},
	"fast-export":        {words: []string{"--export-marks"}},
	"fast-import":        {words: []string{"--export-marks", "--export-pack-edges"}},
})

// gitRead are those whose value is read.
var gitRead = byName(map[string]optionNames{
	"commit":          {letters: "Ft", words: []string{"--file", "--template", "--pathspec-from-file"}, stops: "cCmSu"},
	"tag notes merge": {letters: "F", words: []string{"--file"}, stops: "mnuCc"},
	"grep":            {letters: "f", stops: "ABCemO"},
})

// gitTexts are options of subcommands whose value is no path.
var gitTexts = []string{
	"-m", "--message", "-S", "-G", "-b", "-B", "--author",
	"--branch", "--config", "--depth", "--filter", "--initial-branch", "--jobs", "--name", "--object-format", "--origin", "--reason", "--reference", "--shallow-since", "--template", "--upload-pack",
}

// gitCloneTexts are letters that mean something else in other subcommands.
var gitCloneTexts = []string{"-c", "-j", "-o", "-u"}

// gitPathArguments are subcommands whose operands are paths.
var gitPathArguments = []string{"add", "rm", "mv", "restore", "apply", "am", "blame", "hash-object", "check-ignore", "update-index", "stage"}

// gitWords finds paths among the words of a git command, which mostly are
// names of branches, commits and settings.
func (w *walker) gitWords(args []field) {
	global, rest := gitParts(args)
	if len(rest) == 0 {
		return
	}
	w = w.gitDirectory(global)
	sub, _ := rest[0].value.known()
	written := gitWritten[sub]
	takesPaths := slices.Contains(gitPathArguments, sub)
	if sub == "check-ignore" || sub == "rm" && (optionNames{words: []string{"--cached"}}).given(rest) {
		return // about names alone
	}
	var operands []value
	after, pattern := false, sub == "grep" && !(optionNames{letters: "ef", stops: "ABCmO"}).given(rest)
	for i := 1; i < len(rest) && !w.exhausted(); i++ {
		a := rest[i]
		s, _ := a.value.known()
		if !after {
			v, n := written.at(rest, i)
			read, readN := gitRead[sub].at(rest, i)
			switch {
			case s == "--":
				after = true
				continue
			case n > 0:
				w.writeWord(v)
				i += n - 1
				continue
			case readN > 0:
				w.denyPath(Read, read, false)
				i += readN - 1
				continue
			case slices.Contains(gitTexts, s), sub == "clone" && slices.Contains(gitCloneTexts, s):
				i++
				continue
			case a.value.hasPrefix("-"):
				w.optionPaths("git", a)
				continue
			}
		}
		if pattern {
			pattern = false
			continue
		}
		operands = append(operands, a.value)
		if hasBlank(a.value) {
			continue
		}
		if after && sub == "checkout" {
			w.writeWord(a.value)
		}
		if after || takesPaths || a.value.hasPrefix("/") || a.value.hasPrefix(".") || w.exists(a.value) || a.value.has(wild) {
			w.denyPath(Read, a.value, false)
		} else if v, ok := inRevision(sub, a.value); ok {
			w.denyPath(Read, v, false)
		}
	}
	for _, v := range gitTargets(sub, operands) {
		if v, ok := filePath(v); ok {
			w.writeWord(v)
		}
	}
}

// gitDirectory is w where git's global options lead to.
func (w *walker) gitDirectory(global []field) *walker {
	directory := optionNames{words: []string{"-C"}}
	for i := range global {
		if v, n := directory.at(global, i); n > 0 {
			st := w.state.clone()
			st.cwd = st.paths(v)
			w = w.in(st)
			w.spend(8 * len(st.cwd) * st.cwd[0].size())
		}
	}
	if v := (optionNames{words: []string{"--work-tree"}}).last(global); v != nil {
		w.writeWord(v)
	}
	return w
}

// gitTargets are those of a subcommand's operands that it writes.
func gitTargets(sub string, operands []value) []value {
	from := func(n int) []value { return operands[min(n, len(operands)):] }
	action := ""
	if len(operands) > 0 {
		action, _ = operands[0].known()
	}
	switch sub {
	case "rm", "mv", "restore", "clean":
		return operands
	case "init":
		if len(operands) == 0 {
			return []value{text(".")}
		}
		return operands
	case "clone":
		if len(operands) == 1 {
			return []value{text(".")}
		}
		return from(1)
	case "worktree":
		if action == "add" {
			return from(1)[:min(1, len(from(1)))]
		}
	case "bundle":
		if action == "create" {
			return from(1)[:min(1, len(from(1)))]
		}
	case "submodule":
		if action == "add" {
			return from(2)
		}
	}
	return nil
}

// inRevision is the path in REVISION:PATH.
func inRevision(sub string, v value) (value, bool) {
	if len(v) == 0 || v[0].kind != lit {
		return nil, false
	}
	head := v[0].text
	at := strings.IndexByte(head, ':')
	if at < 0 || strings.Contains(head, "://") {
		return nil, false
	}
	switch sub {
	case "push", "fetch", "pull", "clone", "remote", "ls-remote", "submodule":
		return nil, false
	}
	if at == 0 && len(head) > 2 && head[2] == ':' && strings.IndexByte("0123", head[1]) >= 0 {
		at = 2 // :0:PATH
	}
	if magic, _, ok := strings.Cut(head, ")"); ok && strings.HasPrefix(magic, ":(") && !strings.Contains(magic, "exclude") {
		at = len(magic)
	}
	if at+1 == len(head) && len(v) == 1 {
		return nil, false
	}
	return v.trimPrefix(at + 1), true
}
