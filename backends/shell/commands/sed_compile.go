package commands

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

// sedCommand is a command of a script.
type sedCommand struct {
	name   byte
	a1, a2 *sedAddress
	negate bool

	active  bool // within the range a1,a2
	endLine int64

	text   []byte // of a, i, c
	label  string
	target int // of b, t, T and {
	number int // of q, Q, l, L
	file   *sedFile
	read   string // of r, R
	subst  *sedSubst
	table  map[string]string // of y
}

type sedAddress struct {
	kind        byte  // n: line, $: last line, /: regexp, ~: first~step; of the second: +, m (multiple)
	line, step  int64 // for n, ~ and the second forms
	re          *posixre.Regexp
	emptyRegexp bool
}

// sedCompiler reads scripts.
type sedCompiler struct {
	p       *Proc
	flags   posixre.Flags
	sandbox bool
	quiet   bool
	code    []*sedCommand
	blocks  []int
	labels  map[string]int
	files   map[string]*sedFile

	text   string
	i      int
	name   string // of the script file, or ""
	number int    // of the expression
	// pending is a command a, i or c whose text goes on with the next expression.
	pending *sedCommand
}

func (c *sedCompiler) errorf(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if c.name != "" {
		return fmt.Errorf("file %s line %d: %s", c.name, 1+strings.Count(c.text[:min(c.i, len(c.text))], "\n"), text)
	}
	return fmt.Errorf("-e expression #%d, char %d: %s", c.number, c.i, text)
}

// add reads one script.
func (c *sedCompiler) add(text, name string) error {
	c.text, c.i, c.name = text, 0, name
	c.number++
	if c.pending != nil {
		cmd := c.pending
		c.pending = nil
		if err := c.readText(cmd); err != nil {
			return err
		}
	}
	for {
		c.spaces(" \t\n\v\f\r;")
		if c.i >= len(c.text) {
			return nil
		}
		if err := c.command(); err != nil {
			return err
		}
	}
}

// finish resolves labels. It returns the exit code of a failure.
func (c *sedCompiler) finish() (int, error) {
	if len(c.blocks) > 0 {
		return 1, fmt.Errorf("-e expression #%d, char 0: unmatched `{'", c.number)
	}
	if c.pending != nil && c.pending.text == nil {
		return 1, errors.New("expected \\ after `a', `c' or `i'")
	}
	for _, cmd := range c.code {
		if strings.IndexByte("btT", cmd.name) < 0 {
			continue
		}
		if cmd.label == "" {
			cmd.target = len(c.code)
			continue
		}
		at, ok := c.labels[cmd.label]
		if !ok {
			return 4, fmt.Errorf("can't find label for jump to `%s'", cmd.label)
		}
		cmd.target = at
	}
	return 0, nil
}

func (c *sedCompiler) spaces(set string) {
	for c.i < len(c.text) && strings.IndexByte(set, c.text[c.i]) >= 0 {
		c.i++
	}
}

const sedBlanks = " \t\v\f\r"

func (c *sedCompiler) peek() byte {
	if c.i < len(c.text) {
		return c.text[c.i]
	}
	return 0
}

func (c *sedCompiler) command() error {
	if err := c.p.Hold(256); err != nil {
		return err
	}
	cmd := &sedCommand{number: -1}
	var err error
	if cmd.a1, err = c.address(false); err != nil {
		return err
	}
	if cmd.a1 != nil {
		c.spaces(sedBlanks)
		if c.peek() == ',' {
			c.i++
			c.spaces(sedBlanks)
			if cmd.a2, err = c.address(true); err != nil {
				return err
			}
			if cmd.a2 == nil {
				c.i++
				return c.errorf("unexpected `,'")
			}
		}
		if cmd.a1.kind == 'n' && cmd.a1.line == 0 {
			if cmd.a2 == nil || cmd.a2.kind != '/' {
				return c.errorf("invalid usage of line address 0")
			}
			cmd.active = true
		}
	}
	c.spaces(sedBlanks)
	for c.peek() == '!' {
		cmd.negate = true
		c.i++
		c.spaces(sedBlanks)
		if c.peek() == '!' {
			return c.errorf("multiple `!'s")
		}
	}
	if c.i >= len(c.text) {
		return c.errorf("missing command")
	}
	cmd.name = c.text[c.i]
	c.i++
	if cmd.name == '#' {
		if cmd.a1 != nil {
			return c.errorf("comments don't accept any addresses")
		}
		if end := strings.IndexByte(c.text[c.i:], '\n'); end >= 0 {
			c.i += end
		} else {
			c.i = len(c.text)
		}
		return nil
	}
	c.code = append(c.code, cmd)
	return c.arguments(cmd)
}

// arguments reads what follows the name of a command.
func (c *sedCompiler) arguments(cmd *sedCommand) error {
	switch cmd.name {
	case '{':
		c.blocks = append(c.blocks, len(c.code)-1)
		return nil
	case '}':
		if len(c.blocks) == 0 {
			return c.errorf("unexpected `}'")
		}
		if cmd.a1 != nil {
			return c.errorf("} doesn't want any addresses")
		}
		c.code[c.blocks[len(c.blocks)-1]].target = len(c.code) - 1
		c.blocks = c.blocks[:len(c.blocks)-1]
	case '=', 'd', 'D', 'F', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z':
	case 'a', 'i', 'c':
		return c.textArgument(cmd)
	case ':':
		if cmd.a1 != nil {
			return c.errorf(": doesn't want any addresses")
		}
		c.spaces(sedBlanks)
		label := c.word(";")
		if label == "" {
			return c.errorf("\":\" lacks a label")
		}
		if _, there := c.labels[label]; there {
			return c.errorf("duplicate label `%s'", label)
		}
		c.labels[label] = len(c.code) - 1
	case 'b', 't', 'T':
		c.spaces(sedBlanks)
		cmd.label = c.word(";}")
	case 'e':
		return c.errorf("the e command runs programs and is refused; use a pipe of the shell")
	case 'l', 'L', 'q', 'Q':
		if (cmd.name == 'q' || cmd.name == 'Q') && cmd.a2 != nil {
			return c.errorf("command only uses one address")
		}
		c.spaces(sedBlanks)
		if n, ok := c.digits(); ok {
			cmd.number = int(min(n, 1<<30))
		}
	case 'r', 'R', 'w', 'W':
		return c.fileArgument(cmd)
	case 's':
		if err := c.substitution(cmd); err != nil {
			return err
		}
	case 'y':
		if err := c.transliteration(cmd); err != nil {
			return err
		}
	case 'v':
		c.spaces(sedBlanks)
		if v := c.word(";}"); v > "4.9" && v != "" {
			return c.errorf("expected newer version of sed")
		}
	default:
		return c.errorf("unknown command: `%c'", cmd.name)
	}
	return c.end()
}

// end reads the end of a command.
func (c *sedCompiler) end() error {
	c.spaces(sedBlanks)
	switch c.peek() {
	case 0:
		if c.i < len(c.text) {
			break
		}
		return nil
	case '}', '#':
		return nil
	case '\n', ';':
		c.i++
		return nil
	}
	c.i++
	return c.errorf("extra characters after command")
}

// word reads up to a blank or one of stop.
func (c *sedCompiler) word(stop string) string {
	from := c.i
	for c.i < len(c.text) && strings.IndexByte(" \t\n\v\f\r"+stop, c.text[c.i]) < 0 {
		c.i++
	}
	return c.text[from:c.i]
}

func (c *sedCompiler) digits() (n int64, ok bool) {
	for ; c.i < len(c.text) && isDigit(c.text[c.i]); c.i++ {
		n, ok = min(n*10+int64(c.text[c.i]-'0'), 1<<50), true
	}
	return n, ok
}
