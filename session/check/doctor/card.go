package doctor

import (
	"context"

	"github.com/mcphud/mcphud/session/catalog/card"
)

// card compares what is published about the server with what it says. That nothing is published is the usual case.
func (r *run) card(s *Step) {
	ctx, cancel := context.WithTimeout(r.ctx, 2*requestTime)
	defer cancel()
	docs, _, err := card.Check(ctx, r.session) // what of the lists fails, another step says
	if err != nil {
		s.skip(messageOf(err))
		return
	}
	found, differences := 0, 0
	known := docs[:0] // what is there, or should be and cannot be read
	for _, d := range docs {
		if d.Err == nil && !d.Found {
			continue
		}
		known = append(known, d)
		differences += len(d.Differences)
		if d.Found && d.Kind != "catalog" && !d.Other { // a catalog, or the card of another server at this host, says nothing of this one
			found++
		}
	}
	switch {
	case len(known) == 0:
		s.skip("nothing is published: no server card, no document in .well-known")
		return
	case differences > 0:
		s.warn("what is published is not what the server says", "correct the published document, or the server")
	case found > 0:
		s.add("what is published agrees with what the server says")
	default:
		s.add("nothing is published that can be read")
	}
	s.add(card.Lines(known)...)
}
