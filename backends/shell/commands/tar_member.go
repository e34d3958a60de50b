package commands

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// extract writes one member. It returns what ends all.
func (x *tarReader) extract(h *tar.Header, r io.Reader) error {
	t, p := x.t, x.t.p
	if t.given["O"] {
		if h.Typeflag == tar.TypeReg {
			if t.verbose > 0 {
				t.show(h, t.verbose > 1)
			}
			_, err := p.Copy(p.Out, r)
			return x.readFailure(err)
		}
		return nil
	}
	to := x.destination(h)
	if to == "" {
		return nil
	}
	if t.verbose > 0 {
		t.show(h, t.verbose > 1)
	}
	if h.Typeflag == tar.TypeDir {
		return x.dir(to, h)
	}
	if done, err := x.makeRoom(to, h); done || err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
		return x.file(to, h, r)
	case tar.TypeSymlink:
		if strings.HasPrefix(h.Linkname, "/") || h.Linkname == ".." || strings.Contains("/"+h.Linkname+"/", "/../") {
			if err := p.Hold(len(to) + len(h.Linkname) + 64); err != nil {
				return err
			}
			x.links = append(x.links, tarLink{to, h.Linkname, h.ModTime})
			return nil
		}
		if err := p.Files.Symlink(h.Linkname, p.Path(to)); err != nil {
			t.fail(h.Name, "Cannot create symlink to "+Quote(h.Linkname), err)
		}
	case tar.TypeLink:
		from := *h
		from.Name = h.Linkname
		source := x.destination(&from)
		if source == "" {
			t.failed = true
			return nil
		}
		if err := p.Files.Link(p.Path(source), p.Path(to)); err != nil {
			t.fail(h.Name, "Cannot hard link to "+Quote(h.Linkname), err)
		}
	default:
		t.failed = true
		p.Errorf(2, "%s: Cannot mknod: Operation not permitted", h.Name)
	}
	return nil
}

// readFailure tells a damaged archive from the rest.
func (x *tarReader) readFailure(err error) error {
	switch {
	case err == nil || x.t.p.Stopped():
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("Unexpected EOF in archive") //nolint:staticcheck // in the words of tar
	}
	return errors.New(Reason(err))
}

// makeRoom makes the directories above a member and removes what is in its
// place. done tells that it is not to be written.
func (x *tarReader) makeRoom(to string, h *tar.Header) (done bool, err error) {
	t, p := x.t, x.t.p
	if err := x.parents(path.Dir(to)); err != nil {
		t.fail(h.Name, "Cannot open", err)
		return true, nil
	}
	info, err := p.Lstat(to)
	switch {
	case err != nil && notExist(err):
		return false, nil
	case err != nil:
		t.fail(h.Name, "Cannot open", err)
		return true, nil
	case t.given["skip-old-files"]:
		return true, nil
	case t.given["k"]:
		t.failed = true
		p.Errorf(2, "%s: Cannot open: File exists", h.Name)
		return true, nil
	case t.given["keep-newer-files"] && info.ModTime().After(h.ModTime):
		p.Errorf(0, "Current %s is newer or same age", Quote(h.Name))
		return true, nil
	case info.IsDir() && h.Typeflag != tar.TypeDir:
		if err := p.Files.Remove(p.Path(to)); err != nil {
			t.fail(h.Name, "Cannot open", errIsDir) // it is not empty
			return true, nil                        //nolint:nilerr // it was said, and the others are unpacked
		}
	default:
		if err := p.Files.Remove(p.Path(to)); err != nil {
			t.fail(h.Name, "Cannot unlink", err)
			return true, nil
		}
	}
	return false, nil
}

func (x *tarReader) parents(dir string) error {
	if dir == "." || dir == "/" || dir == "" {
		return nil
	}
	if info, err := x.t.p.Stat(dir); err == nil {
		if !info.IsDir() {
			return errNotDir
		}
		return nil
	}
	if err := x.parents(path.Dir(dir)); err != nil {
		return err
	}
	return x.t.p.Files.Mkdir(x.t.p.Path(dir), fs.ModePerm)
}

func (x *tarReader) dir(to string, h *tar.Header) error {
	t, p := x.t, x.t.p
	to = strings.TrimRight(to, "/")
	if to == "" {
		return nil
	}
	if err := x.parents(path.Dir(to)); err != nil {
		t.fail(h.Name, "Cannot mkdir", err)
		return nil
	}
	info, err := p.Stat(to)
	switch {
	case err == nil && info.IsDir() && t.given["k"]:
		return nil
	case err == nil && info.IsDir():
	case err == nil:
		if done, err := x.makeRoom(to, h); done || err != nil {
			return err
		}
		fallthrough
	default:
		if err := p.Files.Mkdir(p.Path(to), fs.ModePerm); err != nil {
			t.fail(h.Name, "Cannot mkdir", err)
			return nil
		}
	}
	if err := p.Hold(len(to) + 64); err != nil {
		return err
	}
	x.dirs = append(x.dirs, tarDir{to, x.perm(h), h.ModTime})
	return nil
}

// perm is the mode that a member gets: its own, as the superuser keeps it.
func (x *tarReader) perm(h *tar.Header) fs.FileMode {
	mode := fs.FileMode(h.Mode & 0o777)
	if x.t.given["no-same-permissions"] && !x.t.given["p"] {
		mode &^= 0o022
	}
	return mode
}

func (x *tarReader) file(to string, h *tar.Header, r io.Reader) error {
	t, p := x.t, x.t.p
	f, err := p.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		t.fail(h.Name, "Cannot open", err)
		return nil
	}
	out := &tarTarget{w: &writer{f, p}}
	_, err = p.Copy(out, r)
	if cerr := f.Close(); err == nil && cerr != nil {
		err, out.err = cerr, cerr
	}
	if err != nil {
		if out.err != nil { // it is the file, not the archive
			t.fail(h.Name, "Cannot write", out.err)
			if err := p.Files.Remove(p.Path(to)); err != nil {
				t.fail(h.Name, "Cannot unlink", err)
			}
			return nil
		}
		return x.readFailure(err)
	}
	err = p.Files.Chmod(p.Path(to), x.perm(h))
	if err == nil && !t.given["m"] {
		err = p.Files.Chtimes(p.Path(to), h.ModTime)
	}
	if err != nil {
		t.fail(h.Name, "Cannot change mode or time", err)
	}
	return nil
}

// tarTarget remembers that writing failed.
type tarTarget struct {
	w   io.Writer
	err error
}

func (t *tarTarget) Write(b []byte) (int, error) {
	n, err := t.w.Write(b)
	if err != nil {
		t.err = err
	}
	return n, err
}
