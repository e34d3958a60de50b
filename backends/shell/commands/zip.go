package commands

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

var zipOptions = NewOptions(16, "r recurse-paths", "j junk-paths", "q quiet", "v verbose", "y symlinks", "d delete", "m move", "u update", "f freshen", "@ names-stdin", "D no-dir-entries",
	"X no-extra", "o latest-time", "T test", "g grow", "e encrypt", "P password=", "l", "k", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9")

// zipper is one run of zip.
type zipper struct {
	p                                           *Proc
	recursive, junk, quiet, links, move, noDirs bool
	update, freshen                             bool
	exclude, include                            []*regexp.Regexp
	level                                       int
	archive                                     string // as it was written
	self                                        fs.FileInfo
	names                                       []string // in the order of the command line
	found                                       map[string]zipInput
	say                                         io.Writer
	code                                        int
}

// zipInput is what becomes an entry.
type zipInput struct {
	name, where string
	info        fs.FileInfo
}

// The exit codes of zip that have a meaning.
const (
	zipBadArchive  = 3
	zipNothingToDo = 12
	zipNotWritten  = 15
	zipBadUse      = 16
	zipNotRead     = 18
)

// zipLists takes the lists after -x and -i off the arguments: each goes on to
// the next option, or to "@".
func zipLists(args []string) (rest, exclude, include []string) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		list := &exclude
		switch arg {
		case "-x", "--exclude":
		case "-i", "--include":
			list = &include
		default:
			rest = append(rest, arg)
			continue
		}
		for len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			if args[0] == "@" {
				args = args[1:]
				break
			}
			*list = append(*list, args[0])
			args = args[1:]
		}
	}
	return rest, exclude, include
}

// zipPatterns compiles patterns of names, in which * matches slashes, too.
func zipPatterns(texts []string) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, text := range texts {
		re, err := regexp.Compile(`(?s)^` + wildcardRegexp(text) + `$`)
		if err != nil {
			return nil, fmt.Errorf("%s: invalid pattern", Quote(text))
		}
		out = append(out, re)
	}
	return out, nil
}

func zipCommand(p *Proc) int {
	var exclude, include []string
	p.Args, exclude, include = zipLists(p.Args)
	o, code := p.Parse(zipOptions)
	if o == nil {
		return code
	}
	if o.Has("e", "P") {
		return p.Errorf(zipBadUse, "encryption is not supported here")
	}
	z := &zipper{p: p, recursive: o.Has("r"), junk: o.Has("j"), quiet: o.Has("q"), links: o.Has("y"), move: o.Has("m"), noDirs: o.Has("D"),
		update: o.Has("u", "f"), freshen: o.Has("f"), level: 6, found: map[string]zipInput{}, say: p.Out}
	if l := o.Last("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"); l != "" {
		z.level = int(l[0] - '0')
	}
	var err error
	if z.exclude, err = zipPatterns(exclude); err == nil {
		z.include, err = zipPatterns(include)
	}
	if err != nil {
		return p.Errorf(zipBadUse, "%s", err)
	}
	if len(o.Args) == 0 {
		return p.Usage(zipBadUse, "missing name of the archive")
	}
	z.archive = o.Args[0]
	if z.archive == "-" {
		z.say = p.Stderr
	} else if !strings.Contains(path.Base(z.archive), ".") {
		z.archive += ".zip"
	}
	held := p.held
	defer func() { p.Release(int(p.held - held)) }()
	if o.Has("d") {
		return z.remove(o.Args[1:])
	}
	operands := o.Args[1:]
	if o.Has("@") {
		lines := p.Lines(p.Stdin, '\n')
		for lines.Next() {
			operands = append(operands, lines.Text())
		}
		lines.Close()
		if err := lines.Err(); err != nil {
			return p.Errorf(zipNotRead, "%s", Reason(err))
		}
	}
	if z.self, err = p.Stat(z.archive); err != nil {
		z.self = nil
	}
	if o.Has("T") && len(operands) == 0 {
		return z.test()
	}
	for _, name := range operands {
		z.add(name)
	}
	if z.code != 0 && z.code != zipNotRead || p.Stopped() {
		return max(z.code, 1)
	}
	if code := z.write(nil); code != 0 {
		return code
	}
	if z.move {
		z.removeInputs()
	}
	if o.Has("T") {
		return z.test()
	}
	return z.code
}

// problem says what is wrong, as zip does.
func (z *zipper) problem(code int, format string, args ...any) int {
	if !z.p.Stopped() {
		fmt.Fprintf(z.p.Stderr, "\nzip error: %s\n", fmt.Sprintf(format, args...))
	}
	z.code = code
	return code
}

func (z *zipper) nothing() int { return z.problem(zipNothingToDo, "Nothing to do! (%s)", z.archive) }

// add adds an operand to what goes into the archive.
func (z *zipper) add(name string) {
	if name == "-" {
		z.take(zipInput{name: "-", where: "-"})
		return
	}
	stat := z.p.Stat
	if z.links {
		stat = z.p.Lstat
	}
	info, err := stat(name)
	if err != nil {
		fmt.Fprintf(z.p.Stderr, "\tzip warning: name not matched: %s\n", name)
		return
	}
	z.tree(name, info, nil)
}

// tree adds a file or a directory, with what is in it. seen are the directories
// on the way.
func (z *zipper) tree(name string, info fs.FileInfo, seen []fs.FileInfo) {
	p := z.p
	if p.Stopped() || z.code == zipNothingToDo {
		return
	}
	inside := strings.TrimLeft(path.Clean(name), "/")
	switch {
	case !info.IsDir() && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0, z.self != nil && SameFile(info, z.self):
		return // one that has no end, or the archive
	case !info.IsDir():
		if z.junk {
			inside = path.Base(inside)
		}
		z.take(zipInput{inside, name, info})
		return
	case !z.noDirs && !z.junk && inside != "." && inside != "":
		z.take(zipInput{inside + "/", name, info})
	}
	if !z.recursive || len(seen) > maxDirectories || slices.ContainsFunc(seen, func(s fs.FileInfo) bool { return SameFile(s, info) }) {
		return
	}
	entries, err := p.ReadDir(name)
	if err != nil {
		z.code = p.Errorf(zipNotRead, "%s: %s", name, Reason(err))
		return
	}
	stat := p.Stat
	if z.links {
		stat = p.Lstat
	}
	for _, e := range entries {
		at := Join(name, e.Name())
		below, err := stat(at)
		if err != nil {
			fmt.Fprintf(p.Stderr, "\tzip warning: could not open for reading: %s\n", at)
			z.code = zipNotRead
			continue
		}
		z.tree(at, below, append(seen, info))
	}
}

// take notes an entry, unless it is left out.
func (z *zipper) take(in zipInput) {
	if matchesAny(z.exclude, in.name) || z.include != nil && !matchesAny(z.include, in.name) {
		return
	}
	if _, twice := z.found[in.name]; twice {
		return
	}
	if err := z.p.Hold(2*len(in.name) + len(in.where) + 128); err != nil {
		z.problem(zipNothingToDo, "%s", err)
		return
	}
	z.names = append(z.names, in.name)
	z.found[in.name] = in
}

// write writes the archive anew: what is in it and not in gone, with what was
// found in place of what has its name, and after it.
func (z *zipper) write(gone map[string]bool) int {
	p := z.p
	var old []*zip.File
	if z.self != nil {
		a, err := p.openZip(z.archive)
		if err != nil {
			return z.problem(zipBadArchive, "%s: %s", z.archive, err)
		}
		defer a.Close()
		old = a.File
	}
	names := z.names
	if z.update {
		names = z.newer(old)
	}
	if len(names) == 0 && len(gone) == 0 {
		if z.update && len(z.names) > 0 {
			return zipNothingToDo
		}
		return z.nothing()
	}
	content := func(w io.Writer) error {
		out := zip.NewWriter(w)
		out.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, z.level) })
		replaced := map[string]bool{}
		for _, f := range old {
			var err error
			switch in, ok := z.found[f.Name]; {
			case gone[f.Name]:
			case ok && slices.Contains(names, f.Name):
				replaced[f.Name] = true
				err = z.entry(out, in, "updating")
			default:
				err = out.Copy(f)
			}
			if err != nil {
				return err
			}
		}
		for _, name := range names {
			if !replaced[name] {
				if err := z.entry(out, z.found[name], "  adding"); err != nil {
					return err
				}
			}
		}
		return out.Close()
	}
	var err error
	if z.archive == "-" {
		err = content(p.Out)
	} else {
		err = p.ReplaceFile(z.archive, content)
	}
	if err != nil {
		return z.problem(zipNotWritten, "Could not create output file (%s): %s", z.archive, Reason(err))
	}
	return 0
}

// newer are the names of files that are newer than what the archive has, and of
// those that it does not have.
func (z *zipper) newer(old []*zip.File) []string {
	have := map[string]*zip.File{}
	for _, f := range old {
		have[f.Name] = f
	}
	return slices.DeleteFunc(slices.Clone(z.names), func(name string) bool {
		f, in := have[name], z.found[name]
		if f == nil {
			return z.freshen
		}
		return in.info == nil || !in.info.ModTime().Truncate(1e9).After(f.Modified)
	})
}

// entry writes one entry. A file is read twice: its size when compressed decides
// how it is kept, and is told before it.
func (z *zipper) entry(out *zip.Writer, in zipInput, verb string) error {
	p := z.p
	h := &zip.FileHeader{Name: in.name}
	if in.info != nil {
		h.Modified = in.info.ModTime()
		h.SetMode(in.info.Mode())
	}
	open := func() (io.ReadCloser, error) { return p.Open(in.where) }
	switch {
	case in.info == nil: // standard input, which is read once
		text, err := p.ReadAll(p.Stdin)
		if err != nil {
			return err
		}
		open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	case in.info.IsDir():
		open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(nil)), nil }
	case in.info.Mode()&fs.ModeSymlink != 0:
		target, err := p.Files.Readlink(p.Path(in.where))
		if err != nil {
			return err
		}
		open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(target)), nil }
	}
	// The compressor's tables take about this much.
	if err := p.Hold(2 << 20); err != nil {
		return err
	}
	defer p.Release(2 << 20)
	saved := 0
	if z.level > 0 {
		r, err := open()
		if err != nil {
			return fmt.Errorf("%s: %w", in.where, err)
		}
		size, compressed := &countReader{r: r}, &countWriter{w: io.Discard}
		c, err := flate.NewWriter(compressed, z.level)
		if err == nil {
			_, err = p.Copy(c, size)
		}
		err = errors.Join(err, c.Close(), r.Close())
		if err != nil {
			return err
		}
		if compressed.n < size.n {
			h.Method = zip.Deflate
			saved = int((200*(size.n-compressed.n)/size.n + 1) / 2)
		}
	}
	w, err := out.CreateHeader(h)
	if err != nil {
		return err
	}
	r, err := open()
	if err != nil {
		return fmt.Errorf("%s: %w", in.where, err)
	}
	_, err = p.Copy(w, r)
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	if !z.quiet {
		method := "stored"
		if h.Method == zip.Deflate {
			method = "deflated"
		}
		fmt.Fprintf(z.say, "%s: %s (%s %d%%)\n", verb, in.name, method, saved)
	}
	return nil
}

// remove takes entries out of the archive.
func (z *zipper) remove(patterns []string) int {
	p := z.p
	var err error
	if z.self, err = p.Stat(z.archive); err != nil {
		return z.nothing()
	}
	match, err := zipPatterns(patterns)
	if err != nil {
		return p.Errorf(zipBadUse, "%s", err)
	}
	a, err := p.openZip(z.archive)
	if err != nil {
		return z.problem(zipBadArchive, "%s: %s", z.archive, err)
	}
	gone := map[string]bool{}
	for _, f := range a.File {
		if matchesAny(match, f.Name) && !matchesAny(z.exclude, f.Name) {
			gone[f.Name] = true
			if !z.quiet {
				fmt.Fprintf(z.say, "deleting: %s\n", f.Name)
			}
		}
	}
	entries := len(a.File)
	if err := a.Close(); err != nil {
		return z.problem(zipBadArchive, "%s: %s", z.archive, Reason(err))
	}
	if len(gone) == 0 {
		return z.nothing()
	}
	if len(gone) == entries {
		fmt.Fprintf(p.Stderr, "\tzip warning: zip file empty\n")
		if err := p.Files.Remove(p.Path(z.archive)); err != nil {
			return z.problem(zipNotWritten, "%s: %s", z.archive, Reason(err))
		}
		return 0
	}
	return z.write(gone)
}

// removeInputs removes what is in the archive now.
func (z *zipper) removeInputs() {
	for _, name := range slices.Backward(z.names) {
		in := z.found[name]
		if in.info == nil {
			continue
		}
		err := z.p.Files.Remove(z.p.Path(in.where))
		switch {
		case err == nil, in.info.IsDir() && errors.Is(err, syscall.ENOTEMPTY): // not all of it was taken
		default:
			z.code = z.p.Errorf(zipNotWritten, "%s: %s", in.where, Reason(err))
		}
	}
}

// test reads the archive that is there.
func (z *zipper) test() int {
	a, err := z.p.openZip(z.archive)
	if err != nil {
		return z.problem(zipBadArchive, "%s: %s", z.archive, err)
	}
	defer a.Close()
	for _, f := range a.File {
		if err := z.p.expandZip(io.Discard, f); err != nil {
			return z.problem(zipBadArchive, "%s: %s", f.Name, err)
		}
	}
	fmt.Fprintf(z.say, "test of %s OK\n", z.archive)
	return 0
}

// zipArchive is an open archive.
type zipArchive struct {
	*zip.Reader
	file io.Closer
	p    *Proc
	held int
}

func (a *zipArchive) Close() error {
	a.p.Release(a.held)
	return a.file.Close()
}

// openZip opens an archive. The list of what it holds is charged before it is
// read: entries take several times as much memory as their lines in it.
func (p *Proc) openZip(name string) (*zipArchive, error) {
	f, err := p.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	a := &zipArchive{file: f, p: p}
	info, err := f.Stat()
	if err == nil {
		a.held = 16*int(zipListSize(f, info.Size())) + 64<<10
		if err = p.Hold(a.held); err != nil {
			a.held = 0
		}
	}
	if err == nil {
		a.Reader, err = zip.NewReader(f, info.Size())
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// zipListSize is how long the list of entries of an archive is at most: from
// where the record at its end says that it begins, or all of it.
func zipListSize(r io.ReaderAt, size int64) int64 {
	const record, locator, comment = 22, 20, 1<<16 - 1
	tail := make([]byte, min(size, record+comment))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return size
	}
	at := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if at < locator || len(tail)-at < record || bytes.HasPrefix(tail[at-locator:], []byte("PK\x06\x07")) {
		return size // or a longer record says it
	}
	long, begin := int64(binary.LittleEndian.Uint32(tail[at+12:])), int64(binary.LittleEndian.Uint32(tail[at+16:]))
	end := size - int64(len(tail)-at)
	return min(max(long, end-begin), size)
}

// expandZip writes what an entry holds. How much that may be is bounded where it
// is written to.
func (p *Proc) expandZip(w io.Writer, f *zip.File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	_, err = p.Copy(w, r)
	return errors.Join(err, r.Close())
}
