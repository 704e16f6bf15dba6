// Package safety looks for what a server's definitions do to those who read them: orders to models, hidden characters, names that pass for
// others, secrets, annotations that are not true. A finding says how sure it is: what only looks like an attack may be clumsy.
package safety

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// What is beyond these is not looked at, which a finding says of a definition, and a note of results.
const (
	maxDepth   = 100       // of one definition or result
	maxStrings = 20_000    // of one definition or result that are looked at
	maxBytes   = 256 << 10 // of one string
)

// Section is the section "safety" of a check. The zero value compares with nothing but the other servers of the subject. It calls nothing. It keeps
// what Run found for After, so that it is for one run at a time.
type Section struct {
	Lock *contract.Lock // what was reviewed, nil for none
	Pins []Pins         // what others remember of the tools
	// Evidence are recorded calls, whose results are looked at; nil for none.
	Evidence *contract.Recordings
	// Journal has what the sections of a run receive, or what was recorded before; nil for none.
	Journal *journal.Journal
	Notes   []string // for people, of how it was set up

	x   *examination // of the latest run, nil before it
	res *results     // what After fills in and reports
}

// Name is "safety".
func (*Section) Name() string { return "safety" }

// Title says what is looked for.
func (*Section) Title() string { return "what the definitions do to models and people" }

// ReadsLists says that nothing else is examined.
func (*Section) ReadsLists() bool { return true }

// Rules are those of rules/safety.yaml.
func (*Section) Rules() []*check.Rule { return rules.Of("safety") }

// Run looks at everything that s lists, and compares its names with those of s.Others.
func (sec *Section) Run(ctx context.Context, s *check.Subject, r *check.Recorder) error {
	x := &examination{r: r, foreign: foreign(s), reported: map[string]bool{}, notes: slices.Clone(sec.Notes)}
	server := check.Place{Kind: check.OfServer}
	x.text(fragment{at: withPointer(server, "/instructions"), text: s.Instructions})
	for _, m := range []string{"name", "title", "description", "websiteUrl"} {
		x.text(fragment{at: withPointer(server, "/serverInfo/"+m), text: jsonrpc.GetString(s.Info, m), name: m == "name"})
	}
	for _, k := range []offer.Kind{offer.Tools, offer.Prompts, offer.Resources, offer.Templates} {
		items := s.Items(k)
		for i, it := range items {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if i%100 == 0 {
				r.Step(i, len(items), k.String())
			}
			x.item(k, it)
		}
	}
	x.checkNames(s)
	x.checkLock(sec.Lock, s)
	x.checkPins(sec.Pins, s)
	x.figures(nil)
	sec.x, sec.res = x, newResults(s)
	if sec.Evidence != nil {
		sec.Evidence.Want(&sec.res.records)
	}
	return nil
}

// examination is one run of the section.
type examination struct {
	r        *check.Recorder
	foreign  map[string]string // tools of other servers, with the server
	reported map[string]bool   // findings of what changed, by isNew
	beyond   bool              // the present definition has more than is looked at, beside texts that are too long by themselves
	notes    []string          // for people, in the order in which the report has them
}

// figures are what the section says beside its findings.
type figures struct {
	Notes    []string      `json:"notes"`
	Recorded *resultsTotal `json:"recorded,omitempty"`
}

func (x *examination) note(line string) { x.notes = append(x.notes, line) }

// figures gives the report what was noted so far. It is called again with recorded, once the calls were read; nil before.
func (x *examination) figures(recorded *resultsTotal) {
	if len(x.notes) > 0 {
		x.r.Figures(check.Figures{Value: figures{x.notes, recorded}, Notes: x.notes})
	}
}

// add reports a finding of a rule, which goes without "safety/" here.
func (x *examination) add(rule string, f check.Finding) { x.r.Add("safety/"+rule, f) }

// fragment is one text of a definition.
type fragment struct {
	at   check.Place
	key  string // of the member that it is, of the innermost object: of a text in a list that of the list
	text string // as it was sent, up to maxBytes
	name bool   // it is a name, by which something is called
	prop string // the property of a schema that it is about, "" for none
}

func withPointer(p check.Place, pointer string) check.Place {
	p.Pointer = pointer
	return p
}

// printable writes a text for evidence, with what nobody sees as escapes.
func printable(s string) string {
	q := strconv.QuoteToASCII(text.Clip(s, 300))
	return q[1 : len(q)-1]
}

// item examines one definition.
func (x *examination) item(k offer.Kind, it offer.Item) {
	at := check.PlaceOf(k, it, "")
	v, err := schema.ParseValue(bytes.ToValidUTF8(it.Raw, []byte("\uFFFD")))
	if err != nil {
		return // the list says so
	}
	n := 0 // strings so far
	x.beyond = false
	x.walk(at, v, nil, "", &n)
	if x.beyond {
		x.add("not-looked-at", check.Finding{Place: at, Message: fmt.Sprintf("has more than the %d texts and %d levels that are looked at", maxStrings, maxDepth)})
	}
	switch k {
	case offer.Tools:
		x.checkHints(at, it)
		x.checkParameters(at, it)
		x.checkApp(at, it)
	case offer.Templates:
		x.checkTemplate(at, it.URI)
	case offer.Resources:
		x.checkApp(at, it)
	}
}

// walk examines all texts below a value, and the names of properties. prop is the property of a schema that they are about, the innermost one; n
// counts the texts of the whole definition.
func (x *examination) walk(at check.Place, v *schema.Value, path []string, prop string, n *int) {
	if len(path) > maxDepth || *n > maxStrings {
		x.beyond = true
		return
	}
	for i, m := range v.Members() {
		key, here := m.Name, prop
		if v.Kind() == schema.Array {
			key = strconv.Itoa(i)
		}
		below := append(path, key) // shared on purpose: Pointer copies
		if len(path) > 0 && path[len(path)-1] == "properties" && v.Kind() == schema.Object {
			here = m.Name
			*n++
			x.text(fragment{at: withPointer(at, schema.Pointer(below...)), text: m.Name, name: true})
		}
		switch m.Value.Kind() {
		case schema.String:
			*n++
			last := key
			if v.Kind() == schema.Array && len(path) > 0 {
				last = path[len(path)-1]
			}
			x.text(fragment{at: withPointer(at, schema.Pointer(below...)), key: last, text: m.Value.Text(), name: len(path) == 0 && key == "name", prop: prop})
		case schema.Object, schema.Array:
			x.walk(at, m.Value, below, here, n)
		}
	}
}

// text examines one text. What is hidden comes first: the other rules read what is left, as a person sees it, but for secrets, which are looked
// for in the text as it was sent.
func (x *examination) text(s fragment) {
	if s.text == "" {
		return
	}
	if n := len(s.text); n > maxBytes {
		x.add("not-looked-at", check.Finding{Place: s.at, Message: fmt.Sprintf("has %d bytes, of which the first %d are looked at", n, maxBytes)})
	}
	s.text = text.Cut(s.text, maxBytes)
	visible := x.checkHidden(s)
	if s.name {
		x.checkLetters(s, visible)
	}
	x.checkSecrets(s)
	if strings.Contains(s.text, ":") {
		x.checkURLs(s, visible)
	}
	// Values of these keywords are patterns, names and addresses, and no prose.
	if s.key == "pattern" || s.key == "$ref" || s.key == "type" || s.key == "$schema" {
		return
	}
	l := oneLine(visible)
	// A short text without blanks gives no order, but in a script from U+2E80 on (Chinese, Japanese), which has none. From 24 characters on it may be base64.
	if strings.ContainsAny(l.plain, " <[#") || len(l.plain) > 24 || strings.ContainsFunc(l.plain, func(r rune) bool { return r >= 0x2e80 }) {
		x.orders(s, l)
	}
}

// orders looks for what tells a model what to do, in the text and in what it reads like otherwise. done is shared: each rule is reported once a text.
func (x *examination) orders(s fragment, l line) {
	done := map[string]bool{}
	x.ordersOf(s, l, done, "")
	for _, other := range decodings(l.plain) {
		x.ordersOf(s, line{plain: other}, done, "in disguise, ") // where its lines ended is not known any more
	}
	x.foreignTools(s, l.plain, done)
}

// ordersOf looks for orders in one reading of a text. done has the rules that were reported for it; how goes before the message.
func (x *examination) ordersOf(s fragment, l line, done map[string]bool, how string) {
	plain, low := l.plain, strings.ToLower(l.plain)
	for _, o := range orders() {
		if done[o.rule] || !slices.ContainsFunc(o.any, func(w string) bool { return strings.Contains(low, w) }) {
			continue
		}
		m := o.find(l)
		if m == nil {
			continue
		}
		done[o.rule] = true
		f := check.Finding{Place: s.at, Sure: o.sure, Message: how + quoteOf(plain[m[0]:m[1]]), Evidence: printable(around(plain, m[0], m[1]))}
		if o.mild {
			x.r.AddSeverity(check.Warning, "safety/"+o.rule, f)
		} else {
			x.add(o.rule, f)
		}
	}
}

// foreignTools looks for the names of other servers' tools: whole words, in the case in which the other server lists them.
func (x *examination) foreignTools(s fragment, plain string, done map[string]bool) {
	if len(x.foreign) == 0 {
		return
	}
	for _, word := range strings.FieldsFunc(plain, func(r rune) bool { return !wordRune(r) }) {
		if server, there := x.foreign[word]; there && !done[word] {
			done[word] = true
			i := strings.Index(plain, word)
			x.add("names-foreign-tool", check.Finding{
				Place: s.at, Sure: check.Likely, Key: word, Message: "speaks of " + text.Clip(word, 60) + ", a tool of " + text.Clip(server, 60), Evidence: printable(around(plain, i, i+len(word))),
			})
		}
	}
}

func wordRune(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// quoteOf is what a message says of a match.
func quoteOf(s string) string { return `says "` + printable(text.Clip(s, 120)) + `"` }

// around quotes s[from:to], with up to 80 bytes before and behind.
func around(s string, from, to int) string {
	from, to = max(0, from-80), min(len(s), to+80)
	return strings.ToValidUTF8(s[from:to], "")
}

// foreign are the tools of other servers whose names do not occur in prose by themselves: they have a separator or a capital after their first
// letter. What the server has too is its own, see shadowed-name.
func foreign(s *check.Subject) map[string]string {
	own := map[string]bool{}
	for _, it := range s.Tools {
		own[it.Name] = true
	}
	out := map[string]string{}
	for _, o := range s.Others {
		for _, it := range o.Tools {
			if len(it.Name) > 4 && strings.ContainsAny(it.Name[1:], "_-ABCDEFGHIJKLMNOPQRSTUVWXYZ") && !own[it.Name] {
				out[it.Name] = o.Server
			}
		}
	}
	return out
}
