package permissions

import (
	"path"
	"slices"
)

// forms are the texts of one command that rules are held against.
type forms struct {
	target value   // what to call it
	plain  []value // as written: any rule may match one of these
	strict []value // other spellings of the same: only ask and deny rules may
	maybe  []value // what it would be if unknown words were filled in badly
}

// work is what it costs to hold f against one rule.
func (f forms) work() int {
	n := 0
	for _, vs := range [][]value{f.plain, f.strict, f.maybe} {
		for _, v := range vs {
			n += v.work()
		}
	}
	return n
}

// judge holds a command against the rules of execute. With rulesOnly a command
// that no rule matches is left undecided.
func (c *checker) judge(f forms, rulesOnly bool) {
	target := f.target.String()
	if !c.spend(f.work() * len(c.exec.rules)) {
		if !rulesOnly {
			c.decide(target, nil, nil)
		}
		return
	}
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

// capAt caps the answer at ask, because rule might apply to what is not known.
func (c *checker) capAt(target string, rule *Rule) {
	if c.rules.sandboxed {
		return
	}
	c.note(Decision{Action: Ask, Operation: Execute, Target: target, Rule: rule, Unclear: true,
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

// programDirs are where an operating system keeps programs. There a name given
// by path is as good as the name alone; anywhere else a file can have any name.
var programDirs = []string{
	"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin", "/opt/local/bin", "/snap/bin",
}

// forms are the texts by which a command goes.
func (c *checker) forms(args []field, st *state) forms {
	vs := values(args)
	shown := make([]value, len(vs))
	for i, v := range vs {
		shown[i] = v.literally()
	}
	asWritten := words(shown)
	f := forms{target: asWritten}
	base := ""
	name, known := vs[0].withHome("/~").known()
	if known {
		base = path.Base(name)
	}
	trusted := !st.tampered && (name == base || slices.Contains(programDirs, cleanText(path.Dir(name))))
	if !st.tampered {
		f.plain = append(f.plain, asWritten)
	} else {
		f.strict = append(f.strict, asWritten)
	}
	if known && name != base {
		shown[0] = text(base)
		if trusted {
			f.plain = append(f.plain, words(shown))
		} else {
			f.strict = append(f.strict, words(shown))
		}
	}
	if slices.ContainsFunc(vs, func(v value) bool { return v.has(wild) }) {
		f.maybe = append(f.maybe, words(vs))
	}
	if known {
		c.canonical(&f, base, vs[1:], st, trusted)
	}
	return f
}
