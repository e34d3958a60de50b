package conformance

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// The revisions that have Streamable HTTP.
var revisions = []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// extension is what the suite calls scenarios of parts of the protocol that a
// server may leave out whole.
const extension = "extension"

// Every check of every scenario passes that is not in the tables of this
// package. A scenario that is new is a failure until it passes or is put there,
// and so is an entry of the tables that is not needed, or not needed any more.
func TestConformance(t *testing.T) {
	s := newSuite(t)
	all := s.scenarios(t)
	var used ledger
	t.Run("revisions", func(t *testing.T) {
		for _, revision := range append(revisions, extension) {
			t.Run(revision, func(t *testing.T) {
				t.Parallel()
				url := testenv.Serve(t, "--no-auth", "--backend", "state") + "/mcp"
				version := revision
				if revision == extension {
					version = "" // the suite has no run of its own for these
				}
				results := s.results(t, url, version)
				for _, name := range slices.Sorted(maps.Keys(all)) {
					if slices.Contains(all[name], revision) {
						t.Run(name, func(t *testing.T) { judge(t, &used, name, results[name]) })
					}
				}
			})
		}
	})
	if !t.Failed() {
		used.complete(t)
	}
	for name, tags := range all {
		if !slices.ContainsFunc(tags, func(tag string) bool { return tag == extension || slices.Contains(revisions, tag) }) {
			t.Errorf("scenario %s is for %q, which this test does not run", name, tags)
		}
	}
}

// judge holds the checks of a scenario against the tables.
func judge(t *testing.T, used *ledger, name string, checks []check) {
	if len(checks) == 0 {
		t.Fatal("the suite has not run it")
	}
	shown := false // something beside the form of messages passed
	failed := false
	for _, c := range checks {
		passed := c.Status == success || c.Status == info
		shown = shown || c.Status == success && c.ID != wireSchema
		failed = failed || !passed
		reason, known := exceptions[exception{name, c.ID}]
		switch {
		case !passed && known:
			used.add(exception{name, c.ID})
			t.Logf("%s %s: %s", c.ID, c.Status, reason)
		case passed && known:
			t.Errorf("%s passes; take it out of the exceptions (%s)", c.ID, reason)
		case !passed && (c.ID == wireSchema || notApplicable[name] == ""):
			t.Errorf("%s: %s: %s %s", c.ID, c.Status, c.Description, c.ErrorMessage)
		}
	}
	reason, known := notApplicable[name]
	switch {
	case known && shown && !failed:
		t.Errorf("it passes; take it out of the scenarios that do not apply (%s)", reason)
	case known:
		used.add(exception{name, ""})
		t.Skip(reason)
	case !shown && !failed:
		t.Error("it has shown nothing; find out why, or put it to the scenarios that do not apply")
	}
}

// ledger notes which exceptions there was a use for.
type ledger struct {
	mu   sync.Mutex
	used map[exception]bool
}

func (l *ledger) add(e exception) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used == nil {
		l.used = map[exception]bool{}
	}
	l.used[e] = true
}

// complete fails for entries of the tables without a use.
func (l *ledger) complete(t *testing.T) {
	for e := range exceptions {
		if !l.used[e] {
			t.Errorf("no scenario %s has a check %s; take it out of the exceptions", e.scenario, e.check)
		}
	}
	for name := range notApplicable {
		if !l.used[exception{name, ""}] {
			t.Errorf("there is no scenario %s; take it out of those that do not apply", name)
		}
	}
}
