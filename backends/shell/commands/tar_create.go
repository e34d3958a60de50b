package commands

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// tarBlock is what archives are filled up to: 20 records.
const tarBlock = 10240

// tarWriter is an archive that is made.
type tarWriter struct {
	t      *tarRun
	out    *countWriter
	tar    *tar.Writer
	inodes map[uint64]string // names of files with more than one
	self   string            // the archive, which is not put into itself
	newer  map[string]time.Time
}

func (t *tarRun) create() error {
	if len(t.names) == 0 && !t.given["T"] {
		t.p.Usage(2, "Cowardly refusing to create an empty archive")
		return errors.New("there is nothing to put into it")
	}
	if t.given["j"] {
		return errors.New("bzip2 compression is not supported here; use -z (gzip)")
	}
	t.gzip = t.gzip || t.given["a"] && (strings.HasSuffix(t.file, ".gz") || strings.HasSuffix(t.file, ".tgz"))
	if t.file == "-" {
		t.listing = t.p.Stderr
		return t.pack(t.p.Out, "", nil)
	}
	t.listing = t.p.Out
	f, err := t.p.Create(t.file)
	if err != nil {
		return fmt.Errorf("%s: Cannot open: %s", t.file, Reason(err))
	}
	self, err := t.p.Files.Resolve(t.p.Path(t.file))
	if err != nil {
		self = ""
	}
	err = t.pack(f, self, nil)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// pack writes an archive of the operands; before is what goes first.
func (t *tarRun) pack(w io.Writer, self string, before func(w io.Writer) error) error {
	var z *gzip.Writer
	if t.gzip {
		if err := t.p.Hold(1 << 20); err != nil { // the compressor's tables
			return err
		}
		defer t.p.Release(1 << 20)
		z = gzip.NewWriter(w)
		z.OS = 3
		w = z
	}
	out := &countWriter{w: w}
	a := &tarWriter{t: t, out: out, inodes: map[uint64]string{}, self: self}
	if before != nil {
		if err := before(out); err != nil {
			return err
		}
	}
	a.tar = tar.NewWriter(out)
	if err := a.names(); err != nil {
		return writeFailure(t.file, err)
	}
	if err := a.tar.Close(); err != nil {
		return writeFailure(t.file, err)
	}
	if rest := out.n % tarBlock; rest != 0 {
		if _, err := out.Write(make([]byte, tarBlock-rest)); err != nil {
			return writeFailure(t.file, err)
		}
	}
	if z != nil {
		if err := z.Close(); err != nil {
			return writeFailure(t.file, err)
		}
	}
	return nil
}

func writeFailure(name string, err error) error {
	return fmt.Errorf("%s: Cannot write: %s", name, Reason(err))
}

// names puts in all operands.
func (a *tarWriter) names() error {
	for _, n := range a.t.names {
		if a.t.p.Stopped() {
			return a.t.p.Context().Err()
		}
		if err := a.add(tarJoin(n.dir, n.name), n.name); err != nil {
			return err
		}
	}
	return nil
}

// add puts in the file at where as name. It returns a failure to write the
// archive; other failures are said.
func (a *tarWriter) add(where, name string) error {
	t, p := a.t, a.t.p
	if p.Stopped() {
		return p.Context().Err()
	}
	if t.excluded(name) {
		return nil
	}
	stat := p.Lstat
	if t.given["h"] {
		stat = p.Stat
	}
	info, err := stat(where)
	if err != nil {
		t.fail(name, "Cannot stat", err)
		return nil
	}
	if real, err := p.Files.Resolve(p.Path(where)); err == nil && a.self != "" && real == a.self {
		p.Errorf(0, "%s: file is the archive; not dumped", name)
		return nil
	}
	h := a.header(name, where, info)
	if h == nil {
		return nil
	}
	if a.newer != nil && !info.IsDir() {
		if at, ok := a.newer[h.Name]; ok && !info.ModTime().Truncate(time.Second).After(at) {
			return nil
		}
	}
	if err := a.write(h, where, info); err != nil {
		return err
	}
	if !info.IsDir() || t.given["no-recursion"] {
		return nil
	}
	entries, err := p.ReadDir(where)
	if err != nil {
		t.fail(name, "Cannot open", err)
		return nil
	}
	for _, e := range entries {
		if err := a.add(Join(where, e.Name()), Join(strings.TrimRight(name, "/")+"/", e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// header describes a file; nil for one that cannot be put in.
func (a *tarWriter) header(name, where string, info fs.FileInfo) *tar.Header {
	t, p := a.t, a.t.p
	h := &tar.Header{Name: t.clean(name, "member names"), Mode: int64(info.Mode().Perm()), Uid: p.System.UID, Gid: p.System.GID, Uname: p.System.User, Gname: p.System.Group,
		ModTime: info.ModTime().Truncate(time.Second), Format: tar.FormatGNU}
	if t.given["posix"] {
		h.Format = tar.FormatPAX
	}
	if !t.mtime.IsZero() {
		h.ModTime = t.mtime
	}
	for i, spec := range t.owner {
		if spec == "" {
			continue
		}
		word, number, both := strings.Cut(spec, ":")
		id, err := strconv.Atoi(word)
		if err == nil && !both {
			word = ""
		} else if both {
			id, err = strconv.Atoi(number)
		}
		user, uid := &h.Uname, &h.Uid
		if i == 1 {
			user, uid = &h.Gname, &h.Gid
		}
		*user = word
		if err == nil {
			*uid = id
		}
	}
	if t.given["numeric-owner"] {
		h.Uname, h.Gname = "", ""
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		h.Typeflag = tar.TypeDir
		h.Name = strings.TrimRight(h.Name, "/") + "/"
		if mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
	case mode&fs.ModeSymlink != 0:
		target, err := p.Files.Readlink(p.Path(where))
		if err != nil {
			t.fail(name, "Cannot readlink", err)
			return nil
		}
		h.Typeflag, h.Linkname = tar.TypeSymlink, target
	case mode.IsRegular():
		h.Typeflag, h.Size = tar.TypeReg, info.Size()
		if sys, ok := info.Sys().(*vfs.Sys); ok && sys.Links > 1 && !t.given["hard-dereference"] {
			if first, seen := a.inodes[sys.Inode]; seen {
				h.Typeflag, h.Linkname, h.Size = tar.TypeLink, first, 0
			} else if err := p.Hold(len(h.Name) + 64); err == nil {
				a.inodes[sys.Inode] = h.Name
			}
		}
	default:
		p.Errorf(0, "%s: this kind of file is ignored", name)
		return nil
	}
	return h
}

func (a *tarWriter) write(h *tar.Header, where string, info fs.FileInfo) error {
	t, p := a.t, a.t.p
	var in io.ReadCloser
	if h.Typeflag == tar.TypeReg {
		f, err := p.Open(where)
		if err != nil {
			t.fail(path.Clean(h.Name), "Cannot open", err)
			return nil
		}
		defer f.Close()
		in = f
	}
	if err := a.tar.WriteHeader(h); err != nil {
		return err
	}
	if t.verbose > 0 {
		t.show(h, t.verbose > 1)
	}
	if in == nil {
		return nil
	}
	n, err := p.Copy(a.tar, io.LimitReader(in, info.Size()))
	if err != nil {
		return err
	}
	if n < info.Size() { // it got shorter meanwhile
		p.Errorf(1, "%s: File shrank by %d bytes; padding with zeros", h.Name, info.Size()-n)
		t.failed = true
		_, err = p.Copy(a.tar, io.LimitReader(zeros{}, info.Size()-n))
	}
	return err
}

// append puts members behind those of an archive that is there.
func (t *tarRun) append() error {
	p := t.p
	t.listing = p.Out
	if t.file == "-" {
		return errors.New("Options '-Aru' are incompatible with '-f -'")
	}
	if _, err := p.Stat(t.file); notExist(err) {
		return t.create()
	}
	if t.gzip {
		return errors.New("Cannot update compressed archives") //nolint:staticcheck // in the words of tar
	}
	f, err := p.Open(t.file)
	if err != nil {
		return fmt.Errorf("%s: Cannot open: %s", t.file, Reason(err))
	}
	defer f.Close()
	in := &countReader{r: f}
	r := tar.NewReader(in)
	times := map[string]time.Time{}
	end := int64(0)
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return errors.New("This does not look like a tar archive") //nolint:staticcheck // in the words of tar
		}
		if err := p.Hold(len(h.Name) + 64); err != nil {
			return err
		}
		times[h.Name] = h.ModTime
		end = in.n + (h.Size+511)/512*512
		if h.Typeflag != tar.TypeReg {
			end = in.n
		}
	}
	self, err := p.Files.Resolve(p.Path(t.file))
	if err != nil {
		return err
	}
	content, err := p.Open(t.file)
	if err != nil {
		return err
	}
	defer content.Close()
	return p.ReplaceFile(t.file, func(w io.Writer) error {
		out := &countWriter{w: w}
		a := &tarWriter{t: t, out: out, inodes: map[uint64]string{}, self: self}
		if t.mode == "u" {
			a.newer = times
		}
		if _, err := p.Copy(out, io.LimitReader(content, end)); err != nil {
			return err
		}
		a.tar = tar.NewWriter(out)
		if err := errors.Join(a.names(), a.tar.Close()); err != nil {
			return err
		}
		if rest := out.n % tarBlock; rest != 0 {
			_, err := out.Write(make([]byte, tarBlock-rest))
			return err
		}
		return nil
	})
}
