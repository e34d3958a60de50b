package docker_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/mount"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
)

func TestFlagsAreReadAsDockerRunReadsThem(t *testing.T) {
	for name, c := range map[string]struct {
		flags docker.Flags
		got   func(docker.Options) any
		want  any
	}{
		"nothing":                    {docker.Flags{}, func(o docker.Options) any { return o }, docker.Options{}},
		"bytes":                      {docker.Flags{Memory: "1048576"}, func(o docker.Options) any { return o.Memory }, int64(1 << 20)},
		"megabytes":                  {docker.Flags{Memory: "512m"}, func(o docker.Options) any { return o.Memory }, int64(512 << 20)},
		"gigabytes in capitals":      {docker.Flags{Memory: "2G"}, func(o docker.Options) any { return o.Memory }, int64(2 << 30)},
		"no limit of memory":         {docker.Flags{Memory: "0"}, func(o docker.Options) any { return o.Memory }, int64(0)},
		"no limit of processors":     {docker.Flags{CPUs: "0"}, func(o docker.Options) any { return o.NanoCPUs }, int64(0)},
		"part of a processor":        {docker.Flags{CPUs: "1.5"}, func(o docker.Options) any { return o.NanoCPUs }, int64(1.5e9)},
		"a limit of processes":       {docker.Flags{PidsLimit: "100"}, func(o docker.Options) any { return *o.PidsLimit }, int64(100)},
		"no limit of processes":      {docker.Flags{PidsLimit: "-1"}, func(o docker.Options) any { return *o.PidsLimit }, int64(-1)},
		"0 is no limit either":       {docker.Flags{PidsLimit: "0"}, func(o docker.Options) any { return *o.PidsLimit }, int64(-1)},
		"capabilities":               {docker.Flags{CapDrop: []string{"net_raw", "CAP_CHOWN"}}, func(o docker.Options) any { return o.CapDrop }, []string{"CAP_CHOWN", "CAP_NET_RAW"}},
		"capabilities in one flag":   {docker.Flags{CapDrop: []string{"net_raw,chown"}}, func(o docker.Options) any { return o.CapDrop }, []string{"CAP_CHOWN", "CAP_NET_RAW"}},
		"all capabilities":           {docker.Flags{CapDrop: []string{"all", "NET_RAW"}}, func(o docker.Options) any { return o.CapDrop }, []string{"ALL"}},
		"a host's address":           {docker.Flags{AddHosts: []string{"db:10.0.0.5", "v6=[::1]", "me:host-gateway"}}, func(o docker.Options) any { return o.AddHosts }, []string{"db:10.0.0.5", "v6:::1", "me:host-gateway"}},
		"a network":                  {docker.Flags{Network: "my_net-1"}, func(o docker.Options) any { return o.Network }, "my_net-1"},
		"a network in the long form": {docker.Flags{Network: "name=bridge"}, func(o docker.Options) any { return o.Network }, "bridge"},
		"another's network":          {docker.Flags{Network: "container:some_one.1"}, func(o docker.Options) any { return o.Network }, "container:some_one.1"},
		"the last of two tmpfs":      {docker.Flags{Tmpfs: []string{"/run/", "/run:exec"}}, func(o docker.Options) any { return o.Tmpfs }, map[string]string{"/run": "exec"}},
		"tmpfs":                      {docker.Flags{Tmpfs: []string{"/run", "/tmp:size=64m,exec"}}, func(o docker.Options) any { return o.Tmpfs }, map[string]string{"/run": "", "/tmp": "size=64m,exec"}},
		"all GPUs":                   {docker.Flags{GPUs: "all"}, func(o docker.Options) any { return o.GPUs[0].Count }, -1},
		"certain GPUs":               {docker.Flags{GPUs: `"device=0,1"`}, func(o docker.Options) any { return o.GPUs[0].DeviceIDs }, []string{"0", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := c.flags.Parse()
			if err != nil {
				t.Fatal(err)
			}
			if got := c.got(o); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
		})
	}
}

func TestMountsAreReadAsDockerRunReadsThem(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	bind := func(source string, readOnly bool) mount.Mount {
		return mount.Mount{Type: mount.TypeBind, Source: source, Target: "/dst", ReadOnly: readOnly}
	}
	for value, want := range map[string]mount.Mount{
		"type=bind,src=/src,dst=/dst":                 bind("/src", false),
		"type=bind,source=/src,target=/dst,readonly":  bind("/src", true),
		"src=/src,destination=/dst,ro=true,type=bind": bind("/src", true),
		"readonly,type=bind,src=/src,dst=/dst":        bind("/src", true),
		`type=bind,"src=/a,b",dst=/dst`:               bind("/a,b", false),
		"type=bind,src=sub/dir,dst=/dst":              bind(filepath.Join(dir, "sub/dir"), false),
		"type=bind,src=.,dst=/dst":                    bind(dir, false),
		`type=bind,"src=./a,b",dst=/dst`:              bind(filepath.Join(dir, "a,b"), false),
		"type=bind,src=~/sub,dst=/dst":                bind(filepath.Join(home, "sub"), false),
		"/src:/dst":                                   bind("/src", false),
		"/src:/dst:ro":                                bind("/src", true),
		"/src:/dst:rw":                                bind("/src", false),
		"./sub:/dst":                                  bind(filepath.Join(dir, "sub"), false),
		"../sub:/dst":                                 bind(filepath.Join(dir, "../sub"), false),
		"~/sub:/dst":                                  bind(filepath.Join(home, "sub"), false),
		"/with=sign:/dst":                             bind("/with=sign", false),
		"name:/dst":                                   {Type: mount.TypeVolume, Source: "name", Target: "/dst"},
		"name:/dst:ro":                                {Type: mount.TypeVolume, Source: "name", Target: "/dst", ReadOnly: true},
		"/dst":                                        {Type: mount.TypeVolume, Target: "/dst"},
		"type=volume,src=name,dst=/dst":               {Type: mount.TypeVolume, Source: "name", Target: "/dst"},
		"src=name,dst=/dst":                           {Type: mount.TypeVolume, Source: "name", Target: "/dst"},
		"type=tmpfs,dst=/dst,tmpfs-size=1m":           {Type: mount.TypeTmpfs, Target: "/dst", TmpfsOptions: &mount.TmpfsOptions{SizeBytes: 1 << 20}},
		"name:/dst:nocopy":                            {Type: mount.TypeVolume, Source: "name", Target: "/dst", VolumeOptions: &mount.VolumeOptions{NoCopy: true}},
		"/src:/dst:rslave":                            {Type: mount.TypeBind, Source: "/src", Target: "/dst", BindOptions: &mount.BindOptions{Propagation: mount.PropagationRSlave}},
		"type=bind,src=/s,dst=/dst,bind-propagation=rslave": {Type: mount.TypeBind, Source: "/s", Target: "/dst", BindOptions: &mount.BindOptions{Propagation: mount.PropagationRSlave}},
	} {
		t.Run(value, func(t *testing.T) {
			o, err := docker.Flags{Mounts: []string{value}}.Parse()
			if err != nil {
				t.Fatal(err)
			}
			if len(o.Mounts) != 1 || !reflect.DeepEqual(o.Mounts[0], want) {
				t.Errorf("got %+v, want %+v", o.Mounts, want)
			}
		})
	}
	o, err := docker.Flags{Mounts: []string{"./sub:/dst:ro,Z"}}.Parse()
	if err != nil || len(o.Mounts) != 0 || len(o.Binds) != 1 || o.Binds[0] != filepath.Join(dir, "sub")+":/dst:ro,Z" {
		t.Errorf("with Z: %+v, %v", o, err)
	}
}

func TestFlagsThatCannotBeAreRefusedByNameValueAndMend(t *testing.T) {
	for _, c := range []struct {
		flag  string
		flags docker.Flags
		value string
		mend  string
	}{
		{"--memory", docker.Flags{Memory: "much"}, "much", "512m"},
		{"--memory", docker.Flags{Memory: "-1"}, "-1", "512m"},
		{"--cpus", docker.Flags{CPUs: "two"}, "two", "1.5"},
		{"--cpus", docker.Flags{CPUs: "-1"}, "-1", "1.5"},
		{"--cpus", docker.Flags{CPUs: "0.0001"}, "0.0001", "0.01"},
		{"--pids-limit", docker.Flags{PidsLimit: "many"}, "many", "-1"},
		{"--pids-limit", docker.Flags{PidsLimit: "-2"}, "-2", "-1"},
		{"--pids-limit", docker.Flags{PidsLimit: "1"}, "agent", "32 or more"},
		{"--pids-limit", docker.Flags{PidsLimit: "31"}, "agent", "32 or more"},
		{"--user", docker.Flags{User: "a:b:c"}, "a:b:c", "1000:1000"},
		{"--user", docker.Flags{User: "a b"}, "a b", "host"},
		{"--user", docker.Flags{User: "99999999999"}, "99999999999", "1000:1000"},
		{"--user", docker.Flags{User: "www-data:2147483648"}, "2147483648", "1000:1000"},
		{"--cap-drop", docker.Flags{CapDrop: []string{"NET RAW"}}, "NET RAW", "NET_RAW"},
		{"--cap-drop", docker.Flags{CapDrop: []string{""}}, "", "NET_RAW"},
		{"--network", docker.Flags{Network: "name=x,alias=y"}, "name=x,alias=y", "bridge"},
		{"--network", docker.Flags{Network: "bridge,none"}, "bridge,none", "bridge"},
		{"--network", docker.Flags{Network: "name="}, "name=", "bridge"},
		{"--gpus", docker.Flags{GPUs: "some"}, "some", "all"},
		{"--add-host", docker.Flags{AddHosts: []string{"db"}}, "db", "10.0.0.5"},
		{"--add-host", docker.Flags{AddHosts: []string{"db:nowhere"}}, "db:nowhere", "10.0.0.5"},
		{"--tmpfs", docker.Flags{Tmpfs: []string{"run"}}, "run", "/PATH"},
		{"--tmpfs", docker.Flags{Tmpfs: []string{"/.mcp-workspace"}}, "/.mcp-workspace", "another"},
		{"--tmpfs", docker.Flags{Tmpfs: []string{"/:exec"}}, "/:exec", "/workspace"},
		{"--mount", docker.Flags{Mounts: []string{"type=bind,src=/x"}}, "type=bind,src=/x", "dst=/PATH"},
		{"--mount", docker.Flags{Mounts: []string{"type=bind,dst=/x"}}, "type=bind,dst=/x", "src=DIR"},
		{"--mount", docker.Flags{Mounts: []string{"type=cluster,src=a,dst=/x"}}, "type=cluster", "type=volume"},
		{"--mount", docker.Flags{Mounts: []string{"type=bind,src=/a,dst=/x,sorce=b"}}, "sorce", "src=DIR"},
		{"--mount", docker.Flags{Mounts: []string{"type=bind,src=/a,dst=x"}}, "dst=x", "absolute"},
		{"--mount", docker.Flags{Mounts: []string{"/a:/b:/c:ro"}}, "/a:/b:/c:ro", "DIR:/PATH"},
		{"--mount", docker.Flags{Mounts: []string{":/b"}}, ":/b", "DIR:/PATH"},
		{"--mount", docker.Flags{Mounts: []string{"/a:/b:readwrite"}}, "readwrite", "DIR:/PATH"},
		{"--mount", docker.Flags{Mounts: []string{"sub/dir:/b"}}, "sub/dir", "./"},
		{"--mount", docker.Flags{Mounts: []string{"/a:/.mcp-workspace"}}, "/.mcp-workspace", "another path"},
		{"--mount", docker.Flags{Mounts: []string{"/a:/.mcp-workspace/../.mcp-workspace/x"}}, "/.mcp-workspace", "another path"},
		{"--mount", docker.Flags{Mounts: []string{"/a:/"}}, "/a:/", "/workspace"},
		{"--mount", docker.Flags{Mounts: []string{"type=volume,src=a,dst=/x/.."}}, "dst=/x/..", "/workspace"},
		{"--mount", docker.Flags{Mounts: []string{"/"}}, "/", "/workspace"},
		{"--mount", docker.Flags{Mounts: []string{"/a:/x", "type=volume,src=b,dst=/x/"}}, "/x", "one mount"},
		{"--mount", docker.Flags{Mounts: []string{"/a:/x:Z"}, Tmpfs: []string{"/x"}}, "--tmpfs is there", "one mount"},
		{"--mount", docker.Flags{Mounts: []string{"type=volume,src=a/b,dst=/x"}}, "a/b", "type=bind"},
		{"--mount", docker.Flags{Mounts: []string{"type=image,src=a,dst=/x"}}, "image", "type=volume"},
		{"--mount", docker.Flags{Mounts: []string{"mcpws-guest-012345678901:/x"}}, "mcpws-guest-", "another volume"},
		{"--mount", docker.Flags{Mounts: []string{"name:/x:rslave"}}, "rslave", "DIR:/PATH"},
	} {
		t.Run(c.flag+" "+c.value, func(t *testing.T) {
			_, err := c.flags.Parse()
			wantCode(t, "Parse", err, backends.CodeInvalidArgument, c.flag, c.value, c.mend)
		})
	}
}

// Desktop clients start programs in the root, and a relative source is not meant
// to be all that its user has.
func TestARelativeSourceIsNeverTheMachineOrAWholeHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "people", "you")
	project := filepath.Join(home, "project")
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.MkdirAll(project, 0o700), os.Symlink("/", link)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	for _, c := range []struct {
		name, in, dir, source string
		want                  string // the source that comes out
		says                  string // or the error
	}{
		{name: "started in the root", in: "/", source: ".", says: "was started in /"},
		{name: "below the root", in: "/", source: "./tmp", says: "was started in /"},
		{name: "started in a link to the root", in: link, source: ".", says: "was started in "},
		{name: "up to the root", in: project, source: "../../../../../../../../../../../..", says: "the whole machine"},
		{name: "a link to the root", in: filepath.Dir(link), source: "./link", says: "the whole machine"},
		{name: "started in the home", in: home, source: ".", says: home + ", with your whole home"},
		{name: "up to the home", in: project, source: "..", says: home + ", with your whole home"},
		{name: "above the home", in: project, source: "../..", says: filepath.Dir(home) + ", with your whole home"},
		{name: "a project", in: project, source: ".", want: project},
		{name: "below the home", in: home, source: "./project", want: project},
		{name: "the home by its name", in: "/", source: "~", want: home},
		{name: "the root by its name", in: "/", source: "/", want: "/"},
		{name: "from the file's directory", in: "/", dir: project, source: ".", want: project},
		{name: "below the file's directory", in: "/", dir: project, source: "./a", want: filepath.Join(project, "a")},
		{name: "up from the file's directory", in: "/", dir: project, source: "..", says: "whole home"},
		{name: "from a file in the root", in: home, dir: "/", source: "./project", want: "/project"},
		{name: "the root, from a file there", in: home, dir: "/", source: ".", says: "the whole machine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(c.in)
			for _, value := range []string{c.source + ":/workspace", "type=bind,src=" + c.source + ",dst=/workspace"} {
				o, err := docker.Flags{Mounts: []string{value}, Dir: c.dir}.Parse()
				if c.says != "" {
					wantCode(t, value, err, backends.CodeInvalidArgument, "--mount", value, c.says, "absolute path")
				} else if err != nil || o.Mounts[0].Source != c.want {
					t.Errorf("%s: got %+v, %v, not %s", value, o.Mounts, err, c.want)
				}
			}
		})
	}
}

func TestMountsThatGiveTheMachineAwayAreWarnedOf(t *testing.T) {
	for value, words := range map[string]string{
		"/var/run/docker.sock:/var/run/docker.sock":                  "socket",
		"type=bind,src=/run/podman/podman.sock,dst=/run/podman.sock": "socket",
		"/:/host": "all files",
	} {
		o, err := docker.Flags{Mounts: []string{value}}.Parse()
		if err != nil || len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], words) {
			t.Errorf("%s: %+v, %v", value, o.Warnings, err)
		}
	}
	if o, err := (docker.Flags{Network: "host"}).Parse(); err != nil || len(o.Warnings) != 1 {
		t.Errorf("the host's network: %+v, %v", o.Warnings, err)
	}
}

func FuzzMounts(f *testing.F) {
	for _, seed := range []string{"type=bind,src=/a,dst=/b", "/a:/b:ro", "name:/b", `C:\a:/b`, `"x`, ":::", "a=b,=", "~:/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		o, err := docker.Flags{Mounts: []string{value}}.Parse()
		if err != nil {
			if backends.CodeOf(err) != backends.CodeInvalidArgument {
				t.Errorf("%q: %v", value, err)
			}
			return
		}
		if len(o.Mounts)+len(o.Binds) != 1 {
			t.Errorf("%q made %+v %q", value, o.Mounts, o.Binds)
		}
		for _, m := range o.Mounts {
			if !filepath.IsAbs(m.Target) || filepath.Clean(m.Target) == docker.GuestDir || filepath.Clean(m.Target) == "/" || m.Type == mount.TypeBind && !filepath.IsAbs(m.Source) {
				t.Errorf("%q made %+v", value, m)
			}
		}
	})
}
