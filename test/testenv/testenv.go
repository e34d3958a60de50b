// Package testenv finds and builds what the tests and benchmarks that run
// whole programs need: the repository, the server's binary, and the clients
// that scripts/test-deps.sh installs. It knows no tool and no protocol.
package testenv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Root returns the top directory of the repository, found from the current
// directory upwards.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in the current directory or above it; start inside the repository")
		}
		dir = parent
	}
}

// Build compiles the main package pkg ("./cmd/mcp-workspace"), named from the
// top of the repository, into dir and returns the program's path. It builds as
// `make build` does, so that what is tested is what is shipped.
func Build(ctx context.Context, dir, pkg string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, filepath.Base(pkg))
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, pkg)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return program, nil
}

// Main builds the server, makes it the first mcp-workspace on PATH, runs the
// tests of a package and exits. Call it from TestMain. The main packages in
// more ("./cmd/mcp-workspace-guest") are built beside it. No setting of the
// person who runs the tests reaches the servers they start.
func Main(m *testing.M, more ...string) {
	code, err := runWithServer(m, more)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runWithServer(m *testing.M, more []string) (code int, err error) {
	dir, err := os.MkdirTemp("", "mcp-workspace-test-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, pkg := range append([]string{"./cmd/mcp-workspace"}, more...) {
		if _, err := Build(context.Background(), dir, pkg); err != nil {
			return 1, err
		}
	}
	if err := setEnvironment(dir); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// setEnvironment puts dir first on PATH and hides the settings that a person
// has made in variables or in a file.
func setEnvironment(dir string) error {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "MCP_WORKSPACE_") {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	return errors.Join(
		os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")),
		os.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config")),
	)
}

// Server returns the path of the program that [Main] built.
func Server(t *testing.T) string {
	t.Helper()
	return Program(t, "mcp-workspace")
}

// Program returns the path of one of the programs that [Main] built.
func Program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Missing ends a test that needs something that is not installed: it skips,
// or fails where everything must be there (CI=true).
func Missing(t *testing.T, what string) {
	t.Helper()
	const mend = "%s is missing; run scripts/test-deps.sh"
	if os.Getenv("CI") == "true" {
		t.Fatalf(mend, what)
	}
	t.Skipf(mend, what)
}

// NodeModules returns the node_modules directory that scripts/test-deps.sh
// installed for the lock file of dir ("test/clients"), or "" when it has not.
func NodeModules(dir string) (string, error) {
	return installed("npm", filepath.Join(dir, "package-lock.json"), "node_modules")
}

// Python returns the interpreter of the virtual environment that
// scripts/test-deps.sh installed for the requirements of dir, or "" when it
// has not.
func Python(dir string) (string, error) {
	return installed("venv", filepath.Join(dir, "requirements.txt"), "bin/python")
}

// installed names a path in the cache directory that belongs to one version
// of a lock file.
func installed(kind, lock, path string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(filepath.Join(root, lock))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	dir := filepath.Join(root, ".cache", kind+"-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(filepath.Join(dir, ".complete")); errors.Is(err, os.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.FromSlash(path)), nil
}

// Node returns a Node.js of version 22 or newer: the one that the lock file of
// modules brought, or "" when this platform has none there.
func Node(modules string) string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	node := filepath.Join(modules, "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	if _, err := os.Stat(node); err != nil {
		return ""
	}
	return node
}
