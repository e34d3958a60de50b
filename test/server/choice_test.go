package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// chosen are the ways to choose what a new workspace is made of.
func chosen(c caller, what, value, way string) caller {
	if way == "header" {
		return c.withHeader("Mcp-Workspace-"+strings.ToUpper(what[:1])+what[1:], value)
	}
	return c.withMeta("mcp-workspace/"+what, value)
}

func TestAClientChoosesAnImageThatItsEntryAllows(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, e *engines.Engine) {
		may := newPerson(uniquely("may"), fmt.Sprintf("images: [%q, %q]", e.Debian, e.Busybox), "runtimes: [tools]")
		not := newPerson(uniquely("not"))
		base := onContainers(t, e)
		config := configOf(base+fmt.Sprintf("memory: 64m\npids-limit: 99\nruntimes:\n  tools: {image: %q}\n  others: {image: %q}\n", e.Debian, e.Debian), may, not)
		p := start(t, options{engine: e, config: config})
		n := 0
		fresh := func(c caller) caller { n++; return c.withHeader("Mcp-Workspace-Name", fmt.Sprintf("n%d", n)) }

		for _, way := range []string{"header", "_meta"} {
			for what, value := range map[string]string{"image": e.Debian, "runtime": "tools"} {
				t.Run("allowed "+what+" by "+way, func(t *testing.T) {
					c := fresh(p.as(may))
					made := chosen(c, what, value, way).write(t, "a.txt", "kept\n")
					if info := inspect(t, e, made.ref); info.Config.Image != e.Debian {
						t.Errorf("it is made of %s", info.Config.Image)
					}
					if got := c.must(t, "read_file", args{"path": "a.txt"}); got.ref != made.ref {
						t.Errorf("without the choice it is another one: %v", got)
					}
					if what == "image" {
						other := chosen(c, "image", e.Busybox, way).call(t, "ls", nil)
						if other.code != "invalid_argument" || !strings.Contains(other.text, e.Debian) {
							t.Errorf("with another image than it has: %v", other)
						}
					}
				})
			}
			for name, c := range map[string]struct{ what, value string }{
				"not in the list":         {"image", e.Scratch},
				"a tag more":              {"image", e.Busybox + "-x"},
				"without its tag":         {"image", e.Busybox[:strings.LastIndexByte(e.Busybox, ':')]},
				"with a space":            {"image", e.Busybox + " "},
				"in upper case":           {"image", strings.ToUpper(e.Busybox)},
				"by id":                   {"image", imageID(t, e)},
				"an option":               {"image", "--privileged"},
				"a runtime of others":     {"runtime", "others"},
				"a runtime there is not":  {"runtime", "no-such"},
				"a runtime as an image":   {"image", "tools"},
				"an image as a runtime":   {"runtime", e.Debian},
				"a path":                  {"runtime", "../tools"},
				"a runtime of the engine": {"runtime", "runsc"},
			} {
				for who, person := range map[string]person{"may choose": may, "may not": not} {
					if way == "header" && strings.TrimSpace(c.value) != c.value {
						continue // space around a header's value is no part of it
					}
					t.Run(who+", "+name+" by "+way, func(t *testing.T) {
						before := len(ofOwner(t, e, person.name))
						got := chosen(fresh(p.as(person)), c.what, c.value, way).call(t, "ls", nil)
						if !got.failed || got.code != "invalid_argument" && got.code != "permission_denied" {
							t.Errorf("it is answered with %v", got)
						}
						if after := len(ofOwner(t, e, person.name)); after != before {
							t.Errorf("there are %d containers more", after-before)
						}
					})
				}
			}
			t.Run("an image in the list of another by "+way, func(t *testing.T) {
				if got := chosen(fresh(p.as(not)), "image", e.Debian, way).call(t, "ls", nil); !got.failed {
					t.Errorf("it is answered with %v", got)
				}
			})
			t.Run("an image and a runtime by "+way, func(t *testing.T) {
				if got := chosen(chosen(fresh(p.as(may)), "image", e.Busybox, way), "runtime", "tools", way).call(t, "ls", nil); got.code != "invalid_argument" {
					t.Errorf("it is answered with %v", got)
				}
			})
		}
		t.Run("nothing else", func(t *testing.T) { nothingElse(t, e, p, may) })
	})
}

func imageID(t *testing.T, e *engines.Engine) string {
	t.Helper()
	info, err := e.Client(t).ImageInspect(t.Context(), e.Busybox)
	if err != nil {
		t.Fatal(err)
	}
	return info.ID
}

// nothingElse of a container is for a client to choose.
func nothingElse(t *testing.T, e *engines.Engine, p *program, who person) {
	c := p.as(who).withHeader("Mcp-Workspace-Name", "greedy")
	wanted := map[string]any{
		"mount": "type=bind,src=/,dst=/host", "mounts": []string{"/:/host"}, "volumes": []string{"/:/host"}, "binds": "/:/host",
		"network": "host", "user": "0:0", "memory": "0", "cpus": "64", "pids-limit": 0, "privileged": true, "cap-add": "ALL", "cap-drop": "", "env": "LD_PRELOAD=/x",
		"gpus": "all", "oci-runtime": "runsc", "add-host": "x:1.2.3.4", "tmpfs": "/x", "working-dir": "/", "owner": "alice", "guest": "/bin/sh", "read-only": false,
		"limits": map[string]any{"memory": 0}, "spec": map[string]any{"image": e.Debian}, "principal": "alice", "session": "x", "backend": "local",
	}
	for name, value := range wanted {
		c = c.withHeader("Mcp-Workspace-"+name, fmt.Sprint(value)).withMeta("mcp-workspace/"+name, value)
	}
	made := c.call(t, "execute", args{"command": "id -u; pwd"})
	if made.failed {
		t.Fatalf("what is unknown in _meta and headers is not ignored: %v", made)
	}
	info := inspect(t, e, made.ref)
	host := info.HostConfig
	if host.NetworkMode != "none" || host.Memory != 64<<20 || host.Privileged || len(host.CapAdd) > 0 || len(host.Devices)+len(host.DeviceRequests) > 0 || len(host.ExtraHosts) > 0 || host.PidMode.IsHost() || host.IpcMode.IsHost() {
		t.Errorf("it has %+v", host)
	}
	if host.PidsLimit == nil || *host.PidsLimit != 99 {
		t.Errorf("its limit of processes is %v", host.PidsLimit)
	}
	for _, m := range info.Mounts {
		if m.Destination != "/.mcp-workspace" {
			t.Errorf("there is a mount at %s of %s", m.Destination, m.Source)
		}
	}
	if info.Config.Image != e.Busybox || slices.ContainsFunc(info.Config.Env, func(v string) bool { return strings.HasPrefix(v, "LD_PRELOAD") }) {
		t.Errorf("it is made of %s with %q", info.Config.Image, info.Config.Env)
	}
	for name, value := range wanted {
		got := p.as(who).withHeader("Mcp-Workspace-Name", "greedy").call(t, "ls", args{name: value})
		if got.code != "invalid_argument" || !strings.Contains(got.text, name) {
			t.Errorf("the argument %q is answered with %v", name, got)
		}
	}
}
