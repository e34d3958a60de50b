package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Config says where lines go.
type Config struct {
	// Path of the file, or "-" for standard error. A file is made with mode
	// 0600 and only appended to; its directory has to exist.
	Path string
	// Required makes calls fail while lines cannot be written; otherwise they
	// go on, lines are lost, and the log says how many.
	Required bool
	// Logger hears of lines that were lost, once a minute; nil discards.
	Logger *slog.Logger
}

// complainEvery is how often lost lines are logged.
const complainEvery = time.Minute

// Nobody has to log in to be refused. What such requests can write is bounded,
// so that they cannot fill the disk: that many lines a second, and so many at
// once.
const (
	refusedPerSecond = 20
	refusedAtOnce    = 200
)

// Log is an open audit log. All methods are safe for concurrent use, and those
// that say so work on a nil Log, which records nothing.
type Log struct {
	cfg     Config
	refused *rate.Limiter

	mu     sync.Mutex
	out    *os.File // nil once closed
	opened os.FileInfo
	// torn tells that the file may end inside a line.
	torn bool
	// failing is the error of the last write, nil when it succeeded.
	failing error
	// untold is how many lines were lost since the log last said so itself,
	// unlogged since the logger was told.
	untold, unlogged uint64
	lost, skipped    uint64
	complained       time.Time
	stuck            time.Time // when a failing reopen was last logged
}

// errClosed is what a closed log answers.
var errClosed = errors.New("the audit log is closed")

// Open opens the log. It fails when the file cannot be appended to, and for
// what is neither a file nor a character device: writing to a pipe could wait
// for its reader, and calls with it.
func Open(cfg Config) (*Log, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	l := &Log{cfg: cfg, refused: rate.NewLimiter(refusedPerSecond, refusedAtOnce)}
	if cfg.Path == "-" {
		l.out = os.Stderr
		return l, nil
	}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

// Record writes one line, in one write. An error says that the line is not in
// the log: it has been counted, and, when lines are not required, logged. On a
// nil Log nothing happens.
//
// Refused requests of nobody in particular get 20 lines a second, after the
// first 200; the next line says how many had none.
func (l *Log) Record(ctx context.Context, r Record) error {
	if l == nil {
		return nil
	}
	r.complete(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Kind == KindRefused && r.Principal == "" {
		if !l.refused.Allow() {
			l.skipped++
			return nil
		}
		r.Skipped, l.skipped = l.skipped, 0
	}
	line, err := r.line()
	if err == nil {
		err = l.write(line)
	}
	if err != nil {
		l.lose(err)
	}
	return err
}

// Ready tells whether lines can be written, as far as can be known: while the
// last one could not, it tries again with a line that says how many were lost.
func (l *Log) Ready() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		return errClosed
	}
	if l.failing == nil {
		return nil
	}
	l.follow()
	return l.tell()
}

// Lost is how many lines could not be written since the log was opened.
func (l *Log) Lost() uint64 {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// Close ends the log; what has not been said of lost lines is said now.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		return nil
	}
	var err error
	if l.untold > 0 {
		err = l.tell()
	}
	if l.unlogged > 0 {
		l.complain(time.Now())
	}
	if l.out != os.Stderr {
		err = errors.Join(err, l.out.Close())
	}
	l.out = nil
	return err
}

// write appends line, after a line about those that were lost.
func (l *Log) write(line []byte) error {
	if l.out == nil {
		return errClosed
	}
	l.follow()
	if l.untold > 0 {
		if err := l.tell(); err != nil {
			return err
		}
	}
	return l.put(line)
}

// put is the one write of a line.
func (l *Log) put(line []byte) error {
	if l.torn {
		// The rest of a line that did not fit must not swallow this one.
		line = append([]byte{'\n'}, line...)
	}
	n, err := l.out.Write(line)
	if err != nil {
		// What was there before stays torn when nothing was written.
		if n > 0 {
			l.torn = line[n-1] != '\n'
		}
		l.failing = fmt.Errorf("the audit log cannot be written: %w", err)
		return l.failing
	}
	l.torn, l.failing = false, nil
	return nil
}

// tell writes how many lines were lost.
func (l *Log) tell() error {
	line, err := Record{Time: time.Now(), Kind: KindLost, Lines: l.untold}.line()
	if err != nil {
		return err
	}
	if err := l.put(line); err != nil {
		return err
	}
	l.untold = 0
	return nil
}

// lose counts a line that was lost.
func (l *Log) lose(err error) {
	l.lost++
	l.untold++
	l.unlogged++
	if l.failing == nil {
		l.failing = err
	}
	if now := time.Now(); now.Sub(l.complained) >= complainEvery {
		l.complain(now)
	}
}

func (l *Log) complain(now time.Time) {
	l.cfg.Logger.Error("lines of the audit log are lost; free the disk or mend the file",
		"path", l.cfg.Path, "lines", l.unlogged, "calls_fail", l.cfg.Required, "error", l.failing)
	l.complained, l.unlogged = now, 0
}
