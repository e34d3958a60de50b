package permissions

import "strings"

// consoles are programs with commands of their own, of which some run a shell:
// "!COMMAND", ":!COMMAND", ".shell COMMAND".
type console struct {
	commands optionNames // options whose value is a command
	plus     bool        // words that start with "+" are commands
	operands bool        // operands may be commands
}

var consoles = byName(map[string]console{
	"vi vim ex view nvim rvim vimdiff gvim": {commands: optionNames{letters: "c", words: []string{"--cmd"}, stops: "SisuUTwW"}, plus: true},

	"less more": {plus: true},
	"ed":        {},
	"gdb":       {commands: optionNames{words: []string{"-ex", "--ex", "-iex", "-eval-command", "--eval-command", "--init-eval-command"}}},
	"lldb":      {commands: optionNames{letters: "oO", words: []string{"--one-line", "--one-line-before-file"}}},
	"sqlite3":   {commands: optionNames{words: []string{"-cmd"}}, operands: true},
	"psql":      {commands: optionNames{letters: "c", words: []string{"--command"}, stops: "dfFhLopPRTUv"}},
	"mysql":     {commands: optionNames{letters: "e", words: []string{"--execute"}, stops: "DhPpSu"}},
	"lftp":      {commands: optionNames{letters: "ce", stops: "fpu"}},
	"ftp":       {},
})

// console looks into the commands that a program of consoles is given.
func (w *walker) console(name string, args []field, in stdin) {
	c, ok := consoles[name]
	if !ok {
		return
	}
	commands := func(v value) {
		for line := range strings.Lines(v.literally().String()) {
			w.consoleCommand(line)
		}
	}
	c.commands.each(args, commands)
	for _, a := range args[1:] {
		if c.plus && a.value.hasPrefix("+") {
			commands(a.value.trimPrefix(1))
		} else if c.operands && !a.value.hasPrefix("-") {
			commands(a.value)
		}
	}
	if in.known {
		commands(in.text)
	}
}

func (w *walker) consoleCommand(line string) {
	line = strings.TrimSpace(line)
	for _, prefix := range []string{":", "silent!", "silent", "sil!", "sil", ".", `\`} {
		line = strings.TrimSpace(strings.TrimPrefix(line, prefix))
	}
	// A range or a short command may stand before the "!".
	if before, script, found := strings.Cut(line, "!"); found && strings.Trim(strings.TrimSuffix(before, " "), "0123456789,$%rw") == "" {
		if script != "" {
			w.shellText(text(script), stdin{})
		}
		return
	}
	verb, rest, _ := strings.Cut(line, " ")
	switch rest = strings.TrimSpace(rest); verb {
	case "shell", "system", "sh", "pipe":
		if rest != "" {
			w.shellText(text(rest), stdin{})
		}
	case "r", "read", "e", "edit", "source", "so", "open", "import", "i":
		if path, _, _ := strings.Cut(rest, " "); path != "" {
			w.denyPath(Read, text(path), false)
		}
	case "w", "write", "sav", "saveas", "output", "once", "o", "save", "backup":
		if path, _, _ := strings.Cut(rest, " "); path != "" {
			w.denyPath(Write, text(path), false)
		}
	}
}
