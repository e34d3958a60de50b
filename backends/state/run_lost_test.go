package state

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// TestNothingIsLostBetweenScriptsAndTools lets scripts, some of them cancelled,
// and the other operations of several connections change the same few files.
// Each adds lines of its own; whatever conflicts come of it, each line that an
// operation reported as written is in the file or in a version kept beside it.
func TestNothingIsLostBetweenScriptsAndTools(t *testing.T) {
	eachStore(t, func(t *testing.T, store string) {
		sharing(t, 3*time.Millisecond)
		ws := newWorkspace(t, Config{Store: store})
		for _, name := range []string{"f0", "f1", "f2"} {
			writeTo(t, ws, name, "start\n")
		}
		var mu sync.Mutex
		written := map[string]bool{} // lines that must be somewhere
		wrote := func(line string) {
			mu.Lock()
			defer mu.Unlock()
			written[line] = true
		}
		var wg sync.WaitGroup
		for worker := range 4 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(worker)))
				for round := range 12 {
					name := fmt.Sprintf("f%d", random.IntN(3))
					line := fmt.Sprintf("line-%d-%d", worker, round)
					switch worker {
					case 0, 1: // a script that adds a line and stays for a while
						ctx, cancel := context.WithCancel(t.Context())
						if random.IntN(2) == 0 {
							time.AfterFunc(time.Duration(random.IntN(15))*time.Millisecond, cancel)
						}
						// The line counts from when the script says that it is there.
						_, err := ws.Run(ctx, backends.Command{
							Script: fmt.Sprintf(`echo %s >>%s; echo said; sleep 0.0%d`, line, name, random.IntN(9)+1),
							Output: func(_ backends.Stream, b []byte) {
								if strings.Contains(string(b), "said") {
									wrote(line)
								}
							},
						})
						cancel()
						switch backends.CodeOf(err) {
						case "", backends.CodeStale, backends.CodeCancelled:
						default:
							t.Errorf("a script: %v", err)
						}
					case 2: // an edit, which fails where it does not apply
						_, err := ws.Edit(t.Context(), backends.EditRequest{Path: name, Old: "start\n", New: "start\n" + line + "\n"})
						switch backends.CodeOf(err) {
						case "":
							wrote(line)
						case backends.CodeStale:
						default:
							t.Errorf("an edit: %v", err)
						}
					case 3: // a file of its own
						own := fmt.Sprintf("own-%d", round)
						writeTo(t, ws, own, line+"\n")
						wrote(line)
					}
				}
			})
		}
		wg.Wait()
		found, err := ws.Glob(t.Context(), backends.GlobRequest{Pattern: "**"})
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for _, name := range found.Paths {
			all += contentOf(t, ws, name)
		}
		for line := range written {
			if !strings.Contains(all, line+"\n") {
				t.Errorf("%s was written, and is nowhere in %q", line, found.Paths)
			}
		}
	})
}
