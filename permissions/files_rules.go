package permissions

import (
	"path"
	"strings"
)

// useFile decides about a file that a redirection or an option opens: rules
// and default of op apply.
func (w *walker) useFile(op Operation, v value) {
	list := w.rules.compiled[op]
	for _, p := range w.paths(v) {
		if !w.spend(p.work() * len(list.rules)) {
			w.note(list.byDefault(p.String()))
			return
		}
		s, known := p.known()
		resolved := s
		if known {
			if harmlessDevice(s) {
				continue
			}
			resolved = w.resolve(s).path
			if d := w.rules.Path(op, s, resolved); d.Rule == nil && network(s) {
				w.note(w.exec.byDefault("> " + s)) // it is no file: it sends what the command prints
			} else {
				w.note(d)
			}
		} else {
			rule, capped := w.holdPath(op, p)
			w.noteHeld(op, p, rule, capped)
			if rule == nil {
				w.note(list.byDefault(p.String()))
			}
		}
		if op == Write {
			w.redirectRules(p, resolved)
		}
	}
}

// paths are the absolute forms of v, and where symlinks before a ".." lead the
// kernel to another directory than the text says, that one too.
func (w *walker) paths(v value) []value {
	out := w.state.paths(v)
	s, known := v.known()
	if !known || !strings.Contains(s, "..") || w.sh == nil {
		return out
	}
	dirs := w.state.cwd
	if strings.HasPrefix(s, "/") {
		dirs = []value{text("/")}
	}
	for _, dir := range dirs {
		at, known := dir.known()
		if !known {
			continue
		}
		for name := range strings.SplitSeq(s, "/") {
			if name == ".." {
				at = path.Dir(w.resolve(at).path)
			} else {
				at = path.Join(at, name)
			}
		}
		out = alternatives(out, []value{text(at)})
	}
	return out
}

// redirectRules holds "> path" against the rules of execute that are about
// redirections. A disk goes by every disk's name.
func (w *walker) redirectRules(p value, resolved string) {
	names := []value{join(text("> "), p.withHome("/~"))}
	if s, ok := p.known(); ok {
		names = append(names, text("> "+resolved))
		if disk(s) || disk(resolved) {
			names = append(names, text("> /dev/sda"))
		}
	} else if p.hasPrefix("/dev/sd") || p.hasPrefix("/dev/nvme") || p.hasPrefix("/dev/vd") {
		names = append(names, text("> /dev/sda"))
	}
	for i := range w.exec.rules {
		rule := &w.exec.rules[i]
		if rule.redirect && anyMust(rule.pattern, names) {
			w.note(w.exec.byRule(names[0].String(), rule.rule))
			return
		}
	}
}

// holdPath holds a path with holes against the rules of op: the rule that
// matches however the holes are filled, and a stricter one before it that the
// known parts suggest.
func (w *walker) holdPath(op Operation, p value) (rule, capped *Rule) {
	split, last := lastComponent(p)
	from := last
	if len(p) > 0 && p[0].kind == home {
		from = 0 // all of what follows the home directory tells something
	}
	list := w.rules.compiled[op]
	for i := range list.rules {
		r := &list.rules[i]
		if mustPath(r.pattern, p) {
			return r.rule, capped
		}
		if r.rule.Action != Allow && capped == nil {
			if _, suggested := r.may(split, from, last); suggested {
				capped = r.rule
			}
		}
	}
	return nil, capped
}

func (w *walker) noteHeld(op Operation, p value, rule, capped *Rule) {
	list := w.rules.compiled[op]
	if rule != nil {
		w.note(list.byRule(p.String(), rule))
	}
	if capped != nil && (rule == nil || capped.Action.stricterThan(rule.Action)) {
		w.note(Decision{Action: Ask, Operation: op, Target: p.String(), Rule: capped, Unclear: true,
			Why: "parts of the path are not known before the command runs, and " + describe(capped) + " may apply"})
	}
}

// mustPath is pattern.must, where the last hole that may hold "/" is taken
// apart at its last one: "**/*.key" then matches a name below any directory.
func mustPath(p pattern, v value) bool {
	if p.must(v) {
		return true
	}
	for i := len(v) - 1; i >= 0; i-- {
		if v[i].kind != hole && v[i].kind != word && v[i].kind != home {
			continue
		}
		name := join(v[:i], value{{kind: entry}}, v[i+1:])
		below := join(v[:i], value{{kind: hole}, {kind: lit, text: "/"}, {kind: entry}}, v[i+1:])
		return p.must(name) && p.must(below)
	}
	return false
}

// lastComponent splits v so that its last path component starts a piece, and
// returns the number of that piece.
func lastComponent(v value) (value, int) {
	for i := len(v) - 1; i >= 0; i-- {
		if v[i].kind != lit {
			continue
		}
		if at := strings.LastIndexByte(v[i].text, '/'); at >= 0 {
			out := append(value(nil), v[:i]...)
			out = append(out, piece{kind: lit, text: v[i].text[:at+1]})
			from := len(out)
			if rest := v[i].text[at+1:]; rest != "" {
				out = append(out, piece{kind: lit, text: rest})
			}
			return append(out, v[i+1:]...), from
		}
	}
	return v, 0
}

// denyPath notes a rule of op that denies path v; its default and what it asks
// for do not count. With below also a rule that denies everything below v.
func (w *walker) denyPath(op Operation, v value, below bool) {
	if w.exhausted() {
		return
	}
	if v.has(wild) {
		if paths, ok := w.glob(v); ok {
			for _, p := range paths {
				w.denyPath(op, text(p), below)
			}
			return
		}
	}
	list := w.rules.compiled[op]
	for _, p := range w.paths(v) {
		if work := p.work() * len(list.rules); below && !w.spend(8*work) || !w.spend(work) {
			return
		}
		s, known := p.known()
		if !known {
			rule, capped := w.holdPath(op, p)
			if rule != nil && rule.Action != Deny {
				rule = nil
			}
			if capped != nil && capped.Action != Deny {
				capped = nil
			}
			w.noteHeld(op, p, rule, capped)
			if below && rule == nil {
				w.denyBelow(list, p)
			}
			continue
		}
		if harmlessDevice(s) {
			continue
		}
		r := w.resolve(s)
		if d := w.rules.Path(op, s, r.path); d.Action == Deny && d.Rule != nil {
			w.note(d)
			continue
		}
		if !below {
			continue
		}
		w.denyBelow(list, p)
		w.denyBelow(list, text(r.path))
	}
}

// denyBelow notes a rule that denies everything in directory dir.
func (w *walker) denyBelow(list *ruleList, dir value) {
	inside := join(dir, text("/"), value{{kind: hole}})
	if dir.String() == "/" {
		inside = join(dir, value{{kind: hole}})
	}
	for i := range list.rules {
		if rule := &list.rules[i]; rule.must(inside) {
			if rule.rule.Action == Deny {
				w.note(list.byRule(dir.String(), rule.rule))
			}
			return
		}
	}
}

// harmlessDevice tells whether p is a device that is no disk and no file.
func harmlessDevice(p string) bool {
	switch p {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/random", "/dev/urandom", "/dev/ptmx":
		return true
	}
	return strings.HasPrefix(p, "/dev/fd/") || strings.HasPrefix(p, "/dev/pts/")
}

// network tells whether a shell takes p for a connection.
func network(p string) bool {
	return strings.HasPrefix(p, "/dev/tcp/") || strings.HasPrefix(p, "/dev/udp/")
}

// disk tells whether p is a block device by its usual name.
func disk(p string) bool {
	name, ok := strings.CutPrefix(p, "/dev/")
	if !ok {
		return false
	}
	for _, prefix := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "dm-", "md", "loop", "sr", "disk", "rdisk", "mapper/", "zd", "nbd", "ram", "mem", "kmem"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
