package commands

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

var flockOptions = NewOptions(64, "+", "s shared", "x e exclusive", "u unlock", "n nonblock nb", "w wait timeout=", "o close", "E conflict-exit-code=", "F no-fork", "verbose")

// flock holds a lock on a file while a command runs, or on an open file until it
// is closed. The jobs of a script lock each other out, and nobody else: each
// script has files of its own.
func flock(p *Proc) int {
	o, code := p.Parse(flockOptions)
	if o == nil {
		return code
	}
	if len(o.Args) == 0 {
		return p.Usage(64, "not enough arguments")
	}
	conflict := 1
	if text, ok := o.Value("E"); ok {
		n, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return p.Errorf(64, "invalid exit code: %s", Quote(text))
		}
		conflict = int(n)
	}
	wait := time.Duration(-1)
	if text, ok := o.Value("w"); ok {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || seconds < 0 || seconds > 1e9 {
			return p.Errorf(64, "invalid timeout value: %s", Quote(text))
		}
		wait = time.Duration(seconds * float64(time.Second))
	}
	if o.Has("n") {
		wait = 0
	}
	name, args := o.Args[0], o.Args[1:]
	if len(args) == 0 {
		return p.lockDescriptor(name, o, wait, conflict)
	}
	if args[0] == "-c" || args[0] == "--command" {
		if len(args) != 2 {
			return p.Usage(64, "%s requires exactly one command argument", args[0])
		}
		args = []string{"sh", "-c", args[1]}
	}
	f, err := p.lockFile(name)
	if err != nil {
		return p.Errorf(66, "cannot open lock file %s: %s", name, Reason(err))
	}
	defer f.Close()
	if code := p.lock(f, o, wait, conflict); code != 0 {
		return code
	}
	return p.Run(p.ctx, Call{Args: args})
}

// lockFile opens a file or a directory to be locked.
func (p *Proc) lockFile(name string) (vfs.File, error) {
	if info, err := p.Stat(name); err == nil && info.IsDir() {
		return p.Files.Open(p.Path(name))
	}
	return p.OpenFile(name, os.O_RDONLY|os.O_CREATE, 0o666)
}

// lockDescriptor locks the open file of a descriptor.
func (p *Proc) lockDescriptor(text string, o *Parsed, wait time.Duration, conflict int) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return p.Errorf(64, "bad file descriptor: %s", Quote(text))
	}
	if p.Descriptor != nil {
		r, w := p.Descriptor(n)
		for _, stream := range []any{r, w} {
			if f, ok := stream.(vfs.File); ok {
				return p.lock(f, o, wait, conflict)
			}
		}
	}
	return p.Errorf(65, "%s: Bad file descriptor", text)
}

// lock takes a lock on f, or gives it back. It waits as long as it may: without
// end where wait is negative.
func (p *Proc) lock(f vfs.File, o *Parsed, wait time.Duration, conflict int) int {
	mode := o.Last("s", "x", "u")
	if mode == "u" {
		f.Unlock()
		return 0
	}
	ctx := p.ctx
	if wait >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	err := f.Lock(ctx, mode == "s")
	switch {
	case err == nil:
		return 0
	case p.Stopped():
		return 143
	case errors.Is(err, context.DeadlineExceeded):
		if o.Has("verbose") {
			p.Errorf(0, "%s", map[bool]string{true: "failed to get lock", false: "timeout while waiting to get lock"}[wait == 0])
		}
		return conflict
	}
	return p.Errorf(65, "%s: %s", strings.Join(o.Args[:1], ""), Reason(err))
}
