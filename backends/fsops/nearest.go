package fsops

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// noMatchError says why old does not occur in content, the file at p.
func noMatchError(ctx context.Context, p string, content []byte, old string) error {
	message, err := noMatch(ctx, content, old)
	if err != nil {
		return atPath(err, p)
	}
	return backends.Errorf(backends.CodeNoMatch, "edit", p, "%s", message)
}

// noMatch says why old does not occur in content: the place that is most like
// it, and the first difference there.
func noMatch(ctx context.Context, content []byte, old string) (string, error) {
	const lead = "old_string was not found"
	if len(content) == 0 {
		return lead + "; the file is empty", nil
	}
	if strings.ContainsRune(old, utf8.RuneError) {
		return lead + "; it contains U+FFFD, which stands for bytes that are not UTF-8: leave them out of old_string", nil
	}
	content = bytes.TrimPrefix(content, bom)
	old = strings.TrimSuffix(toLF(old), "\n")
	at, err := nearestPlace(ctx, nearLines(content, nearestLines), nearLines([]byte(old), nearestWanted))
	if err != nil {
		return "", err
	}
	if at < 0 {
		return lead + ", and nothing in the file resembles it; read the file again", nil
	}
	return lead + whereItDiffers(content, old, at), nil
}

// whereItDiffers describes the first line in which content, from line index at
// on, is not what old has.
func whereItDiffers(content []byte, old string, at int) string {
	for range at {
		_, content = cutLine(content)
	}
	for i := 0; ; i++ {
		want, more, goesOn := strings.Cut(old, "\n")
		if len(content) == 0 {
			return fmt.Sprintf("; the nearest place is line %d, but the file ends before line %d of old_string: %q", at+1, i+1, excerpt([]byte(want)))
		}
		line, rest := cutLine(content)
		if is := string(line); !agrees(is, want, i == 0, !goesOn) {
			return fmt.Sprintf("; the nearest place is line %d, where line %d has\n  %q\nand old_string has\n  %q\n%s",
				at+1, at+i+1, excerpt(line), excerpt([]byte(want)), difference(is, want))
		}
		if !goesOn {
			return fmt.Sprintf(", though the lines from %d on agree; look at what comes between them, and at the start of the first line", at+1)
		}
		content, old = rest, more
	}
}

// cutLine returns the first line of text, without its ending, and what follows.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, ended := bytes.Cut(text, newline)
	if ended && len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line, rest
}

// agrees tells whether a line of the file has what old_string wants of it: the
// first line its end, the last its beginning, one between all of it.
func agrees(is, want string, first, last bool) bool {
	switch {
	case first && last:
		return strings.Contains(is, want)
	case first:
		return strings.HasSuffix(is, want)
	case last:
		return strings.HasPrefix(is, want)
	default:
		return is == want
	}
}

// longLine is how many bytes of a line are looked through for the difference.
const longLine = 1 << 20

// difference names what keeps two lines apart when it is easily overlooked.
func difference(is, want string) string {
	strip := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, s)
	}
	indent := func(s string) string { return s[:len(s)-len(strings.TrimLeftFunc(s, unicode.IsSpace))] }
	switch {
	case len(is) > longLine || len(want) > longLine: // would take seconds to compare
		return "the lines are very long; change the file with a command such as sed"
	case strings.TrimSpace(is) == strings.TrimSpace(want) && indent(is) != indent(want):
		return fmt.Sprintf("(only the indentation differs: the file has %s, old_string has %s)", describeIndent(indent(is)), describeIndent(indent(want)))
	case strings.TrimRightFunc(is, unicode.IsSpace) == strings.TrimRightFunc(want, unicode.IsSpace):
		return "(only white space at the end of the line differs)"
	case strip(is) == strip(want):
		return "(only white space differs)"
	case strings.EqualFold(is, want):
		return "(only upper and lower case differ)"
	case plainQuotes(is) == plainQuotes(want):
		return "(only the kind of quotes or dashes differs)"
	default:
		return "copy the text from a fresh read_file, without the line numbers"
	}
}

var quotes = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`, "–", "-", "—", "-", "\u00a0", " ")

func plainQuotes(s string) string { return quotes.Replace(s) }

func describeIndent(s string) string {
	tabs := strings.Count(s, "\t")
	switch spaces := len(s) - tabs; {
	case s == "":
		return "none"
	case tabs == 0:
		return fmt.Sprintf("%d space(s)", spaces)
	case spaces == 0:
		return fmt.Sprintf("%d tab(s)", tabs)
	default:
		return fmt.Sprintf("%d tab(s) and %d space(s)", tabs, spaces)
	}
}

// Bounds on the search for the nearest place.
const (
	nearestLines  = 50_000 // lines of the file looked at
	nearestWanted = 200    // lines of the text that was not found
	nearestBytes  = 400    // of each line compared
	nearestSame   = 50     // places at which the same line is tried
)

// nearLine is the beginning of a line, as it is and white space aside.
type nearLine struct{ text, squeezed string }

// nearLines returns the first most lines of text.
func nearLines(text []byte, most int) []nearLine {
	var lines []nearLine
	for len(lines) < most && len(text) > 0 {
		var line []byte
		line, text = cutLine(text)
		start := string(line[:min(len(line), nearestBytes)])
		lines = append(lines, nearLine{start, squeeze(start)})
	}
	return lines
}

// nearestPlace returns the index of the line at which wanted fits lines best,
// or -1 when nothing is alike. It first looks for the wanted lines, white space
// aside, and only when none of them occurs for what is most similar to the
// longest.
func nearestPlace(ctx context.Context, lines, wanted []nearLine) (int, error) {
	clock := workClock{ctx: ctx}
	byText := make(map[string][]int, len(lines))
	for i, l := range lines {
		if at := byText[l.squeezed]; l.squeezed != "" && len(at) < nearestSame {
			byText[l.squeezed] = append(at, i)
		}
	}
	best, bestScore := -1, 0
	tried := map[int]bool{}
	for offset, w := range wanted {
		for _, i := range byText[w.squeezed] {
			start := i - offset
			if start < 0 || tried[start] {
				continue
			}
			tried[start] = true
			if score := fit(lines[start:], wanted); score > bestScore {
				best, bestScore = start, score
			}
			if clock.spend(nearestBytes * len(wanted) / 10) {
				return -1, ended(ctx, "edit")
			}
		}
	}
	if best >= 0 {
		return best, nil
	}
	anchor, at := longest(wanted)
	profile := bigrams(anchor)
	if len(profile) == 0 {
		return -1, nil
	}
	bestRatio := 0.5
	for i, l := range lines {
		if ratio := similarity(profile, l.squeezed); ratio > bestRatio && i >= at {
			best, bestRatio = i-at, ratio
		}
		if clock.spend(10 * len(l.squeezed)) {
			return -1, ended(ctx, "edit")
		}
	}
	return best, nil
}

// fit counts how well wanted agrees with the lines it is laid over.
func fit(lines, wanted []nearLine) int {
	score := 0
	for i := range min(len(lines), len(wanted)) {
		switch {
		case lines[i].text == wanted[i].text:
			score += 3
		case lines[i].squeezed == wanted[i].squeezed:
			score += 2
		}
	}
	return score
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func longest(lines []nearLine) (line string, at int) {
	for i, l := range lines {
		if len(l.squeezed) > len(line) {
			line, at = l.squeezed, i
		}
	}
	return line, at
}

// bigrams counts the pairs of bytes in a line.
func bigrams(s string) map[[2]byte]int {
	m := make(map[[2]byte]int, len(s))
	for i := 1; i < len(s); i++ {
		m[[2]byte{s[i-1], s[i]}]++
	}
	return m
}

// similarity is the Dice coefficient of a profile and a line: 0 to 1.
func similarity(profile map[[2]byte]int, line string) float64 {
	if len(line) < 2 {
		return 0
	}
	total, shared := len(line)-1, 0
	for _, n := range profile {
		total += n
	}
	used := make(map[[2]byte]int, len(line))
	for i := 1; i < len(line); i++ {
		pair := [2]byte{line[i-1], line[i]}
		if used[pair] < profile[pair] {
			used[pair]++
			shared++
		}
	}
	return 2 * float64(shared) / float64(total)
}

// excerpt is a line short enough for a message.
func excerpt(line []byte) string {
	kept, cut := cutChars(string(line), 200)
	if cut > 0 {
		kept += "…"
	}
	return kept
}
