package shell

import (
	"slices"
	"strings"
)

// addGlobbed adds a field to out: the files that it matches where it is a
// pattern, or its text.
func (s *shell) addGlobbed(out []string, field []piece) []string {
	if s.options.noglob || !globs(field, s.options.extglob) {
		return append(out, join(field))
	}
	found := s.glob(patternOf(field))
	switch {
	case len(found) > 0:
		return append(out, found...)
	case s.options.nullglob:
		return out
	case s.options.failglob:
		s.errorf("no match: %s", join(field))
		panic(failed{code: 1})
	}
	return append(out, join(field))
}

func globs(field []piece, ext bool) bool {
	return slices.ContainsFunc(field, func(p piece) bool {
		return !p.quoted && (strings.ContainsAny(p.text, "*?[") || ext && strings.ContainsAny(p.text, "+@!"))
	})
}

// glob returns the files that match a pattern, by name.
func (s *shell) glob(pattern string) []string {
	found := []string{""}
	rest := pattern
	if strings.HasPrefix(rest, "/") {
		n := len(rest) - len(strings.TrimLeft(rest, "/"))
		found[0], rest = rest[:n], rest[n:]
	}
	for rest != "" {
		part, more, deeper := cutSlash(rest)
		rest = more
		var next []string
		for _, base := range found {
			s.step()
			next = s.globPart(next, base, part, deeper)
			if len(next) > maxFields {
				s.m.fail(overLimit("a pattern matched more than %d files", maxFields))
				panic(stopped{})
			}
		}
		if deeper && part != "**" {
			slashes := "/"
			for strings.HasPrefix(rest, "/") {
				slashes, rest = slashes+"/", rest[1:]
			}
			for i := range next {
				s.charge(len(next[i]) + len(slashes))
				next[i] += slashes
			}
		} else if deeper {
			rest = strings.TrimLeft(rest, "/")
		}
		if found = next; len(found) == 0 {
			return nil
		}
	}
	found = slices.DeleteFunc(found, func(f string) bool { return f == "" })
	slices.Sort(found)
	return slices.Compact(found)
}

// cutSlash is strings.Cut at the first "/" that is not in brackets of a group.
func cutSlash(p string) (part, rest string, found bool) {
	depth := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			depth--
		case '/':
			if depth <= 0 {
				return p[:i], p[i+1:], true
			}
		}
	}
	return p, "", false
}

// globPart adds to out what part matches in the directory base, which ends in
// "/" or is empty.
func (s *shell) globPart(out []string, base, part string, deeper bool) []string {
	if text, ok := literalPattern(part); ok {
		name := base + text
		info, err := s.m.files.Lstat(s.path(name))
		if err == nil && deeper {
			info, err = s.m.files.Stat(s.path(name))
		}
		if text == "" || err == nil && (!deeper || info.IsDir()) {
			return append(out, name)
		}
		return out
	}
	if part == "**" && s.options.globstar {
		if deeper {
			out = append(out, base)
		} else if base != "" {
			out = append(out, base)
		}
		return s.globAll(out, base, deeper, 0)
	}
	dir := base
	if dir == "" {
		dir = "."
	}
	entries, err := s.m.files.ReadDir(s.path(dir))
	if err != nil {
		return out
	}
	mode := patternMode{fold: s.options.nocaseglob, filename: true, dots: s.options.dotglob}
	for i, e := range entries {
		if i%1024 == 1023 {
			s.check()
		}
		name := e.Name()
		if name[0] == '.' && !s.options.dotglob && !strings.HasPrefix(part, ".") && !strings.HasPrefix(part, `\.`) {
			continue
		}
		if !s.matchesMode(part, name, mode) {
			continue
		}
		if deeper && !s.isDir(base+name, e.IsDir(), e.Type() != 0) {
			continue
		}
		s.charge(len(base) + len(name) + 16)
		out = append(out, base+name)
	}
	return out
}

func (s *shell) isDir(name string, dir, special bool) bool {
	if dir || !special {
		return dir
	}
	info, err := s.m.files.Stat(s.path(name))
	return err == nil && info.IsDir()
}

// globAll adds all files and directories below base, or with dirs the
// directories only, each with a final "/".
func (s *shell) globAll(out []string, base string, dirs bool, depth int) []string {
	s.step()
	dir := base
	if dir == "" {
		dir = "."
	}
	entries, err := s.m.files.ReadDir(s.path(dir))
	if err != nil || depth > 1000 {
		return out
	}
	for _, e := range entries {
		if e.Name()[0] == '.' && !s.options.dotglob {
			continue
		}
		name := base + e.Name()
		s.charge(len(name) + 16)
		if !dirs {
			out = append(out, name)
		}
		if e.IsDir() {
			if dirs {
				out = append(out, name+"/")
			}
			out = s.globAll(out, name+"/", dirs, depth+1)
		}
		if len(out) > maxFields {
			s.m.fail(overLimit("a pattern matched more than %d files", maxFields))
			panic(stopped{})
		}
	}
	return out
}
