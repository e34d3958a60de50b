package commands

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// expand writes what is compressed in r. What is written is bounded where it
// goes: by the limit of files, of pipes and of output.
func (o *gzipOptions) expand(w io.Writer, r io.Reader, name string) int {
	p := o.p
	in := bufio.NewReaderSize(r, 32<<10)
	if head, err := in.Peek(2); err == nil && (head[0] != 0x1f || head[1] != 0x8b) || errors.Is(err, io.EOF) && len(head) > 0 {
		if o.force && o.stdout {
			if _, err := p.Copy(w, in); err != nil {
				return p.FileError(name, err)
			}
			return 0
		}
		fmt.Fprintf(p.Stderr, "\n%s: %s: not in gzip format\n", p.Name, name)
		return 1
	} else if err != nil && len(head) == 0 && errors.Is(err, io.EOF) {
		if name == "stdin" || o.stdout || o.test {
			fmt.Fprintf(p.Stderr, "\n%s: %s: unexpected end of file\n", p.Name, name)
		}
		return 1
	}
	z, err := gzip.NewReader(in)
	for err == nil {
		z.Multistream(false)
		if _, err = p.Copy(w, z); err != nil {
			break
		}
		// Other members can follow; what is none is ignored.
		head, perr := in.Peek(2)
		if perr != nil {
			return 0
		}
		if head[0] != 0x1f || head[1] != 0x8b {
			if strings.Trim(string(head), "\x00") == "" {
				return 0
			}
			fmt.Fprintf(p.Stderr, "\n%s: %s: decompression OK, trailing garbage ignored\n", p.Name, name)
			return 2
		}
		err = z.Reset(in)
	}
	if p.Stopped() {
		return 1
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		fmt.Fprintf(p.Stderr, "\n%s: %s: unexpected end of file\n", p.Name, name)
	case errors.Is(err, gzip.ErrChecksum):
		fmt.Fprintf(p.Stderr, "\n%s: %s: invalid compressed data--crc error\n", p.Name, name)
	case strings.HasPrefix(err.Error(), "flate:"), errors.Is(err, gzip.ErrHeader):
		fmt.Fprintf(p.Stderr, "\n%s: %s: invalid compressed data--format violated\n", p.Name, name)
	default:
		p.FileError(name, err)
	}
	return 1
}

// show prints the line of -l.
func (o *gzipOptions) show(name string, r io.Reader, size int64) int {
	in := &countReader{r: r}
	out := &countWriter{w: io.Discard}
	if code := o.expand(out, in, name); code == 1 {
		return code
	}
	if size < 0 {
		size = in.n
	}
	if !o.listed && !o.quiet {
		o.listed = true
		fmt.Fprintf(o.p.Out, "%19s %19s  ratio uncompressed_name\n", "compressed", "uncompressed")
	}
	target, ok := o.unsuffixed(name)
	if !ok {
		target = name
	}
	if name == "stdin" {
		target = "stdout"
	}
	o.files++
	o.totalIn, o.totalOut = o.totalIn+size, o.totalOut+out.n
	o.line(size, out.n, target)
	return 0
}

func (o *gzipOptions) line(compressed, plain int64, name string) {
	head := int64(18) // header and trailer do not count
	if name == "(totals)" {
		head = 0
	}
	fmt.Fprintf(o.p.Out, "%19d %19d %s %s\n", compressed, plain, ratio(plain, compressed-head), name)
}

type countWriter struct {
	w io.Writer
	n int64
}

func (c *countWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

type countReader struct {
	r io.Reader
	n int64
}

func (c *countReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}
