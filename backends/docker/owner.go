package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
)

// ids are whom a file belongs to.
type ids struct{ uid, gid int }

// maxUserFile bounds what is read of a container's /etc/passwd and /etc/group,
// in bytes.
const maxUserFile = 1 << 20

// owner finds the uid and gid that the container's processes have, as engines
// find them: names, and the group of a user that is given alone, come from the
// container's own /etc/passwd and /etc/group.
func (b *Backend) owner(ctx context.Context, info container.InspectResponse) (ids, error) {
	return resolveUser(info.Config.User, func(file string) (string, error) {
		return b.readFile(ctx, info.ID, file)
	})
}

func resolveUser(user string, read func(file string) (string, error)) (ids, error) {
	if user == "" {
		return ids{}, nil
	}
	var owner ids
	name, group, hasGroup := strings.Cut(user, ":")
	uid, err := parseID(name)
	numeric := err == nil
	if !numeric || !hasGroup || group == "" {
		passwd, err := read("/etc/passwd")
		fields := findEntry(passwd, name, numeric)
		switch {
		case len(fields) > 3:
			uid, err = parseID(fields[2])
			if err == nil {
				owner.gid, err = parseID(fields[3])
			}
			if err != nil {
				return ids{}, fmt.Errorf("/etc/passwd has no numbers for the user %s", name)
			}
		case !numeric && err != nil:
			return ids{}, err
		case !numeric:
			return ids{}, fmt.Errorf("/etc/passwd has no user %s", name)
		} // a number that is not there has group 0
	}
	owner.uid = uid
	if hasGroup && group != "" {
		if owner.gid, err = parseID(group); err != nil {
			groups, err := read("/etc/group")
			if err != nil {
				return ids{}, err
			}
			fields := findEntry(groups, group, false)
			if len(fields) < 3 {
				return ids{}, fmt.Errorf("/etc/group has no group %s", group)
			}
			if owner.gid, err = parseID(fields[2]); err != nil {
				return ids{}, fmt.Errorf("/etc/group has no number for the group %s", group)
			}
		}
	}
	return owner, nil
}

// parseID reads a uid or gid as Linux has them.
func parseID(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err
}

// findEntry finds the line of a name, or of a number, in the format of
// /etc/passwd and /etc/group.
func findEntry(text, name string, numeric bool) []string {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) > 2 && (fields[0] == name && !numeric || numeric && fields[2] == name) {
			return fields
		}
	}
	return nil
}

// readFile reads a small file of a container from outside.
func (b *Backend) readFile(ctx context.Context, id, file string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, quickLimit)
	defer cancel()
	archive, stat, err := b.engine.CopyFromContainer(ctx, id, file)
	if err != nil {
		if isGone(err) {
			return "", fmt.Errorf("the container has no %s", file)
		}
		return "", err
	}
	defer archive.Close()
	if stat.LinkTarget != "" && stat.LinkTarget != file && !stat.Mode.IsRegular() {
		target := stat.LinkTarget
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(file), target)
		}
		return "", fmt.Errorf("%s is a symbolic link to %s; give --user as numbers", file, target)
	}
	r := tar.NewReader(archive)
	if _, err := r.Next(); err != nil {
		return "", fmt.Errorf("reading %s: %w", file, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxUserFile+1))
	if err == nil && len(text) > maxUserFile {
		err = errors.New("it is too large")
	}
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", file, err)
	}
	return string(text), nil
}
