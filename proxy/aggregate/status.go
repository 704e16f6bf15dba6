package aggregate

import (
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/offer"
)

// Status is what the merged server is doing.
type Status struct {
	Sessions   int         `json:"sessions"`           // of clients
	Principals int         `json:"principals"`         // who call without a session
	Collisions []Collision `json:"collisions"`         // of resources, as far as somebody has listed them
	LeftOut    []Omission  `json:"left_out,omitempty"` // of the lists since the routes changed
}

// LeftOut is what lists that clients got since the routes changed did not have.
func (s *Server) LeftOut() []Omission { return s.left.all() }

// Status is a snapshot, without asking any agent.
func (s *Server) Status() Status {
	who := map[string]struct{}{}
	for _, c := range s.shared.All() {
		who[c.principal] = struct{}{}
	}
	st := Status{Sessions: s.clients.Len(), Principals: len(who), Collisions: []Collision{}, LeftOut: s.LeftOut()}
	var all []entry
	clients := s.allClients()
	for _, c := range clients[:min(len(clients), 16)] { // the others have the same agents
		for _, sess := range c.m.Servers() {
			items := sess.Listing(offer.Resources).Items
			for i := range items {
				all = append(all, entry{agent: sess.Name(), item: &items[i], name: items[i].URI})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return strings.Compare(a.agent, b.agent) })
	if found := collisions(all); found != nil {
		st.Collisions = found
	}
	return st
}
