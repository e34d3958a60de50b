package commands

import (
	"strings"
)

var mvOptions = NewOptions(1, "b", "backup=?", "f force", "i interactive", "n no-clobber", "S suffix=", "t target-directory=", "T no-target-directory", "u update=?", "v verbose", "strip-trailing-slashes", "Z")

func mv(p *Proc) int {
	opts, code := p.Parse(mvOptions)
	if opts == nil {
		return code
	}
	backup, hasSuffix := opts.Value("S")
	if !hasSuffix && opts.Has("b", "backup") {
		backup = "~"
	}
	noClobber := opts.Last("f", "i", "n") == "n"
	failed := 0
	return p.eachTarget(opts, func(from, to string) {
		if err := p.move(opts, from, to, backup, noClobber); err != "" {
			failed = p.Errorf(1, "%s", err)
		}
	}, false, &failed)
}

// move moves one file and returns what is wrong.
func (p *Proc) move(opts *Parsed, from, to, backup string, noClobber bool) string {
	info, err := p.Lstat(from)
	if err != nil {
		return "cannot stat " + Quote(from) + ": " + Reason(err)
	}
	if there, err := p.Lstat(to); err == nil {
		switch {
		case SameFile(info, there):
			return Quote(from) + " and " + Quote(to) + " are the same file"
		case noClobber, opts.Has("u") && !info.ModTime().After(there.ModTime()):
			return ""
		case there.IsDir() && !info.IsDir():
			return "cannot overwrite directory " + Quote(to) + " with non-directory"
		case !there.IsDir() && info.IsDir():
			return "cannot overwrite non-directory " + Quote(to) + " with directory " + Quote(from)
		}
		if backup != "" {
			if err := p.Files.Rename(p.Path(to), p.Path(to+backup)); err != nil {
				return "cannot backup " + Quote(to) + ": " + Reason(err)
			}
		}
	}
	if info.IsDir() && p.isInside(from, to) {
		return "cannot move " + Quote(from) + " to a subdirectory of itself, " + Quote(to)
	}
	target := p.Path(to)
	if info.IsDir() {
		target = strings.TrimRight(target, "/")
	}
	if err := p.Files.Rename(strings.TrimRight(p.Path(from), "/"), target); err != nil {
		return "cannot move " + Quote(from) + " to " + Quote(to) + ": " + Reason(err)
	}
	if opts.Has("v") {
		p.Out.WriteString("renamed " + Quote(from) + " -> " + Quote(to) + "\n")
	}
	return ""
}
