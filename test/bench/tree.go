package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	treeFileBytes = 24 << 10
	filesPerDir   = 50
	needleEvery   = 500 // files
)

// search is one program over the tree.
type search struct {
	name string
	run  func(pattern string) error
	took durations
}

// measureTree searches a tree of source-like text, each program in turn.
func measureTree(ctx context.Context, b *bench) (err error) {
	dir := filepath.Join(b.dir, "tree")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	files := int(b.treeBytes / treeFileBytes)
	if err := writeTree(dir, files); err != nil {
		return err
	}
	c, _, err := open(ctx, b.local(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()

	for _, pattern := range []string{"needleInTheTree", `needle[A-Z]\w+Tree`} {
		searches := []*search{{name: "mcp-workspace grep", run: func(pattern string) error {
			_, err := c.call("grep", map[string]any{"pattern": pattern})
			return err
		}}}
		for _, command := range [][]string{{"rg", "-l"}, {"grep", "-rlE"}} {
			program, err := exec.LookPath(command[0])
			if err != nil {
				fmt.Printf("%s is not installed: left out\n", command[0])
				continue
			}
			searches = append(searches, &search{name: command[0] + " " + command[1], run: func(pattern string) error {
				out, err := exec.CommandContext(ctx, program, command[1], pattern, dir).Output()
				if err == nil && len(out) == 0 {
					err = errors.New("found nothing")
				}
				return err
			}})
		}
		for round := range b.searches + 1 { // the first fills the page cache
			for _, s := range searches {
				started := time.Now()
				if err := s.run(pattern); err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				if round > 0 {
					s.took = append(s.took, time.Since(started))
				}
			}
		}
		t := newTable(fmt.Sprintf("search of %s in %d files for %s (aim: within 1.5 times rg, memory under 100 MB)",
			mb(b.treeBytes), files, pattern), "program", "median", "mcp-workspace = 1")
		for _, s := range searches {
			t.row(s.name, ms(s.took.percentile(50)), times(s.took.percentile(50), searches[0].took.percentile(50)))
		}
		resident, peak := c.memory()
		t.row("mcp-workspace memory", resident+" resident", peak+" peak")
		if err := t.print(); err != nil {
			return err
		}
	}
	return nil
}

// writeTree makes files of words, the same in every run, some with a needle.
func writeTree(dir string, files int) error {
	words := []string{"func", "return", "value", "context", "error", "needle", "string", "range", "buffer", "channel",
		"if", "else", "package", "import", "tree", "node", "left", "right", "// comment about", ":=", "{", "}", "\n"}
	random := rand.New(rand.NewPCG(1, 2)) // fixed: every run searches the same text
	content := make([]byte, 0, treeFileBytes+64)
	for n := range files {
		content = content[:0]
		for len(content) < treeFileBytes {
			content = append(content, words[random.IntN(len(words))]...)
			content = append(content, ' ')
		}
		if n%needleEvery == 0 {
			content = append(content, "needleInTheTree\n"...)
		}
		sub := filepath.Join(dir, fmt.Sprintf("module%d", n/filesPerDir/20), fmt.Sprintf("package%d", n/filesPerDir))
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("file%d.txt", n)), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
