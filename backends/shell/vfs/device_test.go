package vfs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestDevices(t *testing.T) {
	f := New(Options{})
	read := func(name string) []byte {
		t.Helper()
		h, err := f.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		b := bytes.Repeat([]byte{1}, 1000)
		n, err := io.ReadFull(h, b)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if at, err := h.ReadAt(make([]byte, 10), 1<<40); (at == 10) != (n == len(b)) {
			t.Errorf("%s: %d bytes are read far away, %v", name, at, err)
		}
		return b[:n]
	}
	for name, want := range map[string]int{"/dev/null": 0, "/dev/zero": 1000, "/dev/full": 1000} {
		if got := read(name); !bytes.Equal(got, make([]byte, want)) {
			t.Errorf("%s has %d bytes, %x", name, len(got), got)
		}
	}
	if a, b := read("/dev/urandom"), read("/dev/random"); len(a) != 1000 || len(b) != 1000 || bytes.Equal(a, b) || bytes.Equal(a, make([]byte, 1000)) {
		t.Error("what should be random is not")
	}
	for name, want := range map[string]error{"/dev/null": nil, "/dev/zero": nil, "/dev/urandom": nil, "/dev/full": syscall.ENOSPC} {
		h, err := f.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Write([]byte("x")); !errors.Is(err, want) {
			t.Errorf("writing to %s: %v, want %v", name, err, want)
		}
		h.Close()
	}
	if f.Changed() {
		t.Error("devices count as a change")
	}
}

func TestLocks(t *testing.T) {
	f := New(Options{})
	open := func() File {
		h, err := f.OpenFile("/lock", os.O_RDONLY|os.O_CREATE, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	try := func(h File, shared bool) bool {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return h.Lock(ctx, shared) == nil
	}
	a, b, c := open(), open(), open()
	if !try(a, false) || try(b, false) || try(b, true) || !try(a, false) {
		t.Error("a lock is not held by one alone")
	}
	got := make(chan error)
	go func() { got <- b.Lock(t.Context(), true) }()
	select {
	case err := <-got:
		t.Fatalf("a lock that is held was given: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	a.Unlock()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	if !try(c, true) || try(a, false) || try(c, false) {
		t.Error("a shared lock is not held by those who share it")
	}
	b.Close()
	if !try(c, false) || try(a, true) {
		t.Error("a lock outlives its file, or cannot be made one's own")
	}
	c.Close()
	if try(b, false) || !try(a, false) {
		t.Error("a closed file takes a lock, or keeps it")
	}
	a.Close()
	if len(f.locks) != 0 {
		t.Errorf("%d locks are left", len(f.locks))
	}
}
