package tenant

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/mcphud/mcphud/session/base/files"
)

const (
	maxJWKS    = 1 << 20 // bytes of a JWKS file
	maxKeys    = 100     // keys in it
	minRSABits = 2048
	maxRSABits = 8192
)

// key is one public key and the one algorithm that it verifies, so that a token cannot choose another.
type key struct {
	id, alg string
	public  crypto.PublicKey
}

type jwk struct {
	Kty string `json:"kty"`
	Kid string `json:"kid"`
	Use string `json:"use"`
	Alg string `json:"alg"`
	Crv string `json:"crv"`
	N   string `json:"n"`
	E   string `json:"e"`
	X   string `json:"x"`
	Y   string `json:"y"`
}

// readJWKS reads a JSON Web Key Set (RFC 7517). Keys that verify none of RS256, ES256 and EdDSA are left out: symmetric
// ones, those for encryption, other curves. A malformed or weak key of a known kind makes the whole file an error, as it
// is a mistake that somebody has to know about.
func readJWKS(path string) ([]key, error) {
	raw, err := files.Read(path, maxJWKS)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, fmt.Errorf("keys: %s is not a valid JSON Web Key Set: %w", path, err)
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("keys: %s has more than %d keys", path, maxKeys)
	}
	var keys []key
	seen := map[string]bool{}
	for i, j := range set.Keys {
		k, ok, err := j.parse()
		if err != nil {
			return nil, fmt.Errorf("keys: %s: key %d (%q): %w", path, i, j.Kid, err)
		}
		if !ok {
			continue
		}
		if seen[k.id] {
			return nil, fmt.Errorf("keys: %s: two keys have the id %q; ids must differ", path, k.id)
		}
		seen[k.id] = true
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("keys: %s has no public key for RS256, ES256 or EdDSA", path)
	}
	return keys, nil
}

// parse gives the key, or false if it is of no use here.
func (j jwk) parse() (k key, ok bool, err error) {
	k.id = j.Kid
	if j.Use != "" && j.Use != "sig" {
		return k, false, nil
	}
	switch {
	case j.Kty == "RSA":
		k.alg = "RS256"
		k.public, err = j.rsa()
	case j.Kty == "EC" && j.Crv == "P-256":
		k.alg = "ES256"
		k.public, err = j.ec()
	case j.Kty == "OKP" && j.Crv == "Ed25519":
		k.alg = "EdDSA"
		k.public, err = j.ed25519()
	default:
		return k, false, nil
	}
	if j.Alg != "" && j.Alg != k.alg {
		return k, false, nil
	}
	return k, err == nil, err
}

func (j jwk) rsa() (crypto.PublicKey, error) {
	n, err := number(j.N)
	if err != nil {
		return nil, fmt.Errorf("n: %w", err)
	}
	e, err := number(j.E)
	if err != nil {
		return nil, fmt.Errorf("e: %w", err)
	}
	if bits := n.BitLen(); bits < minRSABits || bits > maxRSABits {
		return nil, fmt.Errorf("the modulus has %d bits; %d to %d are accepted", bits, minRSABits, maxRSABits)
	}
	if e.BitLen() > 31 || e.Int64() < 3 || e.Bit(0) == 0 {
		return nil, errors.New("the exponent is not an odd number from 3 to 2147483647")
	}
	return &rsa.PublicKey{N: n, E: int(e.Int64())}, nil
}

func (j jwk) ec() (crypto.PublicKey, error) {
	x, err := base64.RawURLEncoding.DecodeString(j.X)
	if err != nil {
		return nil, fmt.Errorf("x: %w", err)
	}
	y, err := base64.RawURLEncoding.DecodeString(j.Y)
	if err != nil {
		return nil, fmt.Errorf("y: %w", err)
	}
	if len(x) != 32 || len(y) != 32 {
		return nil, errors.New("x and y must have 32 bytes each")
	}
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
}

func (j jwk) ed25519() (crypto.PublicKey, error) {
	x, err := base64.RawURLEncoding.DecodeString(j.X)
	if err != nil {
		return nil, fmt.Errorf("x: %w", err)
	}
	if len(x) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("x must have %d bytes", ed25519.PublicKeySize)
	}
	return ed25519.PublicKey(x), nil
}

func number(s string) (*big.Int, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return new(big.Int).SetBytes(b), err
}
