package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// goCommand is a go command that can build the agent.
type goCommand struct {
	path string
	env  []string
	tmp  string // a directory that is removed after the build
}

// goPlaces lists where the go command may be on a system, best first. Programs
// that a desktop starts have next to no PATH, so the usual places are looked at
// too.
func goPlaces(goos string, env func(string) string, home string) []string {
	name := "go"
	if goos == "windows" {
		name = "go.exe"
	}
	var dirs []string
	if root := env("GOROOT"); root != "" {
		dirs = append(dirs, filepath.Join(root, "bin"))
	}
	dirs = append(dirs, filepath.SplitList(env("PATH"))...)
	if goos == "windows" {
		dirs = append(dirs, `C:\Program Files\Go\bin`, `C:\Go\bin`)
	} else {
		dirs = append(dirs, "/usr/local/go/bin", "/usr/local/bin", "/usr/bin", "/usr/lib/go/bin",
			"/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/opt/local/bin", "/snap/bin",
			"/run/current-system/sw/bin")
	}
	if home != "" {
		dirs = append(dirs, filepath.Join(home, "go", "bin"), filepath.Join(home, ".local", "go", "bin"),
			filepath.Join(home, ".nix-profile", "bin"))
	}
	// Kept by the version in their names, newest first: what golang.org/dl, the
	// go command itself and distributions install.
	patterns := []string{"/usr/lib/go-*/bin"}
	if home != "" {
		patterns = append(patterns, filepath.Join(home, "sdk", "go*", "bin"),
			filepath.Join(home, "go", "pkg", "mod", "golang.org", "toolchain@*", "bin"))
	}
	for _, p := range patterns {
		found, _ := filepath.Glob(p) // the only error is a malformed pattern
		slices.Reverse(found)
		dirs = append(dirs, found...)
	}
	var places []string
	for _, dir := range dirs {
		place := filepath.Join(dir, name)
		// A relative directory in PATH would run what lies where we happen to be.
		if filepath.IsAbs(dir) && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return places
}

// findGo returns the first go command that is there and new enough for the
// module, with the environment in which it builds for linux and arch.
func (m *maker) findGo(ctx context.Context, arch, tmp string) (goCommand, error) {
	needs, err := m.source.goVersion()
	if err != nil {
		return goCommand{}, err
	}
	var refused []string
	for _, place := range m.places {
		if info, err := os.Stat(place); err != nil || !info.Mode().IsRegular() {
			continue
		}
		g := goCommand{path: place, env: goEnv(os.Environ(), m.home, arch), tmp: tmp}
		var is struct{ GOVERSION, GOCACHE, GOMODCACHE string }
		// Asked in the source's directory, where go may choose a newer toolchain.
		dir := m.source.dir
		if dir == "" {
			dir = tmp
		}
		out, err := g.run(ctx, dir, "env", "-json", "GOVERSION", "GOCACHE", "GOMODCACHE")
		if err == nil {
			err = json.Unmarshal(out, &is)
		}
		switch {
		case ctx.Err() != nil:
			return goCommand{}, cancelled(ctx)
		case err != nil:
			refused = append(refused, fmt.Sprintf("%s does not work (%v)", place, err))
			continue
		case needs != "" && version.IsValid(is.GOVERSION) && version.Compare(is.GOVERSION, needs) < 0:
			refused = append(refused, fmt.Sprintf("%s is %s and %s is needed", place, is.GOVERSION, needs))
			continue
		}
		if !writable(is.GOCACHE) {
			g.env = append(g.env, "GOCACHE="+filepath.Join(tmp, "cache"))
		}
		if is.GOMODCACHE == "" {
			// Writable, so that it can be removed.
			g.env = append(g.env, "GOMODCACHE="+filepath.Join(tmp, "modules"), "GOFLAGS=-buildvcs=false -modcacherw")
		}
		return g, nil
	}
	if len(refused) > 0 {
		return goCommand{}, errors.New("no Go toolchain here can build it: " + strings.Join(refused, "; "))
	}
	return goCommand{}, errors.New("no Go toolchain was found to build it with (looked in PATH, GOROOT and the usual places)")
}

// goVersion is the Go that the source needs as "go1.26.0", "" when the go
// command is left to say so.
func (s source) goVersion() (string, error) {
	if s.dir == "" {
		return "", nil
	}
	mod, err := os.ReadFile(filepath.Join(s.dir, "go.mod"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(mod)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "go" {
			return "go" + f[1], nil
		}
	}
	return "", nil
}

// goEnv is the environment for the go command: the user's, without what would
// change the agent's bytes or aim it at another machine.
func goEnv(env []string, home, arch string) []string {
	drop := []string{"GOROOT", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOFLAGS", "GOEXPERIMENT", "GOFIPS140",
		"GOWORK", "GO111MODULE", "CGO_ENABLED", "GOTOOLDIR"}
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		return slices.Contains(drop, name) || name == "HOME" && value == ""
	})
	if home != "" && !slices.ContainsFunc(out, func(e string) bool { return strings.HasPrefix(e, "HOME=") }) {
		out = append(out, "HOME="+home)
	}
	// Set and not left out: `go env -w` may have set them.
	return append(out, "GOOS=linux", "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0",
		"GOFLAGS=-buildvcs=false", "GOWORK=off", "GO111MODULE=on", "GOFIPS140=off")
}

// buildFlags are the flags that the agent is built with. Nothing of the machine
// it is built on stays in it.
func buildFlags(release string) []string {
	return []string{"-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w -X '" + modulePath + "/internal/version.release=" + release + "'"}
}

func (g goCommand) build(ctx context.Context, dir, release, out string) error {
	if strings.ContainsAny(release, "'\n") {
		return fmt.Errorf("the version %q cannot be handed to the linker", release)
	}
	args := append([]string{"build", "-o", out}, buildFlags(release)...)
	if _, err := g.run(ctx, dir, append(args, "./"+commandPath)...); err != nil {
		return fmt.Errorf("building it with %s failed: %w", g.path, err)
	}
	return nil
}

// run runs the go command and returns its standard output. When ctx ends, the
// command is given a moment to end what it started.
func (g goCommand) run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, g.path, args...)
	cmd.Dir, cmd.Env = dir, append(slices.Clone(g.env), "PWD="+dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Cancel = func() error { return endGo(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if said := gist(stderr.String()); said != "" {
			return stdout.Bytes(), fmt.Errorf("%s (%w)", said, err)
		}
		return stdout.Bytes(), err
	}
	return stdout.Bytes(), nil
}

// gist is what matters of the go command's messages, in one line.
func gist(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "go: downloading ") {
			continue
		}
		if len(lines) == 5 {
			lines = append(lines, "…")
			break
		}
		if len(line) > 300 {
			line = strings.ToValidUTF8(line[:300], "") + "…"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}
