package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
)

// Headers of the balancer's answers.
const (
	replicaHeader = "X-Replica" // which one answered
	brokenHeader  = "X-Broken"  // the connection to it broke after the request was sent
)

// balancer is a reverse proxy that gives requests to replicas by turns. One
// that cannot be connected to is passed over; a request that one has received
// is never sent to another.
type balancer struct {
	targets []*url.URL
	turn    atomic.Int64
	served  []atomic.Int64
}

func balance(t *testing.T, replicas ...*program) (root string, b *balancer) {
	t.Helper()
	b = &balancer{served: make([]atomic.Int64, len(replicas))}
	for _, r := range replicas {
		u, err := url.Parse(r.root)
		if err != nil {
			t.Fatal(err)
		}
		b.targets = append(b.targets, u)
	}
	// Each request has a connection of its own: one that is kept could turn out
	// to be dead only when a request has been sent.
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(*httputil.ProxyRequest) {},
		Transport:     &turns{b, &http.Transport{DisableKeepAlives: true}},
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			w.Header().Set(brokenHeader, strconv.Quote(err.Error()))
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	srv := httptest.NewServer(proxy)
	t.Cleanup(srv.Close)
	return srv.URL, b
}

// turns chooses the replica.
type turns struct {
	*balancer
	over http.RoundTripper
}

func (b *turns) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	var err error
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	first := int(b.turn.Add(1))
	for n := range b.targets {
		i := (first + n) % len(b.targets)
		out := r.Clone(r.Context())
		out.Body = io.NopCloser(bytes.NewReader(body)) // the transport closes it also when it cannot connect
		out.URL.Scheme, out.URL.Host = b.targets[i].Scheme, b.targets[i].Host
		var res *http.Response
		res, err = b.over.RoundTrip(out)
		if err == nil {
			b.served[i].Add(1)
			res.Header.Set(replicaHeader, strconv.Itoa(i))
			return res, nil
		}
		var op *net.OpError
		if !errors.As(err, &op) || op.Op != "dial" {
			return nil, err
		}
	}
	return nil, err
}
