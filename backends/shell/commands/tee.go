package commands

import (
	"io"
	"os"
	"strconv"
	"strings"
)

var teeOptions = NewOptions(1, "a append", "i ignore-interrupts", "p", "output-error=?")

func tee(p *Proc) int {
	opts, code := p.Parse(teeOptions)
	if opts == nil {
		return code
	}
	type target struct {
		name string
		w    io.WriteCloser
	}
	var targets []target
	flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if opts.Has("a") {
		flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	for _, name := range opts.Args {
		w, err := p.Write(name, flag)
		if err != nil {
			code = p.FileError(name, err)
			continue
		}
		targets = append(targets, target{name, w})
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := p.Stdin.Read(buf)
		p.Out.Write(buf[:n])
		for i := 0; i < len(targets); i++ {
			if _, werr := targets[i].w.Write(buf[:n]); werr != nil {
				code = p.FileError(targets[i].name, werr)
				if cerr := targets[i].w.Close(); cerr != nil {
					p.FileError(targets[i].name, cerr)
				}
				targets = append(targets[:i], targets[i+1:]...)
				i--
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			code = p.FileError("read error", err)
			break
		}
	}
	for _, t := range targets {
		if err := t.w.Close(); err != nil {
			code = p.FileError(t.name, err)
		}
	}
	return code
}

var truncateOptions = NewOptions(1, "c no-create", "o io-blocks", "r reference=", "s size=")

// ParseSize reads a size with a unit: 10, 4K, 1MB, 2GiB.
func ParseSize(text string) (int64, bool) {
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	unit := int64(1)
	if suffix := text[end:]; suffix != "" {
		i := strings.IndexByte("bKMGTPkmgtp", suffix[0])
		if i < 0 {
			return 0, false
		}
		base := int64(1024)
		switch suffix[1:] {
		case "", "iB":
		case "B":
			base = 1000
		default:
			return 0, false
		}
		if suffix[0] == 'b' {
			unit = 512
		} else {
			for range strings.IndexByte("KMGTP", suffix[0]&^0x20) + 1 {
				unit *= base
			}
		}
		if end == 0 {
			return unit, true
		}
	}
	n, err := strconv.ParseInt(text[:end], 10, 64)
	if err != nil || n > (1<<62)/unit {
		return 0, false
	}
	return n * unit, true
}

func truncate(p *Proc) int {
	opts, code := p.Parse(truncateOptions)
	if opts == nil {
		return code
	}
	text, hasSize := opts.Value("s")
	ref, hasRef := opts.Value("r")
	if !hasSize && !hasRef {
		return p.Usage(1, "you must specify either '--size' or '--reference'")
	}
	if len(opts.Args) == 0 {
		return p.Usage(1, "missing file operand")
	}
	mode := byte(0)
	var size int64
	if hasSize {
		number := strings.TrimSpace(text)
		if number != "" && strings.IndexByte("+-<>/%", number[0]) >= 0 {
			mode, number = number[0], number[1:]
		}
		var ok bool
		if size, ok = ParseSize(number); !ok || (mode == '/' || mode == '%') && size == 0 {
			return p.Errorf(1, "Invalid number: %s", Quote(text))
		}
	}
	if hasRef {
		info, err := p.Stat(ref)
		if err != nil {
			return p.Errorf(1, "cannot stat %s: %s", Quote(ref), Reason(err))
		}
		if !hasSize {
			size = info.Size()
		}
	}
	flag := os.O_WRONLY
	if !opts.Has("c") {
		flag |= os.O_CREATE
	}
	for _, name := range opts.Args {
		if _, err := p.Stat(name); err != nil && opts.Has("c") {
			continue
		}
		if err := p.truncateOne(name, flag, mode, size); err != nil {
			code = p.Errorf(1, "failed to truncate %s: %s", Quote(name), Reason(err))
		}
	}
	return code
}

func (p *Proc) truncateOne(name string, flag int, mode byte, size int64) error {
	f, err := p.OpenFile(name, flag, 0o666)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		have := info.Size()
		want := size
		switch mode {
		case '+':
			want = have + size
		case '-':
			want = max(0, have-size)
		case '<':
			want = min(have, size)
		case '>':
			want = max(have, size)
		case '/':
			want = have / size * size
		case '%':
			want = (have + size - 1) / size * size
		}
		err = f.Truncate(want)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
