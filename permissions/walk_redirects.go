package permissions

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect checks a redirection and returns the standard input after it, and
// whether standard output goes elsewhere.
func (w *walker) redirect(r *syntax.Redirect, in stdin) (stdin, bool) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		w.substitutions(r.Word)
		body := w.hereDocument(r)
		if r.N != nil && r.N.Value != "0" {
			return in, false
		}
		return stdin{piped: true, known: true, text: body, made: body.made()}, false
	case syntax.WordHdoc:
		body := join(w.single(r.Word), text("\n"))
		return stdin{piped: true, known: true, text: body, made: body.made()}, false
	}
	fields := w.expand(r.Word)
	if len(fields) == 0 {
		return in, false
	}
	toStdout := r.N == nil || r.N.Value == "1"
	for _, f := range fields {
		if f.subst != nil {
			continue
		}
		target, known := f.value.known()
		switch r.Op {
		case syntax.RdrIn:
			w.useFile(Read, f.value)
		case syntax.RdrInOut:
			w.useFile(Read, f.value)
			w.useFile(Write, f.value)
		case syntax.DplIn:
		case syntax.DplOut:
			if known && isDescriptor(target) {
				return in, toStdout && target != "1"
			}
			w.useFile(Write, f.value)
		default:
			w.useFile(Write, f.value)
		}
	}
	switch r.Op {
	case syntax.RdrIn, syntax.DplIn, syntax.RdrInOut:
		if fields[0].subst != nil {
			return w.processSubstitution(fields[0].subst), false
		}
		return stdin{piped: true}, false
	case syntax.RdrAll, syntax.AppAll:
		return in, true
	}
	return in, toStdout
}

func isDescriptor(s string) bool {
	return s == "-" || strings.Trim(strings.TrimSuffix(s, "-"), "0123456789") == ""
}

// hereDocument is the text that a here-document gives to its command.
func (w *walker) hereDocument(r *syntax.Redirect) value {
	if r.Hdoc == nil {
		return nil
	}
	quoted := r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), `\`)
	var body value
	if quoted {
		for _, p := range r.Hdoc.Parts {
			if l, ok := p.(*syntax.Lit); ok {
				body.add(piece{kind: lit, text: l.Value})
			}
		}
	} else {
		e := &expander{w: w}
		e.doubleQuoted(r.Hdoc.Parts)
		body = e.cur
	}
	w.spend(body.size())
	if r.Op == syntax.DashHdoc {
		for i := range body {
			if body[i].kind == lit {
				body[i].text = strings.ReplaceAll("\n"+body[i].text, "\n\t", "\n")[1:]
			}
		}
	}
	return body
}
