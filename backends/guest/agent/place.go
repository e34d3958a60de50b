//go:build linux || darwin

package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
	"github.com/mcp-workspace/mcp-workspace/backends/osfs"
)

// outputDir is where the whole output of this user's commands is kept. Nobody
// else can use it, so each user has one.
func outputDir() string { return fmt.Sprintf("/tmp/.mcp-workspace-%d/output", os.Getuid()) }

// nearbyDir is where it is kept, in the working directory, where that cannot be
// written, as under a read-only root.
const nearbyDir = ".mcp-workspace/output"

// place is where a session works: this machine's files from a working directory.
type place struct {
	*fsops.Tree
	files   *osfs.FS
	outputs *osfs.Outputs // in outputDir
	nearby  *osfs.Outputs // in nearbyDir
	env     []string
	session *session
}

// setUp opens the place that setup describes.
func (s *session) setUp(ctx context.Context, setup guest.Setup) (guest.SetupReply, error) {
	var none guest.SetupReply
	dir := setup.WorkingDir
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return none, fmt.Errorf("the working directory of the image: %w", err)
		}
	}
	if !filepath.IsAbs(dir) {
		return none, backends.Errorf(backends.CodeInvalidArgument, "open", dir, "the working directory is not an absolute path")
	}
	files, err := osfs.Open("/")
	if err != nil {
		return none, err
	}
	at, err := fsops.New(files, "/").MakeDir(ctx, dir)
	if err != nil {
		_ = files.Close() // directories: nothing can be lost
		return none, err
	}
	if errors.Is(unix.Access(at.Resolved, unix.X_OK), unix.EACCES) {
		_ = files.Close() // directories: nothing can be lost
		return none, backends.Errorf(backends.CodePermission, "open", at.Path, "the container's user may not enter it")
	}
	p := &place{
		Tree:    fsops.New(files, at.Resolved),
		files:   files,
		outputs: osfs.NewOutputs(files, outputDir(), s.cfg.Log),
		nearby:  osfs.NewOutputs(files, filepath.Join(at.Resolved, nearbyDir), s.cfg.Log),
		env:     environment(s.cfg.Env, setup.Env),
		session: s,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.place != nil {
		p.close()
		return none, backends.Errorf(backends.CodeInternal, "guest", "", "the session has been set up before")
	}
	s.place = p
	return guest.SetupReply{WorkingDir: at.Resolved, Release: s.cfg.Release}, nil
}

// openOutput makes a file for the whole output of a command.
func (p *place) openOutput() (string, io.WriteCloser, error) {
	file, w, err := p.outputs.Open()
	if err == nil {
		return file, w, nil
	}
	file, w, nearbyErr := p.nearby.Open()
	if nearbyErr != nil {
		return "", nil, fmt.Errorf("%w; %w", err, nearbyErr)
	}
	return file, w, nil
}

func (p *place) close() { _ = p.files.Close() } // directories: nothing can be lost

// defaults are what commands get unless the image or the user says otherwise:
// what makes programs print for a reader that is no terminal, and git work in a
// mount that belongs to someone else.
var defaults = []string{
	"TERM=dumb",
	"NO_COLOR=1",
	"PAGER=cat",
	"PYTHONUNBUFFERED=1", // else a timeout loses what a script has printed
	"LANG=C.UTF-8",
}

var gitConfig = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}

// environment is what every command gets.
func environment(own, added []string) []string {
	has := map[string]bool{}
	for _, kv := range own {
		name, _, _ := strings.Cut(kv, "=")
		has[name] = true
	}
	var env []string
	for _, kv := range defaults {
		if name, _, _ := strings.Cut(kv, "="); !has[name] {
			env = append(env, kv)
		}
	}
	if !has["GIT_CONFIG_COUNT"] {
		env = append(env, gitConfig...)
	}
	env = append(env, own...)
	return append(env, added...) // of two values of one name the last counts
}
