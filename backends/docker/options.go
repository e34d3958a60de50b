package docker

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/docker/cli/opts"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/go-units"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// DefaultPids is how many processes and threads a container may have unless
// --pids-limit says otherwise.
const DefaultPids = 2048

// MinPids is the lowest limit: process 1 and a session take some 15 threads, a few
// more on a machine of many processors, and a command as many as it likes.
const MinPids = 32

// UserHost as --user is the caller's own uid and gid: what commands write to a
// mounted directory is then the caller's.
const UserHost = "host"

// Flags are docker run's flags as the user wrote them; each field is named after
// its flag, and empty means that it was not given.
type Flags struct {
	Network    string   // none, bridge, or the name of a network
	Memory     string   // bytes, or with a unit: 512m, 2g; 0 is no limit
	CPUs       string   // 1.5; 0 is no limit
	PidsLimit  string   // 0 and -1 are no limit
	User       string   // name or uid, with :group or :gid; [UserHost]
	ReadOnly   bool     // root file system
	CapDrop    []string // NET_RAW, ALL
	Mounts     []string // type=bind,src=…,dst=… as --mount, or src:dst[:ro] as --volume
	Tmpfs      []string // /run, /run:size=64m,exec
	GPUs       string   // all, 2, device=0
	OCIRuntime string   // runsc; docker run's --runtime
	AddHosts   []string // name:address

	// Dir is where relative sources of Mounts count from; empty is the current
	// directory.
	Dir string
}

// Options are docker run's flags, parsed by [Flags.Parse]. The zero value is what
// no flags mean.
type Options struct {
	Network    string
	Memory     int64  // bytes; 0 is no limit
	NanoCPUs   int64  // 0 is no limit
	PidsLimit  *int64 // nil is DefaultPids; -1 is no limit
	User       string
	ReadOnly   bool
	CapDrop    []string
	Mounts     []mount.Mount
	Binds      []string // --volume forms that only the old syntax can say (z, Z)
	Tmpfs      map[string]string
	GPUs       []container.DeviceRequest
	OCIRuntime string
	AddHosts   []string

	// Warnings are what the user should know about these options.
	Warnings []string
}

// Parse reads the flags. An error is CodeInvalidArgument and names the flag, its
// value and the mend.
func (f Flags) Parse() (Options, error) {
	o := Options{User: strings.TrimSpace(f.User), ReadOnly: f.ReadOnly, OCIRuntime: f.OCIRuntime}
	for _, parse := range []func(*Options) error{f.network, f.limits, f.capabilities, f.mounts, f.tmpfs, f.gpus, f.hosts} {
		if err := parse(&o); err != nil {
			return Options{}, err
		}
	}
	if err := o.checkUser(); err != nil {
		return Options{}, err
	}
	if err := o.checkTargets(); err != nil {
		return Options{}, err
	}
	return o, nil
}

// leastCPUs is what the kernel can limit processes to: a millisecond in each tenth
// of a second.
const leastCPUs = 1e9 / 100

// maxID is the largest uid or gid that engines take.
const maxID = math.MaxInt32

func (o Options) checkUser() error {
	const write = "a name or uid, with :group if you like, such as 1000:1000, or host for your own"
	if strings.Count(o.User, ":") > 1 || strings.ContainsAny(o.User, " \t\n") {
		return flagError("--user", o.User, "no user", write)
	}
	for part := range strings.SplitSeq(o.User, ":") {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			continue // the image knows names
		}
		if id, err := strconv.ParseInt(part, 10, 64); err != nil || id > maxID {
			return flagError("--user", o.User, fmt.Sprintf("%s is more than a uid or gid can be (%d)", part, maxID), write)
		}
	}
	return nil
}

// checkTargets refuses two mounts in one place.
func (o Options) checkTargets() error {
	flags := map[string]string{}
	for dir := range o.Tmpfs {
		flags[path.Clean(dir)] = "--tmpfs"
	}
	for _, m := range o.allMounts() {
		target := path.Clean(m.Target)
		if other := flags[target]; other != "" {
			return flagError("--mount", target, "a "+other+" is there already", "one mount for each path in the container")
		}
		flags[target] = "--mount"
	}
	return nil
}

// flagError is the error of a flag whose value is wrong.
func flagError(flag, value, wrong, write string) error {
	return backends.Errorf(backends.CodeInvalidArgument, "flags", "", "%s %q: %s; write %s", flag, value, wrong, write)
}

// networkName is what engines call networks, and what shares those of others.
var networkName = regexp.MustCompile(`^([a-zA-Z0-9][a-zA-Z0-9_.-]*|[a-z0-9]+:\S+)$`)

func (f Flags) network(o *Options) error {
	if f.Network == "" {
		return nil
	}
	o.Network = strings.TrimPrefix(f.Network, "name=") // docker run's long form
	if !networkName.MatchString(o.Network) {
		return flagError("--network", f.Network, "only the name of one network is taken", "none, bridge, or the name of a network")
	}
	if o.Network == "host" || strings.HasPrefix(o.Network, "container:") {
		o.Warnings = append(o.Warnings, fmt.Sprintf("--network %s takes away the container's own network: commands reach all that listens there", o.Network))
	}
	return nil
}

func (f Flags) limits(o *Options) error {
	if f.Memory != "" {
		bytes, err := units.RAMInBytes(f.Memory)
		if err != nil || bytes < 0 {
			return flagError("--memory", f.Memory, "no amount of memory", "bytes, or a number with k, m or g, such as 512m or 2g")
		}
		o.Memory = bytes
	}
	if f.CPUs != "" {
		nano, err := opts.ParseCPUs(f.CPUs)
		if err != nil || nano < 0 {
			return flagError("--cpus", f.CPUs, "no number of processors", "a number such as 2 or 1.5")
		}
		if nano > 0 && nano < leastCPUs {
			return flagError("--cpus", f.CPUs, "less than the kernel can share out", "0.01 or more")
		}
		o.NanoCPUs = nano
	}
	if f.PidsLimit != "" {
		pids, err := strconv.ParseInt(f.PidsLimit, 10, 64)
		if err != nil || pids < -1 || pids > math.MaxInt32 {
			return flagError("--pids-limit", f.PidsLimit, "no number of processes", "a number, or -1 for no limit")
		}
		if pids == 0 {
			pids = -1 // as docker run has it
		}
		if pids > 0 && pids < MinPids {
			return flagError("--pids-limit", f.PidsLimit, "the guest agent's threads and those of a command do not fit", fmt.Sprintf("%d or more, or -1 for no limit", MinPids))
		}
		o.PidsLimit = &pids
	}
	return nil
}

func (f Flags) capabilities(o *Options) error {
	for _, value := range f.CapDrop {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.TrimSpace(name)
			if name == "" || strings.ContainsAny(name, " =:/") {
				return flagError("--cap-drop", value, "no capability", "a name such as NET_RAW, or ALL")
			}
			o.CapDrop = append(o.CapDrop, name)
		}
	}
	_, o.CapDrop = opts.EffectiveCapAddCapDrop(nil, o.CapDrop)
	return nil
}

func (f Flags) gpus(o *Options) error {
	if f.GPUs == "" {
		return nil
	}
	var parsed opts.GpuOpts
	if err := parsed.Set(f.GPUs); err != nil {
		return flagError("--gpus", f.GPUs, err.Error(), `all, a number, or "device=0,1" with the quotes`)
	}
	o.GPUs = parsed.Value()
	return nil
}

func (f Flags) hosts(o *Options) error {
	for _, value := range f.AddHosts {
		host, err := opts.ValidateExtraHost(value)
		if err != nil {
			return flagError("--add-host", value, err.Error(), "name:address, such as db:10.0.0.5 or host.docker.internal:host-gateway")
		}
		o.AddHosts = append(o.AddHosts, host)
	}
	return nil
}
