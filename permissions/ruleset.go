package permissions

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/internal/pathglob"
)

// Operation is what a rule is about. Each tool of the workspace is one.
type Operation string

// The operations.
const (
	Read    Operation = "read"
	Write   Operation = "write"
	Edit    Operation = "edit"
	Execute Operation = "execute"
	Glob    Operation = "glob"
	Grep    Operation = "grep"
	Ls      Operation = "ls"
)

// Operations returns all operations, in the order in which rulesets are shown.
func Operations() []Operation {
	return []Operation{Read, Write, Edit, Execute, Glob, Grep, Ls}
}

// Action is what a ruleset answers.
type Action string

// The actions, from the mildest to the strictest.
const (
	Allow Action = "allow"
	Ask   Action = "ask"
	Deny  Action = "deny"
)

// rank orders actions by strictness. What is no action counts as deny.
func (a Action) rank() int {
	switch a {
	case Allow:
		return 0
	case Ask:
		return 1
	default:
		return 2
	}
}

func (a Action) stricterThan(b Action) bool { return a.rank() > b.rank() }

// Rule gives what Pattern matches an action. For execute the pattern is held
// against commands, for all other operations against absolute paths.
type Rule struct {
	Pattern     string
	Action      Action
	Description string // told to whoever is refused or asked; may be empty
}

// Rules are the rules of one operation. The first that matches decides,
// otherwise Default.
type Rules struct {
	Default Action
	Rules   []Rule
}

// Ruleset decides what may be done. It comes from [Preset], [Load], [Parse] or
// [New], must not be changed afterwards, and is then safe for concurrent use.
// A Ruleset made in any other way denies everything.
type Ruleset struct {
	Name       string
	Default    Action // of operations that are not in Operations
	Operations map[Operation]Rules

	compiled  map[Operation]*ruleList
	sandboxed bool // see Sandboxed
	readAlike bool // see ReadAlike
}

// ruleList is Rules, ready to be matched.
type ruleList struct {
	op     Operation
	byOp   bool // the operation has a default of its own
	def    Action
	why    string // the default, in words
	rules  []compiledRule
	source []Rule
}

type compiledRule struct {
	pattern
	rule     *Rule
	redirect bool // execute: "> path", held against redirections only
	forkBomb bool // execute: matches functions that multiply themselves
}

// Sandboxed returns the ruleset for a workspace that is its own boundary. A part
// of a command that is not known before it runs (a variable, what a substitution
// prints, a script from a pipe) is then decided about by what is known, where
// otherwise the person is asked because a rule that denies might apply: there,
// rm -rf "$(mktemp -d)" is everyday, and nothing of the user's is at stake.
func (r *Ruleset) Sandboxed() *Ruleset {
	out := *r
	out.sandboxed = true
	return &out
}

// ReadAlike returns the ruleset for a workspace whose shell reads commands with
// package bash, as the check does. What cannot be read is then no reason to ask:
// that shell runs what comes before it, which has been checked, and answers with
// the mistake.
func (r *Ruleset) ReadAlike() *Ruleset {
	out := *r
	out.readAlike = true
	return &out
}

// New makes a ruleset from rules in memory. The error names every rule that
// cannot be right, one a line.
func New(name string, def Action, operations map[Operation]Rules) (*Ruleset, error) {
	r := &Ruleset{Name: name, Default: def, Operations: maps.Clone(operations)}
	var wrong []string
	if !validAction(def) {
		wrong = append(wrong, fmt.Sprintf("default: %s", badAction(string(def))))
	}
	for _, op := range slices.Sorted(maps.Keys(operations)) {
		rules := operations[op]
		if !slices.Contains(Operations(), op) {
			wrong = append(wrong, fmt.Sprintf("%s is no operation; the operations are %s", op, operationNames()))
			continue
		}
		if rules.Default != "" && !validAction(rules.Default) {
			wrong = append(wrong, fmt.Sprintf("%s: default: %s", op, badAction(string(rules.Default))))
		}
		for _, rule := range rules.Rules {
			if !validAction(rule.Action) {
				wrong = append(wrong, fmt.Sprintf("%s: rule %q: %s", op, rule.Pattern, badAction(string(rule.Action))))
			}
			if _, err := compileRule(op, rule.Pattern); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: %v", op, err))
			}
		}
	}
	if wrong != nil {
		return nil, fmt.Errorf("ruleset %s: %s", name, strings.Join(wrong, "\nruleset "+name+": "))
	}
	if err := r.compile(); err != nil {
		return nil, err
	}
	return r, nil
}

// compile makes the patterns ready, after which the ruleset answers.
func (r *Ruleset) compile() error {
	r.compiled = make(map[Operation]*ruleList, len(Operations()))
	for _, op := range Operations() {
		rules, ok := r.Operations[op]
		list := &ruleList{op: op, def: r.Default, source: slices.Clone(rules.Rules)}
		if ok && rules.Default != "" {
			list.byOp, list.def = true, rules.Default
		}
		list.why = list.defaultWhy()
		for i := range list.source {
			p, err := compileRule(op, list.source[i].Pattern)
			if err != nil {
				return err
			}
			list.rules = append(list.rules, compiledRule{
				pattern:  p,
				rule:     &list.source[i],
				redirect: op == Execute && strings.HasPrefix(list.source[i].Pattern, ">"),
				forkBomb: op == Execute && isForkBombPattern(list.source[i].Pattern),
			})
		}
		r.compiled[op] = list
	}
	return nil
}

func compileRule(op Operation, source string) (pattern, error) {
	if source == "" {
		return pattern{}, errors.New("the pattern is empty; write \"**\" for all paths or \"*\" for all commands")
	}
	compile := pathglob.Compile
	if op == Execute {
		compile = pathglob.CompileCommand
	}
	p, err := compile(source)
	if err != nil {
		return pattern{}, fmt.Errorf("pattern %q: %w", source, err)
	}
	return pattern{p}, nil
}

// Decision is an answer and what it rests on.
type Decision struct {
	Action    Action
	Operation Operation
	// Target is the path, or the one simple command of a command line, that
	// decided.
	Target string
	// Rule that decided; nil when a default or the nature of the command did.
	Rule *Rule
	// Unclear tells that the command, and not a rule that has matched, is why it
	// is asked about: it cannot be parsed, or parts of it are not known before it
	// runs. No rule that allows it would change that.
	Unclear bool
	// Why is a short sentence that names the rule or the default, for instance
	// `rule "**/.env" (deny)` or `default of write (ask)`.
	Why string
}

func (l *ruleList) byRule(target string, rule *Rule) Decision {
	return Decision{Action: rule.Action, Operation: l.op, Target: target, Rule: rule, Why: describe(rule)}
}

func (l *ruleList) byDefault(target string) Decision {
	return Decision{Action: l.def, Operation: l.op, Target: target, Why: l.why}
}

func (l *ruleList) defaultWhy() string {
	if l.byOp {
		return "default of " + string(l.op) + " (" + string(l.def) + ")"
	}
	return "default of the ruleset (" + string(l.def) + ")"
}

func describe(rule *Rule) string {
	why := fmt.Sprintf("rule %q (%s)", rule.Pattern, rule.Action)
	if rule.Description != "" {
		why += ": " + rule.Description
	}
	return why
}

// first returns the first rule that matches path, or nil.
func (l *ruleList) first(path string) *Rule {
	for i := range l.rules {
		if l.rules[i].Match(path) {
			return l.rules[i].rule
		}
	}
	return nil
}

// action is what a rule, or without one the default, says.
func (l *ruleList) action(rule *Rule) Action {
	if rule == nil {
		return l.def
	}
	return rule.Action
}

// Path decides about op on a file or directory: cleaned is its absolute path
// without ".", ".." or doubled slashes, resolved the same with symlinks
// followed ("" when it is not known or the same). Both are matched and the
// stricter answer counts.
func (r *Ruleset) Path(op Operation, cleaned, resolved string) Decision {
	list := r.compiled[op]
	if list == nil {
		return Decision{Action: Deny, Operation: op, Target: cleaned, Why: "the ruleset has not been made ready"}
	}
	rule, target := list.first(cleaned), cleaned
	if resolved != "" && resolved != cleaned {
		other := list.first(resolved)
		if list.action(other).stricterThan(list.action(rule)) {
			rule, target = other, resolved
		}
	}
	if rule == nil {
		return list.byDefault(target)
	}
	return list.byRule(target, rule)
}

// Offered tells whether op can ever be allowed or asked for. A tool whose
// operation cannot is not worth offering.
func (r *Ruleset) Offered(op Operation) bool {
	list := r.compiled[op]
	if list == nil {
		return false
	}
	return list.def != Deny || slices.ContainsFunc(list.source, func(rule Rule) bool { return rule.Action != Deny })
}

// Filter says what a listing or search by op (Glob, Grep or Ls) shows: what op
// denies is hidden. A grep also hides what is denied for reading, and searches
// no file for whose reading a person would have to be asked: the grep itself
// being allowed, nobody is. Use [Ruleset.ApprovedFilter] for a grep that a
// person has approved.
func (r *Ruleset) Filter(op Operation) backends.Filter {
	f := r.ApprovedFilter(op)
	read := r.compiled[Read]
	if op != Grep || read == nil || r.alwaysAsks(Grep) {
		return f
	}
	if content := read.filterSet(func(a Action) bool { return a == Allow }); hides(content) {
		f.Content = append(f.Content, content)
	}
	return f
}

// ApprovedFilter is [Ruleset.Filter] for a search that a person has approved:
// files for whose reading a person would have to be asked are searched too.
func (r *Ruleset) ApprovedFilter(op Operation) backends.Filter {
	list := r.compiled[op]
	if list == nil {
		return backends.Filter{Names: []backends.FilterSet{{Default: false}}}
	}
	lists := []*ruleList{list}
	if op == Grep {
		lists = append(lists, r.compiled[Read])
	}
	var f backends.Filter
	for _, l := range lists {
		if names := l.filterSet(func(a Action) bool { return a != Deny }); hides(names) {
			f.Names = append(f.Names, names)
		}
	}
	return f
}

// alwaysAsks tells whether op is never allowed without a person's approval.
func (r *Ruleset) alwaysAsks(op Operation) bool {
	list := r.compiled[op]
	return list.def != Allow && !slices.ContainsFunc(list.source, func(rule Rule) bool { return rule.Action == Allow })
}

func (l *ruleList) filterSet(show func(Action) bool) backends.FilterSet {
	out := backends.FilterSet{Default: show(l.def)}
	for _, rule := range l.source {
		out.Rules = append(out.Rules, backends.FilterRule{Pattern: rule.Pattern, Show: show(rule.Action)})
	}
	return out
}

func hides(s backends.FilterSet) bool {
	return !s.Default || slices.ContainsFunc(s.Rules, func(r backends.FilterRule) bool { return !r.Show })
}
