package auth

import (
	"crypto/sha256"
	"regexp"
	"strings"
	"testing"
)

func TestNewToken(t *testing.T) {
	token, hash := NewToken()
	if !regexp.MustCompile(`^mcpws_[A-Za-z0-9_-]{43}$`).MatchString(token) {
		t.Errorf("the token is %q", token)
	}
	if mustHash(t, hash) != sha256.Sum256([]byte(token)) {
		t.Errorf("%s is not the hash of %s", hash, token)
	}
	if again, _ := NewToken(); again == token {
		t.Error("two tokens are the same")
	}
}

func TestParseHash(t *testing.T) {
	digits := strings.Repeat("0123456789abcdef", 4)
	for name, test := range map[string]struct{ text, problem string }{
		"a hash":                             {"sha256:" + digits, ""},
		"digits in upper case":               {"sha256:" + strings.ToUpper(digits), ""},
		"nothing":                            {"", `does not begin with "sha256:"`},
		"digits alone":                       {digits, `does not begin with "sha256:"`},
		"another hash":                       {"sha512:" + digits + digits, `does not begin with "sha256:"`},
		"a digit too few":                    {"sha256:" + digits[1:], "has 63 digits"},
		"a digit too many":                   {"sha256:" + digits + "0", "has 65 digits"},
		"a space after it":                   {"sha256:" + digits + " ", "has 65 digits"},
		"a letter that is no digit":          {"sha256:" + digits[1:] + "g", "no hexadecimal digit"},
		"a token in place of its hash":       {"mcpws_" + strings.Repeat("secret", 7), "this is a token, not the hash of one"},
		"another secret in place of a hash":  {"hunter2hunter2", `does not begin with "sha256:"`},
		"a hash in base64, as openssl gives": {"sha256:" + strings.Repeat("QUJD", 11), "has 44 digits"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseHash(test.text)
			if test.problem == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.problem) || !strings.Contains(err.Error(), "mcp-workspace token makes") {
				t.Fatalf("got %v; want %q and how to make one", err, test.problem)
			}
			noPieceOf(t, test.text[min(len(test.text), len("sha256:")):], err.Error())
		})
	}
}

func TestTokensOfTheConfiguration(t *testing.T) {
	one, two := sha256.Sum256([]byte("one")), sha256.Sum256([]byte("two"))
	for name, test := range map[string]struct {
		tokens  []Token
		problem string
	}{
		"two tokens of one identity":      {[]Token{{one, "alice"}, {two, "alice"}}, ""},
		"a name beyond ASCII":             {[]Token{{one, "Zoë Ångström"}}, ""},
		"none at all":                     {nil, "neither tokens nor oauth"},
		"no name":                         {[]Token{{one, ""}}, "the name of token 1 is empty"},
		"a name that is too long":         {[]Token{{one, strings.Repeat("a", 256)}}, "longer than 255 bytes"},
		"a name with a line break":        {[]Token{{one, "a\nb"}}, "cannot be printed"},
		"a name that turns text around":   {[]Token{{one, "a\u202eb"}}, "cannot be printed"},
		"a name that is not UTF-8":        {[]Token{{one, "a\xff"}}, "not UTF-8"},
		"a name of the OAuth issuer's":    {[]Token{{one, "oauth:alice"}}, `begins with "oauth:"`},
		"one secret for two identities":   {[]Token{{one, "alice"}, {one, "bob"}}, "twice"},
		"one secret twice":                {[]Token{{one, "alice"}, {one, "alice"}}, "twice"},
		"no hash":                         {[]Token{{Identity: "alice"}}, "has no hash"},
		"the hash of nothing":             {[]Token{{sha256.Sum256(nil), "alice"}}, "hash of an empty text"},
		"the hash of a line with nothing": {[]Token{{sha256.Sum256([]byte("\n")), "alice"}}, "hash of an empty text"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(Config{Tokens: test.tokens})
			if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
				t.Errorf("got %v; want %q", err, test.problem)
			}
		})
	}
}
