package commands

// dataCommands are those that compare, pack, sum and calculate.
func dataCommands() []Command {
	return []Command{
		{"diff", "[OPTION]... FILES", "Compare files line by line", diffCommand},
		{"cmp", "[OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]", "Compare two files byte by byte", cmpCommand},
		{"base64", "[OPTION]... [FILE]", "Encode or decode data as base64", basenc(encoding64)},
		{"base32", "[OPTION]... [FILE]", "Encode or decode data as base32", basenc(encoding32)},
		{"md5sum", "[OPTION]... [FILE]...", "Print or check MD5 checksums", checksum},
		{"sha1sum", "[OPTION]... [FILE]...", "Print or check SHA1 checksums", checksum},
		{"sha224sum", "[OPTION]... [FILE]...", "Print or check SHA224 checksums", checksum},
		{"sha256sum", "[OPTION]... [FILE]...", "Print or check SHA256 checksums", checksum},
		{"sha384sum", "[OPTION]... [FILE]...", "Print or check SHA384 checksums", checksum},
		{"sha512sum", "[OPTION]... [FILE]...", "Print or check SHA512 checksums", checksum},
		{"cksum", "[OPTION]... [FILE]...", "Print the CRC and length of files", cksum},
		{"gzip", "[OPTION]... [FILE]...", "Compress or expand files", gzipCommand},
		{"gunzip", "[OPTION]... [FILE]...", "Expand gzip files", gzipCommand},
		{"zcat", "[OPTION]... [FILE]...", "Expand gzip files to standard output", gzipCommand},
		{"od", "[OPTION]... [FILE]...", "Dump files in octal and other formats", od},
		{"xxd", "[OPTION]... [INFILE [OUTFILE]]", "Make a hex dump, or the reverse", xxd},
		{"hexdump", "[OPTION]... [FILE]...", "Dump files in hexadecimal and other formats", hexdump},
		{"hd", "[OPTION]... [FILE]...", "Dump files in hexadecimal and as text", hexdump},
		{"date", "[OPTION]... [+FORMAT]", "Print a date and time", date},
		{"patch", "[OPTION]... [ORIGFILE [PATCHFILE]]", "Apply a diff to files", patch},
		{"tar", "[OPTION...] [FILE]...", "Make, list and unpack archives", tarCommand},
		{"zip", "[OPTION]... ARCHIVE [FILE]...", "Make and change zip archives", zipCommand},
		{"unzip", "[OPTION]... ARCHIVE [FILE]...", "List and unpack zip archives", unzipCommand},
		{"bc", "[-lq] [FILE]...", "Calculate with numbers of any precision", bc},
		{"expr", "EXPRESSION", "Evaluate an expression", expr},
		{"factor", "[OPTION] [NUMBER]...", "Print prime factors", factor},
		{"numfmt", "[OPTION]... [NUMBER]...", "Convert numbers to and from units for people", numfmt},
		{"strings", "[OPTION]... [FILE]...", "Print the printable characters in files", stringsCommand},
	}
}
