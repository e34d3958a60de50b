package containers

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// printArguments is a program that needs nothing of the image.
const printArguments = `package main

import (
	"fmt"
	"os"
)

func main() {
	dir, _ := os.Getwd()
	fmt.Printf("%q in %s\n", os.Args[1:], dir)
	if len(os.Args) > 3 {
		os.Exit(3)
	}
}
`

// staticProgram builds a program of Go source.
func staticProgram(t *testing.T, source string) (path string) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.go"), source)
	path = filepath.Join(dir, "program")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, filepath.Join(dir, "main.go"))
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func TestAnImageWithoutAShell(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		name := named(t, e)
		s := start(t, e, "--name="+name, "--network=none", "--image="+e.Scratch)
		t.Run("files and search work", func(t *testing.T) {
			s.must(t, "write_file", args{"path": "notes/a.txt", "content": "one\ntwo\n"})
			s.must(t, "edit_file", args{"path": "notes/a.txt", "old_string": "two", "new_string": "three"})
			for _, c := range []struct {
				tool string
				args args
				want string
			}{
				{"read_file", args{"path": "/workspace/notes/a.txt"}, "     2\tthree\n"},
				{"ls", args{"path": "/"}, "workspace/\n"},
				{"glob", args{"pattern": "**/*.txt"}, "notes/a.txt"},
				{"grep", args{"pattern": "thr..", "output_mode": "content"}, "notes/a.txt:2: three"},
			} {
				if got := s.must(t, c.tool, c.args); !strings.Contains(got, c.want) {
					t.Errorf("%s answered %q", c.tool, got)
				}
			}
		})
		t.Run("a script is refused", func(t *testing.T) {
			for _, command := range []string{"echo a | cat", "cd /; ls", "ls *.txt", "x=1 ls", "ls > a", "ls &"} {
				s.refused(t, "unsupported", "execute", args{"command": command}, "no shell")
			}
		})
		t.Run("a program that is missing is named", func(t *testing.T) {
			got := s.call(t, "execute", args{"command": "echo hello"})
			if got.exit != 127 || !strings.Contains(got.text, "echo") {
				t.Errorf("answered %+v", got)
			}
		})
		t.Run("a program runs by its arguments", func(t *testing.T) {
			// As a user would bring it there; write_file writes text.
			e.CLI(t, "cp", staticProgram(t, printArguments), "mcpws-"+name+":/workspace/program")
			for _, command := range []string{`./program 'a b' "c$"`, `/workspace/program a\ b c\$`} {
				if got := strings.TrimSpace(s.run(t, command)); got != `["a b" "c$"] in /workspace` {
					t.Errorf("%s printed %q", command, got)
				}
			}
			if got := s.call(t, "execute", args{"command": "./program 1 2 3"}); got.exit != 3 {
				t.Errorf("answered %+v", got)
			}
		})
	})
}
