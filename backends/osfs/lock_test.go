//go:build linux || darwin

package osfs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// countIn is set in a process that counts in the file of this directory.
const countIn = "MCP_WORKSPACE_TEST_COUNT_IN"

const counted = 100

// count adds one to the number in a file, counted times, as an edit does: read,
// then rename.
func count(t *testing.T, dir string) {
	c := openFS(t, dir)
	for range counted {
		unlock, err := c.Lock(t.Context(), c.path+"/n")
		must(t, err)
		f, err := c.Open(c.path + "/n")
		must(t, err)
		data, err := io.ReadAll(f)
		must(t, err, f.Close())
		n, err := strconv.Atoi(string(data))
		must(t, err, c.Replace(c.path+"/n", 0o644, text(strconv.Itoa(n+1))))
		unlock()
	}
}

func TestLockKeepsOtherProcessesOut(t *testing.T) {
	if dir := os.Getenv(countIn); dir != "" {
		count(t, dir)
		return
	}
	dir := t.TempDir()
	place(t, dir+"/n", "0")
	var wg sync.WaitGroup
	for range 2 {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), countIn+"="+dir)
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Go(func() { count(t, dir) })
	wg.Wait()
	if got := get(t, dir+"/n"); got != fmt.Sprint(3*counted) {
		t.Errorf("%s are left of %d changes", got, 3*counted)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestLockIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	mine, theirs := openFS(t, dir), openFS(t, dir)
	unlock, err := theirs.Lock(t.Context(), theirs.path+"/f")
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := mine.Lock(ctx, mine.path+"/g")
		failed <- err
	}()
	for len(waitingForLocks) == 0 {
		time.Sleep(time.Millisecond) // nothing tells that a thread waits in the kernel
	}
	cancel()
	wantCode(t, "giving up", <-failed, backends.CodeCancelled)

	mine.lockPatience = 20 * time.Millisecond
	_, err = mine.Lock(t.Context(), mine.path+"/g")
	wantCode(t, "waiting too long", err, backends.CodeUnavailable)
	if !strings.Contains(err.Error(), mine.path) {
		t.Errorf("%q does not name the directory", err)
	}
	unlock()
	mine.lockPatience = lockPatience
	// Also after those that came too late.
	unlock, err = mine.Lock(t.Context(), mine.path+"/g")
	must(t, err)
	unlock()
}

func TestLockOfWhatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	c := openFS(t, dir)
	if _, err := c.Lock(t.Context(), c.path+"/none/f"); !os.IsNotExist(err) {
		t.Errorf("%v, want %v", err, fs.ErrNotExist)
	}
	unlock, err := c.Lock(t.Context(), c.path)
	must(t, err)
	unlock()
	_, err = c.Lock(t.Context(), c.path+"/../f")
	wantCode(t, "outside", err, backends.CodePermission)
}
