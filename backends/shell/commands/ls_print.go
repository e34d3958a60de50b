package commands

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// print prints files; total asks for their blocks first.
func (l *lister) print(files []listed, total bool) {
	if len(files) > 0 || total && (l.long || l.blocks) {
		l.printed = true
	}
	if total && (l.long || l.blocks) {
		var sum int64
		for _, f := range files {
			sum += kilobytes(f.info)
		}
		text := strconv.FormatInt(sum, 10)
		if l.human {
			text = Human(sum * 1024)
		}
		fmt.Fprintf(l.p.Out, "total %s\n", text)
	}
	rows := make([][]string, len(files))
	var widths []int
	for i, f := range files {
		rows[i] = l.columns(f)
		for j, c := range rows[i] {
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], len(c))
		}
	}
	for i, f := range files {
		if l.p.Stopped() {
			return
		}
		for j, c := range rows[i] {
			fill := strings.Repeat(" ", widths[j]-len(c))
			if l.leftAligned(j) {
				l.p.Out.WriteString(c + fill + " ")
			} else {
				l.p.Out.WriteString(fill + c + " ")
			}
		}
		l.p.Out.WriteString(l.shown(f.name) + l.mark(f.info))
		if f.info.Mode()&fs.ModeSymlink != 0 && l.long {
			if to, err := l.p.Files.Readlink(l.p.Path(f.path)); err == nil {
				l.p.Out.WriteString(" -> " + l.shown(to))
				if info, err := l.p.Stat(f.path); err == nil && l.indicator != "" {
					l.p.Out.WriteString(l.mark(info))
				}
			}
		}
		switch {
		case l.commas && i < len(files)-1:
			l.p.Out.WriteString(", ")
		case l.commas:
			l.p.Out.WriteByte('\n')
		default:
			l.p.Out.WriteByte(l.end)
		}
	}
}

func (l *lister) shown(name string) string {
	switch {
	case l.quote:
		return strconv.Quote(name)
	case l.escape:
		q := strconv.Quote(name)
		return strings.ReplaceAll(strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`), " ", `\ `)
	}
	return name
}

// columns are what stands before the name.
func (l *lister) columns(f listed) []string {
	var out []string
	sys, _ := f.info.Sys().(*vfs.Sys)
	if sys == nil {
		sys = &vfs.Sys{Links: 1}
	}
	if l.inode {
		out = append(out, strconv.FormatUint(sys.Inode, 10))
	}
	if l.blocks {
		if l.human {
			out = append(out, Human(kilobytes(f.info)*1024))
		} else {
			out = append(out, strconv.FormatInt(kilobytes(f.info), 10))
		}
	}
	if !l.long {
		return out
	}
	out = append(out, ModeString(f.info.Mode()), strconv.Itoa(sys.Links))
	if l.owner {
		out = append(out, l.who(l.p.System.User, l.p.System.UID))
	}
	if l.group {
		out = append(out, l.who(l.p.System.Group, l.p.System.GID))
	}
	size := strconv.FormatInt(f.info.Size(), 10)
	if l.human {
		size = Human(f.info.Size())
	}
	return append(out, size, l.time(f.info.ModTime()))
}

func (l *lister) who(name string, id int) string {
	if l.numeric {
		return strconv.Itoa(id)
	}
	return name
}

// leftAligned tells which columns are text: mode, owner, group, time.
func (l *lister) leftAligned(column int) bool {
	for _, on := range []bool{l.inode, l.blocks} {
		if on {
			if column == 0 {
				return false
			}
			column--
		}
	}
	if !l.long || column == 1 {
		return false
	}
	if column == 0 {
		return true
	}
	column -= 2
	for _, on := range []bool{l.owner, l.group} {
		if on {
			if column == 0 {
				return true
			}
			column--
		}
	}
	return column == 1
}

func (l *lister) time(t time.Time) string {
	t = t.In(l.p.location())
	switch style := l.timeStyle; {
	case style == "full-iso":
		return FormatTime("%Y-%m-%d %H:%M:%S.%N %z", t)
	case style == "long-iso":
		return FormatTime("%Y-%m-%d %H:%M", t)
	case style == "iso":
		return FormatTime("%m-%d %H:%M", t)
	case strings.HasPrefix(style, "+"):
		return FormatTime(style[1:], t)
	}
	if age := time.Since(t); age > 182*24*time.Hour || age < -time.Hour {
		return FormatTime("%b %e  %Y", t)
	}
	return FormatTime("%b %e %H:%M", t)
}

// mark is what -F and -p put after a name.
func (l *lister) mark(info fs.FileInfo) string {
	mode := info.Mode()
	switch {
	case l.indicator == "":
		return ""
	case mode.IsDir():
		return "/"
	case l.indicator == "slash":
		return ""
	case mode&fs.ModeSymlink != 0:
		if l.long {
			return ""
		}
		return "@"
	case mode&fs.ModeNamedPipe != 0:
		return "|"
	case l.indicator == "classify" && mode.IsRegular() && mode&0o111 != 0:
		return "*"
	}
	return ""
}
