package permissions

import "strings"

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
	maxWork     = 64 << 20  // bytes expanded, and bytes held against a rule, roughly
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
	work     int
	over     bool // a limit was reached
	denyOnly int  // over 0: only what a rule denies counts
	resolved map[string]resolution
	linked   map[string]string // symlinks that the script itself makes
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
	c := &checker{rules: r, exec: list, sh: sh, resolved: map[string]resolution{}, linked: map[string]string{}}
	c.script(script, c.newState(), stdin{}, 0)
	if c.over {
		c.askFor(script, "the command is too long or too deeply nested to be checked")
		c.note(c.exec.byDefault(script)) // of what has not been looked at
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

// spend counts work against maxWork, and tells whether there is any left.
func (c *checker) spend(work int) bool {
	c.work += work
	if c.exhausted() {
		c.over = true
		return false
	}
	return true
}

func (c *checker) exhausted() bool { return c.work > maxWork || c.commands > maxCommands }

// askFor caps the answer at ask.
func (c *checker) askFor(target, why string) {
	c.note(Decision{Action: Ask, Operation: Execute, Target: target, Unclear: true, Why: why})
}

// askUnknown caps the answer at ask because of what is not known of the command
// before it runs.
func (c *checker) askUnknown(target, why string) {
	if !c.rules.sandboxed {
		c.askFor(target, why)
	}
}

// resolve asks the workspace where a path leads.
func (c *checker) resolve(p string) resolution {
	if r, ok := c.resolved[p]; ok {
		return r
	}
	asked := p
	r := resolution{path: p}
	for link, to := range c.linked {
		if rest, below := strings.CutPrefix(p, link); below && (rest == "" || rest[0] == '/') {
			p = to + rest // one of them: links to links are not followed
			r.path = p
			break
		}
	}
	if c.sh != nil && c.denyOnly == 0 {
		if c.resolves++; c.resolves > maxResolves {
			c.over = true
			return r
		}
		if to, exists := c.sh.Resolve(p); to != "" {
			r = resolution{path: to, exists: exists}
		}
	}
	c.resolved[asked] = r
	return r
}
