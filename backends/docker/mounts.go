package docker

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/docker/cli/opts"
	"github.com/docker/docker/api/types/mount"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

const mountForms = "type=bind,src=DIR,dst=/PATH or DIR:/PATH[:ro]"

// longForm tells --mount's form from --volume's.
var longForm = regexp.MustCompile(`(?i)(^|,)"?(type|src|source|dst|destination|target)=`)

func (f Flags) mounts(o *Options) error {
	for _, value := range f.Mounts {
		var m mount.Mount
		var err error
		var relabel string
		if longForm.MatchString(value) {
			m, err = parseLong(value)
		} else {
			m, relabel, err = parseShort(value)
		}
		if err != nil {
			return err
		}
		if err := checkMount(value, &m, o); err != nil {
			return err
		}
		if relabel != "" && m.Type == mount.TypeBind {
			o.Binds = append(o.Binds, m.Source+":"+m.Target+":"+relabel)
			continue
		}
		o.Mounts = append(o.Mounts, m)
	}
	return nil
}

func parseLong(value string) (mount.Mount, error) {
	var parsed opts.MountOpt
	if err := parsed.Set(value); err != nil {
		return mount.Mount{}, flagError("--mount", value, err.Error(), mountForms)
	}
	m := parsed.Value()[0]
	switch m.Type {
	case mount.TypeBind, mount.TypeVolume, mount.TypeTmpfs, mount.TypeImage:
		return m, nil
	default:
		return mount.Mount{}, flagError("--mount", value, "no mount of type "+string(m.Type)+" is known", "type=bind, type=volume or type=tmpfs")
	}
}

// parseShort reads --volume's form. Options that only that form has are answered
// in relabel, with all others.
func parseShort(value string) (m mount.Mount, relabel string, err error) {
	wrong := func(why string) (mount.Mount, string, error) {
		return mount.Mount{}, "", flagError("--mount", value, why, mountForms)
	}
	rest, drive := value, ""
	if len(rest) > 2 && rest[1] == ':' && (rest[2] == '\\' || rest[2] == '/') && !strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, ".") {
		drive, rest = rest[:2], rest[2:] // C:\dir
	}
	parts := strings.Split(rest, ":")
	parts[0] = drive + parts[0]
	switch {
	case len(parts) > 3:
		return wrong("too many colons")
	case len(parts) == 1:
		parts = []string{"", parts[0]} // an anonymous volume
	case parts[0] == "":
		return wrong("nothing stands before the colon")
	}
	m = mount.Mount{Type: mount.TypeVolume, Source: parts[0], Target: parts[1]}
	switch source := m.Source; {
	case source == "":
	case source == "~" || strings.HasPrefix(source, "~/"): // no shell has seen it
		home, err := os.UserHomeDir()
		if err != nil {
			return wrong("your home directory is not known")
		}
		m.Type, m.Source = mount.TypeBind, filepath.Join(home, source[1:])
	case strings.HasPrefix(source, ".") || filepath.IsAbs(source) || drive != "" || strings.HasPrefix(source, "/"):
		m.Type = mount.TypeBind
	case strings.ContainsAny(source, `/\`):
		return wrong("is " + source + " a directory or a volume? A volume's name has no slash, a directory starts with / or ./")
	}
	if len(parts) < 3 {
		return m, "", nil
	}
	for option := range strings.SplitSeq(parts[2], ",") {
		switch option {
		case "rw", "":
		case "ro", "readonly":
			m.ReadOnly = true
		case "nocopy":
			m.VolumeOptions = &mount.VolumeOptions{NoCopy: true}
		case "z", "Z":
			relabel = parts[2]
		case "consistent", "cached", "delegated":
			m.Consistency = mount.Consistency(option)
		case "private", "rprivate", "shared", "rshared", "slave", "rslave":
			m.BindOptions = &mount.BindOptions{Propagation: mount.Propagation(option)}
		default:
			return wrong("the option " + option + " is not known")
		}
	}
	if m.BindOptions != nil && m.Type != mount.TypeBind || m.VolumeOptions != nil && m.Type != mount.TypeVolume {
		return wrong("an option of a volume on a directory, or the other way around")
	}
	return m, relabel, nil
}

// checkMount refuses what cannot work, makes sources absolute, and warns.
func checkMount(value string, m *mount.Mount, o *Options) error {
	if !path.IsAbs(m.Target) {
		return flagError("--mount", value, "the path in the container must be absolute", mountForms)
	}
	if covers(path.Clean(m.Target), guestDir) || covers(guestDir, path.Clean(m.Target)) {
		return flagError("--mount", value, guestDir+" is the guest agent's, and nothing can be mounted over it", "another path in the container")
	}
	switch m.Type {
	case mount.TypeBind:
		if m.Source == "" {
			return flagError("--mount", value, "a bind mount needs a source", mountForms)
		}
		if !path.IsAbs(m.Source) { // on another machine, a path of this one would be no better
			abs, err := filepath.Abs(m.Source)
			if err != nil {
				return backends.Errorf(backends.CodeInvalidArgument, "flags", "", "--mount %q: %v; write an absolute source", value, err)
			}
			m.Source = abs
		}
		if path.Clean(m.Source) == "/" {
			o.Warnings = append(o.Warnings, "--mount "+value+" gives commands all files of the machine that the engine runs on")
		}
		if base := path.Base(m.Source); base == "docker.sock" || base == "podman.sock" {
			o.Warnings = append(o.Warnings, "--mount "+value+" gives commands the engine's socket, and with it the machine that the engine runs on")
		}
	case mount.TypeVolume:
		if strings.HasPrefix(m.Source, volumePrefix) {
			return flagError("--mount", value, "volumes named "+volumePrefix+"… hold the guest agent", "another volume")
		}
	}
	return nil
}

// checkSources refuses a bind mount whose source is missing where the engine
// would make an empty directory of it. On another machine that cannot be known.
func (b *Backend) checkSources() error {
	if !strings.HasPrefix(b.engine.DaemonHost(), "unix://") && !strings.HasPrefix(b.engine.DaemonHost(), "npipe://") {
		return nil
	}
	var sources []string
	for _, bind := range b.cfg.Options.Binds {
		source, _, _ := strings.Cut(bind[len(filepath.VolumeName(bind)):], ":")
		sources = append(sources, filepath.VolumeName(bind)+source)
	}
	if b.cfg.Differences.MakesSources {
		for _, m := range b.cfg.Options.Mounts {
			if m.Type == mount.TypeBind {
				sources = append(sources, m.Source)
			}
		}
	}
	for _, source := range sources {
		if _, err := os.Stat(source); errors.Is(err, fs.ErrNotExist) {
			return backends.Errorf(backends.CodeInvalidArgument, "create", "", "--mount: the directory or file %s does not exist; make it first, or name another", source)
		}
	}
	return nil
}

func (f Flags) tmpfs(o *Options) error {
	for _, value := range f.Tmpfs {
		dir, options, _ := strings.Cut(value, ":")
		if !path.IsAbs(dir) {
			return flagError("--tmpfs", value, "the path in the container must be absolute", "/PATH or /PATH:size=64m,exec")
		}
		if covers(path.Clean(dir), guestDir) || covers(guestDir, path.Clean(dir)) {
			return flagError("--tmpfs", value, guestDir+" is the guest agent's, and nothing can be mounted over it", "another path")
		}
		if o.Tmpfs == nil {
			o.Tmpfs = map[string]string{}
		}
		o.Tmpfs[dir] = options
	}
	return nil
}

// covers tells whether the clean path dir is below, or is, the clean path top.
// The root covers nothing here: engines refuse it in their own words.
func covers(top, dir string) bool {
	return dir == top || top != "/" && strings.HasPrefix(dir, top+"/")
}
