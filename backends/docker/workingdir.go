package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// giveDir gives the working directory of a container that has never run to the
// container's user, where somebody else's is there that they may not write: that
// of a runtime, which was made before the user was known, or an empty one, of a
// volume or an image. What is in it stays whose it is, and what is of the host
// stays as it is. One that is missing is made later.
func (b *Backend) giveDir(ctx context.Context, info container.InspectResponse) error {
	dir := b.startDir(info)
	if name, _, _ := strings.Cut(info.Config.User, ":"); name == "" || name == "root" || name == "0" || !givable(info, dir) {
		return nil
	}
	there, empty, err := b.dirThere(ctx, info.ID, dir)
	switch {
	case isGone(err) && ctx.Err() == nil:
		return nil
	case err != nil:
		return b.failed(ctx, "create", "look at "+dir, err)
	case there.Typeflag != tar.TypeDir, !empty && !b.runtimesDir(dir):
		return nil
	}
	owner, err := b.owner(ctx, info)
	if err != nil {
		return backends.Errorf(backends.CodeInvalidArgument, "create", "", "the working directory %s cannot be given to the user %s: %v; see --user", dir, info.Config.User, err)
	}
	if b.cfg.Differences.HidesOwners {
		there.Uid, there.Gid = -1, -1
	}
	if writable(there, owner) {
		return nil
	}
	// Engines pass over an entry "." for a directory that is there.
	archive, err := dirArchive(owner, &tar.Header{Name: "/", Mode: there.Mode})
	if err != nil {
		return fmt.Errorf("docker: %w", err)
	}
	err = doWithin(ctx, quickLimit, func(ctx context.Context) error {
		return b.engine.CopyToContainer(ctx, info.ID, dir, archive, container.CopyToContainerOptions{})
	})
	return b.failed(ctx, "create", "give "+dir+" to the container's user", err)
}

// runtimesDir tells whether dir is the working directory that a runtime was built
// with.
func (b *Backend) runtimesDir(dir string) bool {
	rt := b.cfg.Runtime
	return rt != nil && rt.IsBuilt() && rt.Dir() == dir
}

// givable tells whether dir is of the container itself or of a volume, and not on
// a read-only file system.
func givable(info container.InspectResponse, dir string) bool {
	if dir == "/" {
		return false
	}
	for target := range info.HostConfig.Tmpfs {
		if covers(path.Clean(target), dir) {
			return false
		}
	}
	at, of := "", container.MountPoint{}
	for _, m := range info.Mounts {
		if target := path.Clean(m.Destination); covers(target, dir) && len(target) > len(at) {
			at, of = target, m
		}
	}
	if at == "" {
		return !info.HostConfig.ReadonlyRootfs
	}
	return of.Type == mount.TypeVolume && of.RW
}

// dirThere describes what is at dir in a container, and tells whether it is empty.
func (b *Backend) dirThere(ctx context.Context, id, dir string) (there *tar.Header, empty bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, quickLimit)
	defer cancel()
	archive, _, err := b.engine.CopyFromContainer(ctx, id, dir)
	if err != nil {
		return nil, false, err
	}
	defer archive.Close()
	r := tar.NewReader(archive)
	if there, err = r.Next(); err != nil {
		return nil, false, fmt.Errorf("reading what it sends of %s: %w", dir, err)
	}
	_, err = r.Next()
	if empty = errors.Is(err, io.EOF); !empty && err != nil {
		return nil, false, fmt.Errorf("reading what it sends of %s: %w", dir, err)
	}
	return there, empty, nil
}

// writable tells whether it is known that a user may make files in a directory.
func writable(dir *tar.Header, user ids) bool {
	switch {
	case user.uid == dir.Uid:
		return true // what they may not they can allow themselves
	case user.gid == dir.Gid:
		return dir.Mode&0o030 == 0o030
	default:
		return dir.Mode&0o003 == 0o003
	}
}

// makeDir makes a working directory from outside, because the container's user
// may not: cause says so. It and the parents it lacks belong to that user.
func (b *Backend) makeDir(ctx context.Context, info container.InspectResponse, dir string, cause error) error {
	name := strings.TrimPrefix(info.Name, "/")
	user := info.Config.User
	if user == "" {
		user = "root"
	}
	refuse := func(code backends.Code, err error, format string, args ...any) error {
		return &backends.Error{Code: code, Op: "open", Err: err, Message: fmt.Sprintf("the working directory %s of %s: ", dir, name) +
			fmt.Sprintf(format, args...)}
	}
	const mend = "add --tmpfs %[1]s:exec or --mount type=volume,src=NAME,dst=%[1]s, or have it in the image"
	if backends.CodeOf(cause) == backends.CodeReadOnly && info.HostConfig.ReadonlyRootfs {
		return refuse(backends.CodeReadOnly, cause, "it is missing, and the root file system is read-only; "+mend, dir)
	}
	below, missing, err := b.missingBelow(ctx, info.ID, dir)
	switch {
	case err != nil:
		return b.failed(ctx, "open", "look at "+dir+" in "+name, err)
	case missing == "":
		return refuse(backends.CodePermission, cause, "it exists, but the user %s may not enter it; use another --working-dir or another --user", user)
	}
	owner, err := b.owner(ctx, info)
	if err != nil {
		return refuse(backends.CodePermission, cause, "the user %s may not make it, and nobody else can for them: %v", user, err)
	}
	archive, err := missingArchive(missing, owner)
	if err != nil {
		return fmt.Errorf("docker: %w", err)
	}
	err = doWithin(ctx, quickLimit, func(ctx context.Context) error {
		return b.engine.CopyToContainer(ctx, info.ID, below, archive, container.CopyToContainerOptions{})
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && strings.Contains(err.Error(), "read-only"):
		return refuse(backends.CodeReadOnly, err, "it is missing, and its file system is read-only; "+mend, dir)
	case ctx.Err() == nil && !unreachable(err) && !errors.Is(err, context.DeadlineExceeded):
		return refuse(backends.CodePermission, err, "the user %s may not make it, and neither could %s: %s; "+strings.ReplaceAll(mend, "%[1]s", "%[4]s"),
			user, b.cfg.Differences.Engine, engineWords(err), dir)
	default:
		return b.failed(ctx, "open", "make "+dir, err)
	}
}

// keepsMounts adds to the failure of a working directory in a container that was
// there before that the flags which it names are for a new one.
func keepsMounts(err error, otherwise string) error {
	var e *backends.Error
	if !errors.As(err, &e) || e.Code != backends.CodeReadOnly && e.Code != backends.CodePermission {
		return err
	}
	mended := *e
	mended.Message += "; this container is there already and keeps the mounts that it was made with, so use another --working-dir, or " + otherwise
	return &mended
}

// missingBelow splits dir, absolute and clean, into the part that exists and the
// part that does not.
func (b *Backend) missingBelow(ctx context.Context, id, dir string) (below, missing string, err error) {
	below = "/"
	parts := strings.Split(strings.Trim(dir, "/"), "/")
	for i, part := range parts {
		next := path.Join(below, part)
		_, err := within(ctx, quickLimit, func(ctx context.Context) (container.PathStat, error) {
			return b.engine.ContainerStatPath(ctx, id, next)
		})
		if isGone(err) && ctx.Err() == nil {
			return below, path.Join(parts[i:]...), nil
		}
		if err != nil {
			return "", "", err
		}
		below = next
	}
	return below, "", nil
}

// missingArchive is a tar with a relative directory and its parents.
func missingArchive(dir string, owner ids) (*bytes.Buffer, error) {
	var entries []*tar.Header
	made := ""
	for part := range strings.SplitSeq(dir, "/") {
		made = path.Join(made, part)
		entries = append(entries, &tar.Header{Name: made + "/", Mode: 0o755})
	}
	return dirArchive(owner, entries...)
}

// dirArchive is a tar with directories that belong to owner.
func dirArchive(owner ids, entries ...*tar.Header) (*bytes.Buffer, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, entry := range entries {
		entry.Typeflag, entry.Uid, entry.Gid, entry.ModTime = tar.TypeDir, owner.uid, owner.gid, time.Now()
		if err := w.WriteHeader(entry); err != nil {
			return nil, err
		}
	}
	return &archive, w.Close()
}
