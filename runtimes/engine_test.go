package runtimes_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"github.com/mcp-workspace/mcp-workspace/runtimes"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// unique gives a runtime a name that no other test has, and removes what was
// built of it when the test ends.
func unique(t *testing.T, e *engines.Engine, b *engineBuilder, r runtimes.Runtime) *runtimes.Runtime {
	t.Helper()
	r.Name = e.UniqueName(t, "test-")
	t.Cleanup(func() { // before what UniqueName checks
		for _, found := range built(t, b, r.Name) {
			for _, tag := range found.RepoTags {
				if _, err := b.ImageRemove(context.Background(), tag, image.RemoveOptions{Force: true, PruneChildren: true}); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return &r
}

// built are the images of a runtime's name.
func built(t *testing.T, b *engineBuilder, name string) []image.Summary {
	t.Helper()
	list, err := b.ImageList(context.Background(), image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", runtimes.LabelName+"="+name))})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(i image.Summary) bool { return len(i.RepoTags) == 0 })
}

// ensure builds the runtime, which must succeed.
func ensure(t *testing.T, b *engineBuilder, r *runtimes.Runtime) (ref string, lines []string) {
	t.Helper()
	ref, err := r.Ensure(t.Context(), b, func(line string) { lines = append(lines, line) })
	if err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(lines, "\n"))
	}
	return ref, lines
}

// runIn runs a program in a container of the image and returns what it prints.
func runIn(t *testing.T, e *engines.Engine, ref string, command ...string) string {
	t.Helper()
	return e.CLI(t, append([]string{"run", "--rm", "--network=none", ref}, command...)...)
}

func TestBuildIsDoneOnceForEachDefinition(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *engines.Engine, b *engineBuilder) {
		r := unique(t, e, b, runtimes.Runtime{Base: e.Busybox, Setup: []string{"echo one > /made"}})
		ref, lines := ensure(t, b, r)
		if want := "mcp-workspace/runtime-" + r.Name + ":" + r.Digest()[:12]; ref != want || b.count.builds.Load() != 1 {
			t.Errorf("built %s with %d builds, want %s with 1", ref, b.count.builds.Load(), want)
		}
		if all := strings.Join(lines, "\n"); !strings.Contains(all, `step 3/3: running its setup command "echo one > /made"`) {
			t.Errorf("the progress is\n%s", all)
		}
		if again, lines := ensure(t, b, r); again != ref || b.count.builds.Load() != 1 || len(lines) != 0 {
			t.Errorf("the second time gives %s after %d builds, saying %q", again, b.count.builds.Load(), lines)
		}
		if got := runIn(t, e, ref, "cat", "/made"); got != "one" {
			t.Errorf("the image holds %q", got)
		}

		r.Setup = []string{"echo two > /made"}
		changed, _ := ensure(t, b, r)
		if changed == ref || b.count.builds.Load() != 2 || runIn(t, e, changed, "cat", "/made") != "two" || runIn(t, e, ref, "cat", "/made") != "one" {
			t.Errorf("the changed definition gives %s after %d builds", changed, b.count.builds.Load())
		}
		if b.count.pulls.Load() != 0 {
			t.Errorf("a base image that is there was pulled")
		}
	})
}

// TestWorkingDirectoryIsTheBasesUsers: setup commands run there as that user.
func TestWorkingDirectoryIsTheBasesUsers(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *engines.Engine, b *engineBuilder) {
		for user, want := range map[string]string{"1234": "1234", "1234:5678": "1234:5678", "daemon": "1:0", "daemon:mail": "1:8", "": "0:0"} {
			base := unique(t, e, b, runtimes.Runtime{}).Name
			baseRef := "localhost/mcpws-test/" + base + ":1"
			text := "FROM " + e.Busybox + "\nRUN echo daemon:x:1:1::/:/bin/sh >>/etc/passwd && echo mail:x:8: >>/etc/group\n"
			if user != "" {
				text += "USER " + user + "\n"
			}
			buildBase(t, b, baseRef, base, text)
			r := unique(t, e, b, runtimes.Runtime{Base: baseRef, WorkingDir: "/srv/a", Setup: []string{"id > who.txt"}})
			ref, _ := ensure(t, b, r)
			if got := runIn(t, e, ref, "stat", "-c", "%u:%g", "/srv/a", "/srv/a/who.txt"); !strings.HasPrefix(got, want) {
				t.Errorf("with the user %q of the base, the working directory and what setup made there are of\n%s\nwant %s", user, got, want)
			}
			details, err := b.ImageInspect(t.Context(), ref)
			if err != nil || details.Config.User != user || details.Config.WorkingDir != "/srv/a" {
				t.Errorf("the image is of %+v, %v", details.Config, err)
			}
		}
	})
}

// buildBase builds an image for runtimes to be built on, of the runtime called
// name for whoever removes it.
func buildBase(t *testing.T, b *engineBuilder, ref, name, text string) {
	t.Helper()
	var context bytes.Buffer
	w := tar.NewWriter(&context)
	if err := w.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Build(t.Context(), ref, &context, map[string]string{runtimes.LabelName: name}, func(string) {}); err != nil {
		t.Fatal(err)
	}
}

// TestNothingIsInjected: whatever stands in a value ends up in the image as it
// was written, and runs nothing.
func TestNothingIsInjected(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *engines.Engine, b *engineBuilder) {
		env := map[string]string{
			"PLAIN": "a b", "EMPTY": "", "QUOTES": `"it's"`, "DOLLAR": "$PATH ${PATH} $(touch /injected) `touch /injected`",
			"BACKSLASH": `a\`, "BACKSLASHES": `\\ \" \$ \n \`, "HASH": "# no comment", "EDGES": "  x  ", "TAB": "a\tb",
			"UNICODE": "žluťoučký 日本", "INSTRUCTION": `" RUN touch /injected`, "EQUALS": "a=b c=d", "HEREDOC": "<<EOF", "JSON": `["x"]`,
		}
		r := unique(t, e, b, runtimes.Runtime{
			Base: e.Busybox, Env: env, WorkingDir: "/a.b/c+d@e",
			Setup: []string{
				"printf '%s' \"$DOLLAR\" > /dollar",
				"cat > /text <<EOF\nRUN touch /injected \\\n$PLAIN \\\\ \"'\nEOF\n",
				"# a comment \\\n: USER nobody \\\n",
			},
		})
		ref, _ := ensure(t, b, r)
		details, err := b.ImageInspect(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range env {
			if !slices.Contains(details.Config.Env, name+"="+value) {
				t.Errorf("%s=%q is not in %q", name, value, details.Config.Env)
			}
		}
		if details.Config.WorkingDir != r.WorkingDir || details.Config.User != "" {
			t.Errorf("the image starts in %q as %q", details.Config.WorkingDir, details.Config.User)
		}
		if got := runIn(t, e, ref, "cat", "/dollar"); got != env["DOLLAR"] {
			t.Errorf("a setup command saw %q", got)
		}
		if got, want := runIn(t, e, ref, "cat", "/text"), "RUN touch /injected a b \\ \"'"; got != want {
			t.Errorf("a setup command wrote %q, want %q", got, want)
		}
		if got := runIn(t, e, ref, "ls", "/"); slices.Contains(strings.Fields(got), "injected") {
			t.Errorf("something was injected: / holds %s", got)
		}
	})
}

func TestFailedBuildSaysWhere(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *engines.Engine, b *engineBuilder) {
		r := unique(t, e, b, runtimes.Runtime{Base: e.Busybox, Setup: []string{
			"echo early output",
			"for i in $(seq 30); do echo line $i; done\necho 'this is \x1b[31mwhy\x1b[0m' >&2\nfalse\necho not reached",
		}})
		r.Setup[1] += " # " + r.Name
		_, err := r.Ensure(t.Context(), b, nil)
		if err == nil {
			t.Fatal("no error")
		}
		for _, want := range []string{
			"the runtime " + r.Name + ": its build failed at step 4 of 4, running its setup command \"for i in $(seq 30); do echo line $i; done …\": ",
			"\nThe last lines of its output:\n", "\nline 30\n", "\nthis is why",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error lacks %q:\n%v", want, err)
			}
		}
		for _, not := range []string{"early output", "line 5\n", "not reached\n", "\x1b"} {
			if strings.Contains(err.Error(), not) {
				t.Errorf("the error has %q:\n%v", not, err)
			}
		}
		if found := built(t, b, r.Name); len(found) != 0 {
			t.Errorf("it left %v", found[0].RepoTags)
		}
		leavesNoContainer(t, b, e, r.Name)
	})
}

func TestCancelledBuildLeavesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *engines.Engine, b *engineBuilder) {
		r := unique(t, e, b, runtimes.Runtime{Base: e.Busybox})
		marker := "marker-" + r.Name
		r.Setup = []string{"echo " + marker + " started; sleep 600"}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err := r.Ensure(ctx, b, func(line string) {
			if line == marker+" started" {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("the error is %v", err)
		}
		if found := built(t, b, r.Name); len(found) != 0 {
			t.Errorf("it left %v", found[0].RepoTags)
		}
		leavesNoContainer(t, b, e, marker)
		r.Setup = []string{"echo done"}
		if ref, _ := ensure(t, b, r); ref == "" {
			t.Error("it cannot be built afterwards")
		}
	})
}

// leavesNoContainer waits until the engine has no container whose command
// holds the marker. An engine removes that of a build that was given up after
// it has answered.
func leavesNoContainer(t *testing.T, b *engineBuilder, e *engines.Engine, marker string) {
	t.Helper()
	left := func() bool {
		list, err := b.ContainerList(t.Context(), container.ListOptions{All: true})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(list, func(c container.Summary) bool { return strings.Contains(c.Command, marker) })
	}
	for deadline := time.Now().Add(time.Minute); left(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s still has the container of %s", e.Provider, marker)
		}
	}
}

func TestManyBuildsAtOnceAreOne(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *engines.Engine, b *engineBuilder) {
		r := unique(t, e, b, runtimes.Runtime{Base: e.Busybox, Setup: []string{"echo working; sleep 1"}})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if ref, err := r.Ensure(t.Context(), b, nil); err != nil || ref != r.Tag() {
					t.Errorf("%q, %v", ref, err)
				}
			})
		}
		all.Wait()
		if b.count.builds.Load() != 1 {
			t.Errorf("there were %d builds", b.count.builds.Load())
		}
	})
}

// TestWhoGivesUpLeavesTheBuildToTheOthers: the first who asks goes, and the
// second gets the image of the one build.
func TestWhoGivesUpLeavesTheBuildToTheOthers(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *engines.Engine, b *engineBuilder) {
		r := unique(t, e, b, runtimes.Runtime{Base: e.Busybox})
		r.Setup = []string{"echo " + r.Name + " one; sleep 2; echo " + r.Name + " two"}
		first, giveUp := context.WithCancel(t.Context())
		defer giveUp()
		started, second := make(chan struct{}), make(chan error, 1)
		go func() {
			<-started
			heard := false
			ref, err := r.Ensure(t.Context(), b, func(line string) {
				giveUp() // only once both of them wait
				heard = heard || line == r.Name+" two"
			})
			if err == nil && (ref != r.Tag() || !heard) {
				err = fmt.Errorf("it got %q, and heard of the end: %v", ref, heard)
			}
			second <- err
		}()
		var once sync.Once
		_, err := r.Ensure(first, b, func(line string) {
			if line == r.Name+" one" {
				once.Do(func() { close(started) })
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up got %v", err)
		}
		if err := <-second; err != nil {
			t.Errorf("who waited got %v", err)
		}
		if b.count.builds.Load() != 1 {
			t.Errorf("there were %d builds", b.count.builds.Load())
		}
	})
}

// TestArgumentsOfAllBuilds: they reach a build and not the image, and do not
// make it another image.
func TestArgumentsOfAllBuilds(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *engines.Engine, b *engineBuilder) {
		r := unique(t, e, b, runtimes.Runtime{})
		set := readConfig(t, fmt.Sprintf("runtimes:\n  %s:\n    base: %s\n    setup: 'echo $EXTRA > /extra'\n    env: {HIDES: own}\nbuild_args: {EXTRA: reached, HIDES: no, http_proxy: 'http://user:secret@proxy.invalid'}\n", r.Name, e.Busybox))
		r, err := set.Lookup(r.Name)
		if err != nil {
			t.Fatal(err)
		}
		ref, _ := ensure(t, b, r)
		if got := runIn(t, e, ref, "sh", "-c", "cat /extra; echo $EXTRA $HIDES"); got != "reached\nown" {
			t.Errorf("the image has %q", got)
		}
		history, err := b.ImageHistory(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(history); strings.Contains(text, "secret") {
			t.Errorf("the history tells the proxy's password: %s", text)
		}
		plain := runtimes.Runtime{Name: r.Name, Base: r.Base, Setup: r.Setup, Env: r.Env}
		if plain.Tag() != ref {
			t.Errorf("without the arguments the tag is %s, with them %s", plain.Tag(), ref)
		}
	})
}
