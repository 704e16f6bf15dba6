package tenant

import (
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

const (
	leeway      = 30 * time.Second // how far clocks may differ
	reloadEvery = time.Second      // how often the key file is looked at
	maxClaim    = 256              // bytes of a subject
)

// JWT says which signed tokens (RFC 7519) are accepted. They must expire; the algorithm is RS256, ES256 or EdDSA, and
// follows from the key, never from the token.
type JWT struct {
	JWKS     string   // path of the key file (RFC 7517), read again when it changes; "" accepts no JWT
	Issuer   string   // the required iss; "" accepts any
	Audience string   // required in aud; "" accepts any, so also tokens that were issued for other services
	Scopes   []string // that a token needs all of, in its claim scope or scp; none for any
	Logger   *slog.Logger
}

// claims are what this server reads of a token.
type claims struct {
	jwt.RegisteredClaims
	Tenant string `json:"tenant_id"`
	Scope  scopes `json:"scope"`
	Scp    scopes `json:"scp"` // what some identity providers call it
}

// scopes are a text with spaces (RFC 9068 section 2.2.3), or a list. What is neither has none.
type scopes []string

// UnmarshalJSON never fails: claims that nobody asks for must not refuse a token.
func (s *scopes) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*s = strings.Fields(one)
		return nil
	}
	var all []string
	if json.Unmarshal(raw, &all) == nil {
		*s = all
	}
	return nil
}

type verifier struct {
	options JWT
	parser  *jwt.Parser
	now     func() time.Time

	mu      sync.Mutex
	keys    []key
	version files.Stamp
	looked  time.Time
}

func newVerifier(o JWT) (*verifier, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	v := &verifier{options: o, now: time.Now}
	options := []jwt.ParserOption{
		jwt.WithValidMethods([]string{"RS256", "ES256", "EdDSA"}),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(leeway),
		jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(func() time.Time { return v.now() }),
	}
	if o.Issuer != "" {
		options = append(options, jwt.WithIssuer(o.Issuer))
	}
	if o.Audience != "" {
		options = append(options, jwt.WithAudience(o.Audience))
	}
	v.parser = jwt.NewParser(options...)
	v.version, v.looked = files.StampOf(o.JWKS), v.now()
	var err error
	if v.keys, err = readJWKS(o.JWKS); err != nil {
		return nil, err
	}
	return v, nil
}

// current is the keys as the file has them. A file that became unreadable or wrong leaves the last good keys in use, and
// is logged once per change.
func (v *verifier) current() []key {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	if since := now.Sub(v.looked); since >= 0 && since < reloadEvery {
		return v.keys
	}
	v.looked = now
	version := files.StampOf(v.options.JWKS)
	if version.Equal(v.version) {
		return v.keys
	}
	v.version = version
	keys, err := readJWKS(v.options.JWKS)
	if err != nil {
		v.options.Logger.Error("cannot read the changed key file: the previous keys stay in use", "error", err)
		return v.keys
	}
	v.options.Logger.Info("key file reloaded", "keys", len(keys))
	v.keys = keys
	return keys
}

// verify checks a compact JWS and says who it was made out to. What exactly is wrong with a token goes to the answer
// only as far as its owner can act on it.
func (v *verifier) verify(token string) (kit.Identity, error) {
	var c claims
	_, err := v.parser.ParseWithClaims(token, &c, v.key)
	switch {
	case err == nil:
	case errors.Is(err, jwt.ErrTokenExpired):
		return kit.Identity{}, ingress.Unauthorized("invalid_token", "the token has expired; get a new one")
	case errors.Is(err, jwt.ErrTokenInvalidIssuer), errors.Is(err, jwt.ErrTokenInvalidAudience):
		return kit.Identity{}, ingress.Unauthorized("invalid_token", "the token has another issuer or audience")
	case errors.Is(err, jwt.ErrTokenNotValidYet), errors.Is(err, jwt.ErrTokenUsedBeforeIssued):
		return kit.Identity{}, ingress.Unauthorized("invalid_token", "the token is not valid yet")
	default:
		v.options.Logger.Debug("a token was refused", "error", err)
		return kit.Identity{}, ingress.Unauthorized("invalid_token", "the bearer token is not accepted")
	}
	if len(c.Subject) > maxClaim || len(c.Issuer) > maxClaim || c.Tenant != "" && !ValidID(c.Tenant) {
		return kit.Identity{}, ingress.Unauthorized("invalid_token", "the token's iss, sub or tenant_id is malformed")
	}
	for _, need := range v.options.Scopes {
		if !slices.Contains(c.Scope, need) && !slices.Contains(c.Scp, need) {
			f := jsonrpc.Errorf(jsonrpc.KindForbidden, "the token lacks the scope %s", need).With("error", "insufficient_scope")
			f.Status = http.StatusForbidden
			return kit.Identity{}, f
		}
	}
	return kit.Identity{Principal: fmt.Sprintf("jwt:%q:%q:%q", c.Issuer, c.Subject, c.Tenant), Tenant: c.Tenant, User: c.Subject}, nil
}

// key finds the key that a token names by kid. Without a kid there must be no choice.
func (v *verifier) key(t *jwt.Token) (any, error) {
	keys := v.current()
	kid, named := t.Header["kid"].(string)
	if _, present := t.Header["kid"]; present && !named {
		return nil, errors.New("kid is not a string")
	}
	if _, present := t.Header["crit"]; present {
		return nil, errors.New("unsupported critical extensions (crit)")
	}
	for _, k := range keys {
		if named && k.id == kid || !named && len(keys) == 1 {
			return keyFor(k, t.Method.Alg())
		}
	}
	return nil, errors.New("no key for this token")
}

func keyFor(k key, alg string) (crypto.PublicKey, error) {
	if k.alg != alg {
		return nil, fmt.Errorf("the key %q verifies %s only", k.id, k.alg)
	}
	return k.public, nil
}
