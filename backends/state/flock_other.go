//go:build !unix || aix || solaris

package state

import (
	"errors"
	"io/fs"
	"os"
)

var errNoLocks = errors.New("the file store needs file locks that this system does not have; use sqlite:FILE")

func lockFile(string) (*os.File, error)    { return nil, errNoLocks }
func tryLockFile(string) (*os.File, error) { return nil, errNoLocks }
func inode(fs.FileInfo) int64              { return 0 }
func syncDir(string) error                 { return nil }
