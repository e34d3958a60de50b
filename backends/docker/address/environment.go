package address

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// environment is what a user's settings are read from.
type environment struct {
	env  []string // as os.Environ has it
	home string
}

// get returns the value of a variable, "" where it is not set. The last of two
// settings counts, as in a shell.
func (e environment) get(name string) string {
	for _, entry := range slices.Backward(e.env) {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// dockerConfigDir is where config.json and contexts/ are.
func (e environment) dockerConfigDir() string {
	if dir := e.get("DOCKER_CONFIG"); dir != "" {
		return dir
	}
	return e.inHome(".docker")
}

// inHome is a path below the home directory, "" where there is no home.
func (e environment) inHome(elements ...string) string {
	if e.home == "" {
		return ""
	}
	return filepath.Join(append([]string{e.home}, elements...)...)
}

// runtimeDirs are the places of the user's own sockets. Desktop programs may
// start this one without XDG_RUNTIME_DIR, so systemd's place is added.
func (e environment) runtimeDirs() []string {
	return unique(e.get("XDG_RUNTIME_DIR"), "/run/user/"+strconv.Itoa(os.Getuid()))
}

// dockerSockets are the usual places of Docker's socket, the docker command
// line's own default first.
func (e environment) dockerSockets() []string {
	sockets := []string{"/var/run/docker.sock"}
	for _, dir := range e.runtimeDirs() {
		sockets = append(sockets, filepath.Join(dir, "docker.sock"))
	}
	return unique(append(sockets,
		e.inHome(".docker", "run", "docker.sock"),
		e.inHome(".docker", "desktop", "docker.sock"),
		e.inHome(".colima", "default", "docker.sock"),
		e.inHome(".colima", "docker.sock"),
		e.inHome(".rd", "docker.sock"),
		e.inHome(".orbstack", "run", "docker.sock"),
		e.inHome(".lima", "docker", "sock", "docker.sock"),
	)...)
}

// podmanSockets are the usual places of Podman's socket: the user's, the
// system's, then those of podman machine in the layouts of its versions.
func (e environment) podmanSockets() []string {
	var sockets []string
	for _, dir := range e.runtimeDirs() {
		sockets = append(sockets, filepath.Join(dir, "podman", "podman.sock"))
	}
	sockets = append(sockets, "/run/podman/podman.sock")
	if dir := e.get("TMPDIR"); dir != "" {
		sockets = append(sockets, filepath.Join(dir, "podman", "podman-machine-default-api.sock"))
	}
	machine := []string{".local", "share", "containers", "podman", "machine"}
	for _, below := range []string{"", "podman-machine-default", "applehv", "libkrun", "qemu"} {
		sockets = append(sockets, e.inHome(append(slices.Clone(machine), below, "podman.sock")...))
	}
	return unique(sockets...)
}

// unique leaves out what is empty and what was there before.
func unique(values ...string) []string {
	var kept []string
	for _, value := range values {
		if value != "" && !slices.Contains(kept, value) {
			kept = append(kept, value)
		}
	}
	return kept
}
