package permissions

import "strings"

func isTar(name string) bool { return name == "tar" || name == "bsdtar" || name == "gtar" }

// tarValues are the letters of tar's options that take a value.
const tarValues = "bCfFgHIKLNTVX"

// tarOptions are a tar command's words with the letters of its first word,
// whose values follow in order, made options of their own.
func tarOptions(args []field) []field {
	letters, ok := argText(args[1:])
	if !ok || letters == "" || letters[0] == '-' || len(letters) > 32 {
		return args
	}
	out, rest := args[:1:1], args[2:]
	for _, letter := range letters {
		out = append(out, field{value: text("-" + string(letter))})
		if strings.ContainsRune(tarValues, letter) && len(rest) > 0 {
			out, rest = append(out, rest[0]), rest[1:]
		}
	}
	return append(out, rest...)
}

// tarFiles checks the archive that tar makes, or the directory it unpacks to.
func (w *walker) tarFiles(args []field) {
	archive := optionNames{letters: "f", words: []string{"--file"}, stops: tarValues}
	directory := optionNames{letters: "C", words: []string{"--directory", "--one-top-level"}, stops: tarValues}
	if (optionNames{letters: "cruA", words: []string{"--create", "--append", "--update", "--catenate", "--concatenate", "--delete"}, stops: tarValues}).given(args) {
		archive.each(args, w.writeWord)
	}
	extracts := optionNames{letters: "x", words: []string{"--extract", "--get"}, stops: tarValues}.given(args)
	if !extracts || (optionNames{letters: "O", words: []string{"--to-stdout"}, stops: tarValues}).given(args) {
		return
	}
	if !directory.given(args) {
		w.writeWord(text("."))
	}
	directory.each(args, w.writeWord)
}

// unpacks checks the current directory where a program unpacks to it.
func (w *walker) unpacks(name string, args []field) {
	sub, _ := argText(args[1:])
	switch name {
	case "unzip":
		if (optionNames{letters: "lptvzZ", stops: "P"}).given(args) {
			return
		}
	case "cpio":
		if !(optionNames{letters: "i", words: []string{"--extract"}, stops: "CDEFHMOR"}).given(args) {
			return
		}
	case "7z", "7za", "7zr", "unrar":
		if sub != "x" && sub != "e" {
			return
		}
	default:
		return
	}
	if !writtenByOption[name].given(args) {
		w.writeWord(text("."))
	}
}

// downloads checks the files that curl -O and wget name after the address.
func (w *walker) downloads(name string, args, operands []field) {
	directory := optionNames{words: []string{"--output-dir"}}
	if name == "curl" {
		named := optionNames{letters: "O", words: []string{"--remote-name", "--remote-name-all"}, stops: writtenByOption["curl"].letters + writtenByOption["curl"].stops}
		if !named.given(args) {
			return
		}
	} else {
		directory = optionNames{letters: "P", words: []string{"--directory-prefix"}, stops: "aoO" + writtenByOption["wget"].stops}
		if (optionNames{letters: "O", words: []string{"--output-document", "--spider"}, stops: "aoP" + writtenByOption["wget"].stops}).given(args) {
			return
		}
	}
	dir := directory.last(args)
	if dir == nil {
		dir = text(".")
	}
	for _, a := range operands {
		w.denyPath(Write, join(dir, text("/"), remoteName(a.value)), false)
	}
}

// remoteName is the last component of an address.
func remoteName(address value) value {
	s, ok := address.literally().known()
	if !ok {
		return value{{kind: entry}}
	}
	if _, rest, found := strings.Cut(s, "://"); found {
		s = rest
	}
	s, _, _ = strings.Cut(s, "?")
	_, path, _ := strings.Cut(s, "/")
	if path = path[strings.LastIndexByte(path, '/')+1:]; path != "" {
		return text(path)
	}
	return text("index.html")
}
