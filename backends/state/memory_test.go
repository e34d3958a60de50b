package state

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func ownedWorkspace(t *testing.T, b *Backend, owner string) *Workspace {
	t.Helper()
	ws, err := b.Create(t.Context(), backends.Spec{Owner: owner})
	if err != nil {
		t.Fatal(err)
	}
	return ws.(*Workspace)
}

func TestOneOwnerCannotTakeAllMemory(t *testing.T) {
	sharing(t, 200*time.Millisecond)
	const most = 32 << 20
	b := open(t, Config{MaxMemory: most})
	greedy, other := ownedWorkspace(t, b, "greedy"), ownedWorkspace(t, b, "other")
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	refused, peak := 0, int64(0)
	for i := range 12 {
		script := fmt.Sprintf(`mkdir %d; cd %[1]d; head -c 4M < <(yes) > f; x=$(head -c 2M f); sleep 30`, i)
		all.Go(func() {
			_, err := greedy.Run(ctx, backends.Command{Script: script})
			mu.Lock()
			defer mu.Unlock()
			switch backends.CodeOf(err) {
			case backends.CodeTooLarge:
				refused++
				if !strings.Contains(err.Error(), "try again") {
					t.Error(err)
				}
			case backends.CodeCancelled:
			default:
				t.Error(err)
			}
		})
	}
	eventually(t, "a refusal", func() bool {
		mu.Lock()
		defer mu.Unlock()
		peak = max(peak, b.memory.Used())
		return refused >= 3
	})
	if peak > most {
		t.Errorf("%d bytes were in use", peak)
	}
	if _, err := other.Run(t.Context(), backends.Command{Script: `x=$(yes | head -c 1M); echo "$x" > f`}); err != nil {
		t.Errorf("another owner: %v", err)
	}
	cancel()
	all.Wait()
	// Where there is nothing left, files can still be removed.
	if _, err := greedy.Run(t.Context(), backends.Command{Script: `rm -r *`}); err != nil {
		t.Errorf("removing files: %v", err)
	}
	if _, err := greedy.Run(t.Context(), backends.Command{Script: `yes | head -c 4M > f`}); err != nil {
		t.Errorf("with memory again: %v", err)
	}
	for _, ws := range []*Workspace{greedy, other} {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
		if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
			t.Error(err)
		}
	}
	if b.memory.Used() != 0 {
		t.Errorf("%d bytes are left", b.memory.Used())
	}
}

func TestDocumentsAreChargedForWhileInUse(t *testing.T) {
	eachStore(t, func(t *testing.T, store string) {
		b := open(t, Config{Store: store, MaxMemory: 10 << 20})
		ws := ownedWorkspace(t, b, "a")
		begun := b.memory.Used()
		writeTo(t, ws, "f", strings.Repeat("x", 1<<20))
		if got := b.memory.Used() - begun; got < 1<<20 || got > 2<<20 {
			t.Errorf("%d bytes are taken for a file of 1 MiB", got)
		}
		_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "g", Content: strings.NewReader(strings.Repeat("x", 5<<20))})
		if backends.CodeOf(err) != backends.CodeTooLarge || !strings.Contains(err.Error(), "remove files and workspaces") {
			t.Errorf("more than half of all: %v", err)
		}
		if got := contentOf(t, ws, "g"); got != string(backends.CodeNotFound) {
			t.Error("what was refused is there")
		}
		writeTo(t, ws, "f", "")
		if b.memory.Used() > begun+1024 {
			t.Errorf("%d bytes are taken for an empty file", b.memory.Used()-begun)
		}
		second, err := b.Attach(t.Context(), ws.Ref())
		if err != nil {
			t.Fatal(err)
		}
		if b.memory.Used() > begun+1024 {
			t.Error("a second connection is charged for")
		}
		for _, ws := range []backends.Workspace{ws, second} {
			if err := ws.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
			t.Error(err)
		}
		if b.memory.Used() != 0 {
			t.Errorf("%d bytes are left", b.memory.Used())
		}
	})
}
