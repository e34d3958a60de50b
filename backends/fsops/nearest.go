package fsops

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// noMatch says why old does not occur in content: the place that is most like
// it, and the first difference there.
func noMatch(content []byte, old string) string {
	const lead = "old_string was not found"
	if len(content) == 0 {
		return lead + "; the file is empty"
	}
	if strings.ContainsRune(old, utf8.RuneError) {
		return lead + "; it contains U+FFFD, which stands for bytes that are not UTF-8: leave them out of old_string"
	}
	wanted := strings.Split(strings.TrimSuffix(toLF(old), "\n"), "\n")
	lines := textLines(content)
	at := nearestPlace(lines, wanted)
	if at < 0 {
		return lead + ", and nothing in the file resembles it; read the file again"
	}
	for i, want := range wanted {
		if at+i >= len(lines) {
			return fmt.Sprintf("%s; the nearest place is line %d, but the file ends before line %d of old_string: %q", lead, at+1, i+1, excerpt([]byte(want)))
		}
		is := lines[at+i]
		first, last := i == 0, i == len(wanted)-1
		if agrees(is, want, first, last) {
			continue
		}
		return fmt.Sprintf("%s; the nearest place is line %d, where line %d has\n  %q\nand old_string has\n  %q\n%s",
			lead, at+1, at+i+1, excerpt([]byte(is)), excerpt([]byte(want)), difference(is, want))
	}
	return fmt.Sprintf("%s, though the lines from %d on agree; look at what comes between them, and at the start of the first line", lead, at+1)
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
	nearestLines = 50_000 // lines of the file looked at
	nearestBytes = 400    // of each line compared
)

// nearestPlace returns the index of the line at which wanted fits lines best,
// or -1 when nothing is alike. It first looks for the longest of the wanted
// lines, white space aside, and only when none occurs for the most similar.
func nearestPlace(lines, wanted []string) int {
	lines = lines[:min(len(lines), nearestLines)]
	byText := make(map[string][]int, len(lines))
	for i, l := range lines {
		if key := squeeze(l); key != "" && len(byText[key]) < 50 {
			byText[key] = append(byText[key], i)
		}
	}
	best, bestScore := -1, 0
	for offset, w := range wanted[:min(len(wanted), 200)] {
		for _, i := range byText[squeeze(w)] {
			start := i - offset
			if start < 0 {
				continue
			}
			if score := fit(lines[start:], wanted); score > bestScore {
				best, bestScore = start, score
			}
		}
	}
	if best >= 0 {
		return best
	}
	anchor, at := longest(wanted)
	profile := bigrams(anchor)
	if len(profile) == 0 {
		return -1
	}
	bestRatio := 0.5
	for i, l := range lines {
		if ratio := similarity(profile, l); ratio > bestRatio && i >= at {
			best, bestRatio = i-at, ratio
		}
	}
	return best
}

// fit counts how well wanted agrees with the lines it is laid over.
func fit(lines, wanted []string) int {
	score := 0
	for i := range min(len(lines), len(wanted)) {
		switch {
		case lines[i] == wanted[i]:
			score += 3
		case squeeze(lines[i]) == squeeze(wanted[i]):
			score += 2
		}
	}
	return score
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func longest(lines []string) (line string, at int) {
	for i, l := range lines {
		if l = squeeze(l); len(l) > len(line) {
			line, at = l, i
		}
	}
	return line, at
}

// bigrams counts the pairs of bytes in a line.
func bigrams(s string) map[[2]byte]int {
	s = s[:min(len(s), nearestBytes)]
	m := make(map[[2]byte]int, len(s))
	for i := 1; i < len(s); i++ {
		m[[2]byte{s[i-1], s[i]}]++
	}
	return m
}

// similarity is the Dice coefficient of a profile and a line: 0 to 1.
func similarity(profile map[[2]byte]int, line string) float64 {
	line = squeeze(line[:min(len(line), nearestBytes)])
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

func textLines(content []byte) []string {
	content = bytes.TrimPrefix(content, bom)
	lines := splitLines(content)
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = string(l.text(content))
	}
	return out
}

// excerpt is a line short enough for a message.
func excerpt(line []byte) string {
	kept, cut := cutChars(string(line), 200)
	if cut > 0 {
		kept += "…"
	}
	return kept
}
