package docker_test

import (
	"testing"

	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// BenchmarkFirstCall is a first call in a fresh container whose image is there,
// beside docker run of the same image, and a further connection to it.
func BenchmarkFirstCall(b *testing.B) {
	engine := engines.Docker(b)
	c, err := client.NewClientWithOpts(client.WithHost(engine.Host), client.WithAPIVersionNegotiation())
	if err != nil {
		b.Fatal(err)
	}
	backend, err := docker.New(b.Context(), docker.Config{Client: c, Image: engine.Busybox, WorkingDir: "/workspace", Options: docker.Options{Network: "none"}})
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Close()
	b.Run("workspace", func(b *testing.B) {
		for b.Loop() {
			ws, err := backend.Create(b.Context(), backends.Spec{})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := ws.Stat(b.Context(), "."); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := ws.Close(); err != nil {
				b.Fatal(err)
			}
			if err := backend.Destroy(b.Context(), ws.Ref()); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	b.Run("docker run", func(b *testing.B) {
		for b.Loop() {
			engine.CLI(b, "run", "--rm", "--network", "none", engine.Busybox, "true")
		}
	})
	b.Run("attach", func(b *testing.B) {
		ws, err := backend.Create(b.Context(), backends.Spec{})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			again, err := backend.Attach(b.Context(), ws.Ref())
			if err != nil {
				b.Fatal(err)
			}
			if err := again.Close(); err != nil {
				b.Fatal(err)
			}
		}
		if err := ws.Close(); err != nil {
			b.Fatal(err)
		}
		if err := backend.Destroy(b.Context(), ws.Ref()); err != nil {
			b.Fatal(err)
		}
	})
}
