package journal

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const masked = "***"

var (
	secretWords = []string{
		"authorization", "cookie", "token", "secret", "passw", "credential", "signature", "api-key", "apikey", "api_key",
	}
	urlPattern    = regexp.MustCompile(`(?i)\bhttps?://[^\s"'<>\\]+`)
	bearerPattern = regexp.MustCompile(`(?i)\b(bearer|basic) +[A-Za-z0-9._~+/-]{8,}=*"?`)
)

// isSecret says whether a header or query parameter of this name carries a secret.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(name, w) }) ||
		strings.HasSuffix(name, "-key") || strings.HasSuffix(name, "_key") || name == "key" || name == "sig" || name == "code"
}

// MaskHeader returns the value of a header as it may be shown: a secret becomes "***", with the scheme of an
// Authorization header kept, and secrets in URLs are masked.
func MaskHeader(name, value string) string {
	if strings.EqualFold(name, "Mcp-Session-Id") {
		return maskSession(value)
	}
	if !isSecret(name) {
		return MaskText(value)
	}
	if scheme, rest, ok := strings.Cut(value, " "); ok && rest != "" && strings.Contains(strings.ToLower(name), "authorization") {
		return scheme + " " + masked
	}
	return masked
}

// maskSession keeps enough of a session's id to tell two apart. Whoever has all of it can speak in the session.
func maskSession(id string) string {
	if len(id) < 16 {
		return masked
	}
	return id[:4] + "…"
}

// MaskURL returns a URL without its password and without the values of query parameters that carry secrets.
// Everything else stays as it was written.
func MaskURL(raw string) string {
	head, frag, hasFrag := strings.Cut(raw, "#")
	head, query, hasQuery := strings.Cut(head, "?")
	if i := strings.Index(head, "://"); i >= 0 {
		rest := head[i+3:]
		auth, path, hasPath := strings.Cut(rest, "/")
		if at := strings.LastIndexByte(auth, '@'); at >= 0 {
			user, _, hasPassword := strings.Cut(auth[:at], ":")
			if hasPassword {
				user += ":" + masked
			}
			auth = user + auth[at:]
		}
		head = head[:i+3] + auth
		if hasPath {
			head += "/" + path
		}
	}
	if hasQuery {
		head += "?" + maskQuery(query)
	}
	if hasFrag {
		head += "#" + maskQuery(frag)
	}
	return head
}

func maskQuery(q string) string {
	parts := strings.Split(q, "&")
	for i, p := range parts {
		name, _, hasValue := strings.Cut(p, "=")
		plain, err := url.QueryUnescape(name)
		if hasValue && (err != nil || isSecret(plain)) {
			parts[i] = name + "=" + masked
		}
	}
	return strings.Join(parts, "&")
}

// MaskText masks URLs and bearer tokens in free text.
func MaskText(s string) string {
	if strings.Contains(s, "://") {
		s = urlPattern.ReplaceAllStringFunc(s, MaskURL)
	}
	if len(s) > len("basic ") {
		s = bearerPattern.ReplaceAllStringFunc(s, func(m string) string {
			scheme, token, _ := strings.Cut(m, " ")
			if param, ok := strings.CutSuffix(token, `="`); ok && strings.Trim(param, " _abcdefghijklmnopqrstuvwxyz") == "" {
				return m // a parameter of a challenge: Bearer resource_metadata="…"
			}
			return scheme + " " + masked + strings.Repeat(`"`, strings.Count(m, `"`))
		})
	}
	return s
}

// MaskHead masks the text of an HTTP head: a request or status line and then "Name: value" lines.
func MaskHead(head string) string {
	lines := strings.Split(head, "\n")
	for i, l := range lines {
		name, value, ok := strings.Cut(l, ": ")
		if i == 0 || !ok {
			lines[i] = maskLine(l)
			continue
		}
		lines[i] = name + ": " + MaskHeader(name, value)
	}
	return strings.Join(lines, "\n")
}

// maskLine masks a request line, whose target can be a path with a query.
func maskLine(l string) string {
	words := strings.Split(l, " ")
	for i, w := range words {
		if strings.ContainsAny(w, "?@") {
			words[i] = MaskURL(w)
		}
	}
	return strings.Join(words, " ")
}

// Head returns the text of an HTTP head for an entry of Kind HTTP: first (a request or status line) and the headers
// in alphabetical order, one per line, secrets masked.
func Head(first string, h http.Header) []byte {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	b := append([]byte(maskLine(first)), '\n')
	for _, name := range names {
		for _, v := range h[name] {
			b = append(b, name+": "+MaskHeader(name, v)+"\n"...)
		}
	}
	return b
}
