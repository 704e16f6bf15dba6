package lint

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/mcphud/mcphud/session/check"
)

// ClientFigures say how a server fares at one client. A list of them is the section's figures in reports as JSON.
type ClientFigures struct {
	Client  string `json:"client"`
	Title   string `json:"title"`
	Tools   int    `json:"tools"`             // how many there are
	Refused int    `json:"refused"`           // how many are refused by themselves
	Lost    int    `json:"lost"`              // how many are lost, with those that go down with another
	First   string `json:"first,omitempty"`   // one that is refused
	Because string `json:"because,omitempty"` // the rule by which it is
}

// figures are how the server fares at each client that matters.
func (e *examiner) figures() check.Figures {
	var out []ClientFigures
	table := [][]string{{"client", "refused", "lost", "because"}}
	n := len(e.o.Tools)
	for _, c := range clients {
		if len(e.opts.Clients) > 0 && !slices.Contains(e.opts.Clients, c.name) {
			continue
		}
		f := ClientFigures{Client: c.name, Title: c.title, Tools: n, Refused: len(e.refused[c.name])}
		f.Lost = f.Refused
		if c.whole && f.Refused > 0 { // the others are refused with it
			f.Lost = n
		}
		for _, it := range e.o.Tools { // the first in the list
			if id := e.refused[c.name][it.Name]; id != "" {
				f.First, f.Because = it.Name, id
				break
			}
		}
		if id := e.lists[c.name]; id != "" {
			f.Because, f.Lost = id, max(f.Lost, e.beyond(c.name, n)) // both may be; the list goes first, whichever tools are mended
		}
		out = append(out, f)
		because := f.Because
		if f.First != "" {
			because += " · " + f.First
		}
		table = append(table, []string{c.title, fmt.Sprintf("%d of %d", f.Refused, n), strconv.Itoa(f.Lost), because})
	}
	notes := []string{"refused: tools that the client or its provider refuses; lost: with those that go down with them, as the whole request or list is refused"}
	if len(e.opts.Clients) == 0 {
		notes = append(notes, "what only a mode of a client refuses is counted, and told where that client is named")
	}
	return check.Figures{Value: out, Table: table, Notes: notes}
}

// beyond is how many of n tools a client loses for there being too many: all of them where it refuses the request, otherwise those past its limit.
func (e *examiner) beyond(client string, n int) int {
	for _, l := range limits {
		if l.client == client && l.about == ofTools && n > l.most {
			if l.errs {
				return n
			}
			return n - l.most
		}
	}
	return 0
}
