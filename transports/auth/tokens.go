package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	// TokenPrefix begins every token that [NewToken] makes, so that people and
	// secret scanners recognise one.
	TokenPrefix = "mcpws_"

	// hashPrefix begins a hash in the configuration.
	hashPrefix = "sha256:"

	// tokenBytes is the randomness of a token: 256 bits, so that a plain hash
	// keeps it. A slow hash is for passwords, which can be guessed.
	tokenBytes = 32
)

// Token lets whoever sends it in as one identity.
type Token struct {
	Hash     [sha256.Size]byte // of the whole token, prefix included
	Identity string            // at most 255 bytes of printable text, not beginning "oauth:"
}

// NewToken makes a token, and the hash of it that the configuration takes.
func NewToken() (token, hash string) {
	var secret [tokenBytes]byte
	if _, err := rand.Read(secret[:]); err != nil {
		panic(err) // does not happen: crypto/rand ends the program instead
	}
	token = TokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	digest := sha256.Sum256([]byte(token))
	return token, hashPrefix + hex.EncodeToString(digest[:])
}

// ParseHash reads the hash of a token as the configuration has it: "sha256:"
// and 64 hexadecimal digits. Its errors do not repeat what they were given,
// which may be a token by mistake.
func ParseHash(text string) ([sha256.Size]byte, error) {
	const form = "a token is given by its hash, \"sha256:\" and 64 hexadecimal digits; mcp-workspace token makes a token and its hash"
	var hash [sha256.Size]byte
	digits, ok := strings.CutPrefix(text, hashPrefix)
	switch {
	case strings.HasPrefix(text, TokenPrefix):
		return hash, errors.New("this is a token, not the hash of one, and should now be replaced: " + form)
	case !ok:
		return hash, errors.New("the hash does not begin with \"sha256:\": " + form)
	case len(digits) != hex.EncodedLen(len(hash)):
		return hash, fmt.Errorf("the hash has %d digits after \"sha256:\": %s", len(digits), form)
	}
	if _, err := hex.Decode(hash[:], []byte(digits)); err != nil {
		return [sha256.Size]byte{}, errors.New("the hash has a character that is no hexadecimal digit: " + form)
	}
	return hash, nil
}

// tokenTable holds the tokens of the configuration.
type tokenTable struct {
	hashes     [][sha256.Size]byte
	identities []Identity
}

func newTokenTable(tokens []Token) (tokenTable, error) {
	var table tokenTable
	first := make(map[[sha256.Size]byte]string, len(tokens))
	for i, token := range tokens {
		if problem := checkName(token.Identity); problem != "" {
			return tokenTable{}, fmt.Errorf("the name of token %d %s", i+1, problem)
		}
		if strings.HasPrefix(token.Identity, oauthPrefix) {
			return tokenTable{}, fmt.Errorf("the name %q of token %d begins with %q, which is for those that the OAuth issuer names", token.Identity, i+1, oauthPrefix)
		}
		switch token.Hash {
		case [sha256.Size]byte{}:
			return tokenTable{}, fmt.Errorf("token %d, of %q, has no hash", i+1, token.Identity)
		case sha256.Sum256(nil), sha256.Sum256([]byte("\n")):
			return tokenTable{}, fmt.Errorf("token %d, of %q, is the hash of an empty text: the token was not there when it was hashed", i+1, token.Identity)
		}
		if other, twice := first[token.Hash]; twice {
			return tokenTable{}, fmt.Errorf("token %d, of %q, is in the configuration twice, before as one of %q: each token needs a secret of its own", i+1, token.Identity, other)
		}
		first[token.Hash] = token.Identity
		table.hashes = append(table.hashes, token.Hash)
		table.identities = append(table.identities, Identity{Name: token.Identity})
	}
	return table, nil
}

// find looks at every entry and takes as long whichever matches, if any.
func (t *tokenTable) find(hash *[sha256.Size]byte) (Identity, bool) {
	found := -1
	for i := range t.hashes {
		same := subtle.ConstantTimeCompare(hash[:], t.hashes[i][:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return Identity{}, false
	}
	return t.identities[found], true
}
