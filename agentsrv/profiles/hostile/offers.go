package hostile

import (
	"strings"

	"github.com/mcphud/mcphud/session/serve/fault"
)

const scheme = "hostile://payload/"

// resources is the list of resources: one for each payload.
func resources() string {
	var all []string
	for _, p := range fault.Payloads() {
		q := quote(p.Text)
		if !isListed(p) {
			q = quote(p.Name)
		}
		all = append(all, `{"uri":"`+scheme+p.Slug()+`","name":`+q+`,"title":`+q+`,"description":`+q+`,"mimeType":`+q+`}`)
	}
	return `{"resources":[` + strings.Join(all, ",") + `]}`
}

// templates are two of which one takes a linear-time matcher.
func templates() string {
	return `{"resourceTemplates":[{"uriTemplate":"` + scheme + `{name}","name":"\u001b]0;owned\u0007"},{"uriTemplate":"hostile://` +
		strings.Repeat("{a}{b*}", 500) + `","name":"catastrophic"},{"uriTemplate":"hostile://{unclosed","name":"no template"}]}`
}

// read is what a resource holds, "" if there is none.
func read(uri string) string {
	slug, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return ""
	}
	p, ok := find(slug)
	if !ok {
		return ""
	}
	q := quote(p.Text)
	mime := q
	if !isListed(p) {
		mime = `"text/plain"`
	}
	return `{"contents":[{"uri":"` + uri + `","mimeType":` + mime + `,"text":` + q + `}]}`
}

// prompts is the list of prompts: one for each payload.
func prompts() string {
	var all []string
	for _, p := range fault.Payloads() {
		q := quote(p.Text)
		if !isListed(p) {
			q = quote(p.Name)
		}
		all = append(all, `{"name":"`+p.Slug()+`","title":`+q+`,"description":`+q+`,"arguments":[{"name":`+q+`,"description":`+q+`}]}`)
	}
	return `{"prompts":[` + strings.Join(all, ",") + `]}`
}

// prompt is a prompt that says a payload in every role, "" if there is none.
func prompt(slug string) string {
	p, ok := find(slug)
	if !ok {
		return ""
	}
	q := quote(p.Text)
	short := q
	if !isListed(p) {
		short = quote(p.Name)
	}
	return `{"description":` + short + `,"messages":[{"role":"user","content":{"type":"text","text":` + q + `}},` +
		`{"role":"system","content":{"type":"text","text":` + short + `}},{"role":` + short + `,"content":{"type":"text","text":"a role that does not exist"}}]}`
}
