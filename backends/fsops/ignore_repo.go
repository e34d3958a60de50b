package fsops

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
)

// ignoreAbove returns the rules that hold in directory dir (a real path)
// because of what is above it: the .gitignore files of its parents up to the
// top of the repository that it is in, and the repository's info/exclude.
// Outside of a repository, and at the top of one, there are none. The rules of
// dir itself are not among them; see ignoreIn.
func (w *walk) ignoreAbove(dir string) (*ignoreLevel, error) {
	type parent struct {
		dir              string
		repository, file bool
	}
	var parents []parent // from dir upwards
	for {
		p := parent{dir: dir}
		var err error
		if p.repository, p.file, err = w.ignoreLook(dir); err != nil {
			return nil, err
		}
		parents = append(parents, p)
		if p.repository {
			break
		}
		if dir == w.tree.fs.Root() {
			return nil, nil
		}
		dir = path.Dir(dir)
	}
	var level *ignoreLevel
	var err error
	for i := len(parents) - 1; i > 0; i-- {
		p := parents[i]
		if level, err = w.ignoreIn(level, p.dir, w.tree.namedDir(p.dir), p.repository, p.file); err != nil {
			return nil, err
		}
	}
	return level, nil
}

// ignoreIn returns the rules that hold in dir, which is open, given those from
// above it and what dir has: a .git and a .gitignore file. A repository inside
// of another begins afresh.
func (w *walk) ignoreIn(above *ignoreLevel, dir string, open Dir, repository, file bool) (*ignoreLevel, error) {
	var err error
	if repository {
		if above, err = w.ignoreExclude(above.forget(dir), dir); err != nil {
			return nil, err
		}
	}
	if !file {
		return above, nil
	}
	content, err := w.ignoreRead(open, ".gitignore", maxIgnoreFile)
	if err != nil {
		return nil, err
	}
	return w.ignoreFile(above, dir, content), nil
}

// ignoreLook tells whether dir has a .git, and a .gitignore that is a regular
// file: git follows no symlink there.
func (w *walk) ignoreLook(dir string) (repository, file bool, err error) {
	git, err := w.ignoreLstat(join(dir, ".git"))
	if err != nil {
		return false, false, err
	}
	info, err := w.ignoreLstat(join(dir, ".gitignore"))
	return git != nil, info != nil && info.Mode().IsRegular(), err
}

// ignoreFile adds the rules of a file, relative to dir, to those of above. A
// file with which they would be over the limits is left out.
func (w *walk) ignoreFile(above *ignoreLevel, dir string, content []byte) *ignoreLevel {
	level, ok := above.with(dir, content)
	if !ok {
		w.skipped.Add(1)
	}
	return level
}

// with adds the rules of a file, relative to dir; false when they are too many,
// and left out.
func (l *ignoreLevel) with(dir string, content []byte) (*ignoreLevel, bool) {
	level := &ignoreLevel{above: l, dir: dir, text: len(content), lines: bytes.Count(content, newline) + 1}
	if l != nil {
		level.text += l.text
		level.lines += l.lines
	}
	if level.text > maxIgnoreText || level.lines > maxIgnoreLines {
		return l, false
	}
	if level.rules = parseIgnore(content); level.rules == nil {
		return l, true
	}
	return level, true
}

// ignoreExclude adds to above the rules of the info/exclude file of the
// repository whose top is dir. In a linked worktree or a submodule .git is a file that
// names another directory.
func (w *walk) ignoreExclude(above *ignoreLevel, dir string) (*ignoreLevel, error) {
	git := join(dir, ".git")
	info, err := w.ignoreLstat(git)
	if err != nil || info == nil {
		return above, err
	}
	if info.Mode().IsRegular() {
		content, err := w.ignoreRead(w.tree.namedDir(dir), ".git", 4096)
		if err != nil {
			return nil, err
		}
		to, ok := strings.CutPrefix(strings.TrimRight(string(content), "\r\n"), "gitdir: ")
		if !ok || to == "" {
			return above, nil
		}
		git = ignorePath(dir, to)
		common, err := w.ignoreReadAt(git+"/commondir", 4096)
		if err != nil {
			return nil, err
		}
		if to := strings.TrimRight(string(common), "\r\n"); to != "" {
			git = ignorePath(git, to)
		}
	}
	content, err := w.ignoreReadAt(git+"/info/exclude", maxIgnoreFile)
	if err != nil {
		return nil, err
	}
	return w.ignoreFile(above, dir, content), nil
}

// ignorePath is the path to, relative to dir, not cleaned: what ".." means after
// a symlink depends on where that leads.
func ignorePath(dir, to string) string {
	if path.IsAbs(to) {
		return to
	}
	return dir + "/" + to
}

// ignoreRead returns the first limit bytes of a regular file in an open
// directory, nothing when it cannot be read.
func (w *walk) ignoreRead(dir Dir, name string, limit int64) ([]byte, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, walkFatal(w.op, name, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, walkFatal(w.op, name, err)
	}
	return content, nil
}

// ignoreReadAt is ignoreRead of a file somewhere, which may not be there.
func (w *walk) ignoreReadAt(name string, limit int64) ([]byte, error) {
	if strings.IndexByte(name, 0) >= 0 {
		return nil, nil
	}
	resolved, info, err := w.tree.follow(w.op, name)
	if err != nil {
		return nil, walkFatal(w.op, name, err)
	}
	if info == nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	return w.ignoreRead(w.tree.namedDir(path.Dir(resolved)), path.Base(resolved), limit)
}

func (w *walk) ignoreLstat(name string) (fs.FileInfo, error) {
	info, err := w.tree.fs.Lstat(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, walkFatal(w.op, name, err)
	}
	return info, nil
}
