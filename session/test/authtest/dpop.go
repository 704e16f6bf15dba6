package authtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// proofs checks DPoP proofs (RFC 9449 section 4.3) by ES256.
type proofs struct {
	mu   sync.Mutex
	seen map[string]bool // jti
}

var errNonce = errors.New("use_dpop_nonce")

// check returns the thumbprint of the key that a request proves to have.
func (p *proofs) check(r *http.Request, htu, token, nonce string) (jkt string, err error) {
	values := r.Header.Values("DPoP")
	if len(values) != 1 {
		return "", fmt.Errorf("%d DPoP headers", len(values))
	}
	var claims struct {
		jwt.RegisteredClaims
		Method string `json:"htm"`
		URL    string `json:"htu"`
		Hash   string `json:"ath"`
		Nonce  string `json:"nonce"`
	}
	_, err = jwt.ParseWithClaims(values[0], &claims, func(t *jwt.Token) (any, error) {
		k, ok := t.Header["jwk"].(map[string]any)
		if !ok || t.Header["typ"] != "dpop+jwt" || k["kty"] != "EC" || k["crv"] != "P-256" || len(k) != 4 {
			return nil, fmt.Errorf("header %v", t.Header)
		}
		b, err := json.Marshal(k)
		sum := sha256.Sum256(b)
		jkt = base64.RawURLEncoding.EncodeToString(sum[:])
		if err != nil {
			return nil, err
		}
		return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, coordinate(k["x"]), coordinate(k["y"])))
	}, jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuedAt())
	if err != nil {
		return "", err
	}
	hash := ""
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		hash = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	again := p.seen[claims.ID]
	p.seen[claims.ID] = true
	switch {
	case claims.ID == "" || again:
		return "", fmt.Errorf("jti %q was there before: %t", claims.ID, again)
	case claims.Method != r.Method || claims.URL != htu || claims.Hash != hash:
		return "", fmt.Errorf("the proof is for %s %s with the hash %q", claims.Method, claims.URL, claims.Hash)
	case claims.IssuedAt == nil || time.Since(claims.IssuedAt.Time).Abs() > time.Minute:
		return "", fmt.Errorf("iat is %v", claims.IssuedAt)
	case claims.Nonce != nonce:
		return "", errNonce
	}
	return jkt, nil
}

func coordinate(v any) []byte {
	s, _ := v.(string)
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil // of which no point is made
	}
	return b
}
