package authtest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// identify puts an ID token into an answer of the token endpoint.
func (i *Issuer) identify(doc map[string]any, g grant) {
	claims := map[string]any{"iss": i.URL, "aud": g.client, "sub": "ada", "nonce": g.nonce, "exp": g.ends.Unix(), "jti": i.next("id")}
	i.get().Identity(claims)
	token := unsignedOf("JWT", claims)
	i.sees(token)
	doc["id_token"] = token
}

// exchange changes an ID token that this issuer gave, and that has not ended, into an ID-JAG.
func (i *Issuer) exchange(w http.ResponseWriter, form url.Values) {
	i.mu.Lock()
	known := slices.Contains(i.secrets, form.Get("subject_token")) && !slices.Contains(i.ended, form.Get("subject_token"))
	i.mu.Unlock()
	if !known {
		refuse(w, "invalid_grant", "this ID token is not good here")
		return
	}
	jag := unsignedOf("oauth-id-jag+jwt", map[string]any{"iss": i.URL, "aud": form.Get("audience"), "resource": form.Get("resource"), "jti": i.next("jag")})
	i.sees(jag)
	reply(w, http.StatusOK, map[string]any{"access_token": jag, "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag", "token_type": "N_A"})
}

// EndIdentities ends the ID tokens that were given so far.
func (i *Issuer) EndIdentities() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = slices.Clone(i.secrets)
}

// unsignedOf is a JWT of a type, which nobody signed.
func unsignedOf(typ string, claims map[string]any) string {
	b, err := json.Marshal(claims)
	if err != nil {
		panic(err) // of what JSON can hold
	}
	enc := base64.RawURLEncoding.EncodeToString
	return strings.Join([]string{enc([]byte(`{"alg":"none","typ":"` + typ + `"}`)), enc(b), enc([]byte("unsigned"))}, ".")
}
