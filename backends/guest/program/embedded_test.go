//go:build guest_embedded

package program

import (
	"os"
	"testing"
)

func TestEmbedded(t *testing.T) {
	digest := os.Getenv("TEST_GUEST_DIGEST")
	if digest == "" {
		t.Skip("TestPackGivesTheSameBytesElsewhere runs this test")
	}
	p, err := Load(t.Context(), Options{Arch: "amd64", Progress: func(line string) { t.Error("it is not embedded:", line) }})
	if err != nil {
		t.Fatal(err)
	}
	if p.Digest != digest {
		t.Errorf("the embedded agent's digest is %s, not %s", p.Digest, digest)
	}
	if arm, err := Load(t.Context(), Options{Arch: "arm64"}); err != nil || checkExecutable(bytesOf(t, arm), "arm64") != nil {
		t.Errorf("arm64: %v", err)
	}
}
