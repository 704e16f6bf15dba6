package pane

import (
	"cmp"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
)

// rest is what else the server sent of the item, in the order in which it did.
func (d *definition) rest(p *page.Page) {
	hints(p, d.item.Annotations)
	if d.kind == offer.Skills {
		skill(p, d.item)
	}
	n := 0
	_ = jsonrpc.Members(d.item.Raw, func(key string, value []byte) bool {
		n++
		switch key {
		case "name", "title", "description", "inputSchema", "outputSchema", "arguments", "annotations", "uri", "uriTemplate", "frontmatter", "resources":
		case "icons":
			icons(p, value)
		case "execution":
			p.Field("as a task", cmp.Or(taskWords[compact(value)], compact(value)))
		case "_meta":
			meta(p, value)
		default:
			member(p, key, compact(value))
		}
		return n < maxDefinition
	})
	if d.mark.Diff != "" {
		p.Heading("~ Changed since you looked").Diff(d.mark.Diff)
	}
}

// hints adds the annotations in a line.
func hints(p *page.Page, annotations []byte) {
	var out []string
	_ = jsonrpc.Members(annotations, func(key string, v []byte) bool {
		switch word := hintWords[key+"="+string(v)]; {
		case key == "title": // stands above
		case word != "":
			out = append(out, word)
		default:
			out = append(out, safe.Line(key+" "+compact(v), 200))
		}
		return len(out) < 50
	})
	if len(out) > 0 {
		p.Note("hints: " + strings.Join(out, " · "))
	}
}

// meta adds what _meta says of an app in words, and the rest of it as sent.
func meta(p *page.Page, meta []byte) {
	for _, t := range offer.AppTerms(meta) {
		member(p, t[0], t[1])
	}
	n := 0
	_ = jsonrpc.Members(meta, func(key string, value []byte) bool { // anything else is in the raw definition
		if n++; key != "ui" && key != "ui/resourceUri" {
			p.Field("_meta", safe.Line(key, 100)+" "+compact(value))
		}
		return n < maxDefinition
	})
}

// icons adds where the icons are. Nobody fetches them: that would tell their hosts who looks.
func icons(p *page.Page, icons []byte) {
	label := "icon"
	for _, line := range offer.Icons(icons) {
		p.Field(label, line)
		label = ""
	}
	if label == "" {
		p.Styled("", page.Text{S: "not fetched", Tone: page.Quiet})
	}
}

// taskWords are what a tool says of calls as tasks.
var taskWords = map[string]string{
	`{"taskSupport":"forbidden"}`: "never", `{"taskSupport":"optional"}`: "if asked for", `{"taskSupport":"required"}`: "always",
}

// hintWords are the annotations that the protocol knows.
var hintWords = map[string]string{
	"readOnlyHint=true": "read-only", "readOnlyHint=false": "writes",
	"destructiveHint=true": "destructive", "destructiveHint=false": "not destructive",
	"idempotentHint=true": "idempotent", "idempotentHint=false": "not idempotent",
	"openWorldHint=true": "open world", "openWorldHint=false": "closed world",
}
