package tenant

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/listen"
)

// maxToken bounds the Authorization header that is looked at, in bytes.
const maxToken = 16 << 10

// Auth says how callers prove who they are. The zero value asks nobody.
type Auth struct {
	Token string // the one token that is accepted, as it is; "" for none
	JWT   JWT    // tokens signed by a key of a JWKS file; see there
}

// Authenticator checks the Authorization header of requests. It is safe for concurrent use.
type Authenticator struct {
	static  []byte // SHA-256 of the token, so that comparing takes the same time for all tokens
	jwt     *verifier
	nothing bool
}

// NewAuthenticator makes an Authenticator; it reads the JWKS file, if there is one, and fails if that holds no usable
// key.
func NewAuthenticator(a Auth) (*Authenticator, error) {
	auth := &Authenticator{nothing: a.Token == "" && a.JWT.JWKS == ""}
	if a.Token != "" {
		if a.Token != strings.TrimSpace(a.Token) || !visible(a.Token) {
			return nil, errors.New("the token has white space or control characters, which no Authorization header carries; use visible ASCII only")
		}
		sum := sha256.Sum256([]byte(a.Token))
		auth.static = sum[:]
	}
	if a.JWT.JWKS != "" {
		v, err := newVerifier(a.JWT)
		if err != nil {
			return nil, err
		}
		auth.jwt = v
	}
	return auth, nil
}

// Identify is front.Options.Authenticate: it says who sent r, or returns a *jsonrpc.Failure with status 401, whose
// data.error is RFC 6750's error code where a token was sent (section 3.1).
func (a *Authenticator) Identify(r *http.Request) (kit.Identity, error) {
	if a.nothing {
		return kit.Identity{}, nil
	}
	token, err := bearer(r.Header)
	if err != nil {
		return kit.Identity{}, err
	}
	if a.static != nil {
		sum := sha256.Sum256([]byte(token))
		if subtle.ConstantTimeCompare(sum[:], a.static) == 1 {
			return kit.Identity{Principal: "token:" + hex.EncodeToString(sum[:8])}, nil
		}
	}
	if a.jwt != nil {
		return a.jwt.verify(token)
	}
	return kit.Identity{}, unauthorized("invalid_token", "the bearer token is not one that this server accepts")
}

// bearer takes the token out of the one Authorization header (RFC 6750 section 2.1). The scheme's letter case does not
// matter (RFC 9110 section 11.1).
func bearer(h http.Header) (string, error) {
	values := h.Values("Authorization")
	switch {
	case len(values) == 0:
		return "", unauthorized("", "this server asks for a token; send the header Authorization: Bearer TOKEN")
	case len(values) > 1:
		return "", unauthorized("invalid_request", "there are several Authorization headers; send one")
	case len(values[0]) > maxToken:
		return "", unauthorized("invalid_request", fmt.Sprintf("the Authorization header has more than %d bytes", maxToken))
	}
	scheme, token, _ := strings.Cut(strings.Trim(values[0], " \t"), " ")
	token = strings.TrimLeft(token, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", unauthorized("invalid_request", "the Authorization header is not of the scheme Bearer")
	}
	if token == "" || !visible(token) {
		return "", unauthorized("invalid_request", "the Authorization header has no single token after Bearer")
	}
	return token, nil
}

func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// unauthorized is a refusal; code is RFC 6750's error code, "" where the caller sent no token at all.
func unauthorized(code, why string) *jsonrpc.Failure {
	f := jsonrpc.Fail(jsonrpc.FailUnauthorized, "Unauthorized: %s", why)
	f.Status = http.StatusUnauthorized
	if code != "" {
		f.With("error", code)
	}
	return f
}

// Required reports whether callers need a token.
func (a *Authenticator) Required() bool { return !a.nothing }

// MustAuth is an error if other machines could reach a listener on host ("" is all interfaces) while nobody is asked for
// a token, unless insecure says that this is wanted.
func MustAuth(host string, a Auth, insecure bool) error {
	if insecure || a.Token != "" || a.JWT.JWKS != "" || listen.Loopback(strings.Trim(host, "[]")) {
		return nil
	}
	if host == "" {
		host = "all interfaces"
	}
	return fmt.Errorf("listening on %s without a token would let every machine that can reach it use the tools; give a token, or listen on 127.0.0.1", host)
}
