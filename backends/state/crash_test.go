package state

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// The tests in this file run this binary again as other processes, which know
// by these variables what to do.
const (
	childDoes  = "MCP_WORKSPACE_TEST_CHILD"
	childStore = "MCP_WORKSPACE_TEST_STORE"
	childName  = "MCP_WORKSPACE_TEST_NAME"
	childFrom  = "MCP_WORKSPACE_TEST_FROM"
)

func TestMain(m *testing.M) {
	does := os.Getenv(childDoes)
	if does == "" {
		os.Exit(m.Run())
	}
	if err := child(context.Background(), does); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child is what another process does.
func child(ctx context.Context, does string) error {
	b, err := New(ctx, Config{Store: os.Getenv(childStore)})
	if err != nil {
		return err
	}
	ws, err := b.Create(ctx, backends.Spec{Name: "w"})
	if err != nil {
		return err
	}
	from, err := strconv.Atoi(os.Getenv(childFrom))
	if err != nil {
		return err
	}
	switch does {
	case "write":
		err = writeForever(ctx, ws, from)
	case "count":
		err = countUp(ctx, ws, os.Getenv(childName), from)
	default:
		err = fmt.Errorf("nothing known to do as %q", does)
	}
	return errors.Join(err, ws.Close(), b.Close())
}

const (
	// crashFiles is how many files writeForever writes in turn.
	crashFiles = 7
	// crashSize varies the size, so that a document that was written in part
	// shows.
	crashSize = 4000
)

// writeForever writes numbers into files and reports each that the store has
// acknowledged.
func writeForever(ctx context.Context, ws backends.Workspace, from int) error {
	for n := from; ; n++ {
		_, err := ws.Write(ctx, backends.WriteRequest{Path: crashFile(n), Content: strings.NewReader(crashContent(n))})
		if err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

func crashFile(n int) string { return fmt.Sprintf("f%d", n%crashFiles) }

func crashContent(n int) string {
	return fmt.Sprintf("%d\n%s\n", n, strings.Repeat("x", n*997%crashSize))
}

// countUp adds one to a counter so many times, by edits that say what they
// expect to be there, and writes a file of its own each time.
func countUp(ctx context.Context, ws backends.Workspace, name string, times int) error {
	for done := 0; done < times; {
		got, err := ws.Read(ctx, backends.ReadRequest{Path: "counter"})
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(got.Lines[0].Text)
		if err != nil {
			return err
		}
		req := backends.EditRequest{Path: "counter", Old: got.Lines[0].Text, New: strconv.Itoa(n + 1)}
		if done%2 == 0 {
			req.IfVersion = got.Version
		}
		_, err = ws.Edit(ctx, req)
		switch backends.CodeOf(err) {
		case "":
			done++
		case backends.CodeStale, backends.CodeNoMatch, backends.CodeNotUnique:
			continue // another came first
		default:
			return err
		}
		_, err = ws.Write(ctx, backends.WriteRequest{Path: fmt.Sprintf("%s-%d", name, done), Content: strings.NewReader(name)})
		if err != nil {
			return err
		}
	}
	return nil
}

// process runs this binary as another process.
func process(t *testing.T, does, store, name string, from int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childDoes+"="+does, childStore+"="+store, childName+"="+name, childFrom+"="+strconv.Itoa(from))
	return cmd
}

func TestNoAcknowledgedWriteIsLostByAKill(t *testing.T) {
	rounds := 25
	if testing.Short() {
		rounds = 5
	}
	eachShared(t, func(t *testing.T, store string) {
		acknowledged := map[string]int{}
		next, total := 1, 0
		for round := range rounds {
			acks := writeUntilKilled(t, store, next)
			for _, n := range acks {
				acknowledged[crashFile(n)] = n
			}
			total += len(acks)
			// What was being written when the process was killed may be there
			// too.
			if len(acks) > 0 {
				next = acks[len(acks)-1] + 1
			}
			checkAfterKill(t, store, acknowledged, next)
			if t.Failed() {
				t.Fatalf("in round %d", round)
			}
			next++
		}
		t.Logf("%d acknowledged writes in %d processes that were killed", total, rounds)
		if total < rounds {
			t.Errorf("only %d writes were acknowledged: nothing was put to the test", total)
		}
	})
}

// writeUntilKilled starts a process that writes numbers from next on, kills it
// at some moment, and returns the numbers that it reported.
func writeUntilKilled(t *testing.T, store string, next int) (acks []int) {
	t.Helper()
	cmd := process(t, "write", store, "", next)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	enough := rand.IntN(20) // and then anywhere within the next few writes
	kill := func() { _ = cmd.Process.Kill() }
	if enough == 0 {
		time.AfterFunc(rand.N(200*time.Millisecond), kill) // while it opens the store
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break // a line without an end was not reported
		}
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		if acks = append(acks, n); len(acks) == enough {
			time.AfterFunc(rand.N(10*time.Millisecond), kill)
		}
	}
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the process was to be killed, and ended by itself: %v\n%s", err, stderr.String())
	}
	return acks
}

// checkAfterKill opens the store anew and looks for each file's acknowledged
// number, or the one number that was under way. What has been seen once must
// stay, so it counts as acknowledged from then on.
func checkAfterKill(t *testing.T, store string, acknowledged map[string]int, underWay int) {
	t.Helper()
	b, err := New(t.Context(), Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	ws, err := b.Create(t.Context(), backends.Spec{Name: "w"})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := b.Document(t.Context(), ws.Ref())
	if err != nil {
		t.Fatal(err)
	}
	if string(doc.Files["/workspace/"+crashFile(underWay)].Content) == crashContent(underWay) {
		acknowledged[crashFile(underWay)] = underWay
	}
	for name, n := range acknowledged {
		if got := string(doc.Files["/workspace/"+name].Content); got != crashContent(n) {
			first, _, _ := strings.Cut(got, "\n")
			t.Errorf("%s has %q (%d bytes), and %d was acknowledged", name, first, len(got), n)
		}
	}
	if err := errors.Join(ws.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestWritersInSeveralProcessesLoseNothing(t *testing.T) {
	const writers, times = 3, 40
	eachShared(t, func(t *testing.T, store string) {
		ws := create(t, open(t, Config{Store: store}), backends.Spec{Name: "w"})
		write(t, ws, "counter", "1000")
		var cmds []*exec.Cmd
		var outputs [writers]strings.Builder
		for i := range writers {
			cmd := process(t, "count", store, fmt.Sprintf("p%d", i), times)
			cmd.Stdout, cmd.Stderr = &outputs[i], &outputs[i]
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			cmds = append(cmds, cmd)
		}
		// This process counts too, on two connections.
		ours := make(chan error, 2)
		other := create(t, open(t, Config{Store: store}), backends.Spec{Name: "w"})
		go func() { ours <- countUp(t.Context(), ws, "ours", times) }()
		go func() { ours <- countUp(t.Context(), other, "other", times) }()
		for i, cmd := range cmds {
			if err := cmd.Wait(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, outputs[i].String())
			}
		}
		if err := errors.Join(<-ours, <-ours); err != nil {
			t.Error(err)
		}
		if got, want := read(t, ws, "counter"), strconv.Itoa(1000+(writers+2)*times); got != want {
			t.Errorf("the counter is at %s, want %s", got, want)
		}
		list, err := ws.List(t.Context(), backends.ListRequest{Path: "."})
		if err != nil || list.Total != 1+(writers+2)*times {
			t.Errorf("%d files, %v, want %d", list.Total, err, 1+(writers+2)*times)
		}
	})
}
