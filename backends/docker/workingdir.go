package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

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
	const mend = "add --tmpfs %[1]s or --mount type=volume,src=NAME,dst=%[1]s, or have it in the image"
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
	archive, err := dirArchive(missing, owner)
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

// dirArchive is a tar with a relative directory and its parents.
func dirArchive(dir string, owner ids) (*bytes.Buffer, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	made := ""
	for part := range strings.SplitSeq(dir, "/") {
		made = path.Join(made, part)
		err := w.WriteHeader(&tar.Header{Name: made + "/", Typeflag: tar.TypeDir, Mode: 0o755, Uid: owner.uid, Gid: owner.gid, ModTime: time.Now()})
		if err != nil {
			return nil, err
		}
	}
	return &archive, w.Close()
}
