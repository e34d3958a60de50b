package permissions

import "testing"

func BenchmarkPath(b *testing.B) {
	r := preset(b, "permissive")
	for _, p := range []struct{ name, path string }{
		{"short", "/workspace/main.go"},
		{"deep", "/workspace/internal/server/handlers/user/profile_test.go"},
		{"denied", "/workspace/config/.env"},
	} {
		b.Run(p.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Path(Write, p.path, p.path)
			}
		})
	}
}

func BenchmarkCommand(b *testing.B) {
	r := preset(b, "permissive")
	for _, c := range []struct{ name, script string }{
		{"ls", "ls -la"},
		{"pipeline", "grep -rn TODO src | sort | uniq -c | head -20"},
		{"list", "cd src && go build ./... && go test ./... > out.txt 2>&1"},
		{"loop", `for f in a.py b.py c.py; do python "$f" || exit 1; done`},
		{"wrapped", `sudo env A=1 timeout 10 sh -c 'rm -rf /'`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Command(c.script, emptyShell{})
			}
		})
	}
}
