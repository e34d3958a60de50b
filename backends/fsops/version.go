package fsops

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
)

// hashedSize is the largest file whose version is a hash of its content. A
// larger file is told apart by its size and times, so that reading a slice of
// it does not cost hashing all of it.
const hashedSize = 4 << 20

// versionOf names the state of a file whose whole content is at hand.
func versionOf(content []byte, info fs.FileInfo) string {
	if len(content) > hashedSize {
		return versionByTime(info)
	}
	sum := sha256.Sum256(content)
	return versionBySum(sum[:])
}

func versionBySum(sum []byte) string { return "sha256:" + hex.EncodeToString(sum[:16]) }

func versionByTime(info fs.FileInfo) string {
	return fmt.Sprintf("time:%d:%d:%s", info.ModTime().UnixNano(), info.Size(), changeOf(info))
}
