package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate makes one for this machine and its key, in PEM.
func certificate(t *testing.T, name string) (cert, key []byte, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return cert, key, pool
}

// TestACertificateIsRenewedWhileTheServerRuns, also when for a moment the files
// do not fit or are broken.
func TestACertificateIsRenewedWhileTheServerRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	put := func(path string, content []byte) { // as a renewal does, in one step
		t.Helper()
		if err := os.WriteFile(path+".new", content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	oldCert, oldKey, oldPool := certificate(t, "old")
	newCert, newKey, newPool := certificate(t, "new")
	put(certFile, oldCert)
	put(keyFile, oldKey)
	s := withOperator()
	s.flags = []string{"--tls-cert", certFile, "--tls-key", keyFile}
	p := start(t, s.options)
	if !strings.HasPrefix(p.root, "https://") {
		t.Fatalf("the URL is %s", p.root)
	}
	over := func(pool *x509.CertPool, http2 bool) caller {
		c := p.as(s.alice)
		c.http = &http.Client{Timeout: callWithin, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: http2}}
		return c
	}
	kept := over(oldPool, true)
	kept.write(t, "a.txt", "kept\n")
	session := kept.open(t)
	stream := session.listen(t, "/mcp")
	presented := func() string {
		d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} // which one it is, is the question
		conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(p.root, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Subject.CommonName
	}

	put(certFile, newCert) // does not fit the key
	time.Sleep(11 * time.Second)
	if got := presented(); got != "old" {
		t.Errorf("with files that do not fit it is %q", got)
	}
	put(keyFile, newKey)
	within(t, 30*time.Second, "the new one is presented", func() bool { return presented() == "new" })
	for _, http2 := range []bool{true, false} {
		if got := over(newPool, http2).content(t, "a.txt"); got != "kept" {
			t.Errorf("the file has %q", got)
		}
	}
	session.must(t, "ls", nil)
	stream.cancel()
	if _, err := over(oldPool, false).try(t.Context(), "ls", nil); err == nil {
		t.Error("who trusts the old one only is answered")
	}

	t.Run("old versions of TLS and no TLS are refused", func(t *testing.T) {
		d := tls.Dialer{Config: &tls.Config{RootCAs: newPool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}} //nolint:gosec // that is the test
		if conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(p.root, "https://")); err == nil {
			t.Errorf("TLS 1.1 works; closing says %v", conn.Close())
		}
		plain := p.as(s.alice)
		plain.root = strings.Replace(p.root, "https:", "http:", 1)
		if got, err := plain.do(request(t, plain)); err == nil && (got.status != http.StatusBadRequest || bytes.Contains(got.body, []byte("result"))) {
			t.Errorf("without TLS it answers %d %s", got.status, got.body)
		}
	})
}

func request(t *testing.T, c caller) *http.Request {
	t.Helper()
	r, err := c.request(context.WithoutCancel(t.Context()), "tools/list", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
