package permissions

import (
	"maps"
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
		return in.with(r, stdin{piped: true, known: true, text: body, made: body.made()}), false
	case syntax.WordHdoc:
		body := join(w.single(r.Word), text("\n"))
		return in.with(r, stdin{piped: true, known: true, text: body, made: body.made()}), false
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
			return in.with(r, w.processSubstitution(fields[0].subst)), false
		}
		from := stdin{piped: true}
		if n, _ := fields[0].value.known(); r.Op == syntax.DplIn {
			if other, ok := in.other[strings.TrimSuffix(n, "-")]; ok {
				from = other
			}
		} else if other, ok := in.stream(n); ok {
			from = other
		}
		return in.with(r, from), false
	case syntax.RdrAll, syntax.AppAll:
		return in, true
	}
	return in, toStdout
}

// with is in after redirection r made from of one of its descriptors.
func (in stdin) with(r *syntax.Redirect, from stdin) stdin {
	if r.N == nil || r.N.Value == "0" {
		from.other = in.other
		return from
	}
	in.other = maps.Clone(in.other)
	if in.other == nil {
		in.other = map[string]stdin{}
	}
	from.other = nil
	in.other[strings.Trim(r.N.Value, "{}")] = from
	return in
}

// stream is what is read from path when that names a descriptor.
func (in stdin) stream(path string) (stdin, bool) {
	n := "0"
	if path != "/dev/stdin" {
		var ok bool
		if n, ok = strings.CutPrefix(path, "/dev/fd/"); !ok {
			if n, ok = strings.CutPrefix(path, "/proc/self/fd/"); !ok {
				return stdin{}, false
			}
		}
	}
	if n == "0" {
		return in, true
	}
	other, ok := in.other[n]
	return other, ok
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
