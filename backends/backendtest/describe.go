package backendtest

import (
	"errors"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testDescribe(s *suite) {
	describe := func(t *testing.T, b backends.Backend, ref backends.Ref) backends.Info {
		t.Helper()
		info, err := b.Describe(t.Context(), ref)
		if err != nil {
			t.Fatalf("Describe(%v): %v", ref, err)
		}
		return info
	}

	s.ownClaim("Describe tells of one environment what List tells", func(t *testing.T, b backends.Backend) {
		for _, spec := range []backends.Spec{{Name: "described", Owner: "somebody"}, {Owner: "another"}, {}} {
			mustCreate(t, b, spec)
		}
		list := infos(t, b)
		if len(list) == 0 {
			t.Fatal("List shows nothing")
		}
		for _, listed := range list {
			got := describe(t, b, listed.Ref)
			// A listing may be coarser than the description of one.
			if got.Created.Sub(listed.Created).Abs() >= time.Second {
				t.Errorf("%v was created at %v, and at %v by List", listed.Ref, got.Created, listed.Created)
			}
			got.Created = listed.Created
			if got != listed {
				t.Errorf("Describe: %+v\n    List: %+v", got, listed)
			}
		}
	})

	s.ownClaim("Describe of what never was is unavailable and makes nothing", func(t *testing.T, b backends.Backend) {
		ref := mustCreate(t, b, backends.Spec{}).Ref()
		before := len(infos(t, b))
		for range 2 {
			_, err := b.Describe(t.Context(), absent(ref))
			wantGone(t, "Describe", err)
			_, err = b.Attach(t.Context(), absent(ref))
			wantGone(t, "Attach", err)
		}
		if got := infos(t, b); len(got) != before {
			t.Errorf("List shows %+v", got)
		}
	})

	s.ownClaim("Describe of another provider's ref is refused", func(t *testing.T, b backends.Backend) {
		ref := mustCreate(t, b, backends.Spec{}).Ref()
		ref.Provider = "other"
		_, err := b.Describe(t.Context(), ref)
		wantCode(t, "Describe", err, backends.CodeInvalidArgument)
	})

	s.ownClaim("Describe of what this program did not make is refused", func(t *testing.T, b backends.Backend) {
		if s.h.Foreign == nil {
			t.Skip("there are no other environments of this kind")
		}
		_, err := b.Describe(t.Context(), s.h.Foreign(t, b))
		wantCode(t, "Describe", err, backends.CodePermission)
	})

	s.ownClaim("another process's backend describes the environment", func(t *testing.T, b backends.Backend) {
		if s.h.Reopen == nil {
			t.Skip("environments live and die with their Backend value")
		}
		ws := mustCreate(t, b, backends.Spec{Name: "described", Owner: "somebody"})
		if got, want := describe(t, s.h.Reopen(t, b), ws.Ref()), describe(t, b, ws.Ref()); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})

	s.ownClaim("Describe of an environment that is gone is unavailable", func(t *testing.T, b backends.Backend) {
		ws := mustCreate(t, b, backends.Spec{})
		describe(t, b, ws.Ref())
		switch {
		case s.h.Gone != nil:
			s.h.Gone(t, ws)
		case s.h.Destroys:
			if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
				t.Fatalf("Destroy: %v", err)
			}
		default:
			t.Skip("environments cannot be taken away here")
		}
		for range 2 {
			_, err := b.Describe(t.Context(), ws.Ref())
			wantGone(t, "Describe", err)
			_, err = b.Attach(t.Context(), ws.Ref())
			wantGone(t, "Attach", err)
		}
	})
}

// wantGone holds err against what an environment that is gone answers.
func wantGone(t *testing.T, what string, err error) {
	t.Helper()
	wantCode(t, what, err, backends.CodeUnavailable)
	if !errors.Is(err, backends.ErrGone) {
		t.Errorf("%s fails with %v, which does not tell that the environment is gone", what, err)
	}
}
