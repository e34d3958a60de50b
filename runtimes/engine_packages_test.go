package runtimes_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/runtimes"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// TestPackagesAreInstalled really runs apt-get, against the mirror of the
// Debian image, and pip, against an index on this machine's loopback, which
// builds reach through the host's network.
func TestPackagesAreInstalled(t *testing.T) {
	index := newIndex(t)
	onEachEngine(t, func(t *testing.T, e *engines.Engine, b *engineBuilder) {
		// Its name is always the same and the image stays: it is the slow part,
		// and the next run of the test finds it.
		python := &runtimes.Runtime{
			Name: "test-pip", Base: e.Debian, Packages: runtimes.Packages{Apt: []string{"python3-pip"}}, BuildNetwork: "host",
		}
		base, err := python.Ensure(t.Context(), b, func(line string) { t.Log(line) })
		if err != nil {
			if os.Getenv("CI") == "true" || !strings.Contains(err.Error(), "apt packages") {
				t.Fatal(err)
			}
			t.Skipf("no package of Debian can be installed from here: %v", err)
		}
		if got := runIn(t, e, base, "sh", "-c", "ls /var/lib/apt/lists /var/cache/apt/archives; ls /var/cache/apt/*.bin /var/log/dpkg.log 2>/dev/null; true"); strings.Contains(got, "_") || strings.Contains(got, ".bin") || strings.Contains(got, ".log") {
			t.Errorf("the layer keeps what apt-get needed: %s", got)
		}

		r := unique(t, e, b, runtimes.Runtime{
			Base: base, Packages: runtimes.Packages{Pip: []string{"test-parcel>=1.0,<2"}},
			BuildArgs:    map[string]string{"PIP_INDEX_URL": index.URL + "/simple/", "http_proxy": "", "https_proxy": ""},
			BuildNetwork: "host",
		})
		ref, lines := ensure(t, b, r)
		if got := runIn(t, e, ref, "python3", "-c", "import test_parcel, os; print(test_parcel.VERSION, os.environ.get('PIP_INDEX_URL'), os.getcwd())"); got != "1.5 None /workspace" {
			t.Errorf("the image prints %q\n%s", got, strings.Join(lines, "\n"))
		}
		if got := runIn(t, e, ref, "sh", "-c", "ls -A /root/.cache 2>/dev/null; true"); got != "" {
			t.Errorf("the layer keeps a cache: %s", got)
		}

		missing := *r
		missing.Packages.Pip = []string{"test-parcel", "no-such-parcel==3"}
		_, err = missing.Ensure(t.Context(), b, nil)
		if err == nil || !strings.Contains(err.Error(), "installing its pip packages") || !strings.Contains(err.Error(), "No matching distribution found for no-such-parcel==3") {
			t.Errorf("the error is %v", err)
		}
		if backends.CodeOf(err) == "" {
			t.Error("the error has no code")
		}
	})
}

// TestProgramsOfNodePackagesAreFound: the line of the Dockerfile that puts them
// into PATH keeps what an image has there, and does for one that has nothing.
func TestProgramsOfNodePackagesAreFound(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e *engines.Engine, b *engineBuilder) {
		for _, env := range []map[string]string{nil, {"PATH": "/bin:/own"}} {
			base := e.Busybox
			want := "PATH=/x/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
			if env != nil {
				base, _ = ensure(t, b, unique(t, e, b, runtimes.Runtime{Base: base, Env: env}))
				want = "PATH=/x/node_modules/.bin:/bin:/own"
			}
			r := unique(t, e, b, runtimes.Runtime{Base: base, WorkingDir: "/x", Packages: runtimes.Packages{Npm: []string{"vite"}}})
			var text strings.Builder
			for line := range strings.Lines(dockerfile(t, r)) {
				if !strings.HasPrefix(line, "RUN ") { // there is no npm in this image
					text.WriteString(line)
				}
			}
			buildBase(t, b, r.Tag(), r.Name, text.String())
			details, err := b.ImageInspect(t.Context(), r.Tag())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(details.Config.Env, want) {
				t.Errorf("the image has %q, want %s", details.Config.Env, want)
			}
		}
	})
}
