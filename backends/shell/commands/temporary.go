package commands

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// temporary makes a file that is not there yet, whose absolute name starts with
// prefix, and opens it.
func (p *Proc) temporary(prefix string) (vfs.File, string, error) {
	for {
		name := prefix + randomName(10)
		f, err := p.Files.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil || !errors.Is(err, fs.ErrExist) || p.Stopped() {
			return f, name, err
		}
	}
}

// randomName is n letters and digits.
func randomName(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b)
}

// createNew makes an empty file that only its owner can read and that was not
// there.
func (p *Proc) createNew(name string) error {
	f, err := p.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
