package commands

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"strings"
)

var sortOptions = NewOptions(2, "b ignore-leading-blanks", "d dictionary-order", "f ignore-case", "g general-numeric-sort", "h human-numeric-sort",
	"i ignore-nonprinting", "M month-sort", "n numeric-sort", "R random-sort", "r reverse", "V version-sort", "sort=", "c", "check=?", "C",
	"k key=", "m merge", "o output=", "s stable", "S buffer-size=", "t field-separator=", "T temporary-directory=", "u unique",
	"z zero-terminated", "parallel=", "batch-size=", "compress-program=", "random-source=", "files0-from=", "debug")

func sortLines(p *Proc) int {
	o, code := p.Parse(sortOptions)
	if o == nil {
		return code
	}
	s, check, problem := newSorting(o)
	if strings.HasSuffix(problem, "for '--sort'") {
		return p.Usage(1, "%s", problem)
	}
	if problem != "" {
		return p.Errorf(2, "%s", problem)
	}
	if list, ok := o.Value("files0-from"); ok {
		names, err := p.ReadFile(list)
		if err != nil {
			return p.Errorf(2, "open failed: %s: %s", list, Reason(err))
		}
		o.Args = append(o.Args, splitNul(names)...)
	}
	if check != 0 {
		if len(o.Args) > 1 {
			return p.Errorf(2, "extra operand %s not allowed with -%c", Quote(o.Args[1]), check)
		}
		return sortCheck(p, o, s, check)
	}
	lines, code := sortRead(p, o)
	if code != 0 {
		return code
	}
	compared := 0
	stopped := false
	slices.SortStableFunc(lines, func(a, b []byte) int {
		if compared++; compared%4096 == 0 && p.Stopped() {
			stopped = true
		}
		if stopped {
			return 0
		}
		return s.compare(a, b)
	})
	if stopped {
		return 2
	}
	write := func(w io.Writer) error {
		buffered := newBlocks(w)
		sep := separator(o)
		var last []byte
		for i, line := range lines {
			if s.unique && i > 0 && s.compare(last, line) == 0 {
				continue
			}
			last = line
			buffered.Write(line)
			if err := buffered.WriteByte(sep); err != nil {
				return err
			}
		}
		return buffered.Flush()
	}
	name, toFile := o.Value("o")
	if !toFile {
		if write(p.Out) != nil {
			return 2
		}
		return 0
	}
	w, err := p.Create(name)
	if err != nil {
		return p.Errorf(2, "open failed: %s: %s", name, Reason(err))
	}
	err = write(w)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	if err != nil && !p.Stopped() {
		return p.Errorf(2, "write failed: %s: %s", name, Reason(err))
	}
	return 0
}

// newSorting reads the options. check is 'c' or 'C' when order is only checked.
func newSorting(o *Parsed) (s *sorting, check byte, problem string) {
	s = &sorting{sep: -1, seed: maphash.MakeSeed()}
	global := sortKey{endField: -1}
	kinds := map[string]byte{"general-numeric": 'g', "human-numeric": 'h', "month": 'M', "numeric": 'n', "random": 'R', "version": 'V'}
	for _, opt := range o.Options {
		switch opt.Key {
		case "b", "d", "f", "g", "h", "i", "M", "n", "R", "r", "V":
			global.set(opt.Key[0], true, true)
		case "sort":
			kind, ok := kinds[opt.Value]
			if !ok {
				return nil, 0, "invalid argument " + Quote(opt.Value) + " for '--sort'"
			}
			global.kind = kind
		case "c", "C", "check":
			check = opt.Key[0]
			if opt.Value == "quiet" || opt.Value == "silent" {
				check = 'C'
			}
		case "k":
			k, problem := parseSortKey(opt.Value)
			if problem != "" {
				return nil, 0, problem
			}
			s.keys = append(s.keys, k)
		case "s":
			s.stable = true
		case "u":
			s.unique = true
		case "t":
			sep := opt.Value
			if sep == `\0` {
				sep = "\x00"
			}
			switch {
			case sep == "":
				return nil, 0, "empty tab"
			case len(sep) > 1:
				return nil, 0, "multi-character tab " + Quote(sep)
			case s.sep >= 0 && s.sep != int(sep[0]):
				return nil, 0, "incompatible tabs"
			}
			s.sep = int(sep[0])
		}
	}
	s.reverse = global.reverse
	for i, k := range s.keys {
		if k.own {
			continue
		}
		g := global
		g.field, g.char, g.endField, g.endChar = k.field, k.char, k.endField, k.endChar
		s.keys[i] = g
	}
	if len(s.keys) == 0 {
		plain := global
		plain.reverse, plain.skipEnd = false, false
		if plain != (sortKey{endField: -1}) || s.unique || s.stable {
			s.keys = []sortKey{global}
		}
	}
	for _, k := range s.keys {
		if k.kind != 0 && k.kind != 'V' && k.kind != 'R' && (k.dictionary || k.printable) {
			other := "d"
			if !k.dictionary {
				other = "i"
			}
			return nil, 0, "options '-" + other + string(k.kind) + "' are incompatible"
		}
	}
	return s, check, ""
}

// sortRead reads all lines.
func sortRead(p *Proc, o *Parsed) (lines [][]byte, code int) {
	names := o.Args
	if len(names) == 0 {
		names = []string{"-"}
	}
	sep := separator(o)
	for _, name := range names {
		text, err := p.ReadFile(name)
		if err != nil {
			if p.Stopped() {
				return nil, 2
			}
			if name != "-" && strings.HasPrefix(Reason(err), "Is a dir") {
				return nil, p.Errorf(2, "read failed: %s: %s", name, Reason(err))
			}
			if errors.Is(err, ErrMemory) {
				return nil, p.Errorf(2, "memory exhausted")
			}
			return nil, p.Errorf(2, "cannot read: %s: %s", name, Reason(err))
		}
		if len(text) == 0 {
			continue
		}
		if text[len(text)-1] == sep {
			text = text[:len(text)-1]
		}
		// A slice a line, and as much again to merge.
		if p.Hold(3*24*(bytes.Count(text, []byte{sep})+1)) != nil {
			return nil, p.Errorf(2, "memory exhausted")
		}
		lines = append(lines, bytes.Split(text, []byte{sep})...)
	}
	return lines, 0
}

func sortCheck(p *Proc, o *Parsed, s *sorting, check byte) int {
	name := "-"
	if len(o.Args) > 0 {
		name = o.Args[0]
	}
	code := p.input(name, func(_ string, r io.Reader) (int, error) {
		lines := p.Lines(r, separator(o))
		defer lines.Close()
		var last []byte
		for n := 1; lines.Next(); n++ {
			line := lines.Bytes()
			if n > 1 {
				if c := s.compare(last, line); c > 0 || c == 0 && s.unique {
					if check == 'c' {
						p.Errorf(1, "%s:%d: disorder: %s", name, n, line)
					}
					return 1, nil
				}
			}
			if cap(last) < len(line) {
				if err := p.Hold(len(line) - cap(last)); err != nil {
					return 2, err
				}
			}
			last = append(last[:0], line...)
		}
		return 0, lines.Err()
	})
	return code
}
