package auth

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// waitFor waits for the issuer to be asked for a path.
func (i *issuer) waitFor(t *testing.T, path string) {
	t.Helper()
	timeout := time.After(10 * time.Second)
	for {
		select {
		case asked := <-i.asked:
			if asked == path {
				return
			}
		case <-timeout:
			t.Fatalf("the issuer was not asked for %s", path)
		}
	}
}

func TestNothingIsFetchedBeforeAnAccessTokenComes(t *testing.T) {
	i := newIssuer(t, newKey(t, "a", jose.EdDSA))
	a, token := i.authenticator(t, nil)
	accepted(t, a, request("Bearer "+token))
	refused(t, a, request(), 401, "")
	if n := i.requests.Load(); n != 0 {
		t.Errorf("the issuer was asked %d times", n)
	}
	accepted(t, a, request("Bearer "+i.keys[0].sign(t, i.claims(nil), nil)))
	accepted(t, a, request("Bearer "+i.keys[0].sign(t, i.claims(map[string]any{"sub": "bob"}), nil)))
	if n := i.requests.Load(); n != 2 { // its metadata and its keys
		t.Errorf("the issuer was asked %d times; want 2", n)
	}
}

func TestKeyThatIsNewIsFoundAtOnce(t *testing.T) {
	old, fresh := newKey(t, "old", jose.EdDSA), newKey(t, "new", jose.ES256)
	i := newIssuer(t, old)
	a, _ := i.authenticator(t, nil)
	accepted(t, a, request("Bearer "+old.sign(t, i.claims(nil), nil)))
	i.clock.advance(refetchAfter)
	i.set(func() { i.keys = []signingKey{old, fresh} })
	accepted(t, a, request("Bearer "+fresh.sign(t, i.claims(nil), nil)))
	accepted(t, a, request("Bearer "+old.sign(t, i.claims(nil), nil)))
}

func TestKeyThatIsReplacedUnderItsNameIsFound(t *testing.T) {
	old, fresh := newKey(t, "1", jose.EdDSA), newKey(t, "1", jose.EdDSA)
	i := newIssuer(t, old)
	a, _ := i.authenticator(t, nil)
	before := request("Bearer " + old.sign(t, i.claims(nil), nil))
	accepted(t, a, before)
	i.clock.advance(refetchAfter)
	i.set(func() { i.keys = []signingKey{fresh} })
	accepted(t, a, before) // remembered
	accepted(t, a, request("Bearer "+fresh.sign(t, i.claims(nil), nil)))
	refused(t, a, before, 401, "invalid_token") // the keys are others now
}

func TestKeyThatIsWithdrawnStopsCounting(t *testing.T) {
	leaked, kept := newKey(t, "leaked", jose.EdDSA), newKey(t, "kept", jose.EdDSA)
	i := newIssuer(t, leaked, kept)
	a, _ := i.authenticator(t, nil)
	long := i.claims(map[string]any{"exp": i.clock.Now().Add(24 * time.Hour).Unix()})
	token := request("Bearer " + leaked.sign(t, long, nil))
	accepted(t, a, token)
	i.set(func() { i.keys = []signingKey{kept} })
	for range 4 {
		i.clock.advance(cachedFor)
		accepted(t, a, token)
	}
	i.clock.advance(cachedFor)
	refused(t, a, token, 401, "invalid_token")
	accepted(t, a, request("Bearer "+kept.sign(t, long, nil)))
}

func TestStrangersTokensDoNotReachTheIssuer(t *testing.T) {
	key := newKey(t, "a", jose.EdDSA)
	i := newIssuer(t, key)
	a, _ := i.authenticator(t, nil)
	accepted(t, a, request("Bearer "+key.sign(t, i.claims(nil), nil)))
	stranger := newKey(t, "z", jose.EdDSA)
	generation := a.oauth.keys.generation()
	const seconds = 60
	for second := range seconds {
		var group sync.WaitGroup
		for n := range 10 {
			token := stranger.sign(t, i.claims(nil), map[string]any{"kid": fmt.Sprint("guess-", second, "-", n)})
			group.Go(func() { refused(t, a, request("Bearer "+token), 401, "invalid_token") })
		}
		group.Wait()
		i.clock.advance(time.Second)
	}
	if n := i.keysRead.Load(); n > 1+seconds/int64(refetchAfter/time.Second) {
		t.Errorf("the keys were read %d times within %d s", n, seconds)
	}
	if a.oauth.keys.generation() != generation {
		t.Error("the same keys, read again, count as others: what is remembered was lost")
	}
}

func TestRequestsAtOnceShareOneFetch(t *testing.T) {
	key := newKey(t, "a", jose.EdDSA)
	i := newIssuer(t, key)
	hold := make(chan struct{})
	i.set(func() { i.held = hold })
	a, _ := i.authenticator(t, nil)
	var group sync.WaitGroup
	for n := range 50 {
		token := key.sign(t, i.claims(map[string]any{"sub": fmt.Sprint("user-", n)}), nil)
		group.Go(func() {
			if identity, err := a.Authenticate(request("Bearer " + token)); err != nil || identity.Subject != fmt.Sprint("user-", n) {
				t.Errorf("got %+v, %v", identity, err)
			}
		})
	}
	i.waitFor(t, "/.well-known/openid-configuration")
	close(hold)
	group.Wait()
	if n := i.requests.Load(); n != 2 {
		t.Errorf("the issuer was asked %d times; want 2", n)
	}
}

func TestIssuerThatIsAway(t *testing.T) {
	key := newKey(t, "a", jose.EdDSA)
	i := newIssuer(t, key)
	i.set(func() { i.down = true })
	var log syncBuffer
	a, token := i.authenticator(t, &log)
	jwt := key.sign(t, i.claims(map[string]any{"exp": i.clock.Now().Add(24 * time.Hour).Unix()}), nil)

	refusal := refusalOf(t, a, request("Bearer "+jwt), 503, "")
	if refusal.Challenge() != "" || refusal.RetryAfter() != time.Second || !strings.Contains(refusal.Error(), "try again later") {
		t.Errorf("got %q, challenge %q, again after %v", refusal, refusal.Challenge(), refusal.RetryAfter())
	}
	accepted(t, a, request("Bearer "+token)) // the configuration's own are not touched
	refused(t, a, request("Bearer mcpws_nobodys"), 401, "invalid_token")

	// Each second somebody tries; it is asked ever less often.
	var longest time.Duration
	for range 120 {
		refusal = refusalOf(t, a, request("Bearer "+jwt), 503, "")
		if after := refusal.RetryAfter(); after < time.Second || after > lastPause {
			t.Fatalf("again after %v", after)
		}
		longest = max(longest, refusal.RetryAfter())
		i.clock.advance(time.Second)
	}
	if longest < lastPause/2 {
		t.Errorf("at most %v were said to be waited", longest)
	}
	const each, fetches = 2, 5 + 3 // documents; after 1, 3, 7, 15, 31 s, then every 30 s
	if n := i.requests.Load(); n > each*(fetches+1) {
		t.Errorf("the issuer was asked %d times within two minutes", n)
	}

	i.set(func() { i.down = false })
	i.clock.advance(lastPause)
	accepted(t, a, request("Bearer "+jwt))

	logged := log.String()
	if strings.Count(logged, "level=WARN") != 1 || strings.Count(logged, "can be had again") != 1 {
		t.Errorf("one warning and one all-clear are wanted:\n%s", logged)
	}
	if !strings.Contains(logged, "502 Bad Gateway") || !strings.Contains(logged, i.URL) || strings.Contains(logged, "a page of the proxy") {
		t.Errorf("the log does not say what was wrong:\n%s", logged)
	}
	noPieceOf(t, jwt, logged)
}

func TestIssuerThatGoesAwayIsForgivenForAnHour(t *testing.T) {
	key := newKey(t, "a", jose.EdDSA)
	i := newIssuer(t, key)
	a, _ := i.authenticator(t, nil)
	token := func() string {
		return key.sign(t, i.claims(map[string]any{"exp": i.clock.Now().Add(24 * time.Hour).Unix()}), nil)
	}
	accepted(t, a, request("Bearer "+token()))
	i.set(func() { i.down = true })
	for range 59 {
		i.clock.advance(time.Minute)
		accepted(t, a, request("Bearer "+token()))
	}
	// Whether this one's key is the issuer's cannot be known just now.
	refused(t, a, request("Bearer "+newKey(t, "b", jose.EdDSA).sign(t, i.claims(nil), nil)), 503, "")
	i.clock.advance(time.Minute)
	refused(t, a, request("Bearer "+token()), 503, "")
	i.set(func() { i.down = false })
	i.clock.advance(lastPause)
	accepted(t, a, request("Bearer "+token()))
}

func TestSlowIssuer(t *testing.T) {
	key := newKey(t, "a", jose.EdDSA)
	i := newIssuer(t, key)
	a, token := i.authenticator(t, nil)
	hold := make(chan struct{})
	i.set(func() { i.held = hold })
	claims := i.claims(map[string]any{"exp": i.clock.Now().Add(24 * time.Hour).Unix()})

	// The first token has to wait, for as long as its client does.
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() {
		_, err := a.Authenticate(request("Bearer " + key.sign(t, claims, nil)).WithContext(ctx))
		result <- err
	}()
	i.waitFor(t, "/.well-known/openid-configuration")
	accepted(t, a, request("Bearer "+token)) // the configuration's own do not
	cancel()
	var refusal *Error
	if err := <-result; !errors.As(err, &refusal) || refusal.Status() != 503 {
		t.Fatalf("got %v; want a 503", err)
	}
	// The fetch goes on without it, and serves the next.
	i.set(func() { i.held = nil })
	close(hold)
	accepted(t, a, request("Bearer "+key.sign(t, claims, nil)))
	if n := i.keysRead.Load(); n != 1 {
		t.Errorf("the keys were read %d times", n)
	}

	// With keys at hand, the wait for newer ones is short, and over soon for
	// all.
	hold = make(chan struct{})
	defer close(hold)
	i.set(func() { i.held = hold })
	i.clock.advance(freshFor)
	start := time.Now()
	accepted(t, a, request("Bearer "+key.sign(t, claims, nil)))
	if took := time.Since(start); took < patience || took > fetchTimeout/2 {
		t.Errorf("took %v; want %v", took, patience)
	}
	i.clock.advance(patience)
	start = time.Now()
	for n := range 20 {
		claims["sub"] = fmt.Sprint("user-", n)
		accepted(t, a, request("Bearer "+key.sign(t, claims, nil)))
	}
	if took := time.Since(start); took > patience {
		t.Errorf("20 requests took %v", took)
	}
}

func TestKeysThatAreNotUsed(t *testing.T) {
	good, bad := newKey(t, "a", jose.EdDSA), newKey(t, "b", jose.ES256)
	asJSON := func(key jose.JSONWebKey, change ...string) string {
		text, err := key.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(change...).Replace(string(text))
	}
	secret := jose.JSONWebKey{Key: []byte("0123456789abcdef0123456789abcdef"), KeyID: "b"}
	private := jose.JSONWebKey{Key: bad.private, KeyID: "b"}
	for name, test := range map[string]struct {
		document string
		status   int    // of a token that is signed with the bad key
		code     string // likewise
	}{
		"a key for encryption":             {asJSON(bad.public(), `"sig"`, `"enc"`), 401, "invalid_token"},
		"a key for another algorithm":      {asJSON(bad.public(), `"ES256"`, `"ES384"`), 401, "invalid_token"},
		"a private key":                    {asJSON(private), 401, "invalid_token"},
		"a shared secret":                  {asJSON(secret), 401, "invalid_token"},
		"a key of a kind that is unknown":  {`{"kty":"QUANTUM","kid":"b"}`, 401, "invalid_token"},
		"a key that is no object":          {`7`, 401, "invalid_token"},
		"a point that is not on the curve": {`{"kty":"EC","crv":"P-256","kid":"b","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE","y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE"}`, 401, "invalid_token"},
		"too many keys":                    {strings.TrimSuffix(strings.Repeat(asJSON(bad.public())+",", maxKeys), ","), 503, ""},
		"more than a megabyte":             {asJSON(bad.public()) + strings.Repeat(" ", maxDocument), 503, ""},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(t, good)
			keys := httptest.NewServer(text(`{"keys":[` + asJSON(good.public()) + "," + test.document + `]}`))
			defer keys.Close()
			a, _ := i.authenticator(t, nil, func(o *OAuth) { o.JWKSURL = keys.URL })
			refused(t, a, request("Bearer "+bad.sign(t, i.claims(nil), nil)), test.status, test.code)
			if test.status == 401 { // and the others are used
				accepted(t, a, request("Bearer "+good.sign(t, i.claims(nil), nil)))
			}
			if n := i.requests.Load(); n != 0 {
				t.Errorf("the issuer was asked %d times, in spite of the address of its keys", n)
			}
		})
	}
}

func TestShortRSAKeyIsNotUsed(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	i := newIssuer(t, signingKey{"short", jose.RS256, private}, newKey(t, "a", jose.EdDSA))
	a, _ := i.authenticator(t, nil)
	token := i.keys[0].sign(t, i.claims(nil), nil)
	jws, err := jose.ParseSignedCompact(token, joseAlgorithms)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jws.Verify(private.Public()); err != nil {
		t.Fatalf("the signature itself has to be good: %v", err)
	}
	refused(t, a, request("Bearer "+token), 401, "invalid_token")
	accepted(t, a, request("Bearer "+i.keys[1].sign(t, i.claims(nil), nil)))
}
