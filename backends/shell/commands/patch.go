package commands

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

var patchFlags = NewOptions(2, "p strip=", "i input=", "R reverse", "dry-run", "s quiet silent", "d directory=", "o output=", "f force", "t batch", "N forward",
	"b backup", "B prefix=", "z suffix=", "V version-control=", "r reject-file=", "E remove-empty-files", "F fuzz=", "u unified", "c context", "n normal", "e ed",
	"l ignore-whitespace", "verbose", "binary", "T set-time", "Z set-utc", "backup-if-mismatch", "no-backup-if-mismatch", "posix", "g get=", "merge=?", "Y basename-prefix=",
	"D ifdef=", "reject-format=", "read-only=", "follow-symlinks", "quoting-style=", "x debug=")

type patcher struct {
	p                                                *Proc
	o                                                *Parsed
	strip, fuzz                                      int
	reverse, dry, silent, verbose, force, batch, fwd bool
	backup, backupMismatch, removeEmpty, blanks      bool
	target, output, rejects, suffix, prefix          string
	outputs                                          []byte // for -o
	hasOutput                                        bool
	failed                                           bool
}

// patchError is what ends patch at once, with code 2.
type patchError struct{ text string }

func (e *patchError) Error() string { return e.text }

// patch applies what diff has made.
func patch(p *Proc) int {
	parsed, code := p.Parse(patchFlags)
	if parsed == nil {
		return code
	}
	a := &patcher{p: p, o: parsed, strip: -1, fuzz: 2, reverse: parsed.Has("R"), dry: parsed.Has("dry-run"), silent: parsed.Has("s"), verbose: parsed.Has("verbose"),
		force: parsed.Has("f"), batch: parsed.Has("t"), fwd: parsed.Has("N"), backup: parsed.Has("b"), backupMismatch: !parsed.Has("no-backup-if-mismatch", "posix"),
		removeEmpty: parsed.Has("E"), blanks: parsed.Has("l"), suffix: ".orig"}
	if parsed.Has("e", "merge", "D") {
		return p.Errorf(2, "**** options -e, -D and --merge are not supported here")
	}
	for _, o := range parsed.Options {
		switch o.Key {
		case "p", "F":
			n, err := strconv.ParseUint(o.Value, 10, 16)
			if err != nil {
				return p.Errorf(2, "**** %s count %s is not a number", map[string]string{"p": "strip", "F": "fuzz"}[o.Key], o.Value)
			}
			if o.Key == "p" {
				a.strip = int(n)
			} else {
				a.fuzz = int(n)
			}
		case "d":
			info, err := p.Stat(o.Value)
			if err == nil && !info.IsDir() {
				err = &fs.PathError{Err: errNotDir}
			}
			if err != nil {
				return p.Errorf(2, "**** Can't change to directory %s : %s", o.Value, Reason(err))
			}
			p.Dir = p.Path(o.Value)
		case "o":
			a.output = o.Value
		case "r":
			a.rejects = o.Value
		case "z":
			a.suffix, a.backup = o.Value, true
		case "B":
			a.prefix, a.suffix, a.backup = o.Value, "", true
		}
	}
	input := "-"
	if v, ok := parsed.Value("i"); ok {
		input = v
	}
	switch len(parsed.Args) {
	case 0:
	case 2:
		input = parsed.Args[1]
		fallthrough
	case 1:
		a.target = parsed.Args[0]
	default:
		return p.Usage(2, "%s: extra operand", parsed.Args[2])
	}
	content, err := p.ReadFile(input)
	if err != nil {
		if !p.Stopped() {
			p.Errorf(2, "**** Can't open patch file %s : %s", input, Reason(err))
		}
		return 2
	}
	err = a.run(content)
	var bad *patchError
	switch {
	case p.Stopped():
		return 2
	case errors.As(err, &bad):
		return p.Errorf(2, "**** %s", bad.text)
	case err != nil:
		return p.Errorf(2, "**** %s", Reason(err))
	case a.failed:
		return 1
	}
	return 0
}

func (a *patcher) say(format string, args ...any) { fmt.Fprintf(a.p.Out, format, args...) }

func (a *patcher) run(content []byte) error {
	r := &patchReader{p: a.p, content: content}
	some := false
	for !a.p.Stopped() {
		f, err := r.next()
		if err != nil {
			if f != nil && !a.silent {
				if name, _ := a.choose(f); name != "" {
					a.say("patching file %s\n", name)
				}
			}
			return err
		}
		if f == nil {
			break
		}
		some = true
		if err := a.file(f); err != nil {
			return err
		}
	}
	if !some && len(content) > 0 {
		return &patchError{"Only garbage was found in the patch input."}
	}
	if a.hasOutput && !a.dry {
		return a.write(a.output, a.outputs, 0o600)
	}
	return nil
}

// stripped takes leading directories off a name. It returns "" for what cannot
// be a file to patch.
func (a *patcher) stripped(name string) string {
	if name == "" || name == "/dev/null" {
		return ""
	}
	if a.strip < 0 {
		return path.Base(name)
	}
	for range a.strip {
		at := strings.IndexByte(name, '/')
		if at < 0 {
			return ""
		}
		name = strings.TrimLeft(name[at:], "/")
	}
	return name
}

func (a *patcher) dangerous(name string) bool {
	if strings.HasPrefix(name, "/") || name == ".." || strings.HasPrefix(name, "../") || strings.Contains(name, "/../") || strings.HasSuffix(name, "/..") {
		a.say("Ignoring potentially dangerous file name %s\n", name)
		return true
	}
	return false
}

// choose finds the file that a patch is for, "" where there is none.
func (a *patcher) choose(f *filePatch) (name string, info fs.FileInfo) {
	if a.target != "" {
		info, _ = a.p.Stat(a.target) // what is not there is made
		return a.target, info
	}
	var names []string
	refused := map[string]bool{"": true}
	for _, n := range []string{f.old, f.new, f.index} {
		s := a.stripped(n)
		if !refused[s] && a.dangerous(s) {
			refused[s] = true
		}
		if !refused[s] {
			names = append(names, s)
		}
	}
	if from := a.stripped(f.renameFrom); from != "" && len(names) > 0 && !a.dangerous(from) && !a.dangerous(a.stripped(f.renameTo)) {
		if a.reverse {
			from = a.stripped(f.renameTo)
		}
		info, err := a.p.Stat(from)
		if err == nil {
			return from, info
		}
	}
	for _, n := range names {
		i, err := a.p.Stat(n)
		if err != nil || i.IsDir() {
			continue
		}
		if info == nil || betterName(n, name) {
			name, info = n, i
		}
	}
	if info != nil {
		return name, info
	}
	for i, n := range []string{f.old, f.new, f.index} {
		s := a.stripped(n)
		makes := f.creates && !a.reverse || f.removes && a.reverse
		if !refused[s] && makes && (i != 0 || !f.creates || f.new == "" || f.new == "/dev/null") && (name == "" || betterName(s, name)) {
			name = s
		}
	}
	return name, nil
}

// betterName tells whether a file that exists is to be preferred: it has fewer
// directories, a shorter last part, or is shorter.
func betterName(a, b string) bool {
	if x, y := strings.Count(a, "/"), strings.Count(b, "/"); x != y {
		return x < y
	}
	if x, y := len(path.Base(a)), len(path.Base(b)); x != y {
		return x < y
	}
	return len(a) < len(b)
}

// lost is said where there is no file for a patch.
func (a *patcher) lost(f *filePatch) {
	a.failed = true
	where := "can't find file to patch at input line"
	a.say("%s %d\n", where, f.line)
	if a.strip < 0 {
		a.say("Perhaps you should have used the -p or --strip option?\n")
	} else {
		a.say("Perhaps you used the wrong -p or --strip option?\n")
	}
	if len(f.header) > 0 {
		a.say("The text leading up to this was:\n--------------------------\n")
		for _, line := range f.header {
			a.say("|%s\n", strings.TrimSuffix(line, "\n"))
		}
		a.say("--------------------------\n")
	}
	if a.force || a.batch {
		a.say("No file to patch.  Skipping patch.\n")
	} else {
		a.say("File to patch: \nSkip this patch? [y] \nSkipping patch.\n")
	}
	plural := "s"
	if len(f.hunks) == 1 {
		plural = ""
	}
	a.say("%d out of %d hunk%s ignored\n", len(f.hunks), len(f.hunks), plural)
}

// write makes a file, with the directories above it.
func (a *patcher) write(name string, content []byte, mode fs.FileMode) error {
	if err := a.mkdirs(path.Dir(name)); err != nil {
		return err
	}
	if name == "-" {
		_, err := a.p.Out.Write(content)
		return err
	}
	err := a.p.ReplaceFile(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err == nil {
		err = a.p.Files.Chmod(a.p.Path(name), mode&^0o022|mode&0o022)
	}
	return err
}

func (a *patcher) mkdirs(dir string) error {
	if dir == "." || dir == "/" || dir == "" {
		return nil
	}
	if _, err := a.p.Stat(dir); err == nil || !notExist(err) {
		return err
	}
	if err := a.mkdirs(path.Dir(dir)); err != nil {
		return err
	}
	return a.p.Files.Mkdir(a.p.Path(dir), fs.ModePerm)
}

// backUp keeps the file as it was; where it was not there, an empty one tells.
func (a *patcher) backUp(name string, content []byte, info fs.FileInfo) error {
	mode := fs.FileMode(0o644)
	if info != nil {
		mode = info.Mode().Perm()
	}
	backup := name + a.suffix
	if a.prefix != "" {
		backup = a.prefix + name + a.suffix
	}
	if err := a.write(backup, content, mode); err != nil {
		return err
	}
	if info == nil {
		return nil
	}
	return a.p.Files.Chtimes(a.p.Path(backup), info.ModTime())
}

// remove removes a file and the directories above it that are empty then.
func (a *patcher) remove(name string) error {
	if err := a.p.Files.Remove(a.p.Path(name)); err != nil {
		return err
	}
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		entries, err := a.p.ReadDir(dir)
		if err != nil || len(entries) > 0 {
			return err
		}
		if err := a.p.Files.Remove(a.p.Path(dir)); err != nil {
			return err
		}
	}
	return nil
}

// epoch is the time that diff gives to files that do not exist.
func epoch(stamp string) bool {
	for _, layout := range []string{"2006-01-02 15:04:05.999999999 -0700", "Mon Jan 2 15:04:05 2006"} {
		if t, err := time.Parse(layout, strings.TrimSpace(stamp)); err == nil {
			return t.Unix() == 0
		}
	}
	return false
}
