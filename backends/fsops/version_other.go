//go:build !linux

package fsops

import "io/fs"

// changeOf is what there is of an inode and its change time: nothing that is
// the same on all other systems.
func changeOf(fs.FileInfo) string { return "" }
