package fsops

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// bufferSize is the piece in which files are read. A file that fits in one is
// answered without further copies.
const bufferSize = 128 << 10

var buffers = sync.Pool{New: func() any { b := make([]byte, bufferSize); return &b }}

// bom is the UTF-8 byte order mark.
var bom = []byte("\xef\xbb\xbf")

// Read implements [backends.Workspace].
func (t *Tree) Read(ctx context.Context, req backends.ReadRequest) (backends.ReadResult, error) {
	if err := ended(ctx, "read"); err != nil {
		return backends.ReadResult{}, err
	}
	if req.Offset < 0 || req.Limit < 0 || req.MaxLine < 0 || req.MaxBytes < 0 {
		return backends.ReadResult{}, backends.Errorf(backends.CodeInvalidArgument, "read", "", "offset and limit count lines and cannot be negative")
	}
	if req.Limit == 0 {
		req.Limit = backends.DefaultReadLines
	}
	if req.MaxBytes == 0 {
		req.MaxBytes = backends.DefaultReadBytes
	}
	res, f, info, err := t.openRegular("read", req.Path)
	if err != nil {
		return backends.ReadResult{}, err
	}
	defer f.Close()

	out := backends.ReadResult{Resolution: res, Size: info.Size()}
	s := slicer{req: req}
	if s.req.MaxLine == 0 || s.req.MaxLine > s.req.MaxBytes {
		s.req.MaxLine = s.req.MaxBytes
	}
	version, err := s.scan(ctx, f, info)
	if err != nil {
		return backends.ReadResult{}, fail("read", res.Path, atPath(err, res.Path))
	}
	out.Lines, out.TotalLines, out.Version = s.lines, s.total, version
	out.Size = max(out.Size, s.size) // files of /proc have no size
	return out, nil
}

// slicer goes through a file once, keeping the lines asked for and counting
// the others.
type slicer struct {
	req   backends.ReadRequest
	lines []backends.Line
	total int   // lines ended so far, then all of them
	size  int64 // bytes seen
	bytes int   // in lines
	full  bool  // the slice is complete: only count on

	// The line being read, when it is one of the slice and runs over pieces.
	partial []byte
	cut     int    // characters of it not kept
	crc     uint32 // of all of it but a "\r" at the end of the last piece
	held    bool   // there is such a "\r"
	open    bool   // some of it has been seen
}

// scan reads f to its end and returns the file's version.
func (s *slicer) scan(ctx context.Context, f File, info fs.FileInfo) (string, error) {
	bp := buffers.Get().(*[]byte)
	defer buffers.Put(bp)
	buf := *bp

	hash := sha256.New()
	for first := true; ; first = false {
		n, err := io.ReadFull(f, buf)
		piece := buf[:n]
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return "", err
		}
		if first && isBinary(piece) {
			return "", binaryError("read", piece, max(info.Size(), int64(n)))
		}
		s.size += int64(n)
		if s.size <= hashedSize {
			hash.Write(piece)
		} else if info.Size() == 0 && s.size > endlessSize {
			return "", backends.Errorf(backends.CodeTooLarge, "read", "", "this special file does not end; read it with a command that stops by itself")
		}
		if first {
			piece = bytes.TrimPrefix(piece, bom)
		}
		if first && last {
			s.whole(piece)
			break
		}
		s.add(piece)
		if last {
			s.end()
			break
		}
		if err := ended(ctx, "read"); err != nil {
			return "", err
		}
	}
	if s.size > hashedSize {
		return versionByTime(info), nil
	}
	return versionBySum(hash.Sum(nil)), nil
}

// endlessSize is how much of a file that claims to be empty (as those of /proc
// do) is read before it counts as endless.
const endlessSize = 64 << 20

// whole slices a file that is at hand entirely: its lines share one string.
func (s *slicer) whole(content []byte) {
	if len(content) == 0 {
		return
	}
	s.total = countLines(content)
	for range s.req.Offset {
		i := bytes.IndexByte(content, '\n')
		if i < 0 {
			return
		}
		content = content[i+1:]
	}
	text := string(content)
	count := min(s.req.Limit, s.total-s.req.Offset)
	if count <= 0 {
		return
	}
	s.lines = make([]backends.Line, 0, count)
	for len(s.lines) < count && len(text) > 0 {
		line, rest := text, ""
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, rest = text[:i], text[i+1:]
			if len(line) > 0 && line[len(line)-1] == '\r' {
				line = line[:len(line)-1]
			}
		}
		hash := ""
		if s.req.Hashes {
			hash = backends.LineHash([]byte(line))
		}
		kept, cut := cutChars(line, s.req.MaxLine)
		if !s.keep(backends.Line{Text: kept, Cut: cut, Hash: hash}) {
			return
		}
		text = rest
	}
}

// keep adds a line to the slice, or reports that there is no room for it. The
// first line always fits, cut if it must be.
func (s *slicer) keep(l backends.Line) bool {
	if len(s.lines) == 0 && len(l.Text) > s.req.MaxBytes {
		end := s.req.MaxBytes
		for end > 0 && !utf8.RuneStart(l.Text[end]) {
			end--
		}
		l.Cut += utf8.RuneCountInString(l.Text[end:])
		l.Text = l.Text[:end]
	}
	s.bytes += len(l.Text) + 1
	if len(s.lines) > 0 && s.bytes > s.req.MaxBytes {
		return false
	}
	s.lines = append(s.lines, l)
	return true
}

// add takes the next piece of a file.
func (s *slicer) add(piece []byte) {
	for len(piece) > 0 {
		if s.full || s.total < s.req.Offset {
			skipped := s.skip(piece)
			piece = piece[skipped:]
			continue
		}
		i := bytes.IndexByte(piece, '\n')
		if i < 0 {
			s.extend(piece)
			return
		}
		s.extend(piece[:i])
		s.finish(true)
		piece = piece[i+1:]
	}
}

// skip counts lines of piece that are before or after the slice, and returns
// how far it went.
func (s *slicer) skip(piece []byte) int {
	if s.full {
		s.total += bytes.Count(piece, newline)
		s.open = piece[len(piece)-1] != '\n'
		return len(piece)
	}
	at := 0
	for s.total < s.req.Offset && at < len(piece) {
		i := bytes.IndexByte(piece[at:], '\n')
		if i < 0 {
			s.open = true
			return len(piece)
		}
		at += i + 1
		s.total++
		s.open = false
	}
	return at
}

var newline = []byte{'\n'}

// extend adds a part of the current line.
func (s *slicer) extend(part []byte) {
	s.open = true
	if len(part) == 0 {
		return
	}
	if s.held {
		s.held = false
		s.take([]byte{'\r'})
	}
	if part[len(part)-1] == '\r' {
		s.held = true
		part = part[:len(part)-1]
	}
	s.take(part)
}

func (s *slicer) take(part []byte) {
	if s.req.Hashes {
		s.crc = crc32.Update(s.crc, crc32.IEEETable, part)
	}
	// Four bytes hold any character, so what is kept has MaxLine of them.
	keep := min(max(s.req.MaxLine*utf8.UTFMax-len(s.partial), 0), len(part))
	s.partial = append(s.partial, part[:keep]...)
	for _, b := range part[keep:] {
		if utf8.RuneStart(b) {
			s.cut++
		}
	}
}

// finish ends the current line: at a newline, or at the end of the file, where
// a "\r" belongs to the line.
func (s *slicer) finish(atNewline bool) {
	if s.held && !atNewline {
		s.take([]byte{'\r'})
	}
	kept, cut := cutChars(string(s.partial), s.req.MaxLine)
	line := backends.Line{Text: kept, Cut: cut + s.cut}
	if s.req.Hashes {
		line.Hash = backends.LineHashOf(s.crc)
	}
	s.total++
	s.partial, s.cut, s.crc, s.held, s.open = s.partial[:0], 0, 0, false, false
	s.full = !s.keep(line) || len(s.lines) == s.req.Limit
}

// end takes a last line that has no newline.
func (s *slicer) end() {
	switch {
	case !s.open:
	case s.full || s.total < s.req.Offset:
		s.total++
	default:
		s.finish(false)
	}
}

// cutChars keeps at most limit characters of line and returns how many it left
// off. A byte that is not UTF-8 is a character.
func cutChars(line string, limit int) (kept string, cut int) {
	if len(line) <= limit {
		return line, 0
	}
	chars := 0
	for i := range line {
		if chars == limit {
			return line[:i], utf8.RuneCountInString(line[i:])
		}
		chars++
	}
	return line, 0
}

// countLines counts lines; a last one without a newline counts.
func countLines(content []byte) int {
	n := bytes.Count(content, newline)
	if len(content) > 0 && content[len(content)-1] != '\n' {
		n++
	}
	return n
}

func binaryError(op string, head []byte, size int64) error {
	b := &backends.Binary{MIME: mimeType(head), Size: size}
	e := backends.Errorf(backends.CodeBinary, op, "", "is not text (%s, %d bytes)", b.MIME, size)
	e.Binary = b
	return e
}

// ended tells whether ctx has.
func ended(ctx context.Context, op string) error {
	if ctx.Err() == nil {
		return nil
	}
	return &backends.Error{Code: backends.CodeCancelled, Op: op, Message: "cancelled before it was done", Err: context.Cause(ctx)}
}
