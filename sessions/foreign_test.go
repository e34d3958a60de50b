package sessions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// TestAttemptsAtAnothersWorkspace holds every way to name what is not one's own
// against naming what never was.
func TestAttemptsAtAnothersWorkspace(t *testing.T) {
	b := memory(t)
	s := serve(t, b, ManagerConfig{}, TenantConfig{})
	open := s.mustCall(as(t, "alice", "1"), t, tools.Asked{})
	named := s.mustCall(as(t, "alice", ""), t, tools.Asked{Name: "secret"})
	gone := s.mustCall(as(t, "alice", ""), t, tools.Asked{Name: "gone"})
	anybodys, err := b.Create(t.Context(), backends.Spec{Name: "made-by-hand"})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := backends.ParseRef(gone)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Destroy(t.Context(), parsed); err != nil {
		t.Fatal(err)
	}
	before := refs(t, b)
	_, wanted := s.call(as(t, "eve", ""), tools.Asked{Ref: "state:never-was"})
	wantErr(t, "what never was", wanted, backends.CodeUnavailable)
	for _, ref := range []string{open, named, gone, anybodys.Ref().String(), "docker:mcpws-0123456789ab", "state:", "x", ":", "state:a/../b", "state:a\x00b", strings.Repeat("y", 1000)} {
		for way, try := range map[string]func() error{
			"in the body":  func() error { _, err := s.call(as(t, "eve", ""), tools.Asked{Ref: ref}); return err },
			"in a session": func() error { _, err := s.call(as(t, "eve", "1"), tools.Asked{Ref: ref}); return err },
			"in a header": func() error {
				_, err := s.call(WithCaller(t.Context(), Caller{Principal: "eve", Ref: ref}), tools.Asked{})
				return err
			},
			"as nobody":                func() error { _, err := s.call(as(t, "", "2"), tools.Asked{Ref: ref}); return err },
			"by what looks like alice": func() error { _, err := s.call(as(t, "alice\x00", ""), tools.Asked{Ref: ref}); return err },
		} {
			if way == "as nobody" && ref == anybodys.Ref().String() {
				continue // nobody's is nobody's own
			}
			started := time.Now()
			err := try()
			took := time.Since(started)
			same := strings.ReplaceAll(wanted.Error(), fmt.Sprintf("%q", "state:never-was"), fmt.Sprintf("%q", cut(ref)))
			if backends.CodeOf(err) != backends.CodeUnavailable || err.Error() != same {
				t.Errorf("%q %s: %v\nwant %s", ref, way, err, same)
			}
			if took < lookupTime*9/10 {
				t.Errorf("%q %s was answered in %v, sooner than %v", ref, way, took, lookupTime)
			}
		}
	}
	if after := refs(t, b); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("there were %q and are %q", before, after)
	}
	// The name in the backend is no way to it either.
	_, id, _ := strings.Cut(named, ":")
	if got := s.mustCall(as(t, "eve", ""), t, tools.Asked{Name: id}); got == named {
		t.Error("eve is in alice's workspace by its whole name")
	}
	_, err = s.call(as(t, "", ""), tools.Asked{Name: id})
	wantErr(t, "its whole name without principals", err, backends.CodeInvalidArgument)
	// Another's session is a session of one's own.
	if got := s.mustCall(as(t, "eve", "1"), t, tools.Asked{}); got == open {
		t.Error("eve is in alice's session")
	}
}

func cut(ref string) string {
	if len(ref) > 100 {
		return ref[:100] + "…"
	}
	return ref
}
