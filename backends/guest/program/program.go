// Package program provides the executable of the guest agent,
// cmd/mcp-workspace-guest, for the architecture of a container.
//
// It comes from the first of these that is there: the file the user named with
// --guest; the copy inside this program, which `make build` and releases put
// there; one that the Go toolchain on this machine builds from the source this
// program was made from, kept in the user's cache directory. The package knows
// nothing of containers or engines, and works on every system the main program
// runs on.
package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// op names this package's work in errors.
const op = "guest"

// Options say which executable is wanted.
type Options struct {
	// Path is a file to use instead of all else (--guest); "" for none. It has
	// to be a statically linked ELF executable for linux and Arch.
	Path string
	// Arch is Go's or the engines' name of the architecture: amd64 or x86_64,
	// arm64 or aarch64.
	Arch string
	// Progress, when set, is told in one line what takes time (a build: seconds
	// with a warm build cache, a minute or two without), and what could not be
	// kept for the next time. It is called from Load's goroutine.
	Progress func(string)
}

// Program is an executable of the guest agent.
type Program struct {
	// Digest is the SHA-256 of Bytes in hexadecimal, 64 digits.
	Digest string

	data   []byte // nil when packed has it
	packed string
}

// Bytes is the ELF file. It may be shared by all who loaded the Program: do not
// change it. Where it is inside this program it is unpacked each time, because
// it is needed once for an engine and takes megabytes; an error means that it is
// damaged.
func (p Program) Bytes() ([]byte, error) {
	if p.data != nil {
		return p.data, nil
	}
	data, err := unpack(strings.NewReader(p.packed))
	if err == nil && newProgram(data).Digest != p.Digest {
		err = errors.New("its checksum is wrong")
	}
	if err != nil {
		return nil, &backends.Error{Code: backends.CodeInternal, Op: op, Err: err, Message: fmt.Sprintf(
			"the guest agent inside this program is damaged (%v); install mcp-workspace again or name an executable with --guest PATH", err)}
	}
	return data, nil
}

// Load returns the guest agent for an architecture. The first call may build it;
// further calls return what the first found. It can be called concurrently:
// calls for one architecture wait for each other, and one that is cancelled
// does not end the others.
//
// It fails with CodeInvalidArgument when Arch or the file at Path is none that
// can be used, with CodeUnsupported when there is no way to get an executable,
// with a message that says what to do, and with CodeCancelled when ctx ends.
func Load(ctx context.Context, o Options) (Program, error) {
	arch, err := goarch(o.Arch)
	if err != nil {
		return Program{}, err
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Path != "" {
		return given(o.Path, arch)
	}
	return found[arch].load(ctx, func() (Program, error) {
		if packed, digest := embedded(arch); packed != "" {
			return Program{Digest: strings.TrimSpace(digest), packed: packed}, nil
		}
		return built(ctx, arch, o.Progress)
	})
}

// architectures are those the agent is built for, by Go's names.
var architectures = []string{"amd64", "arm64"}

func goarch(name string) (string, error) {
	switch name {
	case "amd64", "x86_64":
		return "amd64", nil
	case "arm64", "aarch64":
		return "arm64", nil
	default:
		return "", backends.Errorf(backends.CodeInvalidArgument, op, "",
			"there is no guest agent for the architecture %q; it runs on amd64 (x86_64) and arm64 (aarch64)", name)
	}
}

// found keeps what was loaded, by architecture, for the life of the process.
var found = map[string]*memory{"amd64": newMemory(), "arm64": newMemory()}

// memory holds one program once it is known. Failures are not kept: the user
// may install what was missing.
type memory struct {
	turn    chan struct{} // holds one token; who has it may look and set
	program Program
}

func newMemory() *memory {
	m := &memory{turn: make(chan struct{}, 1)}
	m.turn <- struct{}{}
	return m
}

func (m *memory) load(ctx context.Context, get func() (Program, error)) (Program, error) {
	select {
	case <-m.turn:
	case <-ctx.Done():
		return Program{}, cancelled(ctx)
	}
	defer func() { m.turn <- struct{}{} }()
	if m.program.Digest != "" {
		return m.program, nil
	}
	if ctx.Err() != nil {
		return Program{}, cancelled(ctx)
	}
	p, err := get()
	if err != nil {
		return Program{}, err
	}
	m.program = p
	return p, nil
}

// newProgram wraps the bytes of an executable.
func newProgram(data []byte) Program {
	sum := sha256.Sum256(data)
	return Program{data: data, Digest: hex.EncodeToString(sum[:])}
}

func cancelled(ctx context.Context) error {
	return &backends.Error{Code: backends.CodeCancelled, Op: op, Message: "given up while the guest agent was made ready", Err: context.Cause(ctx)}
}

// unsupported says that no executable can be had, why, and what to do.
func unsupported(arch string, why error) error {
	var e *backends.Error
	if errors.As(why, &e) && e.Code == backends.CodeCancelled {
		return why
	}
	return &backends.Error{
		Code: backends.CodeUnsupported,
		Op:   op,
		Message: "there is no guest agent for linux/" + arch + ": this program was built without it, and " + why.Error() +
			". Use a released mcp-workspace or one that `make build` made; or install Go (https://go.dev/dl); or name an executable with --guest PATH",
		Err: why,
	}
}
