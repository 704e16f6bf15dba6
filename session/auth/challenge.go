package auth

import (
	"net/http"
	"strings"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// maxChallenge bounds what is looked at of a header.
const maxChallenge = 16 << 10

// challengeOf reads what a refusal says: of several challenges the DPoP one, else Bearer, else the first.
func challengeOf(resp *http.Response) *Challenge {
	best := &Challenge{Status: resp.StatusCode}
	for _, h := range resp.Header.Values("WWW-Authenticate") {
		for _, one := range challenges(text.Cut(h, maxChallenge)) {
			if best.Scheme == "" || rank(one.scheme) > rank(best.Scheme) {
				best = &Challenge{
					Status: resp.StatusCode, Scheme: one.scheme, Error: one.params["error"], Describe: one.params["error_description"],
					Scopes: strings.Fields(one.params["scope"]), Metadata: one.params["resource_metadata"], Header: text.Clip(mask.Text(h), 1000),
				}
			}
		}
	}
	return best
}

// rank orders schemes by how much we can do with them: a token bound to a key before one that anybody can use, and anything else last.
func rank(scheme string) int {
	switch {
	case strings.EqualFold(scheme, "DPoP"):
		return 2
	case strings.EqualFold(scheme, "Bearer"):
		return 1
	}
	return 0
}

// challenge is one of a WWW-Authenticate header, as it was sent; Challenge is what we make of the best one.
type challenge struct {
	scheme string            // as sent
	params map[string]string // by name in lower case, unquoted
}

// challenges takes a WWW-Authenticate header apart (RFC 9110 section 11.6.1). What is malformed ends it; of a parameter given
// twice the first one counts.
func challenges(h string) (all []challenge) {
	for {
		h = strings.TrimLeft(h, " \t,")
		word, rest := token(h)
		if word == "" {
			return all
		}
		after := strings.TrimLeft(rest, " \t")
		if !strings.HasPrefix(after, "=") || rest == h { // a scheme
			all = append(all, challenge{word, map[string]string{}})
			// token68 credentials of other schemes are of no interest.
			if w, r := token68(after); w != "" {
				after = r
			}
			h = after
			continue
		}
		value, left, ok := value(strings.TrimLeft(after[1:], " \t"))
		if !ok || len(all) == 0 {
			return all
		}
		name := strings.ToLower(word)
		if _, twice := all[len(all)-1].params[name]; !twice {
			all[len(all)-1].params[name] = value
		}
		h = left
	}
}

// token takes a token (RFC 9110 section 5.6.2) off the front of s.
func token(s string) (word, rest string) {
	i := strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i:]
}

// token68 takes credentials that are not parameters off the front of s: they end where the header or the challenge does.
func token68(s string) (word, rest string) {
	end, _, _ := strings.Cut(s, ",")
	end = strings.TrimSpace(end)
	bare := strings.TrimRight(end, "=")
	if bare == "" || strings.ContainsAny(bare, "=\" \t") {
		return "", s
	}
	return end, s[len(end):]
}

// value takes a token or a quoted string off the front of s.
func value(s string) (v, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		v, rest = token(s)
		return v, rest, v != ""
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}
