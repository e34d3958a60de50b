package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// maxField bounds a text of a line, in bytes. A target has been cut to 4,000
// characters already; nothing else is long unless a client made it so.
const maxField = 16_000

// timeLayout is RFC 3339 with all nine digits, so that lines sort as text.
const timeLayout = "2006-01-02T15:04:05.000000000Z07:00"

// line is r as one line of JSON, its newline included.
func (r Record) line() ([]byte, error) {
	for _, s := range []*string{
		&r.RequestID, &r.Principal, &r.Remote, &r.Workspace, &r.Tool, &r.Operation,
		&r.Target, &r.Decision, &r.Rule, &r.Outcome, &r.Reason,
	} {
		*s = cut(*s)
	}
	out := struct {
		Time string `json:"time"`
		Record
		DurationMS *float64 `json:"duration_ms,omitempty"`
	}{Time: r.Time.UTC().Format(timeLayout), Record: r}
	if r.Duration > 0 || r.Kind == KindCall {
		ms := float64(r.Duration.Round(time.Microsecond)) / float64(time.Millisecond)
		out.DurationMS = &ms
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // commands are full of < > &
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("encoding a line of the audit log: %w", err)
	}
	return escapeControls(b.Bytes()), nil
}

// cut shortens s to maxField bytes, between characters.
func cut(s string) string {
	if len(s) <= maxField {
		return s
	}
	n := maxField
	for n > maxField-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// escapeControls escapes what JSON allows inside a string and a terminal obeys:
// DEL, the C1 controls, and the characters that turn the direction of text.
// Outside of strings JSON has none of them.
func escapeControls(line []byte) []byte {
	if !bytes.ContainsFunc(line, acts) {
		return line
	}
	out := make([]byte, 0, len(line)+32)
	for _, r := range string(line) {
		if acts(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

func acts(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0x61c || r == 0x200e || r == 0x200f ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
