package tools

import (
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// progressEvery is how often a client hears of a call that takes long. Some give
// up a call that they have not heard of for 60 s.
const progressEvery = 3 * time.Second

// progress returns what notifies the client of the call's progress, or nil when
// it did not ask for it. An empty message leaves the message out.
func (c *call) progress() func(message string) {
	srv := server.ServerFromContext(c.ctx)
	if c.req.Params.Meta == nil || c.req.Params.Meta.ProgressToken == nil || srv == nil {
		return nil
	}
	start := time.Now()
	return func(message string) {
		params := map[string]any{
			"progressToken": c.req.Params.Meta.ProgressToken,
			"progress":      time.Since(start).Round(time.Millisecond).Seconds(),
		}
		if message != "" {
			params["message"] = message
		}
		// A client that does not take its notifications misses some of them;
		// the call goes on.
		_ = srv.SendNotificationToClient(c.ctx, string(mcp.MethodNotificationProgress), params)
	}
}

// openWorkspace opens the connection's environment, if this is the first use of
// it, and tells the client what takes long about that: a pull, a build.
func (c *call) openWorkspace() (err error) {
	report := c.progress()
	if report == nil || c.conn.Ref() != "" {
		c.ws, err = c.conn.Workspace(c.ctx)
		return err
	}
	var mu sync.Mutex
	latest := ""
	send := func(message string) {
		mu.Lock()
		defer mu.Unlock()
		if message != "" {
			latest = clip(valid(message), 200)
		}
		report(latest)
	}
	stop := c.conn.cfg.Lazy.OnProgress(send)
	defer stop()
	opened := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-opened:
				return
			case <-tick.C:
				send("")
			}
		}
	})
	c.ws, err = c.conn.Workspace(c.ctx)
	close(opened)
	ticking.Wait()
	return err
}
