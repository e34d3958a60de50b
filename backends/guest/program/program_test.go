package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/internal/version"
)

func TestMain(m *testing.M) {
	if os.Getenv(buildInDir) != "" {
		os.Exit(buildAsProcess())
	}
	os.Exit(m.Run())
}

func TestLoadGivesARunnableAgentForEachArchitecture(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			p := load(t, arch)
			if err := checkExecutable(bytesOf(t, p), arch); err != nil {
				t.Error(err)
			}
			if sum := sha256.Sum256(bytesOf(t, p)); p.Digest != hex.EncodeToString(sum[:]) {
				t.Errorf("the digest is %s, not the SHA-256 of the data", p.Digest)
			}
			if runtime.GOOS != "linux" || runtime.GOARCH != arch {
				return
			}
			said := runVersion(t, p)
			if want := "mcp-workspace-guest " + version.String() + ", protocol "; !strings.HasPrefix(said, want) {
				t.Errorf("it says %q, want it to start with %q", said, want)
			}
		})
	}
}

func TestLoadTakesTheEnginesNames(t *testing.T) {
	for engine, ours := range map[string]string{"x86_64": "amd64", "aarch64": "arm64"} {
		if a, b := load(t, engine), load(t, ours); a.Digest != b.Digest {
			t.Errorf("%s and %s differ", engine, ours)
		}
	}
}

func TestLoadRefusesOtherArchitectures(t *testing.T) {
	for _, arch := range []string{"", "riscv64", "AMD64", "arm", "linux/amd64"} {
		_, err := Load(t.Context(), Options{Arch: arch})
		if backends.CodeOf(err) != backends.CodeInvalidArgument || !strings.Contains(err.Error(), "aarch64") {
			t.Errorf("%q: %v (%s)", arch, err, backends.CodeOf(err))
		}
	}
}

func TestLoadGivesAllCallersTheSameBytes(t *testing.T) {
	first := load(t, "amd64")
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			p, err := Load(context.Background(), Options{Arch: "x86_64"})
			if err != nil {
				t.Error(err)
			} else if &p.data[0] != &first.data[0] {
				t.Error("it was read again")
			}
		})
	}
	group.Wait()
}

func TestOneCallerGivingUpDoesNotEndTheOthers(t *testing.T) {
	m := newMemory()
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	first := make(chan error, 1)
	go func() {
		_, err := m.load(ctx, func() (Program, error) {
			close(started)
			<-ctx.Done()
			return Program{}, cancelled(ctx)
		})
		first <- err
	}()
	<-started
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := m.load(gone, nil); backends.CodeOf(err) != backends.CodeCancelled {
		t.Errorf("who gives up while waiting gets %v", err)
	}
	second := make(chan error, 1)
	go func() {
		p, err := m.load(t.Context(), func() (Program, error) { return newProgram([]byte("agent")), nil })
		if err == nil && string(p.data) != "agent" {
			err = errors.New("it got something else")
		}
		second <- err
	}()
	cancel()
	if err := <-first; backends.CodeOf(err) != backends.CodeCancelled {
		t.Errorf("who gives up while building gets %v", err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}

func TestADamagedEmbeddedAgentSaysSo(t *testing.T) {
	packed, err := pack([]byte(strings.Repeat("agent", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	digest := newProgram([]byte(strings.Repeat("agent", 1000))).Digest
	if data, err := (Program{Digest: digest, packed: string(packed)}).Bytes(); err != nil || len(data) != 5000 {
		t.Fatalf("undamaged: %d bytes, %v", len(data), err)
	}
	other, err := pack([]byte("another"))
	if err != nil {
		t.Fatal(err)
	}
	for name, broken := range map[string][]byte{
		"cut short": packed[:len(packed)-3],
		"changed":   append(append([]byte{}, packed[:len(packed)-6]...), "abcdef"...),
		"no gzip":   []byte("agent"),
		"another":   other,
	} {
		_, err := Program{Digest: digest, packed: string(broken)}.Bytes()
		if backends.CodeOf(err) != backends.CodeInternal || !strings.Contains(err.Error(), "--guest") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func load(t *testing.T, arch string) Program {
	t.Helper()
	p, err := Load(t.Context(), Options{Arch: arch, Progress: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// runVersion runs `version` of an agent for this machine.
func runVersion(t *testing.T, p Program) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "guest")
	if err := os.WriteFile(path, bytesOf(t, p), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, "version").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func bytesOf(t *testing.T, p Program) []byte {
	t.Helper()
	data, err := p.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
