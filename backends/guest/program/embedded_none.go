//go:build !guest_embedded

package program

// embedded is the compressed agent inside this program: none in what was not
// built by `make build`.
func embedded(string) (packed, digest string) { return "", "" }
