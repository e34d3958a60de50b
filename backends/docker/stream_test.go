package docker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/docker/docker/api/types"
)

// frame is one frame of an engine.
func frame(kind byte, text string) string {
	header := [frameHeader]byte{kind}
	binary.BigEndian.PutUint32(header[4:], uint32(len(text)))
	return string(header[:]) + text
}

// streamOf is a stream that an engine sends data on.
func streamOf(t testing.TB, data string, log *slog.Logger) *stream {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = theirs.Close() })
	return newStream(types.HijackedResponse{Conn: ours, Reader: bufio.NewReader(strings.NewReader(data))}, log)
}

func TestStreamIsStandardOutput(t *testing.T) {
	var log bytes.Buffer
	s := streamOf(t, frame(1, "one ")+frame(2, "warning\n")+frame(1, "")+frame(1, "two"),
		slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	got, err := io.ReadAll(s)
	if string(got) != "one two" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if !strings.Contains(log.String(), "stderr=warning") {
		t.Errorf("logged %q", log.String())
	}
	if s.saidInstead() != "warning\none two" {
		t.Errorf("said %q", s.saidInstead())
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func TestStreamThatBreaksIsAnError(t *testing.T) {
	whole := frame(1, "text")
	for name, data := range map[string]string{
		"in a header":       whole + whole[:4],
		"in a frame":        whole + whole[:10],
		"in standard error": frame(2, "text")[:10],
		"other format":      "HTTP/1.1 500 no\r\n",
		"engine's own":      frame(3, "no more"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := io.ReadAll(streamOf(t, data, slog.New(slog.DiscardHandler)))
			if err == nil {
				t.Error("no error")
			}
			if name == "engine's own" && !strings.Contains(err.Error(), "no more") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestStandardErrorIsBounded(t *testing.T) {
	var log bytes.Buffer
	flood := strings.Repeat(frame(2, strings.Repeat("x", 100_000)), 100)
	s := streamOf(t, flood+frame(1, "end"), slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	got, err := io.ReadAll(s)
	if string(got) != "end" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if log.Len() > 3*maxLogged || len(s.said) > maxSaid {
		t.Errorf("%d bytes were logged and %d kept", log.Len(), len(s.said))
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(frame(1, "a")+frame(2, "b")), 3)
	f.Add([]byte(frame(1, "a")[:7]), 1)
	f.Add([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1}, 100)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		s := streamOf(t, string(data), slog.New(slog.DiscardHandler))
		buf := make([]byte, 1+max(0, min(size, 1000)))
		total := 0
		for {
			n, err := s.Read(buf)
			total += n
			if n < 0 || n > len(buf) || total > len(data) {
				t.Fatalf("read %d of %d", total, len(data))
			}
			if err != nil {
				if n == 0 && total == 0 && len(data) == 0 && !errors.Is(err, io.EOF) {
					t.Errorf("nothing is %v", err)
				}
				return
			}
		}
	})
}
