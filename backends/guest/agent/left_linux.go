package agent

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends/procs"
)

// Bounds on what process 1 remembers. Whoever can write into the ledger is of the
// same user and could kill the same processes by themselves, so they are for its
// memory only.
const (
	maxEntry   = 64 // bytes
	maxAgents  = 1024
	maxLeaders = 4096 // of one agent
)

// keeper reads the ledger as process 1: for each agent the leaders of the commands
// that it runs.
type keeper map[int]map[int]bool

// keepLedger has the ledger read for as long as this process lives. Without it
// what killed agents leave goes on, and all else works.
func keepLedger() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	// It stays open: the ledger has no end.
	if err := unix.Dup3(int(w.Fd()), ledgerFD, unix.O_CLOEXEC); err != nil {
		return errors.Join(err, r.Close(), w.Close())
	}
	go keeper{}.read(r)
	return w.Close()
}

// read takes one entry after the other, and passes over what is none.
func (k keeper) read(r io.Reader) {
	in := bufio.NewReaderSize(r, maxEntry)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return
		}
		first, second, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		agent, err1 := strconv.ParseInt(first, 10, 32)
		leader, err2 := strconv.ParseInt(second, 10, 32)
		if err1 == nil && err2 == nil && agent > 1 && leader != 1 && leader != -1 {
			k.take(int(agent), int(leader))
		}
	}
}

// take takes one entry: a leader that runs, the negative of one that has ended, or
// hasEnded of the agent itself.
func (k keeper) take(agent, leader int) {
	leaders, known := k[agent]
	switch {
	case leader == hasEnded:
		delete(k, agent)
		for leader := range leaders {
			// What cannot be seen or killed stays; there is nobody to tell.
			go func() { _, _ = procs.EndSession(leader) }()
		}
	case leader < 0:
		delete(leaders, -leader)
	case !known && len(k) >= maxAgents, len(leaders) >= maxLeaders:
	case known:
		leaders[leader] = true
	default:
		k[agent] = map[int]bool{leader: true}
		go outlive(agent)
	}
}

// hasEnded stands for a leader in the last entry of an agent.
const hasEnded = 0

// outlive waits for an agent to end and writes that down itself: behind what the
// agent has written, so that a command which ended is not taken for one that ran.
func outlive(agent int) {
	if err := procs.AwaitEnd(agent); err != nil && !errors.Is(err, unix.ESRCH) {
		return // the kernel cannot tell
	}
	_ = writeEntry(ledgerFD, agent, hasEnded) // process 1 reads for as long as it lives
}
