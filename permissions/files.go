package permissions

import (
	"path"
	"slices"
)

// fileWords holds the words of a command that look like paths against what is
// denied for reading, and those it writes to against what is denied for
// writing.
func (w *walker) fileWords(name string, args []field) {
	if noFiles[name] {
		return
	}
	if p := args[0].value; looksLikePath(p) && !w.isShellPath(p) {
		w.denyPath(Read, p, false) // running a program reads it
	}
	switch {
	case name == "git":
		w.gitWords(args)
	case toolPrograms[name]:
		w.toolWords(name, args)
	default:
		w.programWords(name, args)
	}
}

// toolWords is fileWords for a program of toolPrograms.
func (w *walker) toolWords(name string, args []field) {
	taken := w.fileOptions(name, args)
	for i, a := range args[1:] {
		switch {
		case taken[i+1]:
		case a.value.hasPrefix("/") || a.value.hasPrefix(".") || len(a.value) > 0 && a.value[0].kind == home:
			w.denyPath(Read, a.value.before(":"), true) // a mount names its source first
		default:
			w.optionPaths(name, a)
		}
	}
	if sub, ok := argText(args[1:]); ok && sub == "cp" && len(args) > 3 {
		w.writeWord(args[len(args)-1].value) // out of a container
	}
}

// programWords is fileWords for any other program.
func (w *walker) programWords(name string, args []field) {
	prog, wellKnown := filePrograms[name]
	if isTar(name) {
		args = tarOptions(args)
	}
	taken := w.fileOptions(name, args)
	operands := w.operands(name, prog, args, taken)
	writes := prog.writeMode(name, args)
	for i, a := range operands {
		if w.exhausted() {
			return
		}
		if (name == "curl" || name == "wget") && !a.value.hasPrefix("file:") {
			w.optionPaths(name, a)
			continue
		}
		if !wellKnown && !looksLikePath(a.value) && !w.exists(a.value) {
			w.optionPaths(name, a)
			continue
		}
		if wellKnown && a.value.made() && len(a.value) == 1 && !prog.names {
			w.askUnknown(words(values(args)).String(), "a file name that is computed from other text is not known before the command runs")
		}
		if hasBlank(a.value) && !wellKnown {
			continue
		}
		v, ok := filePath(a.value)
		if !ok {
			continue
		}
		if writes == writesAll || writes == writesFirst && i == 0 || writes == writesSecond && i == 1 || writes == writesLast && i == len(operands)-1 {
			w.writeWord(v)
		}
		if !prog.names {
			w.denyPath(Read, v, wellKnown)
		}
		w.optionPaths(name, a)
	}
	switch {
	case isTar(name):
		w.tarFiles(args)
	case name == "curl" || name == "wget":
		w.downloads(name, args, operands)
	default:
		w.unpacks(name, args)
	}
}

// writeMode is which operands are written, given the options in args.
func (p fileProgram) writeMode(name string, args []field) writeMode {
	switch {
	case !p.only.none() && !p.only.given(args), p.unless.given(args):
		return writesNone
	case (name == "cp" || name == "ln" || name == "install") && targetOption.given(args):
		return writesNone // what is written is the option's
	}
	if name == "zip" && (optionNames{letters: "m", words: []string{"--move"}, stops: "nPtb"}).given(args) {
		return writesAll
	}
	if name == "install" && (optionNames{letters: "d", words: []string{"--directory"}, stops: "gmoSt"}).given(args) {
		return writesAll
	}
	return p.writes
}

// operands are the words of a command that are neither options nor their
// values. Paths in options are checked on the way.
func (w *walker) operands(name string, prog fileProgram, args []field, taken []bool) []field {
	var out []field
	patternGiven := prog.first == firstFile
	notFiles := optionNames{letters: prog.value, stops: writtenByOption[name].letters}
	ended := false
	for i := 1; i < len(args); i++ {
		a := args[i]
		s, _ := a.value.known()
		switch {
		case taken[i]:
			continue
		case !ended && s == "--":
			ended = true
			continue
		case ended || !a.value.hasPrefix("-") || s == "-":
			if !patternGiven {
				patternGiven = true
				if prog.first == firstMode || !w.exists(a.value) {
					continue
				}
			}
			out = append(out, a)
			continue
		}
		w.optionPaths(name, a)
		if i+1 == len(args) {
			continue
		}
		switch _, n := notFiles.at(args, i); {
		case (s == "-e" || s == "--regexp" || s == "--expression") && prog.first == firstPattern:
			patternGiven = true
			i++
		case (s == "-f" || s == "--file") && prog.first == firstPattern:
			patternGiven = true
			i++
			w.denyPath(Read, args[i].value, false)
		case n == 2, slices.Contains(ignoring, s), name == "find" && findNames[s]:
			i++
		}
	}
	return out
}

// writeWord is a word that a command writes to.
func (w *walker) writeWord(v value) {
	w.denyPath(Write, v, true)
	if w.exhausted() {
		return
	}
	for _, p := range w.state.paths(v) {
		if s, ok := p.known(); ok && !harmlessDevice(s) {
			w.redirectRules(p, w.resolve(s).path)
		}
	}
}

// isShellPath tells whether v is a program in one of the system's directories.
func (w *walker) isShellPath(v value) bool {
	s, ok := v.known()
	return ok && slices.Contains(programDirs, path.Dir(cleanText(s)))
}

// exists tells whether a word names something in the workspace.
func (w *walker) exists(v value) bool {
	if w.sh == nil {
		return false
	}
	if _, ok := v.known(); !ok || hasBlank(v) || v.hasPrefix("-") {
		return false
	}
	for _, p := range w.state.paths(v) {
		if s, ok := p.known(); ok && w.resolve(s).exists {
			return true
		}
	}
	return false
}
