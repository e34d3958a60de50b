package docker

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
)

// weakerThanAsked lists the flags that were given to isolate or limit a workspace
// and that the container was made without. Who asks for --network none must not
// work in one that has a network.
func (b *Backend) weakerThanAsked(ctx context.Context, info container.InspectResponse) (differs []string, err error) {
	asked, has := b.cfg.Options, info.HostConfig
	if has == nil {
		return nil, nil
	}
	lacks := func(flag string, is bool) {
		if is {
			differs = append(differs, flag)
		}
	}
	lacks("--network none", asked.Network == "none" && !has.NetworkMode.IsNone())
	lacks("--read-only", asked.ReadOnly && !has.ReadonlyRootfs)
	if asked.User != "" {
		user, _, err := b.user(ctx)
		if err != nil {
			return nil, err
		}
		lacks("--user "+asked.User, info.Config.User != user)
	}
	lacks("--memory", asked.Memory > 0 && (has.Memory == 0 || has.Memory > asked.Memory))
	lacks("--cpus", asked.NanoCPUs > 0 && nanoCPUs(has) > asked.NanoCPUs)
	lacks("--pids-limit", asked.PidsLimit != nil && *asked.PidsLimit > 0 && (has.PidsLimit == nil || *has.PidsLimit <= 0 || *has.PidsLimit > *asked.PidsLimit))
	lacks("--oci-runtime "+asked.OCIRuntime, asked.OCIRuntime != "" && has.Runtime != asked.OCIRuntime)
	for _, capability := range asked.CapDrop {
		lacks("--cap-drop "+capability, !dropped(has.CapDrop, capability))
	}
	return differs, nil
}

// nanoCPUs is the limit of processors, which Podman tells as a quota.
func nanoCPUs(has *container.HostConfig) int64 {
	switch {
	case has.NanoCPUs > 0:
		return has.NanoCPUs
	case has.CPUQuota > 0 && has.CPUPeriod > 0:
		return has.CPUQuota * 1e9 / has.CPUPeriod
	default:
		return math.MaxInt64
	}
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
