// Package suggest finds the word that a mistyped one was probably meant to be.
package suggest

import (
	"fmt"
	"strings"
)

// maxWord is the longest word that is compared, in bytes.
const maxWord = 40

// Nearest returns the known word that at most two single-character changes
// lead to from s, or "". Upper and lower case count as the same, and so do
// "-" and "_".
func Nearest(s string, known []string) string {
	s = plain(s)
	if len(s) > maxWord {
		return ""
	}
	best, distance := "", 3
	for _, k := range known {
		if d := editDistance(s, plain(k)); d < distance && d < len(k) {
			best, distance = k, d
		}
	}
	return best
}

func plain(s string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "_", "-")
}

// DidYouMean is the end of a message about the unknown word s, or "".
func DidYouMean(s string, known []string) string {
	if best := Nearest(s, known); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
