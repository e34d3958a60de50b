package commands

import (
	"archive/tar"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// addExclude keeps a pattern: it matches whole names, or what follows any "/",
// and everything below.
func (t *tarRun) addExclude(pattern string) int {
	re, err := regexp.Compile(`(?s)(?:^|/)` + wildcardRegexp(strings.TrimSuffix(pattern, "/")) + `(?:/|$)`)
	if err != nil {
		return t.p.Errorf(2, "%s: the pattern cannot be understood", pattern)
	}
	t.exclude = append(t.exclude, re)
	return 0
}

func (t *tarRun) excluded(name string) bool {
	for _, re := range t.exclude {
		if re.MatchString(strings.TrimSuffix(name, "/")) {
			return true
		}
	}
	return false
}

// wildcardRegexp writes a pattern of file names, whose wildcards match "/" too,
// as a regular expression.
func wildcardRegexp(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			end := strings.IndexByte(pattern[min(i+2, len(pattern)):], ']')
			if end < 0 {
				b.WriteString(`\[`)
				continue
			}
			set := pattern[i+1 : i+2+end]
			b.WriteByte('[')
			if set[0] == '!' || set[0] == '^' {
				b.WriteByte('^')
				set = set[1:]
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(set) + "]")
			i += end + 2
		case '\\':
			if i+1 < len(pattern) {
				i++
			}
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
			if c >= 0x80 {
				s := b.String()
				b.Reset()
				b.WriteString(s[:len(s)-len(regexp.QuoteMeta(pattern[i:i+1]))])
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

// show prints a member for -v and -t.
func (t *tarRun) show(h *tar.Header, long bool) {
	name := tarQuote(h.Name)
	if !long {
		fmt.Fprintln(t.listing, name)
		return
	}
	user, group := h.Uname, h.Gname
	if user == "" || t.given["numeric-owner"] {
		user = strconv.Itoa(h.Uid)
	}
	if group == "" || t.given["numeric-owner"] {
		group = strconv.Itoa(h.Gid)
	}
	size := strconv.FormatInt(h.Size, 10)
	if h.Typeflag == tar.TypeLink || h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeDir {
		size = "0"
	}
	used := len(user) + 1 + len(group) + 1 + len(size)
	t.width = max(t.width, used)
	layout := "2006-01-02 15:04"
	if t.given["full-time"] {
		layout = "2006-01-02 15:04:05"
	}
	loc := t.p.location()
	if t.given["utc"] {
		loc = time.UTC
	}
	fmt.Fprintf(t.listing, "%s %s/%s %*s %s %s", tarMode(h), user, group, t.width-used+len(size), size, h.ModTime.In(loc).Format(layout), name)
	switch h.Typeflag {
	case tar.TypeSymlink:
		fmt.Fprintf(t.listing, " -> %s", tarQuote(h.Linkname))
	case tar.TypeLink:
		fmt.Fprintf(t.listing, " link to %s", tarQuote(h.Linkname))
	}
	fmt.Fprintln(t.listing)
}

func tarMode(h *tar.Header) string {
	kind := map[byte]byte{tar.TypeDir: 'd', tar.TypeSymlink: 'l', tar.TypeLink: 'h', tar.TypeChar: 'c', tar.TypeBlock: 'b', tar.TypeFifo: 'p'}[h.Typeflag]
	if kind == 0 {
		kind = '-'
	}
	text := []byte(fs.FileMode(h.Mode & 0o777).String())
	text[0] = kind
	for i, bit := range []int64{0o4000, 0o2000, 0o1000} {
		if h.Mode&bit != 0 {
			at := 3 * (i + 1)
			set := "sst"[i]
			if text[at] == '-' {
				set -= 'a' - 'A'
			}
			text[at] = set
		}
	}
	return string(text)
}

// tarQuote escapes what would break lines.
func tarQuote(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f }) {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		at := strings.IndexByte("\a\b\t\n\v\f\r\\", c)
		switch {
		case at >= 0:
			b.WriteString(`\` + `abtnvfr\`[at:at+1])
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
