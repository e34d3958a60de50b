package state

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"time"
	"unicode/utf8"
)

// parseTree reads the JSON form of a document.
func parseTree(data []byte) (*tree, error) {
	d := newDecoder(data)
	t, err := d.document()
	if err != nil {
		// What a newer version has is no mistake: say that first.
		var v struct{ Version json.Number }
		if json.Unmarshal(data, &v) == nil && v.Version != "" {
			if err := checkVersion(v.Version); err != nil {
				return nil, err
			}
		}
		return nil, d.at(err)
	}
	return t, nil
}

// header is what a listing tells of a document.
type header struct {
	workingDir string
	owner      string
	created    time.Time
}

// parseHeader reads what a document says of itself out of its first bytes. It
// fails when they do not hold all of it, which says nothing of the document:
// only those that this program wrote have it at the start.
func parseHeader(start []byte) (header, error) {
	d := newDecoder(start)
	d.onlyHeader = true
	_, err := d.document()
	switch {
	case errors.Is(err, errHeaderEnds):
		return d.header, nil
	case err != nil:
		return header{}, d.at(err)
	default:
		return header{}, errors.New("no files after the header")
	}
}

// errHeaderEnds stops a decoder that was to read the header and has.
var errHeaderEnds = errors.New("the header ends here")

// decoder reads a document token by token, because a document that says
// something twice or says what this version does not know is refused, not
// guessed at.
type decoder struct {
	*json.Decoder
	data       []byte
	header     header
	onlyHeader bool
}

func newDecoder(data []byte) *decoder {
	d := &decoder{Decoder: json.NewDecoder(bytes.NewReader(data)), data: data}
	d.UseNumber()
	return d
}

// at adds the line to err.
func (d *decoder) at(err error) error {
	offset := d.InputOffset()
	var syntax *json.SyntaxError
	var text *textError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &text):
		offset = int64(text.offset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the document ends too early; it must be one JSON object")
	}
	offset = min(offset, int64(len(d.data)))
	return fmt.Errorf("line %d: %w", 1+bytes.Count(d.data[:offset], []byte("\n")), err)
}

func (d *decoder) document() (*tree, error) {
	if !d.onlyHeader {
		if err := checkText(d.data); err != nil {
			return nil, err
		}
	}
	var files []fileEntry
	var dirs []string
	version := false
	err := d.object("the document", func(key string) (err error) {
		switch key {
		case "version":
			version = true
			return d.version()
		case "working_dir":
			d.header.workingDir, err = d.str(key)
		case "owner":
			d.header.owner, err = d.str(key)
		case "created":
			d.header.created, err = d.time(key)
		case "directories":
			if d.onlyHeader && version && d.header.workingDir != "" {
				return errHeaderEnds
			}
			dirs, err = d.directories()
		case "files":
			if d.onlyHeader && version && d.header.workingDir != "" {
				return errHeaderEnds
			}
			files, err = d.files()
		default:
			err = unknownField(key, "version, working_dir, owner, created, directories, files")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after the document")
	}
	if !version {
		return nil, errors.New(`"version" is missing`)
	}
	if d.header.workingDir == "" {
		return nil, errors.New(`"working_dir" is missing`)
	}
	b := newBuilder(d.header.created)
	for _, f := range files {
		if err := b.addFile(f.name, f.File); err != nil {
			return nil, err
		}
	}
	for _, name := range dirs {
		if err := b.addDirectory(name); err != nil {
			return nil, err
		}
	}
	return b.finish(d.header.workingDir, d.header.owner, d.header.created)
}

func (d *decoder) version() error {
	tok, err := d.Token()
	if err != nil {
		return err
	}
	n, ok := tok.(json.Number)
	if !ok {
		return errors.New(`"version" must be a number`)
	}
	return checkVersion(n)
}

func checkVersion(n json.Number) error {
	if n.String() != strconv.Itoa(documentVersion) {
		return fmt.Errorf("this is a document of version %s, and this program knows only version %d; use the program that wrote it, or a newer one", n, documentVersion)
	}
	return nil
}

func (d *decoder) directories() ([]string, error) {
	if err := d.open('[', `"directories"`); err != nil {
		return nil, err
	}
	var out []string
	for d.More() {
		name, err := d.str("an entry of directories")
		if err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	_, err := d.Token()
	return out, err
}

// fileEntry is one member of "files".
type fileEntry struct {
	name string
	File
}

func (d *decoder) files() ([]fileEntry, error) {
	var out []fileEntry
	err := d.object(`"files"`, func(name string) error {
		f, err := d.file(name)
		out = append(out, fileEntry{name, f})
		return err
	})
	return out, err
}

func (d *decoder) file(name string) (File, error) {
	var f File
	var kinds int
	var hasMode, hasTime bool
	err := d.object(strconv.Quote(name), func(key string) error {
		s, err := d.str(key)
		if err != nil {
			return err
		}
		switch key {
		case "text":
			kinds++
			f.Content = []byte(s)
		case "base64":
			kinds++
			if f.Content, err = base64.StdEncoding.Strict().DecodeString(s); err != nil {
				return fmt.Errorf("%q: base64 that cannot be read: %w", name, err)
			}
		case "link":
			kinds++
			if f.Link = s; s == "" {
				return fmt.Errorf("the link %q is empty", name)
			}
		case "mode":
			hasMode = true
			mode, err := strconv.ParseUint(s, 8, 32)
			if err != nil || mode > 0o777 {
				return fmt.Errorf("%q: mode %q must be octal, 0000 to 0777", name, s)
			}
			f.Mode = fs.FileMode(mode)
			return nil
		case "modified":
			hasTime = true
			f.ModTime, err = parseTime(key, s)
			return err
		default:
			return unknownField(key, "text, base64, link, mode, modified")
		}
		return nil
	})
	switch {
	case err != nil:
		return f, err
	case kinds != 1:
		return f, fmt.Errorf("%q must have one of text, base64 and link", name)
	case f.Link != "" && (hasMode || hasTime):
		return f, fmt.Errorf("%q is a link and cannot have mode or modified", name)
	case f.Link == "" && !hasMode:
		f.Mode = defaultMode
	}
	return f, nil
}

// object reads an object and calls field with each key, to read its value. A
// key that occurs twice is an error.
func (d *decoder) object(what string, field func(key string) error) error {
	if err := d.open('{', what); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.str("a name")
		if err != nil {
			return err
		}
		if seen[key] {
			return twiceError(key)
		}
		seen[key] = true
		if err := field(key); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func (d *decoder) open(delim json.Delim, what string) error {
	tok, err := d.Token()
	if err != nil {
		return err
	}
	if tok != delim {
		return fmt.Errorf("%s must be an %s", what, map[json.Delim]string{'{': "object", '[': "array"}[delim])
	}
	return nil
}

func (d *decoder) str(what string) (string, error) {
	tok, err := d.Token()
	if err != nil {
		return "", err
	}
	s, ok := tok.(string)
	if !ok {
		return "", fmt.Errorf("%s must be a string", what)
	}
	return s, nil
}

func (d *decoder) time(what string) (time.Time, error) {
	s, err := d.str(what)
	if err != nil {
		return time.Time{}, err
	}
	return parseTime(what, s)
}

func parseTime(what, s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, fmt.Errorf("%s %q must be a time such as 2026-01-31T18:00:00Z", what, s)
	}
	return timestamp(t), nil
}

func unknownField(key, known string) error {
	return fmt.Errorf("unknown field %q; there are %s", key, known)
}

// textError is text in a document that cannot be kept.
type textError struct {
	offset  int
	message string
}

func (e *textError) Error() string { return e.message }

// checkText refuses what encoding/json would silently replace by U+FFFD: bytes
// that are not UTF-8, and \u escapes of half a character.
func checkText(data []byte) error {
	if !utf8.Valid(data) {
		at := 0
		for at < len(data) {
			r, n := utf8.DecodeRune(data[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return &textError{at, "the document is not UTF-8; content that is not belongs in base64"}
	}
	for at := 0; ; {
		i := bytes.IndexByte(data[at:], '\\')
		if i < 0 || at+i+1 >= len(data) {
			return nil
		}
		at += i
		high, ok := surrogate(data[at:])
		if !ok {
			at += 2
			continue
		}
		if low, ok := surrogate(data[min(at+6, len(data)):]); !ok || !high || low {
			return &textError{at, "a \\u escape of half a character (a lone surrogate) cannot be kept; content that is not UTF-8 belongs in base64"}
		}
		at += 12
	}
}

// surrogate tells whether s starts with the escape of a surrogate, and whether
// of a high one.
func surrogate(s []byte) (high, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' || s[2] != 'd' && s[2] != 'D' {
		return false, false
	}
	switch s[3] {
	case '8', '9', 'a', 'b', 'A', 'B':
		return true, true
	case 'c', 'd', 'e', 'f', 'C', 'D', 'E', 'F':
		return false, true
	default:
		return false, false
	}
}
