package config

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/mask"
)

// Grants that an oauth block can name.
const (
	GrantCode       = "authorization_code" // a person, in a browser; the default
	GrantClient     = "client_credentials" // the program itself, by a secret or a key
	GrantEnterprise = "enterprise_managed" // the ID token of an identity provider, changed into an ID-JAG
	GrantWorkload   = "workload_identity"  // a JWT that the platform gives to the program
)

// OAuthGrants lists the grants, the default first.
func OAuthGrants() []string { return []string{GrantCode, GrantClient, GrantEnterprise, GrantWorkload} }

// OAuth is an entry's oauth block. Endpoints left empty are discovered.
type OAuth struct {
	AuthURL      string   `json:"auth_url,omitempty"`
	TokenURL     string   `json:"token_url,omitempty"`
	ClientID     string   `json:"client_id,omitempty"`
	ClientSecret string   `json:"client_secret,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
	RedirectURI  string   `json:"redirect_uri,omitempty"`
	// MetadataURL is where the authorization server's metadata is, instead of discovering which one the server names.
	MetadataURL string `json:"metadata_url,omitempty"`
	// Params are further parameters of the authorization request, such as login_hint. They replace none that the protocol has.
	Params map[string]string `json:"authorization_params,omitempty"`

	Grant string `json:"grant,omitempty"` // one of OAuthGrants; "" for the default
	DPoP  bool   `json:"dpop,omitempty"`  // tokens are bound to a key, also where the server does not ask for it

	// The key of private_key_jwt (RFC 7523), instead of ClientSecret: PEM or JWK, or a file of it.
	PrivateKey     string `json:"private_key,omitempty"`
	PrivateKeyFile string `json:"private_key_file,omitempty"`
	KeyID          string `json:"key_id,omitempty"`      // kid, where the authorization server knows several keys
	SigningAlg     string `json:"signing_alg,omitempty"` // "ES256" …; "" for what fits the key

	// The JWT of GrantWorkload, or a file that has it, read again for each token.
	Assertion     string `json:"assertion,omitempty"`
	AssertionFile string `json:"assertion_file,omitempty"`

	// The identity provider of GrantEnterprise: its issuer or its token endpoint, who we are there, and the ID token or a file of it. Without
	// a token a person logs in at the issuer.
	IDPIssuer       string `json:"idp_issuer,omitempty"`
	IDPTokenURL     string `json:"idp_token_url,omitempty"`
	IDPClientID     string `json:"idp_client_id,omitempty"`
	IDPClientSecret string `json:"idp_client_secret,omitempty"`
	IDToken         string `json:"id_token,omitempty"`
	IDTokenFile     string `json:"id_token_file,omitempty"`
}

// ByMachine reports whether a token is got without a person.
func (a *OAuth) ByMachine() bool { return a != nil && a.Grant != "" && a.Grant != GrantCode }

// LogsInAt is the issuer of the identity provider at which a person logs in for GrantEnterprise, since the configuration has no ID token; "" for none.
func (a *OAuth) LogsInAt() string {
	if a == nil || a.Grant != GrantEnterprise || a.IDToken != "" || a.IDTokenFile != "" {
		return ""
	}
	return a.IDPIssuer
}

// oauthText is a member of an oauth block that is one string.
type oauthText struct {
	key   string
	value *string
	is    textKind
}

// textKind is what a string stands for, by which it is masked and resolved.
type textKind int

const (
	textName   textKind = iota // shown as it is, but for secrets that were expanded into it
	textURL                    // shown without what is secret in a URL
	textSecret                 // never shown
	textFile                   // a path, relative to the folder of the file that has the entry
)

// texts are the members that are one string.
func (a *OAuth) texts() []oauthText {
	return []oauthText{
		{"auth_url", &a.AuthURL, textURL},
		{"token_url", &a.TokenURL, textURL},
		{"client_id", &a.ClientID, textName},
		{"client_secret", &a.ClientSecret, textSecret},
		{"redirect_uri", &a.RedirectURI, textURL},
		{"metadata_url", &a.MetadataURL, textURL},
		{"grant", &a.Grant, textName},
		{"private_key", &a.PrivateKey, textSecret},
		{"private_key_file", &a.PrivateKeyFile, textFile},
		{"key_id", &a.KeyID, textName},
		{"signing_alg", &a.SigningAlg, textName},
		{"assertion", &a.Assertion, textSecret},
		{"assertion_file", &a.AssertionFile, textFile},
		{"idp_issuer", &a.IDPIssuer, textURL},
		{"idp_token_url", &a.IDPTokenURL, textURL},
		{"idp_client_id", &a.IDPClientID, textName},
		{"idp_client_secret", &a.IDPClientSecret, textSecret},
		{"id_token", &a.IDToken, textSecret},
		{"id_token_file", &a.IDTokenFile, textFile},
	}
}

// Text is the member of this key if it is one that is a string, else nil; for readers of other files that have such a block.
func (a *OAuth) Text(key string) *string {
	key = cmp.Or(aliases[key], key)
	for _, t := range a.texts() {
		if t.key == key {
			return t.value
		}
	}
	return nil
}

// Resolved reports whether all paths of files are independent of the working directory.
func (a *OAuth) Resolved() bool {
	return !slices.ContainsFunc(a.files(), func(file string) bool { return !filepath.IsAbs(file) })
}

// Resolve makes the paths of files independent of the working directory: they are relative to folder.
func (a *OAuth) Resolve(folder string) {
	for _, t := range a.texts() {
		if t.is == textFile && *t.value != "" && !filepath.IsAbs(*t.value) {
			*t.value = filepath.Join(folder, *t.value)
		}
	}
}

// expand replaces the variables.
func (a *OAuth) expand(x *expander) {
	for _, t := range a.texts() {
		*t.value = x.expand("oauth."+t.key, *t.value)
	}
	for i, s := range a.Scopes {
		a.Scopes[i] = x.expand(index("oauth.scopes", i), s)
	}
	for _, k := range sortedKeys(a.Params) {
		a.Params[k] = x.expand("oauth.authorization_params."+k, a.Params[k])
	}
}

// maskCopy is a copy that may be shown; hide hides secrets that were expanded into something.
func (a OAuth) maskCopy(hide func(string) string) *OAuth {
	for _, t := range a.texts() {
		switch t.is {
		case textSecret:
			*t.value = mask.Value("secret", *t.value)
		case textURL:
			*t.value = hide(mask.URL(*t.value))
		default:
			*t.value = hide(*t.value)
		}
	}
	a.Scopes = slices.Clone(a.Scopes)
	for i, s := range a.Scopes {
		a.Scopes[i] = hide(s)
	}
	a.Params = maps.Clone(a.Params)
	for k, v := range a.Params {
		a.Params[k] = hide(mask.Value(k, v))
	}
	return &a
}

// files are those that are read for a login.
func (a *OAuth) files() (all []string) {
	for _, t := range a.texts() {
		if t.is == textFile && *t.value != "" {
			all = append(all, *t.value)
		}
	}
	return all
}

// aliases are what other programs call members of an oauth block: Claude Code, Cursor (in a block that it calls auth) and the Inspector.
var aliases = map[string]string{
	"clientId": "client_id", "clientSecret": "client_secret", "authServerMetadataUrl": "metadata_url",
	"CLIENT_ID": "client_id", "CLIENT_SECRET": "client_secret",
	"authorizationUrl": "auth_url", "scope": "scopes", "redirectUri": "redirect_uri", "tokenUrl": "token_url", "authorizationParams": "authorization_params",
}

// oauth reads the block.
func (e *entry) oauth(n node) {
	if n.kind() != object {
		e.problem("oauth", "is %s; write an object", n.kind())
		return
	}
	a := e.login()
	named := map[string]string{}
	for _, m := range n.members() {
		key := cmp.Or(aliases[m.key], m.key)
		field := "oauth." + key
		if before := named[key]; before != "" && before != m.key {
			e.doc.warnAt(m.line, m.col, "server %q: oauth has both %s and %s, which mean the same: the last one counts", clip(e.Name), before, m.key)
		}
		named[key] = m.key
		e.note(field, m.value)
		switch text := a.Text(key); {
		case m.value.kind() == null: // as if it were not there
		case text != nil:
			*text = e.string(field, m.value)
		case key == "scopes" && m.value.kind() == str: // as a request has them
			a.Scopes = strings.Fields(m.value.text())
		case key == "scopes":
			a.Scopes = e.list(field, m.value)
		case key == "dpop":
			a.DPoP = e.bool(field, m.value, false)
		case key == "authorization_params":
			a.Params = e.pairs(field, m.value)
		case key == "callbackPort": // Claude Code's; the redirect it makes of it
			port := e.string(field, m.value)
			if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
				e.problem(field, "%q is not a port; write 1 to 65535", clip(port))
			}
			a.RedirectURI = "http://localhost:" + port + "/callback"
		case key == "enabled", key == "tokenParamName", key == "audiences", key == "issuer", key == "onInsufficientScope": // of Gemini CLI and the Inspector
		case key == "enterpriseManaged": // the Inspector's
			if e.bool(field, m.value, false) {
				a.Grant = GrantEnterprise
			}
		default:
			e.warnUnknown(m, "oauth")
		}
	}
}

// checkOAuth refuses a grant that nobody knows, and looks for files beside the entry's own.
func (e *entry) checkOAuth() {
	e.checkCommandLogin()
	a := e.OAuth
	if a == nil {
		return
	}
	if a.Grant != "" && !slices.Contains(OAuthGrants(), a.Grant) {
		e.problem("oauth.grant", "%q is not a grant; write %s", clip(a.Grant), strings.Join(OAuthGrants(), ", "))
	}
	a.Resolve(e.base)
}
