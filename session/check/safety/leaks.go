package safety

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/mask"
)

// leak is a secret in a text that a server sent.
type leak struct {
	what  string // for people
	value string // as the text has it, "" where nobody can tell which part of the text it is; never reported
	named bool   // it goes by a name, and has no known shape: what it is found by is weaker, and so is the finding
}

// shapes are how well-known credentials begin, of two that begin alike the longer one first. They only name what mask.Prose found: what it hides
// is not listed here a second time.
var shapes = []struct{ prefix, what string }{
	{"gh", "a GitHub token"},
	{"glpat-", "a GitLab token"},
	{"sk-ant-", "an Anthropic key"},
	{"sk-", "an API key"},
	{"sk_", "a Stripe key"},
	{"rk_", "a Stripe key"},
	{"xox", "a Slack token"},
	{"AKIA", "an AWS key id"},
	{"ASIA", "an AWS key id"},
	{"AIza", "a Google API key"},
	{"npm_", "an npm token"},
	{"hf_", "a Hugging Face token"},
	{"eyJ", "a JSON Web Token"},
}

var (
	anyLink = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'<>\\]+`) })
	// privateKey is one with something in it, whole or cut at the end of the text. A colon, comma and hyphen are in the headers of keys with a password.
	privateKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----\s*[A-Za-z0-9+/=\s:,-]{40,}?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
	})
	// keyHead alone is prose about keys; mask.Prose would hide it, and all that follows.
	keyHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`) })
	// bearer is followed by a b64token (RFC 6750, section 2.1).
	bearer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bbearer[ \t]+([A-Za-z0-9._~+/-]{16,}=*)`) })
	// setting is a line of a file of settings, or of code that has a value and no expression.
	setting = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(?:^|[\s,;{])["']?([A-Za-z][\w-]{2,60})["']?[ \t]*[:=][ \t]*["']?([A-Za-z0-9+/=_-]{16,512})["']?(?:$|[\s,;}])`)
	})
)

// findLeaks returns the secrets in a text. name is that of the member whose value the text is, "" for none. A member whose name is a secret's is
// one leak as a whole. Else each step takes out of the text what it looked at, so that the next one does not find it again.
func findLeaks(name, s string) (out []leak) {
	if isSecretName(name) && isPlausibleSecret(s, 8) {
		if mask.Prose(s) == mask.Hidden {
			return []leak{{what: shapeOf(s), value: s}}
		}
		return []leak{{"a secret by its name", s, true}}
	}
	if strings.Contains(s, "://") {
		for _, l := range anyLink().FindAllString(s, 100) {
			out = append(out, leaksInURL(l)...)
		}
		s = anyLink().ReplaceAllString(s, " ")
	}
	for _, key := range privateKey().FindAllString(s, 10) {
		out = append(out, leak{what: "a private key", value: key})
	}
	s = keyHead().ReplaceAllString(privateKey().ReplaceAllString(s, " "), " ")
	if masked := mask.Prose(s); masked != s {
		parts, ok := maskedParts(s, masked)
		if !ok { // something is one, and nobody can say whether it is made up
			out = append(out, leak{what: "what looks like a credential"})
		}
		for _, part := range parts {
			if !isPlaceholder(part) {
				out = append(out, leak{what: shapeOf(part), value: part})
			}
		}
		s = masked
	}
	for _, m := range bearer().FindAllStringSubmatch(s, 10) {
		if isPlausibleSecret(m[1], 16) {
			out = append(out, leak{what: "a bearer token", value: m[1], named: true}) // "bearer" is the name
		}
	}
	if strings.ContainsAny(s, "=:") {
		for _, m := range setting().FindAllStringSubmatch(s, 100) {
			if isSecretName(m[1]) && isPlausibleSecret(m[2], 16) {
				out = append(out, leak{"a setting called " + printable(m[1]), m[2], true})
			}
		}
	}
	return out
}

// shapeOf names a credential that mask.Prose found, by the table or as one of those that mask.Extend adds.
func shapeOf(value string) string {
	for _, s := range shapes {
		if strings.HasPrefix(value, s.prefix) {
			return s.what
		}
	}
	return "a secret by a pattern of the user"
}

// leaksInURL returns the secrets in a URL. What a signature is good for ends soon, and links to files have one by design: the parameters of one that
// Amazon's storage made (x-amz-) do not count, nor those of others that are called a signature, since isSecretName does not know that word.
func leaksInURL(link string) (out []leak) {
	u, err := url.Parse(strings.TrimRight(link, ".,;:)]}"))
	if err != nil {
		return nil
	}
	if p, there := u.User.Password(); there && isPlausibleSecret(p, 6) {
		out = append(out, leak{what: "a password in a URL", value: p})
	}
	query := u.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		for _, v := range query[name] {
			if isSecretName(name) && isPlausibleSecret(v, 8) && !strings.HasPrefix(strings.ToLower(name), "x-amz-") {
				out = append(out, leak{"a URL's parameter " + printable(name), v, true})
			}
		}
	}
	return out
}

// harmless are words that make a name with "token" or "secret" in it that of something else: a cursor, a count, a property of a secret.
var harmless = map[string]bool{
	"next": true, "page": true, "continuation": true, "continue": true, "cursor": true, "sync": true, "resume": true, "progress": true, "cancel": true, "cancellation": true,
	"change": true, "start": true, "previous": true, "prev": true, "count": true, "total": true, "max": true, "min": true, "limit": true, "usage": true, "type": true,
	"expires": true, "expiry": true, "expiration": true, "id": true, "ids": true, "name": true, "names": true, "url": true, "uri": true, "endpoint": true, "policy": true,
	"symbol": true, "address": true, "mint": true, "contract": true, "field": true, "path": true, "file": true, "hash": true, "sha": true, "version": true, "ref": true,
	"reference": true, "arn": true, "length": true, "csrf": true, "xsrf": true, "public": true, "input": true, "output": true, "prompt": true, "completion": true,
	"label": true, "title": true, "description": true, "status": true, "state": true, "manager": true, "provider": true, "scheme": true, "list": true, "at": true, "updated": true, "created": true,
}

// isSecretName reports whether a member of that name is a secret, and not only something about one. Of the names that mask.Secret hides these are
// a part: what is called "key" or "auth" may be hidden in vain, and is not reported.
func isSecretName(name string) bool {
	if name == "" || !mask.Secret(name) {
		return false
	}
	words := nameWords(name)
	for _, w := range words {
		if harmless[w] {
			return false
		}
	}
	all := strings.Join(words, "")
	for _, part := range []string{"token", "secret", "passw", "passphrase", "apikey", "accesskey", "privatekey", "credential", "pwd"} {
		if strings.Contains(all, part) {
			return true
		}
	}
	return false
}

// nameWords splits a name in any style into words in lower case.
func nameWords(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case r >= 'A' && r <= 'Z':
			if lower {
				b.WriteByte(' ')
			}
			b.WriteRune(r + 'a' - 'A')
			lower = false
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
			lower = true
		default:
			b.WriteByte(' ')
			lower = false
		}
	}
	return strings.Fields(b.String())
}

// isPlausibleSecret reports whether a value may be a real secret: one word of at least least bytes, with letters and digits, and with enough
// different characters for that length. A path, a link, code and a placeholder are none.
func isPlausibleSecret(s string, least int) bool {
	if len(s) < least || len(s) > 4096 || strings.ContainsAny(s, " \t\r\n<>{}()$`\"'\\,;") || strings.Contains(s, "://") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || isPlaceholder(s) {
		return false
	}
	letters, digits, seen := 0, 0, map[rune]bool{}
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			letters++
		}
		seen[r] = true
	}
	return letters > 0 && digits > 0 && len(seen) >= min(10, least*3/4)
}
