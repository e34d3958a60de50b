package containers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// TestWrongValuesStopTheStart with one line that names the setting where it
// stands and what to write, whether it is a flag, a variable or a key of the file.
func TestWrongValuesStopTheStart(t *testing.T) {
	for _, c := range []struct{ flag, value, mend string }{
		{"network", "a b=c", "none, bridge"},
		{"network", "name=x,alias=y", "none, bridge"},
		{"network", "bridge,none", "none, bridge"},
		{"memory", "lots", "512m"},
		{"memory", "-1", "512m"},
		{"cpus", "two", "1.5"},
		{"cpus", "-1", "1.5"},
		{"pids-limit", "many", "-1"},
		{"pids-limit", "-7", "-1"},
		{"user", "a b", "1000:1000"},
		{"user", "1:2:3", "1000:1000"},
		{"user", "99999999999", "1000:1000"},
		{"cap-drop", "NET RAW", "NET_RAW"},
		{"mount", "nonsense", "type=bind"},
		{"mount", "type=bind,src=/a", "type=bind"},
		{"mount", "type=bind,dst=/a", "type=bind"},
		{"mount", "/a:b", "type=bind"},
		{"mount", "/a:/b:zz", "type=bind"},
		{"mount", "/a:/.mcp-workspace", "another path"},
		{"mount", "/a:/", "another path"},
		{"tmpfs", "run", "/PATH"},
		{"tmpfs", "/", "another path"},
		{"gpus", "count=x", "all"},
		{"add-host", "db", "name:address"},
		{"add-host", "db:nowhere", "name:address"},
		{"working-dir", "relative", "absolute"},
		{"working-dir", "/.mcp-workspace", "use another"},
		{"working-dir", "/a/../.mcp-workspace/x", "use another"},
		{"image", "", "name an image"},
		{"image", "No Such", "python:3.12-slim"},
		{"image", "UPPER:x", "python:3.12-slim"},
		{"runtime", "no-such", "runtime"},
		{"read-only", "perhaps", "true or false"},
		{"env", "NOVALUE", "NAME=value"},
	} {
		t.Run(c.flag+" "+c.value, func(t *testing.T) {
			t.Parallel()
			e := &engines.Engine{Provider: "docker", Host: "unix:///nowhere/docker.sock"}
			base := []string{"--backend=docker"}
			file := filepath.Join(t.TempDir(), "mcp-workspace.yaml")
			value := `"` + c.value + `"`
			switch c.flag {
			case "cap-drop", "mount", "tmpfs", "add-host", "env":
				value = "[" + value + "]"
			case "read-only":
				value = c.value
			}
			writeFile(t, file, "# settings\n"+c.flag+": "+value+"\n")
			variable := "MCP_WORKSPACE_" + strings.ToUpper(strings.ReplaceAll(c.flag, "-", "_"))
			refusal(t, commandWith(t, e.Env(), append(base, "--"+c.flag+"="+c.value)...), "--"+c.flag, c.mend)
			refusal(t, commandWith(t, append(e.Env(), variable+"="+c.value), base...), variable, c.mend)
			refusal(t, commandWith(t, e.Env(), append(base, "--config="+file)...), file+":2: "+c.flag, c.mend)
		})
	}
}

// TestFlagsThatPodmanLacksStopTheStart of it alone.
func TestFlagsThatPodmanLacksStopTheStart(t *testing.T) {
	e := &engines.Engine{Provider: "podman", Host: "unix:///nowhere/podman.sock"}
	for flag, value := range map[string]string{"gpus": "all", "oci-runtime": "runsc", "mount": `type=bind,"src=/a,b",dst=/x`} {
		file := filepath.Join(t.TempDir(), "mcp-workspace.yaml")
		writeFile(t, file, flag+": '"+value+"'\n")
		refusal(t, commandWith(t, e.Env(), "--backend=podman", "--"+flag+"="+value), "--"+flag+" ", "Podman", "--backend docker")
		refusal(t, commandWith(t, e.Env(), "--backend=podman", "--config="+file), file+":1: "+flag+" ", "Podman", "--backend docker")
		if got := commandWith(t, e.Env(), "--backend=docker", "--"+flag+"="+value); got.code != 0 || got.stderr != "" {
			t.Errorf("with Docker it ended with %d: %s", got.code, got.stderr)
		}
	}
}

// TestARelativeMountStopsTheStart of a program that a desktop client starts in
// the root, as this test does: the client's user means another directory.
func TestARelativeMountStopsTheStart(t *testing.T) {
	e := &engines.Engine{Provider: "docker", Host: "unix:///nowhere/docker.sock"}
	for _, value := range []string{".:/workspace", "./project:/workspace", "type=bind,src=.,dst=/workspace", "type=bind,src=project,dst=/workspace"} {
		refusal(t, commandWith(t, e.Env(), "--backend=docker", "--mount="+value), "--mount", "was started in /", "absolute path")
		refusal(t, commandWith(t, append(e.Env(), "MCP_WORKSPACE_MOUNT="+value), "--backend=docker"), "MCP_WORKSPACE_MOUNT", "was started in /", "absolute path")
	}
}

// TestSettingsThatOnlyTheEngineCanJudge are an answer of the call, which names
// the flag.
func TestSettingsThatOnlyTheEngineCanJudge(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		type fault struct {
			name  string
			flags []string
			code  string
			says  []string
		}
		faults := []fault{
			{"an image that there is not", []string{"--image=127.0.0.1:1/none:1"}, "unavailable", []string{"127.0.0.1:1/none:1"}},
			{"a network that there is not", []string{"--network=no-such-network"}, "invalid_argument", []string{"no-such-network", "--network"}},
			{"another's network that there is not", []string{"--network=container:nosuch"}, "invalid_argument", []string{"nosuch", "--network"}},
			{"an option of tmpfs that there is not", []string{"--tmpfs=/x:bogus"}, "invalid_argument", []string{"bogus", "--tmpfs"}},
			{"a size of tmpfs that is none", []string{"--tmpfs=/x:size=abc"}, "invalid_argument", []string{"size=abc", "--tmpfs"}},
			{"a mount where none can be", []string{"--mount=/tmp:/proc"}, "invalid_argument", []string{"/proc", "--mount"}},
			{"a user that there is not", []string{"--user=nosuchuser"}, "invalid_argument", []string{"nosuchuser", "--user"}},
			{"a directory that there is not", []string{"--mount=type=bind,src=/no/such/dir,dst=/x"}, "invalid_argument", []string{"/no/such/dir", "--mount"}},
			{"a capability that there is not", []string{"--cap-drop=NOSUCH"}, "invalid_argument", []string{"--cap-drop"}},
			{"a working directory that is a file", []string{"--working-dir=/etc/passwd"}, "not_directory", []string{"/etc/passwd", "--working-dir"}},
			{"a working directory below a file", []string{"--working-dir=/etc/passwd/x"}, "not_directory", []string{"/etc/passwd"}},
			{"a working directory that nobody can make", []string{"--working-dir=/proc/x/y"}, "", []string{"/proc/x/y"}},
			{"a working directory that is missing on a read-only root", []string{"--read-only"}, "read_only", []string{"/workspace", "--tmpfs /workspace"}},
			{"a working directory that its user may not enter", []string{"--working-dir=/root", "--user=1000:1000"}, "permission_denied", []string{"/root", "--working-dir", "--user"}},
			{"a file for the guest that is none", []string{"--guest=/etc/hostname"}, "invalid_argument", []string{"/etc/hostname"}},
		}
		if e.Provider == "docker" { // Podman lacks the flag
			faults = append(faults, fault{"a runtime that there is not", []string{"--oci-runtime=nosuch"}, "invalid_argument", []string{"nosuch", "--oci-runtime"}})
		}
		for _, c := range faults {
			t.Run(c.name, func(t *testing.T) {
				name := named(t, e)
				s := start(t, e, append([]string{"--name=" + name}, c.flags...)...)
				for range 2 {
					got := s.call(t, "ls", nil)
					if !got.failed || c.code != "" && got.code != c.code || got.code == "internal" {
						t.Errorf("answered with the code %q: %s", got.code, got.text)
					}
					for _, text := range c.says {
						if !strings.Contains(got.text, text) {
							t.Errorf("no %q in: %s", text, got.text)
						}
					}
				}
			})
		}
	})
}

// TestSettingsOfTheEnvironmentAndTheFile work as flags do, the stronger of two
// counting.
func TestSettingsOfTheEnvironmentAndTheFile(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "a"), "beside the file")
		for _, name := range []string{"sub", "with space"} {
			if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, name, "a"), " "+name)
		}
		file := filepath.Join(dir, "settings.yaml")
		writeFile(t, file, `
image: `+e.Debian+`
network: none
memory: 64m
pids-limit: 99
user: "1000:1000"
read-only: true
cap-drop: [NET_RAW, CHOWN]
tmpfs: [/tmp, "/workspace:mode=777"]
mount: [".:/here:ro", "type=bind,src=sub,dst=/sub", 'type=bind,"src=./with space",dst=/spaced']
add-host: ["db:10.0.0.5", "web:10.0.0.6"]
env: {A: from file, B: from file}
`)
		name := named(t, e)
		s := launch{engine: e, flags: []string{"--config=" + file, "--name=" + name, "--memory=128m"},
			env: []string{"MCP_WORKSPACE_MEMORY=96m", "MCP_WORKSPACE_USER=1001:1001", "MCP_WORKSPACE_ENV=B=from the environment"}}.start(t)
		want := "1001 B=from the environment\nbeside the file sub with space1"
		if got := s.run(t, `echo "$(id -u) A=$A B=$B" | sed 's/A= //'; cat /here/a /sub/a /spaced/a; cat /proc/self/mountinfo | grep -c ' /here '`); got != want {
			t.Errorf("the command printed %q, not %q", got, want)
		}
		if got := s.run(t, "getent hosts web; ls /sys/class/net; touch a"); !strings.Contains(got, "10.0.0.6") || !strings.HasSuffix(got, "lo") {
			t.Errorf("the command printed %q", got)
		}
		if got := inspected(t, e, name); got.Memory != 128<<20 || got.Pids != 99 || got.User != "1001:1001" {
			t.Errorf("inspect says %+v", got)
		}
	})
}
