package fsops

import (
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
func (t *Tree) ignoreAbove(dir string) (*ignoreLevel, error) {
	type parent struct {
		dir              string
		repository, file bool
	}
	var parents []parent // from dir upwards
	for {
		p := parent{dir: dir}
		var err error
		if p.repository, p.file, err = t.ignoreLook(dir); err != nil {
			return nil, err
		}
		parents = append(parents, p)
		if p.repository {
			break
		}
		if dir == t.fs.Root() {
			return nil, nil
		}
		dir = path.Dir(dir)
	}
	var level *ignoreLevel
	var err error
	for i := len(parents) - 1; i > 0; i-- {
		p := parents[i]
		if level, err = t.ignoreIn(level, p.dir, p.repository, p.file); err != nil {
			return nil, err
		}
	}
	return level, nil
}

// ignoreIn returns the rules that hold in dir, given those from above it and
// what dir has: a .git and a .gitignore file. A repository inside of another
// begins afresh.
func (t *Tree) ignoreIn(above *ignoreLevel, dir string, repository, file bool) (*ignoreLevel, error) {
	var err error
	if repository {
		if above, err = t.ignoreExclude(dir); err != nil {
			return nil, err
		}
	}
	if !file {
		return above, nil
	}
	return t.ignoreFile(above, dir, join(dir, ".gitignore"))
}

// ignoreLook tells whether dir has a .git, and a .gitignore that is a regular
// file: git follows no symlink there.
func (t *Tree) ignoreLook(dir string) (repository, file bool, err error) {
	git, err := t.ignoreLstat(join(dir, ".git"))
	if err != nil {
		return false, false, err
	}
	info, err := t.ignoreLstat(join(dir, ".gitignore"))
	return git != nil, info != nil && info.Mode().IsRegular(), err
}

// ignoreFile adds the rules of file, relative to dir, to those of above.
func (t *Tree) ignoreFile(above *ignoreLevel, dir, file string) (*ignoreLevel, error) {
	content, err := t.ignoreRead(file, maxIgnoreFile)
	if err != nil {
		return nil, err
	}
	rules := parseIgnore(content)
	if rules == nil {
		return above, nil
	}
	return &ignoreLevel{above: above, dir: dir, rules: rules}, nil
}

// ignoreExclude returns the rules of the info/exclude file of the repository
// whose top is dir. In a linked worktree or a submodule .git is a file that
// names another directory.
func (t *Tree) ignoreExclude(dir string) (*ignoreLevel, error) {
	git := join(dir, ".git")
	info, err := t.ignoreLstat(git)
	if err != nil || info == nil {
		return nil, err
	}
	if info.Mode().IsRegular() {
		content, err := t.ignoreRead(git, 4096)
		if err != nil {
			return nil, err
		}
		to, ok := strings.CutPrefix(strings.TrimRight(string(content), "\r\n"), "gitdir: ")
		if !ok || to == "" {
			return nil, nil
		}
		git = ignorePath(dir, to)
		common, err := t.ignoreRead(git+"/commondir", 4096)
		if err != nil {
			return nil, err
		}
		if to := strings.TrimRight(string(common), "\r\n"); to != "" {
			git = ignorePath(git, to)
		}
	}
	return t.ignoreFile(nil, dir, git+"/info/exclude")
}

func ignorePath(dir, to string) string {
	if !path.IsAbs(to) {
		to = dir + "/" + to
	}
	return path.Clean(to)
}

// ignoreRead returns the first limit bytes of a regular file, nothing when
// there is none that can be read.
func (t *Tree) ignoreRead(name string, limit int64) ([]byte, error) {
	if strings.IndexByte(name, 0) >= 0 {
		return nil, nil
	}
	_, f, _, err := t.openRegular("search", name)
	if err != nil {
		return nil, walkFatal("search", name, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, walkFatal("search", name, err)
	}
	return content, nil
}

func (t *Tree) ignoreLstat(name string) (fs.FileInfo, error) {
	info, err := t.fs.Lstat(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, walkFatal("search", name, err)
	}
	return info, nil
}
