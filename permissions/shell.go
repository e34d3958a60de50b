package permissions

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Shell is how the command check sees the workspace that a command would run
// in. With a nil Shell the check rests on the text alone.
type Shell interface {
	// Dir is the absolute directory that the command would start in.
	Dir() string
	// Resolve follows the symlinks in an absolute path, and tells whether
	// there is anything there.
	Resolve(path string) (resolved string, exists bool)
	// Expand returns the paths that an unquoted shell pattern stands for, and
	// false when they are not known or too many. The pattern is absolute; a
	// backslash in it takes the meaning from the next character.
	Expand(pattern string) ([]string, bool)
}

// Limits of the command check. What exceeds one is asked about at best.
const (
	maxScript   = 256 << 10 // bytes of a command line, and of all scripts found in it together four times that
	maxNesting  = 16        // scripts and wrapped commands within one another
	maxBrackets = 200       // brackets and compound commands within one another
	maxCommands = 4000      // simple commands looked at
	maxFields   = 1024      // words that one word may expand to
	maxResolves = 4096      // questions to the Shell
)

// checker is the check of one command line.
type checker struct {
	rules *Ruleset
	exec  *ruleList
	sh    Shell

	best     Decision // the strictest so far
	decided  bool
	judged   bool // rules or the default of execute have been applied
	bytes    int  // of scripts parsed
	commands int
	resolves int
	over     bool // a limit was reached
	denyOnly int  // over 0: only what a rule denies counts
	resolved map[string]resolution
}

type resolution struct {
	path   string
	exists bool
}

// Command decides about running script in a shell. The line is taken apart as
// a shell would, every simple command in it is held against the rules of
// execute, redirections against those of write and read, and words that look
// like paths against what is denied there; the strictest answer counts.
func (r *Ruleset) Command(script string, sh Shell) Decision {
	list := r.compiled[Execute]
	if list == nil {
		return Decision{Action: Deny, Operation: Execute, Target: script, Why: "the ruleset has not been made ready"}
	}
	c := &checker{rules: r, exec: list, sh: sh, resolved: map[string]resolution{}}
	c.script(script, c.newState(), stdin{}, 0)
	if c.over {
		c.askFor(script, "the command is too long or too deeply nested to be checked")
	}
	if !c.judged {
		// Nothing but assignments and the like: the line decides as a whole.
		line := text(strings.TrimSpace(script))
		c.judge(forms{target: line, plain: []value{line}}, false)
	}
	if len(c.best.Target) > 2000 {
		c.best.Target = strings.ToValidUTF8(c.best.Target[:2000], "") + "…"
	}
	return c.best
}

// note takes a decision into account.
func (c *checker) note(d Decision) {
	if c.denyOnly > 0 && (d.Action != Deny || d.Rule == nil) {
		return
	}
	if d.Operation != Execute && d.Action == Allow {
		return // a file that may be used does not make the command allowed
	}
	if !c.decided || d.Action.stricterThan(c.best.Action) {
		c.best, c.decided = d, true
	}
}

// askFor caps the answer at ask.
func (c *checker) askFor(target, why string) {
	c.note(Decision{Action: Ask, Operation: Execute, Target: target, Why: why})
}

// stdin is what is known of a command's standard input.
type stdin struct {
	piped bool  // it comes from another command or a file
	known bool  // text is all of it
	text  value // when known
	made  bool  // it was computed from other text
}

// output is what is known of what a statement prints.
type output = stdin

// script checks text as a shell would run it.
func (c *checker) script(src string, st *state, in stdin, depth int) output {
	c.bytes += len(src)
	if len(src) > maxScript || c.bytes > 4*maxScript || depth > maxNesting {
		c.over = true
		c.crude(src)
		return output{}
	}
	if strings.IndexByte(src, 0) >= 0 || tooDeep(src) {
		c.askFor(src, "the command cannot be parsed safely")
		c.crude(src)
		return output{}
	}
	before := st.clone()
	out := c.parseAndRun(src, syntax.LangBash, st, in, depth)
	if readDifferently(src) {
		// The workspace's shell may not be bash. What it would make of the
		// same text counts as well, as far as it can read it.
		c.parseAndRun(src, syntax.LangPOSIX, before.clone(), in, depth)
	}
	if strings.Contains(src, "\r") {
		// The parser takes CR LF for a line's end; to a shell a CR is a
		// character like any other, so that "\" CR LF does not join lines.
		c.parseAndRun(strings.ReplaceAll(src, "\r", carriageReturn), syntax.LangBash, before.clone(), in, depth)
	}
	return out
}

// carriageReturn stands for a CR in a text that is parsed: a character that
// means nothing to a shell.
const carriageReturn = "\ue00d"

// readDifferently tells whether src has constructs that bash and a POSIX shell
// take for different commands.
func readDifferently(src string) bool {
	for _, s := range []string{"((", "[[", "$'", "$\"", "let", "coproc", "time", "function", "|&", "select"} {
		if strings.Contains(src, s) {
			return true
		}
	}
	return false
}

func (c *checker) parseAndRun(src string, lang syntax.LangVariant, st *state, in stdin, depth int) output {
	stmts, err := parseShell(src, lang)
	w := &walker{checker: c, state: st, depth: depth, posix: lang == syntax.LangPOSIX}
	out := w.program(stmts, in)
	if err == nil {
		return out
	}
	if lang == syntax.LangBash {
		c.askFor(src, "the command cannot be parsed ("+err.Error()+")")
		c.crude(src)
	}
	return output{}
}

// parseShell parses src. With an error it returns the statements before the
// mistake, which a shell runs all the same. The parser meets hostile text, so
// that a panic in it is one more text that cannot be parsed.
func parseShell(src string, lang syntax.LangVariant) (stmts []*syntax.Stmt, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	// Not ended early: the sequence goes on after a mistake whatever it is told.
	for stmt, e := range syntax.NewParser(syntax.Variant(lang)).StmtsSeq(strings.NewReader(src)) {
		switch {
		case e != nil && err == nil:
			err = e
		case err == nil:
			stmts = append(stmts, stmt)
		}
	}
	return stmts, err
}

// crude looks in text that cannot be parsed for commands that a rule denies.
func (c *checker) crude(src string) {
	if len(src) > 4*maxScript {
		src = src[:4*maxScript]
	}
	c.denyOnly++
	defer func() { c.denyOnly-- }()
	n := 0
	for part := range strings.FieldsFuncSeq(src, func(r rune) bool { return strings.ContainsRune(";|&\n\r(){}`\x00", r) }) {
		var args []field
		for f := range strings.FieldsSeq(strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(part)) {
			args = append(args, field{value: text(f)})
		}
		if n++; n > maxCommands {
			break
		}
		for len(args) > 1 && keywords[args[0].value.String()] {
			args = args[1:]
		}
		if len(args) > 0 && len(args) < 200 {
			c.judge(c.forms(args, c.newState()), false)
		}
	}
}

// keywords stand before a command without being a part of it.
var keywords = map[string]bool{
	"if": true, "then": true, "elif": true, "else": true, "while": true, "until": true, "do": true, "!": true, "time": true, "in": true,
}

// tooDeep tells whether brackets or compound commands in src are nested so
// deeply that a recursive parser would suffer. It does not know quotes: a
// false alarm needs hundreds of unbalanced brackets.
func tooDeep(src string) bool {
	brackets, blocks := 0, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '(', '{', '[':
			brackets++
		case ')', '}', ']':
			brackets = max(0, brackets-1)
		case 'i', 'w', 'u', 'f', 'c', 'd', 'e', 's':
			if i > 0 && isNameByte(src[i-1]) {
				continue
			}
			end := i
			for end < len(src) && isNameByte(src[end]) {
				end++
			}
			switch src[i:end] {
			case "if", "while", "until", "for", "case", "select":
				blocks++
			case "fi", "done", "esac":
				blocks = max(0, blocks-1)
			}
			i = end - 1
		}
		if brackets > maxBrackets || blocks > maxBrackets {
			return true
		}
	}
	return false
}

func isNameByte(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

// forms are the texts of one command that rules are held against.
type forms struct {
	target value   // what to call it
	plain  []value // as written: any rule may match one of these
	strict []value // other spellings of the same: only ask and deny rules may
	maybe  []value // what it would be if unknown words were filled in badly
}

// judge holds a command against the rules of execute. With rulesOnly a command
// that no rule matches is left undecided.
func (c *checker) judge(f forms, rulesOnly bool) {
	target := f.target.String()
	var capped *Rule
	for i := range c.exec.rules {
		rule := &c.exec.rules[i]
		if rule.redirect {
			continue
		}
		if rule.rule.Action == Allow {
			if anyMust(rule.pattern, f.plain) {
				c.decide(target, rule.rule, capped)
				return
			}
			continue
		}
		if anyMust(rule.pattern, f.plain) || anyMust(rule.pattern, f.strict) {
			c.decide(target, rule.rule, capped)
			return
		}
		if capped == nil && (anyMay(rule.pattern, f.plain) || anyMay(rule.pattern, f.strict) || anyMay(rule.pattern, f.maybe)) {
			capped = rule.rule
		}
	}
	if !rulesOnly {
		c.decide(target, nil, capped)
	} else if capped != nil {
		c.capAt(target, capped)
	}
}

// decide notes what rule (or without one the default) says, and that the
// stricter rule capped might apply.
func (c *checker) decide(target string, rule, capped *Rule) {
	c.judged = c.judged || c.denyOnly == 0
	if rule != nil {
		c.note(c.exec.byRule(target, rule))
	} else {
		c.note(c.exec.byDefault(target))
	}
	if capped != nil {
		c.capAt(target, capped)
	}
}

func (c *checker) capAt(target string, rule *Rule) {
	c.note(Decision{Action: Ask, Operation: Execute, Target: target, Rule: rule,
		Why: "parts of the command are not known before it runs, and " + describe(rule) + " may apply"})
}

func anyMust(p pattern, vs []value) bool {
	for _, v := range vs {
		if p.must(v) {
			return true
		}
	}
	return false
}

func anyMay(p pattern, vs []value) bool {
	for _, v := range vs {
		if _, known := v.known(); known {
			continue // must has told
		}
		if possible, _ := p.may(v, len(v), len(v)); possible {
			return true
		}
	}
	return false
}
