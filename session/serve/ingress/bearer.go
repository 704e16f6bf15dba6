package ingress

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// maxToken bounds the Authorization header that is looked at, in bytes.
const maxToken = 16 << 10

// Bearer takes the token out of the one Authorization header (RFC 6750 section 2.1). The scheme's letter case does not
// matter (RFC 9110 section 11.1). Its error is a *jsonrpc.RequestError, see Unauthorized.
func Bearer(h http.Header) (string, error) {
	values := h["Authorization"]
	switch {
	case len(values) == 0:
		return "", Unauthorized("", "this server asks for a token; send the header Authorization: Bearer TOKEN")
	case len(values) > 1:
		return "", Unauthorized("invalid_request", "there are several Authorization headers; send one")
	case len(values[0]) > maxToken:
		return "", Unauthorized("invalid_request", fmt.Sprintf("the Authorization header has more than %d bytes", maxToken))
	}
	scheme, token, _ := strings.Cut(strings.Trim(values[0], " \t"), " ")
	token = strings.TrimLeft(token, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", Unauthorized("invalid_request", "the Authorization header is not of the scheme Bearer")
	}
	if token == "" || !Visible(token) {
		return "", Unauthorized("invalid_request", "the Authorization header has no single token after Bearer")
	}
	return token, nil
}

// Visible reports whether s has only visible ASCII characters, as tokens have.
func Visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// unauthorized is what messages of Unauthorized begin with.
const unauthorized = "Unauthorized: "

// Unauthorized is a refusal with status 401. code is RFC 6750's error code, which becomes data.error, "" where the
// caller sent no token at all.
func Unauthorized(code, why string) *jsonrpc.RequestError {
	f := jsonrpc.Errorf(jsonrpc.KindUnauthorized, unauthorized+"%s", why)
	f.Status = http.StatusUnauthorized
	if code != "" {
		f = f.With("error", code)
	}
	return f
}

// Resource is what a protected resource says in its challenges of how to get a token. The zero value says nothing.
type Resource struct {
	Metadata string // URL of its metadata (RFC 9728 section 5.1)
	Scope    string // that a token needs, separated by spaces
}

// Challenge is the WWW-Authenticate header that goes with f (RFC 6750 section 3).
func (r Resource) Challenge(f *jsonrpc.RequestError) string {
	var params []string
	add := func(name, value string) {
		if value != "" {
			params = append(params, name+`="`+quotableText(value)+`"`)
		}
	}
	add("resource_metadata", r.Metadata)
	if code, ok := f.Data["error"].(string); ok {
		add("error", code)
		add("error_description", strings.TrimPrefix(f.Message, unauthorized))
	}
	add("scope", r.Scope)
	return strings.TrimRight("Bearer "+strings.Join(params, ", "), " ")
}

// quotableText leaves out what RFC 6750 section 3 has in no parameter.
func quotableText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, s)
}
