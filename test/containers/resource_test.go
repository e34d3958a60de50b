package containers

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// current reads the resource that describes the connection's workspace.
func (s *server) current(t *testing.T) (fields map[string]string) {
	t.Helper()
	var req mcp.ReadResourceRequest
	req.Params.URI = "workspace://current"
	got, err := s.ReadResource(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	content, ok := got.Contents[0].(mcp.TextResourceContents)
	if !ok || len(got.Contents) != 1 || json.Unmarshal([]byte(content.Text), &fields) != nil {
		t.Fatalf("the resource is %+v", got.Contents)
	}
	return fields
}

// TestTheResourceDescribesTheWorkspace once a tool has used it, made by this
// connection or attached to.
func TestTheResourceDescribesTheWorkspace(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		name := named(t, e)
		begun := time.Now().Add(-time.Second)
		made := start(t, e, "--name="+name, "--network=none", "--working-dir=/here")
		if got := made.current(t); len(got) != 2 || got["backend"] != e.Provider || got["ruleset"] != "permissive" {
			t.Errorf("before the first use it is %v", got)
		}
		attached := start(t, e, "--ref="+refOf(e, name), "--working-dir=/here")
		for _, s := range []*server{made, attached} {
			s.must(t, "ls", nil)
			got := s.current(t)
			created, err := time.Parse(time.RFC3339, got["created"])
			if err != nil || created.Before(begun.Truncate(time.Second)) || created.After(time.Now()) {
				t.Errorf("it was created at %q, says the resource (%v)", got["created"], err)
			}
			delete(got, "created")
			want := map[string]string{"ref": refOf(e, name), "backend": e.Provider, "image": e.Debian, "working_dir": "/here", "ruleset": "permissive"}
			for key, value := range want {
				if got[key] != value {
					t.Errorf("%s is %q, not %q", key, got[key], value)
				}
			}
			if len(got) != len(want) {
				t.Errorf("it has %v", got)
			}
		}
	})
}
