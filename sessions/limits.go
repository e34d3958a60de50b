package sessions

// Limits are how much of the server can be used at once, by all or by one
// principal. Zero is no limit.
type Limits struct {
	Workspaces     int     // kept, running or not
	Running        int     // containers running
	Sessions       int     // MCP sessions and event streams open
	Calls          int     // requests handled at once; more wait
	CallsPerSecond float64 // more wait, and when too many wait, are refused
	Output         int64   // bytes that one command may print
	FileSize       int64   // bytes of a file that a tool may write
}
