package docker_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	dockerimage "github.com/docker/docker/api/types/image"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/backends/guest/program"
	"github.com/mcp-workspace/mcp-workspace/runtimes"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// ownAgent is a copy of the agent with another digest than all others.
func ownAgent(t *testing.T) string {
	t.Helper()
	p, err := program.Load(t.Context(), program.Options{Arch: "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	executable, err := p.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "agent")
	// What follows the ELF file's own parts is nobody's.
	if err := os.WriteFile(file, append(slices.Clone(executable), unique()...), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestMissingWorkingDirectoryBelongsToTheContainersUser(t *testing.T) {
	onBoth(t, testMissingWorkingDirectoryBelongsToTheContainersUser)
}

func testMissingWorkingDirectoryBelongsToTheContainersUser(t *testing.T, engine *engines.Engine) {
	for _, c := range []struct{ name, user, dir, image, want string }{
		{"root", "", "/a/b", engine.Busybox, "0:0"},
		{"a number", "1234:5678", "/a/b", engine.Busybox, "1234:5678"},
		{"a number without a group", "1234", "/a/b", engine.Busybox, "1234:0"},
		{"a number without a shell in the image", "1234:5678", "/a/b", engine.Scratch, ""},
		{"a name", "daemon", "/a/b", engine.Debian, "1:1"},
		{"a name and a group", "daemon:mail", "/a/b", engine.Debian, "1:8"},
		{"a number that has a name", "1", "/a/b", engine.Debian, "1:1"},
		{"below a directory of its own", "1234:5678", "/tmp/x/y", engine.Debian, "1234:5678"},
		{"two levels below one of root's", "1234:5678", "/usr/local/x/y", engine.Debian, "1234:5678"},
	} {
		t.Run(c.name, func(t *testing.T) {
			options, err := docker.Flags{User: c.user}.Parse()
			if err != nil {
				t.Fatal(err)
			}
			b := newBackend(t, engine, docker.Config{Options: options, WorkingDir: c.dir, Image: c.image})
			ws := create(t, b, backends.Spec{})
			if ws.WorkingDir() != c.dir {
				t.Errorf("commands start in %q", ws.WorkingDir())
			}
			if _, err := ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("x")}); err != nil {
				t.Errorf("Write: %v", err)
			}
			if c.want == "" {
				return
			}
			if got := run(t, ws, "stat -c %u:%g . f .. | sort -u; pwd"); !strings.HasPrefix(got, c.want+"\n") && c.dir != "/tmp/x/y" || !strings.HasSuffix(got, c.dir) {
				t.Errorf("the working directory is of %s, want %s", got, c.want)
			}
		})
	}
}

// builtImage builds an image of the lines of a Dockerfile after FROM.
func builtImage(t *testing.T, engine *engines.Engine, lines ...string) string {
	t.Helper()
	b := newBackend(t, engine, docker.Config{})
	tag := "localhost/mcpws-test/built-" + b.Scope() + ":1"
	text := strings.Join(append([]string{"FROM " + engine.Busybox}, lines...), "\n") + "\n"
	if err := b.Build(t.Context(), tag, dockerfile(t, text), nil, func(line string) { t.Log(line) }); err != nil {
		t.Fatal(err)
	}
	c := engine.Client(t)
	t.Cleanup(func() {
		if _, err := c.ImageRemove(context.Background(), tag, dockerimage.RemoveOptions{Force: true}); err != nil {
			t.Errorf("removing the image: %v", err)
		}
	})
	return tag
}

// A directory that is there before the container's user is known is given to them,
// where it is nobody else's.
func TestNewWorkingDirectoryIsGivenToTheContainersUser(t *testing.T) {
	onBoth(t, testNewWorkingDirectoryIsGivenToTheContainersUser)
}

func testNewWorkingDirectoryIsGivenToTheContainersUser(t *testing.T, engine *engines.Engine) {
	c := engine.Client(t)
	newVolume := func(t *testing.T) string {
		name := engine.UniqueName(t, "volume-")
		t.Cleanup(func() {
			if err := c.VolumeRemove(context.Background(), name, true); err != nil {
				t.Error(err)
			}
		})
		return name
	}
	image := func(lines ...string) func(*testing.T) docker.Config {
		return func(t *testing.T) docker.Config { return docker.Config{Image: builtImage(t, engine, lines...)} }
	}
	for _, test := range []struct {
		name  string
		cfg   func(*testing.T) docker.Config
		flags func(*testing.T) docker.Flags
		given bool
		is    string // the mode and the owner, which begin so
	}{
		{"a volume", nil, func(t *testing.T) docker.Flags {
			return docker.Flags{User: "1000:1000", Mounts: []string{"type=volume,src=" + newVolume(t) + ",dst=/workspace"}}
		}, true, "755 1000:1000"},
		{"a volume under a read-only root", nil, func(t *testing.T) docker.Flags {
			return docker.Flags{User: "1000:1000", ReadOnly: true, Mounts: []string{"type=volume,src=" + newVolume(t) + ",dst=/workspace"}}
		}, true, "755 1000:1000"},
		{"a volume of the image", image("VOLUME /workspace", "USER 1234:5678"), nil, true, "755 1234:5678"},
		{"one of the image", image("RUN mkdir -m 750 /workspace", "USER 1234:5678"), nil, true, "750 1234:5678"},
		{"one of the image and of another user", image("RUN mkdir /workspace && chown 7:7 /workspace"), func(*testing.T) docker.Flags {
			return docker.Flags{User: "1234:5678"}
		}, true, "755 1234:5678"},
		{"one of the image that everybody may write", image("RUN mkdir -m 1777 /workspace", "USER 1234:5678"), nil, true, "1777 0:0"},
		{"one of the image that the group may write", image("RUN mkdir -m 775 /workspace && chgrp 5678 /workspace", "USER 1234:5678"), nil, true, "775 "},
		{"one of the image that is not empty", image("RUN mkdir /workspace && touch /workspace/f", "USER 1234:5678"), nil, false, "755 0:0"},
		{"a runtime's", func(*testing.T) docker.Config {
			return docker.Config{Runtime: &runtimes.Runtime{Name: unique(), Base: engine.Busybox, Setup: []string{"touch f"}}}
		}, func(*testing.T) docker.Flags { return docker.Flags{User: "1000:1000"} }, true, "755 1000:1000"},
		{"a runtime's, on a base of another user", func(t *testing.T) docker.Config {
			return docker.Config{Runtime: &runtimes.Runtime{Name: unique(), Base: builtImage(t, engine, "USER 1234:5678"), Setup: []string{"touch f"}}}
		}, func(*testing.T) docker.Flags { return docker.Flags{User: "1000:1000"} }, true, "755 1000:1000"},
		{"a runtime's, of the base's user", func(t *testing.T) docker.Config {
			return docker.Config{Runtime: &runtimes.Runtime{Name: unique(), Base: builtImage(t, engine, "USER 1234:5678"), Setup: []string{"touch f"}}}
		}, nil, true, "755 1234:5678"},
		{"a directory of the host", nil, func(t *testing.T) docker.Flags {
			return docker.Flags{User: "1000:1000", Mounts: []string{t.TempDir() + ":/workspace"}}
		}, false, "755 0:0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := docker.Config{}
			if test.cfg != nil {
				cfg = test.cfg(t)
			}
			if rt := cfg.Runtime; rt != nil {
				t.Cleanup(func() {
					if _, err := c.ImageRemove(context.Background(), rt.Tag(), dockerimage.RemoveOptions{Force: true}); err != nil {
						t.Errorf("removing the runtime's image: %v", err)
					}
				})
			}
			if test.flags != nil {
				options, err := test.flags(t).Parse()
				if err != nil {
					t.Fatal(err)
				}
				cfg.Options = options
			}
			b := newBackend(t, engine, cfg)
			ws := create(t, b, backends.Spec{})
			_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "new", Content: strings.NewReader("x")})
			if test.given && err != nil {
				t.Errorf("Write: %v", err)
			} else if !test.given {
				wantCode(t, "Write", err, backends.CodePermission)
			}
			if got := run(t, ws, "stat -c '%a %u:%g' ."); !strings.HasPrefix(got, test.is) {
				t.Errorf("the working directory is %s, want %s", got, test.is)
			}
		})
	}
}

func TestVolumeThatHoldsFilesStaysWhoseItIs(t *testing.T) {
	onBoth(t, testVolumeThatHoldsFilesStaysWhoseItIs)
}

func testVolumeThatHoldsFilesStaysWhoseItIs(t *testing.T, engine *engines.Engine) {
	name := engine.UniqueName(t, "volume-")
	t.Cleanup(func() {
		if err := engine.Client(t).VolumeRemove(context.Background(), name, true); err != nil {
			t.Error(err)
		}
	})
	of := func(user string) backends.Workspace {
		options, err := docker.Flags{User: user, Mounts: []string{name + ":/workspace"}}.Parse()
		if err != nil {
			t.Fatal(err)
		}
		return create(t, newBackend(t, engine, docker.Config{Options: options}), backends.Spec{})
	}
	run(t, of(""), "touch f && chown 7:7 . f")
	if got := run(t, of("1000"), "stat -c %u:%g . f"); got != "7:7\n7:7" {
		t.Errorf("a volume of 7:7 is of %q in the next container", got)
	}
}

// A creation may have ended before the directory was given.
func TestWorkingDirectoryOfAHalfMadeContainerIsGiven(t *testing.T) {
	onBoth(t, testWorkingDirectoryOfAHalfMadeContainerIsGiven)
}

func testWorkingDirectoryOfAHalfMadeContainerIsGiven(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{Image: builtImage(t, engine, "RUN mkdir /workspace", "USER 1234:5678")})
	spec := backends.Spec{Name: unique()}
	if err := b.CreateOnly(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if got := run(t, create(t, b, spec), "touch f; stat -c %u:%g . f"); got != "1234:5678\n1234:5678" {
		t.Errorf("the working directory and a new file are of %q", got)
	}
}

func TestWorkingDirectoryThatCannotBeIsExplained(t *testing.T) {
	onBoth(t, testWorkingDirectoryThatCannotBeIsExplained)
}

func testWorkingDirectoryThatCannotBeIsExplained(t *testing.T, engine *engines.Engine) {
	for _, c := range []struct {
		name  string
		flags docker.Flags
		dir   string
		code  backends.Code
		words []string
	}{
		{"read-only root", docker.Flags{ReadOnly: true}, "/workspace", backends.CodeReadOnly, []string{"--tmpfs /workspace", "--mount"}},
		{"read-only root for another user", docker.Flags{ReadOnly: true, User: "1234"}, "/workspace", backends.CodeReadOnly, []string{"--tmpfs /workspace"}},
		{"a file", docker.Flags{}, "/etc/passwd", backends.CodeNotDirectory, []string{"/etc/passwd", "--working-dir"}},
		{"below a file", docker.Flags{}, "/etc/passwd/x", backends.CodeNotDirectory, []string{"/etc/passwd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			options, err := c.flags.Parse()
			if err != nil {
				t.Fatal(err)
			}
			b := newBackend(t, engine, docker.Config{Options: options, WorkingDir: c.dir, Image: engine.Debian})
			_, err = b.Create(t.Context(), backends.Spec{})
			wantCode(t, "Create", err, c.code, c.words...)
			t.Log(err)
			if list, err := b.List(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("left %+v, %v", list, err)
			}
			_, err = b.Create(t.Context(), backends.Spec{Name: "wd-" + b.Scope()})
			wantCode(t, "Create with a name", err, c.code, c.words...)
			if list, err := b.List(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("left with a name: %+v, %v", list, err)
			}
		})
	}
}

func TestFailedCreationLeavesWhatSomebodyElseWorksIn(t *testing.T) {
	onBoth(t, testFailedCreationLeavesWhatSomebodyElseWorksIn)
}

func testFailedCreationLeavesWhatSomebodyElseWorksIn(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	spec := backends.Spec{Name: unique()}
	ws := create(t, b, spec)
	if err := b.Abandon(t.Context(), ws.Ref(), spec); err == nil {
		t.Error("the failure is lost")
	}
	if got := run(t, ws, "echo works"); got != "works" {
		t.Errorf("a command says %q", got)
	}
	if err := ws.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Abandon(t.Context(), ws.Ref(), spec); err == nil {
		t.Error("the failure is lost")
	}
	if list, err := b.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("what nobody works in is left: %+v, %v", list, err)
	}
}

// What an error names is for a new container, so one that is there says so.
func TestWorkingDirectoryThatAnExistingContainerCannotHave(t *testing.T) {
	onBoth(t, testWorkingDirectoryThatAnExistingContainerCannotHave)
}

func testWorkingDirectoryThatAnExistingContainerCannotHave(t *testing.T, engine *engines.Engine) {
	options, err := docker.Flags{ReadOnly: true, Tmpfs: []string{"/workspace"}}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	b := newBackend(t, engine, docker.Config{Options: options})
	spec := backends.Spec{Name: unique()}
	ws := create(t, b, spec)
	other := newBackend(t, engine, docker.Config{Options: options, WorkingDir: "/elsewhere", Scope: b.Scope()})
	_, err = other.Create(t.Context(), spec)
	wantCode(t, "Create", err, backends.CodeReadOnly, "/elsewhere", "is there already", "another --name", "workspaces destroy "+ws.Ref().String())
	_, err = other.Attach(t.Context(), ws.Ref())
	wantCode(t, "Attach", err, backends.CodeReadOnly, "/elsewhere", "is there already", "without --ref")
	if got := run(t, ws, "echo works"); got != "works" {
		t.Errorf("the first session says %q", got)
	}
	file := newBackend(t, engine, docker.Config{Options: options, WorkingDir: "/etc/passwd", Scope: b.Scope()})
	_, err = file.Create(t.Context(), spec)
	wantCode(t, "Create", err, backends.CodeNotDirectory, "use another --working-dir")
	if strings.Contains(err.Error(), "destroy") {
		t.Errorf("nothing must be destroyed for another --working-dir: %v", err)
	}
}

func TestReadOnlyRootWithAWritableWorkingDirectory(t *testing.T) {
	onBoth(t, testReadOnlyRootWithAWritableWorkingDirectory)
}

func testReadOnlyRootWithAWritableWorkingDirectory(t *testing.T, engine *engines.Engine) {
	for name, flags := range map[string]docker.Flags{
		"tmpfs":                  {ReadOnly: true, Tmpfs: []string{"/workspace"}},
		"tmpfs for another user": {ReadOnly: true, Tmpfs: []string{"/workspace:size=8m"}, User: "1234:1234"},
		"volume":                 {ReadOnly: true, Mounts: []string{"/workspace"}},
		"mount of type tmpfs":    {ReadOnly: true, Mounts: []string{"type=tmpfs,dst=/workspace,tmpfs-size=8m"}},
	} {
		t.Run(name, func(t *testing.T) {
			options, err := flags.Parse()
			if err != nil {
				t.Fatal(err)
			}
			b := newBackend(t, engine, docker.Config{Options: options})
			ws := create(t, b, backends.Spec{})
			if got := run(t, ws, "echo text >f; cat f; touch /x 2>&1 || true"); !strings.HasPrefix(got, "text\n") || !strings.Contains(got, "/x") {
				t.Errorf("commands say %q", got)
			}
			d, err := b.Inspect(t.Context(), ws.Ref())
			if err != nil {
				t.Fatal(err)
			}
			writable := func(m docker.Mount) bool { return m.Target == "/workspace" && !m.ReadOnly }
			if !d.ReadOnly || !slices.ContainsFunc(d.Mounts, writable) { // Podman adds some for temporary files
				t.Errorf("described as %+v", d)
			}
		})
	}
}

func TestWorkingDirectoryOfTheImage(t *testing.T) { onBoth(t, testWorkingDirectoryOfTheImage) }

func testWorkingDirectoryOfTheImage(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	b.UseImagesDir()
	ws := create(t, b, backends.Spec{})
	if ws.WorkingDir() != "/" {
		t.Errorf("commands start in %q, want the image's own, which is the root", ws.WorkingDir())
	}
	list, err := b.List(t.Context())
	if err != nil || len(list) != 1 || list[0].WorkingDir != "/" {
		t.Errorf("listed as %+v, %v", list, err)
	}
}

func TestMounts(t *testing.T) { onBoth(t, testMounts) }

func testMounts(t *testing.T, engine *engines.Engine) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("of the host\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 4321, 4321); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		mount    string
		readOnly bool
	}{
		"long":            {"type=bind,src=" + dir + ",dst=/mnt", false},
		"long, read-only": {"type=bind,source=" + dir + ",target=/mnt,readonly", true},
		"short":           {dir + ":/mnt", false},
		"short, ro":       {dir + ":/mnt:ro", true},
		"short with z":    {dir + ":/mnt:ro,z", true},
	} {
		t.Run(name, func(t *testing.T) {
			options, err := docker.Flags{Mounts: []string{c.mount}, User: "4321:4321"}.Parse()
			if err != nil {
				t.Fatal(err)
			}
			b := newBackend(t, engine, docker.Config{Options: options})
			ws := create(t, b, backends.Spec{})
			if got := run(t, ws, "cat /mnt/f"); got != "of the host" {
				t.Errorf("the file holds %q", got)
			}
			_, err = ws.Write(t.Context(), backends.WriteRequest{Path: "/mnt/new", Content: strings.NewReader("x")})
			if c.readOnly {
				wantCode(t, "Write", err, backends.CodeReadOnly)
				return
			}
			if err != nil {
				t.Fatalf("Write: %v", err)
			}
			if err := os.Remove(filepath.Join(dir, "new")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestGitWorksInAMountOfSomebodyElse(t *testing.T) { onBoth(t, testGitWorksInAMountOfSomebodyElse) }

func testGitWorksInAMountOfSomebodyElse(t *testing.T, engine *engines.Engine) {
	dir := t.TempDir()
	options, err := docker.Flags{Mounts: []string{dir + ":/workspace"}}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	b := newBackend(t, engine, docker.Config{Options: options, Image: engine.Debian})
	ws := create(t, b, backends.Spec{})
	run(t, ws, "git init -q . && echo x >f && git add f && chown -R 4321:4321 .")
	if got := run(t, ws, "git status --porcelain"); got != "A  f" {
		t.Errorf("git status says %q", got)
	}
}
