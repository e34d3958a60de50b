package address

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/docker/cli/opts"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// defaultContext is the context that stands for "no context".
const defaultContext = "default"

// Docker finds the Docker engine as the docker command line does: DOCKER_HOST,
// else the context that DOCKER_CONTEXT names, else currentContext of the
// configuration in DOCKER_CONFIG (or ~/.docker). When none of them is set it
// is the first of the usual sockets that answers: the system's, rootless
// Docker's, Docker Desktop's, Colima's, Rancher Desktop's, OrbStack's, Lima's.
// env has the form of os.Environ.
//
// Nothing is connected to. A configuration that cannot be used is a
// [*backends.Error] that names the file or the setting and what to do.
func Docker(env []string, home string) (Address, error) {
	e := environment{env: env, home: home}
	a := Address{engine: "Docker", apiVersion: e.get("DOCKER_API_VERSION"), wait: defaultWaits}
	dir := e.dockerConfigDir()
	config, err := readConfig(dir)
	if err != nil {
		return Address{}, err
	}
	a.headers = config.Headers

	host := strings.TrimSpace(e.get("DOCKER_HOST"))
	if host != "" {
		a.source = "DOCKER_HOST"
		return a.withHost(e, dir, host)
	}
	name, from := e.get("DOCKER_CONTEXT"), "DOCKER_CONTEXT"
	if name == "" {
		name, from = config.CurrentContext, "currentContext of "+filepath.Join(dir, configName)
	}
	if name != "" && name != defaultContext {
		return a.withContext(e, dir, name, from)
	}
	if e.get("DOCKER_TLS_VERIFY") != "" || e.get("DOCKER_TLS") != "" {
		a.source = "DOCKER_TLS_VERIFY"
		return a.withHost(e, dir, "")
	}
	if name == defaultContext {
		a.source = `the docker context "default" (` + from + ")"
		a.endpoints = []endpoint{a.unix("/var/run/docker.sock")}
		return a, nil
	}
	for _, path := range e.dockerSockets() {
		a.endpoints = append(a.endpoints, a.unix(path))
	}
	return a, nil
}

// Podman finds Podman's service: CONTAINER_HOST (for ssh with the key of
// CONTAINER_SSHKEY), else the first that answers of the user's socket, the
// system's, and those of podman machine on macOS. env has the form of
// os.Environ. Nothing is connected to.
func Podman(env []string, home string) (Address, error) {
	e := environment{env: env, home: home}
	a := Address{engine: "Podman", wait: defaultWaits}
	if host := strings.TrimSpace(e.get("CONTAINER_HOST")); host != "" {
		a.source = "CONTAINER_HOST"
		one, err := a.endpoint(e, host, nil)
		if err != nil {
			return Address{}, err
		}
		a.endpoints = []endpoint{one}
		return a, nil
	}
	for _, path := range e.podmanSockets() {
		a.endpoints = append(a.endpoints, a.unix(path))
	}
	return a, nil
}

// withHost is a with the address that the environment names, and with TLS
// where the environment asks for it. An empty host is the engine's own port.
func (a Address) withHost(e environment, dir, host string) (Address, error) {
	secure := e.get("DOCKER_TLS_VERIFY") != "" || e.get("DOCKER_TLS") != ""
	full, err := opts.ParseHost(secure, host)
	if err != nil {
		return Address{}, backends.Errorf(backends.CodeInvalidArgument, "connect", "",
			"%s is %q, which is not an engine's address (%v): write unix:///path/of.sock, tcp://host:port or ssh://user@host",
			a.source, redacted(host), err)
	}
	var files *tlsFiles
	if secure && strings.HasPrefix(full, "tcp://") {
		if files, err = e.tlsFromEnvironment(dir); err != nil {
			return Address{}, err
		}
	}
	one, err := a.endpoint(e, full, files)
	if err != nil {
		return Address{}, err
	}
	a.endpoints = []endpoint{one}
	return a, nil
}

const configName = "config.json"

// dockerConfig is what is needed here of the docker configuration.
type dockerConfig struct {
	CurrentContext string            `json:"currentContext"`
	Headers        map[string]string `json:"HttpHeaders"`
}

// readConfig reads config.json below dir. Where there is none it is empty.
func readConfig(dir string) (dockerConfig, error) {
	var config dockerConfig
	path := filepath.Join(dir, configName)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return config, nil
	case errors.Is(err, fs.ErrPermission):
		return config, &backends.Error{
			Code: backends.CodePermission, Op: "connect", Path: path, Err: err,
			Message: "this user may not read the docker configuration: make it the user's own (sudo chown), or set DOCKER_CONFIG to another directory",
		}
	case err != nil:
		return config, &backends.Error{
			Code: backends.CodeInvalidArgument, Op: "connect", Path: path, Err: err,
			Message: "the docker configuration cannot be read (" + err.Error() + "): mend it, or set DOCKER_CONFIG to another directory",
		}
	case len(strings.TrimSpace(string(data))) == 0:
		return config, nil // as the docker command line takes it
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return config, &backends.Error{
			Code: backends.CodeInvalidArgument, Op: "connect", Path: path, Err: err,
			Message: "the docker configuration is not valid (" + err.Error() + "): mend or remove it, or set DOCKER_CONFIG to another directory",
		}
	}
	return config, nil
}
