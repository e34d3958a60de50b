package main

import (
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// certificates is a certificate in files, read again when they change, so that
// it can be renewed while the server runs.
type certificates struct {
	cert, key string

	mu      sync.Mutex
	loaded  *tls.Certificate
	changed time.Time // of the newer file
	looked  time.Time
}

// lookEvery is how often the files are looked at, at most.
const lookEvery = 10 * time.Second

// get is for tls.Config. Files that have become unreadable leave the
// certificate as it was.
func (c *certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded != nil && time.Since(c.looked) < lookEvery {
		return c.loaded, nil
	}
	c.looked = time.Now()
	changed, err := latest(c.cert, c.key)
	if err == nil && (c.loaded == nil || !changed.Equal(c.changed)) {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(c.cert, c.key); err == nil {
			c.loaded, c.changed = &pair, changed
		}
	}
	if c.loaded != nil {
		return c.loaded, nil
	}
	return nil, err
}

// latest is when the younger of two files was changed.
func latest(files ...string) (newest time.Time, err error) {
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return newest, err
		}
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest, nil
}
