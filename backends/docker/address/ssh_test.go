package address_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker/address"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// sshServer is a real sshd on a loopback port, and an ssh program in bin that
// has the key for it and knows its host key.
type sshServer struct {
	port string
	bin  string
	dir  string
}

func startSSH(t *testing.T) sshServer {
	t.Helper()
	sshd := address.Program("sshd", []string{"PATH=/usr/sbin:/usr/local/sbin"}, "")
	client := address.Program("ssh", nil, "")
	if sshd == "" || client == "" {
		testenv.Missing(t, "ssh or sshd")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can log in as root without a password") // in CI, the engines ask for root
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { //nolint:gosec // sshd insists on it
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"host", "user"} {
		out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput()
		if err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	config := write(t, filepath.Join(dir, "sshd_config"), fmt.Sprintf(
		"Port %s\nListenAddress 127.0.0.1\nHostKey %[2]s/host\nAuthorizedKeysFile %[2]s/user.pub\nStrictModes no\nPermitRootLogin yes\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPidFile none\n", port, dir))
	cmd := exec.CommandContext(t.Context(), sshd, "-D", "-e", "-f", config) //nolint:gosec // the path is sshd's
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	listening := make(chan string, 1)
	go func() {
		defer close(listening)
		lines := bufio.NewScanner(log)
		var before []string
		for told := false; lines.Scan(); {
			before = append(before, lines.Text())
			if !told && strings.Contains(lines.Text(), "Server listening") {
				listening <- ""
				told = true
			}
		}
		select {
		case listening <- strings.Join(before, "\n"):
		default:
		}
	}()
	select {
	case failed := <-listening:
		if failed != "" {
			t.Fatalf("sshd: %s", failed)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("sshd does not start")
	}

	hostKey, err := os.ReadFile(filepath.Join(dir, "host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "known"), "[127.0.0.1]:"+port+" "+string(hostKey))
	clientConfig := write(t, filepath.Join(dir, "ssh_config"), fmt.Sprintf(
		"Host *\n IdentityFile %[1]s/user\n IdentitiesOnly yes\n UserKnownHostsFile %[1]s/known\n GlobalKnownHostsFile /dev/null\n", dir))
	wrapper := write(t, filepath.Join(dir, "bin", "ssh"), "#!/bin/sh\nexec "+client+" -F "+clientConfig+" \"$@\"\n")
	if err := os.Chmod(wrapper, 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	return sshServer{port: port, bin: filepath.Join(dir, "bin"), dir: dir}
}

// ours are the ssh processes that this test started and that still run.
func (s sshServer) ours(t *testing.T) []string {
	t.Helper()
	var found []string
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(line), s.dir+"/ssh_config") {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// awaitNone waits until no ssh process of this test runs.
func (s sshServer) awaitNone(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for len(s.ours(t)) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("left over: %v", s.ours(t))
		}
		time.Sleep(20 * time.Millisecond) // the kernel has no event for other's children
	}
}

func TestAnEngineBehindSSHIsReached(t *testing.T) {
	server := startSSH(t)
	path := []string{"PATH=" + server.bin}
	login := "ssh://root@127.0.0.1:" + server.port

	t.Run("Docker", func(t *testing.T) {
		engine := engines.Docker(t)
		if address.Program("docker", nil, "") == "" {
			testenv.Missing(t, "the docker command line (docker system dial-stdio)")
		}
		t.Cleanup(func() { server.awaitNone(t) }) // after the client is closed
		a, err := address.Docker(append(path, "DOCKER_HOST="+login+strings.TrimPrefix(engine.Host, "unix://")), t.TempDir())
		carriesStreams(t, connect(t, a, err), engine)
	})
	t.Run("Podman", func(t *testing.T) {
		engine := engines.Podman(t)
		t.Cleanup(func() { server.awaitNone(t) })
		a, err := address.Podman(append(path, "CONTAINER_HOST="+login+strings.TrimPrefix(engine.Host, "unix://")), t.TempDir())
		carriesStreams(t, connect(t, a, err), engine)
	})

	for _, c := range []struct {
		name string
		env  []string
		host string
		says []string
	}{
		// Without a PATH the real ssh is found, and it has never seen this host.
		{"a host that was never visited", nil, login, []string{"Host key verification failed", "once in a terminal"}},
		{"a user that the key is not for", path, "ssh://nobody@127.0.0.1:" + server.port, []string{"Permission denied", "ssh-add"}},
		{"a socket that is not there", path, login + "/no/such.sock", []string{"/no/such.sock"}},
		{"a port where nothing listens", path, "ssh://root@127.0.0.1:1", []string{"Connection refused", "ssh ssh://root@127.0.0.1:1 logs in"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if address.Program("docker", nil, "") == "" {
				testenv.Missing(t, "the docker command line (docker system dial-stdio)")
			}
			t.Cleanup(func() { server.awaitNone(t) })
			a, err := address.Docker(append(c.env, "DOCKER_HOST="+c.host), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			_, err = a.Client(t.Context())
			if backends.CodeOf(err) != backends.CodeUnavailable {
				t.Fatalf("code %q: %v", backends.CodeOf(err), err)
			}
			for _, part := range append(c.says, "DOCKER_HOST", c.host) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in: %v", part, err)
				}
			}
		})
	}

	t.Run("a host that stops answering does not hang", func(t *testing.T) {
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		a, err := address.Docker(append(path, "DOCKER_HOST=ssh://root@"+silent.Addr().String()), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Within(300 * time.Millisecond).Client(t.Context())
		if backends.CodeOf(err) != backends.CodeUnavailable || !strings.Contains(err.Error(), "no answer within 300ms") {
			t.Errorf("got %v", err)
		}
		server.awaitNone(t)
	})
}
