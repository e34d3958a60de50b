package server

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// metric is a number of /metrics, which c has to be let to read. A metric with
// labels is named with them.
func metric(t *testing.T, c caller, name string) float64 {
	t.Helper()
	got := c.plain(t, http.MethodGet, "/metrics", "")
	if got.status != http.StatusOK {
		t.Fatalf("/metrics is answered with %d %s", got.status, got.body)
	}
	for line := range strings.Lines(string(got.body)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}
