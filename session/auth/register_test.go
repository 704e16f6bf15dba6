package auth_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestRegistrationRequest(t *testing.T) {
	for redirect, kind := range map[string]string{"": "native", "http://localhost:8080/oauth/callback": "native", "https://app.example.com/callback": "web"} {
		t.Run(redirect, func(t *testing.T) {
			r := public(t, authtest.Knobs{Metadata: func(doc map[string]any) { doc["scopes_supported"] = []string{"offline_access"} }})
			r.p.Redirect = redirect
			r.open()
			got := r.Issuer.Calls("/register")[0].JSON
			if got["application_type"] != kind || fmt.Sprint(got["grant_types"]) != "[authorization_code refresh_token]" || got["scope"] != "mcp:read offline_access" ||
				fmt.Sprint(got["response_types"]) != "[code]" || got["client_name"] != "mcphud" || got["token_endpoint_auth_method"] != "client_secret_basic" {
				t.Errorf("registered by %v", got)
			}
			if redirect != "" && fmt.Sprint(got["redirect_uris"]) != "["+redirect+"]" {
				t.Errorf("redirects %v", got["redirect_uris"])
			}
		})
	}
}

// What the registration answers counts, not what was asked for.
func TestRegistrationAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(doc map[string]any)
		offers []string
		method string // of the token request; "" where there is none
		says   string
	}{
		"as asked":           {func(map[string]any) {}, nil, "client_secret_basic", ""},
		"post instead":       {func(doc map[string]any) { doc["token_endpoint_auth_method"] = "client_secret_post" }, nil, "client_secret_post", ""},
		"none instead":       {func(doc map[string]any) { doc["token_endpoint_auth_method"] = "none"; delete(doc, "client_secret") }, nil, "none", ""},
		"not said":           {func(doc map[string]any) { delete(doc, "token_endpoint_auth_method") }, []string{"client_secret_post"}, "client_secret_post", ""},
		"no secret":          {func(doc map[string]any) { delete(doc, "client_secret"); doc["token_endpoint_auth_method"] = "none" }, []string{"none"}, "none", ""},
		"one not known here": {func(doc map[string]any) { doc["token_endpoint_auth_method"] = "tls_client_auth" }, nil, "", "tls_client_auth"},
		"nothing in common":  {func(map[string]any) {}, []string{"tls_client_auth"}, "", "not possible here"},
		"no client_id":       {func(doc map[string]any) { delete(doc, "client_id") }, nil, "", "no client_id"},
	} {
		t.Run(name, func(t *testing.T) {
			r := public(t, authtest.Knobs{Registration: c.edit, Metadata: func(doc map[string]any) {
				if c.offers != nil {
					doc["token_endpoint_auth_methods_supported"] = c.offers
				}
			}})
			if name == "not said" { // the fake has to know what is meant
				r.Issuer.Set(func(k *authtest.Knobs) {
					k.Registration = func(doc map[string]any) { doc["token_endpoint_auth_method"] = "client_secret_post" }
				})
			}
			err := r.login()
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || len(r.p.Shown()) != 0 {
					t.Errorf("%d pages: %v", len(r.p.Shown()), err)
				}
				return
			}
			require.NoError(t, err)
			call := r.Issuer.Calls("/token")[0]
			method := "none"
			if call.Header.Get("Authorization") != "" {
				method = "client_secret_basic"
			}
			if call.Form.Get("client_secret") != "" {
				method = "client_secret_post"
			}
			if method != c.method || r.s.Authorizer().Status().Method != c.method {
				t.Errorf("proven by %s", method)
			}
		})
	}
}

// A registration is used again for the same issuer and redirect, as long as its secret is good.
func TestRegistrationAgain(t *testing.T) {
	r := public(t, authtest.Knobs{}).open()
	login := func(registrations int) {
		t.Helper()
		if err := r.again(t.Context()); err != nil || len(r.Issuer.Calls("/register")) != registrations {
			t.Errorf("registered %d times, not %d: %v", len(r.Issuer.Calls("/register")), registrations, err)
		}
	}
	login(1)
	r.Issuer.Set(func(k *authtest.Knobs) {
		k.Registration = func(doc map[string]any) { doc["client_secret_expires_at"] = time.Now().Add(-time.Minute).Unix() }
	})
	require.NoError(t, r.s.Authorizer().Forget(t.Context()))
	login(2)
	login(3)
	other := r.Beside("other.example.com", authtest.Knobs{})
	r.Move(other)
	r.Issuer = other
	login(1)
	for _, c := range other.Calls("") {
		if s := fmt.Sprint(c.Form, c.Query, c.Header); slices.ContainsFunc(r.first.Secrets(), func(secret string) bool { return strings.Contains(s, secret) }) {
			t.Errorf("the other issuer sees %s", s)
		}
	}
}

const documentURL = "https://hud.example.com/client-metadata.json"

// The document says what is sent to an authorization server that reads it.
func TestClientMetadata(t *testing.T) {
	r := at(t, authtest.Memory(t, authtest.Knobs{Metadata: func(doc map[string]any) { doc["client_id_metadata_document_supported"] = true }}), auth.Options{Document: documentURL}, nil).open()
	b, err := auth.ClientMetadata(documentURL)
	require.NoError(t, err)
	var doc struct {
		ID        string   `json:"client_id"`
		Name      string   `json:"client_name"`
		Redirects []string `json:"redirect_uris"`
		Grants    []string `json:"grant_types"`
		Responses []string `json:"response_types"`
		Method    string   `json:"token_endpoint_auth_method"`
		Kind      string   `json:"application_type"`
	}
	require.NoError(t, json.Unmarshal(b, &doc))
	asked, token := r.Issuer.Calls("/authorize")[0].Query, r.Issuer.Calls("/token")[0]
	if asked.Get("client_id") != doc.ID || doc.ID != documentURL || doc.Name == "" || doc.Kind != "native" || strings.Contains(string(b), "client_secret") {
		t.Errorf("%s, and asked as %s", b, asked.Get("client_id"))
	}
	if !slices.Contains(doc.Responses, asked.Get("response_type")) || !slices.Contains(doc.Grants, token.Form.Get("grant_type")) || !slices.Contains(doc.Grants, "refresh_token") {
		t.Errorf("grants %v, responses %v", doc.Grants, doc.Responses)
	}
	if doc.Method != "none" || token.Form.Get("client_id") != documentURL || token.Header.Get("Authorization") != "" || token.Form.Has("client_secret") {
		t.Errorf("proven by %v", token.Form)
	}
	if to := asked.Get("redirect_uri"); to != "http://127.0.0.1:7777/callback" || !slices.Contains(doc.Redirects, strings.Replace(to, ":7777", "", 1)) {
		t.Errorf("redirect %s, and the document has %v", to, doc.Redirects)
	}
	assert.Equalf(t, len(r.Issuer.Calls("/register")), 0, "registered besides")
}

// A redirect that the document does not have needs a registration.
func TestClientMetadataWithoutTheRedirect(t *testing.T) {
	for _, redirect := range []string{"https://app.example.com/callback", "http://127.0.0.1:7777/oauth/callback", "http://127.0.0.1:7777/callback?x=1"} {
		r := at(t, authtest.Memory(t, authtest.Knobs{Metadata: func(doc map[string]any) { doc["client_id_metadata_document_supported"] = true }}), auth.Options{Document: documentURL}, nil)
		r.p.Redirect = redirect
		r.open()
		if len(r.Issuer.Calls("/register")) != 1 {
			t.Errorf("%s: not registered", redirect)
		}
	}
}

// Some authorization servers know only scopes of their own when they register a client, such as openid, and no scopes of a resource. They
// get a registration without scopes, which are then up to them.
func TestRegisteredWithoutScopes(t *testing.T) {
	r := public(t, authtest.Knobs{})
	r.Issuer.Client("plain", "", "none", "http://127.0.0.1:7777/callback")
	r.Issuer.Set(func(k *authtest.Knobs) {
		k.Serve = map[string]http.HandlerFunc{"/register": func(w http.ResponseWriter, q *http.Request) {
			var asked struct{ Scope string }
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewDecoder(q.Body).Decode(&asked); err != nil || asked.Scope != "" {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":"invalid_client_metadata","error_description":"scope must only contain supported values"}`)
				return
			}
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"client_id":"plain","token_endpoint_auth_method":"none"}`)
		}}
	})
	require.NoError(t, r.open().call("echo"))
	if n := len(r.Issuer.Calls("/register")); n != 2 {
		t.Errorf("asked %d times for a registration", n)
	}
	if got := asked(t, r.p.Shown()[0]); len(got) != 1 || got[0] != "mcp:read" {
		t.Errorf("the login asked for %q", got)
	}
}
