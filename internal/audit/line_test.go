package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHostileTextStaysOneValidLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	l := open(t, Config{Path: path})
	hostile := []string{
		"a\nb\r\nc", "\"},{\"event\":\"call\"", "\x00\x1b[31m\x7f", "\xff\xfe\xc3(", "\u2028\u2029\u0085",
		"\u009b2J", "\u202eevil\u2066", "<&>", strings.Repeat("\x01", 20_000), strings.Repeat("é", 20_000), `\`,
	}
	for _, s := range hostile {
		err := l.Record(t.Context(), Record{
			Kind: Kind(s), Principal: s, RequestID: s, Session: s, Remote: s, Workspace: s, Tool: s,
			Operation: s, Target: s, Decision: s, Rule: s, Outcome: s, Reason: s,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte("\n")); n != len(hostile) {
		t.Errorf("%d lines for %d records", n, len(hostile))
	}
	for _, r := range string(data) {
		if r != '\n' && (r < 0x20 || acts(r) || r == 0x2028 || r == 0x2029) {
			t.Fatalf("the log holds %U", r)
		}
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		if want := strings.ToValidUTF8(hostile[i], "�"); i != 3 && len(want) < maxField && m["target"] != want {
			t.Errorf("target %q, want %q", m["target"], want)
		}
	}
}

func FuzzLineIsOneJSONObject(f *testing.F) {
	f.Add("ls\n-l", "\xff")
	f.Fuzz(func(t *testing.T, target, rule string) {
		line, err := Record{Kind: KindCall, Target: target, Rule: rule}.line()
		if err != nil || bytes.Count(line, []byte("\n")) != 1 || !json.Valid(line) {
			t.Fatalf("%q: %v", line, err)
		}
	})
}
