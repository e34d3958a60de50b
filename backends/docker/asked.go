package docker

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// checkAsked holds a container that is there against the flags that were given.
// Flags that isolate or limit it, and mounts, it must have: who asks for --network
// none must not work in one that has a network, and who mounts a directory must
// not find an empty one. The error says so, and ends with the mend. Of the others
// the log tells.
func (b *Backend) checkAsked(ctx context.Context, op, mend string, info container.InspectResponse) error {
	refused, err := b.weakerThanAsked(ctx, info)
	if err != nil {
		return err
	}
	if refused = append(refused, mountsMissing(b.cfg.Options, info)...); len(refused) > 0 {
		return backends.Errorf(backends.CodeInvalidArgument, op, "", "the workspace %s was made %s, which cannot be changed later; %s",
			b.ref(strings.TrimPrefix(info.Name, "/")), strings.Join(refused, ", "), mend)
	}
	if other := otherThanAsked(b.cfg.Options, info); len(other) > 0 {
		b.tellOnce(info, "flags", strings.Join(other, "; "))
	}
	return nil
}

// checkImage tells the log when the container of a name was made from another
// image than was asked for. A ref is of whatever it was made from.
func (b *Backend) checkImage(info container.InspectResponse) {
	wanted, flag := b.cfg.Image, "--image "+b.cfg.Image
	if b.cfg.Runtime != nil {
		wanted, flag = b.cfg.Runtime.Tag(), "--runtime "+b.cfg.Runtime.Name
	}
	if wanted != "" && !b.cfg.AnyImage && !b.sameImage(info.Config.Image, wanted) {
		b.tellOnce(info, "image", fmt.Sprintf("its image is %s, and not that of %s", info.Config.Image, flag))
	}
}

// tellOnce tells the log how a container differs from what was asked for, once for
// each container and subject.
func (b *Backend) tellOnce(info container.InspectResponse, subject, differs string) {
	if _, told := b.told.LoadOrStore(info.ID+" "+subject, true); !told {
		b.log.Warn("the workspace keeps what it was made with: "+differs, "workspace", b.ref(strings.TrimPrefix(info.Name, "/")))
	}
}

// weakerThanAsked lists how the container is less isolated or limited than flags
// say, in words that follow "was made".
func (b *Backend) weakerThanAsked(ctx context.Context, info container.InspectResponse) (differs []string, err error) {
	asked, has := b.cfg.Options, info.HostConfig
	lacks := func(flag string, is bool) {
		if is {
			differs = append(differs, "without "+flag)
		}
	}
	limit := func(flag string, asked, has float64) {
		switch {
		case asked > 0 && has <= 0:
			differs = append(differs, "without "+flag)
		case asked > 0 && has > asked:
			differs = append(differs, fmt.Sprintf("with a higher %s than asked (%s)", flag, strconv.FormatFloat(has, 'f', -1, 64)))
		}
	}
	lacks("--network none", asked.Network == "none" && !has.NetworkMode.IsNone())
	lacks("--read-only", asked.ReadOnly && !has.ReadonlyRootfs)
	if asked.User != "" {
		user, _, err := b.user(ctx)
		if err != nil {
			return nil, err
		}
		lacks("--user "+asked.User, plainUser(info.Config.User) != plainUser(user))
	}
	limits := limitsOf(has)
	limit("--memory", float64(asked.Memory), float64(limits.Memory))
	limit("--cpus", float64(asked.NanoCPUs)/1e9, limits.CPUs)
	if asked.PidsLimit != nil {
		limit("--pids-limit", float64(*asked.PidsLimit), float64(limits.Pids))
	}
	lacks("--oci-runtime "+asked.OCIRuntime, asked.OCIRuntime != "" && has.Runtime != asked.OCIRuntime)
	for _, capability := range asked.CapDrop {
		lacks("--cap-drop "+capability, !dropped(has.CapDrop, capability))
	}
	return differs, nil
}

// plainUser is a user with one way to write root.
func plainUser(user string) string {
	if slices.Contains([]string{"0", "root", "0:0", "root:root", "0:root", "root:0"}, user) {
		return ""
	}
	return user
}

// mountsMissing lists the mounts that were asked for where nothing is mounted, or
// what can be written to that must not be.
func mountsMissing(asked Options, info container.InspectResponse) (differs []string) {
	for _, m := range asked.allMounts() {
		has, ok := mountAt(info, m.Target)
		switch {
		case !ok:
			differs = append(differs, "without a --mount at "+m.Target)
		case m.ReadOnly && !has.ReadOnly:
			differs = append(differs, "with a --mount at "+m.Target+" that is not read-only")
		}
	}
	return differs
}

// allMounts are Mounts, and Binds as such.
func (o Options) allMounts() []mount.Mount {
	all := slices.Clone(o.Mounts)
	for _, bind := range o.Binds {
		rest, options, _ := cutLast(bind)
		source, target, _ := cutLast(rest)
		all = append(all, mount.Mount{Type: mount.TypeBind, Source: source, Target: target, ReadOnly: slices.Contains(strings.Split(options, ","), "ro")})
	}
	return all
}

func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func mountAt(info container.InspectResponse, target string) (Mount, bool) {
	mounts := mountsOf(info)
	i := slices.IndexFunc(mounts, func(m Mount) bool { return path.Clean(m.Target) == path.Clean(target) })
	if i < 0 {
		return Mount{}, false
	}
	return mounts[i], true
}

// otherThanAsked lists which other flags the container was not made with.
func otherThanAsked(asked Options, info container.InspectResponse) (differs []string) {
	has := info.HostConfig
	differ := func(is bool, format string, args ...any) {
		if is {
			differs = append(differs, fmt.Sprintf(format, args...))
		}
	}
	differ(asked.Network != "" && !onNetwork(info, asked.Network), "its network is %s, and not --network %s", has.NetworkMode, asked.Network)
	for _, m := range asked.allMounts() {
		if there, ok := mountAt(info, m.Target); ok && m.Source != "" {
			differ(!sameSource(there.Source, m), "%s is mounted at %s, and not --mount %s", there.Source, m.Target, m.Source)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(asked.Tmpfs)) {
		there, _ := mountAt(info, dir)
		differ(there.Type != string(mount.TypeTmpfs), "there is no --tmpfs %s", dir)
	}
	differ(len(asked.GPUs) > 0 && len(has.DeviceRequests) == 0, "it has no --gpus")
	for _, host := range asked.AddHosts {
		differ(!slices.Contains(has.ExtraHosts, host), "it has no --add-host %s", host)
	}
	return differs
}

// sameSource tells whether an engine's name of what is mounted is what m asks for.
func sameSource(have string, m mount.Mount) bool {
	if m.Type != mount.TypeBind {
		return have == m.Source
	}
	wanted := path.Clean(filepath.ToSlash(m.Source[len(filepath.VolumeName(m.Source)):]))
	// Docker Desktop's machine has this one's files in a place of its own.
	elsewhere := strings.HasPrefix(have, "/host_mnt/") || strings.HasPrefix(have, "/run/desktop/mnt/host/")
	return have == wanted || elsewhere && strings.HasSuffix(have, wanted)
}

// sameImage tells whether an engine's name of an image is the one that was asked
// for. Podman puts localhost or docker.io before it.
func (b *Backend) sameImage(have, wanted string) bool {
	if have == wanted || b.cfg.Differences.LocalImages != "" && have == b.cfg.Differences.LocalImages+wanted {
		return true
	}
	haveName, err := reference.ParseDockerRef(have)
	if err != nil {
		return false
	}
	wantedName, err := reference.ParseDockerRef(wanted)
	return err == nil && haveName.String() == wantedName.String()
}

// onNetwork tells whether the container is on a network, as far as the engine
// says: Podman calls its own by several names, and those that have one bridge.
func onNetwork(info container.InspectResponse, network string) bool {
	switch mode := info.HostConfig.NetworkMode; {
	case string(mode) == network:
		return true
	case network == "bridge":
		return !mode.IsNone() && !mode.IsHost() && !mode.IsContainer() && (!mode.IsUserDefined() || slices.Contains([]string{"pasta", "slirp4netns"}, string(mode)))
	case strings.HasPrefix(network, "container:"):
		return mode.IsContainer()
	case info.NetworkSettings == nil:
		return false
	}
	for name, n := range info.NetworkSettings.Networks {
		if name == network || n != nil && strings.HasPrefix(n.NetworkID, network) {
			return true
		}
	}
	return false
}

// dropped tells whether a list of dropped capabilities has this one, which
// engines write with and without CAP_, and Podman as all there are for ALL.
func dropped(list []string, capability string) bool {
	plain := func(c string) string { return strings.TrimPrefix(strings.ToUpper(c), "CAP_") }
	if plain(capability) == "ALL" {
		return slices.ContainsFunc(list, func(c string) bool { return plain(c) == "ALL" }) || len(list) >= 11
	}
	return slices.ContainsFunc(list, func(c string) bool { return plain(c) == "ALL" || plain(c) == plain(capability) })
}
