package commands

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var tarFlags = NewOptions(64, "+", "c create", "x extract get", "t list", "r append", "u update", "A catenate concatenate", "d diff compare", "delete",
	"f file=", "z gzip gunzip ungzip", "j bzip2", "J xz", "Z compress", "zstd", "a auto-compress", "no-auto-compress", "C directory=", "v verbose",
	"strip-components=", "exclude=", "X exclude-from=", "exclude-vcs", "O to-stdout", "k keep-old-files", "skip-old-files", "keep-newer-files", "overwrite", "p preserve-permissions same-permissions",
	"no-same-permissions", "no-same-owner", "o", "same-owner", "m touch", "T files-from=", "h dereference", "P absolute-names", "wildcards", "no-wildcards", "no-recursion", "recursion",
	"owner=", "group=", "mtime=", "numeric-owner", "sort=", "format=", "H", "b blocking-factor=", "null", "no-null", "n seek", "w interactive confirmation", "S sparse", "l check-links", "W verify",
	"U unlink-first", "remove-files", "full-time", "utc", "anchored", "no-anchored", "ignore-case", "posix", "one-top-level=?", "warning=", "ignore-failed-read", "i ignore-zeros", "totals=?", "R block-number", "hard-dereference", "mode=", "acls", "no-acls", "xattrs", "no-xattrs", "selinux", "no-selinux", "owner-map=", "checkpoint=?", "quoting-style=", "I use-compress-program=")

// tarName is an operand, and the directory that it is in.
type tarName struct {
	name, dir string
	found     bool
}

type tarRun struct {
	p       *Proc
	mode    string
	file    string
	dir     string // where -C has gone
	names   []*tarName
	given   map[string]bool // options without a value
	verbose int
	strip   int
	exclude []*regexp.Regexp
	mtime   time.Time
	owner   [2]string // user, group
	gzip    bool
	failed  bool
	width   int
	removed map[string]bool // prefixes that were said to be taken off names
	listing io.Writer
}

// tarCommand makes, lists and unpacks archives.
func tarCommand(p *Proc) int {
	t := &tarRun{p: p, dir: "", given: map[string]bool{}, width: 19, removed: map[string]bool{}, file: "-"}
	if code, ok := t.arguments(); !ok {
		return code
	}
	if t.mode == "" {
		return p.Usage(2, "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options")
	}
	var err error
	switch t.mode {
	case "c":
		err = t.create()
	case "r", "u":
		err = t.append()
	case "t", "x":
		err = t.read()
	default:
		return p.Errorf(2, "this operation is not supported here; use -c, -x, -t, -r or -u")
	}
	switch {
	case p.Stopped():
		return 2
	case err != nil:
		p.Errorf(2, "%s", err)
		return p.Errorf(2, "Error is not recoverable: exiting now")
	case t.failed:
		return p.Errorf(2, "Exiting with failure status due to previous errors")
	}
	return 0
}

// fail says what went wrong with a name; the command goes on.
func (t *tarRun) fail(name, what string, err error) {
	t.failed = true
	if !t.p.Stopped() {
		t.p.Errorf(2, "%s: %s: %s", name, what, Reason(err))
	}
}

// oldStyle turns "xzf FILE" into "-x -z -f FILE".
func oldStyle(args []string) []string {
	if len(args) == 0 || args[0] == "" || args[0][0] == '-' {
		return args
	}
	letters, rest := args[0], args[1:]
	var out []string
	for i := range len(letters) {
		out = append(out, "-"+letters[i:i+1])
		if strings.IndexByte("fCTXbI", letters[i]) >= 0 && len(rest) > 0 {
			out[len(out)-1] += rest[0]
			if rest[0] == "" {
				out = append(out, "")
			}
			rest = rest[1:]
		}
	}
	return append(out, rest...)
}

// arguments reads the command line, on which -C and -T count where they stand.
func (t *tarRun) arguments() (code int, ok bool) {
	p := t.p
	p.Args = oldStyle(p.Args)
	operandsOnly := false
	for len(p.Args) > 0 {
		if operandsOnly {
			t.names = append(t.names, &tarName{name: p.Args[0], dir: t.dir})
			p.Args = p.Args[1:]
			continue
		}
		if p.Args[0] == "--" {
			operandsOnly, p.Args = true, p.Args[1:]
			continue
		}
		parsed, code := p.Parse(tarFlags)
		if parsed == nil {
			return code, false
		}
		for _, o := range parsed.Options {
			if code := t.option(o); code != 0 {
				return code, false
			}
		}
		p.Args = parsed.Args
		if len(p.Args) > 0 {
			t.names = append(t.names, &tarName{name: p.Args[0], dir: t.dir})
			p.Args = p.Args[1:]
		}
	}
	return 0, true
}

func (t *tarRun) option(o Option) int {
	p := t.p
	switch o.Key {
	case "c", "x", "t", "r", "u", "A", "d", "delete":
		if t.mode != "" && t.mode != o.Key {
			return p.Usage(2, "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option")
		}
		t.mode = o.Key
	case "f":
		t.file = o.Value
	case "v":
		t.verbose++
	case "C":
		t.dir = tarJoin(t.dir, o.Value)
	case "z":
		t.gzip = true
	case "J", "Z", "zstd", "I":
		return p.Errorf(2, "this compression is not supported here; use -z (gzip)")
	case "w", "W", "mode", "owner-map":
		return p.Errorf(2, "option '%s' is not supported here", o.Key)
	case "strip-components":
		n, err := strconv.ParseUint(o.Value, 10, 31)
		if err != nil {
			return p.Errorf(2, "%s: Invalid number of elements", o.Value)
		}
		t.strip = int(n)
	case "exclude":
		return t.addExclude(o.Value)
	case "exclude-vcs":
		for _, name := range []string{".git", ".gitignore", ".gitattributes", ".gitmodules", ".svn", "CVS", ".cvsignore", ".bzr", ".bzrignore", ".hg", ".hgignore", ".hgtags", "_darcs", "RCS", "SCCS"} {
			t.addExclude(name)
		}
	case "X", "T":
		content, err := p.ReadFile(o.Value)
		if err != nil {
			p.Errorf(2, "%s: Cannot open: %s", o.Value, Reason(err))
			return p.Errorf(2, "Error is not recoverable: exiting now")
		}
		sep := "\n"
		if t.given["null"] {
			sep = "\x00"
		}
		for _, line := range strings.Split(string(content), sep) {
			switch {
			case line == "":
			case o.Key == "X":
				t.addExclude(line)
			case strings.HasPrefix(line, "-C") && sep == "\n":
				t.dir = tarJoin(t.dir, strings.TrimSpace(line[2:]))
			default:
				t.names = append(t.names, &tarName{name: line, dir: t.dir})
			}
		}
		t.given["T"] = t.given["T"] || o.Key == "T"
	case "mtime":
		at, err := ReadDate(o.Value, time.Now().In(p.location()))
		if err != nil {
			if info, serr := p.Stat(o.Value); serr == nil {
				at, err = info.ModTime(), nil
			}
		}
		if err != nil {
			return p.Errorf(2, "Invalid time stamp %s", Quote(o.Value))
		}
		t.mtime = at
	case "owner":
		t.owner[0] = o.Value
	case "group":
		t.owner[1] = o.Value
	case "format":
		if o.Value != "gnu" && o.Value != "posix" && o.Value != "pax" && o.Value != "ustar" && o.Value != "oldgnu" {
			return p.Errorf(2, "Invalid archive format")
		}
		t.given["posix"] = o.Value == "posix" || o.Value == "pax"
	case "one-top-level":
		return p.Errorf(2, "option '--one-top-level' is not supported here; use -C")
	default:
		t.given[o.Key] = true
	}
	return 0
}

func tarJoin(dir, name string) string {
	if dir == "" || path.IsAbs(name) {
		return name
	}
	return Join(dir, name)
}

// open opens the archive to read, expanded where it is compressed.
func (t *tarRun) open() (io.Reader, io.Closer, error) {
	p := t.p
	raw := io.NopCloser(p.Stdin)
	if t.file != "-" {
		f, err := p.Open(t.file)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: Cannot open: %s", t.file, Reason(err))
		}
		raw = f
	}
	in := bufio.NewReaderSize(raw, 32<<10)
	head, err := in.Peek(3)
	if err != nil && len(head) == 0 && !errors.Is(err, io.EOF) {
		raw.Close()
		return nil, nil, fmt.Errorf("%s: Cannot read: %s", t.file, Reason(err))
	}
	switch {
	case len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b:
		z, err := gzip.NewReader(in)
		if err != nil {
			raw.Close()
			return nil, nil, errors.New("the compressed archive is damaged: " + err.Error())
		}
		return z, raw, nil
	case string(head) == "BZh":
		return bzip2.NewReader(in), raw, nil
	case t.gzip:
		p.Errorf(2, "the archive is not in gzip format")
		raw.Close()
		return nil, nil, errors.New("Child returned status 1") //nolint:staticcheck // in the words of tar
	}
	return in, raw, nil
}

// clean takes off a name what would lead out of the directory: "/" at its
// start, and all up to "..".
func (t *tarRun) clean(name, kind string) string {
	if t.given["P"] {
		return name
	}
	rest := name
	cut := 0
	for at := 0; at <= len(rest); {
		end := strings.IndexByte(rest[at:], '/')
		part := rest[at:]
		if end >= 0 {
			part = rest[at : at+end]
		}
		if part == ".." {
			cut = at + 2
		}
		if end < 0 {
			break
		}
		at += end + 1
	}
	rest = strings.TrimLeft(rest[cut:], "/")
	if prefix := name[:len(name)-len(rest)]; prefix != "" && !t.removed[kind+prefix] {
		t.removed[kind+prefix] = true
		t.p.Errorf(0, "Removing leading `%s' from %s", prefix, kind)
	}
	if rest == "" {
		rest = "."
	}
	return rest
}
