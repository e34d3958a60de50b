package runtimes_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// index is a package index with one package, test-parcel, in two versions.
type index struct{ *httptest.Server }

func newIndex(t *testing.T) index {
	t.Helper()
	files := map[string][]byte{}
	var links strings.Builder
	for _, version := range []string{"1.5", "2.0"} {
		name := "test_parcel-" + version + "-py3-none-any.whl"
		files["/files/"+name] = wheel(t, version)
		fmt.Fprintf(&links, "<a href=\"/files/%s\">%s</a>\n", name, name)
	}
	files["/simple/test-parcel/"] = []byte("<!DOCTYPE html><html><body>\n" + links.String() + "</body></html>")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/") {
			w.Header().Set("Content-Type", "text/html")
		}
		if _, err := w.Write(data); err != nil {
			t.Logf("the client went away: %v", err)
		}
	}))
	t.Cleanup(server.Close)
	return index{server}
}

// wheel is a Python package with one module.
func wheel(t *testing.T, version string) []byte {
	t.Helper()
	info := "test_parcel-" + version + ".dist-info/"
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range []struct{ name, content string }{
		{"test_parcel.py", "VERSION = '" + version + "'\n"},
		{info + "METADATA", "Metadata-Version: 2.1\nName: test-parcel\nVersion: " + version + "\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", "test_parcel.py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"},
	} {
		part, err := w.Create(f.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(f.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// npmParcel is a package of Node.js with one program.
func npmParcel(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, content := range map[string]string{
		"package/package.json": `{"name": "@test/parcel", "version": "1.5.0", "bin": {"parcel": "index.js"}}`,
		"package/index.js":     "#!/usr/bin/env node\nconsole.log('parcel')\n",
	} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
