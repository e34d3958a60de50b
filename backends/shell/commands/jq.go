package commands

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// jqRun is one run of jq or yq.
type jqRun struct {
	p     *Proc
	order *jqOrder

	nullInput, slurp, rawInput, stream, exitStatus bool
	raw, join, raw0, seq                           bool
	yamlIn, yamlOut, inPlace                       bool
	write                                          jqWriter
	query                                          string
	given                                          bool
	fromFile                                       string
	named                                          map[string]any
	names                                          []string
	positional                                     []any
	files                                          []string

	file    string // that is read
	last    any
	any     bool
	yamlSep bool
	code    int
}

func jq(p *Proc) int {
	j := &jqRun{p: p, order: newJqOrder(), named: map[string]any{}}
	j.write = jqWriter{p: p, w: p.Out, order: j.order, indent: "  "}
	if code, ok := j.arguments(p.Args); !ok {
		return code
	}
	return j.main()
}

// jqLong are the letters of long options.
var jqLong = map[string]byte{"null-input": 'n', "raw-output": 'r', "join-output": 'j', "ascii-output": 'a', "compact-output": 'c', "slurp": 's', "sort-keys": 'S',
	"color-output": 'C', "monochrome-output": 'M', "exit-status": 'e', "raw-input": 'R', "from-file": 'f', "tab": '\t', "unbuffered": 'u', "seq": 'q', "stream": 't',
	"raw-output0": '0', "help": 'h', "version": 'V'}

// arguments reads the options. Those with values take the arguments that
// follow, two where they name a variable.
func (j *jqRun) arguments(args []string) (code int, ok bool) {
	rest := byte(0) // what operands are: 0 files, 'a' texts, 'j' JSON
	fail := func(format string, a ...any) (int, bool) {
		j.p.Errorf(2, format, a...)
		fmt.Fprintf(j.p.Stderr, "Use %s --help for help with command-line options\n", j.p.Name)
		return 2, false
	}
	operand := func(arg string) (int, bool) {
		switch {
		case !j.given && j.fromFile == "":
			j.query, j.given = arg, true
		case rest == 'a':
			j.positional = append(j.positional, arg)
		case rest == 'j':
			v, err := j.parse(arg)
			if err != nil {
				return fail("Invalid JSON text passed to --jsonargs")
			}
			j.positional = append(j.positional, v)
		default:
			j.files = append(j.files, arg)
		}
		return 0, true
	}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, long := strings.CutPrefix(arg, "--")
		switch {
		case arg == "--":
			for _, arg := range args {
				if code, ok := operand(arg); !ok {
					return code, false
				}
			}
			args = nil
		case !long && (len(arg) < 2 || arg[0] != '-'):
			if code, ok := operand(arg); !ok {
				return code, false
			}
		case name == "args":
			rest = 'a'
		case name == "jsonargs":
			rest = 'j'
		case name == "arg" || name == "argjson" || name == "slurpfile" || name == "rawfile" || name == "argfile":
			if len(args) < 2 {
				return fail("--%s takes two parameters (e.g. --%s varname text)", name, name)
			}
			if text := j.variable(name, args[0], args[1]); text != "" {
				return fail("%s", text)
			}
			args = args[2:]
		case name == "indent":
			n := -1
			if len(args) > 0 {
				if v, err := strconv.Atoi(args[0]); err == nil {
					n = v
				}
			}
			if n < 0 || n > 7 {
				return fail("Cannot indent less than zero or more than 7 characters")
			}
			j.write.indent = strings.Repeat(" ", n)
			args = args[1:]
		case name == "library-path" || arg == "-L" || strings.HasPrefix(arg, "-L"):
			return fail("modules (-L) are not available in this workspace")
		case long:
			letter := jqLong[name]
			if letter == 0 {
				return fail("Unknown arguments")
			}
			if letter == 'f' && len(args) > 0 {
				j.fromFile, args = args[0], args[1:]
				continue
			}
			if code, ok := j.letter(letter); !ok {
				return code, false
			}
		default:
			for _, c := range []byte(arg[1:]) {
				if c == 'f' {
					if len(args) == 0 {
						return fail("-f takes a parameter: the file with the filter")
					}
					j.fromFile, args = args[0], args[1:]
					continue
				}
				if strings.IndexByte("nrjacsSCMeRuh", c) < 0 {
					return fail("Unknown arguments")
				}
				if code, ok := j.letter(c); !ok {
					return code, false
				}
			}
		}
	}
	if j.fromFile != "" {
		text, err := j.p.ReadFile(j.fromFile)
		if err != nil {
			return j.p.Errorf(2, "error: Could not open %s: %s", j.fromFile, Reason(err)), false
		}
		if j.given { // it was the first file
			j.files = append([]string{j.query}, j.files...)
		}
		j.query, j.given = string(text), true
	}
	if !j.given {
		fmt.Fprint(j.p.Stderr, "Usage: "+j.p.Name+" [OPTION]... FILTER [FILE]...\n")
		return 2, false
	}
	return 0, true
}

// letter takes an option without a value; false ends the run.
func (j *jqRun) letter(c byte) (code int, ok bool) {
	switch c {
	case 'n':
		j.nullInput = true
	case 'r':
		j.raw = true
	case 'j':
		j.raw, j.join = true, true
	case '0':
		j.raw, j.raw0 = true, true
	case 'a':
		j.write.ascii = true
	case 'c':
		j.write.indent = ""
	case 's':
		j.slurp = true
	case 'S':
		j.write.sorted = true
	case 'C':
		j.write.color = true
	case 'M':
		j.write.color = false
	case 'e':
		j.exitStatus = true
	case 'R':
		j.rawInput = true
	case '\t':
		j.write.indent = "\t"
	case 'q':
		j.seq = true
	case 't':
		j.stream = true
	case 'h':
		fmt.Fprintf(j.p.Out, "Usage: %s %s\n%s.\n", j.p.Name, j.p.cmd.Usage, j.p.cmd.Summary)
		return 0, false
	case 'V':
		fmt.Fprintln(j.p.Out, "jq-1.7 (mcp-workspace)")
		return 0, false
	}
	return 0, true
}

func (j *jqRun) parse(text string) (any, error) {
	d := newJqDecoder(j.p, strings.NewReader(text), j.order)
	v, err := d.next()
	if err != nil {
		return nil, err
	}
	if _, err := d.next(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one value")
	}
	return v, nil
}

// variable sets $name.
func (j *jqRun) variable(option, name, value string) (problem string) {
	var v any = value
	var err error
	switch option {
	case "argjson":
		if v, err = j.parse(value); err != nil {
			return "Invalid JSON text passed to --argjson"
		}
	case "rawfile", "slurpfile", "argfile":
		text, err := j.p.ReadFile(value)
		if err != nil {
			return fmt.Sprintf("Bad JSON in --%s %s %s: %s", option, name, value, Reason(err))
		}
		if option == "rawfile" {
			v = string(text)
			break
		}
		list := []any{}
		for d := newJqDecoder(j.p, strings.NewReader(string(text)), j.order); ; {
			x, err := d.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return fmt.Sprintf("Bad JSON in --%s %s %s: %s", option, name, value, Reason(err))
			}
			list = append(list, x)
		}
		if v = list; option == "argfile" && len(list) == 1 {
			v = list[0]
		}
	}
	if _, there := j.named[name]; !there {
		j.named[name] = v
		j.names = append(j.names, name)
	}
	return ""
}

// maxJqProgram bounds the text of a program, in bytes. gojq and what is made of
// its syntax tree recurse as deep as the program nests, and a stack that is full
// ends the server.
const maxJqProgram = 32 << 10

// compile reads the query.
func (j *jqRun) compile(inputs gojq.Iter) (*gojq.Code, []any, error) {
	if len(j.query) > maxJqProgram {
		return nil, nil, fmt.Errorf("the program has %d bytes, and %d is the most here", len(j.query), maxJqProgram)
	}
	query, err := gojq.Parse(j.query)
	if err != nil {
		return nil, nil, err
	}
	if len(query.Imports) > 0 {
		return nil, nil, errors.New("modules (import, include) are not available in this workspace")
	}
	(&jqRewriter{j.order}).query(query)
	prelude, err := gojq.Parse(jqPrelude + ".")
	if err != nil {
		return nil, nil, fmt.Errorf("the prelude: %w", err)
	}
	query.FuncDefs = append(prelude.FuncDefs, query.FuncDefs...)
	names, values := []string{"$ARGS"}, []any{map[string]any{"named": j.named, "positional": append([]any{}, j.positional...)}}
	for _, n := range j.names {
		names, values = append(names, "$"+n), append(values, j.named[n])
	}
	options := append(j.jqFunctions(),
		gojq.WithVariables(names),
		gojq.WithEnvironLoader(func() []string { return j.p.Env }),
		gojq.WithInputIter(inputs),
		gojq.WithFunction("debug", 0, 0, func(v any, _ []any) any { return j.said(v, `["DEBUG:",`, "]\n") }),
		gojq.WithFunction("stderr", 0, 0, func(v any, _ []any) any { return j.said(v, "", "") }),
		gojq.WithFunction("input_filename", 0, 0, func(any, []any) any {
			if j.file == "" {
				return nil
			}
			return j.file
		}),
		gojq.WithFunction("input_line_number", 0, 0, func(any, []any) any { return 0 }),
	)
	code, err := gojq.Compile(query, options...)
	return code, values, err
}

// said writes v to standard error.
func (j *jqRun) said(v any, before, after string) any {
	w := bufio.NewWriter(j.p.Stderr)
	w.WriteString(before)
	if err := (&jqWriter{p: j.p, w: w, order: j.order}).value(v, 0); err != nil {
		return err
	}
	w.WriteString(after)
	if err := w.Flush(); err != nil {
		return err
	}
	return v
}
