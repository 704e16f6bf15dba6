package tenant

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func request(authorization ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	for _, a := range authorization {
		r.Header.Add("Authorization", a)
	}
	return r
}

func authenticator(t *testing.T, a Auth) *Authenticator {
	t.Helper()
	made, err := NewAuthenticator(a)
	require.NoError(t, err)
	return made
}

func TestA9_X10_StaticToken(t *testing.T) {
	a := authenticator(t, Auth{Token: "s3cret-token"})
	assert.NotContains(t, string(a.static), "s3cret")
	for _, good := range []string{"Bearer s3cret-token", "bearer s3cret-token", "BEARER  s3cret-token", " Bearer s3cret-token "} {
		id, err := a.Identify(request(good))
		if err != nil || id.Principal == "" || strings.Contains(id.Principal, "s3cret") {
			t.Errorf("%q: %+v %v", good, id, err)
		}
	}
	for _, c := range []struct {
		header []string
		code   any
	}{
		{nil, nil},
		{[]string{"Bearer wrong"}, "invalid_token"},
		{[]string{"Bearer s3cret-toke"}, "invalid_token"},
		{[]string{"Bearer s3cret-token", "Bearer s3cret-token"}, "invalid_request"},
		{[]string{"Bearer s3cret-token", "Bearer wrong"}, "invalid_request"},
		{[]string{"Bearer s3cret-token, Bearer wrong"}, "invalid_request"},
		{[]string{"Bearer"}, "invalid_request"},
		{[]string{"Bearer "}, "invalid_request"},
		{[]string{""}, "invalid_request"},
		{[]string{"Basic s3cret-token"}, "invalid_request"},
		{[]string{"Bearer\ts3cret-token"}, "invalid_request"},
		{[]string{"Bearer s3cret-token x"}, "invalid_request"},
		{[]string{"Bearer " + strings.Repeat("x", 1<<20)}, "invalid_request"},
	} {
		_, err := a.Identify(request(c.header...))
		f, ok := jsonrpc.AsRequestError(err)
		if !ok || f.HTTPStatus(false) != 401 || f.HTTPStatus(true) != 401 || f.Data["error"] != c.code || strings.Contains(f.Message, "s3cret") {
			t.Errorf("%.60q: %+v", c.header, err)
		}
	}
	if _, err := NewAuthenticator(Auth{Token: " padded "}); err == nil || strings.Contains(err.Error(), "padded") {
		t.Errorf("%v", err)
	}
}

func TestA9_NobodyIsAskedByDefault(t *testing.T) {
	a := authenticator(t, Auth{})
	if id, err := a.Identify(request("Bearer whatever")); err != nil || id.Principal != "" {
		t.Errorf("%+v %v", id, err)
	}
}

func TestA9_OtherAddressesNeedAToken(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "::1", "[::1]", "::ffff:127.0.0.1"} {
		if err := MustAuth(host, Auth{}, false); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"0.0.0.0", "::", "", "192.0.2.1", "example.com", "localhost.example.com", "127.0.0.1.example.com"} {
		if err := MustAuth(host, Auth{}, false); err == nil || !strings.Contains(err.Error(), "token") {
			t.Errorf("%q: %v", host, err)
		}
		for _, a := range []Auth{{Token: "t"}, {JWT: JWT{JWKS: "f"}}} {
			if err := MustAuth(host, a, false); err != nil {
				t.Errorf("%q: %v", host, err)
			}
		}
		if err := MustAuth(host, Auth{}, true); err != nil {
			t.Errorf("%q: %v", host, err)
		}
	}
}

// The token of a router that calls for everybody is asked for, and names nobody: with the next token everything is still there.
func TestX7b_TokenThatNamesNobody(t *testing.T) {
	a := authenticator(t, Auth{Token: "s3cret-token", Anonymous: true})
	if id, err := a.Identify(request("Bearer s3cret-token")); err != nil || id.Principal != "" {
		t.Errorf("%+v %v", id, err)
	}
	for _, wrong := range [][]string{nil, {"Bearer other"}} {
		if _, err := a.Identify(request(wrong...)); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
