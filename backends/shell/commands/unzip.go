package commands

import (
	"archive/zip"
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

var unzipOptions = NewOptions(10, "o", "n", "q", "l", "v", "t", "p", "c", "j", "d=", "Z", "1", "a", "b", "C", "f", "u", "L", "X", "K", "B", "P=", "z", "D", "U", "V", "M", "T")

// The exit codes of unzip.
const (
	unzipWarning    = 1
	unzipDamaged    = 2
	unzipNotFound   = 9
	unzipBadUse     = 10
	unzipNotMatched = 11
	unzipDiskFull   = 50
	unzipMethod     = 81
	unzipEncrypted  = 82
)

// unzipper is one run of unzip.
type unzipper struct {
	p                            *Proc
	quiet                        int
	overwrite, never, junk, fold bool
	freshen, update, told        bool
	dir                          string
	wanted, left                 []*regexp.Regexp
	patterns                     []string
	matched                      []bool
	// links are made at the end, so that nothing is written through them.
	links []tarLink
	code  int
}

func unzipCommand(p *Proc) int {
	args, exclude, _ := zipLists(p.Args)
	p.Args = args
	o, code := p.Parse(unzipOptions)
	if o == nil {
		return code
	}
	if len(o.Args) == 0 {
		return p.Usage(unzipBadUse, "missing name of the archive")
	}
	z := &unzipper{p: p, overwrite: o.Has("o"), never: o.Has("n"), junk: o.Has("j"), fold: o.Has("C"), freshen: o.Has("f"), update: o.Has("u"), patterns: o.Args[1:]}
	for _, opt := range o.Options {
		if opt.Key == "q" {
			z.quiet++
		}
	}
	z.dir, _ = o.Value("d")
	var err error
	if z.wanted, err = z.compile(z.patterns); err == nil {
		z.left, err = z.compile(exclude)
	}
	if err != nil {
		return p.Errorf(unzipBadUse, "%s", err)
	}
	z.matched = make([]bool, len(z.wanted))
	name := o.Args[0]
	a, err := p.openZip(name)
	if err != nil && notExist(err) {
		name += ".zip"
		a, err = p.openZip(name)
	}
	switch {
	case err != nil && notExist(err):
		given := o.Args[0]
		fmt.Fprintf(p.Stderr, "unzip:  cannot find or open %s, %s.zip or %s.ZIP.\n", given, given, given)
		return unzipNotFound
	case errors.Is(err, zip.ErrFormat), errors.Is(err, io.ErrUnexpectedEOF):
		fmt.Fprintf(p.Stderr, "[%s]\n  End-of-central-directory signature not found: this is no zip archive, or a part of one.\n", name)
		return unzipNotFound
	case err != nil:
		return p.Errorf(unzipNotFound, "%s: %s", name, Reason(err))
	}
	defer a.Close()
	held := p.held
	defer func() { p.Release(int(p.held - held)) }()
	switch {
	case o.Has("Z") && !o.Has("1"):
		return p.Errorf(unzipBadUse, "-Z is known with -1 alone here; use -l or -v")
	case o.Has("Z"):
		for _, f := range a.File {
			if z.selects(f) {
				p.Out.WriteString(f.Name + "\n")
			}
		}
	case o.Has("l", "v"):
		z.list(name, a.File, o.Has("v"))
	case o.Has("t"):
		z.test(name, a.File)
	case o.Has("p", "c"):
		if o.Has("c") && z.quiet == 0 {
			fmt.Fprintf(p.Out, "Archive:  %s\n", name)
		}
		z.print(a.File, o.Has("c") && z.quiet < 2)
	default:
		z.extract(name, a.File)
	}
	for i, found := range z.matched {
		if !found && !p.Stopped() {
			fmt.Fprintf(p.Stderr, "caution: filename not matched:  %s\n", z.patterns[i])
			z.code = max(z.code, unzipNotMatched)
		}
	}
	return z.code
}

func (z *unzipper) compile(patterns []string) ([]*regexp.Regexp, error) {
	if z.fold {
		patterns = slices.Clone(patterns)
		for i, text := range patterns {
			patterns[i] = strings.ToLower(text)
		}
	}
	return zipPatterns(patterns)
}

// selects tells whether an entry is asked for.
func (z *unzipper) selects(f *zip.File) bool {
	name := f.Name
	if z.fold {
		name = strings.ToLower(name)
	}
	selected := len(z.wanted) == 0
	for i, re := range z.wanted {
		if re.MatchString(name) {
			selected, z.matched[i] = true, true
		}
	}
	return selected && !matchesAny(z.left, name)
}

func (z *unzipper) list(archive string, files []*zip.File, long bool) {
	p := z.p
	if z.quiet == 0 {
		fmt.Fprintf(p.Out, "Archive:  %s\n", archive)
	}
	if z.quiet < 2 {
		if long {
			p.Out.WriteString(" Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n--------  ------  ------- ---- ---------- ----- --------  ----\n")
		} else {
			p.Out.WriteString("  Length      Date    Time    Name\n---------  ---------- -----   ----\n")
		}
	}
	count, size, compressed := 0, uint64(0), uint64(0)
	for _, f := range files {
		if p.Stopped() {
			return
		}
		if !z.selects(f) {
			continue
		}
		count++
		size += f.UncompressedSize64
		compressed += f.CompressedSize64
		date := f.Modified.In(p.location()).Format("2006-01-02 15:04")
		if long {
			method := map[uint16]string{zip.Store: "Stored", zip.Deflate: "Defl:N"}[f.Method]
			if method == "" {
				method = fmt.Sprintf("Unk:%03d", f.Method)
			}
			fmt.Fprintf(p.Out, "%8d  %-6s %8d %3d%% %s %08x  %s\n", f.UncompressedSize64, method, f.CompressedSize64, zipSaved(f.UncompressedSize64, f.CompressedSize64), date, f.CRC32, f.Name)
		} else {
			fmt.Fprintf(p.Out, "%9d  %s   %s\n", f.UncompressedSize64, date, f.Name)
		}
	}
	if z.quiet > 1 {
		return
	}
	files1 := "files"
	if count == 1 {
		files1 = "file"
	}
	if long {
		fmt.Fprintf(p.Out, "--------          -------  ---                            -------\n%8d         %8d %3d%%                            %d %s\n", size, compressed, zipSaved(size, compressed), count, files1)
	} else {
		fmt.Fprintf(p.Out, "---------                     -------\n%9d                     %d %s\n", size, count, files1)
	}
}

// zipSaved is by how many per cent compression has made something smaller.
func zipSaved(size, compressed uint64) int {
	if size == 0 || compressed > size {
		return 0
	}
	return int((200*float64(size-compressed)/float64(size) + 1) / 2)
}

// readable tells whether the content of an entry can be read here, and says why
// it cannot.
func (z *unzipper) readable(f *zip.File) bool {
	switch {
	case f.Flags&1 != 0:
		fmt.Fprintf(z.p.Stderr, "   skipping: %-22s  unable to get password\n", f.Name)
		z.code = max(z.code, unzipEncrypted)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		fmt.Fprintf(z.p.Stderr, "   skipping: %-22s  unsupported compression method %d\n", f.Name, f.Method)
		z.code = max(z.code, unzipMethod)
	default:
		return true
	}
	return false
}

func (z *unzipper) test(archive string, files []*zip.File) {
	p := z.p
	if z.quiet == 0 {
		fmt.Fprintf(p.Out, "Archive:  %s\n", archive)
	}
	for _, f := range files {
		if p.Stopped() {
			return
		}
		if !z.selects(f) || !z.readable(f) {
			continue
		}
		if err := p.expandZip(io.Discard, f); err != nil {
			z.damaged(f, err)
			continue
		}
		if z.quiet == 0 {
			fmt.Fprintf(p.Out, "    testing: %-22s   OK\n", f.Name)
		}
	}
	if z.code == 0 && z.quiet < 2 {
		fmt.Fprintf(p.Out, "No errors detected in compressed data of %s.\n", archive)
	}
}

func (z *unzipper) damaged(f *zip.File, err error) {
	if z.p.Stopped() {
		return
	}
	z.code = max(z.code, unzipDamaged)
	fmt.Fprintf(z.p.Stderr, "%s:  %s\n", f.Name, Reason(err))
}

// print writes entries to standard output, each after its name where names ask
// for it.
func (z *unzipper) print(files []*zip.File, names bool) {
	for _, f := range files {
		if z.p.Stopped() {
			return
		}
		if f.FileInfo().IsDir() || !z.selects(f) || !z.readable(f) {
			continue
		}
		if names {
			fmt.Fprintf(z.p.Out, "%s: %-22s  \n", zipVerb(f), f.Name)
		}
		if err := z.p.expandZip(z.p.Out, f); err != nil {
			z.damaged(f, err)
		}
		if names {
			z.p.Out.WriteByte('\n')
		}
	}
}

func zipVerb(f *zip.File) string {
	if f.Method == zip.Store {
		return " extracting"
	}
	return "  inflating"
}

func (z *unzipper) extract(archive string, files []*zip.File) {
	p := z.p
	if z.quiet == 0 {
		fmt.Fprintf(p.Out, "Archive:  %s\n", archive)
	}
	for _, f := range files {
		if p.Stopped() {
			return
		}
		if !z.selects(f) {
			continue
		}
		if err := z.one(f); err != nil {
			if !p.Stopped() {
				z.code = p.Errorf(unzipDiskFull, "%s: write error: %s", f.Name, Reason(err))
			}
			return
		}
	}
	if len(z.links) > 0 && z.quiet == 0 {
		p.Out.WriteString("finishing deferred symbolic links:\n")
	}
	for _, l := range z.links {
		if p.Stopped() {
			return
		}
		if z.quiet == 0 {
			fmt.Fprintf(p.Out, "  %-22s -> %s\n", l.name, l.target)
		}
		if err := p.Files.Symlink(l.target, p.Path(l.name)); err != nil {
			z.code = max(z.code, p.Errorf(unzipDamaged, "cannot make the symbolic link %s: %s", l.name, Reason(err)))
		}
	}
}

// destination is where an entry goes, "" for nowhere. What would lead out of the
// directory is taken off its name.
func (z *unzipper) destination(f *zip.File) string {
	name := strings.ToValidUTF8(f.Name, "?")
	if strings.HasPrefix(name, "/") {
		fmt.Fprintf(z.p.Stderr, "warning:  stripped absolute path spec from %s\n", name)
		z.code = max(z.code, unzipWarning)
	}
	var parts []string
	up := false
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
		case "..":
			up = true
		default:
			parts = append(parts, part)
		}
	}
	if up {
		fmt.Fprintf(z.p.Stderr, "warning:  skipped \"../\" path component(s) in %s\n", name)
		z.code = max(z.code, unzipWarning)
	}
	if z.junk && len(parts) > 0 {
		parts = parts[len(parts)-1:]
	}
	if len(parts) == 0 {
		return ""
	}
	return tarJoin(z.dir, strings.Join(parts, "/"))
}

// one unpacks an entry. It fails where there is no room for more.
func (z *unzipper) one(f *zip.File) error {
	p := z.p
	if f.FileInfo().IsDir() {
		to := z.destination(f)
		if info, err := p.Stat(to); z.junk || to == "" || err == nil && info.IsDir() {
			return nil
		}
		if z.directory(to) && z.quiet == 0 {
			fmt.Fprintf(p.Out, "   creating: %s/\n", to)
		}
		return nil
	}
	if !z.readable(f) {
		return nil
	}
	to := z.destination(f)
	if to == "" || !z.makeRoom(to, f) {
		return nil
	}
	if f.Mode()&fs.ModeSymlink != 0 {
		return z.link(to, f)
	}
	if z.quiet == 0 {
		fmt.Fprintf(p.Out, "%s: %-22s  \n", zipVerb(f), to)
	}
	file, err := p.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		z.code = max(z.code, p.Errorf(unzipDamaged, "cannot create %s: %s", to, Reason(err)))
		return nil
	}
	out := &tarTarget{w: &writer{file, p}}
	err = p.expandZip(out, f)
	if cerr := file.Close(); cerr != nil && out.err == nil {
		out.err = cerr
	}
	if out.err != nil {
		return errors.Join(out.err, p.Files.Remove(p.Path(to)))
	}
	if err != nil {
		z.damaged(f, err)
	}
	mode := f.Mode().Perm()
	if mode == 0 {
		mode = 0o644
	}
	for _, err := range []error{p.Files.Chmod(p.Path(to), mode), p.Files.Chtimes(p.Path(to), f.Modified)} {
		if err != nil {
			z.code = max(z.code, p.Errorf(unzipWarning, "cannot set the mode or time of %s: %s", to, Reason(err)))
		}
	}
	return nil
}

// link notes a symlink.
func (z *unzipper) link(to string, f *zip.File) error {
	const most = 4096
	var target strings.Builder
	r, err := f.Open()
	if err == nil {
		_, err = io.Copy(&target, io.LimitReader(r, most+1))
		err = errors.Join(err, r.Close())
	}
	if err == nil && target.Len() > most {
		err = syscall.ENAMETOOLONG
	}
	if err != nil {
		z.damaged(f, err)
		return nil
	}
	if err := z.p.Hold(len(to) + target.Len() + 64); err != nil {
		return err
	}
	z.links = append(z.links, tarLink{to, target.String(), f.Modified})
	if z.quiet == 0 {
		fmt.Fprintf(z.p.Out, "    linking: %-22s  -> %s \n", to, target.String())
	}
	return nil
}

// makeRoom makes the directories above an entry, and removes what is in its
// place; false when it is not to be unpacked.
func (z *unzipper) makeRoom(to string, f *zip.File) bool {
	p := z.p
	info, err := p.Lstat(to)
	switch {
	case err != nil && (!notExist(err) || z.freshen):
		if !notExist(err) {
			z.code = max(z.code, p.Errorf(unzipDamaged, "cannot create %s: %s", to, Reason(err)))
		}
		return false
	case err != nil:
		return z.directory(path.Dir(to))
	case (z.freshen || z.update) && !f.Modified.After(info.ModTime().Truncate(1e9)):
		return false
	case z.never:
		return false
	case !z.overwrite:
		if !z.told {
			z.told = true
			fmt.Fprintf(p.Stderr, "replace %s? [y]es, [n]o, [A]ll, [N]one, [r]ename:  NULL\n(there is nobody to ask, treating as \"[N]one\"; use -o or -n)\n", to)
			z.code = max(z.code, unzipWarning)
		}
		return false
	}
	if err := p.Files.Remove(p.Path(to)); err != nil {
		z.code = max(z.code, p.Errorf(unzipDamaged, "cannot replace %s: %s", to, Reason(err)))
		return false
	}
	return true
}

// directory makes a directory and its parents.
func (z *unzipper) directory(name string) bool {
	if err := z.p.makeParents(name); err != nil {
		z.code = max(z.code, z.p.Errorf(unzipDamaged, "cannot create the directory %s: %s", name, Reason(err)))
		return false
	}
	return true
}
