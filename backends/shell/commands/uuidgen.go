package commands

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

var uuidgenOptions = NewOptions(1, "r random", "t time", "n namespace=", "N name=", "m md5", "s sha1", "C count=")

// Names of the namespaces of RFC 9562.
var uuidNamespaces = map[string]string{
	"@dns": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "@url": "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
	"@oid": "6ba7b812-9dad-11d1-80b4-00c04fd430c8", "@x500": "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
}

func uuidgen(p *Proc) int {
	o, code := p.Parse(uuidgenOptions)
	if o == nil {
		return code
	}
	if len(o.Args) > 0 {
		return p.Usage(1, "unexpected operand %s", Quote(o.Args[0]))
	}
	count := uint64(1)
	if text, ok := o.Value("C"); ok {
		var err error
		if count, err = strconv.ParseUint(text, 10, 32); err != nil {
			return p.Errorf(1, "failed to parse count: %s", Quote(text))
		}
	}
	make := func() [16]byte { return uuidOf(4, randomBytes()) }
	switch o.Last("r", "t", "m", "s") {
	case "t":
		make = uuidOfTime
	case "m", "s":
		name, _ := o.Value("N")
		space, _ := o.Value("n")
		if known, ok := uuidNamespaces[space]; ok {
			space = known
		}
		raw, err := hex.DecodeString(strings.ReplaceAll(space, "-", ""))
		if err != nil || len(raw) != 16 {
			return p.Errorf(1, "--md5 and --sha1 need a --namespace: @dns, @url, @oid, @x500 or a UUID")
		}
		text := slices.Concat(raw, []byte(name))
		make = func() [16]byte {
			if o.Last("m", "s") == "m" {
				return uuidOf(3, md5.Sum(text))
			}
			sum := sha1.Sum(text)
			return uuidOf(5, [16]byte(sum[:16]))
		}
	}
	for ; count > 0 && !p.Stopped(); count-- {
		b := make()
		fmt.Fprintf(p.Out, "%x-%x-%x-%x-%x\n", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	return 0
}

func randomBytes() (b [16]byte) {
	_, _ = rand.Read(b[:]) // never fails
	return b
}

// uuidOf makes a UUID of that version of b.
func uuidOf(version byte, b [16]byte) [16]byte {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	return b
}

// uuidOfTime has the time, and a random number for the machine that there is
// not.
func uuidOfTime() [16]byte {
	b := randomBytes()
	const since1582 = 0x01b21dd213814000 // in units of 100 ns, to 1970
	t := uint64(time.Now().UnixNano()/100) + since1582
	binary.BigEndian.PutUint32(b[:], uint32(t))
	binary.BigEndian.PutUint16(b[4:], uint16(t>>32))
	binary.BigEndian.PutUint16(b[6:], uint16(t>>48))
	b[10] |= 1 // no address of a network card
	return uuidOf(1, b)
}
