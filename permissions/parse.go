package permissions

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-workspace/mcp-workspace/internal/bash"
)

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
		c.parseAndRun(strings.ReplaceAll(src, "&>", "& >"), syntax.LangPOSIX, before.clone(), in, depth)
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
	for _, s := range []string{"((", "[[", "$'", "$\"", "let", "coproc", "time", "function", "|&", "select", "&>", "declare", "typeset", "local", "pushd"} {
		if strings.Contains(src, s) {
			return true
		}
	}
	return false
}

func (c *checker) parseAndRun(src string, lang syntax.LangVariant, st *state, in stdin, depth int) output {
	w := &walker{checker: c, state: st, depth: depth, posix: lang == syntax.LangPOSIX}
	if w.posix {
		stmts, err := parsePOSIX(src)
		out := w.program(stmts, in)
		if err != nil {
			return output{}
		}
		return out
	}
	script, err := bash.Parse(src, nil)
	out := w.program(script.Stmts, in)
	if err == nil && (!script.Mended || c.rules.readAlike) {
		return out
	}
	switch {
	case c.rules.readAlike: // that shell runs nothing of what could not be read
	case err == nil:
		c.askFor(src, "another shell may take the command for something else")
	default:
		c.askFor(src, "the command cannot be parsed ("+err.Error()+")")
	}
	c.crude(src)
	return output{}
}

// parsePOSIX parses src. With an error it returns the statements before the
// mistake, which a shell runs all the same. The parser meets hostile text, so
// that a panic in it is one more text that cannot be parsed.
func parsePOSIX(src string) (stmts []*syntax.Stmt, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	// Not ended early: the sequence goes on after a mistake whatever it is told.
	for stmt, e := range syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).StmtsSeq(strings.NewReader(src)) {
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
