package program

import (
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/internal/version"
)

// maker makes the agent from source with the Go toolchain of this machine, once,
// and keeps what it made.
type maker struct {
	source   source
	lacks    error    // why there is no source
	release  string   // what the agent says its version is: the same as ours
	places   []string // where the go command may be, best first
	home     string   // the user's home directory, "" when there is none
	cache    string   // directory for what was made, "" when there is none
	progress func(string)
}

func newMaker(progress func(string)) *maker {
	m := &maker{release: version.String(), home: homeDir(), progress: progress}
	info, _ := debug.ReadBuildInfo()
	_, here, _, _ := runtime.Caller(0)
	m.source, m.lacks = findSource(info, here)
	m.places = goPlaces(runtime.GOOS, os.Getenv, m.home)
	m.cache = cacheDir(m.home)
	return m
}

// load returns the agent from the cache, or makes it. Readers need no lock: a
// file in the cache is whole or, after an accident, known to be broken.
func (m *maker) load(ctx context.Context, arch string) (Program, error) {
	if m.lacks != nil {
		return Program{}, unsupported(arch, m.lacks)
	}
	name, err := m.source.key(arch, m.release)
	if err != nil {
		return Program{}, unsupported(arch, err)
	}
	kept := cache{m.cache}
	if data, err := kept.read(name); err == nil {
		return newProgram(data), nil
	}
	// Built under a lock, so that servers started at once build it once. Where
	// there can be no lock, each builds: what they keep is the same.
	unlock, err := kept.lock(ctx, func() { m.progress("waiting for another mcp-workspace that builds the guest agent") })
	switch {
	case ctx.Err() != nil:
		if err == nil {
			unlock()
		}
		return Program{}, cancelled(ctx)
	case err == nil:
		defer unlock()
		if data, err := kept.read(name); err == nil {
			return newProgram(data), nil
		}
	}
	m.progress("building the guest agent for linux/" + arch + " (once)")
	data, err := m.build(ctx, arch)
	if ctx.Err() != nil {
		return Program{}, cancelled(ctx)
	}
	if err != nil {
		return Program{}, unsupported(arch, err)
	}
	if err := kept.write(name, data); err != nil {
		m.progress("keeping the guest agent for the next start failed: " + err.Error())
	}
	return newProgram(data), nil
}

// build makes the executable in a temporary directory and returns it.
func (m *maker) build(ctx context.Context, arch string) (data []byte, err error) {
	tmp, err := os.MkdirTemp("", "mcp-workspace-guest-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := os.RemoveAll(tmp); e != nil {
			m.progress("a temporary directory could not be removed: " + e.Error())
		}
	}()
	g, err := m.findGo(ctx, arch, tmp)
	if err != nil {
		return nil, err
	}
	dir, err := m.source.fetch(ctx, g)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(tmp, "guest")
	if err := g.build(ctx, dir, m.release, out); err != nil {
		return nil, err
	}
	data, err = readFile(out)
	if err != nil {
		return nil, err
	}
	if err := checkExecutable(data, arch); err != nil {
		return nil, errors.New("what " + g.path + " built cannot be used: " + err.Error())
	}
	return data, nil
}

// homeDir is the user's home directory even where nothing in the environment
// says so, as in programs that a desktop starts.
func homeDir() string {
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return home
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}

// built is the agent as this machine's Go toolchain makes it.
func built(ctx context.Context, arch string, progress func(string)) (Program, error) {
	return newMaker(progress).load(ctx, arch)
}

// Pack builds the agent for every architecture from the checkout at root and
// writes dir/linux-<arch>.gz, what `make build` puts into the main program. The
// same source, release and toolchain give the same bytes, wherever they are.
func Pack(ctx context.Context, root, release, dir string) error {
	src, err := checkout(root)
	if err != nil {
		return err
	}
	home := homeDir()
	m := &maker{source: src, release: release, home: home, places: goPlaces(runtime.GOOS, os.Getenv, home), progress: func(string) {}}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, arch := range architectures {
		data, err := m.build(ctx, arch)
		if err != nil {
			return backends.Errorf(backends.CodeOf(err), op, "", "linux/%s: %v", arch, err)
		}
		packed, err := pack(data)
		if err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(dir, "linux-"+arch+".gz"), packed); err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(dir, "linux-"+arch+".sha256"), []byte(newProgram(data).Digest+"\n")); err != nil {
			return err
		}
	}
	return nil
}
