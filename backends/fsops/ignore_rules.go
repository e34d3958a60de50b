package fsops

import "path"

// Ignore are the rules of .gitignore files, for who walks directories without a
// [Tree]. Nil has no rules. One is used by one goroutine.
type Ignore struct {
	level   *ignoreLevel
	scratch *ignoreScratch
}

// With returns i and, above its rules, those of a file in dir, which is an
// absolute clean path. Rules beyond what a search takes are left out.
func (i *Ignore) With(dir string, content []byte) *Ignore {
	out := &Ignore{scratch: &ignoreScratch{}}
	if i != nil {
		*out = *i
	}
	out.level, _ = out.level.with(dir, content[:min(len(content), maxIgnoreFile)])
	return out
}

// Says tells whether the rules leave out a path below the directories that they
// are of, and whether they say anything about it.
func (i *Ignore) Says(name string, dir bool) (ignored, said bool) {
	if i == nil {
		return false, false
	}
	v := i.level.verdict([]byte(name), []byte(path.Base(name)), dir, i.scratch)
	return v == ignoreYes, v != ignoreUnsaid
}
