package commands

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
)

type zipMember struct {
	name, content string
	mode          fs.FileMode
}

// zipOf makes an archive.
func zipOf(t *testing.T, members ...zipMember) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		h.SetMode(m.mode | 0o644)
		out, err := w.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(out, m.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestUnzipDoesNotLeaveItsDirectory(t *testing.T) {
	link := func(name, target string) zipMember { return zipMember{name, target, fs.ModeSymlink} }
	file := func(name string) zipMember { return zipMember{name: name, content: "evil"} }
	for _, c := range []struct {
		name    string
		members []zipMember
		code    int
	}{
		{"a name with ..", []zipMember{file("../evil")}, 1},
		{"a name with .. inside", []zipMember{file("a/../../evil")}, 1},
		{"an absolute name", []zipMember{file("/evil")}, 1},
		{"through a symlink up", []zipMember{link("l", ".."), file("l/evil")}, 2},
		{"through an absolute symlink", []zipMember{link("l", "/"), file("l/evil")}, 2},
		{"a symlink that is made last", []zipMember{file("l/evil"), link("l", "..")}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := newFiles(t, map[string]string{"in/sub/": "", "a.zip": zipOf(t, c.members...)})
			got := runOn(t, files, "", "unzip", "-o", "a.zip", "-d", "in/sub")
			if got.code != c.code {
				t.Errorf("it is %d, should be %d: %s", got.code, c.code, got.err)
			}
			for _, name := range []string{"/evil", "/work/evil", "/work/in/evil"} {
				if _, err := files.Lstat(name); err == nil {
					t.Errorf("%s was made", name)
				}
			}
		})
	}
}

func TestDamagedZipArchives(t *testing.T) {
	good := zipOf(t, zipMember{name: "a", content: strings.Repeat("hello ", 100)})
	bent := []byte(good)
	bent[40]++
	encrypted := []byte(good)
	at := bytes.LastIndex(encrypted, []byte("PK\x01\x02"))
	encrypted[at+8] |= 1
	method := []byte(good)
	method[at+10] = 12
	for _, c := range []struct{ name, content, argv, err string }{
		{"cut off", good[:len(good)-30], "unzip a.zip", "End-of-central-directory signature not found"},
		{"empty", "", "unzip a.zip", "End-of-central-directory signature not found"},
		{"bent", string(bent), "unzip a.zip", "a:  "},
		{"bent, tested", string(bent), "unzip -t a.zip", "a:  "},
		{"encrypted", string(encrypted), "unzip a.zip", "unable to get password"},
		{"another method", string(method), "unzip a.zip", "unsupported compression method 12"},
		{"added to", good[:len(good)-30], "zip a.zip x", "zip error: a.zip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := runCommand(t, map[string]string{"a.zip": c.content, "x": "x"}, "", argvOf(c.argv)...)
			if got.code == 0 || !strings.Contains(got.err, c.err) {
				t.Errorf("it is %d, %q; should say %q", got.code, got.err, c.err)
			}
		})
	}
}

// The list of entries is charged before it is read, however short the archive
// says that it is.
func TestTheListOfAZipArchiveIsCharged(t *testing.T) {
	members := make([]zipMember, 150_000)
	for i := range members {
		members[i].name = fmt.Sprint(i)
	}
	text := []byte(zipOf(t, members...))
	at := bytes.LastIndex(text, []byte("PK\x05\x06"))
	for _, size := range []uint32{binary.LittleEndian.Uint32(text[at+12:]), 46} {
		binary.LittleEndian.PutUint32(text[at+12:], size)
		got := runCommand(t, map[string]string{"a.zip": string(text)}, "", "unzip", "-l", "a.zip")
		if got.code == 0 || !strings.Contains(got.err, ErrMemory.Error()) {
			t.Errorf("%d, %.200q, want %q", got.code, got.err, ErrMemory)
		}
	}
}
