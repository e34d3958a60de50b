package program

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"hash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

const (
	modulePath  = "github.com/mcp-workspace/mcp-workspace"
	commandPath = "cmd/mcp-workspace-guest" // below the module's root
)

// source is what the agent can be built from: a directory, or a version of the
// module that the go command can get, or both.
type source struct {
	dir     string // root of the module, "" when it has to be fetched
	version string // of the module, "" for a checkout
	sum     string // of the module's content as go.sum writes it, with version
}

// findSource finds what this program was built from. here is the path of a file
// of this package as the compiler knew it: absolute unless built with -trimpath.
func findSource(info *debug.BuildInfo, here string) (source, error) {
	var s source
	if m := ourModule(info); m != nil && m.Sum != "" {
		s.version, s.sum = m.Version, m.Sum
	}
	if filepath.IsAbs(here) {
		root := filepath.Join(filepath.Dir(here), "..", "..", "..")
		at, err := checkout(root)
		switch {
		case err == nil:
			s.dir = at.dir
		case s.version == "":
			return source{}, fmt.Errorf("the source it was built from is gone (%w)", err)
		}
	}
	if s == (source{}) {
		return source{}, errors.New("it does not know the source it was built from (-trimpath)")
	}
	return s, nil
}

// ourModule finds this module in a build: the main one for our own command, a
// dependency in a program that imports us.
func ourModule(info *debug.BuildInfo) *debug.Module {
	if info == nil {
		return nil
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != modulePath {
			continue
		}
		if m.Replace != nil {
			return nil // by a directory or a fork; only the path of the source is right
		}
		return m
	}
	return nil
}

// checkout is the source at the root of a copy of the module.
func checkout(root string) (source, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return source{}, err
	}
	if first, _, _ := bytes.Cut(mod, []byte("\n")); strings.TrimSpace(string(first)) != "module "+modulePath {
		return source{}, fmt.Errorf("%s is not the module %s", root, modulePath)
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(commandPath))); err != nil {
		return source{}, err
	}
	return source{dir: root}, nil
}

// key names an executable in the cache: the same for all that determines its
// bytes, different when any of it differs. For a checkout it reads the source of
// the packages concerned, a few milliseconds' work; what a local replace
// directive in go.mod points to is not seen.
func (s source) key(arch, release string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q\n", runtime.Version(), arch, release, buildFlags(release))
	if s.version != "" {
		fmt.Fprintf(h, "%q %q\n", s.version, s.sum)
	} else if _, err := hashSource(h, s.dir); err != nil {
		return "", fmt.Errorf("the source in %s cannot be read: %w", s.dir, err)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]) + "-linux-" + arch, nil
}

// hashSource adds go.mod, go.sum and the packages of the module that the
// command needs, tests aside, and returns which packages these are. Files for
// other systems count too: telling them apart is not worth the code.
func hashSource(h hash.Hash, root string) (packages []string, err error) {
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256(content))
	}
	done := map[string]bool{}
	for todo := []string{commandPath}; len(todo) > 0; {
		next := map[string]bool{}
		for _, pkg := range todo {
			done[pkg] = true
			if err := hashPackage(h, root, pkg, next); err != nil {
				return nil, err
			}
		}
		maps.DeleteFunc(next, func(pkg string, _ bool) bool { return done[pkg] })
		todo = slices.Sorted(maps.Keys(next))
	}
	return slices.Sorted(maps.Keys(done)), nil
}

// hashPackage adds one package and notes those of the module that it imports.
func hashPackage(h hash.Hash, root, pkg string, imports map[string]bool) error {
	dir := filepath.Join(root, filepath.FromSlash(pkg))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	embeds := false
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || strings.HasSuffix(name, "_test.go") || !slices.Contains([]string{".go", ".s", ".h"}, filepath.Ext(name)) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %q %x\n", pkg, name, sha256.Sum256(content))
		if filepath.Ext(name) != ".go" {
			continue
		}
		embeds = embeds || bytes.Contains(content, []byte("\n//go:embed "))
		// A file with a mistake is hashed all the same; the compiler says what it is.
		f, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ImportsOnly)
		if err != nil {
			continue
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			if below, ok := strings.CutPrefix(path, modulePath+"/"); ok {
				imports[below] = true
			}
		}
	}
	if embeds {
		return hashTree(h, dir)
	}
	return nil
}

// hashTree adds all that a package might embed: every file below it.
func hashTree(h hash.Hash, dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %x\n", filepath.ToSlash(rel), sha256.Sum256(content))
		return nil
	})
}

// fetch returns a directory with the source, from the module cache or through
// the go command's proxy when it is not there.
func (s source) fetch(ctx context.Context, g goCommand) (dir string, err error) {
	if s.dir != "" {
		return s.dir, nil
	}
	out, err := g.run(ctx, g.tmp, "mod", "download", "-json", modulePath+"@"+s.version)
	var got struct{ Dir, Sum, Error string }
	if e := json.Unmarshal(out, &got); e == nil && got.Error != "" {
		return "", errors.New("its source cannot be had: " + got.Error)
	} else if err == nil {
		err = e
	}
	if err != nil {
		return "", fmt.Errorf("its source cannot be had: %w", err)
	}
	if got.Sum != s.sum {
		return "", fmt.Errorf("the source of %s@%s is not what this program was built from (%s instead of %s)", modulePath, s.version, got.Sum, s.sum)
	}
	return got.Dir, nil
}
