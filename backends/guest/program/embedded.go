//go:build guest_embedded

package program

import _ "embed"

// Made by the pack command, which `make build` runs first. Strings stay in the
// file until they are read, so they cost nothing at the start.
var (
	//go:embed packed/linux-amd64.gz
	packedAMD64 string
	//go:embed packed/linux-arm64.gz
	packedARM64 string
	//go:embed packed/linux-amd64.sha256
	digestAMD64 string
	//go:embed packed/linux-arm64.sha256
	digestARM64 string
)

// embedded is the compressed agent inside this program, and its digest.
func embedded(arch string) (packed, digest string) {
	switch arch {
	case "amd64":
		return packedAMD64, digestAMD64
	case "arm64":
		return packedARM64, digestARM64
	default:
		return "", ""
	}
}
