package text

import (
	"html"
	"strings"
)

// OfPage is what a body that is a web page says: its title, and its text without markup. Anything else is returned as it is. It is for
// error pages of proxies and gateways, whose one sentence people need; it is not a parser, and what it returns is not safe to show as
// HTML.
func OfPage(body string) string {
	low := lower(body)
	if t := strings.TrimSpace(low); !strings.HasPrefix(t, "<!doctype html") && !strings.HasPrefix(t, "<html") {
		return body
	}
	title := ""
	if i := strings.Index(low, "<title"); i >= 0 {
		if _, rest, ok := strings.Cut(body[i:], ">"); ok {
			title, _, _ = strings.Cut(rest, "<")
		}
	}
	if i := strings.Index(low, "<body"); i >= 0 {
		body = body[i:]
	}
	var said strings.Builder
	for body != "" {
		before, after, ok := strings.Cut(body, "<")
		said.WriteString(before + " ")
		if !ok {
			break
		}
		tag, rest, _ := strings.Cut(low[len(low)-len(after):], ">")
		switch name, _, _ := strings.Cut(tag, " "); name {
		case "script", "style", "title", "head", "svg": // what is in them is not text
			_, rest, _ = strings.Cut(rest, "</"+name)
			_, rest, _ = strings.Cut(rest, ">")
		}
		body = after[len(after)-len(rest):]
	}
	words := func(s string) string { return strings.Join(strings.Fields(html.UnescapeString(s)), " ") }
	title, shown := words(title), words(said.String())
	switch {
	case title == "" || strings.HasPrefix(shown, title):
		return shown
	case shown == "":
		return title
	}
	return title + ": " + shown
}

// lower is s with small letters for the capitals of ASCII. It is as long as s, unlike what strings.ToLower returns, so that offsets in
// one are offsets in the other.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}
