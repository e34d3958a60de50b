package state

import "sync/atomic"

// atomicVersion is the latest version of a document that was seen. It stays
// with one workspace: once that is gone it answers errGone for good, also when
// another takes over the name.
type atomicVersion struct {
	version atomic.Pointer[version]
	gone    atomic.Bool
}

// get returns the version, or nil before the first.
func (a *atomicVersion) get() (*version, error) {
	if a.gone.Load() {
		return nil, errGone
	}
	return a.version.Load(), nil
}

// set puts v where have was, unless another has done so since: the next look
// at the store tells which is right.
func (a *atomicVersion) set(have, v *version) error {
	if have != nil && !sameWorkspace(have.tree, v.tree) {
		a.gone.Store(true)
	}
	if a.gone.Load() {
		return errGone
	}
	a.version.CompareAndSwap(have, v)
	return nil
}
