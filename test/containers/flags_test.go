package containers

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// TestFlagsMakeTheContainer what they say, seen from inside.
func TestFlagsMakeTheContainer(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		network := e.UniqueName(t, "story-net-")
		e.CLI(t, "network", "create", network)
		t.Cleanup(func() {
			if out, err := e.Command(context.Background(), "network", "rm", network).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
		shared := t.TempDir()
		writeFile(t, filepath.Join(shared, "a"), "of the machine")
		const interfaces = "ls /sys/class/net | tr '\\n' ' '"
		for _, c := range []struct {
			name    string
			flags   []string
			command string
			want    string // of the output, a regular expression for all of it
		}{
			{"no network", []string{"--network=none"}, interfaces, `lo `},
			{"the bridge", []string{"--network=bridge"}, interfaces + "; ip route 2>/dev/null; awk '$2==\"00000000\" {print $1}' /proc/net/route", `eth0 lo (?s:.*)eth0`},
			{"the bridge is the default", nil, interfaces, `eth0 lo `},
			{"memory", []string{"--memory=256m"}, "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null || true", `268435456`},
			{"processors", []string{"--cpus=1.5"}, "cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max 2>/dev/null || true", `150000( 100000)?`},
			{"processes", []string{"--pids-limit=77"}, "cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null || true", `77`},
			{"processes by default", nil, "cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null || true", `2048`},
			{"a user by number", []string{"--user=1000:1000"}, "id -u; id -g; stat -c %u:%g .; touch f && stat -c %u:%g f", "1000\n1000\n1000:1000\n1000:1000"},
			{"a user by name", []string{"--user=www-data"}, "id -un; id -gn; stat -c %U:%G .", "www-data\nwww-data\nwww-data:www-data"},
			{"root without powers", []string{"--cap-drop=ALL"}, "grep CapEff /proc/self/status; chown 1 . 2>&1 || true", `CapEff:\s0000000000000000\n.*[Nn]ot permitted`},
			{"one power less", []string{"--cap-drop=CHOWN"}, "chown 1 . 2>&1 || true; id -u", `.*[Nn]ot permitted\n0`},
			{"a read-only root", []string{"--read-only", "--tmpfs=/workspace", "--tmpfs=/tmp:size=1m"}, "touch f /tmp/f && touch /srv/f 2>&1 || true; df --output=size /tmp | tail -1", `.*Read-only file system\n\s*1024`},
			{"a writable place for programs on a read-only root", []string{"--read-only", "--tmpfs=/workspace:exec"}, "printf '#!/bin/sh\\necho ran' >f; chmod +x f; ./f", `ran`},
			{"a mount in the long form", []string{"--mount=type=bind,src=" + shared + ",dst=/shared,readonly"}, "cat /shared/a; touch /shared/b 2>&1 || true", `of the machine.*Read-only file system`},
			{"a mount in the short form", []string{"--mount=" + shared + ":/shared:ro"}, "cat /shared/a; touch /shared/b 2>&1 || true", `of the machine.*Read-only file system`},
			{"a mount that can be written", []string{"--mount=" + shared + ":/shared"}, "cat /shared/a; touch /shared/" + e.Provider, `of the machine`},
			{"another name for an address", []string{"--add-host=db:10.0.0.5"}, "getent hosts db", `10\.0\.0\.5\s+db`},
			{"a working directory that is missing", []string{"--working-dir=/a/b c/d"}, "pwd; touch f", `/a/b c/d`},
			{"a working directory that its user cannot make", []string{"--working-dir=/srv/a/b", "--user=1000:1000"}, "pwd; touch f; stat -c %u .. .", "/srv/a/b\n1000\n1000"},
			{"variables", []string{"--env=A=b=c d", "--env=EMPTY=", "--env=PATH=/usr/bin:/bin", "--env=TERM=xterm"}, `echo "$A|${EMPTY-unset}|$PATH|$TERM"`, `b=c d\|\|/usr/bin:/bin\|xterm`},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := start(t, e, append([]string{"--name=" + named(t, e)}, c.flags...)...)
				if got := s.run(t, c.command); !regexp.MustCompile(`^(?:` + c.want + `)\s*$`).MatchString(got) {
					t.Errorf("%s printed %q, not %q", c.command, got, c.want)
				}
			})
		}
		t.Run("a network by its name", func(t *testing.T) {
			name := named(t, e)
			s := start(t, e, "--name="+name, "--network="+network)
			if got := s.run(t, interfaces); got != "eth0 lo " && got != "eth0 lo" {
				t.Errorf("the interfaces are %q", got)
			}
			if got := inspected(t, e, name); !slices.ContainsFunc(got.Networks, func(n onNetwork) bool { return n.Name == network && n.Address != "" }) {
				t.Errorf("inspect says %+v", got)
			}
		})
		if _, err := os.Stat(filepath.Join(shared, e.Provider)); err != nil {
			t.Errorf("a file that was made in a mount: %v", err)
		}
	})
}

// onNetwork and description are parts of what workspaces inspect --json prints.
type onNetwork struct{ Name, Address string }

type description struct {
	Ref, Name, Status, Image, User string
	WorkingDir                     string `json:"working_dir"`
	ContainerID                    string `json:"container_id"`
	Networks                       []onNetwork
	Memory                         int64
	CPUs                           float64
	Pids                           int64 `json:"pids_limit"`
	Labels                         map[string]string
}

func inspected(t *testing.T, e *engines.Engine, name string) description {
	t.Helper()
	got := command(t, e, "workspaces", "inspect", refOf(e, name), "--json")
	var d description
	if err := json.Unmarshal([]byte(got.stdout), &d); err != nil || got.code != 0 || got.stderr != "" {
		t.Fatalf("inspect ended with %d (%v) and printed %s%s", got.code, err, got.stdout, got.stderr)
	}
	return d
}

// TestVariablesAreTheConnections: they are for every command of the connection
// that gave them, and nobody else sees them.
func TestVariablesAreTheConnections(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		name := named(t, e)
		first := start(t, e, "--name="+name, "--network=none", "--env=TOKEN=first-secret")
		second := start(t, e, "--name="+name, "--env=TOKEN=second-secret", "--env=PAGER=less")
		attached := start(t, e, "--ref="+refOf(e, name))
		for _, c := range []struct {
			*server
			want string
		}{{first, "first-secret cat"}, {second, "second-secret less"}, {attached, "none cat"}, {first, "first-secret cat"}} {
			if got := c.run(t, `echo "${TOKEN-none} $PAGER"`); got != c.want {
				t.Errorf("the command printed %q, not %q", got, c.want)
			}
		}
		described := e.CLI(t, "inspect", "mcpws-"+name) + command(t, e, "workspaces", "inspect", refOf(e, name), "--json").stdout +
			attached.run(t, "cat /proc/1/environ /proc/1/cmdline | tr '\\0' '\\n'")
		if strings.Contains(described, "secret") {
			t.Errorf("a secret is shown: %s", described)
		}
	})
}
