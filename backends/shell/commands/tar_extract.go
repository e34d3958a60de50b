package commands

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"time"
)

// tarReader unpacks or lists an archive.
type tarReader struct {
	t *tarRun
	// links are symlinks that lead up or to the root. They are made at the end,
	// so that no member is written through them.
	links []tarLink
	// dirs get their times at the end, when nothing is put into them any more.
	dirs []tarDir
}

type tarLink struct {
	name, target string
	modified     time.Time
}

type tarDir struct {
	name     string
	mode     fs.FileMode
	modified time.Time
}

func (t *tarRun) read() error {
	p := t.p
	t.listing = p.Out
	if t.given["O"] {
		t.listing = p.Stderr
	}
	in, closer, err := t.open()
	if err != nil {
		return err
	}
	defer closer.Close()
	if t.mode == "x" && t.dir != "" {
		if info, err := p.Stat(t.dir); err != nil || !info.IsDir() {
			if err == nil {
				err = errNotDir
			}
			return errors.New(t.dir + ": Cannot open: " + Reason(err))
		}
	}
	counted := &countReader{r: in}
	r := tar.NewReader(counted)
	x := &tarReader{t: t}
	for first := true; ; first = false {
		h, err := r.Next()
		if err == io.EOF {
			if counted.n == 0 {
				t.failed = true
				p.Errorf(2, "This does not look like a tar archive")
			}
			break
		}
		if p.Stopped() {
			return p.Context().Err()
		}
		if err != nil {
			t.failed = true
			switch {
			case first && errors.Is(err, io.ErrUnexpectedEOF) && counted.n < 512:
				p.Errorf(2, "This does not look like a tar archive")
			case errors.Is(err, io.ErrUnexpectedEOF):
				return errors.New("Unexpected EOF in archive") //nolint:staticcheck // in the words of tar
			case first && errors.Is(err, tar.ErrHeader):
				p.Errorf(2, "This does not look like a tar archive")
			case errors.Is(err, tar.ErrHeader):
				p.Errorf(2, "Skipping to next header")
			default:
				return errors.New(Reason(err))
			}
			break
		}
		if h.Typeflag == tar.TypeXGlobalHeader || !x.wanted(h.Name) || t.excluded(h.Name) {
			continue
		}
		if t.mode == "t" {
			t.show(h, t.verbose > 0)
			continue
		}
		if err := x.extract(h, r); err != nil {
			return err
		}
	}
	x.finish()
	for _, n := range t.names {
		if !n.found && !p.Stopped() {
			t.failed = true
			p.Errorf(2, "%s: Not found in archive", n.name)
		}
	}
	return nil
}

// wanted tells whether a member is one of the operands, or below one.
func (x *tarReader) wanted(name string) bool {
	if len(x.t.names) == 0 {
		return true
	}
	found := false
	name = strings.TrimSuffix(name, "/")
	for _, n := range x.t.names {
		want := strings.TrimRight(n.name, "/")
		ok := name == want || strings.HasPrefix(name, want+"/") && !x.t.given["no-recursion"]
		if x.t.given["wildcards"] {
			re, err := regexp.Compile(`(?s)^` + wildcardRegexp(want) + `(?:/|$)`)
			ok = err == nil && re.MatchString(name)
		}
		if ok {
			n.found, found = true, true
		}
	}
	return found
}

// destination is where a member goes, "" for one that does not.
func (x *tarReader) destination(h *tar.Header) string {
	t := x.t
	name := h.Name
	for _, part := range strings.Split(name, "/") {
		if part == ".." && !t.given["P"] {
			t.failed = true
			t.p.Errorf(2, "%s: Member name contains '..'", name)
			return ""
		}
	}
	name = t.clean(name, "member names")
	for range t.strip {
		at := strings.IndexByte(name, '/')
		if at < 0 {
			return ""
		}
		name = strings.TrimLeft(name[at:], "/")
	}
	if name == "" {
		return ""
	}
	return tarJoin(t.dir, name)
}

// finish makes what had to wait.
func (x *tarReader) finish() {
	t, p := x.t, x.t.p
	for _, l := range x.links {
		if p.Stopped() {
			return
		}
		if err := p.Files.Symlink(l.target, p.Path(l.name)); err != nil {
			t.fail(l.name, "Cannot create symlink to "+Quote(l.target), err)
		}
	}
	for i := len(x.dirs) - 1; i >= 0 && !p.Stopped(); i-- {
		d := x.dirs[i]
		err := p.Files.Chmod(p.Path(d.name), d.mode)
		if err == nil && !t.given["m"] {
			err = p.Files.Chtimes(p.Path(d.name), d.modified)
		}
		if err != nil {
			t.fail(d.name, "Cannot change mode or time", err)
		}
	}
}
