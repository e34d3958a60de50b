package permissions

import "strings"

// fileProgram is how a well-known program uses the files it is given.
type fileProgram struct {
	writes writeMode
	only   optionNames // it writes only with one of these options, where there are any
	unless optionNames // … and not with one of these
	first  firstOperand
	names  bool   // it looks at names and attributes, not at content
	value  string // letters of options whose value is no file
}

// writeMode is which of its operands a program writes.
type writeMode uint8

const (
	writesNone writeMode = iota
	writesAll
	writesFirst
	writesSecond
	writesLast
)

// firstOperand is what the first operand of a program is.
type firstOperand uint8

const (
	firstFile    firstOperand = iota
	firstPattern              // no file unless it exists: of grep, sed, awk
	firstMode                 // never a file: of chmod
)

// filePrograms by their names.
var filePrograms = byName(map[string]fileProgram{
	// Those that read.
	"cat tac less more bat nl od hexdump diff cmp comm join md5sum sha1sum sha256sum sha512sum base32 zcat file view source . sftp wget openssl tar bsdtar gtar unzip dd": {},

	"head tail":        {value: "nc"},
	"strings":          {value: "n"},
	"sort":             {value: "kt"},
	"cut":              {value: "dfcb"},
	"paste":            {value: "d"},
	"fmt":              {value: "gpw"},
	"base64":           {value: "w"},
	"wc":               {},
	"curl":             {value: "HXAuewm"},
	"jq ack":           {first: firstPattern},
	"grep egrep fgrep": {first: firstPattern, value: "mABC"},
	"ag":               {first: firstPattern, value: "mABC"},
	"rg":               {first: firstPattern, value: "mABCtTgr"},

	"awk gawk mawk nawk": {first: firstPattern, value: "Fv"},

	// Those that look at names.
	"test [ [[ cd pushd basename dirname realpath readlink which type command find fd pwd df": {names: true},

	"ls":   {names: true, value: "I"},
	"stat": {names: true, value: "cf"},
	"du":   {names: true, value: "d"},
	"tree": {names: true, value: "IPL"},

	// Those that write.
	"cp ln link scp":         {writes: writesLast},
	"rsync":                  {writes: writesLast, value: "ef"},
	"install":                {writes: writesLast, value: "mog"},
	"objcopy ffmpeg convert": {writes: writesLast},
	"uniq":                   {writes: writesSecond, value: "fsw"},
	"xxd":                    {writes: writesSecond, value: "clgso"},
	"split":                  {writes: writesSecond, value: "abClnt"},
	"pdftotext ps2pdf":       {writes: writesSecond},
	"zip":                    {writes: writesFirst, value: "nPt"},
	"mknod":                  {writes: writesFirst, names: true},

	"mv rm unlink patch sponge sudoedit ed ex vi vim nvim nano emacs strip dos2unix unix2dos": {writes: writesAll},
	"wipefs blkdiscard fdisk sfdisk parted badblocks":                                         {writes: writesAll},

	"rmdir mkfifo":            {writes: writesAll, names: true},
	"tee":                     {writes: writesAll},
	"touch":                   {writes: writesAll, names: true, value: "dtr"},
	"mkdir":                   {writes: writesAll, names: true, value: "m"},
	"mktemp":                  {writes: writesAll, names: true},
	"truncate":                {writes: writesAll, value: "s"},
	"shred":                   {writes: writesAll, value: "ns"},
	"script":                  {writes: writesAll, value: "cEemo"},
	"chmod chown chgrp chcon": {writes: writesAll, first: firstMode, names: true},
	"chattr":                  {writes: writesAll, first: firstMode, names: true},
	"setfacl":                 {writes: writesAll, names: true, value: "mx"},
	"setfattr":                {writes: writesAll, names: true, value: "nvx"},

	// Those that write with some options, or without.
	"sed":             {writes: writesAll, first: firstPattern, only: optionNames{letters: "i", words: []string{"--in-place"}, stops: "efl"}},
	"perl":            {writes: writesAll, value: "eE", only: optionNames{letters: "i", stops: "eEIMmFx"}},
	"yq":              {writes: writesAll, first: firstPattern, only: optionNames{letters: "i", words: []string{"--inplace", "--in-place"}}},
	"clang-format":    {writes: writesAll, only: optionNames{words: []string{"-i"}}},
	"gofmt goimports": {writes: writesAll, only: optionNames{words: []string{"-w"}}},
	"prettier":        {writes: writesAll, only: optionNames{letters: "w", words: []string{"--write"}}},

	"gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress": {
		writes: writesAll, unless: optionNames{letters: "clt", words: []string{"--stdout", "--to-stdout", "--list", "--test"}},
	},
})

// toolPrograms are package managers and the like. Most of their words are
// names; only what starts as a path is taken for one.
var toolPrograms = byName(map[string]bool{
	"npm pnpm yarn pip pip3 uv cargo go gem docker podman kubectl helm gh conda poetry bundle composer": true,
})

// noFiles are programs whose words are text: they open none of them.
var noFiles = byName(map[string]bool{
	"true false : exit return kill sleep seq date alias unalias":                 true,
	"trap set unset export local declare readonly typeset read eval printf echo": true,
	"apt apt-get apk dnf yum brew pacman":                                        true,
	"envsubst getopt uuidgen":                                                    true,
	"nohup timeout time nice exec builtin env xargs sudo doas setsid stdbuf":     true,
	"busybox toybox ssh watch parallel su":                                       true,
})

// byName is a table in which a key may be several names.
func byName[T any](table map[string]T) map[string]T {
	out := make(map[string]T, 2*len(table))
	for names, entry := range table {
		for name := range strings.FieldsSeq(names) {
			if _, twice := out[name]; twice {
				panic("permissions: " + name + " is in a table twice")
			}
			out[name] = entry
		}
	}
	return out
}

// ignoring are options whose value names what to leave out, or is a text.
var ignoring = []string{"--exclude", "--exclude-dir", "--include", "--ignore", "--ignore-dir", "--glob", "--iglob", "--exclude-from", "--grep", "--author", "--format", "--pretty", "--message", "--regexp"}
