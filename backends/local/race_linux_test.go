package local

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// While a directory turns into a symlink to the outside and back, all the time,
// nothing outside is ever read or written.
func TestNothingLeadsOutsideInARace(t *testing.T) {
	base := t.TempDir()
	root, outside := base+"/root", base+"/outside"
	place(t, root+"/flip/f", "inside\n")
	place(t, root+"/flip/sub/f", "inside\n")
	place(t, outside+"/f", "outside\n")
	place(t, outside+"/sub/f", "outside\n")
	must(t, os.Symlink(outside, root+"/link"))
	ws := open(t, Config{Root: root})
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			if err := unix.Renameat2(unix.AT_FDCWD, root+"/flip", unix.AT_FDCWD, root+"/link", unix.RENAME_EXCHANGE); err != nil {
				t.Error(err)
				cancel()
			}
		}
	})
	var inside atomic.Int64
	loop := func(f func()) {
		wg.Go(func() {
			for ctx.Err() == nil {
				f()
			}
		})
	}
	for _, name := range []string{"flip/f", "flip/sub/f"} {
		loop(func() {
			res, err := ws.Read(context.Background(), backends.ReadRequest{Path: name})
			switch {
			case err != nil:
			case len(res.Lines) > 0 && res.Lines[0].Text == "outside":
				t.Error("what is outside was read")
				cancel()
			default:
				inside.Add(1)
			}
		})
	}
	loop(func() {
		// Refused or not, whichever it finds there.
		_, _ = ws.Write(context.Background(), backends.WriteRequest{Path: "flip/sub/f", Content: strings.NewReader("inside\n")})
		_, _ = ws.Edit(context.Background(), backends.EditRequest{Path: "flip/f", Old: "outside", New: "edited"})
	})
	loop(func() {
		found, err := ws.Grep(context.Background(), backends.GrepRequest{Path: ".", Pattern: "outside"})
		if err == nil && found.Total > 0 {
			t.Error("what is outside was found")
			cancel()
		}
	})
	wg.Wait()
	if inside.Load() == 0 {
		t.Error("nothing inside was ever read: the race was none")
	}
	if get(t, outside+"/f") != "outside\n" || get(t, outside+"/sub/f") != "outside\n" {
		t.Error("what is outside was written")
	}
	count := 0
	must(t, filepath.WalkDir(outside, func(string, fs.DirEntry, error) error { count++; return nil }))
	if count != 4 {
		t.Errorf("%d entries outside, want 4", count)
	}
}
