package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// workspaces is a collector that asks for the number of workspaces at each
// scrape. An engine that is slow or gone costs the scrape the time limit and
// these series, and nothing else.
type workspaces struct {
	count    func(context.Context) ([]WorkspaceCount, error)
	timeout  time.Duration
	backends set
	logger   *slog.Logger

	number, up *prometheus.Desc

	mu sync.Mutex
	// asking is the count under way, which scrapes share: a count that hangs is
	// waited for again, and not asked for again.
	asking *asking
	failed bool // the last count did, and that was logged
}

type asking struct {
	done   chan struct{} // closed when the rest is set
	counts []WorkspaceCount
	err    error
}

func newWorkspaces(cfg MetricsConfig, backends set) *workspaces {
	return &workspaces{
		count:    cfg.Workspaces,
		timeout:  cfg.WorkspacesTimeout,
		backends: backends,
		logger:   cfg.Logger,
		number: prometheus.NewDesc(namespace+"_workspaces", "Workspaces there are, by backend and state.",
			[]string{"backend", "state"}, nil),
		up: prometheus.NewDesc(namespace+"_workspaces_up", "Whether all backends said in time what workspaces there are.", nil, nil),
	}
}

func (w *workspaces) Describe(ch chan<- *prometheus.Desc) {
	ch <- w.number
	ch <- w.up
}

func (w *workspaces) Collect(ch chan<- prometheus.Metric) {
	counts, err := w.ask()
	w.note(err)
	up := 1.0
	if err != nil {
		up = 0
	}
	ch <- prometheus.MustNewConstMetric(w.up, prometheus.GaugeValue, up)
	type key struct{ backend, state string }
	sums := make(map[key]int)
	for _, c := range counts {
		sums[key{w.backends.label(c.Backend), states.label(c.State)}] += c.Count
	}
	for k, n := range sums {
		ch <- prometheus.MustNewConstMetric(w.number, prometheus.GaugeValue, float64(n), k.backend, k.state)
	}
}

// ask waits for the count under way, and begins one when there is none.
func (w *workspaces) ask() ([]WorkspaceCount, error) {
	w.mu.Lock()
	a := w.asking
	if a == nil {
		a = &asking{done: make(chan struct{})}
		w.asking = a
		go w.answer(a)
	}
	w.mu.Unlock()
	timer := time.NewTimer(w.timeout)
	defer timer.Stop()
	select {
	case <-a.done:
		return a.counts, a.err
	case <-timer.C:
		return nil, fmt.Errorf("no answer within %v", w.timeout)
	}
}

func (w *workspaces) answer(a *asking) {
	// A little less than what the scrape waits, so that what is known by then
	// is still in it.
	ctx, cancel := context.WithTimeout(context.Background(), w.timeout-w.timeout/10)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			a.counts, a.err = nil, fmt.Errorf("panic: %v", r)
		}
		w.mu.Lock()
		w.asking = nil
		w.mu.Unlock()
		close(a.done)
	}()
	a.counts, a.err = w.count(ctx)
}

// note logs when counting begins to fail, and when it works again.
func (w *workspaces) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil && !w.failed:
		w.logger.Warn("the workspaces cannot be counted for the metrics", "error", err)
	case err == nil && w.failed:
		w.logger.Info("the workspaces can be counted again")
	}
	w.failed = err != nil
}
