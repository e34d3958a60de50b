package runtimes

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

const (
	maxTail  = 15  // lines of a failed build's output that its error has
	maxLine  = 400 // bytes of one of them
	maxCause = 300 // bytes of what the engine says of the failure
)

var (
	// stepPattern is how the engines say which instruction they are at:
	// "Step 2/5 : RUN …" and "STEP 2/5: RUN …".
	stepPattern = regexp.MustCompile(`^(?:Step|STEP) ([0-9]+)(?:/[0-9]+)? ?: ([A-Z]+) `)
	// bookkeeping is what the builders say of their own doings.
	bookkeeping   = regexp.MustCompile(`^(Removing intermediate container [0-9a-f]+| ---> (Running in )?[0-9a-f]+| ---> Using cache|--> (Using cache )?[0-9a-f]+|[0-9a-f]{64})$`)
	escapePattern = regexp.MustCompile("\x1b(\\[[0-9;?]*[ -/]*[@-~]|[@-Z\\\\-_])")
)

// watch follows the output of a build.
type watch struct {
	instructions []instruction
	progress     func(string)
	step         int      // of instructions, counted from 1; 0 before the first
	tail         []string // the last lines of the step
}

// output takes output of the engine: untrusted text, with or without the ends
// of its lines.
func (w *watch) output(text string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		// What was written over is not told: it was a progress bar.
		line = printable(line[strings.LastIndexByte(line, '\r')+1:], maxLine)
		if line == "" || bookkeeping.MatchString(line) || w.atStep(line) {
			continue
		}
		if w.tail = append(w.tail, line); len(w.tail) > maxTail {
			w.tail = w.tail[1:]
		}
		w.progress(line)
	}
}

// atStep tells whether the line begins a step. A program in the build may
// print such a line as well, which at worst makes a message name another step.
func (w *watch) atStep(line string) bool {
	m := stepPattern.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	n, err := strconv.Atoi(m[1])
	switch {
	case err != nil || n <= w.step:
		return false
	case n > len(w.instructions):
		return m[2] == "LABEL" // which builders add for themselves
	case !strings.HasPrefix(w.instructions[n-1].text, m[2]+" "):
		return false
	}
	w.step, w.tail = n, nil
	w.progress(fmt.Sprintf("step %d/%d: %s", n, len(w.instructions), w.instructions[n-1].what))
	return true
}

// failure is the error of a build that failed.
func (w *watch) failure(cause error) error {
	var b strings.Builder
	b.WriteString("its build failed")
	if w.step > 0 {
		fmt.Fprintf(&b, " at step %d of %d, %s", w.step, len(w.instructions), w.instructions[w.step-1].what)
	}
	fmt.Fprintf(&b, ": %s", printable(strings.ReplaceAll(cause.Error(), "\n", " "), maxCause))
	if len(w.tail) > 0 {
		fmt.Fprintf(&b, "\nThe last lines of its output:\n%s", strings.Join(w.tail, "\n"))
	}
	return &backends.Error{Code: backends.CodeOf(cause), Op: "build", Message: b.String(), Err: cause}
}

// printable is a line without what steers a terminal, at most limit bytes.
func printable(line string, limit int) string {
	line = escapePattern.ReplaceAllString(line, "")
	line = strings.Map(func(c rune) rune {
		switch {
		case c == '\t':
			return ' '
		case unicode.IsControl(c):
			return -1
		}
		return c
	}, strings.ToValidUTF8(line, "\ufffd"))
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	if len(line) > limit {
		line = strings.ToValidUTF8(line[:limit], "") + "…"
	}
	return line
}
