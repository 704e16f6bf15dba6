package authtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Issuer is an authorization server: RFC 8414 metadata, dynamic registration, an authorization endpoint where everybody
// agrees at once, a token endpoint that checks client, redirect, PKCE and resource, refresh tokens that are good once, and
// revocation.
type Issuer struct {
	URL  string            // its identifier
	HTTP http.RoundTripper // reaches it; nil for the network
	*dial

	calls   recorder
	proofs  proofs
	mu      sync.Mutex
	clients map[string]*registered
	codes   map[string]*grant
	access  map[string]*grant
	refresh map[string]*grant
	secrets []string
	ended   []string // ID tokens that are not good any more
	serial  int
}

type registered struct {
	secret    string
	method    string   // token_endpoint_auth_method
	redirects []string // nil for any
}

// grant is what stands behind a code or a token.
type grant struct {
	client, redirect, challenge, resource string
	nonce                                 string // of an ID token

	jkt    string // of the key that it is bound to; "" for none
	scopes []string
	ends   time.Time
}

func issuer(k Knobs, at place) *Issuer {
	i := &Issuer{dial: &dial{knobs: k}, clients: map[string]*registered{}, codes: map[string]*grant{}, access: map[string]*grant{}, refresh: map[string]*grant{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-authorization-server", i.metadata)
	for path, h := range map[string]http.HandlerFunc{
		"/register": i.register, "/authorize": i.authorize, "/token": i.token, "/revoke": i.revoke,
		"/oauth/v2/authorize": i.authorize, "/api/oauth.v2.access": i.token, // as Slack calls them
	} {
		mux.HandleFunc(path, h)
	}
	base := at(i.calls.around(i.dial, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(i.get().Clock).UTC().Format(http.TimeFormat))
		mux.ServeHTTP(w, r)
	})))
	i.dial.mu.Lock() // as requests take it, which may come from other programs
	defer i.dial.mu.Unlock()
	i.URL = base
	return i
}

// Calls are the requests so far to a path, "" for all.
func (i *Issuer) Calls(path string) []Call { return i.calls.of(path) }

// Client registers a client beforehand. redirects are what it may ask for, none for anything.
func (i *Issuer) Client(id, secret, method string, redirects ...string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.clients[id] = &registered{secret, method, redirects}
}

// Secrets is everything that nobody but client and server may see: tokens, codes, verifiers, client secrets.
func (i *Issuer) Secrets() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.secrets)
}

// Expire ends all access tokens.
func (i *Issuer) Expire() {
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.access)
}

// ExpireRefresh ends all refresh tokens.
func (i *Issuer) ExpireRefresh() {
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.refresh)
}

// valid is what a token allows at a resource, nil if it is not good there.
func (i *Issuer) valid(token, resource string) *grant {
	i.mu.Lock()
	defer i.mu.Unlock()
	g := i.access[token]
	if g == nil || g.resource != resource || time.Now().After(g.ends) {
		return nil
	}
	return g
}

func (i *Issuer) metadata(w http.ResponseWriter, _ *http.Request) {
	doc := map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "registration_endpoint": i.URL + "/register",
		"revocation_endpoint": i.URL + "/revoke", "response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic", "client_secret_post"},
		"authorization_response_iss_parameter_supported": true,
	}
	if i.get().DPoP {
		doc["dpop_signing_alg_values_supported"] = []string{"ES256"}
	}
	if edit := i.get().Metadata; edit != nil {
		edit(doc)
	}
	reply(w, http.StatusOK, doc)
}

// refuses answers with the error that a knob wants.
func (i *Issuer) refuses(w http.ResponseWriter, r *http.Request) bool {
	code := i.get().Refuse[r.URL.Path]
	if code != "" {
		refuse(w, code, "as the test wants it")
	}
	return code != ""
}

func refuse(w http.ResponseWriter, code, why string) {
	status := http.StatusBadRequest
	if code == "invalid_client" {
		status = http.StatusUnauthorized
	}
	reply(w, status, map[string]any{"error": code, "error_description": why})
}

func (i *Issuer) register(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
	}
	if i.refuses(w, r) {
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Redirects) == 0 {
		refuse(w, "invalid_redirect_uri", "redirect_uris are missing")
		return
	}
	if asked.Method == "" {
		asked.Method = "client_secret_basic"
	}
	id := i.next("client")
	doc := map[string]any{"client_id": id, "redirect_uris": asked.Redirects, "token_endpoint_auth_method": asked.Method, "client_id_issued_at": time.Now().Unix()}
	if asked.Method != "none" {
		doc["client_secret"] = i.secret("secret")
		doc["client_secret_expires_at"] = 0
	}
	if edit := i.get().Registration; edit != nil {
		edit(doc)
	}
	secret, _ := doc["client_secret"].(string)
	method, _ := doc["token_endpoint_auth_method"].(string)
	i.Client(id, secret, method, asked.Redirects...)
	reply(w, http.StatusCreated, doc)
}

// authorize is the page on which everybody agrees. Errors that may not be sent back are answers of their own.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	i.mu.Lock()
	c := i.clients[q.Get("client_id")]
	i.mu.Unlock()
	redirect, err := url.Parse(q.Get("redirect_uri"))
	document := strings.HasPrefix(q.Get("client_id"), "https://") // RFC 7591's alternative, a metadata document
	switch {
	case c == nil && !document:
		http.Error(w, "unknown client", http.StatusBadRequest)
		return
	case err != nil || redirect.Host == "" || c != nil && c.redirects != nil && !slices.Contains(c.redirects, redirect.String()):
		http.Error(w, "the redirect is not registered", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}, "iss": {i.URL}}
	switch refused := i.get().Refuse["/authorize"]; {
	case refused != "":
		back.Set("error", refused)
	case q.Get("response_type") != "code" || q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256":
		back.Set("error", "invalid_request")
		back.Set("error_description", "PKCE with S256 is a must")
	case i.get().API == q.Has("resource") && i.get().Identity == nil:
		back.Set("error", "invalid_target")
	default:
		code := i.secret("code")
		i.mu.Lock()
		i.codes[code] = &grant{client: q.Get("client_id"), redirect: q.Get("redirect_uri"), challenge: q.Get("code_challenge"), jkt: q.Get("dpop_jkt"), resource: q.Get("resource"), nonce: q.Get("nonce"), scopes: strings.Fields(q.Get("scope"))}
		i.mu.Unlock()
		back.Set("code", code)
	}
	if edit := i.get().Back; edit != nil {
		edit(back)
	}
	redirect.RawQuery = back.Encode()
	http.Redirect(w, r, redirect.String(), http.StatusFound)
}

// client checks who asks at the token endpoint.
func (i *Issuer) client(r *http.Request) (id string, ok bool) {
	id, secret, method := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret"), "none"
	if secret != "" {
		method = "client_secret_post"
	}
	if u, p, basic := r.BasicAuth(); basic {
		id, _ = url.QueryUnescape(u) // an unknown id is refused below
		secret, _ = url.QueryUnescape(p)
		method = "client_secret_basic"
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	c := i.clients[id]
	if c == nil {
		return id, method == "none" && strings.HasPrefix(id, "https://")
	}
	return id, c.method == method && c.secret == secret
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		refuse(w, "invalid_request", err.Error())
		return
	}
	form := r.PostForm
	i.sees(form.Get("code_verifier"))
	if i.refuses(w, r) {
		return
	}
	k, jkt := i.get(), ""
	if k.DPoP {
		var err error
		if jkt, err = i.proofs.check(r, i.URL+"/token", "", k.NonceToken); err != nil {
			w.Header().Set("DPoP-Nonce", k.NonceToken)
			code := "invalid_dpop_proof"
			if errors.Is(err, errNonce) {
				code = errNonce.Error()
			}
			refuse(w, code, err.Error())
			return
		}
	}
	if k.Identity != nil && form.Get("subject_token") != "" {
		i.exchange(w, form)
		return
	}
	if grant := form.Get("grant_type"); k.Other != nil && grant != "authorization_code" && grant != "refresh_token" {
		if code := k.Other(r); code != "" {
			refuse(w, code, "as the test wants it")
			return
		}
		i.grant(w, newGrant(r, jkt))
		return
	}
	client, ok := i.client(r)
	if !ok {
		refuse(w, "invalid_client", "unknown client, wrong secret or wrong method")
		return
	}
	i.mu.Lock()
	var g *grant
	switch form.Get("grant_type") {
	case "authorization_code":
		g = i.codes[form.Get("code")]
		delete(i.codes, form.Get("code"))
	case "refresh_token":
		g = i.refresh[form.Get("refresh_token")]
	}
	i.mu.Unlock()
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	switch {
	case g == nil || g.client != client || k.DPoP && g.jkt != "" && g.jkt != jkt:
		refuse(w, "invalid_grant", "unknown, used or somebody else's")
		return
	case g.challenge != "" && (g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) || g.redirect != form.Get("redirect_uri")):
		refuse(w, "invalid_grant", "the verifier or the redirect is another one")
		return
	case form.Get("resource") != g.resource:
		refuse(w, "invalid_target", "the resource is another one")
		return
	}
	i.mu.Lock()
	delete(i.refresh, form.Get("refresh_token"))
	i.mu.Unlock()
	i.grant(w, grant{client: client, resource: g.resource, nonce: g.nonce, scopes: g.scopes, jkt: jkt})
}

// newGrant is what a request of another grant asks for.
func newGrant(r *http.Request, jkt string) grant {
	return grant{client: r.PostForm.Get("client_id"), resource: r.PostForm.Get("resource"), scopes: strings.Fields(r.PostForm.Get("scope")), jkt: jkt}
}

// grant answers with new tokens.
func (i *Issuer) grant(w http.ResponseWriter, g grant) {
	k := i.get()
	life := k.Life
	if life == 0 {
		life = time.Hour
	}
	g.ends = time.Now().Add(life)
	access := i.secret("access")
	if k.JWT {
		access = unsignedOf("at+jwt", map[string]any{"iss": i.URL, "aud": g.resource, "sub": "ada", "client_id": g.client, "scope": strings.Join(g.scopes, " "), "exp": g.ends.Unix(), "jti": access})
		i.sees(access)
	}
	doc := map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": int(life.Seconds()), "refresh_token": i.secret("refresh"), "scope": strings.Join(g.scopes, " "),
	}
	if g.jkt != "" {
		doc["token_type"] = "DPoP"
	}
	if k.Identity != nil {
		i.identify(doc, g)
	}
	if k.Token != nil {
		k.Token(doc)
	}
	if scope, ok := doc["scope"].(string); ok {
		g.scopes = strings.Fields(scope)
	}
	i.mu.Lock()
	i.access[access] = &g
	if refresh, ok := doc["refresh_token"].(string); ok {
		i.refresh[refresh] = &g
	}
	i.mu.Unlock()
	reply(w, http.StatusOK, doc)
}

func (i *Issuer) revoke(w http.ResponseWriter, r *http.Request) {
	if i.refuses(w, r) {
		return
	}
	if err := r.ParseForm(); err != nil {
		refuse(w, "invalid_request", err.Error())
		return
	}
	if _, ok := i.client(r); !ok {
		refuse(w, "invalid_client", "unknown client, wrong secret or wrong method")
		return
	}
	i.mu.Lock()
	delete(i.access, r.PostForm.Get("token"))
	delete(i.refresh, r.PostForm.Get("token"))
	i.mu.Unlock()
	reply(w, http.StatusOK, map[string]any{})
}

// next is a name that no other issuer gives either.
func (i *Issuer) next(what string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.serial++
	host := strings.TrimPrefix(strings.TrimPrefix(i.URL, "https://"), "http://")
	return fmt.Sprintf("%s-%d@%s", what, i.serial, host)
}

// secret is one that Secrets lists. It looks like nothing that masking knows.
func (i *Issuer) secret(what string) string {
	s := i.next("zq" + what + "zq")
	i.sees(s)
	return s
}

func (i *Issuer) sees(s string) {
	if s != "" {
		i.mu.Lock()
		i.secrets = append(i.secrets, s)
		i.mu.Unlock()
	}
}
