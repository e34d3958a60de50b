package runtimes_test

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/runtimes"
)

var update = flag.Bool("update", false, "write the golden files")

var errStop = backends.Errorf(backends.CodeUnavailable, "build", "", "stopped here")

// recorder is a builder that keeps what it is given and builds nothing.
type recorder struct {
	missing    string   // the image that it does not have
	user       string   // of its images
	output     []string // what it says before it fails
	dockerfile string
	labels     map[string]string
}

func (r *recorder) HasImage(_ context.Context, ref string) (bool, error) {
	return ref != r.missing, nil
}

func (r *recorder) ImageUser(context.Context, string) (string, error) { return r.user, nil }

func (*recorder) Pull(context.Context, string, func(string)) error {
	return errors.New("not expected")
}

func (r *recorder) Build(_ context.Context, _ string, context io.Reader, labels map[string]string, progress func(string)) error {
	archive := tar.NewReader(context)
	header, err := archive.Next()
	if err != nil {
		return err
	}
	data, err := io.ReadAll(archive)
	if err != nil {
		return err
	}
	empty, err := archive.Next()
	if err != nil || header.Name != "Dockerfile" || empty.Name != "empty/" {
		return fmt.Errorf("the tar begins with %s and goes on with %+v, %w", header.Name, empty, err)
	}
	if _, err := archive.Next(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("the tar has more: %w", err)
	}
	r.dockerfile, r.labels = string(data), labels
	for _, text := range r.output {
		progress(text)
	}
	return errStop
}

// withOptions is a recorder that takes options.
type withOptions struct {
	recorder
	options runtimes.BuildOptions
}

func (r *withOptions) WithBuildOptions(o runtimes.BuildOptions) runtimes.Builder {
	r.options = o
	return &r.recorder
}

// dockerfile is that of a runtime.
func dockerfile(t *testing.T, r *runtimes.Runtime) string {
	t.Helper()
	b := &withOptions{recorder: recorder{missing: r.Tag()}}
	if _, err := r.Ensure(t.Context(), b, nil); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	return b.dockerfile
}

// TestDockerfiles holds what is built against the files in testdata.
func TestDockerfiles(t *testing.T) {
	r := full()
	own := runtimes.Catalogue()
	for _, c := range append(own, r, &runtimes.Runtime{Name: "base-alone", Base: "debian:12"}) {
		if !c.IsBuilt() {
			continue
		}
		path := filepath.Join("testdata", c.Name+".Dockerfile")
		got := dockerfile(t, c)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v; make it with -update", err)
		}
		if got != string(want) {
			t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
		}
	}
}

func TestUserOfTheBaseThatIsNone(t *testing.T) {
	r := &runtimes.Runtime{Name: "x", Base: "b"}
	b := &recorder{missing: r.Tag(), user: "x /y/\nCOPY --from=other / "}
	_, err := r.Ensure(t.Context(), b, nil)
	if backends.CodeOf(err) != backends.CodeInvalidArgument || !strings.Contains(err.Error(), "use another base") || b.dockerfile != "" {
		t.Errorf("the error is %v, and what was built\n%s", err, b.dockerfile)
	}
}

func TestWhatABuilderGets(t *testing.T) {
	r := full()
	b := &withOptions{recorder: recorder{missing: r.Tag()}}
	if _, err := r.Ensure(t.Context(), b, nil); !errors.Is(err, errStop) || backends.CodeOf(err) != backends.CodeUnavailable {
		t.Errorf("the error is %v", err)
	}
	if b.options.Network != "host" || fmt.Sprint(b.options.Args) != "map[HTTPS_PROXY:w NPM_CONFIG_REGISTRY:v PIP_INDEX_URL:u]" {
		t.Errorf("the options are %+v", b.options)
	}
	if b.labels[runtimes.LabelName] != "full" || b.labels[runtimes.LabelDigest] != r.Digest() || len(b.labels) != 2 {
		t.Errorf("the labels are %v", b.labels)
	}
	if strings.Contains(b.dockerfile, "HTTPS_PROXY") {
		t.Errorf("the proxy is in the Dockerfile:\n%s", b.dockerfile)
	}
	_, err := r.Ensure(t.Context(), &recorder{missing: r.Tag()}, nil)
	if backends.CodeOf(err) != backends.CodeUnsupported {
		t.Errorf("a builder without options gives %v", err)
	}
}

// TestOutputOfABuild: what an engine and what runs in it print becomes lines
// that can be shown.
func TestOutputOfABuild(t *testing.T) {
	r := &runtimes.Runtime{Name: "x", Base: "b", Setup: []string{"first", "second"}}
	long := strings.Repeat("ž", 1000)
	b := &recorder{missing: r.Tag(), output: []string{
		"Step 1/6 : FROM b\n", " ---> 0123456789ab\n", "Step 2/6 : WORKDIR /workspace", "Step 3/6 : RUN [\"/bin/sh\"]\n",
		" ---> Running in 0123456789ab\n", "two\nlines\r\n", "10%\r", "20%\r30%\rdone\n", "\x1b[91mred\x1b[0m \x1b]x\x07bell\n", "", "\n \n",
		"\xff\n", long, "Step 1/6 : FROM evil\n", "Step 4/6 : COPY x\n", "Step 9/6 : RUN x\n", "Step 99999999999999999999/6 : RUN x\n",
		"STEP 4: RUN [\"/bin/sh\"]\n", "Step 5/6 : LABEL x=y\n", "--> 0123456789a\n", "last",
	}}
	var lines []string
	_, err := r.Ensure(t.Context(), b, func(line string) { lines = append(lines, line) })
	want := []string{
		"building " + r.Tag(), "step 1/4: taking the base image b", "step 2/4: setting its working directory", `step 3/4: running its setup command "first"`,
		"two", "lines", "done", "red xbell", "\ufffd", strings.Repeat("ž", 200) + "…", "Step 1/6 : FROM evil", "Step 4/6 : COPY x", "Step 9/6 : RUN x", "Step 99999999999999999999/6 : RUN x",
		`step 4/4: running its setup command "second"`, "last",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the lines are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if want := "the runtime x: its build failed at step 4 of 4, running its setup command \"second\": stopped here\nThe last lines of its output:\nlast"; err == nil || err.Error() != want {
		t.Errorf("the error is %v\nwant %s", err, want)
	}
}

// TestNpmScript runs what a build of npm packages runs, with the npm of this
// machine and a registry of the test.
func TestNpmScript(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	parcel := npmParcel(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		switch r.URL.Path {
		case "/@test/parcel", "/@test%2fparcel":
			err = json.NewEncoder(w).Encode(map[string]any{
				"name": "@test/parcel", "dist-tags": map[string]string{"latest": "2.0.0"},
				"versions": map[string]any{"1.5.0": map[string]any{
					"name": "@test/parcel", "version": "1.5.0", "bin": map[string]string{"parcel": "index.js"},
					"dist": map[string]string{"tarball": "http://" + r.Host + "/parcel.tgz"},
				}},
			})
		case "/parcel.tgz":
			_, err = w.Write(parcel)
		default:
			http.NotFound(w, r)
		}
		if err != nil {
			t.Logf("npm went away: %v", err)
		}
	}))
	defer server.Close()

	var command []string
	file := dockerfile(t, &runtimes.Runtime{Name: "x", Base: "b", Packages: runtimes.Packages{Npm: []string{"@test/parcel@^1.0.0"}}})
	for line := range strings.Lines(file) {
		if words, ok := strings.CutPrefix(line, "RUN "); ok {
			if err := json.Unmarshal([]byte(words), &command); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir, scratch := t.TempDir(), t.TempDir()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + scratch, "TMPDIR=" + scratch, "NPM_CONFIG_REGISTRY=" + server.URL}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin", "parcel")); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) != 0 {
		t.Errorf("it leaves %v (%v)", left, err)
	}
}
