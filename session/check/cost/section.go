package cost

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/offer"
)

// Section is the section "cost". It reads what is listed, and calls nothing.
type Section struct {
	Budget int // tokens that all tools may take, 0 for any number
}

// Name is what the section is called.
func (*Section) Name() string { return "cost" }

// Title says what is examined.
func (*Section) Title() string { return "what a model pays for the lists" }

// ReadsLists says that nothing else is examined.
func (*Section) ReadsLists() bool { return true }

// Rules are those of the section.
func (*Section) Rules() []*check.Rule { return rules.Of("cost") }

// most is how many tools and parts are named of those that take most.
const most = 5

// kept is what is left of a description that is shortened, in tokens: two sentences.
const kept = 50

// Figures are the section's part of a report: the cost of each entry, and what five tools or parts less would save.
type Figures struct {
	Counted      string  `json:"counted"`
	Estimate     string  `json:"estimate"`
	Budget       int     `json:"budget,omitempty"`
	Tools        Sum     `json:"tools"`
	Prompts      Sum     `json:"prompts"`
	Resources    Sum     `json:"resources"`
	Templates    Sum     `json:"templates"`
	Instructions Sum     `json:"instructions"`
	Entries      []Entry `json:"entries"` // those that take most first
	Heaviest     []Part  `json:"heaviest_tools"`
	Longest      []Part  `json:"longest_parts"`
}

// Run measures the lists.
func (s *Section) Run(ctx context.Context, sub *check.Subject, r *check.Recorder) error {
	m := &measuring{Figures: Figures{Counted: Counted, Estimate: Estimate, Budget: s.Budget, Entries: []Entry{}, Heaviest: []Part{}, Longest: []Part{}}, r: r, descriptions: newRepeats()}
	if n := len(sub.Instructions); n > 0 {
		m.Instructions = Sum{1, n, Tokens(sub.Instructions)}
		if t := m.Instructions.Tokens; t > longInstructions {
			r.Add("cost/long-instructions", check.Finding{Place: check.Place{Kind: check.OfServer}, Message: fmt.Sprintf("%d tokens", t), Evidence: sub.Instructions})
		}
	}
	total := len(sub.Tools) + len(sub.Prompts) + len(sub.Resources) + len(sub.Templates)
	for _, list := range []struct {
		kind offer.Kind
		to   *Sum
	}{{offer.Tools, &m.Tools}, {offer.Prompts, &m.Prompts}, {offer.Resources, &m.Resources}, {offer.Templates, &m.Templates}} {
		for _, it := range sub.Items(list.kind) {
			if done := len(m.Entries); done%100 == 0 {
				if err := ctx.Err(); err != nil {
					return context.Cause(ctx)
				}
				r.Step(done, total, it.Name)
			}
			e := Of(sub.Server, list.kind, it)
			m.Entries = append(m.Entries, e)
			list.to.add(e)
			if list.kind == offer.Tools {
				m.tool(it, e)
			}
		}
	}
	m.lists()
	slices.SortStableFunc(m.Entries, func(a, b Entry) int { return b.Tokens - a.Tokens })
	m.savings()
	r.Figures(check.Figures{Value: m.Figures, Table: m.table(), Notes: m.notes()})
	return nil
}

// measuring is one run.
type measuring struct {
	Figures
	r            *check.Recorder
	descriptions *repeats
	parts        []Part
	titles, keys waste
	unused       []check.Finding // definitions of tools, which take so many tokens together
	unusedTokens int
}

// waste is what many places of a list could do without.
type waste struct {
	n, tokens int
	places    []string // the first of them
}

func (w *waste) add(place check.Place, text string) {
	w.n++
	w.tokens += Tokens(text)
	if len(w.places) < 20 {
		w.places = append(w.places, place.String())
	}
}

// tool looks at one tool.
func (m *measuring) tool(it offer.Item, e Entry) {
	place := func(pointer string) check.Place { return check.PlaceOf(offer.Tools, it, pointer) }
	if e.Tokens > heavyTool {
		m.r.Add("cost/heavy-tool", check.Finding{Place: place(""), Message: fmt.Sprintf("%d tokens: %d of its description, %d of its schema", e.Tokens, e.Description, e.Schema)})
	}
	if e.Description > longDescription {
		m.r.Add("cost/long-description", check.Finding{Place: place("/description"), Message: fmt.Sprintf("%d tokens", e.Description), Evidence: it.Description})
	}
	m.part(place("/description"), "description", e.Description, e.Description-kept)
	schemas := newRepeats()
	defs := scan(it, func(n *schemaNode) { m.schema(place(n.pointer), n, schemas) })
	if unused := defs.unused(); len(unused) > 0 {
		t := 0
		for _, name := range unused {
			t += Tokens(name) + Tokens(defs.raw[name]) + 2
		}
		where := place("/inputSchema/$defs")
		m.part(where, "definitions", t, t)
		m.unused = append(m.unused, check.Finding{
			Place: where, Message: fmt.Sprintf("nothing refers to %d of %d definitions: %d tokens", len(unused), len(defs.order), t), Evidence: strings.Join(unused, "\n"),
		})
		m.unusedTokens += t
	}
	m.repeatedSchemas(place, schemas)
}

// part remembers a part of which something can be saved.
func (m *measuring) part(place check.Place, what string, tokens, saves int) {
	if saves <= 0 {
		return
	}
	if m.parts = append(m.parts, Part{place, what, tokens, saves}); len(m.parts) > 10_000 { // only the first few matter
		m.sortParts()
		m.parts = m.parts[:1000]
	}
}

func (m *measuring) sortParts() {
	slices.SortStableFunc(m.parts, func(a, b Part) int { return cmp.Or(b.Saves-a.Saves, len(a.Place.Pointer)-len(b.Place.Pointer)) })
}

// schema looks at one schema of a tool.
func (m *measuring) schema(place check.Place, n *schemaNode, schemas *repeats) {
	at := func(step string) check.Place {
		return check.Place{Kind: place.Kind, Name: place.Name, Pointer: place.Pointer + step}
	}
	if n.description != "" {
		m.descriptions.add([]byte(n.description), at("/description"))
	}
	if len(n.description) > kept {
		t := Tokens(n.description)
		if t > longParameter {
			m.r.Add("cost/long-parameter", check.Finding{Place: at("/description"), Message: fmt.Sprintf("%d tokens", t), Evidence: n.description})
		}
		m.part(at("/description"), "description", t, t-kept)
	}
	if t := Tokens(n.enum); n.values > largeEnum || n.values > 1 && t > largeEnumTokens {
		m.r.Add("cost/large-enum", check.Finding{Place: at("/enum"), Message: fmt.Sprintf("%d values, %d tokens", n.values, t), Evidence: string(n.enum)})
	}
	if t := Tokens(n.examples); t > longExamples {
		m.r.Add("cost/long-examples", check.Finding{Place: at("/examples"), Message: fmt.Sprintf("%d tokens", t), Evidence: string(n.examples)})
	}
	if idle(n.title, n.property) {
		m.titles.add(at("/title"), `"title":"`+n.title+`",`)
	}
	if n.idle > 0 {
		m.keys.n++
		m.keys.tokens += n.idle / 3 // URLs, mostly
		if len(m.keys.places) < 20 {
			m.keys.places = append(m.keys.places, place.String())
		}
	}
	if len(n.raw) >= leastRaw && n.depth <= maxParts {
		schemas.add(n.raw, place)
		if n.property != "" {
			t := Tokens(n.raw)
			m.part(place, "parameter", t, t)
		}
	}
}

// repeatedSchemas reports the outermost schemas that a tool has more than once.
func (m *measuring) repeatedSchemas(place func(string) check.Place, schemas *repeats) {
	var reported []check.Place
	for _, x := range slices.Backward(schemas.all) { // outer ones were seen last
		if x.n < 2 || slices.ContainsFunc(reported, func(p check.Place) bool { return strings.HasPrefix(x.places[0].Pointer, p.Pointer+"/") }) {
			continue
		}
		t := Tokens(x.text)
		if t < repeatedSchema {
			continue
		}
		reported = append(reported, x.places...)
		m.r.Add("cost/repeated-schema", check.Finding{Place: place(x.places[0].Pointer), Message: fmt.Sprintf("%d places with the same %d tokens: once saves %d", x.n, t, (x.n-1)*t), Evidence: x.evidence()})
	}
}

// definitions reports those that nothing refers to. In many tools they come from one place: whoever makes the schemas.
func (m *measuring) definitions(server check.Place) {
	if len(m.unused) <= onePlace {
		for _, f := range m.unused {
			m.r.Add("cost/unused-definition", f)
		}
		return
	}
	var all []string
	for _, f := range m.unused {
		all = append(all, f.Place.Name+": "+f.Message)
	}
	m.r.Add("cost/unused-definition", check.Finding{
		Place: server, Message: fmt.Sprintf("in %d tools nothing refers to definitions that they carry: %d tokens", len(m.unused), m.unusedTokens), Evidence: strings.Join(all, "\n"),
	})
}

// onePlace is in how many tools the same is reported by itself.
const onePlace = 3

// lists looks at what the lists are together.
func (m *measuring) lists() {
	server, all := check.Place{Kind: check.OfServer}, m.Tools.Tokens
	if m.Budget > 0 && all > m.Budget {
		m.r.Add("cost/over-budget", check.Finding{Place: server, Message: fmt.Sprintf("%d tools take %d tokens: %d more than %d", m.Tools.Count, all, all-m.Budget, m.Budget)})
	}
	if all > heavyList {
		m.r.Add("cost/heavy-list", check.Finding{Place: server, Message: fmt.Sprintf("%d tools take %d tokens", m.Tools.Count, all)})
	}
	for _, e := range m.Entries {
		if e.Kind == check.OfTool && m.Tools.Count >= quarterOf && e.Tokens > quarterTokens && 4*e.Tokens > all {
			m.r.Add("cost/one-tool", check.Finding{Place: check.Place{Kind: check.OfTool, Name: e.Name}, Message: fmt.Sprintf("%d of %d tokens: %s", e.Tokens, all, Share(e.Tokens, all))})
		}
	}
	for _, x := range m.descriptions.all {
		if t := Tokens(x.text); x.n >= repeatedAt && (x.n-1)*t >= repeatedSaves {
			m.r.Add("cost/repeated-description", check.Finding{Place: x.places[0], Message: fmt.Sprintf("%d places with the same %d tokens: once saves %d", x.n, t, (x.n-1)*t), Evidence: x.evidence()})
		}
	}
	m.definitions(server)
	m.reportWaste("cost/idle-titles", "titles", m.titles)
	m.reportWaste("cost/idle-keywords", "$schema, $id or $comment", m.keys)
}

func (m *measuring) reportWaste(id, what string, w waste) {
	if w.tokens >= idleTokens {
		m.r.Add(id, check.Finding{Place: check.Place{Kind: check.OfServer}, Message: fmt.Sprintf("%s at %d places: %d tokens", what, w.n, w.tokens), Evidence: strings.Join(w.places, "\n")})
	}
}

// savings picks the tools that take most, and the parts whose loss saves most. Nothing is counted twice among the parts.
func (m *measuring) savings() {
	for _, e := range m.Entries {
		if e.Kind == check.OfTool && len(m.Heaviest) < most {
			m.Heaviest = append(m.Heaviest, Part{check.Place{Kind: e.Kind, Name: e.Name}, "tool", e.Tokens, e.Tokens})
		}
	}
	m.sortParts()
	for _, p := range m.parts {
		if len(m.Longest) == most {
			break
		}
		if !slices.ContainsFunc(m.Longest, func(q Part) bool {
			a, b := p.Place.Pointer+"/", q.Place.Pointer+"/"
			return p.Place.Name == q.Place.Name && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
		}) {
			m.Longest = append(m.Longest, p)
		}
	}
}

// shown is how many entries the table has.
const shown = 20

// table is the entries that take most, and the lists.
func (m *measuring) table() [][]string {
	all := m.Tools.Tokens
	out := [][]string{{"WHAT", "TOKENS", "SHARE", "DESCRIPTION", "SCHEMA", "BYTES"}}
	n, rest := 0, m.Tools
	for _, e := range m.Entries {
		if e.Kind == check.OfTool && n < shown {
			n++
			rest.Tokens, rest.Bytes = rest.Tokens-e.Tokens, rest.Bytes-e.Bytes
			out = append(out, []string{e.Name, fmt.Sprint(e.Tokens), Share(e.Tokens, all), fmt.Sprint(e.Description), fmt.Sprint(e.Schema), text.Bytes(e.Bytes)})
		}
	}
	row := func(what string, s Sum, share string) {
		out = append(out, []string{what, fmt.Sprint(s.Tokens), share, "", "", text.Bytes(s.Bytes)})
	}
	if more := m.Tools.Count - n; more > 0 {
		row(fmt.Sprintf("%d more", more), rest, Share(rest.Tokens, all))
	}
	for _, l := range []struct {
		name string
		Sum
	}{{"tools", m.Tools}, {"prompts", m.Prompts}, {"resources", m.Resources}, {"templates", m.Templates}, {"instructions", m.Instructions}} {
		if l.Count == 0 {
			continue
		}
		name := l.name
		if l.Count > 1 {
			name = fmt.Sprintf("all %d %s", l.Count, l.name)
		}
		row(name, l.Sum, "")
	}
	return out
}

// notes are what could be saved, and how the numbers came about.
func (m *measuring) notes() (out []string) {
	for _, group := range []struct {
		verb  string
		parts []Part
	}{{"Dropping", m.Heaviest}, {"Shortening", m.Longest}} {
		var names []string
		sum := 0
		for _, p := range group.parts {
			sum += p.Saves
			names = append(names, fmt.Sprintf("%s (%d)", strings.TrimSpace(p.Place.Name+" "+p.Place.Pointer), p.Saves))
		}
		if sum > 0 {
			out = append(out, fmt.Sprintf("%s %s saves %d tokens of %d (%s).", group.verb, strings.Join(names, ", "), sum, m.Tools.Tokens, Share(sum, m.Tools.Tokens)))
		}
	}
	return append(out, "Counted: "+Counted+".", strings.ToUpper(Estimate[:1])+Estimate[1:]+".")
}

// Share is n of all in percent, "" where there is nothing.
func Share(n, all int) string {
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(all))
}
