package backendtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testLifecycle(s *suite) {
	testCreate(s)
	testNames(s)
	testAttach(s)
	testInfos(s)
	testDescribe(s)
	testDestroy(s)
}

// put writes a file that tells environments apart.
func put(t *testing.T, ws backends.Workspace, name, content string) {
	t.Helper()
	if _, err := ws.Write(t.Context(), backends.WriteRequest{Path: name, Content: strings.NewReader(content)}); err != nil {
		t.Fatalf("Write %s: %v", name, err)
	}
}

// wantFile holds the file at name against content.
func wantFile(t *testing.T, ws backends.Workspace, name, content string) {
	t.Helper()
	if got, err := readAll(t.Context(), ws, name); err != nil || got != content {
		t.Errorf("%s holds %q (%v), want %q", name, got, err, content)
	}
}

// absent is a ref that could name an environment and names none.
func absent(ref backends.Ref) backends.Ref {
	ref.ID += "-gone"
	return ref
}

func testCreate(s *suite) {
	s.ownClaim("a ref names its provider and reads back from its text", func(t *testing.T, b backends.Backend) {
		ref := mustCreate(t, b, backends.Spec{}).Ref()
		if ref.Provider != b.Provider() || ref.Provider == "" || ref.ID == "" {
			t.Errorf("%+v is the ref from provider %q", ref, b.Provider())
		}
		if back, err := backends.ParseRef(ref.String()); err != nil || back != ref {
			t.Errorf("%q reads back as %+v, %v", ref.String(), back, err)
		}
	})

	s.ownClaim("a ref never changes", func(t *testing.T, b backends.Backend) {
		ws := mustCreate(t, b, backends.Spec{})
		ref := ws.Ref()
		put(t, ws, "f", "text")
		wantFile(t, ws, "f", "text")
		if ws.Ref() != ref || ws.Ref() != mustAttach(t, b, ref).Ref() {
			t.Errorf("the ref was %v and is %v", ref, ws.Ref())
		}
	})

	s.ownClaim("Create without a name makes environments of their own", func(t *testing.T, b backends.Backend) {
		one, two := mustCreate(t, b, backends.Spec{}), mustCreate(t, b, backends.Spec{})
		put(t, one, "f", "one")
		if !s.h.Fresh {
			if one.Ref() != two.Ref() {
				t.Errorf("refs %v and %v, though there is one environment only", one.Ref(), two.Ref())
			}
			wantFile(t, two, "f", "one")
			return
		}
		if one.Ref() == two.Ref() {
			t.Fatalf("both are %v", one.Ref())
		}
		_, err := readAll(t.Context(), two, "f")
		wantCode(t, "reading the other's file", err, backends.CodeNotFound)
		put(t, two, "f", "two")
		wantFile(t, one, "f", "one")
	})

	s.ownClaim("progress is told during Create only", func(t *testing.T, b backends.Backend) {
		var over, late atomic.Bool
		mustCreate(t, b, backends.Spec{Progress: func(string) {
			if over.Load() {
				late.Store(true)
			}
		}})
		over.Store(true)
		mustCreate(t, b, backends.Spec{})
		if late.Load() {
			t.Error("Progress was called after Create had returned")
		}
	})

	s.ownClaim("closing a connection leaves the environment", func(t *testing.T, b backends.Backend) {
		ws, err := b.Create(t.Context(), backends.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		put(t, ws, "f", "text")
		if err := ws.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		wantFile(t, mustAttach(t, b, ws.Ref()), "f", "text")
	})

	s.ownClaim("closing one connection leaves the others", func(t *testing.T, b backends.Backend) {
		ws := mustCreate(t, b, backends.Spec{})
		put(t, ws, "f", "text")
		other, err := b.Attach(t.Context(), ws.Ref())
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		wantFile(t, ws, "f", "text")
	})

	s.ownClaim("closing a backend leaves its environments", func(t *testing.T, b backends.Backend) {
		if s.h.Reopen == nil {
			t.Skip("environments live and die with their Backend value")
		}
		ws, err := b.Create(t.Context(), backends.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		put(t, ws, "f", "text")
		again := s.h.Reopen(t, b)
		if err := ws.Close(); err != nil {
			t.Errorf("Close of the workspace: %v", err)
		}
		if err := b.Close(); err != nil {
			t.Errorf("Close of the backend: %v", err)
		}
		wantFile(t, mustAttach(t, again, ws.Ref()), "f", "text")
	})
}

func testNames(s *suite) {
	s.ownClaim("Create with one name answers with one environment", func(t *testing.T, b backends.Backend) {
		one := mustCreate(t, b, backends.Spec{Name: "Demo.one_1-x"})
		put(t, one, "f", "text")
		two := mustCreate(t, b, backends.Spec{Name: "Demo.one_1-x"})
		if one.Ref() != two.Ref() {
			t.Errorf("refs %v and %v", one.Ref(), two.Ref())
		}
		wantFile(t, two, "f", "text")
		if s.h.Fresh {
			for _, spec := range []backends.Spec{{Name: "other"}, {}} {
				if other := mustCreate(t, b, spec); other.Ref() == one.Ref() {
					t.Errorf("Create(%+v) answered with %v too", spec, one.Ref())
				}
			}
		}
	})

	s.ownClaim("Create says what it has made, and not what it has found", func(t *testing.T, b backends.Backend) {
		made := 0
		create := func(name string, want int) {
			t.Helper()
			mustCreate(t, b, backends.Spec{Name: name, Made: func() { made++ }})
			if s.h.Fresh && made != want || !s.h.Fresh && made != 0 {
				t.Errorf("after Create(%q), Made was called %d times, not %d", name, made, want)
			}
		}
		create("one", 1)
		create("one", 1)
		create("", 2)
		create("two", 3)
	})

	s.ownClaim("a name may be 63 characters long", func(t *testing.T, b backends.Backend) {
		name := strings.Repeat("long-name", 7)
		if one, two := mustCreate(t, b, backends.Spec{Name: name}), mustCreate(t, b, backends.Spec{Name: name}); one.Ref() != two.Ref() {
			t.Errorf("refs %v and %v", one.Ref(), two.Ref())
		}
	})

	s.ownClaim("Creates of one name at once share one environment", func(t *testing.T, b backends.Backend) {
		openers := []backends.Backend{b, b}
		if s.h.Reopen != nil {
			openers[1] = s.h.Reopen(t, b)
		}
		var mu sync.Mutex
		var wg sync.WaitGroup
		refs := map[backends.Ref]int{}
		var made atomic.Int32
		for i := range 10 {
			wg.Go(func() {
				ws, err := openers[i%2].Create(t.Context(), backends.Spec{Name: "shared", Made: func() { made.Add(1) }})
				if err != nil {
					t.Errorf("Create: %v", err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				refs[ws.Ref()]++
				closeLater(t, ws)
			})
		}
		wg.Wait()
		if len(refs) != 1 {
			t.Errorf("the refs are %v, want one", refs)
		}
		if n := made.Load(); s.h.Fresh && n != 1 || !s.h.Fresh && n != 0 {
			t.Errorf("Made was called %d times", n)
		}
		if got := infos(t, b); len(got) != 1 {
			t.Errorf("List shows %d environments, want 1: %+v", len(got), got)
		}
	})

	s.ownClaim("a name that is not valid is refused and makes nothing", func(t *testing.T, b backends.Backend) {
		before := len(infos(t, b))
		for _, name := range []string{"-a", ".a", "_a", "a b", "ä", "a/b", "../x", "a\x00b", "a\nb", "a:b", strings.Repeat("x", 64)} {
			_, err := b.Create(t.Context(), backends.Spec{Name: name})
			wantCode(t, fmt.Sprintf("Create of %q", name), err, backends.CodeInvalidArgument)
		}
		if got := infos(t, b); len(got) != before {
			t.Errorf("List shows %+v", got)
		}
	})
}

func testAttach(s *suite) {
	s.ownClaim("Attach opens an environment with its files", func(t *testing.T, b backends.Backend) {
		ws := mustCreate(t, b, backends.Spec{})
		put(t, ws, "dir/f", "text")
		other := mustAttach(t, b, ws.Ref())
		if other.Ref() != ws.Ref() || other.WorkingDir() != ws.WorkingDir() {
			t.Errorf("attached to %v in %q, want %v in %q", other.Ref(), other.WorkingDir(), ws.Ref(), ws.WorkingDir())
		}
		wantFile(t, other, "dir/f", "text")
		put(t, other, "dir/f", "changed")
		wantFile(t, ws, "dir/f", "changed")
	})

	s.ownClaim("edits through two connections at once lose nothing", func(t *testing.T, b backends.Backend) {
		ws := mustCreate(t, b, backends.Spec{})
		connections := []backends.Workspace{ws, mustAttach(t, b, ws.Ref())}
		const workers = 10
		var before, after strings.Builder
		for i := range workers {
			fmt.Fprintf(&before, "<old %d>\n", i)
			fmt.Fprintf(&after, "<new %d>\n", i)
		}
		put(t, ws, "f", before.String())
		var wg sync.WaitGroup
		for i := range workers {
			wg.Go(func() {
				for {
					_, err := connections[i%2].Edit(t.Context(), backends.EditRequest{Path: "f", Old: fmt.Sprintf("old %d>", i), New: fmt.Sprintf("new %d>", i)})
					if backends.CodeOf(err) == backends.CodeStale {
						continue // the other connection was first, and said so
					}
					if err != nil {
						t.Errorf("edit %d: %v", i, err)
					}
					return
				}
			})
		}
		wg.Wait()
		wantFile(t, ws, "f", after.String())
	})

	s.ownClaim("another process's backend attaches to the environment", func(t *testing.T, b backends.Backend) {
		if s.h.Reopen == nil {
			t.Skip("environments live and die with their Backend value")
		}
		ws := mustCreate(t, b, backends.Spec{})
		put(t, ws, "f", "text")
		other := mustAttach(t, s.h.Reopen(t, b), ws.Ref())
		wantFile(t, other, "f", "text")
		put(t, other, "f", "changed")
		wantFile(t, ws, "f", "changed")
		if _, err := ws.Edit(t.Context(), backends.EditRequest{Path: "f", Old: "changed", New: "again"}); err != nil {
			t.Errorf("Edit: %v", err)
		}
		wantFile(t, other, "f", "again")
	})

	s.ownClaim("Attach to what never was is unavailable and makes nothing", func(t *testing.T, b backends.Backend) {
		ref := mustCreate(t, b, backends.Spec{}).Ref()
		before := len(infos(t, b))
		for range 2 {
			_, err := b.Attach(t.Context(), absent(ref))
			wantCode(t, "Attach", err, backends.CodeUnavailable)
		}
		if got := infos(t, b); len(got) != before {
			t.Errorf("List shows %+v", got)
		}
	})

	s.ownClaim("a ref of another provider is refused", func(t *testing.T, b backends.Backend) {
		ref := mustCreate(t, b, backends.Spec{}).Ref()
		ref.Provider = "other"
		_, err := b.Attach(t.Context(), ref)
		wantCode(t, "Attach", err, backends.CodeInvalidArgument)
		if s.h.Destroys {
			wantCode(t, "Destroy", b.Destroy(t.Context(), ref), backends.CodeInvalidArgument)
		}
	})

	s.ownClaim("an environment that this program did not make is refused", func(t *testing.T, b backends.Backend) {
		if s.h.Foreign == nil {
			t.Skip("there are no other environments of this kind")
		}
		ref := s.h.Foreign(t, b)
		_, err := b.Attach(t.Context(), ref)
		wantCode(t, "Attach", err, backends.CodePermission)
		if slices.ContainsFunc(infos(t, b), func(i backends.Info) bool { return i.Ref == ref }) {
			t.Errorf("List shows %v", ref)
		}
	})
}

// infos is List.
func infos(t *testing.T, b backends.Backend) []backends.Info {
	t.Helper()
	list, err := b.List(t.Context())
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	return list
}

func testInfos(s *suite) {
	s.ownClaim("List describes the environments", func(t *testing.T, b backends.Backend) {
		started := time.Now()
		ws := mustCreate(t, b, backends.Spec{Name: "listed", Owner: "somebody"})
		i := slices.IndexFunc(infos(t, b), func(i backends.Info) bool { return i.Ref == ws.Ref() })
		if i < 0 {
			t.Fatalf("%v is not in %+v", ws.Ref(), infos(t, b))
		}
		got := infos(t, b)[i]
		if got.Status == "" || got.WorkingDir != ws.WorkingDir() {
			t.Errorf("%+v, want a status, and working directory %q", got, ws.WorkingDir())
		}
		if !s.h.Fresh {
			return // one environment for all names and owners has none of its own
		}
		if got.Name != "listed" || got.Owner != "somebody" {
			t.Errorf("%+v, want the name and the owner that it was made with", got)
		}
		// The clock may be another machine's.
		if !got.Created.IsZero() && got.Created.Sub(started).Abs() > time.Hour {
			t.Errorf("created at %v, want about %v", got.Created, started)
		}
	})

	s.ownClaim("List is by id and shows each environment once", func(t *testing.T, b backends.Backend) {
		refs := map[backends.Ref]bool{}
		for _, name := range []string{"c", "a", "", "b"} {
			refs[mustCreate(t, b, backends.Spec{Name: name}).Ref()] = true
		}
		var ids, want []string
		for _, i := range infos(t, b) {
			ids = append(ids, i.Ref.ID)
		}
		for ref := range refs {
			want = append(want, ref.ID)
		}
		wantEqual(t, "List", ids, sorted(want))
	})
}

func testDestroy(s *suite) {
	if !s.h.Destroys {
		s.ownClaim("Destroy is unsupported and leaves the files", func(t *testing.T, b backends.Backend) {
			ws := mustCreate(t, b, backends.Spec{})
			put(t, ws, "f", "text")
			wantCode(t, "Destroy", b.Destroy(t.Context(), ws.Ref()), backends.CodeUnsupported)
			wantFile(t, ws, "f", "text")
			wantFile(t, mustAttach(t, b, ws.Ref()), "f", "text")
		})
	} else {
		destroy := func(t *testing.T, b backends.Backend, ref backends.Ref) {
			t.Helper()
			if err := b.Destroy(t.Context(), ref); err != nil {
				t.Fatalf("Destroy(%v): %v", ref, err)
			}
		}
		s.ownClaim("Destroy removes one environment and its files", func(t *testing.T, b backends.Backend) {
			ws, kept := mustCreate(t, b, backends.Spec{Name: "gone"}), mustCreate(t, b, backends.Spec{Name: "kept"})
			put(t, ws, "f", "text")
			put(t, kept, "f", "kept")
			destroy(t, b, ws.Ref())
			for _, i := range infos(t, b) {
				if i.Ref == ws.Ref() {
					t.Errorf("List shows %+v", i)
				}
			}
			wantFile(t, kept, "f", "kept")
			again := mustCreate(t, b, backends.Spec{Name: "gone"})
			_, err := readAll(t.Context(), again, "f")
			wantCode(t, "reading in the new environment of that name", err, backends.CodeNotFound)
		})
		s.ownClaim("Destroy of what is gone is no error", func(t *testing.T, b backends.Backend) {
			ref := mustCreate(t, b, backends.Spec{}).Ref()
			destroy(t, b, absent(ref))
			destroy(t, b, ref)
			destroy(t, b, ref)
		})
	}

	if s.h.Gone == nil && !s.h.Destroys {
		return
	}
	gone := func(t *testing.T, b backends.Backend, ws backends.Workspace) {
		t.Helper()
		if s.h.Gone != nil {
			s.h.Gone(t, ws)
		} else if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
			t.Fatalf("Destroy: %v", err)
		}
	}

	s.ownClaim("Attach to an environment that is gone is unavailable", func(t *testing.T, b backends.Backend) {
		ws := mustCreate(t, b, backends.Spec{})
		put(t, ws, "f", "text")
		gone(t, b, ws)
		for range 2 { // the first must not bring it back
			_, err := b.Attach(t.Context(), ws.Ref())
			wantCode(t, "Attach", err, backends.CodeUnavailable)
		}
		if s.h.Destroys {
			if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
				t.Errorf("Destroy: %v", err)
			}
		}
	})

	for _, op := range s.operations() {
		s.ownClaim(op.name+" in an environment that is gone is unavailable", func(t *testing.T, b backends.Backend) {
			ws := mustCreate(t, b, backends.Spec{})
			put(t, ws, "dir/f", firstLine+"\n")
			gone(t, b, ws)
			target := "dir/f"
			if op.wants == wantsDirectory {
				target = "dir"
			}
			ctx, giveUp := context.WithCancel(t.Context())
			defer giveUp()
			promptly(t, s.h, op.name, giveUp, func() {
				for range 2 {
					wantCode(t, op.name, op.do(ctx, ws, target), backends.CodeUnavailable)
				}
			})
			_, err := b.Attach(t.Context(), ws.Ref())
			wantCode(t, "Attach afterwards", err, backends.CodeUnavailable)
		})
	}

	s.ownClaim("an environment that is gone ends its running commands as unavailable", func(t *testing.T, b backends.Backend) {
		if !s.h.Commands || !s.h.Destroys {
			t.Skip("only where commands run in an environment that can be destroyed")
		}
		ws := mustCreate(t, b, backends.Spec{})
		started, ended := make(chan struct{}), make(chan error, 1)
		ctx, giveUp := context.WithCancel(t.Context())
		defer giveUp()
		var once sync.Once
		go func() {
			_, err := ws.Run(ctx, backends.Command{Script: "echo started; sleep 300",
				Output: func(backends.Stream, []byte) { once.Do(func() { close(started) }) }})
			ended <- err
		}()
		<-started
		gone(t, b, ws)
		promptly(t, s.h, "the command", giveUp, func() { wantCode(t, "Run", <-ended, backends.CodeUnavailable) })
	})
}
