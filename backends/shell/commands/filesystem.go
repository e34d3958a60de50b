package commands

// fileCommands are those that make, move and describe files.
func fileCommands() []Command {
	return []Command{
		{"ls", "[OPTION]... [FILE]...", "List files", ls},
		{"dir", "[OPTION]... [FILE]...", "List files", ls},
		{"tree", "[OPTION]... [DIRECTORY]...", "Draw directories as a tree", tree},
		{"stat", "[OPTION]... FILE...", "Describe files", stat},
		{"file", "[OPTION]... FILE...", "Tell what files hold", fileCommand},
		{"du", "[OPTION]... [FILE]...", "Tell how much space files take", du},
		{"df", "[OPTION]... [FILE]...", "Tell how much space there is", df},
		{"find", "[PATH]... [EXPRESSION]", "Find files by name, kind, size, time", find},
		{"cp", "[OPTION]... SOURCE... DEST", "Copy files", cp},
		{"install", "[OPTION]... SOURCE... DEST", "Copy files and set their modes", install},
		{"mv", "[OPTION]... SOURCE... DEST", "Move or rename files", mv},
		{"rm", "[OPTION]... FILE...", "Remove files", rm},
		{"unlink", "FILE", "Remove one file", unlink},
		{"mkdir", "[OPTION]... DIRECTORY...", "Make directories", mkdirCommand},
		{"rmdir", "[OPTION]... DIRECTORY...", "Remove empty directories", rmdir},
		{"touch", "[OPTION]... FILE...", "Make empty files, or change the time of files", touch},
		{"ln", "[OPTION]... TARGET... LINK", "Make links", ln},
		{"readlink", "[OPTION]... FILE...", "Print where symbolic links lead", readlink},
		{"realpath", "[OPTION]... FILE...", "Print paths without symbolic links", realpath},
		{"basename", "NAME [SUFFIX]", "Print the last part of a path", basename},
		{"dirname", "[OPTION] NAME...", "Print a path without its last part", dirname},
		{"mktemp", "[OPTION]... [TEMPLATE]", "Make a temporary file or directory", mktemp},
		{"chmod", "[OPTION]... MODE FILE...", "Change permissions", chmod},
		{"chown", "[OPTION]... OWNER FILE...", "Change owners, of which there is one", chown},
		{"chgrp", "[OPTION]... GROUP FILE...", "Change groups, of which there is one", chown},
		{"truncate", "OPTION... FILE...", "Cut or extend files", truncate},
		{"dd", "[OPERAND]...", "Copy and convert blocks of bytes", dd},
		{"tee", "[OPTION]... [FILE]...", "Copy input to files and to output", tee},
	}
}
