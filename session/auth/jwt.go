package auth

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

const (
	maxSecretFile = 64 << 10        // bytes of a key or token in a file
	assertionLife = 2 * time.Minute // of what we sign: long enough for clocks that differ a little
)

// signer signs JWTs (RFC 7515).
type signer struct {
	key crypto.Signer
	alg jwt.SigningMethod
	id  string // kid; "" for none
}

// sign makes a JWT of claims; header adds to what is needed.
func (s *signer) sign(claims jwt.MapClaims, header map[string]any) (string, error) {
	t := jwt.NewWithClaims(s.alg, claims)
	if s.id != "" {
		t.Header["kid"] = s.id
	}
	for k, v := range header {
		t.Header[k] = v
	}
	return t.SignedString(s.key)
}

// algs are what a key can sign with, the usual one first.
func algs(key crypto.Signer) []string {
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		switch k.Curve {
		case elliptic.P256():
			return []string{"ES256"}
		case elliptic.P384():
			return []string{"ES384"}
		case elliptic.P521():
			return []string{"ES512"}
		}
	case *rsa.PrivateKey:
		return []string{"RS256", "PS256", "RS384", "PS384", "RS512", "PS512"}
	case ed25519.PrivateKey:
		return []string{"EdDSA"}
	}
	return nil
}

// newSigner signs with the key of the configuration, by an algorithm that the authorization server takes.
func newSigner(o *config.OAuth, offered []string) (*signer, error) {
	wrong := func(format string, args ...any) error {
		return &Violation{ByUser, "RFC 7523 section 2.2", fmt.Sprintf(format, args...)}
	}
	if o == nil {
		return nil, wrong("the configuration does not have the private key of this client any more")
	}
	raw, err := secretText("private_key", o.PrivateKey, o.PrivateKeyFile)
	if err != nil {
		return nil, err
	}
	key, id, err := parseKey([]byte(raw))
	if err != nil {
		return nil, wrong("private_key: %v", err)
	}
	can := algs(key)
	alg := o.SigningAlg
	switch {
	case alg != "" && !slices.Contains(can, alg):
		return nil, wrong("signing_alg %q does not fit the private key, which signs by %s", text.Clip(alg, 40), strings.Join(can, ", "))
	case alg == "" && len(offered) > 0:
		i := slices.IndexFunc(can, func(a string) bool { return slices.Contains(offered, a) })
		if i < 0 {
			return nil, wrong("the private key signs by %s, and the authorization server takes %s", strings.Join(can, ", "), text.Clip(strings.Join(offered, ", "), 200))
		}
		alg = can[i]
	case alg == "" && len(can) > 0:
		alg = can[0]
	}
	method := jwt.GetSigningMethod(alg)
	if method == nil {
		return nil, wrong("the private key is of a kind that is not known here")
	}
	return &signer{key, method, cmp.Or(o.KeyID, id)}, nil
}

// assertion proves to an audience that we are the client of that id (RFC 7523 section 3).
func (s *signer) assertion(client, audience string, now time.Time) (string, error) {
	return s.sign(jwt.MapClaims{
		"iss": client, "sub": client, "aud": audience, "jti": random(),
		"iat": now.Unix(), "exp": now.Add(assertionLife).Unix(),
	}, nil)
}

// secretText is a secret of the configuration, or of the file that it names.
func secretText(name, inline, file string) (string, error) {
	if inline == "" && file != "" {
		b, err := files.Read(file, maxSecretFile)
		if err != nil {
			return "", &Violation{ByUser, "oauth." + name + "_file", err.Error()}
		}
		inline = string(b)
	}
	if inline = strings.TrimSpace(inline); inline == "" {
		return "", &Violation{ByUser, "oauth." + name, "there is none, neither in the configuration nor in a file that it names"}
	}
	return inline, nil
}

// parseKey reads a private key: PEM of PKCS #8, PKCS #1 or SEC 1, or a JWK (RFC 7517), which may have an id.
func parseKey(raw []byte) (key crypto.Signer, id string, err error) {
	if len(raw) > 0 && raw[0] == '{' {
		return parseJWK(raw)
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, "", errors.New("is neither PEM nor a JWK")
	}
	var any any
	switch block.Type {
	case "PRIVATE KEY":
		any, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		any, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		any, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		return nil, "", fmt.Errorf("is %q; a private key without a passphrase is needed", text.Clip(block.Type, 60))
	}
	if err != nil {
		return nil, "", err
	}
	key, ok := any.(crypto.Signer)
	if !ok || len(algs(key)) == 0 {
		return nil, "", errors.New("is a key that does not sign by any known algorithm")
	}
	return key, "", nil
}

// jwkBytes are a base64url number or key of a JWK.
type jwkBytes []byte

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *jwkBytes) UnmarshalText(s []byte) (err error) {
	*b, err = base64.RawURLEncoding.DecodeString(string(s))
	return err
}

func (b jwkBytes) int() *big.Int { return new(big.Int).SetBytes(b) }

// parseJWK reads a private key of RFC 7518 section 6 or RFC 8037.
func parseJWK(raw []byte) (key crypto.Signer, id string, err error) {
	var k struct {
		Kty, Crv, Kid    string
		D, X, N, E, P, Q jwkBytes
	}
	if err := json.Unmarshal(raw, &k); err != nil {
		return nil, "", fmt.Errorf("is not a JWK: %w", err)
	}
	if len(k.D) == 0 {
		return nil, "", errors.New("is a JWK without its private part, d")
	}
	curves := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}
	switch curve := curves[k.Crv]; {
	case k.Kty == "EC" && curve != nil:
		key, err = ecdsa.ParseRawPrivateKey(curve, k.D)
	case k.Kty == "OKP" && k.Crv == "Ed25519" && len(k.D) == ed25519.SeedSize:
		key = ed25519.NewKeyFromSeed(k.D)
	case k.Kty == "RSA" && len(k.P) > 0 && len(k.Q) > 0 && len(k.E) < 8:
		r := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: k.N.int(), E: int(k.E.int().Int64())}, D: k.D.int(), Primes: []*big.Int{k.P.int(), k.Q.int()}}
		r.Precompute()
		key, err = r, r.Validate()
	default:
		return nil, "", fmt.Errorf("is a JWK of a kind that is not known here: %s %s", text.Clip(k.Kty, 40), text.Clip(k.Crv, 40))
	}
	if err != nil {
		return nil, "", fmt.Errorf("is not a usable JWK: %w", err)
	}
	return key, k.Kid, nil
}
