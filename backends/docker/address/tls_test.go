package address_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker/address"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// issue makes a certificate and its key, as PEM; parent nil makes an authority.
func issue(t *testing.T, name string, parent *authority) (certPEM, keyPEM []byte, made *authority) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	signer := &authority{cert: template, key: key}
	if parent == nil {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	} else {
		signer = parent
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer.cert, &key.PublicKey, signer.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	return certPEM, keyPEM, &authority{cert: cert, key: key, pem: certPEM}
}

// secureEngine puts TLS that asks for a client's certificate in front of an
// engine's socket, and returns its address and its authority.
func secureEngine(t *testing.T, engine *engines.Engine) (host string, ca *authority) {
	t.Helper()
	_, _, ca = issue(t, "ca", nil)
	cert, key, _ := issue(t, "engine", ca)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool,
	})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			all.Go(func() { pass(conn.(*tls.Conn), strings.TrimPrefix(engine.Host, "unix://")) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		all.Wait()
	})
	return listener.Addr().String(), ca
}

// pass joins a connection with an engine's socket, each direction to its own end.
func pass(conn *tls.Conn, socket string) {
	defer conn.Close()
	if conn.Handshake() != nil {
		return // the client is told by TLS
	}
	to, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer to.Close()
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(to, conn)
		_ = to.(*net.UnixConn).CloseWrite()
	})
	both.Go(func() {
		_, _ = io.Copy(conn, to)
		_ = conn.CloseWrite()
	})
	both.Wait()
}

// certificates fills a directory as DOCKER_CERT_PATH has it.
func certificates(t *testing.T, trusted, signer *authority) string {
	t.Helper()
	dir := t.TempDir()
	cert, key, _ := issue(t, "client", signer)
	write(t, filepath.Join(dir, "ca.pem"), string(trusted.pem))
	write(t, filepath.Join(dir, "cert.pem"), string(cert))
	write(t, filepath.Join(dir, "key.pem"), string(key))
	return dir
}

func TestAnEngineBehindTLSIsReached(t *testing.T) {
	engine := engines.Docker(t)
	host, ca := secureEngine(t, engine)
	dir := certificates(t, ca, ca)
	_, _, stranger := issue(t, "stranger", nil)

	for _, c := range []struct {
		name string
		env  []string
	}{
		{"by DOCKER_CERT_PATH", []string{"DOCKER_HOST=tcp://" + host, "DOCKER_TLS_VERIFY=1", "DOCKER_CERT_PATH=" + dir}},
		{"by the configuration's directory", []string{"DOCKER_HOST=" + host, "DOCKER_TLS_VERIFY=1", "DOCKER_CONFIG=" + dir}},
		{"with another authority, unverified", []string{"DOCKER_HOST=tcp://" + host, "DOCKER_TLS=1", "DOCKER_CERT_PATH=" + certificates(t, stranger, ca)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := address.Docker(c.env, t.TempDir())
			carriesStreams(t, connect(t, a, err), engine)
		})
	}

	for _, c := range []struct {
		name string
		dir  string
		says string
	}{
		{"an engine that another authority signed is refused", certificates(t, stranger, ca), "its certificate is not accepted"},
		{"a client that another authority signed is told so", certificates(t, ca, stranger), "does not accept the certificate of this client"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := address.Docker([]string{"DOCKER_HOST=tcp://" + host, "DOCKER_TLS_VERIFY=1", "DOCKER_CERT_PATH=" + c.dir}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			_, err = a.Client(t.Context())
			if backends.CodeOf(err) != backends.CodeUnavailable || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "DOCKER_CERT_PATH") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestContextsOfTheRealCommandLineAreUsed(t *testing.T) {
	engine := engines.Docker(t)
	program, err := exec.LookPath("docker")
	if err != nil {
		testenv.Missing(t, "the docker command line")
	}
	host, ca := secureEngine(t, engine)
	certs := certificates(t, ca, ca)
	home := t.TempDir()
	docker := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("docker %v: %v: %s", args, err, out)
		}
	}
	docker("context", "create", "plain", "--docker", "host="+engine.Host)
	docker("context", "create", "secure", "--docker",
		"host=tcp://"+host+",ca="+certs+"/ca.pem,cert="+certs+"/cert.pem,key="+certs+"/key.pem")
	docker("context", "create", "unverified", "--docker",
		"host=tcp://"+host+",skip-tls-verify=true,cert="+certs+"/cert.pem,key="+certs+"/key.pem")
	docker("context", "create", "far", "--docker", "host=ssh://dev@build-box")
	docker("context", "use", "plain")

	for _, c := range []struct {
		env    string
		want   string
		source string
	}{
		{"", engine.Host, `the docker context "plain" (currentContext of ` + home + "/.docker/config.json)"},
		{"DOCKER_CONTEXT=secure", "tcp://" + host, `the docker context "secure" (DOCKER_CONTEXT)`},
		{"DOCKER_CONTEXT=unverified", "tcp://" + host, `the docker context "unverified" (DOCKER_CONTEXT)`},
	} {
		t.Run(c.source, func(t *testing.T) {
			a, err := address.Docker([]string{c.env}, home)
			cli := connect(t, a, err)
			if a.String() != c.want || a.Source() != c.source {
				t.Errorf("got %q from %q, want %q from %q", a, a.Source(), c.want, c.source)
			}
			if _, err := cli.Info(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	a, err := address.Docker([]string{"DOCKER_CONTEXT=far"}, home)
	if err != nil || a.String() != "ssh://dev@build-box" {
		t.Errorf("got %q, %v", a, err)
	}

	// With DOCKER_CONFIG the contexts are there, too.
	a, err = address.Docker([]string{"DOCKER_CONFIG=" + home + "/.docker"}, "")
	if err != nil || a.String() != engine.Host {
		t.Errorf("got %q, %v", a, err)
	}
	docker("context", "use", "default")
	a, err = address.Docker(nil, home)
	if err != nil || !strings.HasPrefix(a.String(), "unix:///var/run/docker.sock") {
		t.Errorf("after docker context use default: %q, %v", a, err)
	}
}
