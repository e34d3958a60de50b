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
	"clone init":         {words: []string{"--separate-git-dir"}},
	"fast-export":        {words: []string{"--export-marks"}},
	"fast-import":        {words: []string{"--export-marks", "--export-pack-edges"}},
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
	var operands []value
	after, pattern := false, sub == "grep"
	for i := 1; i < len(rest); i++ {
		a := rest[i]
		s, _ := a.value.known()
		if !after {
			v, n := written.at(rest, i)
			switch {
			case s == "--":
				after = true
				continue
			case n > 0:
				w.writeWord(v)
				i += n - 1
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
			w = w.in(w.state.clone())
			var to []value
			for _, p := range w.state.paths(v) {
				to = alternatives(to, []value{p})
			}
			w.state.cwd = to
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
	case "rm", "mv", "restore", "init", "clean":
		return operands
	case "clone":
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
	rev, _, ok := strings.Cut(head, ":")
	if !ok || rev == "" || strings.Contains(rev, "@") || strings.Contains(head, "://") {
		return nil, false
	}
	switch sub {
	case "push", "fetch", "pull", "clone":
		return nil, false
	}
	return v.trimPrefix(len(rev) + 1), true
}
