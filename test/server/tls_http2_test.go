package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// overTLS starts a server with a certificate that the pool trusts.
func overTLS(t *testing.T, s shared) (*program, *x509.CertPool) {
	t.Helper()
	cert, key, pool := certificate(t, "server")
	s.flags = append(s.flags, "--tls-cert", fileOf(t, "tls.crt", string(cert)), "--tls-key", fileOf(t, "tls.key", string(key)))
	return start(t, s.options), pool
}

// http2Only is a client that takes no other protocol.
type http2Only struct {
	*http.Transport
	dials atomic.Int64
}

func newHTTP2(t *testing.T, pool *x509.CertPool) *http2Only {
	c := &http2Only{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, Protocols: new(http.Protocols)}}
	c.Protocols.SetHTTP2(true)
	var d net.Dialer
	c.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c.dials.Add(1)
		return d.DialContext(ctx, network, addr)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func (c *http2Only) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.Transport.RoundTrip(r)
	if err == nil && (res.ProtoMajor != 2 || res.TLS == nil) {
		return res, errors.Join(fmt.Errorf("answered by %s", res.Proto), res.Body.Close())
	}
	return res, err
}

// TestOneHTTP2Connection carries a session, its listening stream and as many
// calls at once as a client likes.
func TestOneHTTP2Connection(t *testing.T) {
	t.Parallel()
	s := withOperator()
	p, pool := overTLS(t, s)
	transport := newHTTP2(t, pool)
	alice := p.as(s.alice)
	alice.http = &http.Client{Timeout: callWithin, Transport: transport}
	session := alice.open(t)
	stream := session.listen(t, "/mcp")
	if stream.status != http.StatusOK {
		t.Fatalf("GET is answered with %d", stream.status)
	}
	const calls = 200
	var running sync.WaitGroup
	for i := range calls {
		c := []caller{session, alice}[i%2].another(i + 1)
		running.Go(func() {
			want := strconv.Itoa(i)
			got, err := c.try(t.Context(), "execute", args{"command": "sleep 0.1; echo " + want})
			if err != nil || got.failed || strings.TrimSpace(got.text) != want {
				t.Errorf("call %d was answered with %v %v", i, got, err)
			}
		})
	}
	running.Wait()
	if n := transport.dials.Load(); n != 1 {
		t.Errorf("there were %d connections", n)
	}
	// A heartbeat says that the stream is alive.
	for line := ""; !strings.HasPrefix(line, ":"); {
		line = stream.next(t, callWithin)
	}
	session.close(t)
	for line := range stream.lines { // to its end
		if strings.HasPrefix(line, "data:") && line != "data: " {
			t.Errorf("the stream has %q", line)
		}
	}
}

// frames is the client's end of an HTTP/2 connection, frame by frame.
type frames struct {
	t *testing.T
	*http2.Framer
	conn    *tls.Conn
	root    string
	caller  caller
	headers bytes.Buffer
	encoder *hpack.Encoder
	stream  uint32 // the last one begun
}

func dialFrames(t *testing.T, p *program, pool *x509.CertPool, c caller) *frames {
	t.Helper()
	d := tls.Dialer{Config: &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}}}
	conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(p.root, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	f := &frames{t: t, conn: conn.(*tls.Conn), root: p.root, caller: c, Framer: http2.NewFramer(conn, conn)}
	if got := f.conn.ConnectionState().NegotiatedProtocol; got != "h2" {
		t.Fatalf("the protocol is %q", got)
	}
	if err := conn.SetDeadline(time.Now().Add(callWithin)); err != nil {
		t.Fatal(err)
	}
	f.encoder = hpack.NewEncoder(&f.headers)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.WriteSettings(), f.WriteSettingsAck()); err != nil {
		t.Fatal(err)
	}
	return f
}

// call begins a stream with a call of execute.
func (f *frames) call(command string) (stream uint32, err error) {
	r, err := f.caller.request(f.t.Context(), "tools/call", toolParams("execute", args{"command": command}))
	if err != nil {
		return 0, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return 0, err
	}
	f.headers.Reset()
	fields := []hpack.HeaderField{{Name: ":method", Value: r.Method}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: r.URL.Host}, {Name: ":path", Value: r.URL.Path}}
	for name := range r.Header {
		fields = append(fields, hpack.HeaderField{Name: strings.ToLower(name), Value: r.Header.Get(name)})
	}
	for _, field := range fields {
		if err := f.encoder.WriteField(field); err != nil {
			return 0, err
		}
	}
	f.stream = max(f.stream+2, 1) | 1
	return f.stream, errors.Join(
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: f.stream, BlockFragment: f.headers.Bytes(), EndHeaders: true}),
		f.WriteData(f.stream, true, body))
}

// TestStreamsThatAreResetAgainAndAgain cost whoever resets them, and nobody else:
// their calls end, and others are answered meanwhile.
func TestStreamsThatAreResetAgainAndAgain(t *testing.T) {
	t.Parallel()
	s := withOperator()
	p, pool := overTLS(t, s)
	mallory, bob := p.as(s.alice), p.as(s.bob)
	bob.http = &http.Client{Timeout: callWithin, Transport: newHTTP2(t, pool)}
	bob.write(t, "a.txt", "calm\n")
	over := make(chan struct{})
	var attack sync.WaitGroup
	var sent, refused atomic.Int64
	for range 4 {
		f := dialFrames(t, p, pool, mallory)
		go io.Copy(io.Discard, f.conn) //nolint:errcheck // ends with the connection
		attack.Go(func() {
			defer f.conn.Close()
			for {
				select {
				case <-over:
					return
				default:
				}
				stream, err := f.call("sleep 600")
				if err == nil {
					err = f.WriteRSTStream(stream, http2.ErrCodeCancel)
				}
				if err != nil { // the server has had enough
					refused.Add(1)
					return
				}
				sent.Add(1)
			}
		})
	}
	slowest := time.Duration(0)
	for i := range 100 {
		began := time.Now()
		if got := bob.another(i+1).content(t, "a.txt"); got != "calm" {
			t.Errorf("the file has %q", got)
		}
		slowest = max(slowest, time.Since(began))
	}
	close(over)
	attack.Wait()
	t.Logf("%d streams were reset, %d connections closed by the server; the slowest call beside them took %v", sent.Load(), refused.Load(), slowest)
	if sent.Load() < 1000 {
		t.Errorf("only %d streams were reset: this tests too little", sent.Load())
	}
	eventually(t, "the calls have ended", func() bool { return metric(t, bob, "mcp_workspace_calls_in_flight") <= 1 })
	eventually(t, "the connections are closed", func() bool { return descriptors(t, p) < 40 })
}

// TestAStoppingServerSaysGoAway once what runs on a connection has been answered.
func TestAStoppingServerSaysGoAway(t *testing.T) {
	t.Parallel()
	s := withOperator()
	p, pool := overTLS(t, s)
	f := dialFrames(t, p, pool, p.as(s.alice))
	bob := p.as(s.bob)
	bob.http = &http.Client{Timeout: callWithin, Transport: newHTTP2(t, pool)}
	call, err := f.call("sleep 2; echo finished")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the call runs", func() bool { return metric(t, bob, "mcp_workspace_calls_in_flight") >= 1 })
	p.terminate(t)
	var answer []byte
	answered, away := false, false
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			if !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "connection reset") {
				t.Errorf("the connection ends with: %v", err)
			}
			break
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			if got := frame.PseudoValue("status"); frame.StreamID == call && got != "200" {
				t.Errorf("the call is answered with %s", got)
			}
		case *http2.DataFrame:
			if frame.StreamID == call {
				answer = append(answer, frame.Data()...)
				answered = answered || frame.StreamEnded()
			}
		case *http2.RSTStreamFrame:
			t.Errorf("stream %d is reset: %v", frame.StreamID, frame.ErrCode)
		case *http2.GoAwayFrame:
			away = true
			if frame.ErrCode != http2.ErrCodeNo || frame.LastStreamID < call {
				t.Errorf("it says %v, the last stream being %d", frame.ErrCode, frame.LastStreamID)
			}
		}
	}
	if !answered || !bytes.Contains(answer, []byte("finished")) || !away {
		t.Errorf("answered %v with %q, GOAWAY %v", answered, answer, away)
	}
}
