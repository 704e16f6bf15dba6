package export

import (
	"bufio"
	"fmt"
	"html"
	"strings"
)

// markup is HTML that is written as it is: constants of this package, and the style and script that the page carries.
type markup string

// out writes a page. Whatever is not [markup] is escaped, so that a value forgotten somewhere shows as text.
type out struct {
	w   *bufio.Writer
	n   int64 // bytes written
	err error
}

// put writes markup, and values as the text that they are.
func (o *out) put(parts ...any) {
	for _, part := range parts {
		text := ""
		switch v := part.(type) {
		case markup:
			text = string(v)
		case string:
			text = html.EscapeString(v)
		default:
			text = html.EscapeString(fmt.Sprint(v))
		}
		if o.err == nil {
			var n int
			n, o.err = o.w.WriteString(text)
			o.n += int64(n)
		}
	}
}

// putNonEmpty writes a value between markup, and nothing for an empty value.
func (o *out) putNonEmpty(before markup, value string, after markup) {
	if value != "" {
		o.put(before, value, after)
	}
}

// opening is what a page begins with.
type opening struct {
	policy, version, title, from, to, servers string
	findings                                  []Finding
}

func (o *out) open(h opening) {
	o.put(markup(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="`), h.policy, markup(`">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="mcphud `), h.version, markup(`">
<title>`), h.title, markup("</title>\n<style>"), markup(pageStyle), markup(`</style>
</head>
<body>
<h1>`), h.title, markup("</h1>\n"+`<p class="dim">MCP traffic recorded `), h.from, " to ", h.to, " (UTC) · ", h.servers, " · written by mcphud ", h.version, markup("</p>\n"))
	if len(h.findings) > 0 {
		o.put(markup("<h2>Findings</h2>\n<table>\n<tr><th>Severity</th><th>What</th><th>What to change</th><th>Where</th></tr>\n"))
		for _, f := range h.findings {
			o.finding(f)
		}
		o.put(markup("</table>\n"))
	}
	o.put(markup(`<h2>Traffic</h2>
<form hidden><input id="q" type="search" placeholder="filter: words that must occur, -word for one that must not" aria-label="filter"><span id="n" class="dim"></span><button type="button" id="open">unfold all</button><button type="button" id="close">fold all</button></form>
<main>
`))
}

// finding is a row of the table of findings. Only a link to a page of the web is one: an address could be a script, too.
func (o *out) finding(f Finding) {
	o.put(markup(`<tr><td class="`), f.Severity, markup(`">`), f.Severity, markup(`</td><td>`), f.Title, markup(`<br><span class="dim">`), f.Rule)
	if strings.HasPrefix(f.Section, "https://") {
		o.put(markup(` · <a href="`), f.Section, markup(`" rel="noreferrer">specification</a>`))
	}
	o.put(markup(`</span></td><td>`), f.Fix, markup(`</td><td>`))
	for _, seq := range f.Where {
		o.put(markup(`<a href="#f`), seq, markup(`">#`), seq, markup(`</a> `))
	}
	if f.More > 0 {
		o.put("and ", f.More, " more")
	}
	o.put(markup("</td></tr>\n"))
}

// row is an exchange, or what stands alone.
type row struct {
	time, server, what, status, took, size string
	frames                                 []frame
}

// frame is one message of a row.
type frame struct {
	seq             uint64
	head, text, cut string
}

func (o *out) row(r row) {
	o.put(markup(`<details class="x"><summary><span>`), r.time, markup(`</span><span>`), r.server, markup(`</span><span>`), r.what,
		markup(`</span><span class="`), r.status, markup(`">`), r.status, markup(`</span><span>`), r.took, markup(`</span><span>`), r.size,
		markup("</span></summary>\n"+`<div class="f">`))
	for _, f := range r.frames {
		o.put(markup(`<h3 id="f`), f.seq, markup(`">`), f.head, markup("</h3>\n"))
		o.putNonEmpty("<pre>", f.text, "</pre>\n")
		o.putNonEmpty(`<p class="dim">`, f.cut, "</p>\n")
	}
	o.put(markup("</div></details>\n"))
}

// foot is what a page ends with: what is not in it, and its script.
func (o *out) foot(notes []string) {
	o.put(markup("</main>\n"))
	for _, n := range notes {
		o.putNonEmpty(`<p class="dim">`, n, "</p>\n")
	}
	o.put(markup("<script>"), markup(pageScript), markup("</script>\n</body>\n</html>\n"))
}
