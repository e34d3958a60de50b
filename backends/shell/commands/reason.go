package commands

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
)

var errIsDir error = syscall.EISDIR

// reasons are the words that people know from elsewhere.
var reasons = map[syscall.Errno]string{
	syscall.EPERM:        "Operation not permitted",
	syscall.ENOENT:       "No such file or directory",
	syscall.EBADF:        "Bad file descriptor",
	syscall.EAGAIN:       "Resource temporarily unavailable",
	syscall.ENOMEM:       "Cannot allocate memory",
	syscall.EACCES:       "Permission denied",
	syscall.EBUSY:        "Device or resource busy",
	syscall.EEXIST:       "File exists",
	syscall.ENOTDIR:      "Not a directory",
	syscall.EISDIR:       "Is a directory",
	syscall.EINVAL:       "Invalid argument",
	syscall.EMFILE:       "Too many open files",
	syscall.EFBIG:        "File too large",
	syscall.ENOSPC:       "No space left on device",
	syscall.ESPIPE:       "Illegal seek",
	syscall.EROFS:        "Read-only file system",
	syscall.EPIPE:        "Broken pipe",
	syscall.ENAMETOOLONG: "File name too long",
	syscall.ENOTEMPTY:    "Directory not empty",
	syscall.ELOOP:        "Too many levels of symbolic links",
	syscall.EILSEQ:       "Invalid or incomplete multibyte or wide character",
	syscall.ENOSYS:       "Function not implemented",
}

// Reason is why something failed, without what it was done to: as strerror has
// it where it can.
func Reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		if text := reasons[errno]; text != "" {
			return text
		}
		return errno.Error()
	}
	var at *fs.PathError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "Interrupted"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "Unexpected end of file"
	case errors.As(err, &at):
		return at.Err.Error()
	}
	return err.Error()
}

// Quote writes name as GNU commands do in messages: 'name', and with what a
// terminal cannot show escaped.
func Quote(name string) string {
	plain := !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f })
	switch {
	case plain && !strings.Contains(name, "'"):
		return "'" + name + "'"
	case plain && !strings.ContainsAny(name, "\"$`\\!"):
		return `"` + name + `"`
	}
	var b strings.Builder
	b.WriteByte('\'')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '\'':
			b.WriteString(`'\''`)
		case c == '\n':
			b.WriteString(`'$'\n''`)
		case c == '\t':
			b.WriteString(`'$'\t''`)
		case c < ' ' || c == 0x7f:
			b.WriteString(`'$'\` + string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7}) + `''`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
