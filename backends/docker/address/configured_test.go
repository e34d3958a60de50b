package address_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker/address"
)

// write makes a file and the directories above it, and returns its path.
func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDockerIsWhereTheEnvironmentSays(t *testing.T) {
	for _, c := range []struct {
		name   string
		env    []string
		config string
		want   string
		source string
	}{
		{"a socket", []string{"DOCKER_HOST=unix:///x/y.sock"}, "", "unix:///x/y.sock", "DOCKER_HOST"},
		{"an empty socket path is the default one", []string{"DOCKER_HOST=unix://"}, "", "unix:///var/run/docker.sock", "DOCKER_HOST"},
		{"spaces around it do not count", []string{"DOCKER_HOST= unix:///x/y.sock "}, "", "unix:///x/y.sock", "DOCKER_HOST"},
		{"tcp", []string{"DOCKER_HOST=tcp://box:2375"}, "", "tcp://box:2375", "DOCKER_HOST"},
		{"tcp without a port", []string{"DOCKER_HOST=tcp://box"}, "", "tcp://box:2375", "DOCKER_HOST"},
		{"no scheme is tcp", []string{"DOCKER_HOST=10.1.2.3:4000"}, "", "tcp://10.1.2.3:4000", "DOCKER_HOST"},
		{"IPv6", []string{"DOCKER_HOST=tcp://[::1]:2375"}, "", "tcp://[::1]:2375", "DOCKER_HOST"},
		{"ssh", []string{"DOCKER_HOST=ssh://dev@build-box"}, "", "ssh://dev@build-box", "DOCKER_HOST"},
		{"the host beats a context that is not there", []string{"DOCKER_HOST=unix:///x.sock", "DOCKER_CONTEXT=nope"}, "", "unix:///x.sock", "DOCKER_HOST"},
		{"the host beats the configuration", []string{"DOCKER_HOST=unix:///x.sock"}, `{"currentContext":"nope"}`, "unix:///x.sock", "DOCKER_HOST"},
		{"an empty host is none", []string{"DOCKER_HOST=", "DOCKER_CONTEXT=default"}, "", "unix:///var/run/docker.sock", `the docker context "default" (DOCKER_CONTEXT)`},
		{"the default context beats the configuration", []string{"DOCKER_CONTEXT=default"}, `{"currentContext":"nope"}`, "unix:///var/run/docker.sock", `the docker context "default" (DOCKER_CONTEXT)`},
		{"the last of two settings counts", []string{"DOCKER_HOST=unix:///a.sock", "DOCKER_HOST=unix:///b.sock"}, "", "unix:///b.sock", "DOCKER_HOST"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			if c.config != "" {
				write(t, filepath.Join(home, ".docker", "config.json"), c.config)
			}
			a, err := address.Docker(c.env, home)
			if err != nil {
				t.Fatal(err)
			}
			if a.String() != c.want || a.Source() != c.source {
				t.Errorf("got %q from %q, want %q from %q", a, a.Source(), c.want, c.source)
			}
		})
	}
}

func TestWithoutASettingTheUsualSocketsAreTried(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".docker", "config.json"), `{"auths":{}}`)
	a, err := address.Docker([]string{"XDG_RUNTIME_DIR=/run/me"}, home)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(a.String(), ", ")
	want := []string{
		"unix:///var/run/docker.sock",
		"unix:///run/me/docker.sock",
		"unix:///run/user/" + strconv.Itoa(os.Getuid()) + "/docker.sock",
		"unix://" + home + "/.docker/run/docker.sock",
		"unix://" + home + "/.docker/desktop/docker.sock",
		"unix://" + home + "/.colima/default/docker.sock",
		"unix://" + home + "/.colima/docker.sock",
		"unix://" + home + "/.rd/docker.sock",
		"unix://" + home + "/.orbstack/run/docker.sock",
		"unix://" + home + "/.lima/docker/sock/docker.sock",
	}
	if !slices.Equal(got, want) || a.Source() != "" {
		t.Errorf("got %q from %q, want %q", got, a.Source(), want)
	}

	// No home and no environment, as a desktop client may start us.
	a, err = address.Docker(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(a.String(), ", "); !slices.Equal(got, []string{want[0], want[2]}) {
		t.Errorf("without a home: %q", got)
	}
}

func TestPodmanIsWhereTheEnvironmentSaysOrInItsUsualPlaces(t *testing.T) {
	a, err := address.Podman([]string{"CONTAINER_HOST=ssh://core@localhost:53000/run/user/501/podman/podman.sock", "DOCKER_HOST=unix:///no"}, "/h")
	if err != nil {
		t.Fatal(err)
	}
	if a.String() != "ssh://core@localhost:53000/run/user/501/podman/podman.sock" || a.Source() != "CONTAINER_HOST" {
		t.Errorf("got %q from %q", a, a.Source())
	}
	a, err = address.Podman([]string{"XDG_RUNTIME_DIR=/run/me", "TMPDIR=/var/folders/T/"}, "/h")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(a.String(), ", ")
	for i, want := range []string{
		"unix:///run/me/podman/podman.sock",
		"unix:///run/user/" + strconv.Itoa(os.Getuid()) + "/podman/podman.sock",
		"unix:///run/podman/podman.sock",
		"unix:///var/folders/T/podman/podman-machine-default-api.sock",
		"unix:///h/.local/share/containers/podman/machine/podman.sock",
	} {
		if got[i] != want {
			t.Errorf("place %d is %q, want %q", i, got[i], want)
		}
	}
}

func TestWhatCannotBeUsedIsNamedWithTheMend(t *testing.T) {
	for _, c := range []struct {
		name  string
		env   []string
		files map[string]string
		code  backends.Code
		says  []string
	}{
		{"a broken configuration", nil, map[string]string{"config.json": "{nope"}, backends.CodeInvalidArgument, []string{"HOME/.docker/config.json", "not valid", "DOCKER_CONFIG"}},
		{"a configuration that is a directory", nil, map[string]string{"config.json/x": ""}, backends.CodeInvalidArgument, []string{"HOME/.docker/config.json", "cannot be read"}},
		{"an unknown context in the environment", []string{"DOCKER_CONTEXT=gone"}, nil, backends.CodeInvalidArgument, []string{`no docker context "gone"`, "DOCKER_CONTEXT names", "docker context ls"}},
		{"an unknown context in the configuration", nil, map[string]string{"config.json": `{"currentContext":"gone"}`}, backends.CodeInvalidArgument, []string{`no docker context "gone"`, "HOME/.docker/config.json", "docker context use"}},
		{"a broken context", []string{"DOCKER_CONTEXT=c"}, map[string]string{"contexts/meta/2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6/meta.json": "{"}, backends.CodeInvalidArgument, []string{"meta.json", `the docker context "c" (DOCKER_CONTEXT)`}},
		{"a context without an engine", []string{"DOCKER_CONTEXT=c"}, map[string]string{"contexts/meta/2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6/meta.json": `{"Name":"c","Endpoints":{"kubernetes":{}}}`}, backends.CodeInvalidArgument, []string{"meta.json", "cannot find docker endpoint"}},
		{"a named pipe", []string{"DOCKER_HOST=npipe:////./pipe/docker_engine"}, nil, backends.CodeUnsupported, []string{"DOCKER_HOST", "WSL"}},
		{"a scheme that is none", []string{"DOCKER_HOST=gopher://x"}, nil, backends.CodeInvalidArgument, []string{"gopher://x", "ssh://user@host"}},
		{"a socket path that is not absolute", []string{"DOCKER_HOST=unix://run/x.sock"}, nil, backends.CodeInvalidArgument, []string{"three slashes"}},
		{"a password for ssh", []string{"DOCKER_HOST=ssh://me:secret@box"}, nil, backends.CodeInvalidArgument, []string{"without a password"}},
		{"TLS without certificates", []string{"DOCKER_HOST=tcp://box:2376", "DOCKER_TLS_VERIFY=1"}, nil, backends.CodeInvalidArgument, []string{"HOME/.docker/ca.pem", "DOCKER_CERT_PATH"}},
		{"a certificate that is none", []string{"DOCKER_HOST=tcp://box:2376", "DOCKER_TLS_VERIFY=1"}, map[string]string{"ca.pem": "x"}, backends.CodeInvalidArgument, []string{"HOME/.docker", "ca.pem"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			for name, content := range c.files {
				write(t, filepath.Join(home, ".docker", name), content)
			}
			_, err := address.Docker(c.env, home)
			if backends.CodeOf(err) != c.code {
				t.Fatalf("code %q (%v), want %q", backends.CodeOf(err), err, c.code)
			}
			for _, part := range c.says {
				if part = strings.ReplaceAll(part, "HOME", home); !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in: %v", part, err)
				}
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("a secret is in: %v", err)
			}
		})
	}
}

func TestProgramsAreFoundWithoutAPath(t *testing.T) {
	home := t.TempDir()
	mine := write(t, filepath.Join(home, ".docker", "bin", "docker-credential-x"), "#!/bin/sh\n")
	if got := address.Program("docker-credential-x", nil, home); got != "" {
		t.Errorf("a file that cannot be run was found: %s", got)
	}
	if err := os.Chmod(mine, 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	if got := address.Program("docker-credential-x", nil, home); got != mine {
		t.Errorf("got %q, want %q", got, mine)
	}
	if got := address.Program("sh", []string{"PATH="}, ""); got == "" {
		t.Error("sh was not found without a PATH")
	}
	other := write(t, filepath.Join(t.TempDir(), "sh"), "#!/bin/sh\n")
	if err := os.Chmod(other, 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	if got := address.Program("sh", []string{"PATH=.:" + filepath.Dir(other)}, ""); got != other {
		t.Errorf("PATH does not come first: %q", got)
	}
	t.Chdir(filepath.Dir(mine))
	for _, name := range []string{"", "../bin/docker-credential-x", "/bin/sh"} {
		if got := address.Program(name, []string{"PATH=."}, ""); got != "" {
			t.Errorf("Program(%q) is %q", name, got)
		}
	}
	if got := address.Program("docker-credential-x", []string{"PATH=."}, ""); got != "" {
		t.Errorf("found in the current directory: %s", got)
	}
}
