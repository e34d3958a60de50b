package docker

import (
	"encoding/csv"
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

// volumeName is what engines call volumes.
var volumeName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)

// driveForm is how directories of Windows begin; no volume has a name of one
// letter.
var driveForm = regexp.MustCompile(`^[a-zA-Z]:[\\/]`)

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
		if err := f.checkMount(value, &m, o); err != nil {
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
	wrong := func(why, write string) (mount.Mount, error) {
		return mount.Mount{}, flagError("--mount", value, why, write)
	}
	rest, source, err := cutSource(value)
	if err != nil {
		return wrong(err.Error(), mountForms)
	}
	var parsed opts.MountOpt
	if err := parsed.Set(rest); err != nil {
		return wrong(err.Error(), mountForms)
	}
	m := parsed.Value()[0]
	m.Source = source
	switch m.Type {
	case mount.TypeBind, mount.TypeVolume, mount.TypeTmpfs:
		return m, nil
	default:
		return wrong("no mount of type "+string(m.Type)+" is known", "type=bind, type=volume or type=tmpfs")
	}
}

// cutSource takes the source out of --mount's form: the parser of the rest takes
// some relative ones from the current directory, which [Flags.absolute] decides.
func cutSource(value string) (rest, source string, err error) {
	fields, err := csv.NewReader(strings.NewReader(value)).Read()
	if err != nil {
		return "", "", err
	}
	for i, field := range fields {
		key, text, ok := strings.Cut(field, "=")
		if key = strings.ToLower(key); ok && (key == "src" || key == "source") {
			fields[i], source = key+"=", text
		}
	}
	var written strings.Builder
	w := csv.NewWriter(&written)
	if err := w.Write(fields); err != nil {
		return "", "", err
	}
	w.Flush()
	return written.String(), source, w.Error()
}

// parseShort reads --volume's form. Options that only that form has are answered
// in relabel, with all others.
func parseShort(value string) (m mount.Mount, relabel string, err error) {
	wrong := func(why string) (mount.Mount, string, error) {
		return mount.Mount{}, "", flagError("--mount", value, why, mountForms)
	}
	rest, drive := value, ""
	if driveForm.MatchString(rest) {
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
	case strings.HasPrefix(source, ".") || source == "~" || strings.HasPrefix(source, "~/") || filepath.IsAbs(source) || drive != "" || strings.HasPrefix(source, "/"):
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
func (f Flags) checkMount(value string, m *mount.Mount, o *Options) error {
	if err := checkTarget("--mount", value, m.Target, mountForms); err != nil {
		return err
	}
	switch m.Type {
	case mount.TypeBind:
		if m.Source == "" {
			return flagError("--mount", value, "a bind mount needs a source", mountForms)
		}
		source, err := f.absolute(value, m.Source)
		if err != nil {
			return err
		}
		m.Source = source
		if path.Clean(m.Source) == "/" {
			o.Warnings = append(o.Warnings, "--mount "+value+" gives commands all files of the machine that the engine runs on")
		}
		if base := path.Base(m.Source); base == "docker.sock" || base == "podman.sock" {
			o.Warnings = append(o.Warnings, "--mount "+value+" gives commands the engine's socket, and with it the machine that the engine runs on")
		}
	case mount.TypeVolume:
		if m.Source != "" && !volumeName.MatchString(m.Source) {
			return flagError("--mount", value, m.Source+" is no volume's name", "letters, digits and _.- for a volume, or type=bind for a directory")
		}
		if strings.HasPrefix(m.Source, volumePrefix) {
			return flagError("--mount", value, "volumes named "+volumePrefix+"… hold the guest agent", "another volume")
		}
	}
	return nil
}

// checkTarget refuses a path in the container where nothing can be mounted.
// Podman would mount over the root, and prepare the new one in the user's own
// directory.
func checkTarget(flag, value, target, write string) error {
	if !path.IsAbs(target) {
		return flagError(flag, value, "the path in the container must be absolute", write)
	}
	switch target = path.Clean(target); {
	case target == "/":
		return flagError(flag, value, "the root is the image's, and nothing can be mounted over it", "another path in the container, such as /workspace")
	case covers(target, guestDir), covers(guestDir, target):
		return flagError(flag, value, guestDir+" is the guest agent's, and nothing can be mounted over it", "another path in the container")
	}
	return nil
}

// absolute is the source of a bind mount for the engine. (For one on another
// machine, a relative path would be no better.) A client's configuration is read
// in whatever directory the client starts programs in, mostly the root: what is
// relative there is not what its user meant, and could be all they have.
func (f Flags) absolute(value, source string) (string, error) {
	if path.IsAbs(source) || filepath.IsAbs(source) {
		return source, nil
	}
	wrong := func(why string) (string, error) {
		return "", flagError("--mount", value, why, "the absolute path of the directory that you mean")
	}
	home, homeErr := os.UserHomeDir()
	if source == "~" || strings.HasPrefix(source, "~/") { // no shell has seen it
		if homeErr != nil {
			return wrong("your home directory is not known")
		}
		return filepath.Join(home, source[1:]), nil
	}
	dir := f.Dir
	if dir == "" {
		current, err := os.Getwd()
		if err != nil {
			return wrong("its source is relative, and the current directory is not known")
		}
		if isRoot(current) {
			return wrong("its source is relative, and this program was started in " + current + ", as desktop clients do")
		}
		dir = current
	}
	abs := filepath.Join(dir, source)
	switch {
	case isRoot(abs):
		return wrong("its source is relative and comes out as " + abs + ", which is the whole machine")
	case homeErr == nil && holds(abs, home):
		return wrong("its source is relative and comes out as " + abs + ", with your whole home directory")
	}
	return abs, nil
}

func isRoot(dir string) bool {
	dir = resolved(dir)
	return filepath.Dir(dir) == dir
}

// holds tells whether dir is below top, or is top.
func holds(top, dir string) bool {
	rel, err := filepath.Rel(resolved(top), resolved(dir))
	return err == nil && filepath.IsLocal(rel)
}

// resolved is dir without symlinks, as far as can be seen.
func resolved(dir string) string {
	if found, err := filepath.EvalSymlinks(dir); err == nil {
		return found
	}
	return filepath.Clean(dir)
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
		if err := checkTarget("--tmpfs", value, dir, "/PATH or /PATH:size=64m,exec"); err != nil {
			return err
		}
		if o.Tmpfs == nil {
			o.Tmpfs = map[string]string{}
		}
		o.Tmpfs[path.Clean(dir)] = options
	}
	return nil
}

// covers tells whether the clean path dir is below, or is, the clean path top.
func covers(top, dir string) bool {
	return dir == top || strings.HasPrefix(dir, strings.TrimSuffix(top, "/")+"/")
}
