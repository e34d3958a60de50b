package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Owned returns b as one principal has it: a place where nobody else's
// environments exist. What is another's, gone, never was, of another provider or
// no ref at all is answered alike, in word and in time, and nothing is done to it.
//
// Names are the principal's own: see [MaxName]. It is a [backends.Stopper] where
// b is.
func Owned(b backends.Backend, owner string) backends.Backend {
	if s, ok := b.(backends.Stopper); ok {
		return &ownedStopper{owned{b, owner}, s}
	}
	return &owned{b, owner}
}

// MaxName is how long the name of a principal's workspace may be, in bytes. The
// backend's name for it begins with a digest of the principal.
const MaxName = 63 - ownerDigits - 1

// ownerDigits is how many hex digits of the principal's SHA-256 are in a name.
const ownerDigits = 12

// lookupTime is what finding nothing takes, or a multiple of it, so that the
// engine's own quickness does not tell what there is.
const lookupTime = 50 * time.Millisecond

type owned struct {
	inner backends.Backend
	owner string
}

type ownedStopper struct {
	owned
	stopper backends.Stopper
}

var (
	_ backends.Backend = (*owned)(nil)
	_ backends.Stopper = (*ownedStopper)(nil)
)

// prefix begins the names of owner's environments in the backend.
func prefix(owner string) string {
	if owner == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(owner))
	return hex.EncodeToString(sum[:])[:ownerDigits] + "-"
}

// reserved are names that the only user of a server without principals cannot
// give: they could be somebody's with principals.
var reserved = regexp.MustCompile(`^(mcpws-)?[0-9a-f]{12}(-|$)`)

// nameOf is what the backend calls owner's environment of that name.
func nameOf(owner, name string) (string, error) {
	if err := backends.ValidName(name); err != nil {
		return "", err
	}
	if owner != "" && len(name) > MaxName {
		return "", backends.Errorf(backends.CodeInvalidArgument, "name", "", "the name %q is too long; use at most %d characters", name, MaxName)
	}
	if owner == "" && reserved.MatchString(name) {
		return "", backends.Errorf(backends.CodeInvalidArgument, "name", "", "the name %q looks like one that the server gives; use one that does not begin with 12 hexadecimal digits", name)
	}
	return prefix(owner) + name, nil
}

// ShownRef is what a client gave as a ref, cut to 100 bytes to be shown.
func ShownRef(ref string) string {
	const limit = 100
	if len(ref) <= limit {
		return ref
	}
	return strings.ToValidUTF8(ref[:limit], "") + "…"
}

// noWorkspace is the answer to a ref that names nothing of the principal's.
func noWorkspace(op, ref string) error {
	return &backends.Error{Code: backends.CodeUnavailable, Op: op, Err: backends.ErrGone, Message: fmt.Sprintf(
		"you have no workspace %q: it is gone, or never was; leave the ref out to work in your own", ShownRef(ref))}
}

// conceal is noWorkspace, not before lookupTime has passed since started.
func conceal(ctx context.Context, started time.Time, op, ref string) error {
	timer := time.NewTimer(lookupTime - time.Since(started)%lookupTime)
	defer timer.Stop()
	select {
	case <-timer.C:
		return noWorkspace(op, ref)
	case <-ctx.Done():
		return &backends.Error{Code: backends.CodeCancelled, Op: op, Err: context.Cause(ctx), Message: "the call was cancelled"}
	}
}

// concealed tells whether err says something of an environment that its owner
// alone may know. What is wrong with the backend itself is no secret.
func concealed(err error) bool {
	switch backends.CodeOf(err) {
	case backends.CodePermission, backends.CodeInvalidArgument:
		return true
	default:
		return errors.Is(err, backends.ErrGone)
	}
}

// given are the ids of environments without a name.
var given = regexp.MustCompile(`^mcpws-[0-9a-f]{12}$`)

// possible tells whether an environment of that id can be the owner's. One with
// a name has the owner's digest in it, so a guess at somebody else's is answered
// without asking the engine, which might be busy with it.
func (o *owned) possible(id string) bool {
	if o.owner == "" {
		return true
	}
	return given.MatchString(id) || strings.HasPrefix(strings.TrimPrefix(id, "mcpws-"), prefix(o.owner))
}

// find describes an environment of the owner's.
func (o *owned) find(ctx context.Context, op string, ref backends.Ref) (backends.Info, error) {
	started := time.Now()
	if !o.possible(ref.ID) {
		return backends.Info{}, conceal(ctx, started, op, ref.String())
	}
	info, err := o.inner.Describe(ctx, ref)
	switch {
	case err == nil && info.Owner == o.owner:
		info.Name = strings.TrimPrefix(info.Name, prefix(o.owner))
		return info, nil
	case err == nil, concealed(err):
		return backends.Info{}, conceal(ctx, started, op, ref.String())
	default:
		return backends.Info{}, err
	}
}

// Provider implements [backends.Backend].
func (o *owned) Provider() string { return o.inner.Provider() }

// Create implements [backends.Backend]. The owner of spec is the one that there
// is.
func (o *owned) Create(ctx context.Context, spec backends.Spec) (backends.Workspace, error) {
	spec.Owner = o.owner
	if spec.Name == "" {
		return o.inner.Create(ctx, spec)
	}
	asked := spec.Name
	var err error
	if spec.Name, err = nameOf(o.owner, asked); err != nil {
		return nil, err
	}
	ws, err := o.inner.Create(ctx, spec)
	if backends.CodeOf(err) == backends.CodePermission {
		return nil, &backends.Error{Code: backends.CodePermission, Op: "create", Err: err, Message: fmt.Sprintf(
			"the name %q is taken by what is not a workspace of yours; use another", asked)}
	}
	return ws, err
}

// Attach implements [backends.Backend].
func (o *owned) Attach(ctx context.Context, ref backends.Ref) (backends.Workspace, error) {
	started := time.Now()
	if _, err := o.find(ctx, "attach", ref); err != nil {
		return nil, err
	}
	ws, err := o.inner.Attach(ctx, ref)
	if backends.CodeOf(err) == backends.CodePermission || errors.Is(err, backends.ErrGone) {
		return nil, conceal(ctx, started, "attach", ref.String()) // gone in between
	}
	return ws, err
}

// Describe implements [backends.Backend].
func (o *owned) Describe(ctx context.Context, ref backends.Ref) (backends.Info, error) {
	return o.find(ctx, "describe", ref)
}

// Destroy implements [backends.Backend]. What is not the owner's is as gone.
func (o *owned) Destroy(ctx context.Context, ref backends.Ref) error {
	if _, err := o.find(ctx, "destroy", ref); err != nil {
		return unlessGone(err)
	}
	return o.inner.Destroy(ctx, ref)
}

func unlessGone(err error) error {
	if errors.Is(err, backends.ErrGone) {
		return nil
	}
	return err
}

// List implements [backends.Backend].
func (o *owned) List(ctx context.Context) ([]backends.Info, error) {
	all, err := o.inner.List(ctx)
	if err != nil {
		return nil, err
	}
	mine := slices.DeleteFunc(all, func(i backends.Info) bool { return i.Owner != o.owner })
	for i := range mine {
		mine[i].Name = strings.TrimPrefix(mine[i].Name, prefix(o.owner))
	}
	return mine, nil
}

// Close implements [backends.Backend]. The backend is everybody's and stays open.
func (o *owned) Close() error { return nil }

// Stop implements [backends.Stopper].
func (o *ownedStopper) Stop(ctx context.Context, ref backends.Ref) error {
	if _, err := o.find(ctx, "stop", ref); err != nil {
		return unlessGone(err)
	}
	return o.stopper.Stop(ctx, ref)
}

// InUse implements [backends.Stopper].
func (o *ownedStopper) InUse(ctx context.Context, ref backends.Ref) (bool, error) {
	if _, err := o.find(ctx, "look", ref); err != nil {
		return false, unlessGone(err)
	}
	return o.stopper.InUse(ctx, ref)
}
