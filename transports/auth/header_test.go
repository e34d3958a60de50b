package auth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestBearer(t *testing.T) {
	for name, test := range map[string]struct {
		values         []string
		token, problem string
	}{
		"a token":                          {[]string{"Bearer abc.DEF-_~+/9=="}, "abc.DEF-_~+/9==", ""},
		"the scheme in lower case":         {[]string{"bearer abc"}, "abc", ""},
		"the scheme in upper case":         {[]string{"BEARER abc"}, "abc", ""},
		"more than one space":              {[]string{"Bearer   abc"}, "abc", ""},
		"space around it":                  {[]string{" Bearer abc\t"}, "abc", ""},
		"as long as may be":                {[]string{"Bearer " + strings.Repeat("a", maxHeader-7)}, strings.Repeat("a", maxHeader-7), ""},
		"a byte longer":                    {[]string{"Bearer " + strings.Repeat("a", maxHeader-6)}, "", "the Authorization header is longer than 16 KiB"},
		"no header":                        {nil, "", noCredentials},
		"an empty header":                  {[]string{""}, "", noCredentials},
		"another scheme":                   {[]string{"Basic YWxpY2U6c2VjcmV0"}, "", noCredentials},
		"a scheme that begins the same":    {[]string{"Bearerabc"}, "", noCredentials},
		"a token without a scheme":         {[]string{"mcpws_abc"}, "", noCredentials},
		"a tab after the scheme":           {[]string{"Bearer\tabc"}, "", noCredentials},
		"the scheme alone":                 {[]string{"Bearer"}, "", "the Authorization header names the scheme Bearer and has no token after it"},
		"the scheme and a space":           {[]string{"Bearer "}, "", "the Authorization header names the scheme Bearer and has no token after it"},
		"two headers":                      {[]string{"Bearer abc", "Bearer abc"}, "", "there is more than one Authorization header"},
		"two headers, one of them empty":   {[]string{"Bearer abc", ""}, "", "there is more than one Authorization header"},
		"two tokens":                       {[]string{"Bearer abc def"}, "abc def", malformedToken},
		"two credentials with a comma":     {[]string{"Bearer abc, Bearer def"}, "abc, Bearer def", malformedToken},
		"a token in quotes":                {[]string{`Bearer "abc"`}, `"abc"`, malformedToken},
		"a variable that was not replaced": {[]string{"Bearer ${TOKEN}"}, "${TOKEN}", malformedToken},
		"nothing but padding":              {[]string{"Bearer =="}, "==", malformedToken},
		"padding in the middle":            {[]string{"Bearer a=b"}, "a=b", malformedToken},
		"letters beyond ASCII":             {[]string{"Bearer äbc"}, "äbc", malformedToken},
		"a NUL":                            {[]string{"Bearer a\x00b"}, "a\x00b", malformedToken},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{}
			if test.values != nil {
				header["Authorization"] = test.values
			}
			if token, problem := bearer(header); token != test.token || problem != test.problem {
				t.Errorf("got %q, %q; want %q, %q", token, problem, test.token, test.problem)
			}
		})
	}
}

func TestQueryHasToken(t *testing.T) {
	for query, want := range map[string]bool{
		"":                             false,
		"sessionId=abc":                false,
		"access_tokens=abc":            false,
		"x=access_token":               false,
		"access_token=abc":             true,
		"access_token":                 true,
		"a=b&access_token=abc":         true,
		"a=b;access_token=abc":         true,
		"Access_Token=abc":             true,
		"access%5Ftoken=abc":           true,
		"token=mcpws_abc":              true,
		"token=%6dcpws_abc":            true,
		"token=mcpws_abc%zz":           true,
		"a=%zz&access_token=abc":       true,
		"sessionId=abc&key=mcpws_abcd": true,
	} {
		if got := queryHasToken(query); got != want {
			t.Errorf("%q: got %v; want %v", query, got, want)
		}
	}
}

func TestJWTShape(t *testing.T) {
	for token, want := range map[string]bool{
		"aa.bb.cc":                  true,
		"a-.b_.c":                   true,
		"":                          false,
		"aa":                        false,
		"aa.bb":                     false,
		"aa.bb.cc.dd":               false, // an encrypted JWT has five parts
		"aa.bb.cc.dd.ee":            false,
		"aa..cc":                    false,
		".bb.cc":                    false,
		"aa.bb.":                    false, // no signature: alg none
		"aa.bb.c=":                  false,
		"aa.b/.cc":                  false,
		"mcpws_" + "abc":            false,
		`{"payload":"","a":"b.c."}`: false,
	} {
		if got := hasJWTShape(token); got != want {
			t.Errorf("%q: got %v; want %v", token, got, want)
		}
	}
}

// FuzzHeader reads any header and any query, and holds what comes of them
// against what the grammars allow.
func FuzzHeader(f *testing.F) {
	for _, seed := range []string{"", "Bearer abc", "bearer  a.b.c", "Bearer", "Basic abc", "Bearer a=b", "Bearer \x00", "BEARER ====", "Bearer a.b.c.d.e"} {
		f.Add(seed, "access_token=a;b=%6dcpws_&%zz")
	}
	f.Fuzz(func(t *testing.T, value, query string) {
		token, problem := bearer(http.Header{"Authorization": {value}})
		if (token == "") != (problem != "" && problem != malformedToken) {
			t.Fatalf("token %q, problem %q", token, problem)
		}
		if problem == "" {
			if strings.ContainsAny(token, " \t\r\n\",;\x00") || !strings.HasSuffix(strings.TrimRight(value, " \t"), token) {
				t.Errorf("the token is %q", token)
			}
			if scheme := strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(value, " \t"), token)); !strings.EqualFold(scheme, "bearer") {
				t.Errorf("the scheme is %q", scheme)
			}
		}
		if hasJWTShape(token) && strings.Count(token, ".") != 2 {
			t.Errorf("%q is taken for a JWT", token)
		}
		found := queryHasToken(query)
		values, err := url.ParseQuery(query)
		if _, there := values["access_token"]; err == nil && there && !found {
			t.Errorf("a token in %q is not seen", query)
		}
	})
}
