package shell

import (
	"errors"
	"fmt"
	"io"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-workspace/mcp-workspace/internal/bash"
)

// script is a script that was parsed, as far as that went.
type script struct {
	stmts    []*syntax.Stmt
	warnings []string
	// problem says what is wrong after stmts; "" when nothing is.
	problem string
}

// parse reads a script. What is before the line that is wrong is to be run, as
// bash does, which reads a script line by line.
func (s *shell) parse(text string) script {
	if err := checkNesting(text, s.m.limits.Script); err != nil {
		return script{problem: err.Error()}
	}
	s.charge(treeCost(text))
	read, err := bash.Parse(text, func(text string) io.Reader { return s.measured(text) })
	out := script{stmts: read.Stmts, warnings: read.Warnings}
	if err == nil {
		return out
	}
	var parse syntax.ParseError
	var lang syntax.LangError
	line := uint(1)
	switch {
	case errors.As(err, &parse):
		line = parse.Pos.Line()
		out.problem = fmt.Sprintf("line %d: syntax error: %s", line, parse.Text)
	case errors.Is(err, errTooDeep):
		return script{problem: fmt.Sprintf("the script nests brackets or loops more than %d deep", maxNesting)}
	case errors.As(err, &lang):
		line = lang.Pos.Line()
		out.problem = fmt.Sprintf("line %d: syntax error: %s is not known to this shell", line, lang.Feature)
	default:
		out.problem = "syntax error: " + err.Error()
	}
	for len(out.stmts) > 0 && out.stmts[len(out.stmts)-1].End().Line() >= line {
		out.stmts = out.stmts[:len(out.stmts)-1]
	}
	return out
}

// runText parses and runs text in this shell. where is what a message about its
// syntax starts with.
func (s *shell) runText(text, where string) flow {
	mark := s.spent
	defer s.settle(mark)
	sc := s.parse(text)
	s.check()
	for _, warning := range sc.warnings {
		s.say(s.name + ": " + warning + "\n")
	}
	line := s.line
	f := s.stmts(sc.stmts)
	s.line = line
	if f != goOn || sc.problem == "" {
		return f
	}
	s.say(fmt.Sprintf("%s: %s\n", where, sc.problem))
	s.status = 2
	return goOn
}

// checkNesting refuses a text that is too long, or nests deeper than parser and
// interpreter have stack for. It counts what could open or close something
// without knowing quotes, so it can refuse a text that only looks deep.
func checkNesting(text string, limit int) error {
	if len(text) > limit {
		return fmt.Errorf("the script has %d bytes, and %d are the most that one can have: put data into files", len(text), limit)
	}
	depth, run, word := 0, 0, 0
	deepest, longest := 0, 0
	for i := 0; i <= len(text); i++ {
		c := byte(' ')
		if i < len(text) {
			c = text[i]
		}
		letter := c >= 'a' && c <= 'z'
		if !letter && word < i {
			switch text[word:i] {
			case "if", "while", "until", "for", "case", "do", "select", "time", "coproc", "function":
				depth++
			case "fi", "done", "esac":
				depth = max(0, depth-2)
			}
		}
		if !letter {
			word = i + 1
		}
		switch c {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
		switch c {
		case '!', '~', '-', '+', '?', ':', '=', '`', '\\', '$', '"', '|', '&', '*', '<', '>':
			run++
		case ' ', '\t':
		default:
			if c == '\n' || c == ';' || c == '#' {
				run = 0
			}
		}
		deepest, longest = max(deepest, depth), max(longest, run)
	}
	if deepest > maxNesting {
		return fmt.Errorf("the script nests brackets or loops more than %d deep", maxNesting)
	}
	if longest > 50*maxNesting {
		return errors.New("the script has too many operators on one line")
	}
	return nil
}
