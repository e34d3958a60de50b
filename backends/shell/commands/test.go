package commands

import (
	"io/fs"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// TestFile evaluates a file operator of test, such as "-f".
func TestFile(p *Proc, op, name string) bool {
	if op == "-L" || op == "-h" {
		info, err := p.Lstat(name)
		return err == nil && info.Mode()&fs.ModeSymlink != 0
	}
	if op == "-t" {
		return false
	}
	info, err := p.Stat(name)
	if err != nil {
		return false
	}
	mode := info.Mode()
	switch op {
	case "-e", "-a", "-r", "-w", "-O", "-G":
		return true
	case "-f":
		return mode.IsRegular()
	case "-d":
		return info.IsDir()
	case "-s":
		return info.Size() > 0
	case "-x":
		return info.IsDir() || mode&0o111 != 0
	case "-c":
		return mode&fs.ModeCharDevice != 0
	case "-p":
		return mode&fs.ModeNamedPipe != 0
	case "-k":
		return mode&fs.ModeSticky != 0
	}
	return false // -b -S -u -g -N: there is no such thing
}

// TestFiles evaluates -nt, -ot and -ef.
func TestFiles(p *Proc, op, a, b string) bool {
	x, errX := p.Stat(a)
	y, errY := p.Stat(b)
	switch op {
	case "-nt":
		return errX == nil && (errY != nil || x.ModTime().After(y.ModTime()))
	case "-ot":
		return errY == nil && (errX != nil || x.ModTime().Before(y.ModTime()))
	case "-ef":
		return errX == nil && errY == nil && SameFile(x, y)
	}
	return false
}

// SameFile tells whether two names lead to one file.
func SameFile(a, b fs.FileInfo) bool {
	x, ok1 := a.Sys().(*vfs.Sys)
	y, ok2 := b.Sys().(*vfs.Sys)
	return ok1 && ok2 && x.Inode != 0 && x.Inode == y.Inode
}

// tester evaluates the arguments of test.
type tester struct {
	p    *Proc
	args []string
	err  string
}

func test(p *Proc) int {
	args := p.Args
	if p.Name == "[" {
		if len(args) == 0 || args[len(args)-1] != "]" {
			return p.Errorf(2, "missing `]'")
		}
		args = args[:len(args)-1]
	}
	t := &tester{p: p, args: args}
	ok := t.evaluate()
	switch {
	case t.err != "":
		return p.Errorf(2, "%s", t.err)
	case ok:
		return 0
	}
	return 1
}

func (t *tester) fail(text string) bool {
	if t.err == "" {
		t.err = text
	}
	return false
}

// evaluate follows POSIX, by the number of arguments, and a grammar for more
// than four.
func (t *tester) evaluate() bool {
	a := t.args
	switch len(a) {
	case 0:
		return false
	case 1:
		return a[0] != ""
	case 2:
		if a[0] == "!" {
			return a[1] == ""
		}
		if takesOne(a[0]) {
			return t.unary(a[0], a[1])
		}
		return t.fail(a[0] + ": unary operator expected")
	case 3:
		switch {
		case takesTwo(a[1]):
			return t.binary(a[0], a[1], a[2])
		case a[1] == "-a":
			return a[0] != "" && a[2] != ""
		case a[1] == "-o":
			return a[0] != "" || a[2] != ""
		case a[0] == "!":
			t.args = a[1:]
			return !t.evaluate()
		case a[0] == "(" && a[2] == ")":
			return a[1] != ""
		}
		return t.fail(a[1] + ": binary operator expected")
	case 4:
		switch {
		case a[0] == "!":
			t.args = a[1:]
			return !t.evaluate()
		case a[0] == "(" && a[3] == ")":
			t.args = a[1:3]
			return t.evaluate()
		}
	}
	ok := t.or(0)
	if t.err == "" && len(t.args) > 0 {
		t.fail("too many arguments")
	}
	return ok
}

func (t *tester) or(depth int) bool {
	ok := t.and(depth)
	for t.err == "" && len(t.args) > 0 && t.args[0] == "-o" {
		t.args = t.args[1:]
		right := t.and(depth)
		ok = ok || right
	}
	return ok
}

func (t *tester) and(depth int) bool {
	ok := t.term(depth)
	for t.err == "" && len(t.args) > 0 && t.args[0] == "-a" {
		t.args = t.args[1:]
		right := t.term(depth)
		ok = ok && right
	}
	return ok
}

func (t *tester) term(depth int) bool {
	if depth > 1000 {
		return t.fail("too many arguments")
	}
	a := t.args
	switch {
	case len(a) == 0:
		return t.fail("argument expected")
	case len(a) >= 3 && takesTwo(a[1]):
		t.args = a[3:]
		return t.binary(a[0], a[1], a[2])
	case a[0] == "!":
		t.args = a[1:]
		return !t.term(depth + 1)
	case a[0] == "(":
		t.args = a[1:]
		ok := t.or(depth + 1)
		if len(t.args) == 0 || t.args[0] != ")" {
			return t.fail("`)' expected")
		}
		t.args = t.args[1:]
		return ok
	case len(a) >= 2 && takesOne(a[0]):
		t.args = a[2:]
		return t.unary(a[0], a[1])
	}
	t.args = a[1:]
	return a[0] != ""
}

func takesOne(op string) bool {
	return len(op) == 2 && op[0] == '-' && strings.IndexByte("abcdefghknoprstuvwxzGLNORS", op[1]) >= 0
}

func takesTwo(op string) bool {
	return slices.Contains([]string{"=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"}, op)
}

func (t *tester) unary(op, arg string) bool {
	switch op {
	case "-z":
		return arg == ""
	case "-n":
		return arg != ""
	case "-v":
		if t.p.IsSet != nil {
			return t.p.IsSet(arg)
		}
		_, ok := t.p.Getenv(arg)
		return ok
	case "-o", "-R":
		return false
	}
	return TestFile(t.p, op, arg)
}

func (t *tester) binary(a, op, b string) bool {
	switch op {
	case "=", "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case ">":
		return a > b
	case "-nt", "-ot", "-ef":
		return TestFiles(t.p, op, a, b)
	}
	x, okX := t.integer(a)
	y, okY := t.integer(b)
	if !okX || !okY {
		return false
	}
	c := x.Cmp(y)
	switch op {
	case "-eq":
		return c == 0
	case "-ne":
		return c != 0
	case "-lt":
		return c < 0
	case "-le":
		return c <= 0
	case "-gt":
		return c > 0
	}
	return c >= 0
}

func (t *tester) integer(text string) (*big.Int, bool) {
	trimmed := strings.TrimSpace(text)
	if n, err := strconv.ParseInt(trimmed, 10, 64); err == nil {
		return big.NewInt(n), true
	}
	if len(trimmed) < 100 {
		if n, ok := new(big.Int).SetString(strings.TrimPrefix(trimmed, "+"), 10); ok {
			return n, true
		}
	}
	t.fail(text + ": integer expression expected")
	return nil, false
}
