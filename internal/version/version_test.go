package version

import "testing"

func TestString(t *testing.T) {
	if String() == "" {
		t.Error("the version is empty")
	}
	release = "v1.2.3"
	defer func() { release = "" }()
	if got := String(); got != "v1.2.3" {
		t.Errorf("the version of a release is %q", got)
	}
}
