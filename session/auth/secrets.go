package auth

import (
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/mask"
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
	hidden := false
	for _, name := range secret {
		if jsonrpc.Get(body, name) == nil {
			continue
		}
		masked, err := jsonrpc.Update(body, jsonrpc.Set([]byte(`"`+mask.Hidden+`"`), name))
		if err != nil {
			return []byte(mask.Hidden) // it has a secret that cannot be taken out
		}
		body, hidden = masked, true
	}
	if !hidden {
		return []byte(mask.Text(string(body)))
	}
	return body
}
