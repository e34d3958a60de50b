package auth

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func TestAccessTokensThatAreTaken(t *testing.T) {
	i := newIssuer(t, newKey(t, "a", jose.EdDSA))
	a, _ := i.authenticator(t, nil)
	now := i.clock.Now().Unix()
	for name, test := range map[string]struct {
		claims map[string]any
		header map[string]any
	}{
		"as RFC 9068 has it":                {nil, nil},
		"type JWT":                          {nil, map[string]any{"typ": "JWT"}},
		"type jwt":                          {nil, map[string]any{"typ": "jwt"}},
		"type application/at+jwt":           {nil, map[string]any{"typ": "application/at+jwt"}},
		"no type":                           {nil, map[string]any{"typ": nil}},
		"no key named":                      {nil, map[string]any{"kid": nil}},
		"several audiences":                 {map[string]any{"aud": []string{"https://other.example.com", testResource}}, nil},
		"more scopes than needed":           {map[string]any{"scope": "email workspace  profile"}, nil},
		"scopes in scp, a list":             {map[string]any{"scope": nil, "scp": []string{"email", "workspace"}}, nil},
		"scopes in scp, a text":             {map[string]any{"scope": nil, "scp": "email workspace"}, nil},
		"a second left":                     {map[string]any{"exp": now + 1}, nil},
		"a time with a fraction":            {map[string]any{"exp": float64(now) + 60.5}, nil},
		"an end in the year 9999":           {map[string]any{"exp": int64(253402300799)}, nil},
		"valid from now":                    {map[string]any{"nbf": now}, nil},
		"the issuer's clock 50 s ahead":     {map[string]any{"nbf": now + 50, "iat": now + 50}, nil},
		"a claim AUD, which is another one": {map[string]any{"AUD": "https://other.example.com"}, nil},
		"a nonce, as some issuers have it":  {map[string]any{"nonce": "abc"}, nil},
		"a claim that is null":              {map[string]any{"at_hash": json.RawMessage("null"), "cnf": json.RawMessage("null")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			identity := accepted(t, a, request("Bearer "+i.keys[0].sign(t, i.claims(test.claims), test.header)))
			if identity.Name != "oauth:alice" || !identity.OAuth || identity.Issuer != i.URL || identity.Subject != "alice" ||
				!slices.Contains(identity.Scopes, "workspace") {
				t.Errorf("got %+v", identity)
			}
		})
	}
}

func TestEveryAsymmetricAlgorithmIsTaken(t *testing.T) {
	for _, algorithm := range joseAlgorithms {
		t.Run(string(algorithm), func(t *testing.T) {
			i := newIssuer(t, newKey(t, "a", algorithm))
			a, _ := i.authenticator(t, nil)
			accepted(t, a, request("Bearer "+i.keys[0].sign(t, i.claims(nil), nil)))
		})
	}
}

func TestPrincipalClaim(t *testing.T) {
	i := newIssuer(t, newKey(t, "a", jose.EdDSA))
	a, _ := i.authenticator(t, nil, func(o *OAuth) { o.PrincipalClaim = "email" })
	long := strings.Repeat("a", maxName)
	for _, name := range []string{"alice@example.com", "Zoë", "auth0|123", "with a space", long} {
		identity := accepted(t, a, request("Bearer "+i.keys[0].sign(t, i.claims(map[string]any{"email": name}), nil)))
		if identity.Subject != name || identity.Name != "oauth:"+name {
			t.Errorf("got %+v; want %q", identity, name)
		}
	}
	for problem, value := range map[string]any{
		"is missing":                  nil,
		"is empty":                    "",
		"is longer than 255 bytes":    long + "a",
		"is not a text":               12345,
		"is not a text ":              []string{"alice"},
		"is not a text  ":             map[string]any{"name": "alice"},
		"cannot be printed":           "alice\x00",
		"cannot be printed ":          "alice\nbob",
		"cannot be printed  ":         "\u202ealice",
		"cannot be printed \u00a0":    "alice\u00a0bob",
		"is missing, as another case": nil,
	} {
		claims := i.claims(map[string]any{"email": value})
		if strings.HasPrefix(problem, "is missing,") {
			claims["Email"] = "alice"
			problem = "is missing"
		}
		refusal := refusalOf(t, a, request("Bearer "+i.keys[0].sign(t, claims, nil)), 401, "invalid_token")
		if !strings.Contains(refusal.Error(), "the claim email ") || !strings.Contains(refusal.Error(), strings.TrimRight(problem, " \u00a0")) {
			t.Errorf("%v: got %q; want %q", value, refusal, problem)
		}
	}
}

func TestAccessTokensThatAreRefused(t *testing.T) {
	key := newKey(t, "a", jose.RS256)
	i := newIssuer(t, key, newKey(t, "b", jose.ES256))
	var log syncBuffer
	a, _ := i.authenticator(t, &log)
	accepted(t, a, request("Bearer "+key.sign(t, i.claims(nil), nil)))
	before := i.requests.Load()

	now := i.clock.Now().Unix()
	good := key.sign(t, i.claims(nil), nil)
	parts := strings.Split(good, ".")
	stranger := newKey(t, "a", jose.RS256)
	with := func(name string, value any) string { return key.sign(t, i.claims(map[string]any{name: value}), nil) }
	typed := func(typ any) string { return key.sign(t, i.claims(nil), map[string]any{"typ": typ}) }
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

	for name, test := range map[string]struct {
		token string
		text  string
	}{
		"expired":                              {with("exp", now), "has expired"},
		"expired long ago":                     {with("exp", 1), "has expired"},
		"no end":                               {with("exp", nil), "does not say when it expires"},
		"an end that is a text":                {with("exp", "tomorrow"), "claims cannot be read"},
		"an end beyond all calendars":          {with("exp", 1e300), "claims cannot be read"},
		"an end before 1970":                   {with("exp", -1), "claims cannot be read"},
		"not valid yet":                        {with("nbf", now+61), "not valid yet"},
		"another issuer":                       {with("iss", "https://login.example.org"), "another issuer than " + i.URL},
		"an issuer with a slash more":          {with("iss", i.URL+"/"), "another issuer"},
		"no issuer":                            {with("iss", nil), "another issuer"},
		"an issuer that is a list":             {with("iss", []string{i.URL}), "claims cannot be read"},
		"another audience":                     {with("aud", "https://other.example.com"), "another audience than " + testResource},
		"an audience with a slash more":        {with("aud", testResource+"/"), "another audience"},
		"an audience that begins like ours":    {with("aud", testResource+".example.org"), "another audience"},
		"no audience":                          {with("aud", nil), "another audience"},
		"an empty list of audiences":           {with("aud", []string{}), "another audience"},
		"an audience under another name":       {key.sign(t, i.claims(map[string]any{"aud": nil, "AUD": testResource}), nil), "another audience"},
		"an ID token of another client":        {key.sign(t, i.claims(map[string]any{"aud": "client-of-the-app", "nonce": "n", "at_hash": "h"}), map[string]any{"typ": "JWT"}), "another audience"},
		"an ID token with our audience":        {with("at_hash", "abcdefgh"), "this is an ID token"},
		"an ID token of a hybrid flow":         {with("c_hash", "abcdefgh"), "this is an ID token"},
		"an ID token as Cognito marks it":      {with("token_use", "id"), "this is an ID token"},
		"an ID token as Keycloak marks it":     {with("typ", "ID"), "this is an ID token"},
		"bound to a key":                       {with("cnf", map[string]any{"jkt": "abc"}), "bound to a key"},
		"a logout token":                       {typed("logout+jwt"), "another kind than an access token"},
		"a DPoP proof":                         {typed("dpop+jwt"), "another kind than an access token"},
		"a type that is no text":               {typed(1), "another kind than an access token"},
		"scopes that are a number":             {with("scope", 1), "neither a text nor a list"},
		"claims that are no object":            {key.sign(t, []string{"alice"}, nil), "claims cannot be read"},
		"claims that are null":                 {key.sign(t, json.RawMessage("null"), nil), "another issuer"},
		"signed by somebody else":              {stranger.sign(t, i.claims(nil), nil), "not signed with a key that its issuer has"},
		"signed by somebody else, key unknown": {stranger.sign(t, i.claims(nil), map[string]any{"kid": "zzz"}), "not signed with a key that its issuer has"},
		"signed by somebody else, no key":      {stranger.sign(t, i.claims(nil), map[string]any{"kid": nil}), "not signed with a key that its issuer has"},
		"the key is in the token itself":       {stranger.sign(t, i.claims(nil), map[string]any{"jwk": stranger.public()}), "not signed with a key that its issuer has"},
		"the key is where the token says":      {stranger.sign(t, i.claims(nil), map[string]any{"jku": i.URL + "/jwks"}), "not signed with a key that its issuer has"},
		"the key of another algorithm":         {key.sign(t, i.claims(nil), map[string]any{"kid": "b"}), "not signed with a key that its issuer has"},
		"RS512 with a key that is for RS256":   {signingKey{"a", jose.RS512, key.private}.sign(t, i.claims(nil), nil), "not signed with a key that its issuer has"},
		"other claims under the signature":     {parts[0] + "." + encode(`{"iss":"`+i.URL+`","aud":"`+testResource+`","sub":"root","exp":9999999999}`) + "." + parts[2], "not signed with a key that its issuer has"},
		"a signature cut short":                {good[:len(good)-4], "not signed with a key that its issuer has"},
		"algorithm none":                       {encode(`{"alg":"none","typ":"at+jwt"}`) + "." + parts[1] + "." + encode("x"), "algorithm that is taken"},
		"algorithm None":                       {encode(`{"alg":"None"}`) + "." + parts[1] + "." + encode("x"), "algorithm that is taken"},
		"the public key as a shared secret":    {sharedSecret(t, key, i.claims(nil)), "algorithm that is taken"},
		"an algorithm that nobody knows":       {encode(`{"alg":"XS256"}`) + "." + parts[1] + "." + parts[2], "algorithm that is taken"},
		"something critical that is unknown":   {encode(`{"alg":"RS256","kid":"a","crit":["x"],"x":1}`) + "." + parts[1] + "." + parts[2], "not signed with a key that its issuer has"},
		"a header that is no JSON":             {encode("{") + "." + parts[1] + "." + parts[2], "not a signed JWT"},
		"three parts of something":             {"aaaaaaaaaa.bbbbbbbbbb.cccccccccc", "not a signed JWT"},
		"nesting without end":                  {encode(`{"alg":"RS256"}`) + "." + encode(strings.Repeat("[", 8000)) + "." + parts[2], "claims cannot be read"},
		"two parts":                            {parts[0] + "." + parts[1], "not one of this server's"},
		"no signature":                         {parts[0] + "." + parts[1] + ".", "not one of this server's"},
		"five parts, as when encrypted":        {good + ".aaaa.bbbb", "not one of this server's"},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := refusalOf(t, a, request("Bearer "+test.token), 401, "invalid_token")
			if !strings.Contains(refusal.Error(), test.text) {
				t.Errorf("got %q; want %q", refusal, test.text)
			}
			noPieceOf(t, test.token, log.String())
			for _, piece := range []string{"alice", "client-of-the-app", "other.example.com", "login.example.org"} {
				if strings.Contains(refusal.Error()+refusal.Challenge()+log.String(), piece) {
					t.Errorf("%q shows %q of the token's claims", refusal, piece)
				}
			}
		})
	}
	// The clock stands still: none of all these was reason enough to ask again.
	if n := i.requests.Load() - before; n != 0 {
		t.Errorf("the issuer was asked %d times more", n)
	}
	accepted(t, a, request("Bearer "+good))
}

// sharedSecret signs with HMAC, and what everybody knows as the key.
func sharedSecret(t *testing.T, key signingKey, claims any) string {
	t.Helper()
	public, ok := key.private.Public().(*rsa.PublicKey)
	if !ok {
		t.Fatal("not an RSA key")
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: secret}, (&jose.SignerOptions{}).WithHeader("kid", key.id))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestMissingScope(t *testing.T) {
	i := newIssuer(t, newKey(t, "a", jose.EdDSA))
	a, _ := i.authenticator(t, nil, func(o *OAuth) { o.Scopes = []string{"workspace", "admin"} })
	for name, scope := range map[string]any{
		"none at all":           nil,
		"an empty text":         "",
		"one of two":            "workspace",
		"one in another case":   "workspace Admin",
		"one that begins alike": "workspace admin:read",
	} {
		t.Run(name, func(t *testing.T) {
			refusal := refusalOf(t, a, request("Bearer "+i.keys[0].sign(t, i.claims(map[string]any{"scope": scope}), nil)), 403, "insufficient_scope")
			want := `Bearer error="insufficient_scope", error_description="` + refusal.Error() +
				`", scope="workspace admin", resource_metadata="` + testMetadata + `"`
			if refusal.Challenge() != want {
				t.Errorf("the challenge is\n%s; want\n%s", refusal.Challenge(), want)
			}
		})
	}
	// Whose signature nobody knows is not told which scopes it lacks.
	refused(t, a, request("Bearer "+newKey(t, "a", jose.EdDSA).sign(t, i.claims(map[string]any{"scope": ""}), nil)), 401, "invalid_token")
}

func TestAccessTokenEndsWhileItIsRemembered(t *testing.T) {
	i := newIssuer(t, newKey(t, "a", jose.EdDSA))
	a, _ := i.authenticator(t, nil)
	token := request("Bearer " + i.keys[0].sign(t, i.claims(map[string]any{"exp": i.clock.Now().Unix() + 10}), nil))
	accepted(t, a, token)
	i.clock.advance(9 * time.Second)
	accepted(t, a, token)
	i.clock.advance(time.Second)
	if refusal := refusalOf(t, a, token, 401, "invalid_token"); !strings.Contains(refusal.Error(), "has expired") {
		t.Error(refusal)
	}
}

func TestMemoryOfAccessTokensIsBounded(t *testing.T) {
	var c cache
	now := time.Unix(0, 0)
	for n := range 3 * maxCached {
		c.put(sum(fmt.Sprint(n)), cached{identity: Identity{Name: "x"}, until: now.Add(cachedFor), generation: 1}, now)
		if len(c.entries) > maxCached {
			t.Fatalf("%d are remembered", len(c.entries))
		}
	}
	last := sum(fmt.Sprint(3*maxCached - 1))
	if _, ok := c.get(last, 1, now); !ok {
		t.Error("the last one was forgotten")
	}
	if _, ok := c.get(last, 2, now); ok {
		t.Error("remembered under other keys")
	}
	c.put(last, cached{until: now.Add(cachedFor), generation: 1}, now)
	if _, ok := c.get(last, 1, now.Add(cachedFor)); ok {
		t.Error("remembered for longer than it may be")
	}
}
