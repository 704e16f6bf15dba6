// Package lint examines what a server lists: its tools, their schemas, prompts, resources and templates, its instructions and
// capabilities. It says what is wrong by the specification, what will hurt a model or a person, and which clients and model providers
// would refuse a tool, or with it the whole list. Nothing is called.
package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/offer"
)

// Options say what is examined beside what always is.
type Options struct {
	// Clients are those that matter, as [Clients] names them; nil for all. What only other clients refuse is not reported then, and what a
	// named one refuses in a mode that its user has to choose is one.
	Clients []string
	// KnownAs is the name of the server in the configuration of clients, which many of them put before the names of tools. "" is the name
	// that the server gives itself.
	KnownAs string
}

// Section is the section "lint". It keeps nothing from one run to the next, which may be at a time.
type Section struct{ o Options }

// New is the section. The error is that a client is not known; it names those that are.
func New(o Options) (*Section, error) {
	for _, name := range o.Clients {
		if !slices.Contains(Clients(), name) {
			return nil, fmt.Errorf("unknown client: %s · known are %v", name, Clients())
		}
	}
	return &Section{o}, nil
}

// Name is the section's name.
func (*Section) Name() string { return "lint" }

// Title is what it examines.
func (*Section) Title() string { return "schemas, names and descriptions; who refuses them" }

// ReadsLists says that nothing else is examined: of lists that could not be read the section knows nothing.
func (*Section) ReadsLists() bool { return true }

// Rules are all its rules, in the order of lint.yaml.
func (*Section) Rules() []*check.Rule { return rules.Of("lint") }

// table is the whole table, by themes.
var table = sync.OnceValue(func() []*check.Rule { return rules.Of("lint") })

// maxPlaces is how many places of one item a rule reports one by one; the others are counted. A schema that a program made has the same fault at
// each of its parts.
const maxPlaces = 20

// examiner is one run of the section. One goroutine has it.
type examiner struct {
	o     *check.Offer // not changed
	r     *check.Recorder
	opts  Options
	known string // the server's name at clients, which may be one that it gave itself

	verdicts map[string]string // why defaults and examples are not valid, "" for those that are, by schema and value; at most maxVerdicts

	tools tally // of all tools

	same map[string]int // findings by rule, place and key: those of one kind at one place are told apart by their order, as fingerprints need it

	// Of the item that is looked at.
	place  check.Place
	places map[string]int // findings by rule, also those past maxPlaces

	refused map[string]map[string]string // client → tool → the first rule by which it is refused
	lists   map[string]string            // client → why all tools are lost for another reason than one of them
}

// Run examines what sub lists. Without a session all that is examined is what is there; with one the lists are asked for that are not declared.
// The error is that of ctx: whatever is wrong with the server is a finding.
func (s *Section) Run(ctx context.Context, sub *check.Subject, r *check.Recorder) error {
	e := &examiner{o: &sub.Offer, r: r, opts: s.o, refused: map[string]map[string]string{}, lists: map[string]string{}, verdicts: map[string]string{}, same: map[string]int{}, known: s.o.KnownAs}
	if e.known == "" {
		e.known = e.o.Name
	}
	e.server()
	e.reportLeftOut()
	if err := e.checkUndeclared(ctx, sub); err != nil {
		return err
	}
	total := len(e.o.Tools) + len(e.o.Prompts) + len(e.o.Resources) + len(e.o.Templates)
	done := 0
	for _, k := range []offer.Kind{offer.Tools, offer.Prompts, offer.Resources, offer.Templates} {
		for _, it := range e.o.Items(k) {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if done%100 == 0 {
				r.Step(done, total, k.String())
			}
			done++
			e.atItem(k, it)
			if k == offer.Tools {
				e.tool(it)
			} else {
				e.item(k, it)
			}
			e.reportLeftOut()
		}
	}
	e.together()
	e.twice()
	r.Figures(e.figures())
	return nil
}

// at begins an item, or the server: what is added from here on is found there.
func (e *examiner) at(p check.Place) {
	e.place, e.places = p, map[string]int{}
}

func (e *examiner) atItem(k offer.Kind, it offer.Item) { e.at(check.PlaceOf(k, it, "")) }

// found is what a rule says beside its table. Members that are not set leave the rule's.
type found struct {
	pointer  string // JSON pointer into the item, "" for all of it
	message  string // one line; what it has of the server's is cut
	evidence string
	key      string           // tells it from others of the rule at the same place
	fix      string           // instead of the rule's
	sure     check.Confidence // "" is certain
	clients  []string         // instead of the rule's; empty and not nil is nobody
	severity *check.Severity  // instead of the rule's
	harms    bool             // the clients get on with it, whatever the rule says
	all      bool             // it is the whole list that they refuse, not this item
}

// add reports f by the rule id at the item that is looked at. Nothing is reported where none of the clients matters that the rule is about, nor
// what they refuse in a mode only, unless they are named; the figures have both.
func (e *examiner) add(id string, f found) {
	r := rules.Find("lint", id)
	clients := r.Clients
	if f.clients != nil {
		clients = f.clients
	}
	if !r.Tolerated && !f.harms {
		e.count(r, f, clients)
	}
	clients = e.selected(clients)
	if r.ClientsOnly && len(clients) == 0 || r.OptIn && len(e.opts.Clients) == 0 {
		return
	}
	if e.places[id]++; e.places[id] > maxPlaces {
		return
	}
	is := strings.Join([]string{id, e.place.Kind, e.place.Name, f.pointer, f.key}, "\x00")
	if e.same[is]++; e.same[is] > 1 {
		f.key = fmt.Sprintf("%s#%d", f.key, e.same[is])
	}
	if r.ClientsOnly && f.clients == nil && !r.Tolerated { // the others name their client
		f.message += " · refused by " + strings.Join(clients, ", ")
	}
	p := e.place
	p.Pointer = f.pointer
	out := check.Finding{Place: p, Message: f.message, Evidence: f.evidence, Key: f.key, Fix: f.fix, Sure: f.sure, Clients: slices.Clip(clients)}
	if out.Clients == nil {
		out.Clients = []string{}
	}
	if f.severity != nil {
		e.r.AddSeverity(*f.severity, id, out)
		return
	}
	e.r.Add(id, out)
}

// selected are those of some clients that the options name, all of them where these name none.
func (e *examiner) selected(clients []string) []string {
	if len(e.opts.Clients) == 0 {
		return clients
	}
	return slices.DeleteFunc(slices.Clone(clients), func(c string) bool { return !slices.Contains(e.opts.Clients, c) })
}

// count notes who refuses the item, for the figures: also clients that do not matter, whose figures are left out at the end. The first rule
// by which a client refuses it stays.
func (e *examiner) count(r *check.Rule, f found, clients []string) {
	for _, c := range clients {
		switch {
		case f.all:
			if e.lists[c] == "" {
				e.lists[c] = r.ID
			}
		case e.place.Kind == check.OfTool:
			if e.refused[c] == nil {
				e.refused[c] = map[string]string{}
			}
			if e.refused[c][e.place.Name] == "" {
				e.refused[c][e.place.Name] = r.ID
			}
		}
	}
}

// reportLeftOut says how many findings of the item were left out.
func (e *examiner) reportLeftOut() {
	for _, r := range table() {
		if n := e.places[r.ID]; n > maxPlaces {
			p := e.place
			e.r.AddSeverity(r.Severity, r.ID, check.Finding{Place: p, Key: "more", Message: fmt.Sprintf("%d more places of the same kind", n-maxPlaces), Clients: e.selected(r.Clients)})
		}
	}
}
