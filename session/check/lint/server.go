package lint

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/mod/semver"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// server examines what the server says of itself.
func (e *examiner) server() {
	e.at(check.Place{Kind: check.OfServer})
	if e.o.Info != nil {
		e.info()
	}
	if ins := e.o.Instructions; ins != "" && strings.TrimSpace(ins) == "" {
		e.add("lint/instructions-blank", found{pointer: "/instructions", message: fmt.Sprintf("instructions of %d blanks", len(ins))})
	}
	e.limits("lint/instructions-too-long", "/instructions", ofInstructions, utf8.RuneCountInString(e.o.Instructions), "the instructions have %d characters, %s takes %d")
	e.capabilities()
}

// info examines serverInfo. A version is up to the server; one by semver.org is what others can compare.
func (e *examiner) info() {
	v, err := schema.ParseValue(e.o.Info)
	if err != nil {
		return
	}
	for _, k := range []string{"name", "version"} {
		if m := v.Get(k); m.Kind() != schema.String || m.Text() == "" {
			e.add("lint/server-name", found{pointer: "/serverInfo/" + k, message: k + " is " + orNone(string(m.JSON()))})
		}
	}
	if n := v.Get("version").Text(); n != "" && !semver.IsValid("v"+strings.TrimPrefix(n, "v")) {
		e.add("lint/server-version", found{pointer: "/serverInfo/version", message: "version is " + text.Clip(n, 60)})
	}
	e.member(v, "/serverInfo", "title", schema.String)
	e.icons(v)
}

// declared are the capabilities with a list.
var declared = []struct {
	name string
	kind offer.Kind
}{{"tools", offer.Tools}, {"prompts", offer.Prompts}, {"resources", offer.Resources}}

// capabilities examines what the server declares. Where there are templates, resources are not empty.
func (e *examiner) capabilities() {
	v, err := schema.ParseValue(e.o.Capabilities)
	if err != nil || v.Kind() != schema.Object {
		return
	}
	for _, m := range v.Members() {
		at := "/capabilities/" + jsonrpc.EscapeToken(m.Name)
		if m.Value.Kind() != schema.Object {
			e.add("lint/capability-type", found{pointer: at, message: fmt.Sprintf("%s is %s, not an object", text.Clip(m.Name, 60), text.Clip(string(m.Value.JSON()), 60))})
			continue
		}
		for _, k := range []string{"listChanged", "subscribe"} {
			if f := m.Value.Get(k); f.IsSet() && f.Kind() != schema.Bool {
				e.add("lint/capability-type", found{pointer: at + "/" + k, message: fmt.Sprintf("%s is %s, not true or false", k, text.Clip(string(f.JSON()), 60))})
			}
		}
	}
	// A prefix keeps the extensions of different authors apart (the specification's schema, extensions).
	for _, m := range v.Get("extensions").Members() {
		if p, n, ok := strings.Cut(m.Name, "/"); !ok || p == "" || n == "" {
			e.add("lint/extension-name", found{pointer: "/capabilities/extensions/" + jsonrpc.EscapeToken(m.Name), message: text.Clip(m.Name, 60) + " has no prefix"})
		}
	}
	for _, d := range declared {
		// A list that could not be read is not empty: that it failed is another finding.
		empty := len(e.o.Items(d.kind)) == 0 && (d.kind != offer.Resources || len(e.o.Templates) == 0)
		if v.Get(d.name).IsSet() && empty && e.o.Failed[d.kind] == nil {
			e.add("lint/capability-without-items", found{pointer: "/capabilities/" + d.name, message: "the list of " + d.name + " is empty"})
		}
	}
}

// listTimeout is how long a server may take to refuse a list that it does not have.
const listTimeout = 5 * time.Second

// checkUndeclared asks for the lists that the server does not declare: it should have none. Any error is as it should be, also that it does not
// answer in time. The error is that of ctx.
func (e *examiner) checkUndeclared(ctx context.Context, sub *check.Subject) error {
	if sub.Session == nil {
		return nil
	}
	e.at(check.Place{Kind: check.OfServer})
	for _, d := range declared {
		if sub.Session.Supports(d.kind.Method()) {
			continue
		}
		asking, cancel := context.WithTimeout(ctx, listTimeout)
		r, err := sub.Session.Call(asking, d.kind.Method(), nil, session.CallOptions{})
		cancel()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			continue // as it should be
		}
		n := 0
		_ = jsonrpc.Elements(jsonrpc.Get(r.Result, d.name), func([]byte) bool { n++; return true }) // a result without the list has none
		if n > 0 {
			e.add("lint/capability-missing", found{pointer: "/capabilities", key: d.name, message: fmt.Sprintf("%s answers with %d, and %s is not declared", d.kind.Method(), n, d.name)})
		}
	}
	return nil
}
