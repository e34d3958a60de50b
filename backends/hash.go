package backends

import "hash/crc32"

const hexDigits = "0123456789abcdef"

// LineHash is the tag by which [EditLinesRequest] recognises a line: two hex
// digits of a checksum over its bytes without the line ending.
func LineHash(line []byte) string {
	return LineHashOf(crc32.ChecksumIEEE(line))
}

// LineHashOf is LineHash from the line's CRC-32 (IEEE), for whoever sums a
// long line piece by piece.
func LineHashOf(crc uint32) string {
	b := byte(crc ^ crc>>8 ^ crc>>16 ^ crc>>24)
	return string([]byte{hexDigits[b>>4], hexDigits[b&15]})
}
