package auth_test

import (
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/authtest"
)

// Servers differ in what they answer with a token.
func TestTokenAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(doc map[string]any)
		ends  time.Duration // 0 for not said
		scope string
	}{
		"as usual":            {func(map[string]any) {}, time.Hour, "mcp:read"},
		"seconds as a string": {func(doc map[string]any) { doc["expires_in"] = "600" }, 10 * time.Minute, "mcp:read"},
		"no seconds":          {func(doc map[string]any) { delete(doc, "expires_in") }, 0, "mcp:read"},
		"null":                {func(doc map[string]any) { doc["expires_in"], doc["scope"] = nil, nil }, 0, "mcp:read"},
		"negative":            {func(doc map[string]any) { doc["expires_in"] = -5 }, 0, "mcp:read"},
		"for ever":            {func(doc map[string]any) { doc["expires_in"] = 1e300 }, 0, "mcp:read"},
		"no scope":            {func(doc map[string]any) { delete(doc, "scope") }, time.Hour, "mcp:read"},
		"fewer scopes":        {func(doc map[string]any) { doc["scope"] = "" }, time.Hour, ""},
		"small letters":       {func(doc map[string]any) { doc["token_type"] = "bearer" }, time.Hour, "mcp:read"},
		"more members":        {func(doc map[string]any) { doc["id_token"], doc["x"] = "a.b.c", []int{1} }, time.Hour, "mcp:read"},
	} {
		t.Run(name, func(t *testing.T) {
			r := public(t, authtest.Knobs{Token: c.edit}).open()
			st := r.s.Authorizer().Status()
			scope := ""
			for _, s := range st.Scopes {
				scope += s
			}
			if st.Type != "Bearer" || scope != c.scope || st.Expires.IsZero() != (c.ends == 0) || c.ends != 0 && time.Until(st.Expires) > c.ends || c.ends != 0 && time.Until(st.Expires) < c.ends-time.Minute {
				t.Errorf("a %s token until %v for %q", st.Type, st.Expires, st.Scopes)
			}
		})
	}
}
