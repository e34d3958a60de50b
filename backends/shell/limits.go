package shell

import (
	"fmt"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Limits bound what one script can use. Zero means the default, which is what
// the field's comment says. The files that it can make are bounded by the
// Files it gets.
type Limits struct {
	// Memory is how many bytes its variables, expansions, pipes and commands
	// hold at one time; 256 MiB.
	Memory int64
	// Steps is how many commands it runs, those in loops and functions
	// included; 20 million.
	Steps int64
	// Tasks is how many goroutines run for it at one time: background jobs,
	// stages of pipelines, process substitutions; 256.
	Tasks int
	// Depth is how deep functions, substitutions, sourced files and scripts
	// that run scripts nest; 500.
	Depth int
	// Script is how many bytes a script or a text for eval can have; 2 MiB.
	Script int
}

func (l Limits) withDefaults() Limits {
	set := func(n *int64, def int64) {
		if *n == 0 {
			*n = def
		}
	}
	tasks, depth, script := int64(l.Tasks), int64(l.Depth), int64(l.Script)
	set(&l.Memory, 256<<20)
	set(&l.Steps, 20_000_000)
	set(&tasks, 256)
	set(&depth, 500)
	set(&script, 2<<20)
	l.Tasks, l.Depth, l.Script = int(tasks), int(depth), int(script)
	return l
}

// taskCost is about how much memory a job or a stage of a pipeline takes by
// itself: its stack, a full pipe, the buffer of a command.
const taskCost = pipeSize + 64<<10

// levelCost is about how much stack a function, a substitution or a script in
// another takes, as measured: goroutines keep theirs to their end.
const levelCost = 8 << 10

// maxNesting is how deep brackets and keywords of a script nest: the parser
// and the interpreter need stack for each level.
const maxNesting = 1000

// overLimit is why a script is stopped.
func overLimit(format string, args ...any) error {
	return backends.Errorf(backends.CodeTooLarge, op, "", "the script was stopped: "+format, args...)
}

func (m *machine) memoryError() error {
	return overLimit("its variables, words and commands would hold more than %s of memory", size(m.limits.Memory))
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
