package commands

var stdbufOptions = NewOptions(125, "+", "i input=", "o output=", "e error=")

// stdbuf runs a command: streams hold nothing back here.
func stdbuf(p *Proc) int {
	o, code := p.Parse(stdbufOptions)
	if o == nil {
		return code
	}
	for _, opt := range o.Options {
		if opt.Key == "i" && opt.Value == "L" {
			return p.Usage(125, "line buffering stdin is meaningless")
		}
		if _, ok := ParseSize(opt.Value); opt.Value != "L" && !ok {
			return p.Errorf(125, "invalid mode %s", Quote(opt.Value))
		}
	}
	switch {
	case len(o.Args) == 0:
		return p.Usage(125, "missing operand")
	case len(o.Options) == 0:
		return p.Usage(125, "you must specify a buffering mode option")
	}
	return p.Run(p.ctx, Call{Args: o.Args})
}

var setsidOptions = NewOptions(1, "+", "c ctty", "f fork", "w wait")

// setsid runs a command and waits for it: there are no sessions.
func setsid(p *Proc) int {
	o, code := p.Parse(setsidOptions)
	if o == nil {
		return code
	}
	if len(o.Args) == 0 {
		return p.Usage(1, "no command specified")
	}
	return p.Run(p.ctx, Call{Args: o.Args})
}
