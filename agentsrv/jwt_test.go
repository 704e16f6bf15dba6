package agentsrv

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mcphud/mcphud/session/test/require"
)

// signer makes a key file, and signs tokens of an hour with its key.
func signer(t *testing.T) (file string, sign func(claims map[string]any) string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), "jwks.json")
	keys := fmt.Sprintf(`{"keys":[{"kty":"OKP","kid":"d","crv":"Ed25519","x":%q}]}`, base64.RawURLEncoding.EncodeToString(public))
	require.NoError(t, os.WriteFile(file, []byte(keys), 0o600))
	return file, func(claims map[string]any) string {
		t.Helper()
		c := jwt.MapClaims{"exp": time.Now().Add(time.Hour).Unix()}
		maps.Copy(c, claims)
		token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, c)
		token.Header["kid"] = "d"
		signed, err := token.SignedString(private)
		require.NoError(t, err)
		return signed
	}
}

// An identity provider serves many services: a token that it issued for another one must not open this one.
func TestA9_JWTsOfAnotherAudienceOrIssuerAreRefused(t *testing.T) {
	file, sign := signer(t)
	status := func(o Options, audience, issuer string) int {
		o.JWKS = file
		agent, err := New(o)
		require.NoError(t, err)
		defer func() { _ = agent.Close(context.Background()) }()
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + sign(map[string]any{"aud": audience, "iss": issuer, "sub": "u"})}}
		w := httptest.NewRecorder()
		agent.Handler().ServeHTTP(w, r)
		return w.Code
	}
	const ours, provider = "https://agent.example/mcp", "https://id.example"
	for _, c := range []struct {
		o                Options
		audience, issuer string
		want             int
	}{
		{Options{JWTAudience: ours, JWTIssuer: provider}, ours, provider, http.StatusOK},
		{Options{JWTAudience: ours, JWTIssuer: provider}, "https://another-service.example", provider, http.StatusUnauthorized},
		{Options{JWTAudience: ours, JWTIssuer: provider}, ours, "https://evil.example", http.StatusUnauthorized},
		{Options{JWTAudience: ours}, ours, "https://anybody.example", http.StatusOK},
		{Options{JWTIssuer: provider}, "https://anything.example", provider, http.StatusOK},
		{Options{}, "https://anything.example", "https://anybody.example", http.StatusOK},
	} {
		if got := status(c.o, c.audience, c.issuer); got != c.want {
			t.Errorf("audience %q, issuer %q required; token of %q by %q: %d, want %d", c.o.JWTAudience, c.o.JWTIssuer, c.audience, c.issuer, got, c.want)
		}
	}
}
