package shell

import (
	"strconv"
	"strings"
)

// signals are those that kill knows, by name.
var signals = map[string]int{"HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "TRAP": 5, "ABRT": 6, "BUS": 7, "FPE": 8, "KILL": 9, "USR1": 10, "SEGV": 11, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15,
	"CHLD": 17, "CONT": 18, "STOP": 19, "TSTP": 20, "TTIN": 21, "TTOU": 22, "URG": 23, "XCPU": 24, "XFSZ": 25, "VTALRM": 26, "PROF": 27, "WINCH": 28, "IO": 29, "PWR": 30, "SYS": 31}

// signalOf reads a signal: a name, with or without SIG, or a number.
func signalOf(text string) (name string, number int, ok bool) {
	if n, err := strconv.Atoi(text); err == nil {
		if n == 0 {
			return "EXIT", 0, true
		}
		for name, number := range signals {
			if number == n {
				return name, n, true
			}
		}
		return "", 0, false
	}
	name = strings.TrimPrefix(strings.ToUpper(text), "SIG")
	number, ok = signals[name]
	return name, number, ok
}

// kill sends signals to jobs and to this script itself.
func (s *shell) kill(args []string) int {
	name, number := "TERM", 15
	if len(args) > 1 && args[0] == "-l" {
		return s.signalNames(args[1:])
	}
	if len(args) > 0 && args[0] == "-l" {
		var b strings.Builder
		for n := 1; n < 32; n++ {
			if name, _, ok := signalOf(strconv.Itoa(n)); ok {
				b.WriteString(name + "\n")
			}
		}
		return s.print("kill", b.String())
	}
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && args[0] != "--" {
		spec := args[0][1:]
		args = args[1:]
		if (spec == "s" || spec == "n") && len(args) > 0 {
			spec, args = args[0], args[1:]
		}
		var ok bool
		if name, number, ok = signalOf(spec); !ok {
			s.errorf("kill: %s: invalid signal specification", spec)
			return 1
		}
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		s.say("kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]\n")
		return 2
	}
	code := 0
	for _, arg := range args {
		code = max(code, s.signal(arg, name, number))
	}
	return code
}

// signalNames prints what kill -l says of each signal or exit code: the name of
// a number, the number of a name.
func (s *shell) signalNames(args []string) int {
	code := 0
	var b strings.Builder
	for _, arg := range args {
		n, err := strconv.Atoi(arg)
		if err == nil && n > 128 {
			arg = strconv.Itoa(n - 128)
		}
		name, number, ok := signalOf(arg)
		switch {
		case !ok:
			s.errorf("kill: %s: invalid signal specification", arg)
			code = 1
		case err == nil:
			b.WriteString(name + "\n")
		default:
			b.WriteString(strconv.Itoa(number) + "\n")
		}
	}
	return max(code, s.print("kill", b.String()))
}

func (s *shell) signal(arg, name string, number int) int {
	if strings.HasPrefix(arg, "%") {
		j := findJob(s.knownJobs(), arg)
		if j == nil {
			s.errorf("kill: %s: no such job", arg)
			return 1
		}
		return s.signalJob(j, arg, name, number)
	}
	pid, err := strconv.Atoi(arg)
	if err != nil {
		s.errorf("kill: %s: arguments must be process or job IDs", arg)
		return 1
	}
	s.m.mu.Lock()
	j := s.m.jobs[max(pid, -pid)]
	s.m.mu.Unlock()
	switch {
	case j != nil && j.pid != s.pid:
		return s.signalJob(j, arg, name, number)
	case pid == s.pid || pid == s.root || pid == 0 || pid == -s.root:
		return s.signalSelf(pid, name, number)
	}
	s.errorf("kill: (%d) - No such process", pid)
	return 1
}

func (s *shell) signalJob(j *job, arg, name string, number int) int {
	switch {
	case !j.running():
		s.errorf("kill: (%s) - No such process", arg)
		return 1
	case number == 0, name == "CHLD", name == "CONT", name == "WINCH", name == "URG":
		return 0
	}
	s.m.mu.Lock()
	in := s.m.inboxes[j.pid]
	s.m.mu.Unlock()
	if in == nil || !in.deliver(name) {
		j.cancel(killed{j.pid, "SIG" + name, number})
	}
	return 0
}

// signalSelf is a signal to this shell, or to the script from a subshell.
func (s *shell) signalSelf(pid int, name string, number int) int {
	action, trapped := s.traps[name]
	switch {
	case number == 0, name == "CHLD", name == "CONT", name == "WINCH", name == "URG":
		return 0
	case trapped && name != "KILL" && name != "STOP" && (pid == s.pid || s.root == s.pid):
		if action != "" {
			if f := s.runTrap(action); f == leave {
				panic(failed{code: s.status, fatal: true})
			}
		}
		return 0
	}
	if pid == s.pid || s.root == s.pid {
		panic(killed{s.pid, "SIG" + name, number})
	}
	s.m.mu.Lock()
	in := s.m.inboxes[s.root]
	s.m.mu.Unlock()
	if in != nil && in.deliver(name) {
		return 0
	}
	// The script can be on another goroutine: its context is ended, and all
	// that runs in it, this shell included, unwinds.
	if in != nil {
		in.end(killed{s.root, "SIG" + name, number})
	}
	panic(stopped{})
}

// setTrap sets what a signal does.
func (s *shell) setTrap(name, action string) {
	if s.traps == nil {
		s.traps = map[string]string{}
	}
	s.traps[name] = action
	if s.inbox != nil {
		s.inbox.set(name, true, action != "")
	}
}

func (s *shell) removeTrap(name string) {
	delete(s.traps, name)
	if s.inbox != nil {
		s.inbox.set(name, false, false)
	}
}

// runTrap runs an action and keeps the status of before, unless it exits.
func (s *shell) runTrap(action string) flow {
	if s.trapping {
		return goOn
	}
	s.trapping = true
	s.nesting++
	defer func() { s.trapping, s.nesting = false, s.nesting-1 }()
	status, levels := s.status, s.levels
	f := s.runText(action, s.name+": trap")
	if f != leave {
		s.status, s.levels = status, levels
	}
	return f
}
