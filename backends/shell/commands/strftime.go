package commands

import (
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/zones"
)

// location is the time zone of $TZ, UTC where it is not set or not known.
func (p *Proc) location() *time.Location {
	name, _ := p.Getenv("TZ")
	loc, _ := zones.Load(name)
	return loc
}

// Strftime is [FormatTime].
func Strftime(format string, t time.Time) string { return FormatTime(format, t) }
