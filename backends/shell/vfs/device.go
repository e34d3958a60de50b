package vfs

import "crypto/rand"

// The devices in /dev. Reading null ends at once; full and zero have zeros
// without end, random and urandom random bytes. What is written is gone, and
// full has no room for it.
const (
	deviceNull    = "null"
	deviceZero    = "zero"
	deviceFull    = "full"
	deviceRandom  = "random"
	deviceURandom = "urandom"
)

var (
	devices = []string{deviceNull, deviceZero, deviceFull, deviceRandom, deviceURandom}
	// streams are those that only who opens them knows; see DeviceError.
	streams = []string{"stdin", "stdout", "stderr"}
)

// endless tells whether n is a device that can be read without end.
func (n *inode) endless() bool { return n.device != "" && n.device != deviceNull }

// fill reads from an endless device.
func (n *inode) fill(p []byte) {
	if n.device == deviceZero || n.device == deviceFull {
		clear(p)
		return
	}
	_, _ = rand.Read(p) // never fails
}
