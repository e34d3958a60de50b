package transports

// Routes are the values that HTTPEvent.Route can have.
func Routes() []string {
	return []string{routeMCP, routeSSE, routeMessage, routeHealth, routeReady, routeMetrics, routeMetadata, routeOther}
}

// Sessions is how many MCP sessions, and event streams without one, are open.
func (h *HTTP) Sessions() int {
	table := h.start().sessions
	table.mu.Lock()
	defer table.mu.Unlock()
	return table.all
}
