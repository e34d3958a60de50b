package commands

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// findParser reads the expression of find.
type findParser struct {
	f      *finder
	args   []string
	acts   bool // something prints or does
	err    string
	help   bool
	depth  int
	opened map[string]io.WriteCloser
	regex  string // -regextype
}

func (q *findParser) fail(format string, args ...any) findTest {
	if q.err == "" {
		q.err = fmt.Sprintf(format, args...)
	}
	q.args = nil
	return func(*finder, *found) bool { return false }
}

// parse reads all arguments.
func (q *findParser) parse() findTest {
	test := findTest(func(*finder, *found) bool { return true })
	if len(q.args) > 0 {
		test = q.list()
	}
	if q.err == "" && len(q.args) > 0 {
		if q.args[0] == ")" {
			return q.fail("invalid expression; you have too many ')'")
		}
		return q.fail("paths must precede expression: `%s'", q.args[0])
	}
	if q.acts {
		return test
	}
	return func(f *finder, at *found) bool {
		if test(f, at) {
			f.p.Out.WriteString(at.path + "\n")
		}
		return true
	}
}

// list is a , b.
func (q *findParser) list() findTest {
	test := q.or()
	for len(q.args) > 0 && q.args[0] == "," {
		q.args = q.args[1:]
		left, right := test, q.or()
		test = func(f *finder, at *found) bool { left(f, at); return right(f, at) }
	}
	return test
}

func (q *findParser) or() findTest {
	test := q.and()
	for len(q.args) > 0 && (q.args[0] == "-o" || q.args[0] == "-or") {
		op := q.args[0]
		if q.args = q.args[1:]; len(q.args) == 0 {
			return q.fail("invalid expression; you have used a binary operator '%s' with nothing after it.", op)
		}
		left, right := test, q.and()
		test = func(f *finder, at *found) bool { return left(f, at) || right(f, at) }
	}
	return test
}

func (q *findParser) and() findTest {
	test := q.not()
	for len(q.args) > 0 && !slices.Contains([]string{"-o", "-or", ",", ")"}, q.args[0]) {
		if q.args[0] == "-a" || q.args[0] == "-and" {
			if q.args = q.args[1:]; len(q.args) == 0 {
				return q.fail("invalid expression; you have used a binary operator '-a' with nothing after it.")
			}
		}
		left, right := test, q.not()
		test = func(f *finder, at *found) bool { return left(f, at) && right(f, at) }
	}
	return test
}

func (q *findParser) not() findTest {
	if q.depth++; q.depth > 500 {
		return q.fail("the expression is nested too deep")
	}
	defer func() { q.depth-- }()
	if len(q.args) == 0 {
		return q.fail("invalid expression; something is missing at its end")
	}
	switch arg := q.args[0]; arg {
	case "!", "-not":
		if q.args = q.args[1:]; len(q.args) == 0 {
			return q.fail("expected an expression after '%s'", arg)
		}
		inner := q.not()
		return func(f *finder, at *found) bool { return !inner(f, at) }
	case "(":
		q.args = q.args[1:]
		if len(q.args) > 0 && q.args[0] == ")" {
			return q.fail("invalid expression; empty parentheses are not allowed.")
		}
		inner := q.list()
		if len(q.args) == 0 || q.args[0] != ")" {
			return q.fail("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
		}
		q.args = q.args[1:]
		return inner
	case "-o", "-or", "-a", "-and", ",":
		return q.fail("invalid expression; you have used a binary operator '%s' with nothing before it.", arg)
	case ")":
		return q.fail("invalid expression; you have too many ')'")
	}
	return q.primary()
}

// value takes the argument of a primary.
func (q *findParser) value(name string) (string, bool) {
	if len(q.args) == 0 {
		q.fail("missing argument to `%s'", name)
		return "", false
	}
	v := q.args[0]
	q.args = q.args[1:]
	return v, true
}

func always(*finder, *found) bool { return true }

func (q *findParser) primary() findTest {
	name := q.args[0]
	q.args = q.args[1:]
	if !strings.HasPrefix(name, "-") {
		return q.fail("paths must precede expression: `%s'", name)
	}
	if test, ok := q.action(name); ok {
		return test
	}
	switch name {
	case "-true", "-noleaf", "-mount", "-xdev", "-daystart", "-warn", "-nowarn", "-ignore_readdir_race", "-noignore_readdir_race":
		return always
	case "-false":
		return func(*finder, *found) bool { return false }
	case "-depth", "-d":
		q.f.depth = true
		return always
	case "-follow":
		q.f.follow = true
		return always
	case "-empty":
		return func(f *finder, at *found) bool {
			if !at.info.IsDir() {
				return at.info.Mode().IsRegular() && at.info.Size() == 0
			}
			entries, err := f.p.ReadDir(at.path)
			return err == nil && len(entries) == 0
		}
	case "-readable", "-writable":
		return always
	case "-executable":
		return func(f *finder, at *found) bool { return TestFile(f.p, "-x", at.path) }
	case "-nouser", "-nogroup":
		return func(*finder, *found) bool { return false }
	case "-help", "--help":
		q.help = true
		q.f.p.Out.WriteString("Usage: find [-H] [-L] [-P] [path...] [expression]\n")
		return q.fail("")
	}
	return q.withValue(name)
}

func (q *findParser) withValue(name string) findTest {
	known := []string{"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-lname", "-ilname", "-regex", "-iregex", "-regextype", "-type", "-xtype", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin",
		"-newer", "-anewer", "-cnewer", "-newermt", "-newerat", "-newerct", "-perm", "-user", "-group", "-uid", "-gid", "-links", "-inum", "-samefile", "-maxdepth", "-mindepth"}
	if !slices.Contains(known, name) {
		return q.fail("unknown predicate `%s'", name)
	}
	v, ok := q.value(name)
	if !ok {
		return always
	}
	switch name {
	case "-name", "-iname":
		return q.pattern(v, name == "-iname", func(_ *finder, at *found) string { return path.Base(at.path) })
	case "-path", "-ipath", "-wholename", "-iwholename":
		return q.pattern(v, name[1] == 'i', func(_ *finder, at *found) string { return at.path })
	case "-lname", "-ilname":
		return q.pattern(v, name == "-ilname", func(f *finder, at *found) string {
			to, err := f.p.Files.Readlink(f.p.Path(at.path))
			if err != nil {
				return "\x00"
			}
			return to
		})
	case "-regextype":
		q.regex = v
		return always
	case "-regex", "-iregex":
		return q.regexp(v, name == "-iregex")
	case "-type", "-xtype":
		return q.kind(v, name == "-xtype")
	case "-size":
		return q.size(v)
	case "-mtime", "-atime", "-ctime":
		return q.age(name, v, 24*time.Hour)
	case "-mmin", "-amin", "-cmin":
		return q.age(name, v, time.Minute)
	case "-newer", "-anewer", "-cnewer":
		info, err := q.f.p.Stat(v)
		if err != nil {
			return q.fail("%s: %s", Quote(v), Reason(err))
		}
		return func(_ *finder, at *found) bool { return at.info.ModTime().After(info.ModTime()) }
	case "-newermt", "-newerat", "-newerct":
		t, err := parseTime(v, q.f.now, q.f.p.location())
		if err != nil {
			return q.fail("I cannot figure out how to interpret %s as a date or time", Quote(v))
		}
		return func(_ *finder, at *found) bool { return at.info.ModTime().After(t) }
	case "-perm":
		return q.perm(v)
	case "-user", "-uid":
		mine := v == q.f.p.System.User || v == strconv.Itoa(q.f.p.System.UID)
		return func(*finder, *found) bool { return mine }
	case "-group", "-gid":
		mine := v == q.f.p.System.Group || v == strconv.Itoa(q.f.p.System.GID)
		return func(*finder, *found) bool { return mine }
	case "-samefile":
		info, err := q.f.p.Stat(v)
		if err != nil {
			return q.fail("%s: %s", Quote(v), Reason(err))
		}
		return func(_ *finder, at *found) bool { return SameFile(at.info, info) }
	case "-links", "-inum":
		return q.links(name, v)
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return q.fail("Expected a positive decimal integer argument to %s, but got %s", name, Quote(v))
	}
	if name == "-maxdepth" {
		q.f.max = n
	} else {
		q.f.min = n
	}
	return always
}
