package commands

// shellCommands are those that scripts are made of.
func shellCommands() []Command {
	return []Command{
		{"true", "", "Do nothing, successfully", func(*Proc) int { return 0 }},
		{"false", "", "Do nothing, unsuccessfully", func(*Proc) int { return 1 }},
		{"echo", "[-neE] [TEXT]...", "Print a line of text", echo},
		{"printf", "FORMAT [ARGUMENT]...", "Print text by a format", printf},
		{"test", "EXPRESSION", "Check files and compare values", test},
		{"[", "EXPRESSION ]", "Check files and compare values", test},
		{"seq", "[OPTION]... [FIRST [STEP]] LAST", "Print numbers", seq},
		{"yes", "[TEXT]...", "Print a line again and again", yes},
		{"xargs", "[OPTION]... [COMMAND [ARGUMENT]...]", "Run a command with arguments from input", xargs},
		{"env", "[OPTION]... [NAME=VALUE]... [COMMAND [ARGUMENT]...]", "Run a command in another environment", env},
		{"printenv", "[OPTION]... [NAME]...", "Print the environment", printenv},
		{"sleep", "NUMBER[smhd]...", "Wait", sleep},
		{"timeout", "[OPTION]... NUMBER[smhd] COMMAND [ARGUMENT]...", "Run a command with a time limit", timeout},
		{"time", "[OPTION]... COMMAND [ARGUMENT]...", "Run a command and tell how long it took", timeCommand},
		{"nohup", "COMMAND [ARGUMENT]...", "Run a command", nohup},
		{"nice", "[-n NUMBER] [COMMAND [ARGUMENT]...]", "Run a command", nohup},
		{"which", "[-a] NAME...", "Print where commands are", which},
		{"whoami", "", "Print the user's name", simple(func(p *Proc) string { return p.System.User })},
		{"logname", "", "Print the user's name", simple(func(p *Proc) string { return p.System.User })},
		{"groups", "", "Print the user's groups", simple(func(p *Proc) string { return p.System.Group })},
		{"id", "[OPTION]... [USER]", "Print the user's ids", id},
		{"uname", "[OPTION]...", "Print what system this is", uname},
		{"arch", "", "Print the machine's architecture", simple(func(*Proc) string { return "x86_64" })},
		{"hostname", "", "Print the name of this workspace", hostname},
		{"nproc", "[OPTION]...", "Print how many processors there are", nproc},
		{"pwd", "", "Print the current directory", simple(func(p *Proc) string { return p.Dir })},
		{"sync", "[FILE]...", "Do nothing: files are kept when the script ends", func(*Proc) int { return 0 }},
		{"tty", "", "Tell that there is no terminal", func(p *Proc) int { p.Out.WriteString("not a tty\n"); return 1 }},
	}
}
