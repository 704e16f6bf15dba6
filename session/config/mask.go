package config

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// Hidden stands where a secret was. It says nothing about its length.
const Hidden = "***"

// Secret reports whether something of that name (a variable, a header, a flag,
// a query parameter) usually holds a secret.
func Secret(name string) bool {
	segments := split(name)
	for i, s := range segments {
		switch s {
		case "key", "keys", "auth", "authorization", "cookie", "pat", "pwd", "pass", "sig", "signature", "jwt", "bearer", "creds", "dsn":
			return true
		case "tokens": // --max-tokens 100 is a number; ACCESS_TOKENS are not
			if i > 0 && (segments[i-1] == "max" || segments[i-1] == "min") {
				continue
			}
		}
		for _, part := range []string{"token", "secret", "passw", "passphrase", "apikey", "accesskey", "privatekey", "credential", "authoriz"} {
			if strings.Contains(s, part) {
				return true
			}
		}
	}
	return false
}

// split cuts "X-Api-Key", "GITHUB_TOKEN" and "clientSecret" into lower-case words.
func split(name string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			lower = false
		case unicode.IsUpper(r) && lower:
			flush()
			fallthrough
		default:
			lower = unicode.IsLower(r)
			b.WriteRune(unicode.ToLower(r))
		}
	}
	flush()
	return out
}

var (
	// An authorization scheme and what follows it.
	scheme = regexp.MustCompile(`(?i)\b(bearer|basic|token)\s+[A-Za-z0-9._~+/=-]{6,}`)
	// What well-known services' tokens, JWTs among them, look like.
	tokenish = regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|A(KIA|SIA)[A-Z0-9]{12,}|AIza[\w-]{20,}|npm_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}(\.[\w-]*)?)`)
	// NAME=value and --name=value; NAME: value of a header.
	pair = regexp.MustCompile(`^(-{0,2}[\w.-]+)(=|:\s*)(.*)$`)
	link = regexp.MustCompile(`\b[a-zA-Z][a-zA-Z0-9+.-]*://\S+`)
)

// Mask is value as it may be shown under that key: of a secret only the
// authorization scheme stays, and elsewhere whatever looks like one goes.
func Mask(key, value string) string {
	if value == "" {
		return ""
	}
	if Secret(key) {
		if s, _, ok := strings.Cut(value, " "); ok && (strings.EqualFold(s, "bearer") || strings.EqualFold(s, "basic")) {
			return s + " " + Hidden
		}
		return Hidden
	}
	return MaskText(value)
}

// MaskText hides what looks like a secret in free text: bearer values, tokens of
// well-known shape, user info and telling query parameters of URLs.
func MaskText(s string) string {
	s = link.ReplaceAllStringFunc(s, MaskURL)
	s = scheme.ReplaceAllString(s, "${1} "+Hidden)
	return tokenish.ReplaceAllString(s, Hidden)
}

// MaskURL hides user info and the values of telling query parameters. The rest
// of the text stays as it is, also where it is no valid URL.
func MaskURL(s string) string {
	rest, fragment, hasFragment := strings.Cut(s, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	if i := strings.Index(rest, "://"); i >= 0 {
		authority, path, hasPath := strings.Cut(rest[i+3:], "/")
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			authority = Hidden + authority[at:]
		}
		rest = rest[:i+3] + authority
		if hasPath {
			rest += "/" + path
		}
	}
	if hasQuery {
		rest += "?" + maskQuery(query)
	}
	if hasFragment {
		rest += "#" + maskQuery(fragment)
	}
	return tokenish.ReplaceAllString(rest, Hidden)
}

func maskQuery(q string) string {
	parts := strings.Split(q, "&")
	for i, p := range parts {
		k, v, ok := strings.Cut(p, "=")
		name, err := url.QueryUnescape(k)
		if err != nil {
			name = k
		}
		if ok && v != "" && (Secret(name) || name == "code") {
			parts[i] = k + "=" + Hidden
		}
	}
	return strings.Join(parts, "&")
}

// MaskArgs hides secrets in an argument list: --token x, --token=x, NAME=x,
// -H "Authorization: x", and whatever MaskText finds.
func MaskArgs(args []string) []string {
	out := make([]string, len(args))
	next := false // the argument before was a flag that takes a secret
	for i, a := range args {
		flag := strings.HasPrefix(a, "-")
		m := pair.FindStringSubmatch(a)
		switch {
		case next && !flag:
			out[i] = Mask("token", a)
		case m != nil && !strings.HasPrefix(m[3], "//") && Secret(m[1]):
			out[i] = m[1] + m[2] + Mask(m[1], m[3])
		default:
			out[i] = MaskText(a)
		}
		next = flag && m == nil && Secret(a)
	}
	return out
}

// Masked is a copy of s that may be shown or printed.
func (s Server) Masked() Server {
	s.Command = s.hide(MaskText(s.Command))
	s.Args = MaskArgs(s.Args)
	for i := range s.Args {
		s.Args[i] = s.hide(s.Args[i])
	}
	s.Env = s.maskMap(s.Env)
	s.Headers = s.maskMap(s.Headers)
	s.URL = s.hide(MaskURL(s.URL))
	if s.OAuth != nil {
		a := *s.OAuth
		a.AuthURL, a.TokenURL = s.hide(MaskURL(a.AuthURL)), s.hide(MaskURL(a.TokenURL))
		a.ClientID = s.hide(a.ClientID)
		a.ClientSecret = Mask("secret", a.ClientSecret)
		s.OAuth = &a
	}
	s.secrets = nil
	return s
}

func (s Server) maskMap(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = s.hide(Mask(k, v))
	}
	return out
}

// hide replaces the values of secret variables that were expanded into s. One
// of a character or two would only riddle the text.
func (s Server) hide(v string) string {
	for _, secret := range s.secrets {
		if len(secret) > 3 {
			v = strings.ReplaceAll(v, secret, Hidden)
		}
	}
	return v
}
