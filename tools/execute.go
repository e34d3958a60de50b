package tools

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

type executeArgs struct {
	Command string  `arg:"command" required:"true"`
	Timeout float64 `arg:"timeout" default:"120" min:"0"`
}

type executeOutput struct {
	ExitCode   int    `json:"exit_code"`
	Output     string `json:"output" jsonschema:"stdout and stderr in the order written"`
	Truncated  bool   `json:"truncated,omitempty"`
	OutputFile string `json:"output_file,omitempty" jsonschema:"file in the workspace that has the whole output"`
}

const (
	maxTimeout  = 24 * time.Hour
	shownOutput = 100_000 // bytes of output that are shown whole
	maxOutput   = 1 << 30 // bytes of output after which a command is stopped, unless Options say otherwise
)

var execute = define[executeArgs, executeOutput]("execute", "Run a command", permissions.Execute,
	hints{destructive: true, openWorld: true}, (*call).execute)

func (c *call) execute(in executeArgs) (*answer, error) {
	timeout := time.Duration(in.Timeout * float64(time.Second))
	switch {
	case strings.TrimSpace(in.Command) == "":
		return nil, invalid("the argument \"command\" is empty")
	case strings.IndexByte(in.Command, 0) >= 0:
		return nil, invalid("a command cannot contain a NUL character")
	case timeout <= 0 || timeout > maxTimeout:
		return nil, invalid("the argument \"timeout\" is %v; it takes seconds, more than 0 and at most %v", in.Timeout, maxTimeout.Seconds())
	}
	if err := c.allow(c.set.Rules.Command(in.Command, shellView{c}), in.Command); err != nil {
		return nil, err
	}

	var out output
	stop := c.reportProgress(&out)
	exit, err := c.run(backends.Command{
		Script: in.Command, Timeout: timeout, Merge: true, KeepAbove: shownOutput, MaxOutput: c.maxOutput(),
		Output: func(_ backends.Stream, data []byte) { out.add(data) },
		Access: c.access(in.Command),
	})
	stop()

	shown := out.fit(exit, c.budget())
	f := facts{"exit_code": exit.Code}
	if err == nil {
		c.event.ExitCode = exit.Code
	}
	truncated := out.truncated()
	if truncated {
		f["truncated"] = true
	}
	if exit.OutputFile != "" {
		f["output_file"] = valid(exit.OutputFile)
	}
	if err != nil {
		return nil, c.stopped(err, in.Timeout, shown, f)
	}
	text := shown
	switch {
	case exit.Code != 0:
		text = fmt.Sprintf("Command failed (exit code %d):\n%s", exit.Code, shown)
		if exit.Signal != "" {
			text += fmt.Sprintf("\n(ended by %s)", exit.Signal)
		}
	case shown == "":
		text = "(no output)"
	}
	o := executeOutput{ExitCode: exit.Code, Output: valid(shown), Truncated: truncated, OutputFile: valid(exit.OutputFile)}
	return &answer{text: text, facts: f, output: o}, nil
}

func (c *call) maxOutput() int64 {
	if c.set.MaxOutput > 0 {
		return c.set.MaxOutput
	}
	return maxOutput
}

// stopped is the failure of a command that did not end by itself, or whose files
// could not be kept.
func (c *call) stopped(err error, seconds float64, shown string, f facts) error {
	e := &commandError{err: err, output: shown, facts: f}
	printed := "It had printed:"
	if shown == "" {
		printed = "It had printed nothing."
	}
	say := func(code backends.Code, format string, args ...any) {
		e.err = &backends.Error{Code: code, Message: fmt.Sprintf(format, args...) + " " + printed, Err: err}
	}
	switch backends.CodeOf(err) {
	case backends.CodeTimeout:
		advice := "or start it in the background with its output in a file"
		if c.set.NoBackground {
			advice = "or do less in one command: nothing goes on in the background after it"
		}
		say(backends.CodeTimeout, "the command was stopped after %v s (exit code 124), with everything of its session. Raise timeout, %s.", seconds, advice)
	case backends.CodeTooLarge:
		say(backends.CodeTooLarge, "%s.", strings.TrimSuffix(message(err), "."))
	case backends.CodeStale:
		delete(f, "exit_code") // it may have been stopped
		say(backends.CodeStale, "%s.", strings.TrimSuffix(message(err), "."))
	case backends.CodeCancelled:
		say(backends.CodeCancelled, "cancelled; the command was stopped, with everything of its session.")
	default:
		if out := shown; out == "" {
			delete(f, "exit_code")
			return err
		}
		delete(f, "exit_code")
	}
	return e
}

// reportProgress notifies the client of the latest line of output, when it
// asked for progress, so that it does not take a long command for a dead one.
func (c *call) reportProgress(out *output) (stop func()) {
	report := c.progress()
	if report == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(c.ctx)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				report(out.lastLine())
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// output keeps the start and the end of what a command prints.
type output struct {
	mu    sync.Mutex
	total int64
	head  []byte // the first shownOutput/2 bytes
	tail  []byte // what follows; from time to time cut to its last shownOutput/2
	shown int    // how much of it is shown; see fit
}

func (o *output) add(data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total += int64(len(data))
	if room := shownOutput/2 - len(o.head); room > 0 {
		n := min(room, len(data))
		o.head = append(o.head, data[:n]...)
		data = data[n:]
	}
	o.tail = append(o.tail, data...)
	if len(o.tail) > shownOutput {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-shownOutput/2:]...)
	}
}

// truncated tells whether some of the output is not shown.
func (o *output) truncated() bool { return o.total > int64(o.shown) }

// fit is the output as it is shown, without its last newline, in at most budget
// bytes of JSON; exit tells where all of it is kept.
func (o *output) fit(exit backends.Exit, budget int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.shown = shownOutput; ; o.shown /= 2 {
		if text := o.render(exit); jsonSize(text) <= budget {
			return text
		}
	}
}

// render shows what fits into o.shown bytes.
func (o *output) render(exit backends.Exit) string {
	if !o.truncated() {
		return strings.TrimSuffix(string(o.head)+string(o.tail), "\n")
	}
	half := o.shown / 2
	head := wholeRunesEnd(o.head[:min(len(o.head), half)])
	end := o.tail
	if len(end) < half {
		end = append(slices.Clone(o.head), o.tail...)
	}
	tail := wholeRunesStart(end[max(len(end)-half, 0):])
	where := ""
	switch {
	case exit.OutputFile != "":
		where = "; the whole output is in " + exit.OutputFile
	case exit.NotKept != "":
		where = "; the whole output could not be kept: " + clip(valid(exit.NotKept), 300)
	case o.total > shownOutput:
		where = "; the whole output could not be kept"
	}
	return fmt.Sprintf("%s\n… (%d bytes left out%s) …\n%s", bytes.TrimSuffix(head, []byte("\n")), o.total-int64(len(head)+len(tail)), where, bytes.TrimSuffix(tail, []byte("\n")))
}

// lastLine is the latest line that is not blank, short enough for a
// notification.
func (o *output) lastLine() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	latest := o.tail
	if len(latest) == 0 {
		latest = o.head
	}
	latest = bytes.TrimRight(latest[max(len(latest)-4000, 0):], "\r\n \t")
	latest = latest[bytes.LastIndexAny(latest, "\r\n")+1:]
	return clip(valid(string(wholeRunesStart(latest))), 200)
}

// wholeRunesEnd drops a character that is cut off at the end of b.
func wholeRunesEnd(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// wholeRunesStart drops a character that is cut off at the start of b.
func wholeRunesStart(b []byte) []byte {
	for i := range min(utf8.UTFMax-1, len(b)) {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}
