package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lineBytes is the length of a line of the large file, line feed included.
const lineBytes = 128

// measureFile reads slices of a file that is far larger than memory may grow.
func measureFile(ctx context.Context, b *bench) (err error) {
	dir := filepath.Join(b.dir, "file")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	lines := b.fileBytes / lineBytes
	if err := writeLines(filepath.Join(dir, "large.txt"), lines); err != nil {
		return err
	}
	c, _, err := open(ctx, b.local(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()

	t := newTable(fmt.Sprintf("read_file of 1,000 lines of a file of %s on local (aim: never over 100 MB)", mb(b.fileBytes)),
		"offset", "time", "resident", "peak")
	for _, offset := range []int64{0, lines / 4, lines / 2, 3 * lines / 4, lines - 1000} {
		started := time.Now()
		if _, err := c.call("read_file", map[string]any{"path": "large.txt", "offset": offset, "limit": 1000}); err != nil {
			return err
		}
		took := time.Since(started)
		resident, peak := c.memory()
		t.row(fmt.Sprintf("line %d", offset), ms(took), resident, peak)
	}
	return t.print()
}

func writeLines(name string, lines int64) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	for n := range lines {
		if _, err := fmt.Fprintf(w, "%0*d\n", lineBytes-1, n); err != nil {
			return err
		}
	}
	return w.Flush()
}
