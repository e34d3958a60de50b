// Package posixre has the regular expressions of grep, sed and awk: POSIX basic
// and extended ones with GNU's additions, leftmost and longest, over UTF-8.
//
// What RE2 can say is matched by package regexp, in time linear in the text.
// The rest (back-references, word boundaries in text beyond ASCII, counts that
// regexp refuses) is matched by a backtracking matcher of this package whose
// steps and memory are bounded. Both stop when the context of their [Host] ends.
package posixre

import (
	"context"
	"errors"
)

// Host is what a command gives to its regular expressions.
type Host interface {
	// Context ends a match that goes on when it ends.
	Context() context.Context
	// Hold takes memory, in bytes, and fails when there is no more.
	Hold(n int) error
	// Release gives back what Hold took.
	Release(n int)
}

// Flags choose a syntax.
type Flags uint16

// The flags.
const (
	// Extended is the syntax of grep -E, sed -E and awk.
	Extended Flags = 1 << iota
	// IgnoreCase matches letters in either case.
	IgnoreCase
	// Multiline lets ^ and $ match around newlines as well.
	Multiline
	// Escapes knows \n, \t, \xHH, \oNNN, \dNNN and \cX, also in brackets, as sed does.
	Escapes
	// Awk has awk's escapes: \/, \", \NNN, \y, and all of them in brackets;
	// there are no back-references.
	Awk
	// Fixed takes the pattern as plain text.
	Fixed
	// LooseParen takes a ")" without its "(" as plain text, as grep -E does.
	LooseParen
	// Word wants a match that no word character comes before or after, as grep -w.
	Word
	// Whole wants a match that is all of the text, as grep -x.
	Whole
)

// ErrSteps is why a match was given up that would take too long.
var ErrSteps = errors.New("the regular expression needs too many steps on this text; write it without back-references")

// Error is a pattern that cannot be understood, in the words of regcomp.
type Error string

func (e Error) Error() string { return string(e) }
