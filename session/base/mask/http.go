package mask

import (
	"net/http"
	"slices"
	"strings"
)

// Header returns the value of a header as it may be shown: a secret becomes "***", with the scheme of an
// Authorization header kept, and secrets in URLs are hidden.
func Header(name, value string) string {
	switch http.CanonicalHeaderKey(name) {
	case "Mcp-Session-Id":
		return session(value)
	case "Dpop": // a proof (RFC 9449)
		return Hidden
	case "Location", "Content-Location", "Referer": // also without a scheme, which Text would not find
		return URL(value)
	}
	// Names such as X-Api-Key and Authorization; a header that is not one of those may still have a token in it.
	if !Secret(name) {
		return Text(value)
	}
	if scheme, rest, ok := strings.Cut(value, " "); ok && rest != "" && strings.Contains(strings.ToLower(name), "authorization") {
		return scheme + " " + Hidden
	}
	return Hidden
}

// session keeps enough of a session's id to tell two apart. Whoever has all of it can speak in the session.
func session(id string) string {
	if len(id) < 16 {
		return Hidden
	}
	return id[:4] + "…"
}

// Lines masks the text of an HTTP head: a request or status line and then "Name: value" lines. A line without a name is masked like the
// first.
func Lines(head string) string {
	lines := strings.Split(head, "\n")
	for i, l := range lines {
		name, value, ok := strings.Cut(l, ": ")
		if i == 0 || !ok {
			lines[i] = line(l)
			continue
		}
		lines[i] = name + ": " + Header(name, value)
	}
	return strings.Join(lines, "\n")
}

// line masks a request line, whose target can be a path with a query.
func line(l string) string {
	words := strings.Split(l, " ")
	for i, w := range words {
		if strings.ContainsAny(w, "?@") {
			words[i] = URL(w)
		}
	}
	return strings.Join(words, " ")
}

// Head returns the text of an HTTP head for an entry of Kind HTTP: first (a request or status line) and the headers
// in alphabetical order, one per line, secrets hidden, and the values of those that secret names.
func Head(first string, h http.Header, secret ...string) []byte {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	b := append([]byte(line(first)), '\n')
	for _, name := range names {
		for _, v := range h[name] {
			shown := Header(name, v)
			if shown == v && slices.Contains(secret, name) {
				shown = Hidden
			}
			b = append(b, name+": "+shown+"\n"...)
		}
	}
	return b
}
