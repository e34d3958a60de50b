package commands

// textCommands are those that read and write text.
func textCommands() []Command {
	return []Command{
		{"cat", "[OPTION]... [FILE]...", "Concatenate files to standard output", cat},
		{"tac", "[OPTION]... [FILE]...", "Write files with their lines in reverse order", tac},
		{"head", "[OPTION]... [FILE]...", "Write the first part of files", head},
		{"tail", "[OPTION]... [FILE]...", "Write the last part of files", tail},
		{"wc", "[OPTION]... [FILE]...", "Count lines, words, characters and bytes", wc},
		{"nl", "[OPTION]... [FILE]...", "Number lines", nl},
		{"sort", "[OPTION]... [FILE]...", "Sort lines", sortLines},
		{"uniq", "[OPTION]... [INPUT [OUTPUT]]", "Filter or count repeated lines that follow each other", uniq},
		{"cut", "OPTION... [FILE]...", "Write selected parts of lines", cut},
		{"paste", "[OPTION]... [FILE]...", "Merge lines of files side by side", paste},
		{"join", "[OPTION]... FILE1 FILE2", "Join lines of two sorted files on a common field", join},
		{"comm", "[OPTION]... FILE1 FILE2", "Compare two sorted files line by line", comm},
		{"tr", "[OPTION]... SET1 [SET2]", "Translate, squeeze or delete characters", tr},
		{"rev", "[FILE]...", "Reverse the characters of each line", rev},
		{"fold", "[OPTION]... [FILE]...", "Wrap lines to a width", fold},
		{"expand", "[OPTION]... [FILE]...", "Convert tabs to spaces", expand},
		{"unexpand", "[OPTION]... [FILE]...", "Convert spaces to tabs", unexpand},
		{"column", "[OPTION]... [FILE]...", "Arrange lines in columns", column},
		{"split", "[OPTION]... [FILE [PREFIX]]", "Split a file into pieces", split},
		{"csplit", "[OPTION]... FILE PATTERN...", "Split a file at lines that patterns choose", csplit},
		{"shuf", "[OPTION]... [FILE]", "Write lines in random order", shuf},
		{"grep", "[OPTION]... PATTERNS [FILE]...", "Write lines that match patterns", grep},
		{"egrep", "[OPTION]... PATTERNS [FILE]...", "Write lines that match extended regular expressions", grep},
		{"fgrep", "[OPTION]... PATTERNS [FILE]...", "Write lines that have fixed texts in them", grep},
		{"sed", "[OPTION]... SCRIPT [FILE]...", "Edit text by a script", sed},
		{"awk", "[OPTION]... 'PROGRAM' [FILE]...", "Run an AWK program over text", awkCommand},
		{"gawk", "[OPTION]... 'PROGRAM' [FILE]...", "Run an AWK program over text", awkCommand},
		{"jq", "[OPTION]... FILTER [FILE]...", "Process JSON by a filter", jq},
		{"yq", "[OPTION]... FILTER [FILE]...", "Process YAML by a filter of jq", yq},
	}
}
