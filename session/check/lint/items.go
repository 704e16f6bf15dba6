package lint

import (
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// item examines a prompt, a resource or a template by itself.
func (e *examiner) item(k offer.Kind, it offer.Item) {
	v, ok := e.object(it.Raw)
	if !ok {
		return
	}
	if v.Get("name").Kind() != schema.String || it.Name == "" {
		e.add("lint/name-missing", found{message: "name is " + orNone(string(v.Get("name").JSON()))})
	}
	e.member(v, "", "title", schema.String)
	e.member(v, "", "description", schema.String)
	e.member(v, "", "icons", schema.Array)
	e.member(v, "", "_meta", schema.Object)
	e.icons(v)
	if strings.TrimSpace(it.Description) == "" && k != offer.Resources { // many resources are files, whose names say it
		e.add("lint/item-description", found{message: "there is no description"})
	}
	if k == offer.Prompts {
		e.arguments(v)
		return
	}
	e.content(v.Get("annotations"))
	if m := v.Get("mimeType"); m.IsSet() {
		e.member(v, "", "mimeType", schema.String)
		if t, _, err := mime.ParseMediaType(m.Text()); m.Kind() == schema.String && (err != nil || !strings.Contains(t, "/")) {
			e.add("lint/mime-type", found{pointer: "/mimeType", message: "mimeType is " + text.Clip(string(m.JSON()), 60)})
		}
	}
	if k == offer.Templates {
		e.template(it, v.Get("uriTemplate"))
		return
	}
	if u := v.Get("uri"); u.Kind() != schema.String {
		e.add("lint/resource-uri", found{message: "uri is " + orNone(string(u.JSON())), clients: refusing})
	} else if u, err := url.Parse(it.URI); err != nil || u.Scheme == "" { // without a scheme it is relative to nothing (RFC 3986, 3)
		e.add("lint/resource-uri", found{pointer: "/uri", message: "uri is " + orNone(it.URI)})
	}
	e.member(v, "", "size", schema.Number)
	if s := v.Get("size"); s.Kind() == schema.Number && !aCount.fits(s) {
		e.add("lint/resource-size", found{pointer: "/size", message: "size is " + text.Clip(string(s.JSON()), 60)})
	}
}

// arguments examines the arguments of a prompt, which people fill in.
func (e *examiner) arguments(v *schema.Value) {
	e.member(v, "", "arguments", schema.Array)
	list := v.Get("arguments")
	if list.Kind() != schema.Array {
		return
	}
	seen := map[string]bool{}
	for i, m := range list.Members() {
		at := fmt.Sprintf("/arguments/%d", i)
		name := m.Value.Get("name")
		if name.Kind() != schema.String || name.Text() == "" {
			e.add("lint/argument-name", found{pointer: at, message: fmt.Sprintf("argument %d has no name", i+1), evidence: excerpt(m.Value)})
			continue
		}
		if seen[name.Text()] {
			e.add("lint/argument-duplicate", found{pointer: at, message: text.Clip(name.Text(), 60) + " is there twice"})
		}
		seen[name.Text()] = true
		e.member(m.Value, at, "required", schema.Bool)
		e.member(m.Value, at, "description", schema.String)
		if strings.TrimSpace(m.Value.Get("description").Text()) == "" {
			e.add("lint/argument-description", found{pointer: at, message: text.Clip(name.Text(), 60) + " has no description"})
		}
	}
}

// content examines the annotations of a resource or template.
func (e *examiner) content(a *schema.Value) {
	if !a.IsSet() {
		return
	}
	say := func(key, why string) {
		e.add("lint/content-annotation", found{pointer: "/annotations" + key, message: why, evidence: excerpt(a)})
	}
	if a.Kind() != schema.Object {
		say("", "annotations is not an object")
		return
	}
	if who := a.Get("audience"); who.IsSet() {
		bad := who.Kind() != schema.Array
		for _, m := range who.Members() {
			bad = bad || m.Value.Text() != "user" && m.Value.Text() != "assistant"
		}
		if bad {
			say("/audience", "audience is "+text.Clip(string(who.JSON()), 60))
		}
	}
	if p := a.Get("priority"); p.IsSet() {
		if f, ok := number(p); !ok || f < 0 || f > 1 { // 1 is "effectively required" (the specification's schema, Annotations)
			say("/priority", "priority is "+text.Clip(string(p.JSON()), 60))
		}
	}
	if at := a.Get("lastModified"); at.IsSet() {
		if _, err := time.Parse(time.RFC3339, at.Text()); err != nil || at.Kind() != schema.String {
			say("/lastModified", "lastModified is "+text.Clip(string(at.JSON()), 60))
		}
	}
}

// refusing are the clients that lose a list for an entry that lacks what is required.
var refusing = []string{"typescript-sdk", "python-sdk"}

// template examines a URI template (RFC 6570), which has to have something to fill in.
func (e *examiner) template(it offer.Item, given *schema.Value) {
	t, err := offer.ParseTemplate(it.URI)
	switch {
	case given.Kind() != schema.String:
		e.add("lint/template-invalid", found{message: "uriTemplate is " + orNone(string(given.JSON())), clients: refusing})
	case err != nil:
		e.add("lint/template-invalid", found{pointer: "/uriTemplate", message: text.Clip(it.URI, 100) + ": " + text.Clip(text.FirstLine(err.Error()), 100)})
	case len(t.Varnames()) == 0:
		f := found{pointer: "/uriTemplate", message: text.Clip(it.URI, 100) + " has no variable"}
		if slices.ContainsFunc(e.o.Resources, func(r offer.Item) bool { return r.URI == it.URI }) {
			f.message, f.fix = f.message+", and is listed as a resource, too", "take it out of the templates"
		}
		e.add("lint/template-fixed", f)
	}
}

// twice finds prompts, resources and templates that are listed more than once, by the name or URI that they are asked for with.
func (e *examiner) twice() {
	for _, k := range []offer.Kind{offer.Prompts, offer.Resources, offer.Templates} {
		seen := map[string]bool{}
		for i, it := range e.o.Items(k) {
			key := k.Key(it)
			if seen[key] && key != "" {
				e.atItem(k, it)
				e.add("lint/item-duplicate", found{key: fmt.Sprint(i), message: text.Clip(key, 100) + " is listed before"})
			}
			seen[key] = true
		}
	}
}
