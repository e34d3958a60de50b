package commands

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"time"
)

const (
	diffNormal diffStyle = iota
	diffUnified
	diffContext
	diffEd
	diffRCS
	diffSideBySide
)

// diffCommand compares files and directories.
func diffCommand(p *Proc) int {
	parsed, code := p.Parse(diffFlags)
	if parsed == nil {
		return code
	}
	o := &diffOptions{width: 130, digits: -1, switches: diffSwitches(p.Args, parsed.Args)}
	for _, opt := range parsed.Options {
		if code := o.set(p, opt); code != 0 {
			return code
		}
	}
	if o.digits >= 0 && (o.style == diffUnified || o.style == diffContext) {
		o.context = o.digits
	}
	from, hasFrom := parsed.Value("from-file")
	to, hasTo := parsed.Value("to-file")
	switch {
	case hasFrom && hasTo:
		return p.Errorf(2, "--from-file and --to-file both specified")
	case hasFrom || hasTo:
		code := 0
		for _, name := range parsed.Args {
			if hasFrom {
				code = max(code, o.pair(p, from, name, true))
			} else {
				code = max(code, o.pair(p, name, to, true))
			}
		}
		return code
	case len(parsed.Args) < 2:
		last := p.Name
		if len(parsed.Args) > 0 {
			last = parsed.Args[0]
		} else if len(p.Args) > 0 {
			last = p.Args[len(p.Args)-1]
		}
		return p.Usage(2, "missing operand after '%s'", last)
	case len(parsed.Args) > 2:
		return p.Usage(2, "extra operand '%s'", parsed.Args[2])
	}
	return o.pair(p, parsed.Args[0], parsed.Args[1], true)
}

// pair compares two names; top tells that they are operands.
func (o *diffOptions) pair(p *Proc, a, b string, top bool) int {
	sides := [2]*diffSide{{name: a}, {name: b}}
	code := 0
	for i, s := range sides {
		if err := o.look(p, s); err != nil && (top && (!o.newFile && (!o.oneWay || i == 1) || !notExist(err))) {
			p.FileError(s.name, err)
			code = 2
		}
	}
	if code == 0 && !sides[0].exists && !sides[1].exists {
		p.Errorf(2, "%s: No such file or directory", a)
		p.Errorf(2, "%s: No such file or directory", b)
		return 2
	}
	if code != 0 {
		return code
	}
	if top && sides[0].exists && sides[1].exists && sides[0].isDir != sides[1].isDir {
		dir, file := sides[0], sides[1]
		if file.isDir {
			dir, file = file, dir
		}
		if file.name == "-" {
			return p.Errorf(2, "cannot compare '-' to a directory")
		}
		dir.name = Join(dir.name, path.Base(file.name))
		if err := o.look(p, dir); err != nil && !o.newFile {
			p.FileError(dir.name, err)
			return 2
		}
	}
	bothDirs := (sides[0].isDir || !sides[0].exists) && (sides[1].isDir || !sides[1].exists)
	switch {
	case bothDirs && (top || o.recursive):
		return o.dirs(p, sides)
	case bothDirs:
		fmt.Fprintf(p.Out, "Common subdirectories: %s and %s\n", headName(sides[0].name), headName(sides[1].name))
		return 0
	case o.noFollow && sides[0].exists && sides[1].exists && (kindOf(sides[0]) == "symbolic link") && kindOf(sides[1]) == "symbolic link":
		return o.links(p, sides)
	case (!top || sides[0].isDir || sides[1].isDir) && sides[0].exists && sides[1].exists && kindOf(sides[0]) != kindOf(sides[1]):
		fmt.Fprintf(p.Out, "File %s is a %s while file %s is a %s\n", sides[0].name, kindOf(sides[0]), sides[1].name, kindOf(sides[1]))
		return 1
	}
	return o.files(p, sides, top)
}

// files compares two files.
func (o *diffOptions) files(p *Proc, sides [2]*diffSide, top bool) int {
	held := p.held
	defer func() { p.Release(int(p.held - held)) }()
	for i, s := range sides {
		if i == 1 && s.name == sides[0].name && s.exists {
			s.content = sides[0].content // the same file, or the same standard input
			continue
		}
		if !s.exists {
			continue
		}
		content, err := p.ReadFile(s.name)
		if err != nil {
			p.FileError(s.name, err)
			return 2
		}
		s.content = content
	}
	if bytes.Equal(sides[0].content, sides[1].content) {
		if o.same {
			fmt.Fprintf(p.Out, "Files %s and %s are identical\n", sides[0].name, sides[1].name)
		}
		if o.style == diffSideBySide && !o.brief && !o.suppressCommon {
			if _, err := o.split(p, sides); err != nil {
				return p.Errorf(2, "%s", Reason(err))
			}
			o.print(p, sides, nil)
		}
		return 0
	}
	binaries := !o.text && (isBinary(sides[0].content) || isBinary(sides[1].content))
	loose := o.ignoreCase || o.allSpace || o.spaceChange || o.trailingSpace || o.tabExpansion || o.blankLines || o.ignoreLines != nil || o.stripCR
	if binaries || o.brief && !loose {
		if o.brief {
			fmt.Fprintf(p.Out, "Files %s and %s differ\n", sides[0].name, sides[1].name)
			return 1
		}
		fmt.Fprintf(p.Out, "Binary files %s and %s differ\n", sides[0].name, sides[1].name)
		return 1
	}
	changes, err := o.changes(p, sides)
	if err != nil {
		if !p.Stopped() {
			p.Errorf(2, "%s", Reason(err))
		}
		return 2
	}
	differs := slices.ContainsFunc(changes, func(c diffChange) bool { return !c.ignored })
	switch {
	case !differs && o.same:
		fmt.Fprintf(p.Out, "Files %s and %s are identical\n", sides[0].name, sides[1].name)
		return 0
	case differs && o.brief:
		fmt.Fprintf(p.Out, "Files %s and %s differ\n", sides[0].name, sides[1].name)
		return 1
	case o.brief || !differs && o.style != diffSideBySide:
		return 0
	}
	if !top && differs {
		fmt.Fprintf(p.Out, "diff%s %s %s\n", o.switches, headName(sides[0].name), headName(sides[1].name))
	}
	o.print(p, sides, changes)
	if !differs {
		return 0
	}
	return 1
}

// look finds out what a side is.
func (o *diffOptions) look(p *Proc, s *diffSide) error {
	s.time = time.Unix(0, 0)
	if s.name == "-" {
		s.exists, s.time = true, time.Now()
		return nil
	}
	stat := p.Stat
	if o.noFollow {
		stat = p.Lstat
	}
	info, err := stat(s.name)
	if err != nil {
		return err
	}
	s.exists, s.info, s.isDir, s.time = true, info, info.IsDir(), info.ModTime()
	return nil
}
