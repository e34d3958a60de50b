package commands

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

var envOptions = NewOptions(125, "+", "i ignore-environment", "u unset=", "0 null", "C chdir=", "S split-string=", "v debug")

func env(p *Proc) int {
	opts, code := p.Parse(envOptions)
	if opts == nil {
		return code
	}
	vars := p.Env
	args := opts.Args
	if len(args) > 0 && args[0] == "-" {
		vars, args = nil, args[1:]
	}
	if opts.Has("i") {
		vars = nil
	}
	vars = slices.Clone(vars)
	dir := p.Dir
	for _, o := range opts.Options {
		switch o.Key {
		case "u":
			vars = slices.DeleteFunc(vars, func(kv string) bool { return strings.HasPrefix(kv, o.Value+"=") })
		case "C":
			info, err := p.Stat(o.Value)
			if err == nil && !info.IsDir() {
				return p.Errorf(125, "cannot change directory to %s: Not a directory", Quote(o.Value))
			}
			if err != nil {
				return p.Errorf(125, "cannot change directory to %s: %s", Quote(o.Value), Reason(err))
			}
			dir = path.Clean(p.Path(o.Value))
		case "S":
			items, _, _ := splitQuoted(o.Value, "", true)
			args = append(items, args...)
		}
	}
	for len(args) > 0 {
		name, _, ok := strings.Cut(args[0], "=")
		if !ok || name == "" {
			break
		}
		vars = slices.DeleteFunc(vars, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		vars, args = append(vars, args[0]), args[1:]
	}
	if len(args) == 0 {
		end := "\n"
		if opts.Has("0") {
			end = "\x00"
		}
		for _, kv := range vars {
			p.Out.WriteString(kv + end)
		}
		return 0
	}
	if vars == nil {
		vars = []string{}
	}
	return p.Run(p.ctx, Call{Args: args, Dir: dir, Env: vars})
}

var printenvOptions = NewOptions(2, "0 null")

func printenv(p *Proc) int {
	opts, code := p.Parse(printenvOptions)
	if opts == nil {
		return code
	}
	end := "\n"
	if opts.Has("0") {
		end = "\x00"
	}
	if len(opts.Args) == 0 {
		for _, kv := range p.Env {
			p.Out.WriteString(kv + end)
		}
		return 0
	}
	for _, name := range opts.Args {
		if v, ok := p.Getenv(name); ok {
			p.Out.WriteString(v + end)
		} else {
			code = 1
		}
	}
	return code
}

// parseInterval reads a time as sleep and timeout have it: 1.5, 2m, 1h, 1d.
func parseInterval(text string) (time.Duration, bool) {
	unit := time.Second
	number := text
	if text != "" {
		if u, ok := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[text[len(text)-1]]; ok {
			unit, number = u, text[:len(text)-1]
		}
	}
	if number == "infinity" || number == "inf" {
		return 1<<63 - 1, true
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || f < 0 || f != f {
		return 0, false
	}
	if d := f * float64(unit); d < 1<<62 {
		return time.Duration(d), true
	}
	return 1<<63 - 1, true
}

var sleepOptions = NewOptions(1)

func sleep(p *Proc) int {
	opts, code := p.Parse(sleepOptions)
	if opts == nil {
		return code
	}
	if len(opts.Args) == 0 {
		return p.Usage(1, "missing operand")
	}
	var total time.Duration
	for _, arg := range opts.Args {
		d, ok := parseInterval(arg)
		if !ok {
			return p.Usage(1, "invalid time interval %s", Quote(arg))
		}
		if total += d; total < 0 {
			total = 1<<63 - 1
		}
	}
	timer := time.NewTimer(total)
	defer timer.Stop()
	p.turn.Give()
	select {
	case <-timer.C:
		return 0
	case <-p.ctx.Done():
		return 143
	}
}

var timeoutOptions = NewOptions(125, "+", "f foreground", "k kill-after=", "p preserve-status", "s signal=", "v verbose")

func timeout(p *Proc) int {
	opts, code := p.Parse(timeoutOptions)
	if opts == nil {
		return code
	}
	if len(opts.Args) < 2 {
		return p.Usage(125, "missing operand")
	}
	limit, ok := parseInterval(opts.Args[0])
	if !ok {
		return p.Usage(125, "invalid time interval %s", Quote(opts.Args[0]))
	}
	ctx := p.ctx
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	code = p.Run(ctx, Call{Args: opts.Args[1:]})
	if ctx.Err() == nil || p.ctx.Err() != nil {
		return code
	}
	signal, _ := opts.Value("s")
	kill := strings.HasSuffix(strings.ToUpper(signal), "KILL") || signal == "9"
	switch {
	case opts.Has("p") && kill, kill:
		return 137
	case opts.Has("p"):
		return 143
	}
	return 124
}

var timeOptions = NewOptions(125, "+", "p portability", "f format=", "o output=", "a append", "v verbose", "q quiet")

func timeCommand(p *Proc) int {
	opts, code := p.Parse(timeOptions)
	if opts == nil {
		return code
	}
	begun := time.Now()
	if len(opts.Args) > 0 {
		code = p.Run(p.ctx, Call{Args: opts.Args})
	}
	spent := time.Since(begun).Seconds()
	if opts.Has("p") {
		fmt.Fprintf(p.Stderr, "real %.2f\nuser 0.00\nsys 0.00\n", spent)
	} else {
		fmt.Fprintf(p.Stderr, "0.00user 0.00system %d:%05.2felapsed\n", int(spent)/60, spent-float64(int(spent)/60*60))
	}
	return code
}

var nohupOptions = NewOptions(125, "+", "n adjustment=")

// nohup and nice run a command: there is nothing that they could change.
func nohup(p *Proc) int {
	opts, code := p.Parse(nohupOptions)
	if opts == nil {
		return code
	}
	if len(opts.Args) == 0 {
		if p.Name == "nice" {
			p.Out.WriteString("0\n")
			return 0
		}
		return p.Usage(125, "missing operand")
	}
	return p.Run(p.ctx, Call{Args: opts.Args})
}

var whichOptions = NewOptions(2, "a all", "s")

// which finds commands in $PATH.
func which(p *Proc) int {
	opts, code := p.Parse(whichOptions)
	if opts == nil {
		return code
	}
	search, _ := p.Getenv("PATH")
	for _, name := range opts.Args {
		if strings.Contains(name, "/") {
			info, err := p.Stat(name)
			if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				p.Out.WriteString(name + "\n")
			} else {
				code = 1
			}
			continue
		}
		found := false
		for dir := range strings.SplitSeq(search, ":") {
			at := Join(dir, name)
			info, err := p.Stat(at)
			is := err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
			if !is && path.Clean(dir) == "/usr/bin" {
				is = Lookup(name) != nil || name == "sh" || name == "bash"
			}
			if is {
				p.Out.WriteString(at + "\n")
				if found = true; !opts.Has("a") {
					break
				}
			}
		}
		if !found {
			code = 1
		}
	}
	return code
}
