package tools

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// run runs a script. Where there is no shell, it runs the program that a plain
// command line names.
func (c *call) run(cmd backends.Command) (backends.Exit, error) {
	exit, err := c.ws.Run(c.ctx, cmd)
	if !errors.Is(err, backends.ErrNoShell) {
		return exit, err
	}
	argv, wrong := plainWords(cmd.Script)
	if wrong != "" {
		return exit, &backends.Error{Code: backends.CodeUnsupported, Op: "execute", Err: err, Message: fmt.Sprintf(
			"there is no shell in this workspace, and %s needs one. A program with plain arguments can be run, such as /bin/program --flag 'an argument'; for anything else use an image with a shell", wrong)}
	}
	cmd.Script, cmd.Argv = "", argv
	return c.ws.Run(c.ctx, cmd)
}

// plainWords takes a command line apart that means the same without a shell: one
// program and literal arguments. Otherwise wrong says what needs a shell.
func plainWords(script string) (argv []string, wrong string) {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, "what cannot be read as a command line (" + err.Error() + ")"
	}
	if len(file.Stmts) != 1 {
		return nil, "more than one command"
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	switch {
	case !ok:
		return nil, "a pipe, loop or condition"
	case len(stmt.Redirs) > 0:
		return nil, "a redirection"
	case len(call.Assigns) > 0:
		return nil, "an assignment"
	case stmt.Negated, stmt.Background, stmt.Coprocess:
		return nil, "a background job or negation"
	}
	for _, word := range call.Args {
		if what := needsShell(word); what != "" {
			return nil, what
		}
	}
	argv, err = expand.Fields(&expand.Config{Env: expand.ListEnviron()}, call.Args...)
	if err != nil {
		return nil, "a word that is not literal (" + err.Error() + ")"
	}
	return argv, ""
}

// needsShell says what of a word stands for something else.
func needsShell(word *syntax.Word) (what string) {
	for i, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			switch {
			case i == 0 && strings.HasPrefix(part.Value, "~"):
				return "~"
			case hasUnescaped(part.Value, "*?[{"):
				return "a pattern"
			}
		case *syntax.SglQuoted:
			if part.Dollar {
				return "$'…'"
			}
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				if _, literal := inner.(*syntax.Lit); !literal {
					return "a variable or substitution"
				}
			}
		default:
			return "a variable or substitution"
		}
	}
	return ""
}

// hasUnescaped tells whether one of chars is in s without a backslash before it.
func hasUnescaped(s, chars string) bool {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.IndexByte(chars, s[i]) >= 0:
			return true
		}
	}
	return false
}
