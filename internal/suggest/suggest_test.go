package suggest

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"permissions", "root", "backend", "in-order", "MCP_WORKSPACE_ROOT"}
	for word, want := range map[string]string{
		"permision":                "permissions",
		"Permissions":              "permissions",
		"rot":                      "root",
		"backedn":                  "backend",
		"in_order":                 "in-order",
		"mcp_workspace_rooot":      "MCP_WORKSPACE_ROOT",
		"image":                    "",
		"":                         "",
		strings.Repeat("root", 20): "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestNothingIsSuggestedForShortWords(t *testing.T) {
	if got := Nearest("x", []string{"ls"}); got != "" {
		t.Errorf("Nearest(x) = %q: nothing of the word was right", got)
	}
}

func TestDidYouMean(t *testing.T) {
	if got, want := DidYouMean("rot", []string{"root"}), `; did you mean "root"?`; got != want {
		t.Errorf("DidYouMean = %s, want %s", got, want)
	}
	if got := DidYouMean("image", []string{"root"}); got != "" {
		t.Errorf("DidYouMean = %s, want nothing", got)
	}
}
