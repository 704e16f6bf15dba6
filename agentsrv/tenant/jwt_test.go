package tenant

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
)

type keys struct {
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey
	ed  ed25519.PrivateKey
}

func newKeys(t *testing.T) (k keys) {
	t.Helper()
	var err error
	if k.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if k.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if _, k.ed, err = ed25519.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	return k
}

var b64 = base64.RawURLEncoding.EncodeToString

func (k keys) set(t *testing.T) []map[string]string {
	t.Helper()
	point, err := k.ec.PublicKey.Bytes()
	require.NoError(t, err)
	return []map[string]string{
		{"kty": "RSA", "kid": "r", "use": "sig", "alg": "RS256", "n": b64(k.rsa.N.Bytes()), "e": b64(big.NewInt(int64(k.rsa.E)).Bytes())},
		{"kty": "EC", "kid": "e", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])},
		{"kty": "OKP", "kid": "d", "crv": "Ed25519", "x": b64(k.ed.Public().(ed25519.PublicKey))},
		{"kty": "oct", "kid": "h", "k": "c2VjcmV0"},
		{"kty": "RSA", "kid": "enc", "use": "enc", "n": "AA", "e": "AQAB"},
	}
}

func write(t *testing.T, path string, set any) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"keys": set})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
}

func good() jwt.MapClaims {
	return jwt.MapClaims{"iss": "https://issuer", "aud": "mcphud", "sub": "u1", "tenant_id": "acme", "exp": time.Now().Add(time.Hour).Unix()}
}

// sign makes a token; kid "" leaves it out.
func sign(t *testing.T, m jwt.SigningMethod, kid string, key any, c jwt.MapClaims) string {
	t.Helper()
	tok := jwt.NewWithClaims(m, c)
	if kid != "" {
		tok.Header["kid"] = kid
	}
	s, err := tok.SignedString(key)
	require.NoError(t, err)
	return s
}

func TestA9_X10_JWT(t *testing.T) {
	k, path := newKeys(t), filepath.Join(t.TempDir(), "jwks.json")
	write(t, path, k.set(t))
	a := authenticator(t, Auth{JWT: JWT{JWKS: path, Issuer: "https://issuer", Audience: "mcphud"}})
	for name, tok := range map[string]string{
		"RS256": sign(t, jwt.SigningMethodRS256, "r", k.rsa, good()),
		"ES256": sign(t, jwt.SigningMethodES256, "e", k.ec, good()),
		"EdDSA": sign(t, jwt.SigningMethodEdDSA, "d", k.ed, good()),
	} {
		id, err := a.Identify(request("bearer " + tok))
		if err != nil || id.Tenant != "acme" || id.User != "u1" || id.Principal == "" {
			t.Errorf("%s: %+v %v", name, id, err)
		}
	}
	with := func(key string, value any) jwt.MapClaims {
		c := good()
		if c[key] = value; value == nil {
			delete(c, key)
		}
		return c
	}
	now := time.Now()
	der, err := x509.MarshalPKIXPublicKey(k.rsa.Public())
	require.NoError(t, err)
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	valid := sign(t, jwt.SigningMethodRS256, "r", k.rsa, good())
	head, rest, _ := strings.Cut(valid, ".")
	claims, sig, _ := strings.Cut(rest, ".")
	crit := jwt.NewWithClaims(jwt.SigningMethodEdDSA, good())
	crit.Header["kid"], crit.Header["crit"] = "d", []string{"exp"}
	critical, err := crit.SignedString(k.ed)
	require.NoError(t, err)
	other := newKeys(t)
	for name, tok := range map[string]string{
		"alg none":            sign(t, jwt.SigningMethodNone, "r", jwt.UnsafeAllowNoneSignatureType, good()),
		"alg none spelt":      b64([]byte(`{"alg":"nOnE","kid":"r"}`)) + "." + claims + ".",
		"HS256 by public key": sign(t, jwt.SigningMethodHS256, "r", public, good()),
		"HS256 by the oct":    sign(t, jwt.SigningMethodHS256, "h", []byte("secret"), good()),
		"RS512":               sign(t, jwt.SigningMethodRS512, "r", k.rsa, good()),
		"PS256":               sign(t, jwt.SigningMethodPS256, "r", k.rsa, good()),
		"alg of another key":  sign(t, jwt.SigningMethodES256, "r", k.ec, good()),
		"unknown kid":         sign(t, jwt.SigningMethodRS256, "zz", k.rsa, good()),
		"no kid, three keys":  sign(t, jwt.SigningMethodRS256, "", k.rsa, good()),
		"somebody else's key": sign(t, jwt.SigningMethodRS256, "r", other.rsa, good()),
		"expired":             sign(t, jwt.SigningMethodEdDSA, "d", k.ed, with("exp", now.Add(-time.Minute).Unix())),
		"no exp":              sign(t, jwt.SigningMethodEdDSA, "d", k.ed, with("exp", nil)),
		"not before":          sign(t, jwt.SigningMethodEdDSA, "d", k.ed, with("nbf", now.Add(time.Hour).Unix())),
		"issued in future":    sign(t, jwt.SigningMethodEdDSA, "d", k.ed, with("iat", now.Add(time.Hour).Unix())),
		"other issuer":        sign(t, jwt.SigningMethodEdDSA, "d", k.ed, with("iss", "https://evil")),
		"no issuer":           sign(t, jwt.SigningMethodEdDSA, "d", k.ed, with("iss", nil)),
		"other audience":      sign(t, jwt.SigningMethodEdDSA, "d", k.ed, with("aud", []string{"x"})),
		"no audience":         sign(t, jwt.SigningMethodEdDSA, "d", k.ed, with("aud", nil)),
		"tenant not a string": sign(t, jwt.SigningMethodEdDSA, "d", k.ed, with("tenant_id", 7)),
		"tenant with newline": sign(t, jwt.SigningMethodEdDSA, "d", k.ed, with("tenant_id", "a\nb")),
		"crit":                critical,
		"changed claims":      head + "." + b64([]byte(`{"sub":"root","exp":9999999999,"iss":"https://issuer","aud":"mcphud"}`)) + "." + sig,
		"no signature":        head + "." + claims + ".",
		"two parts":           head + "." + claims,
		"four parts":          valid + ".x",
		"not base64":          "a.b.c",
	} {
		id, err := a.Identify(request("Bearer " + tok))
		f, ok := jsonrpc.AsRequestError(err)
		if !ok || f.HTTPStatus(false) != 401 || id.Principal != "" || f.Data["error"] != "invalid_token" {
			t.Errorf("%s: %+v %v", name, id, err)
		} else if strings.Contains(f.Message, tok) {
			t.Errorf("%s: the message repeats the token", name)
		}
	}
	b := authenticator(t, Auth{Token: "static", JWT: JWT{JWKS: path}})
	for _, tok := range []string{"static", valid} {
		if _, err := b.Identify(request("Bearer " + tok)); err != nil {
			t.Errorf("both kinds at once: %v", err)
		}
	}
}

func TestA9_KeysAreReadAgainWhenTheyChange(t *testing.T) {
	was, is, path := newKeys(t), newKeys(t), filepath.Join(t.TempDir(), "jwks.json")
	write(t, path, was.set(t)[:1])
	var log bytes.Buffer
	a := authenticator(t, Auth{JWT: JWT{JWKS: path, Logger: slog.New(slog.NewJSONHandler(&log, nil))}})
	var at atomic.Int64
	at.Store(time.Now().UnixNano())
	a.jwt.now = func() time.Time { return time.Unix(0, at.Load()) }
	accepts := func(k crypto.Signer) bool {
		_, err := a.Identify(request("Bearer " + sign(t, jwt.SigningMethodRS256, "", k, good())))
		return err == nil
	}
	if !accepts(was.rsa) || accepts(is.rsa) { // the one key of a set needs no kid
		t.Fatal("the keys of the start are not used")
	}
	replace := func(f func()) {
		f()
		stamp := time.Unix(0, at.Load())
		if err := os.Chtimes(path, stamp, stamp); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		at.Add(int64(2 * reloadEvery))
	}
	replace(func() { write(t, path, is.set(t)[:1]) })
	if accepts(was.rsa) || !accepts(is.rsa) {
		t.Error("the new key is not used")
	}
	for _, broken := range []func(){
		func() { write(t, path, "no list") },
		func() { write(t, path, []map[string]string{}) },
		func() { write(t, path, append(was.set(t)[:1], was.set(t)[:1]...)) },
		func() {
			require.NoError(t, os.Remove(path))
		},
	} {
		log.Reset()
		replace(broken)
		if accepts(was.rsa) || !accepts(is.rsa) || !accepts(is.rsa) {
			t.Error("a broken file took the keys away")
		}
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("%d lines of log: %s", n, &log)
		}
	}
}

func TestA9_UnusableKeyFiles(t *testing.T) {
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	dir := t.TempDir()
	for name, set := range map[string]any{
		"weak":      []map[string]string{{"kty": "RSA", "n": b64(small.N.Bytes()), "e": "AQAB"}},
		"exponent":  []map[string]string{{"kty": "RSA", "n": b64(bytes.Repeat([]byte{255}, 256)), "e": "AQ"}},
		"off curve": []map[string]string{{"kty": "EC", "crv": "P-256", "x": b64(make([]byte, 32)), "y": b64(make([]byte, 32))}},
		"short":     []map[string]string{{"kty": "OKP", "crv": "Ed25519", "x": "AA"}},
		"symmetric": []map[string]string{{"kty": "oct", "k": "c2VjcmV0"}},
		"mismatch":  []map[string]string{{"kty": "OKP", "crv": "Ed25519", "alg": "HS256", "x": b64(make([]byte, 32))}},
		"huge":      strings.Repeat("x", maxJWKS),
		"many":      make([]map[string]string, maxKeys+1),
	} {
		path := filepath.Join(dir, name)
		write(t, path, set)
		if _, err := NewAuthenticator(Auth{JWT: JWT{JWKS: path}}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewAuthenticator(Auth{JWT: JWT{JWKS: filepath.Join(dir, "missing")}}); err == nil {
		t.Error("a missing file is no error")
	}
}
