package persona

import (
	"bytes"
	"context"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/offer"
)

// Comparison is what a server offers to a persona, beside what it offers over the connection that there is.
type Comparison struct {
	Persona Persona
	Version string // of the protocol that was spoken with the persona
	Lists   []Difference
	// Capabilities and Instructions say that the server's differ.
	Capabilities, Instructions bool
}

// Difference is one list of the server: Changes are from what it has now to what it has for the persona, and Marks those items by
// key.
type Difference struct {
	Kind          offer.Kind
	Before, After int // items
	Changes       offer.Changes
	Marks         map[string]offer.Mark
	Err           error // why the persona got no list
}

// Same reports whether the persona is offered the same.
func (c Comparison) Same() bool {
	for _, d := range c.Lists {
		if d.Changes.Some() || d.Err != nil {
			return false
		}
	}
	return !c.Capabilities && !c.Instructions
}

var compared = [...]offer.Kind{offer.Tools, offer.Resources, offer.Templates, offer.Prompts}

// Compare lists what s, which is connected, offers, and what it offers to p over a second connection, which is closed again.
func Compare(ctx context.Context, s *session.Session, p Persona) (Comparison, error) {
	c := Comparison{Persona: p}
	before := map[offer.Kind][]offer.Item{}
	for _, kind := range compared {
		if !s.Supports(kind.Method()) {
			continue
		}
		list, err := s.List(ctx, kind)
		if err != nil {
			return c, err
		}
		before[kind] = list.Items
	}
	err := s.As(ctx, p.Client(), func(ctx context.Context, as *session.Session) error {
		was, is := s.Status(), as.Status()
		c.Version = is.Version
		c.Capabilities, c.Instructions = !bytes.Equal(was.Capabilities, is.Capabilities), was.Instructions != is.Instructions
		for range 2 { // the second time only what the server says has changed meanwhile is asked for
			c.Lists = c.Lists[:0]
			for _, kind := range compared {
				items, listed := before[kind]
				offered := as.Supports(kind.Method())
				if !listed && !offered {
					continue
				}
				d := Difference{Kind: kind, Before: len(items)}
				var list offer.Listing
				if offered {
					list, d.Err = as.List(ctx, kind)
				}
				if ctx.Err() != nil {
					return ctx.Err()
				}
				d.After = len(list.Items)
				if d.Err == nil {
					d.Changes, d.Marks = offer.Compare(kind, items, list.Items, nil)
				}
				c.Lists = append(c.Lists, d)
			}
		}
		return nil
	})
	return c, err
}
