package commands

import (
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

var gzipFlags = NewOptions(1, "c stdout to-stdout", "d decompress uncompress", "f force", "k keep", "l list", "t test", "r recursive",
	"n no-name", "N name", "q quiet", "v verbose", "S suffix=", "1 fast", "2", "3", "4", "5", "6", "7", "8", "9 best", "rsyncable", "a ascii")

type gzipOptions struct {
	p                                                      *Proc
	stdout, decompress, force, keep, list, test, recursive bool
	noName, name, quiet, verbose                           bool
	suffix                                                 string
	level                                                  int
	listed                                                 bool // the head of the list is there
	totalIn, totalOut                                      int64
	files                                                  int
}

// gzipCommand is gzip, gunzip and zcat.
func gzipCommand(p *Proc) int {
	parsed, code := p.Parse(gzipFlags)
	if parsed == nil {
		return code
	}
	o := &gzipOptions{p: p, stdout: parsed.Has("c"), decompress: parsed.Has("d"), force: parsed.Has("f"), keep: parsed.Has("k"), list: parsed.Has("l"),
		test: parsed.Has("t"), recursive: parsed.Has("r"), noName: parsed.Has("n"), name: parsed.Has("N"), quiet: parsed.Has("q"), verbose: parsed.Has("v"),
		suffix: ".gz", level: 6}
	switch p.cmd.Name {
	case "gunzip":
		o.decompress = true
	case "zcat":
		o.decompress, o.stdout = true, true
	}
	if v, ok := parsed.Value("S"); ok {
		if v == "" || strings.Contains(v, "/") || len(v) > 30 {
			return p.Errorf(1, "incorrect suffix '%s'", v)
		}
		o.suffix = v
	}
	if l := parsed.Last("1", "2", "3", "4", "5", "6", "7", "8", "9"); l != "" {
		o.level = int(l[0] - '0')
	}
	o.decompress = o.decompress || o.test || o.list
	names := parsed.Args
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if p.Stopped() {
			return 1
		}
		code = worse(code, o.file(name))
	}
	if o.list && o.files > 1 && !o.quiet {
		o.line(o.totalIn, o.totalOut, "(totals)")
	}
	return code
}

// worse of two exit codes of gzip: an error (1) before a warning (2).
func worse(a, b int) int {
	switch {
	case a == 1 || b == 1:
		return 1
	case a == 2 || b == 2:
		return 2
	}
	return max(a, b)
}

func (o *gzipOptions) file(name string) int {
	p := o.p
	if name == "-" {
		if o.list {
			return o.show("stdin", p.Stdin, -1)
		}
		return o.through(p.Stdin, "stdin", io.Discard)
	}
	info, err := p.Stat(name)
	if err != nil && notExist(err) && o.decompress && !strings.HasSuffix(name, o.suffix) {
		// The suffix can be left out.
		if i, err2 := p.Stat(name + o.suffix); err2 == nil {
			name, info, err = name+o.suffix, i, nil
		} else {
			p.FileError(name+o.suffix, err)
			return 1
		}
	}
	if err != nil {
		return p.FileError(name, err)
	}
	if info.IsDir() {
		return o.dir(name)
	}
	if l, err := p.Lstat(name); err == nil && l.Mode()&fs.ModeSymlink != 0 && !o.stdout && !o.force && !o.list && !o.test {
		return p.Errorf(1, "%s: Too many levels of symbolic links", name)
	}
	target := ""
	switch {
	case o.list || o.test:
	case o.decompress:
		t, ok := o.unsuffixed(name)
		if !ok && !o.stdout {
			if o.recursive || o.quiet {
				return 2
			}
			return p.Errorf(2, "%s: unknown suffix -- ignored", name)
		}
		target = t
	case strings.HasSuffix(name, o.suffix) && !o.force && !o.stdout:
		if o.quiet || o.recursive {
			return 0
		}
		return p.Errorf(0, "%s already has %s suffix -- unchanged", name, o.suffix)
	default:
		target = name + o.suffix
	}
	in, err := p.Open(name)
	if err != nil {
		return p.FileError(name, err)
	}
	defer in.Close()
	switch {
	case o.list:
		return o.show(name, in, info.Size())
	case o.stdout || o.test:
		code := o.through(in, name, io.Discard)
		if o.test && o.verbose && code == 0 {
			fmt.Fprintf(p.Stderr, "%s:\t OK\n", name)
		}
		return code
	}
	return o.replace(name, target, in, info)
}

// unsuffixed is the name of what was compressed.
func (o *gzipOptions) unsuffixed(name string) (string, bool) {
	base := path.Base(name)
	for _, s := range []string{o.suffix, ".gz", "-gz", ".z", "-z", "_z", ".Z"} {
		if len(base) > len(s) && strings.HasSuffix(base, s) {
			return name[:len(name)-len(s)], true
		}
	}
	for from, to := range map[string]string{".tgz": ".tar", ".taz": ".tar"} {
		if len(base) > len(from) && strings.HasSuffix(base, from) {
			return name[:len(name)-len(from)] + to, true
		}
	}
	return "", false
}

func (o *gzipOptions) dir(name string) int {
	p := o.p
	if !o.recursive {
		return p.Errorf(2, "%s is a directory -- ignored", name)
	}
	entries, err := p.ReadDir(name)
	if err != nil {
		return p.FileError(name, err)
	}
	code := 0
	for _, e := range entries {
		if p.Stopped() {
			return 1
		}
		if e.IsDir() || e.Type().IsRegular() {
			code = worse(code, o.file(Join(name, e.Name())))
		}
	}
	return code
}

// replace makes target of the file name and removes that.
func (o *gzipOptions) replace(name, target string, in io.Reader, info fs.FileInfo) int {
	p := o.p
	if _, err := p.Lstat(target); err == nil {
		if !o.force {
			return p.Errorf(2, "%s already exists;\tnot overwritten", target)
		}
		if err := p.Files.Remove(p.Path(target)); err != nil {
			return p.FileError(target, err)
		}
	}
	f, err := p.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return p.FileError(target, err)
	}
	counted := &countWriter{w: &writer{f, p}}
	code := o.convert(counted, in, name, info.ModTime())
	if err := f.Close(); err != nil && code == 0 {
		code = p.FileError(target, err)
	}
	if code != 0 && code != 2 || p.Stopped() {
		if err := p.Files.Remove(p.Path(target)); err != nil {
			p.FileError(target, err)
		}
		return max(code, 1)
	}
	for _, err := range []error{p.Files.Chmod(p.Path(target), info.Mode().Perm()), p.Files.Chtimes(p.Path(target), info.ModTime())} {
		if err != nil {
			return p.FileError(target, err)
		}
	}
	if o.verbose {
		in, out := info.Size(), counted.n
		if o.decompress {
			in, out = out, in
		}
		word := "replaced with"
		if o.keep {
			word = "created"
		}
		fmt.Fprintf(p.Stderr, "%s:\t%s -- %s %s\n", name, ratio(in, out), word, target)
	}
	if !o.keep {
		if err := p.Files.Remove(p.Path(name)); err != nil {
			return p.FileError(name, err)
		}
	}
	return code
}

func ratio(in, out int64) string {
	v := 0.0
	if in > 0 {
		v = 100 * float64(in-out) / float64(in)
	}
	return fmt.Sprintf("%5.1f%%", v)
}

// through writes to standard output, or nowhere for -t.
func (o *gzipOptions) through(in io.Reader, name string, nowhere io.Writer) int {
	w := nowhere
	if !o.test {
		w = o.p.Out
	}
	return o.convert(w, in, name, time.Time{})
}

func (o *gzipOptions) convert(w io.Writer, in io.Reader, name string, mtime time.Time) int {
	p := o.p
	if o.decompress {
		return o.expand(w, in, name)
	}
	// The compressor's tables take about this much.
	if err := p.Hold(1 << 20); err != nil {
		return p.FileError(name, err)
	}
	defer p.Release(1 << 20)
	z, err := gzip.NewWriterLevel(w, o.level)
	if err != nil {
		return p.FileError(name, err)
	}
	z.OS = 3
	if !o.noName && name != "stdin" {
		z.Name, z.ModTime = latin1(path.Base(name)), mtime
	}
	if _, err = p.Copy(z, in); err == nil {
		err = z.Close()
	}
	if err != nil {
		return p.FileError(name, err)
	}
	return 0
}

// latin1 keeps a name that a gzip header can hold.
func latin1(name string) string {
	for _, r := range name {
		if r == 0 || r > 0xff {
			return ""
		}
	}
	return name
}
