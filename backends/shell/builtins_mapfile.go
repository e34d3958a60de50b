package shell

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// mapfile reads lines into an array.
func (s *shell) mapfile(args []string) int {
	trim, delim, limit, skip, origin, fd := false, byte('\n'), -1, 0, -1, 0
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			break
		}
		if arg == "-t" {
			trim = true
			continue
		}
		letter, value := arg[1], arg[2:]
		if letter == 't' {
			trim, args = true, append([]string{"-" + arg[2:]}, args...)
			continue
		}
		if value == "" {
			if len(args) == 0 {
				s.errorf("mapfile: -%c: option requires an argument", letter)
				return 2
			}
			value, args = args[0], args[1:]
		}
		n, err := strconv.Atoi(value)
		switch letter {
		case 'd':
			err = nil
			if delim = 0; value != "" {
				delim = value[0]
			}
		case 'n':
			if limit = n; n == 0 {
				limit = -1
			}
		case 's':
			skip = n
		case 'O':
			origin = n
		case 'u':
			fd = n
		case 'c', 'C':
			err = nil
		default:
			s.errorf("mapfile: -%c: invalid option", letter)
			return 2
		}
		if err != nil || n < 0 && letter != 'd' {
			s.errorf("mapfile: %s: invalid number", value)
			return 1
		}
	}
	name := "MAPFILE"
	if len(args) > 0 {
		name = args[0]
	}
	if !syntax.ValidName(name) {
		s.errorf("mapfile: `%s': not a valid identifier", name)
		return 1
	}
	var lines []string
	for limit < 0 || len(lines) < limit {
		line, err := s.readUntil(s.ctx, fd, delim, maxLine)
		s.check()
		if len(line) == 0 {
			break
		}
		if skip > 0 {
			skip--
			continue
		}
		s.charge(len(line) + 24)
		if trim && line[len(line)-1] == delim {
			line = line[:len(line)-1]
		}
		lines = append(lines, string(line))
		if err != nil {
			break
		}
	}
	v := s.writable(s.deref(name))
	if v == nil {
		return 1
	}
	if origin < 0 || v.kind != indexed {
		v.list, origin = &array{}, max(origin, 0)
	} else {
		v.own()
	}
	v.kind, v.value, v.table, v.shared = indexed, "", nil, false
	for i, line := range lines {
		v.list.put(origin+i, line)
	}
	s.stored(name, v)
	return 0
}
