package fsops

import "bytes"

// sniffLen is how much of a file decides whether it is text.
const sniffLen = 8000

// isBinary tells from a file's first bytes whether it is something else than
// text, as git does: text has no NUL.
func isBinary(head []byte) bool {
	return bytes.IndexByte(head[:min(len(head), sniffLen)], 0) >= 0
}

// signatures are the formats worth naming to whoever asked for a binary file.
// (net/http would know more, and weighs megabytes.)
var signatures = []struct {
	offset int
	magic  string
	mime   string
}{
	{0, "\x89PNG\r\n\x1a\n", "image/png"},
	{0, "\xff\xd8\xff", "image/jpeg"},
	{0, "GIF87a", "image/gif"},
	{0, "GIF89a", "image/gif"},
	{8, "WEBPVP", "image/webp"},
	{0, "%PDF-", "application/pdf"},
	{0, "PK\x03\x04", "application/zip"},
	{0, "\x1f\x8b\x08", "application/gzip"},
	{0, "BZh", "application/x-bzip2"},
	{0, "\xfd7zXZ\x00", "application/x-xz"},
	{0, "\x28\xb5\x2f\xfd", "application/zstd"},
	{257, "ustar", "application/x-tar"},
	{0, "\x7fELF", "application/x-elf"},
	{0, "MZ", "application/vnd.microsoft.portable-executable"},
	{0, "SQLite format 3\x00", "application/vnd.sqlite3"},
	{0, "\x00asm", "application/wasm"},
	{0, "\xff\xfe", "text/plain; charset=utf-16le"},
	{0, "\xfe\xff", "text/plain; charset=utf-16be"},
}

// mimeType names the format of a binary file from its first bytes.
func mimeType(head []byte) string {
	for _, s := range signatures {
		if len(head) > s.offset && bytes.HasPrefix(head[s.offset:], []byte(s.magic)) {
			return s.mime
		}
	}
	return "application/octet-stream"
}
