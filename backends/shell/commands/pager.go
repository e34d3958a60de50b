package commands

import (
	"io"
	"slices"
	"strings"
)

var lessOptions = NewOptions(1, "a", "A", "b=", "B", "c", "C", "d", "D=", "e quit-at-eof", "E QUIT-AT-EOF", "f force", "F quit-if-one-screen", "g", "G", "h=", "i ignore-case", "I IGNORE-CASE", "j=",
	"J", "k=", "K quit-on-intr", "L", "m long-prompt", "M LONG-PROMPT", "n line-numbers", "N LINE-NUMBERS", "p=", "P=", "q quiet", "Q QUIET", "r raw-control-chars",
	"R RAW-CONTROL-CHARS", "s squeeze-blank-lines", "S chop-long-lines", "t=", "T=", "u", "U", "V", "w", "W", "x=", "X no-init", "y=", "z=", "tabs=", "use-color", "mouse", "no-histdups")

// less writes files as they are: what it is piped to is never a terminal.
func less(p *Proc) int {
	// +COMMAND is what to do first on a screen.
	p.Args = slices.DeleteFunc(slices.Clone(p.Args), func(arg string) bool { return strings.HasPrefix(arg, "+") })
	o, code := p.Parse(lessOptions)
	if o == nil {
		return code
	}
	names := o.Args
	if len(names) == 0 {
		names = []string{"-"}
	}
	shown := false
	for _, name := range names {
		if info, err := p.Stat(name); name != "-" && err == nil && info.IsDir() {
			p.Out.WriteString(name + " is a directory\n")
			continue
		}
		if p.copyFrom(name) == nil {
			shown = true
		}
	}
	if !shown {
		return 1
	}
	return 0
}

// copyFrom writes a file to standard output, and says why it cannot.
func (p *Proc) copyFrom(name string) error {
	in := io.NopCloser(p.Stdin)
	if name != "-" {
		f, err := p.Open(name)
		if err != nil {
			_, _ = io.WriteString(p.Stderr, name+": "+Reason(err)+"\n")
			return err
		}
		in = f
	}
	defer in.Close()
	_, err := p.Copy(p.Out, in)
	if err != nil && !p.Stopped() {
		p.FileError(name, err)
	}
	return err
}

var moreOptions = NewOptions(1, "d silent", "f logical", "l no-pause", "c print-over", "p clean-print", "e exit-on-eof", "s squeeze", "u plain", "n lines=")

// more writes files as they are, each after its name.
func more(p *Proc) int {
	p.Args = slices.DeleteFunc(slices.Clone(p.Args), func(arg string) bool {
		return len(arg) > 1 && (arg[0] == '+' || arg[0] == '-' && strings.Trim(arg[1:], "0123456789") == "")
	})
	o, code := p.Parse(moreOptions)
	if o == nil {
		return code
	}
	if len(o.Args) == 0 {
		return p.Inputs(nil, func(_ string, r io.Reader) (int, error) {
			_, err := p.Copy(p.Out, r)
			return 0, err
		})
	}
	const rule = "::::::::::::::\n"
	for _, name := range o.Args {
		info, err := p.Stat(name)
		switch {
		case err != nil:
			p.Errorf(0, "cannot open %s: %s", name, Reason(err))
		case info.IsDir():
			p.Out.WriteString("\n*** " + name + ": directory ***\n\n")
		default:
			p.Out.WriteString(rule + name + "\n" + rule)
			if p.copyFrom(name) != nil {
				code = 1
			}
		}
	}
	return code
}
