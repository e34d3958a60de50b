package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// load is many connections of one principal, each with one read_file in flight
// all the time.
type load struct {
	Target      target
	Connections int
}

// start opens the connections and returns what ends the calls and gathers what
// they took.
func (l load) start(ctx context.Context) (stop func() (durations, error), err error) {
	ctx, cancel := context.WithCancel(ctx)
	type result struct {
		took durations
		err  error
	}
	ending := make(chan struct{})
	results := make(chan result, l.Connections)
	var conns []*httpConn
	for range l.Connections {
		c, err := dialHTTP(ctx, l.Target.Addr)
		if err != nil {
			cancel()
			return nil, err
		}
		conns = append(conns, c)
		context.AfterFunc(ctx, func() { c.Close() })
	}
	for i, c := range conns {
		target := l.Target
		target.ID = i
		request := target.tool("read_file", map[string]any{"path": "file.txt"})
		go func() {
			took, err := c.repeat(request, ending)
			results <- result{took, err}
		}()
	}
	return func() (durations, error) {
		defer cancel()
		close(ending)
		var all durations
		var first error // the others say the same
		for range conns {
			r := <-results
			all = append(all, r.took...)
			if first == nil {
				first = r.err
			}
		}
		return all, first
	}, nil
}

// run is a load for some time.
func (l load) run(ctx context.Context, d time.Duration) (durations, error) {
	stop, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	took, err := stop()
	return took, errors.Join(err, ctx.Err())
}

// flood runs a load in a process of its own: its hundreds of goroutines must not
// hold up the one that measures. Stopping it says how much it was.
func (b *bench) flood(ctx context.Context, l load) (stop func() (string, error), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-flood")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	said := json.NewDecoder(out)
	end := func() (floodReport, error) {
		var r floodReport
		err := errors.Join(in.Close(), said.Decode(&r))
		return r, errors.Join(err, cmd.Wait())
	}
	var started bool
	if err := errors.Join(json.NewEncoder(in).Encode(l), said.Decode(&started)); err != nil {
		_, ending := end()
		return nil, fmt.Errorf("the flood did not start: %w", errors.Join(err, ending))
	}
	return func() (string, error) {
		r, err := end()
		return fmt.Sprintf("%.0f calls/s, p50 %s", r.PerSecond, ms(r.P50)), err
	}, nil
}

// floodReport is what a flood's process says at its end.
type floodReport struct {
	PerSecond float64
	P50       time.Duration
}

// runFlood is the process of a flood. It reads the load, says true when the
// connections are open, and ends with its input.
func runFlood(ctx context.Context, in io.Reader, out io.Writer) error {
	input := json.NewDecoder(in)
	var l load
	if err := input.Decode(&l); err != nil {
		return err
	}
	stop, err := l.start(ctx)
	if err != nil {
		return err
	}
	started := time.Now()
	say := json.NewEncoder(out)
	if err := say.Encode(true); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	took, err := stop()
	if err != nil {
		return err
	}
	if len(took) == 0 {
		return errors.New("the flood made no call")
	}
	return say.Encode(floodReport{PerSecond: float64(len(took)) / time.Since(started).Seconds(), P50: took.percentile(50)})
}
