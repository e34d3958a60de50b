package commands

import (
	"bytes"
	bits "encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

var fileOptions = NewOptions(1, "b brief", "i mime", "mime-type", "mime-encoding", "L dereference", "h no-dereference", "f files-from=", "F separator=", "0 print0", "z uncompress", "k keep-going", "N no-pad", "E", "s special-files")

func fileCommand(p *Proc) int {
	opts, code := p.Parse(fileOptions)
	if opts == nil {
		return code
	}
	if len(opts.Args) == 0 {
		return p.Usage(1, "missing file operand")
	}
	width := 0
	for _, name := range opts.Args {
		width = max(width, len(name))
	}
	if opts.Has("N") {
		width = 0
	}
	for _, name := range opts.Args {
		text, mime := p.describeFile(name, opts.Has("L"))
		encoding := "binary"
		if i := strings.Index(mime, "; charset="); i >= 0 {
			encoding, mime = mime[i+10:], mime[:i]
		}
		switch {
		case opts.Has("mime-type"):
			text = mime
		case opts.Has("mime-encoding"):
			text = encoding
		case opts.Has("i"):
			text = mime + "; charset=" + encoding
		}
		if opts.Has("b") {
			p.Out.WriteString(text + "\n")
			continue
		}
		sep, ok := opts.Value("F")
		if !ok {
			sep = ":"
		}
		p.Out.WriteString(name + sep + strings.Repeat(" ", max(0, width-len(name))) + " " + text + "\n")
	}
	return 0
}

// describeFile tells what a file holds, in words and as a media type.
func (p *Proc) describeFile(name string, follow bool) (text, mime string) {
	if name == "-" {
		head := make([]byte, 64<<10)
		n, err := io.ReadFull(p.Stdin, head)
		if err != nil && n == 0 {
			return "empty", "inode/x-empty"
		}
		return describeContent(head[:n], int64(n))
	}
	info, err := p.Lstat(name)
	if err == nil && follow {
		info, err = p.Stat(name)
	}
	if err != nil {
		return fmt.Sprintf("cannot open `%s' (%s)", name, Reason(err)), "cannot open"
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "directory", "inode/directory"
	case mode&fs.ModeSymlink != 0:
		to, err := p.Files.Readlink(p.Path(name))
		if err != nil {
			return "unreadable symlink", "inode/symlink"
		}
		if _, err := p.Stat(name); err != nil {
			return "broken symbolic link to " + to, "inode/symlink"
		}
		return "symbolic link to " + to, "inode/symlink"
	case mode&fs.ModeCharDevice != 0:
		return "character special", "inode/chardevice"
	case info.Size() == 0:
		return "empty", "inode/x-empty"
	}
	f, err := p.Open(name)
	if err != nil {
		return "regular file, no read permission", "application/octet-stream"
	}
	defer f.Close()
	head := make([]byte, 1<<20)
	n, _ := io.ReadFull(f, head) // a short file is read as far as it goes
	return describeContent(head[:n], info.Size())
}

// magics are the starts of formats.
var magics = []struct{ start, text, mime string }{
	{"\x89PNG\r\n\x1a\n", "PNG image data", "image/png"},
	{"\xff\xd8\xff", "JPEG image data", "image/jpeg"},
	{"GIF87a", "GIF image data, version 87a", "image/gif"},
	{"GIF89a", "GIF image data, version 89a", "image/gif"},
	{"%PDF-", "PDF document", "application/pdf"},
	{"\x1f\x8b", "gzip compressed data", "application/gzip"},
	{"BZh", "bzip2 compressed data", "application/x-bzip2"},
	{"\xfd7zXZ\x00", "XZ compressed data", "application/x-xz"},
	{"\x28\xb5\x2f\xfd", "Zstandard compressed data", "application/zstd"},
	{"PK\x03\x04", "Zip archive data, at least v2.0 to extract", "application/zip"},
	{"7z\xbc\xaf\x27\x1c", "7-zip archive data", "application/x-7z-compressed"},
	{"\x7fELF", "ELF", "application/x-executable"},
	{"SQLite format 3\x00", "SQLite 3.x database", "application/vnd.sqlite3"},
	{"OggS", "Ogg data", "audio/ogg"},
	{"ID3", "Audio file with ID3 version 2", "audio/mpeg"},
	{"\x00asm", "WebAssembly (wasm) binary module", "application/wasm"},
	{"wOF2", "Web Open Font Format (Version 2)", "font/woff2"},
}

func describeContent(head []byte, size int64) (text, mime string) {
	if size == 0 {
		return "empty", "inode/x-empty"
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.start)) {
			if m.mime == "image/png" && len(head) >= 26 {
				return fmt.Sprintf("PNG image data, %d x %d, %d-bit/color", bits.BigEndian.Uint32(head[16:]), bits.BigEndian.Uint32(head[20:]), head[24]), m.mime
			}
			return m.text, m.mime
		}
	}
	if len(head) > 262 && string(head[257:262]) == "ustar" {
		return "POSIX tar archive", "application/x-tar"
	}
	if len(head) > 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP" {
		return "RIFF (little-endian) data, Web/P image", "image/webp"
	}
	return describeText(head)
}

func describeText(head []byte) (text, mime string) {
	kind, charset := "ASCII text", "us-ascii"
	body := head
	for i := range body {
		if c := body[i]; c < 7 || c > 13 && c < 27 || c > 27 && c < 32 || c == 127 {
			return "data", "application/octet-stream"
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		kind, charset = "Unicode text, UTF-8 (with BOM) text", "utf-8"
	case bytes.IndexFunc(head, func(r rune) bool { return r > 0x7f }) < 0:
	case utf8.Valid(trimRune(head)):
		kind, charset = "Unicode text, UTF-8 text", "utf-8"
	default:
		kind, charset = "ISO-8859 text", "iso-8859-1"
	}
	media := "text/plain"
	first, _, _ := bytes.Cut(head, []byte("\n"))
	switch line := strings.TrimRight(string(first), "\r"); {
	case strings.HasPrefix(line, "#!"):
		words := strings.Fields(line[2:])
		base := ""
		if len(words) > 0 {
			base = path.Base(words[0])
			if base == "env" && len(words) > 1 {
				base = words[1]
			}
		}
		label := base + " script"
		switch {
		case strings.HasPrefix(base, "python"):
			label, media = "Python script", "text/x-script.python"
		case base == "bash":
			label, media = "Bourne-Again shell script", "text/x-shellscript"
		case base == "sh" || base == "dash":
			label, media = "POSIX shell script", "text/x-shellscript"
		case base == "node":
			label, media = "Node.js script", "application/javascript"
		case base == "perl":
			label, media = "Perl script", "text/x-perl"
		}
		return label + ", " + kind + " executable" + lineEnds(head), media + "; charset=" + charset
	case strings.HasPrefix(line, "<?xml"):
		return "XML 1.0 document, " + kind + lineEnds(head), "text/xml; charset=" + charset
	case hasPrefixFold(line, "<!doctype html"), hasPrefixFold(line, "<html"):
		return "HTML document, " + kind + lineEnds(head), "text/html; charset=" + charset
	}
	if trimmed := bytes.TrimSpace(head); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && len(head) < 1<<20 && json.Valid(trimmed) {
		return "JSON text data", "application/json; charset=" + charset
	}
	return kind + lineEnds(head), media + "; charset=" + charset
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// trimRune takes off a character that the end of what was read cut.
func trimRune(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// lineEnds tells of lines that do not end as usual.
func lineEnds(head []byte) string {
	crlf := bytes.Count(head, []byte("\r\n"))
	lf := bytes.Count(head, []byte("\n")) - crlf
	out := ""
	for line := range bytes.SplitSeq(head, []byte("\n")) {
		if len(line) > 8192 {
			out = fmt.Sprintf(", with very long lines (%d)", len(line))
			break
		}
	}
	switch {
	case crlf > 0 && lf > 0:
		return out + ", with CRLF, LF line terminators"
	case crlf > 0:
		return out + ", with CRLF line terminators"
	case lf == 0:
		return out + ", with no line terminators"
	}
	return out
}
