package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/itchyny/gojq"
)

// jqInputs reads the values of all files, one by one.
type jqInputs struct {
	j     *jqRun
	names []string
	close io.Closer
	next  func() (any, error) // of the file that is open; nil without one
	spent func()              // gives back what the values so far took
	done  func()
	ended bool
}

// Next is for the functions input and inputs.
func (in *jqInputs) Next() (any, bool) {
	v, err := in.read()
	if errors.Is(err, io.EOF) {
		return nil, false
	}
	if err != nil {
		return err, true
	}
	return v, true
}

// jqInputError is a failure to read, which ends a run with code 2.
type jqInputError struct{ error }

func (in *jqInputs) read() (any, error) {
	for {
		if in.ended || in.j.p.Stopped() {
			return nil, io.EOF
		}
		if in.next == nil {
			if !in.open() {
				return nil, io.EOF
			}
			continue
		}
		v, err := in.next()
		if err == nil {
			return v, nil
		}
		in.shut()
		if !errors.Is(err, io.EOF) {
			in.ended = true
			return nil, jqInputError{err}
		}
	}
}

// open opens the next file that can be.
func (in *jqInputs) open() bool {
	for len(in.names) > 0 {
		name := in.names[0]
		in.names = in.names[1:]
		if name == "" {
			in.start("", in.j.p.Stdin)
			return true
		}
		f, err := in.j.p.Open(name)
		if err != nil {
			in.j.code = in.j.p.Errorf(2, "error: Could not open %s: %s", name, Reason(err))
			continue
		}
		in.close = f
		in.start(name, f)
		return true
	}
	return false
}

func (in *jqInputs) start(name string, r io.Reader) {
	j := in.j
	j.file = name
	in.done, in.spent = func() {}, func() {}
	switch {
	case j.rawInput && j.slurp:
		in.next = j.wholeText(r)
	case j.rawInput:
		lines := j.p.Lines(r, '\n')
		in.done = lines.Close
		in.next = func() (any, error) {
			if !lines.Next() {
				if err := lines.Err(); err != nil {
					return nil, err
				}
				return nil, io.EOF
			}
			return lines.Text(), nil
		}
	case j.yamlIn:
		d := newYamlDecoder(j.p, r, j.order)
		in.next, in.done = d.next, d.r.done
		if !j.slurp {
			in.spent = d.r.done
		}
	default:
		d := newJqDecoder(j.p, r, j.order)
		in.next = d.next
		if j.stream {
			in.next = jqStream(d.next, j.order)
		}
		if !j.slurp {
			in.done, in.spent = d.r.done, d.r.done
		}
	}
}

func (j *jqRun) wholeText(r io.Reader) func() (any, error) {
	read := false
	return func() (any, error) {
		if read {
			return nil, io.EOF
		}
		read = true
		text, err := j.p.ReadAll(r)
		return string(text), err
	}
}

func (in *jqInputs) shut() {
	if in.next == nil {
		return
	}
	in.done()
	if in.close != nil {
		in.close.Close()
		in.close = nil
	}
	in.next = nil
}

// slurped is one value with all that is read.
func (in *jqInputs) slurped() (any, error) {
	all := []any{}
	var text strings.Builder
	for {
		v, err := in.read()
		if errors.Is(err, io.EOF) {
			if in.j.rawInput {
				return text.String(), nil
			}
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if s, ok := v.(string); ok && in.j.rawInput {
			text.WriteString(s)
		} else {
			all = append(all, v)
		}
	}
}

func (j *jqRun) main() int {
	in := &jqInputs{j: j, names: j.files}
	if len(j.files) == 0 {
		in.names = []string{""}
	}
	defer in.shut()
	code, values, err := j.compile(in)
	if err != nil {
		return j.p.Errorf(3, "error: %s\n%s: 1 compile error", err, j.p.Name)
	}
	ctx, stop := jqWatch(j.p.Context(), j.p.Memory)
	defer stop()
	once := j.nullInput || j.slurp
	for first := true; !j.p.Stopped(); first = false {
		var v any
		var err error
		switch {
		case once && !first:
			err = io.EOF
		case j.nullInput:
		case j.slurp:
			v, err = in.slurped()
		default:
			v, err = in.read()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = j.each(ctx, code, v, values)
		}
		if err != nil {
			if stop := j.failed(ctx, err); stop {
				return j.code
			}
		}
		if !once && in.next != nil {
			in.spent()
			j.order.forget()
		}
	}
	if j.code == 0 && j.exitStatus {
		switch {
		case !j.any:
			return 4
		case j.last == nil || j.last == false:
			return 1
		}
	}
	return j.code
}

// failed says what went wrong; stop tells to go on no more.
func (j *jqRun) failed(ctx context.Context, err error) (stop bool) {
	if ctx.Err() != nil {
		if !j.p.Stopped() {
			j.code = j.p.Errorf(5, "error: %s", Reason(context.Cause(ctx)))
		}
		return true
	}
	var halt *gojq.HaltError
	if errors.As(err, &halt) {
		j.code = halt.ExitCode()
		switch v := halt.Value().(type) {
		case nil:
		case string:
			fmt.Fprint(j.p.Stderr, v)
		default:
			j.said(v, "", "\n")
		}
		return true
	}
	var input jqInputError
	if errors.As(err, &input) {
		j.code = j.p.Errorf(2, "error (at %s): %s", j.where(), Reason(input.error))
		return true
	}
	j.code = 5
	if value, ok := err.(gojq.ValueError); ok { //nolint:errorlint // what the program raised itself
		switch v := value.Value().(type) {
		case string:
			j.p.Errorf(5, "error (at %s): %s", j.where(), v)
		default:
			fmt.Fprintf(j.p.Stderr, "%s: error (at %s) (not a string): ", j.p.Name, j.where())
			j.said(v, "", "\n")
		}
		return false
	}
	j.p.Errorf(5, "error (at %s): %s", j.where(), Reason(err))
	return false
}

func (j *jqRun) where() string {
	if j.file == "" {
		return "<stdin>"
	}
	return j.file
}

// each runs the query on one value.
func (j *jqRun) each(ctx context.Context, code *gojq.Code, v any, values []any) error {
	iter := code.RunWithContext(ctx, v, values...)
	for {
		v, ok := iter.Next()
		if !ok {
			return nil
		}
		if err, isErr := v.(error); isErr {
			return err
		}
		j.last, j.any = v, true
		if err := j.print(j.write.w, v); err != nil {
			return err
		}
		if j.p.Stopped() {
			return nil
		}
	}
}

func (j *jqRun) print(w *bufio.Writer, v any) error {
	if j.seq {
		w.WriteByte(0x1e)
	}
	if j.yamlOut {
		return j.printYAML(w, v)
	}
	if s, ok := v.(string); ok && j.raw {
		w.WriteString(s)
	} else {
		writer := j.write
		writer.w = w
		if err := writer.value(v, 0); err != nil {
			return err
		}
	}
	switch {
	case j.raw0:
		w.WriteByte(0)
	case !j.join:
		w.WriteByte('\n')
	}
	return nil
}
