package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// httpSizes are how much work measureHTTP does.
type httpSizes struct {
	sessions int           // open at once
	load     time.Duration // of each load, after a fifth of it that is not counted
	rounds   int           // in which the quiet principal is alone, and is not
	quiet    int           // its calls each time
	slow     int           // streams that nobody reads
}

var (
	fullHTTP  = httpSizes{sessions: 1000, load: 3 * time.Second, rounds: 4, quiet: 150, slow: 50}
	quickHTTP = httpSizes{sessions: 50, load: 250 * time.Millisecond, rounds: 1, quiet: 25, slow: 50}
)

const (
	inFlight   = 256                   // of a principal that floods
	busyCalls  = 60                    // of a principal whose commands compute
	quietPause = 20 * time.Millisecond // between the quiet principal's calls
)

// measureHTTP measures `serve`, which shares the machine with the load.
func measureHTTP(ctx context.Context, b *bench) error {
	for _, measure := range []func(context.Context, *bench, *httpServer) error{measureSessions, measureThroughput, measureFlood, measureBusy, measureSlow} {
		if err := b.withServer(ctx, measure); err != nil {
			return err
		}
	}
	return nil
}

// withServer gives a measurement a server of its own.
func (b *bench) withServer(ctx context.Context, measure func(context.Context, *bench, *httpServer) error) (err error) {
	s, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	// Its connections end with it, before the server does.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return measure(ctx, b, s)
}

// measureSessions opens sessions as clients do that then wait for their user.
func measureSessions(ctx context.Context, b *bench, s *httpServer) error {
	before, err := memoryOf(s.cmd.Process.Pid)
	if err != nil {
		fmt.Println("sessions: left out:", err)
		return nil
	}
	c, err := s.newConn(ctx)
	if err != nil {
		return err
	}
	started := time.Now()
	for i := range b.http.sessions {
		t, err := c.openSession(s.target("quiet"))
		if err != nil {
			return fmt.Errorf("session %d: %w", i+1, err)
		}
		if _, err := c.call(t.tool("write_file", map[string]any{"path": "notes.txt", "content": fmt.Sprintf("session %d\n", i)})); err != nil {
			return fmt.Errorf("session %d: %w", i+1, err)
		}
		stream, err := s.newConn(ctx)
		if err != nil {
			return err
		}
		if _, err := stream.Write(t.stream()); err != nil {
			return err
		}
		if a, length, err := stream.head(); err != nil || a.status != 200 || length != -1 {
			return fmt.Errorf("the stream of session %d is answered with %d: %w", i+1, a.status, err)
		}
	}
	took := time.Since(started)
	after, err := memoryOf(s.cmd.Process.Pid)
	if err != nil {
		return err
	}
	t := newTable("open MCP sessions, each with a stream, a workspace in memory and a file in it (aim: 1,000 add under 200 MB)",
		"sessions", "resident", "peak", "added", "a session", "to open one")
	t.row("0", mb(before.resident), mb(before.peak))
	t.row(fmt.Sprint(b.http.sessions), mb(after.resident), mb(after.peak), mb(after.resident-before.resident),
		fmt.Sprintf("%d KB", (after.resident-before.resident)/int64(b.http.sessions)>>10), ms(took/time.Duration(b.http.sessions)))
	return t.print()
}

// measureThroughput has one principal make calls as fast as they are answered.
func measureThroughput(ctx context.Context, b *bench, s *httpServer) error {
	t := newTable(fmt.Sprintf("read_file of 10 KB by one principal, for %v each", b.http.load),
		"in flight", "era", "calls/s", "p50", "p99")
	for _, connections := range []int{1, 32, inFlight} {
		for _, era := range []string{sessionEra, statelessEra} {
			target, err := s.withFile(ctx, "flood", era, tenKilobytes())
			if err != nil {
				return err
			}
			l := load{Target: target, Connections: connections}
			if _, err := l.run(ctx, b.http.load/5); err != nil {
				return err
			}
			took, err := l.run(ctx, b.http.load)
			if err != nil {
				return err
			}
			name := "sessions, " + era
			if era == statelessEra {
				name = "stateless, " + era
			}
			t.row(fmt.Sprint(connections), name, perSecond(len(took), b.http.load), ms(took.percentile(50)), ms(took.percentile(99)))
		}
	}
	return t.print()
}

// withFile makes file.txt in a principal's workspace and returns the principal's
// way to it.
func (s *httpServer) withFile(ctx context.Context, principal, era, content string) (target, error) {
	c, err := s.newConn(ctx)
	if err != nil {
		return target{}, err
	}
	t := s.target(principal)
	if era == sessionEra {
		if t, err = c.openSession(t); err != nil {
			return t, err
		}
	}
	_, err = c.call(t.tool("write_file", map[string]any{"path": "file.txt", "content": content}))
	return t, err
}

// beside is the quiet principal's latency while something else goes on.
type beside struct {
	name  string
	start func() (stop func() (string, error), err error) // says what went on
	took  durations
	note  string
}

// measureFlood times a principal that makes a call now and then, beside another
// that makes as many as it can.
func measureFlood(ctx context.Context, b *bench, s *httpServer) error {
	flood := func(principal string) func() (func() (string, error), error) {
		return func() (func() (string, error), error) {
			t, err := s.withFile(ctx, principal, sessionEra, tenKilobytes())
			if err != nil {
				return nil, err
			}
			return b.flood(ctx, load{Target: t, Connections: inFlight})
		}
	}
	return b.quiet(ctx, s, fmt.Sprintf("one principal's read_file of 10 KB every %v (aim: p50 beside a flood under 2x)", quietPause),
		&beside{name: "alone", start: nothing},
		&beside{name: fmt.Sprintf("beside %d in flight of another", inFlight), start: flood("flood")},
		&beside{name: fmt.Sprintf("the same, at calls-per-second: %d", pacedRate), start: flood("paced")})
}

// measureBusy times a principal beside another whose commands compute without
// end, in the server's own process.
func measureBusy(ctx context.Context, b *bench, s *httpServer) error {
	rounds := 0
	busy := func(loop string) func() (func() (string, error), error) {
		return func() (func() (string, error), error) {
			rounds++
			stop := fmt.Sprintf("stop%d", rounds)
			t, err := s.withFile(ctx, "flood", sessionEra, "")
			if err != nil {
				return nil, err
			}
			answers := make(chan error, busyCalls)
			for i := range busyCalls {
				c, err := s.newConn(ctx)
				if err != nil {
					return nil, err
				}
				t.ID = i
				request := t.tool("execute", map[string]any{"command": fmt.Sprintf("until [ -e %s ]; do %s; done", stop, loop)})
				go func() {
					_, err := c.call(request)
					answers <- err
				}()
			}
			return func() (string, error) {
				c, err := s.newConn(ctx)
				if err != nil {
					return "", err
				}
				t.ID = busyCalls
				_, err = c.call(t.tool("write_file", map[string]any{"path": stop, "content": ""}))
				for range busyCalls {
					err = errors.Join(err, <-answers)
				}
				return "", err
			}, nil
		}
	}
	return b.quiet(ctx, s, fmt.Sprintf("one principal's read_file of 10 KB every %v, another's commands beside it", quietPause),
		&beside{name: "alone", start: nothing},
		&beside{name: fmt.Sprintf("beside %d loops of the shell", busyCalls), start: busy(":")},
		&beside{name: fmt.Sprintf("beside %d loops of awk and sort", busyCalls), start: busy("awk 'BEGIN { while (i++ < 1e6); }'; seq 20000 | sort -R | wc -l >/dev/null")})
}

// measureSlow times a principal beside another whose clients ask for much and
// read nothing.
func measureSlow(ctx context.Context, b *bench, s *httpServer) error {
	const lines = 1900
	asked := 0
	open := func() (func() (string, error), error) {
		ctx, cancel := context.WithCancel(ctx)
		t, err := s.withFile(ctx, "slow", sessionEra, strings.Repeat(strings.Repeat("x", 399)+"\n", lines))
		if err != nil {
			cancel()
			return nil, err
		}
		for range b.http.slow {
			t.ID = asked
			if err := s.askAndIgnore(ctx, t); err != nil {
				cancel()
				return nil, err
			}
			asked++
		}
		return func() (string, error) {
			m, err := memoryOf(s.cmd.Process.Pid)
			cancel()
			if errors.Is(err, os.ErrNotExist) {
				return "no /proc", nil
			}
			return mb(m.resident) + " resident", err
		}, nil
	}
	return b.quiet(ctx, s, fmt.Sprintf("one principal's read_file of 10 KB every %v, slow readers beside it", quietPause),
		&beside{name: "alone", start: nothing},
		&beside{name: fmt.Sprintf("beside %d connections that read nothing of 30 MB each", b.http.slow), start: open})
}

// askAndIgnore asks for more than fits into the buffers of a connection, and
// reads nothing.
func (s *httpServer) askAndIgnore(ctx context.Context, t target) error {
	c, err := s.newConn(ctx)
	if err != nil {
		return err
	}
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		if err := tcp.SetReadBuffer(4 << 10); err != nil {
			return err
		}
	}
	read := t.tool("read_file", map[string]any{"path": "file.txt"})
	for range 40 {
		if _, err := c.Write(read); err != nil {
			return err
		}
	}
	return nil
}

func nothing() (func() (string, error), error) {
	return func() (string, error) { return "", nil }, nil
}

// quiet prints the latency of the quiet principal's calls beside each, in turns.
func (b *bench) quiet(ctx context.Context, s *httpServer, title string, beside ...*beside) error {
	target, err := s.withFile(ctx, "quiet", sessionEra, tenKilobytes())
	if err != nil {
		return err
	}
	c, err := s.newConn(ctx)
	if err != nil {
		return err
	}
	read := target.tool("read_file", map[string]any{"path": "file.txt"})
	for range b.http.rounds {
		for _, w := range beside {
			stop, err := w.start()
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			took, err := c.nowAndThen(read, b.http.quiet)
			note, stopping := stop()
			if err := errors.Join(err, stopping); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			w.took, w.note = append(w.took, took...), note
		}
	}
	t := newTable(title, "quiet principal", "p50", "p90", "p99", "p50, alone = 1", "p99, alone = 1", "the others")
	alone := beside[0].took
	for _, w := range beside {
		t.row(w.name, ms(w.took.percentile(50)), ms(w.took.percentile(90)), ms(w.took.percentile(99)),
			times(w.took.percentile(50), alone.percentile(50)), times(w.took.percentile(99), alone.percentile(99)), w.note)
	}
	return t.print()
}

// nowAndThen makes n calls with a pause before each.
func (c *httpConn) nowAndThen(request []byte, n int) (durations, error) {
	var took durations
	next := time.NewTicker(quietPause)
	defer next.Stop()
	for range n {
		<-next.C
		started := time.Now()
		if _, err := c.call(request); err != nil {
			return took, err
		}
		took = append(took, time.Since(started))
	}
	return took, nil
}

func perSecond(n int, d time.Duration) string { return fmt.Sprintf("%.0f", float64(n)/d.Seconds()) }
