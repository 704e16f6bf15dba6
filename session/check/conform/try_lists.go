package conform

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
)

// lists try the rules of lists and their pages.
var lists = []trial{
	{"declared-lists", shared, tryDeclared},
	{"undeclared", shared, tryUndeclared},
	{"params-absent", shared, tryParamsAbsent},
	{"cursor-refused", shared, tryCursorRefused},
	{"cursor-stable", shared, tryCursorStable},
	{"pages-end", shared, tryPagesEnd},
	{"list-order", shared, tryOrder},
}

// families are the lists by the capability that declares them.
var families = []struct{ capability, method, member string }{
	{"tools", "tools/list", "tools"},
	{"prompts", "prompts/list", "prompts"},
	{"resources", "resources/list", "resources"},
	{"resources", "resources/templates/list", "resourceTemplates"},
}

// declaredLists returns the methods of the lists that the server declares; resources declare that of templates as well.
func (p *probe) declaredLists() (out []string) {
	for _, f := range families {
		if p.declares(f.capability) {
			out = append(out, f.method)
		}
	}
	return out
}

// workingLists are those of them that are answered as they should, so that what is varied then is the only difference. The error is of a server
// that has none.
func (p *probe) workingLists() (out []string, err error) {
	all := p.declaredLists()
	if len(all) == 0 {
		return nil, noList
	}
	for _, m := range all {
		if bad := p.goodRequest(m, "{}"); bad == nil {
			out = append(out, m)
		} else if isViolation(bad) || p.unusable {
			return nil, bad
		} else if err == nil {
			err = bad
		}
	}
	if len(out) == 0 {
		return nil, err
	}
	return out, nil
}

// firstListOr returns the method of the first list that works, or other. It is for trials that need a request with a result: a list changes nothing.
func (p *probe) firstListOr(other string) string {
	for _, m := range p.declaredLists() {
		if p.goodRequest(m, "{}") == nil {
			return m
		}
		if p.unusable {
			break
		}
	}
	return other
}

var noList = skip("the server declares no list")

// tryDeclared: that prompts or resources have no method is less than that of tools: clients ask for each list by itself, and get on without these.
func tryDeclared(p *probe) error {
	any := false
	var without []string
	for _, f := range families {
		if !p.declares(f.capability) {
			continue
		}
		any = true
		a, err := p.call(f.method, "{}")
		if err != nil {
			return err
		}
		if f.member == "resourceTemplates" && a.code() == -32601 {
			continue // who has no templates may leave the method out
		}
		if a.code() == -32601 && f.capability != "tools" { // the other lists work
			without = append(without, f.method+": "+a.summary()+", not a result")
			continue
		}
		if err := expectResult(a, f.method); err != nil {
			return err
		}
		if l := jsonrpc.Get(a.result(), f.member); len(l) == 0 || l[0] != '[' {
			return newViolation("the result of %s has no array %s", f.method, f.member)
		}
	}
	switch {
	case !any:
		return noList
	case len(without) > 0:
		return violatedAs(rules.Find("live", "capability-empty").Severity, "%s", strings.Join(without, "; "))
	}
	return nil
}

// tryUndeclared asks for what is not declared. An empty list is what some frameworks answer for all that they could have, and harms nobody.
func tryUndeclared(p *probe) error {
	var empty []string
	any := false
	for _, f := range families {
		if p.declares(f.capability) {
			continue
		}
		any = true
		a, err := p.call(f.method, "{}")
		if err != nil {
			return fmt.Errorf("%s, which is not declared: %w", f.method, err)
		}
		if a.result() == nil {
			continue
		}
		n := 0
		_ = jsonrpc.Elements(jsonrpc.Get(a.result(), f.member), func([]byte) bool { n++; return true }) // anything but an array has none
		if n > 0 {
			return newViolation("%s has %d items, and %s is not declared", f.method, n, f.capability)
		}
		empty = append(empty, f.method)
	}
	if !p.declares("completions") && p.revision >= rev2503 {
		any = true
		a, err := p.call("completion/complete", `{"ref":{"type":"ref/prompt","name":"mcphud"},"argument":{"name":"a","value":""}}`)
		if err != nil {
			return err
		}
		if a.result() != nil {
			return newViolation("completion/complete is served, and completions is not declared")
		}
	}
	switch {
	case !any:
		return skip("the server declares everything")
	case len(empty) > 0:
		return violatedAs(check.Info, "%s answers an empty list, and is not declared", empty[0])
	}
	return nil
}

// tryParamsAbsent varies lists that work with params: all that they take is optional.
func tryParamsAbsent(p *probe) error {
	all, err := p.workingLists()
	if err != nil {
		return err
	}
	for _, m := range all {
		a, err := p.exchange(string(jsonrpc.NewRequest(p.conn.id(), m, nil)))
		if err != nil {
			return err
		}
		if a.code() == -32601 {
			continue
		}
		if err := expectResult(a, m+" without params"); err != nil {
			return err
		}
	}
	return nil
}

// tryCursorRefused makes up a cursor. A server that decodes them may take it for the first page, which a client shows as the next one.
func tryCursorRefused(p *probe) error {
	all, err := p.workingLists()
	if err != nil {
		return err
	}
	for _, m := range all {
		a, err := p.call(m, `{"cursor":"mcphud-never-given"}`)
		if err != nil {
			return err
		}
		if a.code() == -32601 {
			continue
		}
		if err := expectError(a, m+" with a cursor that was never given", -32602); err != nil {
			return err
		}
	}
	return nil
}

// nextCursor is the cursor of the page after an answer, as JSON, "" where that is the last. Some servers write null for none, which the schema
// refuses and every client understands.
func nextCursor(a answer) string {
	if c := string(jsonrpc.Get(a.result(), "nextCursor")); c != "null" {
		return c
	}
	return ""
}

// pagedList returns the method of a list with more than one page, and the cursor of the second, as JSON. The error is a skip where no list has one.
func (p *probe) pagedList() (method, cursor string, err error) {
	all, err := p.workingLists()
	if err != nil {
		return "", "", err
	}
	for _, m := range all {
		a, err := p.call(m, "{}")
		if err != nil {
			return "", "", err
		}
		if c := nextCursor(a); c != "" {
			return m, c, nil
		}
	}
	return "", "", skip("no list has a second page")
}

// tryCursorStable compares names, in their order: descriptions may have a time in them.
func tryCursorStable(p *probe) error {
	method, cursor, err := p.pagedList()
	if err != nil {
		return err
	}
	var before []byte
	for i := range 2 {
		a, err := p.call(method, `{"cursor":`+cursor+`}`)
		if err != nil {
			return err
		}
		if err := expectResult(a, fmt.Sprintf("%s with the cursor of its second page, time %d", method, i+1)); err != nil {
			return err
		}
		names := bytes.Join(p.itemNames(method, a.result()), []byte(","))
		if i > 0 && !bytes.Equal(before, names) {
			return newViolation("%s answers the cursor of its second page with other items the second time", method)
		}
		before = names
	}
	return nil
}

// itemNames returns the names, or URIs, of the items of a page, as JSON, nil for an item without one. They are parts of result.
func (p *probe) itemNames(method string, result []byte) (out [][]byte) {
	for _, f := range families {
		if f.method != method {
			continue
		}
		_ = jsonrpc.Elements(jsonrpc.Get(result, f.member), func(item []byte) bool { // anything but an array has none
			id := jsonrpc.Get(item, "name")
			if f.capability == "resources" {
				if id = jsonrpc.Get(item, "uri"); id == nil {
					id = jsonrpc.Get(item, "uriTemplate")
				}
			}
			out = append(out, id)
			return true
		})
	}
	return out
}

// Bounds of a list: one that goes on beyond them does not end.
const (
	maxPages = 500
	maxItems = 50_000
)

// tryPagesEnd reads all lists to their end, once one is known to have pages. A cursor that comes a second time is a circle.
func tryPagesEnd(p *probe) error {
	if _, _, err := p.pagedList(); err != nil {
		return err
	}
	for _, m := range p.declaredLists() {
		seen, items := map[string]bool{}, map[string]bool{}
		params, repeated := "{}", ""
		for pages := 1; ; pages++ {
			a, err := p.call(m, params)
			if err != nil {
				return err
			}
			if a.result() == nil && pages == 1 {
				break // it is another rule that it has none
			}
			if err := expectResult(a, fmt.Sprintf("page %d of %s", pages, m)); err != nil {
				return err
			}
			for _, n := range p.itemNames(m, a.result()) {
				if items[string(n)] {
					repeated = string(n)
				}
				items[string(n)] = true
			}
			next := nextCursor(a)
			if next == "" {
				break
			}
			if seen[next] || pages == maxPages || len(items) > maxItems {
				return newViolation("%s goes on after %d pages, with cursor %s", m, pages, next)
			}
			seen[next] = true
			params = `{"cursor":` + next + `}`
		}
		if repeated != "" { // items without a name are another rule
			return violatedAs(check.Warning, "%s has %s twice", m, repeated)
		}
	}
	return nil
}

// tryOrder reads the first page of the tools three times. Models are told the tools in that order, and a provider's cache of a prompt is lost
// with any other. As many tools in another order, or one in the place of another, are a violation; fewer or more are a server that changes.
func tryOrder(p *probe) error {
	if err := p.require("tools"); err != nil {
		return err
	}
	var before [][]byte
	for range 3 {
		a, err := p.call("tools/list", "{}")
		if err != nil {
			return err
		}
		if a.result() == nil {
			return skip("tools/list is not answered, which is another rule: " + a.summary())
		}
		names := p.itemNames("tools/list", a.result())
		if before != nil && !bytes.Equal(bytes.Join(before, []byte(",")), bytes.Join(names, []byte(","))) {
			if len(before) != len(names) {
				return skip("the list of tools changes by itself")
			}
			return newViolation("tools/list has another order the second time")
		}
		before = append([][]byte{}, names...)
		if len(before) == 0 {
			return skip("there are no tools")
		}
	}
	return nil
}
