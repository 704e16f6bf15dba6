// Package mask hides secrets in what is shown, printed and written to files: by the names that usually hold one (headers,
// variables, flags, query parameters) and by what well-known tokens look like. What it leaves is for reading only: it need not be
// valid as what it was.
//
// Which function for what: [Value] for a value with its name, [Text] for any text, [Prose] for what people wrote, [Log] for what
// programs print, [URL], [Args] and [Header] for what they are called after, [Head] for an HTTP message, and a Rule for JSON.
//
// A [Rule] finds what is secret in JSON values that people type and servers answer, before these are written to disk, by what a schema
// says of them too. There is one rule, for whoever keeps values.
//
// Masking is best effort: a secret of no known shape under a name that says nothing stays. [Extend] is how users add theirs.
package mask

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden replaces a secret, whatever its length: how long it is would be a hint.
const Hidden = "***"

// Secret reports whether something of that name (a variable, a header, a flag,
// a query parameter) usually holds a secret. An error is none: KeyError: 'GITHUB_TOKEN' names what is missing.
func Secret(name string) bool {
	if n := len(name); n > 5 && strings.EqualFold(name[n-5:], "error") || n > 9 && strings.EqualFold(name[n-9:], "exception") {
		return extra.Load().matchesName(name)
	}
	// Word by word, without allocating: this is asked for each member of each frame that is recorded.
	var before bool // the word before was max or min
	var room [32]byte
	for rest, word := name, []byte(nil); ; {
		if word, rest = nextWord(room[:0], rest); len(word) == 0 {
			return extra.Load().matchesName(name)
		}
		switch string(word) {
		case "key", "keys", "auth", "authorization", "cookie", "pat", "pwd", "pass", "sig", "signature", "jwt", "bearer", "creds", "dsn", "assertion", "verifier":
			return true
		case "max", "min":
			before = true
			continue
		case "tokens": // --max-tokens 100 is a number; ACCESS_TOKENS are not
			if before {
				before = false
				continue
			}
		}
		before = false
		for _, part := range secretParts {
			if bytes.Contains(word, part) {
				return true
			}
		}
	}
}

// secretParts are parts of words by which a name is a secret's.
var secretParts = [][]byte{
	[]byte("token"), []byte("secret"), []byte("passw"), []byte("passphrase"), []byte("apikey"), []byte("accesskey"), []byte("privatekey"),
	[]byte("credential"), []byte("authoriz"),
}

// nextWord appends the first word of "X-Api-Key", "GITHUB_TOKEN" or "clientSecret" to b, in lower case, and returns
// what comes after it. The word is empty where there is none.
func nextWord(b []byte, name string) (word []byte, rest string) {
	lower := false
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			if len(b) > 0 {
				return b, name[i:]
			}
		case unicode.IsUpper(r) && lower:
			return b, name[i:]
		default:
			lower = unicode.IsLower(r)
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
	}
	return b, ""
}

var (
	// An authorization scheme and what follows it, with the quote that may end it.
	scheme = regexp.MustCompile(`(?i)\b(?:((?:bearer|basic)(?:[ \t]+(?:bearer|basic))?)[ \t]+([A-Za-z0-9._~+/-]{6,}=*"?)|(token)[ \t]+([A-Za-z0-9._~+/-]{16,}=*"?))`)
	// What well-known services' tokens, JWTs among them, look like.
	tokenPattern = regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|xox[abeprs]-[\w-]{10,}|A(KIA|SIA)[A-Z0-9]{12,}|AIza[\w-]{20,}|npm_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}(\.[\w-]*)?)`)
	// A private key in PEM, whole or cut.
	privateKey = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]|-[^-])*(?:-----END [A-Z ]*PRIVATE KEY-----)?`)
	// NAME=value and --name=value; NAME: value of a header. A value may have several lines.
	pair = regexp.MustCompile(`(?s)^(-{0,2}[\w.-]+)(=|:\s*)(.*)$`)
	// The next one in a list of URLs.
	another = regexp.MustCompile(`,[a-zA-Z][a-zA-Z0-9+.-]*://`)
	link    = regexp.MustCompile(`\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'<>\\]+`)
)

// Value is a value as it may be shown under that name: of a secret only the authorization scheme stays, and elsewhere
// whatever looks like one goes. An empty value stays empty, since that there is none is worth knowing.
func Value(name, value string) string {
	if value == "" {
		return ""
	}
	if Secret(name) {
		if s, _, ok := strings.Cut(value, " "); ok && (strings.EqualFold(s, "bearer") || strings.EqualFold(s, "basic")) {
			return s + " " + Hidden
		}
		return Hidden
	}
	return Text(value)
}

// Text hides what looks like a secret in free text: bearer values, tokens of well-known shape, user info and query
// parameters of URLs whose names are those of secrets, private keys.
func Text(s string) string {
	s = extra.Load().text(s)
	if strings.Contains(s, "://") {
		s = link.ReplaceAllStringFunc(s, URL)
	}
	if len(s) < minSecret {
		return s
	}
	if mayHaveScheme(s) {
		s = scheme.ReplaceAllStringFunc(s, credentials)
	}
	return hideTokens(s)
}

// Prose is Text for what people wrote: it leaves "basic information" alone, which Text takes for a scheme and its credentials. It is for
// descriptions of tools and the like.
func Prose(s string) string {
	s = extra.Load().text(s)
	if strings.Contains(s, "://") {
		s = link.ReplaceAllStringFunc(s, URL)
	}
	return hideTokens(s)
}

// Log is Text for what programs write for people: the values of assignments such as token=abc go as well, see [Assigned].
func Log(s string) string {
	return Assigned(Text(s), func(string, bool) string { return Hidden })
}

// minSecret is how long a text has to be for scheme or tokenPattern to find something in it: "basic abcdef".
const minSecret = 12

// mayHaveScheme reports whether a blank follows the last letter of bearer, basic or token, which costs a tenth of what
// scheme does.
func mayHaveScheme(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] == ' ' || s[i] == '\t' {
			switch s[i-1] {
			case 'r', 'R', 'c', 'C', 'n', 'N':
				return true
			}
		}
	}
	return false
}

// credentials is what scheme found, without the secret.
func credentials(m string) string {
	m = strings.ReplaceAll(m, "\t", " ")
	at := strings.LastIndexByte(m, ' ') // the name can be there twice
	name, token := strings.TrimRight(m[:at], " "), m[at+1:]
	if param, ok := strings.CutSuffix(token, `="`); ok && strings.Trim(param, "_abcdefghijklmnopqrstuvwxyz") == "" {
		return m // a parameter of a challenge: Bearer resource_metadata="…"
	}
	return name + " " + Hidden + strings.Repeat(`"`, strings.Count(m, `"`))
}

// tokenPrefixes are what tokenPattern's matches begin with. Looking for them first takes a tenth of its time.
var tokenPrefixes = []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "sk_", "rk_", "xox", "AKIA", "ASIA", "AIza", "npm_", "hf_", "eyJ"}

// hideTokens hides what has the shape of a well-known token.
func hideTokens(s string) string {
	if strings.Contains(s, "PRIVATE KEY-----") {
		s = privateKey.ReplaceAllString(s, Hidden)
	}
	for _, b := range tokenPrefixes {
		if strings.Contains(s, b) {
			return tokenPattern.ReplaceAllString(s, Hidden)
		}
	}
	return s
}

// URL hides user info and the values of query and fragment parameters whose names are those of secrets. The rest of the
// text stays as it is, also where it is not a valid URL.
func URL(s string) string {
	if strings.Count(s, "://") > 1 { // a list of servers
		if at := another.FindStringIndex(s); at != nil {
			return URL(s[:at[0]]) + "," + URL(s[at[0]+1:])
		}
	}
	rest, fragment, hasFragment := strings.Cut(s, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	// By hand, and not by url.Parse: what is wrong with a URL, such as a % in a password, must not make its secret be shown.
	if i := strings.Index(rest, "://"); i >= 0 {
		authority, path, hasPath := strings.Cut(rest[i+3:], "/")
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			// All before the last @, since a password that is not escaped may have one, too.
			authority = Hidden + authority[at:]
		}
		rest = rest[:i+3] + authority
		if hasPath {
			rest += "/" + path
		}
	}
	if hasQuery {
		rest += "?" + parameters(query)
	}
	if hasFragment {
		rest += "#" + parameters(fragment)
	}
	return hideTokens(extra.Load().text(rest))
}

// parameters hides the values of a query or fragment whose names are those of secrets. code is the one of OAuth's redirect, which buys
// a token (RFC 6749 section 4.1.2). A name that cannot be decoded counts as one.
func parameters(q string) string {
	parts := strings.Split(q, "&")
	for i, p := range parts {
		k, v, ok := strings.Cut(p, "=")
		name, err := url.QueryUnescape(k)
		if ok && v != "" && (err != nil || Secret(name) || name == "code") {
			parts[i] = k + "=" + Hidden
		}
	}
	return strings.Join(parts, "&")
}

// Args hides secrets in an argument list: --token x, --token=x, NAME=x, -H "Authorization: x", --env=NAME=x, those in an argument that is JSON, and
// whatever Text finds. A value can hide what a shell would run: who asks whether to run it shows more.
func Args(args []string) []string {
	out := make([]string, len(args))
	follows := false // the argument before was a flag that takes a secret
	for i, a := range args {
		flag := strings.HasPrefix(a, "-")
		if follows && !flag {
			out[i], follows = Value("token", a), false
			continue
		}
		out[i] = argument(a, flag)
		follows = flag && Secret(a) && !pair.MatchString(a)
	}
	return out
}

// argument is one argument without its secret. The value of a flag may be a pair itself, of one level, which bounds the work.
func argument(a string, flag bool) string {
	m := pair.FindStringSubmatch(a)
	switch {
	case m == nil:
	case Secret(m[1]) && (m[2] == "=" || !strings.HasPrefix(m[3], "//")): // token://x is a URL
		return m[1] + m[2] + Value(m[1], m[3])
	case flag && m[2] == "=":
		return m[1] + "=" + argument(m[3], false)
	}
	clean, _ := Rule{}.text(a)
	return Text(clean) // also names of members
}
