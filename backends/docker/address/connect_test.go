package address_test

import (
	"bufio"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker/address"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// connect finds an engine, connects to it, and has the client closed.
func connect(t *testing.T, a address.Address, err error) *client.Client {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	cli, host, err := a.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cli.Close(); err != nil {
			t.Error(err)
		}
	})
	if !strings.Contains(a.String(), host) {
		t.Errorf("%s answered, which is not of %s", host, a)
	}
	return cli
}

// carriesStreams checks that the client can do what containers need: plain
// calls, and a stream in both directions of which one can be closed.
func carriesStreams(t *testing.T, cli *client.Client, engine *engines.Engine) {
	t.Helper()
	name := engine.UniqueName(t, "mcpws-address-")
	created, err := cli.ContainerCreate(t.Context(), &container.Config{
		Image: engine.Busybox, Cmd: []string{"cat"}, OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true,
		NetworkDisabled: true, Tty: false,
	}, nil, nil, nil, name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		err := cli.ContainerRemove(context.WithoutCancel(t.Context()), created.ID, container.RemoveOptions{Force: true, RemoveVolumes: true})
		if err != nil {
			t.Error(err)
		}
	}()
	stream, err := cli.ContainerAttach(t.Context(), created.ID, container.AttachOptions{Stream: true, Stdin: true, Stdout: true})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if err := cli.ContainerStart(t.Context(), created.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stream.Conn, "over there\n"); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(stream.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(got), "over there\n") {
		t.Errorf("read %q", got)
	}
}

func TestTheRealEngineIsReached(t *testing.T) {
	engine := engines.Docker(t)
	a, err := address.Docker([]string{"DOCKER_HOST=" + engine.Host}, t.TempDir())
	cli := connect(t, a, err)
	if cli.DaemonHost() != engine.Host {
		t.Errorf("DaemonHost is %s", cli.DaemonHost())
	}
	version, err := cli.ServerVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if cli.ClientVersion() != version.APIVersion && cli.ClientVersion() > version.APIVersion {
		t.Errorf("API version %s was agreed on, the engine has %s", cli.ClientVersion(), version.APIVersion)
	}
	carriesStreams(t, cli, engine)

	t.Run("with a fixed API version", func(t *testing.T) {
		a, err := address.Docker([]string{"DOCKER_HOST=" + engine.Host, "DOCKER_API_VERSION=1.40"}, t.TempDir())
		if got := connect(t, a, err).ClientVersion(); got != "1.40" {
			t.Errorf("API version %s", got)
		}
	})
}

func TestPodmanIsReached(t *testing.T) {
	engine := engines.Podman(t)
	a, err := address.Podman([]string{"CONTAINER_HOST=" + engine.Host}, t.TempDir())
	carriesStreams(t, connect(t, a, err), engine)
}

func TestTheFirstSocketThatAnswersIsTaken(t *testing.T) {
	engine := engines.Docker(t)
	dir := t.TempDir()
	dead := filepath.Join(dir, "dead.sock")
	listener, err := net.Listen("unix", dead)
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	real := strings.TrimPrefix(engine.Host, "unix://")
	cli := connect(t, address.Only("Docker", filepath.Join(dir, "none.sock"), dead, real), nil)
	if cli.DaemonHost() != engine.Host {
		t.Errorf("%s was taken", cli.DaemonHost())
	}
}

func TestAnEngineThatIsNotThereSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	quiet := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	defer quiet.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // what it is sent is no TLS
	secure.StartTLS()
	defer secure.Close()
	write(t, filepath.Join(dir, "file"), "")
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	tcp := func(s *httptest.Server) string { return "DOCKER_HOST=tcp://" + s.Listener.Addr().String() }
	for _, c := range []struct {
		name string
		env  []string
		says []string
	}{
		{"no socket", []string{"DOCKER_HOST=unix://" + dir + "/no.sock"}, []string{"DOCKER_HOST", dir + "/no.sock", "no such socket", "tart"}},
		{"Colima's socket", []string{"DOCKER_HOST=unix://" + dir + "/.colima/default/docker.sock"}, []string{"colima start"}},
		{"a file", []string{"DOCKER_HOST=unix://" + dir + "/file"}, []string{dir + "/file", "nothing listens"}},
		{"a closed port", []string{"DOCKER_HOST=tcp://" + free}, []string{free, "connection refused", "DOCKER_HOST"}},
		{"an unknown name", []string{"DOCKER_HOST=tcp://no-such-host.invalid:2375"}, []string{"no-such-host.invalid", "not known"}},
		{"a web server that knows no engine", []string{tcp(web)}, []string{"404"}},
		{"a web server that answers anything", []string{tcp(quiet)}, []string{"not a container engine"}},
		{"TLS where plain was asked", []string{tcp(secure)}, []string{"it speaks TLS", "DOCKER_TLS_VERIFY=1"}},
		{"plain where TLS was asked", []string{tcp(web), "DOCKER_TLS=1"}, []string{"does not speak TLS", "2376"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := address.Docker(c.env, dir)
			if err != nil {
				t.Fatal(err)
			}
			_, err = a.Client(t.Context())
			if backends.CodeOf(err) != backends.CodeUnavailable {
				t.Fatalf("code %q: %v", backends.CodeOf(err), err)
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in: %v", part, err)
				}
			}
		})
	}
}

func TestAllSocketsTriedAreNamed(t *testing.T) {
	dir := t.TempDir()
	for _, engine := range []struct{ name, start, variable string }{
		{"Docker", "systemctl start docker", "DOCKER_HOST"},
		{"Podman", "systemctl --user start podman.socket", "CONTAINER_HOST"},
	} {
		_, err := address.Only(engine.name, dir+"/a.sock", dir+"/b.sock").Client(t.Context())
		if backends.CodeOf(err) != backends.CodeUnavailable {
			t.Fatalf("code %q: %v", backends.CodeOf(err), err)
		}
		for _, part := range []string{dir + "/a.sock", dir + "/b.sock", engine.start, engine.variable, engine.name} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is not in: %v", part, err)
			}
		}
	}
}

// A connection to this host is never answered: its queue is full.
func TestADeadHostDoesNotHang(t *testing.T) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	host := (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*syscall.SockaddrInet4).Port}).String()
	for {
		conn, err := net.DialTimeout("tcp", host, 200*time.Millisecond)
		if err != nil {
			break // full
		}
		defer conn.Close()
	}
	a, err := address.Docker([]string{"DOCKER_HOST=tcp://" + host}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Within(300 * time.Millisecond).Client(t.Context())
	if backends.CodeOf(err) != backends.CodeUnavailable || !strings.Contains(err.Error(), "no answer within 300ms") {
		t.Errorf("got %v", err)
	}
}

func TestGivingUpIsNotAnEngineThatIsNotThere(t *testing.T) {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "stuck.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			defer conn.Close()
			_, _ = conn.Read(make([]byte, 1)) // the request has come; it is never answered
			cancel()
			<-t.Context().Done()
		}
	}()
	_, err = address.Only("Docker", listener.Addr().String()).Client(ctx)
	if backends.CodeOf(err) != backends.CodeCancelled {
		t.Errorf("got %v", err)
	}
}

// The test runs itself as nobody, who may not open the socket.
func TestASocketOfOthersSaysHowToBeLetIn(t *testing.T) {
	const variable = "ADDRESS_TEST_SOCKET"
	if path := os.Getenv(variable); path != "" {
		_, err := address.Only("Docker", path).Client(t.Context())
		_, _ = os.Stdout.WriteString(string(backends.CodeOf(err)) + ": " + err.Error() + "\n")
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	dir, err := os.MkdirTemp("", "address")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // for another user
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "docker.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	const adm = 4 // a group that every Debian system has
	if err := os.Chown(socket, 0, adm); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(socket, 0o660); err != nil { //nolint:gosec // as Docker's is
		t.Fatal(err)
	}
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "address.test")
	if err := os.WriteFile(copied, program, 0o755); err != nil { //nolint:gosec // for another user
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), copied, "-test.run=^"+t.Name()+"$")
	cmd.Env, cmd.Dir = []string{variable + "=" + socket}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	said, _, _ := bufio.ScanLines(out, true)
	line := string(out[:said])
	for _, part := range []string{"unavailable: ", socket + ": permission denied", "usermod -aG adm"} {
		if !strings.Contains(line, part) {
			t.Errorf("%q is not in: %s", part, line)
		}
	}
}
