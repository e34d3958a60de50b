package backends

import (
	"slices"
	"strings"
)

// Check refuses a command that cannot be meant, with [CodeInvalidArgument].
func (c Command) Check() error {
	invalid := func(format string, args ...any) error {
		return Errorf(CodeInvalidArgument, "run", "", format, args...)
	}
	hasNUL := func(s string) bool { return strings.IndexByte(s, 0) >= 0 }
	switch {
	case len(c.Argv) == 0 && c.Script == "":
		return invalid("the command is empty")
	case len(c.Argv) > 0 && c.Script != "":
		return invalid("a command is either an argument list or a script, not both")
	case c.Timeout < 0:
		return invalid("the time limit %s is negative", c.Timeout)
	case hasNUL(c.Script), slices.ContainsFunc(c.Argv, hasNUL):
		return invalid("a command cannot contain a NUL character")
	case hasNUL(c.Dir):
		return invalid("a path cannot contain a NUL character")
	}
	for _, kv := range c.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" || hasNUL(kv) {
			return invalid("%q is no environment variable; one looks like NAME=value", kv)
		}
	}
	return nil
}
