package auth

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mcphud/mcphud/session/base/text"
)

// prover makes DPoP proofs (RFC 9449): that who sends a request has the key that a token is bound to.
type prover struct {
	*signer
	der    []byte            // the key in PKCS #8
	public map[string]string // as a JWK
}

// maxNonce bounds, in bytes, what a server can make us send back in each proof. A longer nonce is not used.
const maxNonce = 1 << 10

// bound says whether tokens have to be bound to a key: the configuration, the resource, or its challenge wants that, or the last
// one was.
func (t *talk) bound(ch *Challenge, res *resourceMetadata, m *Metadata) bool {
	if t.server.OAuth != nil && t.server.OAuth.DPoP || res != nil && res.DPoP {
		return true
	}
	c := t.creds.Load()
	return len(m.Proofs) > 0 && (ch != nil && strings.EqualFold(ch.Scheme, "DPoP") || c != nil && c.Token.Proof != nil)
}

// bind makes a new key for the tokens of a login.
func (t *talk) bind(m *Metadata) (err error) {
	var key crypto.Signer
	switch {
	case len(m.Proofs) == 0 || slices.Contains(m.Proofs, "ES256"):
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case slices.Contains(m.Proofs, "EdDSA"):
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		return &Violation{ByIssuer, "RFC 9449 section 5.1", "it takes DPoP proofs by " + text.Clip(strings.Join(m.Proofs, ", "), 200) + ", and here are ES256 and EdDSA"}
	}
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if t.proof, err = newProver(der); err != nil {
		return err
	}
	t.flow.note("tokens are bound to a new key, by DPoP with %s", t.proof.alg.Alg())
	return nil
}

// newProver proves with a key of PKCS #8.
func newProver(der []byte) (*prover, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("the key that the token is bound to: %w", err)
	}
	p := &prover{der: der}
	b64 := base64.RawURLEncoding.EncodeToString
	switch key := parsed.(type) {
	case *ecdsa.PrivateKey:
		point, err := key.PublicKey.Bytes() // 4, x, y
		if err != nil || key.Curve != elliptic.P256() {
			return nil, fmt.Errorf("the key that the token is bound to is not of P-256: %w", err)
		}
		p.signer = &signer{key: key, alg: jwt.SigningMethodES256}
		p.public = map[string]string{"kty": "EC", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])}
	case ed25519.PrivateKey:
		p.signer = &signer{key: key, alg: jwt.SigningMethodEdDSA}
		p.public = map[string]string{"kty": "OKP", "crv": "Ed25519", "x": b64(key[ed25519.SeedSize:])}
	default:
		return nil, fmt.Errorf("the key that the token is bound to is a %T", parsed)
	}
	return p, nil
}

// thumbprint names the key (RFC 7638).
func (p *prover) thumbprint() string {
	b, _ := json.Marshal(p.public) // of strings; members are sorted
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// prove makes a proof for one request; token is "" where none is sent.
func (p *prover) prove(method string, u *url.URL, token, nonce string, now time.Time) (string, error) {
	to := *u
	to.RawQuery, to.ForceQuery, to.Fragment, to.RawFragment, to.User = "", false, "", "", nil
	if to.Path == "" {
		to.Path = "/" // as it is sent
	}
	claims := jwt.MapClaims{"jti": random(), "htm": method, "htu": to.String(), "iat": now.Unix()}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims["ath"] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	if nonce != "" {
		claims["nonce"] = nonce
	}
	return p.sign(claims, map[string]any{"typ": "dpop+jwt", "jwk": p.public})
}

// attachBound puts a token that is bound to a key into a request.
func (a *Authorizer) attachBound(req *http.Request, c *Credentials) error {
	p := a.proof.Load()
	if p == nil || !bytes.Equal(p.der, c.Token.Proof) {
		var err error
		if p, err = newProver(c.Token.Proof); err != nil {
			return err
		}
		a.proof.Store(p)
	}
	nonce := ""
	if n := a.nonce.Load(); n != nil {
		nonce = *n
	}
	proof, err := p.prove(req.Method, req.URL, c.Token.Access, nonce, a.opts.Now())
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "DPoP "+c.Token.Access)
	req.Header.Set("DPoP", proof)
	return nil
}

// wantsNonce keeps the nonce that a server gave (RFC 9449 sections 8.2 and 9), and reports whether the request was refused for
// want of it.
func (a *Authorizer) wantsNonce(req *http.Request, resp *http.Response) bool {
	nonce := nonceOf(resp.Header)
	if nonce == "" || req.Header.Get("DPoP") == "" {
		return false
	}
	a.nonce.Store(&nonce)
	return resp.StatusCode == http.StatusUnauthorized && challengeOf(resp).Error == "use_dpop_nonce"
}

// nonceOf is the nonce for the next proof; "" for none.
func nonceOf(h http.Header) string {
	values := h["Dpop-Nonce"]
	if len(values) != 1 || len(values[0]) > maxNonce || strings.ContainsFunc(values[0], func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return values[0]
}
