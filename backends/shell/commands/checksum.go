package commands

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"
)

// digest is a kind of checksum.
type digest struct {
	tag string // as --tag has it
	new func() hash.Hash
}

var digests = map[string]digest{
	"md5sum":    {"MD5", md5.New},
	"sha1sum":   {"SHA1", sha1.New},
	"sha224sum": {"SHA224", sha256.New224},
	"sha256sum": {"SHA256", sha256.New},
	"sha384sum": {"SHA384", sha512.New384},
	"sha512sum": {"SHA512", sha512.New},
}

var checksumFlags = NewOptions(1, "b binary", "c check", "tag", "t text", "z zero", "ignore-missing", "quiet", "status", "strict", "w warn")

func checksum(p *Proc) int {
	parsed, code := p.Parse(checksumFlags)
	if parsed == nil {
		return code
	}
	d := digests[p.cmd.Name]
	if parsed.Has("c") {
		switch {
		case parsed.Has("tag"):
			return p.Usage(1, "the --tag option is meaningless when verifying checksums")
		case parsed.Has("z"):
			return p.Usage(1, "the --zero option is not supported when verifying checksums")
		case parsed.Has("b", "t"):
			return p.Usage(1, "the --binary and --text options are meaningless when verifying checksums")
		}
		c := &checker{p: p, d: d, o: parsed}
		return p.Inputs(parsed.Args, c.list)
	}
	for _, only := range []string{"ignore-missing", "status", "quiet", "strict"} {
		if parsed.Has(only) {
			return p.Usage(1, "the --%s option is meaningful only when verifying checksums", only)
		}
	}
	if parsed.Has("tag") && parsed.Has("t") {
		return p.Usage(1, "--tag does not support --text mode")
	}
	mark := " "
	if parsed.Last("b", "t") == "b" {
		mark = "*"
	}
	end := "\n"
	if parsed.Has("z") {
		end = "\x00"
	}
	return p.Inputs(parsed.Args, func(name string, r io.Reader) (int, error) {
		sum, err := d.sum(p, r)
		if err != nil {
			return 0, err
		}
		if end == "\n" && strings.ContainsAny(name, "\\\n\r") {
			p.Out.WriteByte('\\')
			name = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`).Replace(name)
		}
		if parsed.Has("tag") {
			fmt.Fprintf(p.Out, "%s (%s) = %s%s", d.tag, name, sum, end)
		} else {
			fmt.Fprintf(p.Out, "%s %s%s%s", sum, mark, name, end)
		}
		return 0, nil
	})
}

func (d digest) sum(p *Proc, r io.Reader) (string, error) {
	h := d.new()
	if _, err := p.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// checker compares files with lists of checksums.
type checker struct {
	p *Proc
	d digest
	o *Parsed
}

func (c *checker) list(list string, r io.Reader) (int, error) {
	p := c.p
	lines := p.Lines(r, '\n')
	defer lines.Close()
	shown := list
	if list == "-" {
		shown = "'standard input'"
	}
	var good, wrong, failed, unread int
	for n := 1; lines.Next(); n++ {
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		sum, name, ok := c.d.parse(string(line))
		if !ok {
			wrong++
			if c.o.Has("w") {
				p.Errorf(1, "%s: %d: improperly formatted %s checksum line", shown, n, c.d.tag)
			}
			continue
		}
		got, err := c.file(name)
		say := func(what string) {
			if strings.Contains(name, "\n") {
				p.Out.WriteByte('\\')
				name = strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(name)
			}
			fmt.Fprintf(p.Out, "%s: %s\n", name, what)
		}
		switch {
		case err != nil && c.o.Has("ignore-missing") && notExist(err):
			continue
		case err != nil:
			p.FileError(name, err)
			unread++
			if !c.o.Has("status") {
				say("FAILED open or read")
			}
		case got != sum:
			failed++
			if !c.o.Has("status") {
				say("FAILED")
			}
		default:
			good++
			if !c.o.Has("status", "quiet") {
				say("OK")
			}
		}
		if err == nil || !c.o.Has("ignore-missing") {
			continue
		}
	}
	if err := lines.Err(); err != nil {
		return 1, err
	}
	if good+failed+unread == 0 && wrong > 0 || good+failed+unread+wrong == 0 && !c.o.Has("ignore-missing") {
		return p.Errorf(1, "%s: no properly formatted checksum lines found", shown), nil
	}
	code := 0
	if failed+unread > 0 || wrong > 0 && c.o.Has("strict") {
		code = 1
	}
	if c.o.Has("ignore-missing") && good+failed == 0 {
		if !c.o.Has("status") {
			p.Errorf(1, "%s: no file was verified", shown)
		}
		code = 1
	}
	if !c.o.Has("status") {
		warn(p, wrong, "line is improperly formatted", "lines are improperly formatted")
		warn(p, unread, "listed file could not be read", "listed files could not be read")
		warn(p, failed, "computed checksum did NOT match", "computed checksums did NOT match")
	}
	return code, nil
}

func warn(p *Proc, n int, one, many string) {
	if n == 1 {
		many = one
	}
	if n > 0 {
		p.Errorf(1, "WARNING: %d %s", n, many)
	}
}

func (c *checker) file(name string) (string, error) {
	if name == "-" {
		return c.d.sum(c.p, c.p.Stdin)
	}
	f, err := c.p.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return c.d.sum(c.p, f)
}

// parse reads a line of a list: "sum  name", "sum *name" or "TAG (name) = sum".
func (d digest) parse(line string) (sum, name string, ok bool) {
	line, escaped := strings.CutPrefix(strings.TrimLeft(line, " \t"), `\`)
	if rest, tagged := strings.CutPrefix(line, d.tag); tagged && (strings.HasPrefix(rest, " (") || strings.HasPrefix(rest, "(")) {
		rest = rest[strings.IndexByte(rest, '(')+1:]
		at := strings.LastIndex(rest, ")")
		if at < 0 {
			return "", "", false
		}
		name = rest[:at]
		sum, ok = strings.CutPrefix(strings.TrimLeft(rest[at+1:], " \t"), "=")
		if sum = strings.Trim(sum, " \t"); !ok {
			return "", "", false
		}
	} else {
		sum, name, ok = strings.Cut(line, " ")
		if !ok || name == "" {
			return "", "", false
		}
		if name[0] == ' ' || name[0] == '*' {
			name = name[1:]
		}
	}
	if escaped {
		name = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r").Replace(name)
	}
	sum = strings.ToLower(sum)
	raw, err := hex.DecodeString(sum)
	return sum, name, err == nil && len(raw) == d.new().Size() && name != ""
}

// cksum prints the CRC of POSIX, and the length.
func cksum(p *Proc) int {
	parsed, code := p.Parse(cksumFlags)
	if parsed == nil {
		return code
	}
	if v, ok := parsed.Value("a"); ok && v != "crc" {
		d, known := digests[v+"sum"]
		if !known {
			return p.Usage(1, "invalid argument %s for '--algorithm'", Quote(v))
		}
		return p.Inputs(parsed.Args, func(name string, r io.Reader) (int, error) {
			sum, err := d.sum(p, r)
			switch {
			case err != nil:
				return 0, err
			case parsed.Has("untagged"):
				fmt.Fprintf(p.Out, "%s  %s\n", sum, name)
			default:
				fmt.Fprintf(p.Out, "%s (%s) = %s\n", d.tag, name, sum)
			}
			return 0, nil
		})
	}
	return p.Inputs(parsed.Args, func(name string, r io.Reader) (int, error) {
		var c posixCRC
		n, err := p.Copy(&c, r)
		if err != nil {
			return 0, err
		}
		for rest := n; rest > 0; rest >>= 8 {
			c.add(byte(rest))
		}
		fmt.Fprintf(p.Out, "%d %d", ^uint32(c), n)
		if len(parsed.Args) > 0 {
			p.Out.WriteString(" " + name)
		}
		p.Out.WriteByte('\n')
		return 0, nil
	})
}

var cksumFlags = NewOptions(1, "a algorithm=", "tag", "untagged")

// posixCRC is the CRC of cksum while it is made: polynomial 0x04c11db7, the
// high bit first.
type posixCRC uint32

var posixTable = func() (t [256]uint32) {
	for i := range t {
		v := uint32(i) << 24
		for range 8 {
			v = v<<1 ^ 0x04c11db7*(v>>31)
		}
		t[i] = v
	}
	return t
}()

func (c *posixCRC) add(b byte) {
	*c = *c<<8 ^ posixCRC(posixTable[byte(*c>>24)^b])
}

func (c *posixCRC) Write(b []byte) (int, error) {
	for _, v := range b {
		c.add(v)
	}
	return len(b), nil
}
