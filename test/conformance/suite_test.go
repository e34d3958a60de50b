package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// suiteTimeout ends a run that hangs; one takes a second to four.
const suiteTimeout = 2 * time.Minute

// suite is the command line of the official suite.
type suite struct{ command []string }

func newSuite(t *testing.T) suite {
	t.Helper()
	modules, err := testenv.NodeModules("test/conformance")
	if err != nil {
		t.Fatal(err)
	}
	if modules == "" {
		testenv.Missing(t, "the pinned conformance suite")
	}
	node := testenv.Node(modules)
	if node == "" {
		t.Skip("the conformance suite needs Node.js 22, which the lock file has for Linux only")
	}
	return suite{[]string{node, filepath.Join(modules, ".bin", "conformance")}}
}

// scenarios are all that test a server, with what the suite says each is for:
// revisions of the protocol, or "extension".
func (s suite) scenarios(t *testing.T) map[string][]string {
	t.Helper()
	out, err := s.run(t, "list", "--server")
	if err != nil {
		t.Fatalf("list: %v\n%s", err, out)
	}
	all := map[string][]string{}
	for _, m := range listedScenario.FindAllSubmatch(out, -1) {
		all[string(m[1])] = strings.Split(string(m[2]), ",")
	}
	if len(all) == 0 {
		t.Fatalf("no scenario in the suite's list:\n%s", out)
	}
	return all
}

var listedScenario = regexp.MustCompile(`(?m)^  - (\S+) \[(.+)\]$`)

// check is one thing that a scenario has looked at.
type check struct {
	ID           string
	Status       string
	Description  string
	ErrorMessage string
}

// The statuses of checks. Those that are not here did not pass.
const (
	success = "SUCCESS"
	info    = "INFO" // something that is right either way
)

// wireSchema is the check of every scenario that what the server sent was valid
// by the schema of the revision.
const wireSchema = "wire-schema-valid"

// results runs every scenario of a revision, each as this revision speaks on
// the wire. For the revision "" each runs as the newest that has it.
func (s suite) results(t *testing.T, url, revision string) map[string][]check {
	t.Helper()
	dir := t.TempDir()
	args := []string{"server", "--url", url, "--suite", "all", "--output-dir", dir}
	if revision != "" {
		args = append(args, "--spec-version", revision)
	}
	out, err := s.run(t, args...)
	// Exit code 1 means that a check failed, which is read from the results.
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	results := map[string][]check{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := resultDirectory.FindStringSubmatch(entry.Name())
		if name == nil {
			t.Fatalf("what is %q among the suite's results?", entry.Name())
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name(), "checks.json"))
		if err != nil {
			t.Fatal(err)
		}
		var checks []check
		if err := json.Unmarshal(content, &checks); err != nil {
			t.Fatalf("%s: %v", entry.Name(), err)
		}
		results[name[1]] = append(results[name[1]], checks...)
	}
	if len(results) == 0 {
		t.Fatalf("no results:\n%s", out)
	}
	return results
}

// resultDirectory has the scenario's name and the time.
var resultDirectory = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

func (s suite) run(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), suiteTimeout)
	defer cancel()
	command := slices.Concat(s.command, args)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "NO_COLOR=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.Bytes(), err
}
