package auth_test

import (
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
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

const (
	bearerGrant   = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// program is a rig whose server is configured with a grant that needs nobody.
func program(t *testing.T, k authtest.Knobs, o config.OAuth) *rig {
	return at(t, authtest.Memory(t, k), auth.Options{}, func(s *config.Server) { s.OAuth = &o })
}

// works connects and calls a tool, without a login.
func (r *rig) works() {
	r.t.Helper()
	if err := r.s.Connect(r.t.Context()); err != nil {
		r.t.Fatalf("%v\n%s", err, r.trace())
	}
	require.NoError(r.t, r.call("echo"))
	if len(r.p.Shown()) != 0 || len(r.Issuer.Calls("/authorize")) != 0 {
		r.t.Error("a browser was sent")
	}
}

// trace is the steps of the last flow.
func (r *rig) trace() string {
	if f := r.s.Authorizer().Status().Flow; f != nil {
		return fmt.Sprintf("%+v", f.Steps())
	}
	return "no flow"
}

// keys are one of each kind, by the algorithm that they sign with.
func keys(t *testing.T) map[string]crypto.Signer {
	all := map[string]crypto.Signer{}
	for alg, curve := range map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()} {
		k, err := ecdsa.GenerateKey(curve, rand.Reader)
		require.NoError(t, err)
		all[alg] = k
	}
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	_, e, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	all["RS256"], all["PS256"], all["EdDSA"] = r, r, e
	return all
}

func pemOf(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// writings are the ways to write a key down.
func writings(t *testing.T, key crypto.Signer) map[string]string {
	b64 := base64.RawURLEncoding.EncodeToString
	der, err := x509.MarshalPKCS8PrivateKey(key)
	all := map[string]string{"PKCS8": pemOf(t, "PRIVATE KEY", der, err)}
	jwk := map[string]string{"kid": "mine"}
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		der, err := x509.MarshalECPrivateKey(k)
		all["SEC1"] = pemOf(t, "EC PRIVATE KEY", der, err)
		d, err := k.Bytes()
		require.NoError(t, err)
		jwk["kty"], jwk["crv"], jwk["d"] = "EC", k.Params().Name, b64(d)
	case *rsa.PrivateKey:
		all["PKCS1"] = pemOf(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(k), nil)
		jwk["kty"], jwk["n"], jwk["e"], jwk["d"], jwk["p"], jwk["q"] = "RSA", b64(k.N.Bytes()), "AQAB", b64(k.D.Bytes()), b64(k.Primes[0].Bytes()), b64(k.Primes[1].Bytes())
	case ed25519.PrivateKey:
		jwk["kty"], jwk["crv"], jwk["d"] = "OKP", "Ed25519", b64(k.Seed())
	}
	b, err := json.Marshal(jwk)
	require.NoError(t, err)
	all["JWK"] = string(b)
	return all
}

// signedBy judges a client's assertion as RFC 7523 section 3 wants it.
func signedBy(issuer, alg, kid string, key crypto.Signer) func(*http.Request) string {
	seen := map[string]bool{}
	return func(r *http.Request) string {
		if r.PostForm.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" || r.PostForm.Get("client_secret") != "" || r.Header.Get("Authorization") != "" {
			return "invalid_request"
		}
		var c jwt.RegisteredClaims
		tok, err := jwt.ParseWithClaims(r.PostForm.Get("client_assertion"), &c, func(*jwt.Token) (any, error) { return key.Public(), nil },
			jwt.WithValidMethods([]string{alg}), jwt.WithAudience(issuer), jwt.WithIssuer("nightly"), jwt.WithSubject("nightly"), jwt.WithExpirationRequired(), jwt.WithIssuedAt())
		if err != nil || seen[c.ID] || c.ID == "" || time.Until(c.ExpiresAt.Time) > 5*time.Minute {
			return "invalid_client"
		}
		seen[c.ID] = true
		if id, _ := tok.Header["kid"].(string); id != kid {
			return "invalid_client"
		}
		return ""
	}
}

func TestPrivateKeyJWT(t *testing.T) {
	for alg, key := range keys(t) {
		for form, written := range writings(t, key) {
			t.Run(alg+" as "+form, func(t *testing.T) {
				kid := map[bool]string{true: "mine"}[form == "JWK"]
				o := config.OAuth{Grant: config.GrantClient, ClientID: "nightly", PrivateKey: written}
				if form == "PKCS8" {
					o.PrivateKey, o.PrivateKeyFile, o.KeyID = "", filepath.Join(t.TempDir(), "key.pem"), "k7"
					kid = "k7"
					require.NoError(t, os.WriteFile(o.PrivateKeyFile, []byte("\n"+written), 0o600))
				}
				r := program(t, authtest.Knobs{
					Other: signedBy("https://login.example.com", alg, kid, key),
					Metadata: func(doc map[string]any) {
						doc["token_endpoint_auth_signing_alg_values_supported"] = []string{"HS256", alg}
					},
				}, o)
				r.works()
			})
		}
	}
}

// What cannot work is found out here, and said to be the configuration's.
func TestPrivateKeysThatDoNotFit(t *testing.T) {
	k := keys(t)["ES256"]
	good := writings(t, k)["PKCS8"]
	public, err := x509.MarshalPKIXPublicKey(k.Public())
	for name, c := range map[string]struct {
		o     config.OAuth
		takes []string
		says  string
	}{
		"another algorithm":  {config.OAuth{PrivateKey: good, SigningAlg: "RS256"}, nil, "does not fit"},
		"none that is taken": {config.OAuth{PrivateKey: good}, []string{"RS256"}, "the authorization server takes RS256"},
		"no key":             {config.OAuth{PrivateKey: "hunter2-hunter2"}, nil, "neither PEM nor a JWK"},
		"a public key":       {config.OAuth{PrivateKey: pemOf(t, "PUBLIC KEY", public, err)}, nil, `"PUBLIC KEY"`},
		"a public JWK":       {config.OAuth{PrivateKey: `{"kty":"EC","crv":"P-256"}`}, nil, "without its private part"},
		"a symmetric JWK":    {config.OAuth{PrivateKey: `{"kty":"oct","k":"AA","d":"AA"}`}, nil, "not known here"},
		"a point at zero":    {config.OAuth{PrivateKey: `{"kty":"EC","crv":"P-256","d":"AA"}`}, nil, "not a usable JWK"},
		"no file":            {config.OAuth{PrivateKeyFile: "/nonexistent/key"}, nil, "/nonexistent/key"},
		"neither":            {config.OAuth{}, nil, "client_secret or a private_key"},
		"no client":          {config.OAuth{ClientID: "-", PrivateKey: good}, nil, "needs a client_id"},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.o
			if o.Grant = config.GrantClient; o.ClientID == "-" {
				o.ClientID = ""
			} else {
				o.ClientID = "nightly"
			}
			r := program(t, authtest.Knobs{Metadata: func(doc map[string]any) {
				if c.takes != nil {
					doc["token_endpoint_auth_signing_alg_values_supported"] = c.takes
				}
			}}, o)
			err := r.s.Connect(t.Context())
			r.keep(err)
			var v *auth.Violation
			if !errors.As(err, &v) || v.By != auth.ByUser || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v", err)
			}
			assert.Equalf(t, len(r.Issuer.Calls("/token")), 0, "token requests")
		})
	}
}

func TestClientCredentials(t *testing.T) {
	const id, secret = "nightly: ä", "p%:+ zqsecretzq"
	basic := func(r *http.Request) string {
		if u, p, _ := r.BasicAuth(); u != "nightly%3A+%C3%A4" || p != "p%25%3A%2B+zqsecretzq" || r.PostForm.Has("client_secret") || r.PostForm.Has("client_id") {
			return "invalid_client"
		}
		return ""
	}
	post := func(r *http.Request) string {
		if _, _, ok := r.BasicAuth(); ok || r.PostForm.Get("client_id") != id || r.PostForm.Get("client_secret") != secret {
			return "invalid_client"
		}
		return ""
	}
	for name, c := range map[string]struct {
		offers any
		judge  func(*http.Request) string
	}{
		"nothing said": {nil, basic}, "basic": {[]string{"client_secret_basic"}, basic}, "both": {[]string{"client_secret_post", "client_secret_basic"}, basic},
		"post": {[]string{"none", "client_secret_post"}, post},
	} {
		t.Run(name, func(t *testing.T) {
			r := program(t, authtest.Knobs{
				Other: func(r *http.Request) string {
					if r.PostForm.Get("grant_type") != "client_credentials" || r.PostForm.Get("scope") != "mcp:read" {
						return "invalid_request"
					}
					return c.judge(r)
				},
				Metadata: func(doc map[string]any) {
					if doc["token_endpoint_auth_methods_supported"] = c.offers; c.offers == nil {
						delete(doc, "token_endpoint_auth_methods_supported")
					}
				},
			}, config.OAuth{Grant: config.GrantClient, ClientID: id, ClientSecret: secret})
			r.works()
			if st := r.s.Authorizer().Status(); st.Origin != auth.Configured || !strings.Contains(st.Where, "memory") || strings.Contains(r.journal(), "zqsecretzq") {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// A token of a grant that needs nobody is got anew when it is refused, and ahead of its end.
func TestGrantAgain(t *testing.T) {
	r := program(t, authtest.Knobs{Other: func(*http.Request) string { return "" }}, config.OAuth{Grant: config.GrantClient, ClientID: "a", ClientSecret: "zqsecretzq"})
	r.works()
	r.Issuer.Expire()
	require.NoError(t, r.call("echo"))
	assert.Equalf(t, len(r.Issuer.Calls("/token")), 2, "token requests")
	r.off.Store(int64(time.Hour - 10*time.Second))
	before, refused := len(r.Issuer.Calls("/token")), r.Refused()
	require.NoError(t, r.call("echo"))
	if n := len(r.Issuer.Calls("/token")) - before; n != 1 || r.Refused() != refused {
		t.Errorf("%d token requests ahead of time, %d refusals", n, r.Refused()-refused)
	}
	// A person asks for it.
	before = len(r.Issuer.Calls("/token"))
	if err := r.s.Authorizer().Refresh(t.Context()); err != nil || len(r.Issuer.Calls("/token")) != before+1 {
		t.Errorf("refresh: %v, %s", err, r.trace())
	}
}

// More rights are asked for without a person as well, once.
func TestStepUpOfAProgram(t *testing.T) {
	r := program(t, authtest.Knobs{Other: func(*http.Request) string { return "" }, Scopes: map[string]string{"echo": "mcp:write"}}, config.OAuth{Grant: config.GrantClient, ClientID: "a", ClientSecret: "zqsecretzq"})
	r.works()
	calls := r.Issuer.Calls("/token")
	if got := calls[len(calls)-1].Form.Get("scope"); len(calls) != 2 || got != "mcp:read mcp:write" {
		t.Errorf("%d token requests, the last for %q", len(calls), got)
	}
	r.Set(func(k *authtest.Knobs) { k.Insatiable = true })
	err := r.call("echo")
	if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Kind != failure.OAuth || e.Remedy == failure.LogIn || len(r.Issuer.Calls("/token")) > 3 {
		t.Errorf("after %d token requests: %v", len(r.Issuer.Calls("/token")), err)
	}
}

// jwtOf is a JWT that nobody verifies.
func jwtOf(t *testing.T, typ string, claims map[string]any) string {
	t.Helper()
	tok := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims(claims))
	tok.Header["typ"] = typ
	s, err := tok.SignedString([]byte("k"))
	require.NoError(t, err)
	return s
}

func TestWorkloadIdentity(t *testing.T) {
	assertion := func(aud any, ends time.Duration) string {
		return jwtOf(t, "JWT", map[string]any{"iss": "https://platform.example", "aud": aud, "exp": time.Now().Add(ends).Unix()})
	}
	good := assertion("https://login.example.com", time.Hour)
	for name, c := range map[string]struct {
		assertion string
		client    string
		says      string // in the error; "" for none
	}{
		"good":               {good, "collector", ""},
		"without a client":   {good, "", ""},
		"of several":         {assertion([]string{"https://other.example", "https://login.example.com/"}, time.Hour), "collector", ""},
		"the token endpoint": {assertion("https://login.example.com/token", time.Hour), "collector", ""},
		"expired":            {assertion("https://login.example.com", -time.Minute), "collector", "has expired"},
		"for somebody else":  {assertion("https://sts.example.com", time.Hour), "collector", "is for https://sts.example.com"},
		"for nobody":         {assertion(nil, time.Hour), "collector", "and the authorization server is"},
		"not a JWT":          {"zqsecretzq", "collector", "not a JWT"},
	} {
		t.Run(name, func(t *testing.T) {
			r := program(t, authtest.Knobs{Other: func(r *http.Request) string {
				f := r.PostForm
				if f.Get("grant_type") != bearerGrant || f.Get("assertion") != c.assertion || f.Has("client_id") != (c.client != "") || f.Get("client_id") != c.client || f.Has("client_secret") || r.Header.Get("Authorization") != "" {
					return "invalid_grant"
				}
				return ""
			}}, config.OAuth{Grant: config.GrantWorkload, ClientID: c.client, Assertion: c.assertion})
			if c.says == "" {
				r.works()
				return
			}
			err := r.s.Connect(t.Context())
			if v := (*auth.Violation)(nil); !errors.As(err, &v) || v.By != auth.ByUser || !strings.Contains(err.Error(), c.says) || len(r.Issuer.Calls("/token")) != 0 {
				t.Errorf("after %d token requests: %v", len(r.Issuer.Calls("/token")), err)
			}
			assert.NotContains(t, err.Error()+r.journal(), c.assertion)
		})
	}
}

// What was refused is not sent again, by no other grant either, until the platform has renewed it.
func TestARefusedWorkloadGivesUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(serial int) {
		t.Helper()
		require.NoError(t, os.WriteFile(file, []byte(jwtOf(t, "JWT", map[string]any{"aud": "https://login.example.com", "jti": serial})+"\n"), 0o600))
	}
	for _, code := range []string{"invalid_grant", "invalid_scope", "unauthorized_client"} {
		t.Run(code, func(t *testing.T) {
			write(1)
			r := program(t, authtest.Knobs{Other: func(*http.Request) string { return code }}, config.OAuth{Grant: config.GrantWorkload, ClientID: "c", AssertionFile: file})
			for range 3 {
				err := r.s.Connect(t.Context())
				e := (*failure.Error)(nil)
				if !errors.As(err, &e) || e.Kind != failure.OAuth || e.Remedy == failure.LogIn || !strings.Contains(err.Error(), code) {
					t.Errorf("got %v", err)
				}
			}
			assert.Equalf(t, len(r.Issuer.Calls("/token")), 1, "token requests")
			if err := r.s.Authorizer().Refresh(t.Context()); err == nil || len(r.Issuer.Calls("/token")) != 2 {
				t.Errorf("asked by a person: %v after %d requests", err, len(r.Issuer.Calls("/token")))
			}
			r.Issuer.Set(func(k *authtest.Knobs) { k.Other = func(*http.Request) string { return "" } })
			if err := r.s.Connect(t.Context()); err == nil {
				t.Error("the same assertion was sent again")
			}
			write(2)
			r.works()
		})
	}
}

func TestEnterpriseManaged(t *testing.T) {
	idToken := jwtOf(t, "JWT", map[string]any{"iss": "https://idp.example.com", "sub": "ada", "exp": time.Now().Add(time.Hour).Unix()})
	jag := jwtOf(t, "oauth-id-jag+jwt", map[string]any{"aud": "https://login.example.com", "client_id": "mcphud"})
	answer := map[string]any{"access_token": jag, "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag", "token_type": "N_A"}
	with := func(name string, v any) map[string]any {
		doc := map[string]any{}
		for k, v := range answer {
			doc[k] = v
		}
		doc[name] = v
		return doc
	}
	for name, c := range map[string]struct {
		o      config.OAuth
		answer map[string]any
		status int
		says   string
	}{
		"by token endpoint": {config.OAuth{IDPTokenURL: "https://idp.example.com/token"}, answer, 200, ""},
		"by issuer":         {config.OAuth{IDPIssuer: "https://idp.example.com"}, answer, 200, ""},
		"with a secret":     {config.OAuth{IDPIssuer: "https://idp.example.com", IDPClientSecret: "zqidpsecretzq"}, answer, 200, ""},
		"neither":           {config.OAuth{}, answer, 200, "needs an idp_issuer"},
		"expired":           {config.OAuth{IDPTokenURL: "https://idp.example.com/token", IDToken: jwtOf(t, "JWT", map[string]any{"exp": 1})}, answer, 200, "id_token has expired"},
		"refused":           {config.OAuth{IDPTokenURL: "https://idp.example.com/token"}, map[string]any{"error": "invalid_grant", "error_description": "who?"}, 400, "invalid_grant: who?"},
		"an access token":   {config.OAuth{IDPTokenURL: "https://idp.example.com/token"}, with("issued_token_type", "urn:ietf:params:oauth:token-type:access_token"), 200, "not an ID-JAG"},
		"an ID token":       {config.OAuth{IDPTokenURL: "https://idp.example.com/token"}, with("access_token", idToken), 200, "not a JWT of type"},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.o
			o.Grant, o.ClientID, o.ClientSecret, o.IDPClientID = config.GrantEnterprise, "mcphud", "zqsecretzq", "at-idp"
			if o.IDToken == "" {
				o.IDToken = idToken
			}
			srv := authtest.Memory(t, authtest.Knobs{Other: func(r *http.Request) string {
				if u, p, _ := r.BasicAuth(); r.PostForm.Get("grant_type") != bearerGrant || r.PostForm.Get("assertion") != jag || u != "mcphud" || p != "zqsecretzq" {
					return "invalid_grant"
				}
				return ""
			}})
			idp := srv.Beside("idp.example.com", authtest.Knobs{Serve: map[string]http.HandlerFunc{"/token": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_ = json.NewEncoder(w).Encode(c.answer)
			}}})
			r := at(t, srv, auth.Options{}, func(s *config.Server) { s.OAuth = &o })
			if c.says != "" {
				err := r.s.Connect(t.Context())
				if err == nil || !strings.Contains(err.Error(), c.says) || len(r.Issuer.Calls("/token")) != 0 {
					t.Errorf("after %d token requests: %v", len(r.Issuer.Calls("/token")), err)
				}
				return
			}
			r.works()
			calls := idp.Calls("/token")
			if len(calls) != 1 {
				t.Fatalf("%d exchanges", len(calls))
			}
			for name, want := range map[string]string{
				"grant_type": exchangeGrant, "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag", "subject_token": idToken,
				"subject_token_type": "urn:ietf:params:oauth:token-type:id_token", "audience": "https://login.example.com", "resource": srv.URL, "scope": "mcp:read",
			} {
				assert.Equalf(t, calls[0].Form.Get(name), want, "%s", name)
			}
			if u, _ := calls[0].Form.Get("client_id"), calls[0].Header.Get("Authorization"); u != "at-idp" && o.IDPClientSecret == "" {
				t.Errorf("the client is %q", u)
			}
			for _, secret := range []string{idToken, jag, "zqsecretzq", "zqidpsecretzq"} {
				assert.NotContains(t, r.journal()+r.trace(), secret)
			}
			if s := r.step(auth.StepExchange); s.State != auth.Done || len(s.Exchanges) == 0 {
				t.Errorf("step %+v", s)
			}
		})
	}
}

// Where the token endpoint is configured nothing is discovered, and it may be nearer than the server.
func TestGrantAtAConfiguredEndpoint(t *testing.T) {
	srv := authtest.Memory(t, authtest.Knobs{})
	near := srv.Beside("10.1.2.3", authtest.Knobs{Other: func(r *http.Request) string {
		if r.PostForm.Get("assertion") == "" {
			return "invalid_request"
		}
		return ""
	}})
	srv.Move(near)
	assertion := jwtOf(t, "JWT", map[string]any{"aud": "api://of-the-company"}) // its token_url says where that is good
	r := at(t, srv, auth.Options{}, func(s *config.Server) {
		s.OAuth = &config.OAuth{Grant: config.GrantWorkload, TokenURL: near.URL + "/token", Assertion: assertion, Scopes: []string{"mcp:read"}}
	})
	r.works()
	if len(srv.Calls("/.well-known/oauth-protected-resource/mcp")) != 0 || len(near.Calls("")) != 1 || near.Calls("/token")[0].Form.Get("scope") != "mcp:read" {
		t.Errorf("asked %+v", near.Calls(""))
	}
}

// What a program would do can be seen beforehand, also where nobody could log in.
func TestDiscoverOfAProgram(t *testing.T) {
	r := program(t, authtest.Knobs{Metadata: func(doc map[string]any) { delete(doc, "authorization_endpoint") }}, config.OAuth{Grant: config.GrantClient, ClientID: "a", ClientSecret: "zqsecretzq"})
	f, err := r.s.Authorizer().Discover(t.Context(), nil)
	if err != nil || !strings.Contains(fmt.Sprint(f.Steps()), "the grant client_credentials, without a person") || len(r.Issuer.Calls("/token")) != 0 {
		t.Errorf("%v, %+v", err, f.Steps())
	}
}

// What a person does about a grant that is refused is not a login.
func TestARefusedGrantSaysWhatToDo(t *testing.T) {
	r := program(t, authtest.Knobs{Other: func(*http.Request) string { return "invalid_client" }}, config.OAuth{Grant: config.GrantClient, ClientID: "a", ClientSecret: "zqsecretzq"})
	err := r.s.Connect(t.Context())
	if e := (*failure.Error)(nil); !errors.As(err, &e) || strings.Contains(e.Next, "log in") || e.Next == "" || e.Remedy == failure.LogIn {
		t.Errorf("got %+v", err)
	}
	if s := r.last(); s.Name != auth.StepToken || s.State != auth.Failed || len(s.Exchanges) != 1 {
		t.Errorf("step %+v", s)
	}
}

// Logging out of everything knows nothing of the configuration: a client that proves itself by a key is not one that can be revoked then.
func TestForgetWithoutTheKey(t *testing.T) {
	srv := authtest.Memory(t, authtest.Knobs{})
	store := auth.NewMemory()
	c := auth.Credentials{
		Key:    auth.Key{Resource: srv.URL, Issuer: srv.Issuer.URL},
		Client: auth.Client{ID: "ours", Method: "private_key_jwt", Origin: auth.Configured}, Token: auth.Token{Access: "zqaccesszq", Refresh: "zqrefreshzq", Type: "Bearer"},
		TokenURL: srv.Issuer.URL + "/token", RevokeURL: srv.Issuer.URL + "/revoke",
	}
	require.NoError(t, store.Put(t.Context(), c))
	a := auth.New(srv.Config(), auth.Options{Store: store, HTTP: srv.HTTP})
	assert.ErrorContains(t, a.Refresh(t.Context()), "private key")
	assert.NoError(t, a.Forget(t.Context()))
	steps := a.Status().Flow.Steps()
	if len(steps) != 1 || steps[0].State != auth.Failed || !strings.Contains(steps[0].Err.Error(), "private key") {
		t.Errorf("steps %+v", steps)
	}
	if found, err := store.Find(t.Context(), ""); err != nil || len(found) != 0 {
		t.Errorf("kept %d: %v", len(found), err)
	}
}
