package tools

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Profile is how much guidance the descriptions of the tools carry.
type Profile string

// The profiles.
const (
	ProfileCoding Profile = "coding" // for an agent that works on a code base
	ProfileAgent  Profile = "agent"  // leaner, for an agent to which files are a means
)

// Text is what a model reads about a tool. An empty field, or an argument that
// is not named, keeps the text it has.
type Text struct {
	Description string            `yaml:"description"`
	Arguments   map[string]string `yaml:"arguments"`
}

// text is the tool's text in the profile of opts, with what opts replace.
func (d *definition) text(opts Options) (Text, error) {
	own := texts[d.name]
	out := Text{Description: own.lean, Arguments: maps.Clone(own.arguments)}
	if opts.Profile != ProfileAgent && own.guidance != "" {
		out.Description += "\n\n" + own.guidance
	}
	if d.name == readFile.name && opts.EditFormat == EditByLine {
		out.Description = strings.Replace(out.Description, lineFormat, hashlineFormat, 1)
	}
	if d.name == execute.name && opts.NoBackground {
		out.Description = strings.Replace(out.Description, background, noBackground, 1)
		out.Arguments["timeout"] = strings.Replace(out.Arguments["timeout"], detached, "", 1)
	}
	custom, ok := opts.Texts[d.name]
	if !ok {
		return out, nil
	}
	if custom.Description != "" {
		out.Description = custom.Description
	}
	for _, arg := range slices.Sorted(maps.Keys(custom.Arguments)) {
		if _, known := own.arguments[arg]; !known {
			return out, fmt.Errorf("descriptions: %s has no argument %q; it has %s", d.name, arg, strings.Join(slices.Sorted(maps.Keys(own.arguments)), ", "))
		}
		out.Arguments[arg] = custom.Arguments[arg]
	}
	return out, nil
}

// How read_file shows lines, in each edit format.
const (
	lineFormat     = "Each line comes after its number and a tab; neither is part of the file."
	hashlineFormat = "Each line comes as number:hash|text; number and hash are for hashline_edit and not part of the file."
)

// What becomes of background jobs, where they go on and where they do not.
const (
	background   = "what should go on running, a server for instance, is started with & and its output in a file."
	detached     = " that did not detach"
	noBackground = "what is started with & ends with the command, so wait for it."
)

// texts are the tools' own texts: the lean description, the guidance that the
// coding profile adds, and the arguments.
var texts = map[string]struct {
	lean, guidance string
	arguments      map[string]string
}{
	"ls": {
		lean: "List a directory of the workspace: directories first, their names ending in \"/\", then files with their size in bytes.",
		guidance: "Shows one level, hidden names included. To find files at any depth use glob; to find them by content use grep. " +
			"A directory that is empty and one that does not exist are told apart.",
		arguments: map[string]string{
			"path": "Directory, relative to the working directory or absolute.",
		},
	},
	"read_file": {
		lean: "Read a text file of the workspace, or look at an image (png, jpg, gif, webp). " + lineFormat,
		guidance: "Reads up to 2000 lines at a time and says how many are left; go on with offset. Read a file before you edit it, " +
			"and again when an edit is refused as stale. Very long lines are cut with a mark. Of a large file read the part you need: find it with grep first.",
		arguments: map[string]string{
			"path":   "File, relative to the working directory or absolute.",
			"offset": "Lines to skip: 0 starts at line 1, 100 at line 101.",
			"limit":  "Lines to read at most.",
		},
	},
	"write_file": {
		lean: "Write a file of the workspace, replacing it whole if it exists. Missing parent directories are made.",
		guidance: "For a change to an existing file edit_file is shorter and safer. The content is written exactly as given, " +
			"so end it with a newline if the file should end with one.",
		arguments: map[string]string{
			"path":    "File, relative to the working directory or absolute.",
			"content": "The whole content of the file.",
		},
	},
	"edit_file": {
		lean: "Replace text in a file of the workspace. old_string must occur exactly once, unless replace_all is set.",
		guidance: "Copy old_string from read_file without the line numbers, white space included, with just enough lines around the change to make it unique. " +
			"Line endings are matched and kept for you. An edit is refused when the file has changed since you read it; " +
			"when nothing matches, the answer shows the nearest place and what differs there.",
		arguments: map[string]string{
			"path":        "File, relative to the working directory or absolute.",
			"old_string":  "The text to replace, exactly as it is in the file.",
			"new_string":  "The text to put there; empty deletes.",
			"replace_all": "Replace every occurrence.",
		},
	},
	"hashline_edit": {
		lean: "Replace lines in a file of the workspace. Lines are named by their number and hash as read_file shows them.",
		guidance: "Gives lines start_line to end_line (start_line alone when end_line is left out) the new content; empty new_content deletes them. " +
			"With insert_after nothing is replaced and the new content goes after start_line; start_line 0 is the start of the file. " +
			"A hash that no longer fits means the line has changed: read the file again. Line numbers shift after an edit that adds or removes lines.",
		arguments: map[string]string{
			"path":         "File, relative to the working directory or absolute.",
			"start_line":   "Number of the first line.",
			"start_hash":   "Its hash. Required unless start_line is 0.",
			"new_content":  "The lines to put there.",
			"end_line":     "Number of the last line to replace; 0 or left out: start_line.",
			"end_hash":     "Its hash.",
			"insert_after": "Insert after start_line and replace nothing.",
		},
	},
	"glob": {
		lean: "Find files of the workspace by name pattern, such as **/*.go, src/**/*.{ts,tsx} or docs/*.md. Paths come sorted.",
		guidance: "* and ? stay within one directory, ** goes through any number of them, {a,b} and [abc] choose. " +
			"A pattern that ends in \"/\" finds directories. Files that git ignores are left out unless include_ignored is set; .git always is. Shows the first 100 and says how many more there are.",
		arguments: map[string]string{
			"pattern":         "Pattern, relative to path.",
			"path":            "Directory to search.",
			"include_ignored": "Also find what .gitignore files leave out.",
		},
	},
	"grep": {
		lean: "Search the content of files in the workspace for a regular expression (RE2 syntax).",
		guidance: "Answers with the files that match; output_mode \"content\" shows the lines as path:line: text, \"count\" how many lines match in each file. " +
			"Binary files, hidden files and files that git ignores are left out unless asked for; .git always is. Shows the first 50 hits and says how many more there are. " +
			"RE2 has no lookaround and no backreferences; escape ( ) [ ] { } . * + ? | ^ $ \\ to take them literally.",
		arguments: map[string]string{
			"pattern":          "Regular expression.",
			"path":             "File or directory to search.",
			"glob_pattern":     "Search only files that match, such as *.py (by name) or src/**/*.ts (by path).",
			"output_mode":      "files_with_matches, content, or count.",
			"ignore_hidden":    "Leave out names that start with a dot.",
			"include_ignored":  "Also search what .gitignore files leave out.",
			"case_insensitive": "Take upper and lower case as the same.",
			"context":          "Lines to show before and after each match, in content mode.",
			"multiline":        "Let the pattern span lines. A dot still stops at a line's end unless the pattern begins with (?s).",
		},
	},
	"execute": {
		lean: "Run a shell command in the workspace and wait for it to end. Shows its output, and its exit code when that is not 0.",
		guidance: "Starts in the working directory; nothing but files is kept from one command to the next, so chain with && what belongs together. " +
			"There is nobody to answer a prompt: use options such as --yes. What takes long needs a longer timeout; " +
			background + " " +
			"Use read_file, grep and glob rather than cat, grep and find. Of a long output the start and the end are shown, with the path of a file that has all of it.",
		arguments: map[string]string{
			"command": "The command, as a shell reads it.",
			"timeout": "Seconds after which the command is stopped, with everything it started" + detached + ".",
		},
	},
}

// Instructions tell a client what the server is for.
const Instructions = "A workspace to work in: files to list, read, write, edit and search, and commands to run where the workspace can. " +
	"Relative paths start at its working directory. What a ruleset denies is refused with the rule that says so."
