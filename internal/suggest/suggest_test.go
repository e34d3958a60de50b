package suggest

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"permissions", "root", "backend"}
	for word, want := range map[string]string{
		"permision":   "permissions",
		"Permissions": "permissions",
		"rot":         "root",
		"backedn":     "backend",
		"image":       "",
		"":            "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
