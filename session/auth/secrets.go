package auth

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
)

// secret are the members of requests and answers that are nobody's business. What is not here is meant to be read, such as
// token_endpoint and code_challenge, whose names would hide them elsewhere.
var secret = []string{
	"access_token", "refresh_token", "id_token", "client_secret", "registration_access_token", "code", "code_verifier", "client_assertion",
	"assertion", "subject_token", "actor_token", "token", "password", "device_code", "id_token_hint",
}

// maskBody is a form or a JSON object as the journal keeps it.
func maskBody(contentType string, body []byte) []byte {
	if strings.HasPrefix(contentType, "application/x-www-form-urlencoded") {
		parts := strings.Split(string(body), "&")
		for i, p := range parts {
			if name, v, ok := strings.Cut(p, "="); ok && v != "" && slices.Contains(secret, name) {
				parts[i] = name + "=" + mask.Hidden
			}
		}
		return []byte(strings.Join(parts, "&"))
	}
	for _, name := range secret {
		if jsonrpc.Get(body, name) == nil {
			continue
		}
		masked, err := jsonrpc.Update(body, jsonrpc.Set([]byte(`"`+mask.Hidden+`"`), name))
		if err != nil {
			return []byte(mask.Hidden) // it has a secret that cannot be taken out
		}
		body = masked
	}
	return inside.ReplaceAll(body, []byte(`$1"`+mask.Hidden+`"`))
}

// inside finds secrets that are not members of a well-formed object: deeper down, or in what is cut off.
var inside = regexp.MustCompile(`("(?:` + strings.Join(secret, "|") + `)"\s*:\s*)"(?:[^"\\]|\\.)*(?:"|$)`)

// shortSecret is how long a secret is at least: anything shorter would hide half of what is said.
const shortSecret = 8

// hideSecrets hides the secrets of a request in what a server says of it.
func hideSecrets(req *http.Request, form []byte) *strings.Replacer {
	var pairs []string
	add := func(s string) {
		if len(s) >= shortSecret {
			pairs = append(pairs, s, mask.Hidden)
		}
	}
	values, _ := url.ParseQuery(string(form)) // other bodies have none
	for _, name := range secret {
		for _, v := range values[name] {
			add(v)
		}
	}
	if _, password, ok := req.BasicAuth(); ok {
		add(password)
		plain, _ := url.QueryUnescape(password) // of ours
		add(plain)
	}
	return strings.NewReplacer(pairs...)
}
