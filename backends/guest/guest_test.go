//go:build linux

package guest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/backendtest"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
	"github.com/mcp-workspace/mcp-workspace/backends/guest/agent"
)

// asAgent has this test program be the agent.
const asAgent = "GUEST_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(asAgent) == "" {
		os.Exit(m.Run())
	}
	if err := agent.Serve(context.Background(), agent.Stdio(), agent.Config{Release: "test"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process is an agent in a process of its own, on this machine's files.
type process struct {
	cmd *exec.Cmd
	io.ReadCloser
	io.WriteCloser
	once  sync.Once
	ended chan struct{}
}

func startAgent() (*process, error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asAgent+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{cmd: cmd, ReadCloser: out, WriteCloser: in, ended: make(chan struct{})}, nil
}

// Close ends the agent as the end of its input does.
func (p *process) Close() error {
	err := errors.Join(p.WriteCloser.Close(), p.ReadCloser.Close())
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	p.once.Do(func() {
		go func() {
			_ = p.cmd.Wait()
			close(p.ended)
		}()
	})
	return err
}

// connect starts an agent and connects to it.
func connect(t *testing.T, setup guest.Setup) (*guest.Client, *process) {
	t.Helper()
	p, err := startAgent()
	if err != nil {
		t.Fatal(err)
	}
	c, err := guest.Connect(t.Context(), p, setup, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		<-p.ended
	})
	return c, p
}

// directories is a backend whose environments are directories that agents work
// in: what a container backend is without the containers.
type directories struct {
	root string

	mu     sync.Mutex
	last   int
	agents map[string][]*process
}

type directory struct {
	*guest.Client
	ref backends.Ref
}

func (d directory) Ref() backends.Ref { return d.ref }

func (d *directories) Provider() string { return "guest" }

func (d *directories) Create(ctx context.Context, spec backends.Spec) (backends.Workspace, error) {
	if spec.Name == "" {
		d.mu.Lock()
		d.last++
		spec.Name = fmt.Sprintf("unnamed-%d", d.last)
		d.mu.Unlock()
	} else if err := backends.ValidName(spec.Name); err != nil {
		return nil, err
	}
	dir := filepath.Join(d.root, spec.Name)
	err := os.Mkdir(dir, 0o755)
	made := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := os.WriteFile(dir+".owner", []byte(spec.Owner), 0o600); err != nil {
		return nil, err
	}
	ws, err := d.Attach(ctx, backends.Ref{Provider: "guest", ID: spec.Name})
	if err == nil && made && spec.Made != nil {
		spec.Made()
	}
	return ws, err
}

func (d *directories) Attach(ctx context.Context, ref backends.Ref) (backends.Workspace, error) {
	if ref.Provider != "guest" {
		return nil, backends.Errorf(backends.CodeInvalidArgument, "attach", "", "%s is not of this backend", ref)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	dir := filepath.Join(d.root, ref.ID)
	if _, err := os.Stat(dir); err != nil {
		return nil, isGone("attach", ref)
	}
	p, err := startAgent()
	if err != nil {
		return nil, err
	}
	c, err := guest.Connect(ctx, p, guest.Setup{WorkingDir: dir}, nil)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.agents == nil {
		d.agents = map[string][]*process{}
	}
	d.agents[ref.ID] = append(d.agents[ref.ID], p)
	return directory{c, ref}, nil
}

func (d *directories) Destroy(_ context.Context, ref backends.Ref) error {
	if ref.Provider != "guest" {
		return backends.Errorf(backends.CodeInvalidArgument, "destroy", "", "%s is not of this backend", ref)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.agents[ref.ID] {
		_ = p.cmd.Process.Kill() // it may have ended
	}
	delete(d.agents, ref.ID)
	return os.RemoveAll(filepath.Join(d.root, ref.ID))
}

func (d *directories) Describe(ctx context.Context, ref backends.Ref) (backends.Info, error) {
	if ref.Provider != "guest" {
		return backends.Info{}, backends.Errorf(backends.CodeInvalidArgument, "describe", "", "%s is not of this backend", ref)
	}
	all, err := d.List(ctx)
	if err != nil {
		return backends.Info{}, err
	}
	for _, info := range all {
		if info.Ref == ref {
			return info, nil
		}
	}
	return backends.Info{}, isGone("describe", ref)
}

func (d *directories) List(context.Context) ([]backends.Info, error) {
	entries, err := os.ReadDir(d.root)
	var infos []backends.Info
	for _, e := range entries {
		if e.IsDir() {
			owner, readErr := os.ReadFile(filepath.Join(d.root, e.Name()+".owner"))
			err = errors.Join(err, readErr)
			infos = append(infos, backends.Info{Ref: backends.Ref{Provider: "guest", ID: e.Name()}, Name: e.Name(), Owner: string(owner),
				Status: "ready", WorkingDir: filepath.Join(d.root, e.Name())})
		}
	}
	return infos, err
}

func (d *directories) Close() error { return nil }

func TestContract(t *testing.T) {
	backendtest.Run(t, backendtest.Harness{
		New: func(t *testing.T) backends.Backend { return &directories{root: t.TempDir()} },
		Reopen: func(_ *testing.T, b backends.Backend) backends.Backend {
			return &directories{root: b.(*directories).root}
		},
		Commands: true,
		Fresh:    true,
		Destroys: true,
	})
}

func isGone(op string, ref backends.Ref) error {
	return &backends.Error{Code: backends.CodeUnavailable, Op: op, Message: ref.String() + " is gone", Err: backends.ErrGone}
}
