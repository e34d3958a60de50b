package commands

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

var statOptions = NewOptions(1, "L dereference", "f file-system", "c format=", "printf=", "t terse", "cached=")

func stat(p *Proc) int {
	opts, code := p.Parse(statOptions)
	if opts == nil {
		return code
	}
	if len(opts.Args) == 0 {
		return p.Usage(1, "missing operand")
	}
	for _, name := range opts.Args {
		read := p.Lstat
		if opts.Has("L") || name == "-" {
			read = p.Stat
		}
		info, err := read(name)
		if err != nil {
			code = p.Errorf(1, "cannot statx %s: %s", Quote(name), Reason(err))
			continue
		}
		switch format, ok := opts.Value("c"); {
		case opts.Has("f"):
			bytes, entries, _ := p.Files.Used()
			fmt.Fprintf(p.Out, "  File: \"%s\"\n    ID: 0        Namelen: 255     Type: workspace\nBlock size: 4096       Fundamental block size: 4096\nUsed: %d bytes  Files: %d\n", name, bytes, entries)
		case ok:
			p.Out.WriteString(p.statFormat(format, name, info) + "\n")
		case opts.Has("printf"):
			format, _ := opts.Value("printf")
			// Escapes are read first, so that a name keeps its backslashes.
			text, _ := Unescape(strings.ReplaceAll(format, "%%", "%\x00"), FormatEscapes)
			p.Out.WriteString(p.statFormat(strings.ReplaceAll(text, "%\x00", "%%"), name, info))
		case opts.Has("t"):
			p.Out.WriteString(p.statFormat("%n %s %b %f %u %g %D %i %h 0 0 %X %Y %Z %W %o\n", name, info))
		default:
			p.Out.WriteString(p.statFormat(statLong(info), name, info))
		}
	}
	return code
}

func statLong(info fs.FileInfo) string {
	name := "%n"
	if info.Mode()&fs.ModeSymlink != 0 {
		name = "%N"
	}
	return "  File: " + name + "\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\nDevice: 0,1\tInode: %-11i Links: %h\nAccess: (%04a/%A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: -\n"
}

// statFormat is stat -c.
func (p *Proc) statFormat(format, name string, info fs.FileInfo) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		start := i
		for i++; i < len(format) && strings.IndexByte("-+ #0'.123456789", format[i]) >= 0; i++ {
		}
		if i == len(format) {
			b.WriteString(format[start:])
			break
		}
		spec := format[start+1 : i]
		verb := format[i]
		if (verb == 'H' || verb == 'L') && i+1 < len(format) && (format[i+1] == 'd' || format[i+1] == 'r') {
			i++
		}
		text := p.statDirective(verb, name, info)
		if verb == '%' {
			b.WriteByte('%')
			continue
		}
		width, err := strconv.Atoi(strings.TrimLeft(spec, "-+ #0'"))
		if err != nil {
			width = 0
		}
		fill := max(0, min(width, 4096)-len(text))
		switch {
		case strings.HasPrefix(spec, "-"):
			b.WriteString(text + strings.Repeat(" ", fill))
		case strings.HasPrefix(spec, "0"):
			b.WriteString(strings.Repeat("0", fill) + text)
		default:
			b.WriteString(strings.Repeat(" ", fill) + text)
		}
	}
	return b.String()
}

func (p *Proc) statDirective(verb byte, name string, info fs.FileInfo) string {
	sys := sysOf(info)
	t := info.ModTime().In(p.location())
	full := FormatTime("%Y-%m-%d %H:%M:%S.%N %z", t)
	epoch := strconv.FormatInt(t.Unix(), 10)
	switch verb {
	case 'n':
		return name
	case 'N':
		if to, err := p.Files.Readlink(p.Path(name)); err == nil {
			return Quote(name) + " -> " + Quote(to)
		}
		return Quote(name)
	case 's':
		return strconv.FormatInt(info.Size(), 10)
	case 'b':
		return strconv.FormatInt(2*kilobytes(info), 10)
	case 'B':
		return "512"
	case 'o':
		return "4096"
	case 'f':
		return strconv.FormatUint(uint64(unixMode(info.Mode())), 16)
	case 'a':
		return strconv.FormatUint(uint64(unixMode(info.Mode())&0o7777), 8)
	case 'A':
		return ModeString(info.Mode())
	case 'F':
		return kindName(info)
	case 'u':
		return strconv.Itoa(p.System.UID)
	case 'g':
		return strconv.Itoa(p.System.GID)
	case 'U':
		return p.System.User
	case 'G':
		return p.System.Group
	case 'h':
		return strconv.Itoa(sys.Links)
	case 'i':
		return strconv.FormatUint(sys.Inode, 10)
	case 'd', 'D', 'H', 'L':
		return "1"
	case 'm':
		return "/"
	case 'x', 'y', 'z':
		return full
	case 'X', 'Y', 'Z':
		return epoch
	case 'w':
		return "-"
	case 'W', 't', 'T', 'r', 'R':
		return "0"
	case 'C':
		return "?"
	}
	return "?"
}

// unixMode is a mode with the bits that st_mode has.
func unixMode(mode fs.FileMode) uint32 {
	out := uint32(mode.Perm())
	switch {
	case mode.IsDir():
		out |= 0o040000
	case mode&fs.ModeSymlink != 0:
		out |= 0o120000
	case mode&fs.ModeCharDevice != 0:
		out |= 0o020000
	case mode&fs.ModeNamedPipe != 0:
		out |= 0o010000
	default:
		out |= 0o100000
	}
	if mode&fs.ModeSticky != 0 {
		out |= 0o1000
	}
	return out
}
