package commands

import (
	"strings"
	"testing"
)

// commandCase is one run of a command: what it is given and what it says.
type commandCase struct {
	name  string
	files map[string]string
	stdin string
	argv  string // split at blanks; a part in '…' is one argument
	out   string
	err   string // is contained in what is said on standard error
	code  int
	after map[string]string // content of files; "-" is one that is not there
}

// argvOf splits a command line at blanks.
func argvOf(line string) (argv []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		var word string
		if rest, ok := strings.CutPrefix(line, "'"); ok {
			word, line, _ = strings.Cut(rest, "'")
		} else {
			word, line, _ = strings.Cut(line, " ")
		}
		argv = append(argv, word)
	}
	return argv
}

func runCases(t *testing.T, cases []commandCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := runCommand(t, c.files, c.stdin, argvOf(c.argv)...)
			if got.out != c.out || got.code != c.code {
				t.Errorf("%s\nstdout is   %q\nshould be   %q\nexit code is %d, should be %d\nstderr: %s", c.argv, got.out, c.out, got.code, c.code, got.err)
			}
			if !strings.Contains(got.err, c.err) || c.err == "" && got.err != "" {
				t.Errorf("%s\nstderr is %q, should have %q", c.argv, got.err, c.err)
			}
			for name, want := range c.after {
				if _, err := got.files.Lstat("/work/" + name); want == "-" {
					if err == nil {
						t.Errorf("%s is there", name)
					}
				} else if err != nil {
					t.Error(err)
				} else if is := got.read(t, name); is != want {
					t.Errorf("%s is %q, should be %q", name, is, want)
				}
			}
		})
	}
}

func TestChecksums(t *testing.T) {
	const hello = "b1946ac92492d2347c6235b4d2611184"
	a := map[string]string{"a": "hello\n", "sums": hello + "  a\n"}
	runCases(t, []commandCase{
		{name: "md5sum of a file", files: a, argv: "md5sum a", out: hello + "  a\n"},
		{name: "md5sum of standard input", stdin: "hello\n", argv: "md5sum", out: hello + "  -\n"},
		{name: "binary mark", files: a, argv: "md5sum -b a", out: hello + " *a\n"},
		{name: "tag", files: a, argv: "md5sum --tag a", out: "MD5 (a) = " + hello + "\n"},
		{name: "zero", files: a, argv: "md5sum -z a", out: hello + "  a\x00"},
		{name: "check", files: a, argv: "md5sum -c sums", out: "a: OK\n"},
		{name: "quiet check", files: a, argv: "md5sum -c --quiet sums"},
		{name: "check of a changed file", files: map[string]string{"a": "x", "sums": hello + "  a\n"}, argv: "md5sum -c sums", out: "a: FAILED\n", err: "WARNING: 1 computed checksum did NOT match", code: 1},
		{name: "status says nothing", files: map[string]string{"a": "x", "sums": hello + "  a\n"}, argv: "md5sum -c --status sums", code: 1},
		{name: "garbage", stdin: "x\n", argv: "md5sum -c", err: "no properly formatted checksum lines found", code: 1},
		{name: "sha1", stdin: "abc", argv: "sha1sum", out: "a9993e364706816aba3e25717850c26c9cd0d89d  -\n"},
		{name: "sha224", stdin: "abc", argv: "sha224sum", out: "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7  -\n"},
		{name: "sha256", stdin: "abc", argv: "sha256sum", out: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  -\n"},
		{name: "sha384", stdin: "abc", argv: "sha384sum", out: "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7  -\n"},
		{name: "sha512", stdin: "", argv: "sha512sum", out: "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e  -\n"},
		{name: "cksum", stdin: "hello\n", argv: "cksum", out: "3015617425 6\n"},
		{name: "a file that is not there", argv: "md5sum nope", err: "md5sum: nope: No such file or directory", code: 1},
		{name: "a directory", files: map[string]string{"d/": ""}, argv: "sha256sum d", err: "sha256sum: d: Is a directory", code: 1},
	})
}

func TestBase64AndBase32(t *testing.T) {
	runCases(t, []commandCase{
		{name: "encode", stdin: "hello\n", argv: "base64", out: "aGVsbG8K\n"},
		{name: "lines have 76 characters", stdin: strings.Repeat("a", 60), argv: "base64", out: strings.Repeat("YWFh", 19) + "\nYWFh\n"},
		{name: "no lines", stdin: strings.Repeat("a", 60), argv: "base64 -w0", out: strings.Repeat("YWFh", 20)},
		{name: "decode", stdin: "aGVs\nbG8K\n", argv: "base64 -d", out: "hello\n"},
		{name: "decode what follows padding", stdin: "YQ==Yg==", argv: "base64 -d", out: "ab"},
		{name: "invalid", stdin: "aGVs*", argv: "base64 -d", out: "hel", err: "base64: invalid input", code: 1},
		{name: "garbage ignored", stdin: "aG*Vs", argv: "base64 -di", out: "hel"},
		{name: "a block that is cut", stdin: "aGVsb", argv: "base64 -d", out: "hel", err: "invalid input", code: 1},
		{name: "base32", stdin: "hello\n", argv: "base32", out: "NBSWY3DPBI======\n"},
		{name: "base32 decode", stdin: "NBSWY3DPBI======\n", argv: "base32 -d", out: "hello\n"},
		{name: "wrong width", argv: "base64 -w x", err: "invalid wrap size: 'x'", code: 1},
	})
}

func TestDumps(t *testing.T) {
	f := map[string]string{"f": "hello world, 01234\n"}
	runCases(t, []commandCase{
		{name: "od", files: f, argv: "od f", out: "0000000 062550 066154 020157 067567 066162 026144 030040 031061\n0000020 032063 000012\n0000023\n"},
		{name: "od -An -tx1", stdin: "abc", argv: "od -An -tx1", out: " 61 62 63\n"},
		{name: "od -c", stdin: "a\n\x00\xff", argv: "od -c", out: "0000000   a  \\n  \\0 377\n0000004\n"},
		{name: "od skips and ends", stdin: "abcdef", argv: "od -A d -j 2 -N 3 -c", out: "0000002   c   d   e\n0000005\n"},
		{name: "od squeezes", stdin: strings.Repeat("a", 64), argv: "od -A x -t x1z", out: "000000 61 61 61 61 61 61 61 61 61 61 61 61 61 61 61 61  >aaaaaaaaaaaaaaaa<\n*\n000040\n"},
		{name: "od wrong type", argv: "od -t q", err: "invalid character 'q' in type string 'q'", code: 1},
		{name: "od past the end", stdin: "a", argv: "od -j 9", err: "cannot skip past end of combined input", code: 1},
		{name: "xxd", files: f, argv: "xxd f", out: "00000000: 6865 6c6c 6f20 776f 726c 642c 2030 3132  hello world, 012\n00000010: 3334 0a                                  34.\n"},
		{name: "xxd -p", files: f, argv: "xxd -p f", out: "68656c6c6f20776f726c642c2030313233340a\n"},
		{name: "xxd -r -p", stdin: "68 65\n6c6c6f", argv: "xxd -r -p", out: "hello"},
		{name: "xxd -r", stdin: "00000000: 6865 6c6c 6f  hello\n00000008: 21  !\n", argv: "xxd -r", out: "hello\x00\x00\x00!"},
		{name: "xxd -i", files: f, argv: "xxd -i -l 2 f", out: "unsigned char f[] = {\n  0x68, 0x65\n};\nunsigned int f_len = 2;\n"},
		{name: "xxd -b", stdin: "ab", argv: "xxd -b", out: "00000000: 01100001 01100010                                      ab\n"},
		{name: "hexdump -C", files: f, argv: "hexdump -C f", out: "00000000  68 65 6c 6c 6f 20 77 6f  72 6c 64 2c 20 30 31 32  |hello world, 012|\n00000010  33 34 0a                                          |34.|\n00000013\n"},
		{name: "hexdump", stdin: "abc", argv: "hexdump", out: "0000000 6261 0063                              \n0000003\n"},
		{name: "strings", stdin: "ab\x00hello\x01world!\x00", argv: "strings -t x", out: "      3 hello\n      9 world!\n"},
		{name: "strings -n", stdin: "ab\x00abc\x00", argv: "strings -n 2", out: "ab\nabc\n"},
		{name: "strings refuses zero", argv: "strings -n 0", err: "minimum string length is too small: 0", code: 1},
	})
}

func TestCmp(t *testing.T) {
	f := map[string]string{"a": "abc\ndef\n", "b": "abc\ndxf\n", "short": "abc\n", "empty": ""}
	runCases(t, []commandCase{
		{name: "the same", files: f, argv: "cmp a a"},
		{name: "a byte", files: f, argv: "cmp a b", out: "a b differ: byte 6, line 2\n", code: 1},
		{name: "silent", files: f, argv: "cmp -s a b", code: 1},
		{name: "all bytes", files: f, argv: "cmp -lb a b", out: "6 145 e    170 x\n", code: 1},
		{name: "a prefix", files: f, argv: "cmp a short", err: "cmp: EOF on 'short' after byte 4, line 1", code: 1},
		{name: "an empty file", files: f, argv: "cmp a empty", err: "EOF on 'empty' which is empty", code: 1},
		{name: "as far as -n", files: f, argv: "cmp -n 5 a b"},
		{name: "skipping", files: f, argv: "cmp -i 6 a b"},
		{name: "missing", files: f, argv: "cmp a nope", err: "cmp: nope: No such file or directory", code: 2},
		{name: "wrong number", files: f, argv: "cmp -n x a b", err: "invalid --bytes value 'x'", code: 2},
	})
}

func TestCalculators(t *testing.T) {
	runCases(t, []commandCase{
		{name: "expr arithmetic", argv: "expr 2 + 3 * 4", out: "14\n"},
		{name: "expr of any size", argv: "expr 99999999999999999999 + 1", out: "100000000000000000000\n"},
		{name: "expr zero is false", argv: "expr 5 - 5", out: "0\n", code: 1},
		{name: "expr match", argv: "expr path/to/file : .*/\\(.*\\)", out: "file\n"},
		{name: "expr match with a backreference", argv: "expr abab : \\(ab\\)\\1", out: "ab\n"},
		{name: "expr anchors", argv: "expr xab : ab", out: "0\n", code: 1},
		{name: "expr division by zero", argv: "expr 1 / 0", err: "expr: division by zero", code: 2},
		{name: "expr syntax", argv: "expr 1 +", err: "syntax error: missing argument after '+'", code: 2},
		{name: "expr leaves out what does not count", argv: "expr 1 | 1 / 0", out: "1\n"},
		{name: "bc", stdin: "scale=3; 10/3\n2^64\n", argv: "bc", out: "3.333\n18446744073709551616\n"},
		{name: "bc -l", stdin: "4*a(1)\n", argv: "bc -l", out: "3.14159265358979323844\n"},
		{name: "bc functions", stdin: "define f(n) { if (n<2) return 1; return n*f(n-1) }\nf(25)\n", argv: "bc", out: "15511210043330985984000000\n"},
		{name: "bc goes on after errors", stdin: "1/0\n1+\n2\n", argv: "bc", out: "2\n", err: "Divide by zero"},
		{name: "bc bases", stdin: "obase=16; ibase=2; 11111111\n", argv: "bc", out: "FF\n"},
		{name: "bc without a newline at the end", stdin: "1+1", argv: "bc", out: "2\n"},
		{name: "factor", argv: "factor 600851475143 97 1", out: "600851475143: 71 839 1471 6857\n97: 97\n1:\n"},
		{name: "factor of a large product", argv: "factor 1000000016000000063", out: "1000000016000000063: 1000000007 1000000009\n"},
		{name: "factor refuses", argv: "factor 1x", err: "'1x' is not a valid positive integer", code: 1},
		{name: "numfmt", argv: "numfmt --to=iec 1048576 1500", out: "1.0M\n1.5K\n"},
		{name: "numfmt from", argv: "numfmt --from=si 1.5M", out: "1500000\n"},
		{name: "numfmt refuses", argv: "numfmt 1K", err: "rejecting suffix in input: '1K' (consider using --from)", code: 2},
	})
}
