package fsops

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// benchDir is the tree that the benchmarks search: MCP_WORKSPACE_BENCH_DIR, or
// the sources of Go.
func benchDir(b *testing.B) string {
	dir := os.Getenv("MCP_WORKSPACE_BENCH_DIR")
	if dir == "" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			b.Fatal(err)
		}
		dir = filepath.Join(strings.TrimSpace(string(out)), "src")
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

func BenchmarkGrep(b *testing.B) {
	dir := benchDir(b)
	tree := New(walkOS{"/"}, dir)
	for _, c := range []struct {
		name string
		req  backends.GrepRequest
	}{
		{"literal", backends.GrepRequest{Pattern: "StatusTooManyRequests"}},
		{"literal_common", backends.GrepRequest{Pattern: "return nil", Mode: backends.GrepCount}},
		{"ignore_case", backends.GrepRequest{Pattern: "statustoomanyrequests", CaseInsensitive: true}},
		{"regexp_prefix", backends.GrepRequest{Pattern: `func \w+Context\(`, Mode: backends.GrepCount}},
		{"regexp_inner", backends.GrepRequest{Pattern: `\w+Deadline\w+`, Mode: backends.GrepCount}},
		{"regexp_alternatives", backends.GrepRequest{Pattern: `TODO|FIXME|XXX`, Mode: backends.GrepCount}},
		{"regexp_without_literal", backends.GrepRequest{Pattern: `[A-Z]{6}[0-9]{3}`, Mode: backends.GrepCount}},
		{"multiline", backends.GrepRequest{Pattern: `panic\(\n`, Multiline: true}},
		{"filtered", backends.GrepRequest{Pattern: "StatusTooManyRequests", Filter: backends.Filter{
			Names: benchRules(), Content: benchRules("**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/*.crt", "**/credentials*", "**/secrets*",
				"**/*secret*", "**/*password*", "**/.aws/**", "**/.ssh/**", "**/.gnupg/**")}}},
		{"content", backends.GrepRequest{Pattern: `StatusTooManyRequests`, Mode: backends.GrepContent, Context: 2, Limit: 50}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				res, err := tree.Grep(b.Context(), c.req)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(res.Total), "found")
			}
		})
	}
}

func BenchmarkGlob(b *testing.B) {
	dir := benchDir(b)
	tree := New(walkOS{"/"}, dir)
	for b.Loop() {
		res, err := tree.Glob(b.Context(), backends.GlobRequest{Pattern: "**/*_test.go", Limit: 100})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(res.Total), "found")
	}
}

// benchRules is a set that hides what the patterns match.
func benchRules(patterns ...string) []backends.FilterSet {
	set := backends.FilterSet{Default: true}
	for _, p := range patterns {
		set.Rules = append(set.Rules, backends.FilterRule{Pattern: p})
	}
	return []backends.FilterSet{set}
}
