// Package bash reads scripts for whoever runs them and for whoever decides
// whether they may run, so that both see the same commands in them. It is
// mvdan.cc/sh with what bash reads and that parser does not.
package bash

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxReparsed is how many bytes are read again, at most, to mend one script.
const maxReparsed = 4 << 20

// Script is a script that was read, as far as that went.
type Script struct {
	Stmts []*syntax.Stmt
	// Mended tells that the parser alone does not read the text.
	Mended bool
	// Warnings say what bash warns of, without the name of the shell.
	Warnings []string
}

// Parse reads text. With an error, which is one of package syntax or of the
// reader, Stmts has what is before the mistake. read makes the reader of a text;
// nil is strings.NewReader.
//
// What the parser refuses and bash reads is mended first:
//
//   - a key of an associative array that is no arithmetic, h[a b] or h[db.host],
//     is read as if it was quoted;
//   - a here-document that is not closed ends where the text does.
func Parse(text string, read func(string) io.Reader) (Script, error) {
	read = reading(read)
	var out Script
	for again := 0; ; {
		var err error
		if out.Stmts, err = parse(read(text)); err == nil {
			return out, nil
		}
		mended, warning, ok := mend(text, err)
		if again += len(mended); !ok || again > maxReparsed {
			return out, err
		}
		text, out.Mended = mended, true
		if warning != "" {
			out.Warnings = append(out.Warnings, warning)
		}
	}
}

func reading(read func(string) io.Reader) func(string) io.Reader {
	if read == nil {
		return func(text string) io.Reader { return strings.NewReader(text) }
	}
	return read
}

// Arithmetic reads an expression as Parse reads those of scripts. rest is what
// follows it, which bash refuses. The expression is nil in an empty text.
func Arithmetic(text string, read func(string) io.Reader) (x syntax.ArithmExpr, rest string, err error) {
	read = reading(read)
	for again := 0; ; {
		if x, err = syntax.NewParser().Arithmetic(read(text)); err == nil {
			break
		}
		mended, _, ok := mend(text, err)
		if again += len(mended); !ok || again > maxReparsed {
			return nil, "", err
		}
		text = mended
	}
	if x != nil {
		text = text[min(uint(len(text)), x.End().Offset()):]
	}
	return x, strings.TrimSpace(text), nil
}

func parse(r io.Reader) (stmts []*syntax.Stmt, err error) {
	// The parser meets hostile text: a panic in it is one more that cannot be
	// parsed.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	// Not ended early: the sequence goes on after a mistake whatever it is told.
	for stmt, e := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(r) {
		switch {
		case e != nil && err == nil:
			err = e
		case err == nil:
			stmts = append(stmts, stmt)
		}
	}
	return stmts, err
}

// mend changes text so that the parser gets past err, which it met in it.
func mend(text string, err error) (mended, warning string, ok bool) {
	var at syntax.Pos
	var parse syntax.ParseError
	var lang syntax.LangError
	switch {
	case errors.As(err, &parse):
		at = parse.Pos
	case errors.As(err, &lang):
		at = lang.Pos
	default:
		return "", "", false
	}
	if quoted, found := strings.CutPrefix(parse.Text, "unclosed here-document "); found {
		delimiter, err := strconv.Unquote(quoted)
		if err != nil || strings.Contains(delimiter, "\n") {
			return "", "", false
		}
		lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		warning = fmt.Sprintf("line %d: warning: here-document at line %d delimited by end-of-file (wanted `%s')", lines, at.Line(), delimiter)
		return text + delimiter + "\n", warning, true
	}
	mended, ok = quoteSubscript(text, int(at.Offset()))
	return mended, "", ok
}
