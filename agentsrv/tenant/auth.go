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
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// Auth says how callers prove who they are. The zero value asks nobody.
type Auth struct {
	Token string // the one token that is accepted, as it is; "" for none
	// Anonymous makes whoever has Token nobody in particular, as without a token.
	Anonymous bool
	JWT       JWT // tokens signed by a key of a JWKS file; see there
}

// Authenticator checks the Authorization header of requests. It is safe for concurrent use.
type Authenticator struct {
	static  []byte // SHA-256 of the token, so that comparing takes the same time for all tokens
	name    string // of who has that token, "" for nobody in particular
	jwt     *verifier
	nothing bool
}

// NewAuthenticator makes an Authenticator; it reads the JWKS file, if there is one, and fails if that holds no usable
// key.
func NewAuthenticator(a Auth) (*Authenticator, error) {
	auth := &Authenticator{nothing: a.Token == "" && a.JWT.JWKS == ""}
	if a.Token != "" {
		if a.Token != strings.TrimSpace(a.Token) || !ingress.Visible(a.Token) {
			return nil, errors.New("invalid token: white space or control characters; use visible ASCII only")
		}
		sum := sha256.Sum256([]byte(a.Token))
		auth.static = sum[:]
		if !a.Anonymous {
			auth.name = "token:" + hex.EncodeToString(sum[:8])
		}
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

// Identify is front.Options.Authenticate: it says who sent r, or returns a *jsonrpc.RequestError with status 401, whose
// data.error is RFC 6750's error code where a token was sent (section 3.1).
func (a *Authenticator) Identify(r *http.Request) (kit.Identity, error) {
	if a.nothing {
		return kit.Identity{}, nil
	}
	token, err := ingress.Bearer(r.Header)
	if err != nil {
		return kit.Identity{}, err
	}
	if a.static != nil {
		sum := sha256.Sum256([]byte(token))
		if subtle.ConstantTimeCompare(sum[:], a.static) == 1 {
			return kit.Identity{Principal: a.name}, nil
		}
	}
	if a.jwt != nil {
		return a.jwt.verify(token)
	}
	return kit.Identity{}, ingress.Unauthorized("invalid_token", "the bearer token is not accepted")
}

// MustAuth is an error if other machines could reach a listener on host ("" is all interfaces) while nobody is asked for
// a token, unless insecure says that this is wanted.
func MustAuth(host string, a Auth, insecure bool) error {
	if insecure || a.Token != "" || a.JWT.JWKS != "" || listen.Loopback(strings.Trim(host, "[]")) {
		return nil
	}
	if host == "" {
		host = "all interfaces"
	}
	return fmt.Errorf("listening on %s without authentication lets other machines call the tools; set a token or a JWKS file, or listen on 127.0.0.1", host)
}
