package card

import (
	"context"
	"errors"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
)

// Comparison is a document, and what it says otherwise than the server.
type Comparison struct {
	Document
	Other       bool // a card of the catalog that is about another server: it is not compared
	Differences []Difference
}

// Check reads what is published about a server, and compares it with what that says: with its lists too, which are asked for where the
// server is connected and a document has them. unread is why a list could not be.
func Check(ctx context.Context, s *session.Session) (out []Comparison, unread, err error) {
	docs, err := About(ctx, s.Config())
	if err != nil {
		return nil, nil, err
	}
	for _, list := range []struct {
		kind offer.Kind
		of   func(Document) []string
	}{
		{offer.Tools, func(d Document) []string { return d.Tools }},
		{offer.Resources, func(d Document) []string { return d.Resources }},
		{offer.Prompts, func(d Document) []string { return d.Prompts }},
	} {
		for _, d := range docs {
			if list.of(d) != nil && jsonrpc.Get(s.Status().Capabilities, list.kind.String()) != nil {
				_, e := s.List(ctx, list.kind)
				unread = errors.Join(unread, e)
				break
			}
		}
	}
	said := SaidBy(s)
	for _, d := range docs {
		c := Comparison{Document: d, Other: d.Kind == OfCatalog && d.Found && said.URL != nil && !d.About(said.URL)}
		if !c.Other {
			c.Differences = Compare(d, said)
		}
		out = append(out, c)
	}
	return out, unread, nil
}

// Lines say what is published in plain words: a line for each place, then what is against the specification (!) and what the server
// says otherwise (≠). Whoever shows them sanitises them.
func Lines(all []Comparison) (lines []string) {
	for _, c := range all {
		lines = append(lines, c.String())
		for _, p := range c.Problems {
			lines = append(lines, "  ! "+p)
		}
		for _, d := range c.Differences {
			lines = append(lines, "  ≠ "+d.String())
		}
	}
	if len(all) == 0 {
		return []string{"nothing can be: the server has no URL"}
	}
	return lines
}
