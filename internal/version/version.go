// Package version says which build this is.
package version

import "runtime/debug"

// release is set by the linker in released builds.
var release string

// String is the release, or what the Go toolchain noted about the build.
func String() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}
