package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/catalog/described"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// bringer makes a server of what somebody published, for a screen: it asks in which way to reach it, downloads a bundle, asks for what
// the server needs, unpacks, and hands the server over to be opened or kept.
type bringer struct {
	view  string // that gets the outcomes
	title string // "From the registry"
	from  *Published
}

// Outcomes of its operations.
type (
	// bringOffer is an offer with the secrets that the keychain has for it.
	bringOffer struct {
		offer *described.Offer
		given map[string]string
		warn  error
		lacks string // what is not on this machine
	}
	bringMade struct {
		offer  *described.Offer
		server config.Server
		lacks  []string
	}
	bringKept struct{}
)

// finished takes the outcomes; false if the message is something else.
func (b bringer) finished(c *tui.Ctx, m tui.OpDone) (tea.Cmd, bool) {
	switch r := m.Value.(type) {
	case bringOffer:
		if m.Err == nil {
			return b.ask(c, r), true
		}
	case bringMade:
		if m.Err == nil {
			return b.made(c, r), true
		}
	case bringKept:
		if m.Err == nil {
			return nil, true
		}
	default:
		return nil, false
	}
	if errors.Is(m.Err, context.Canceled) {
		return c.Toast(tui.Note, "cancelled: nothing was kept"), true
	}
	return c.Toast(tui.Failure, m.Err.Error()), true
}

// choose asks in which way to reach a server, where there are several.
func (b bringer) choose(c *tui.Ctx, entry described.Entry) tea.Cmd {
	ways := map[string]registry.Candidate{}
	var words []string
	var why error
	for _, w := range entry.Candidates(b.from.Look) {
		if w.Refused != nil {
			why = cmp.Or(why, w.Refused)
			continue
		}
		word := safe.Line(w.Title, 100)
		if w.Missing != "" {
			word += " (not on this machine)"
		}
		ways[word] = w
		words = append(words, word)
	}
	switch len(words) {
	case 0:
		return c.Toast(tui.Failure, cmp.Or(why, fmt.Errorf("the description names neither a package nor a remote")).Error())
	case 1:
		return b.take(c, entry, ways[words[0]])
	}
	return c.Choose("how to reach "+safe.Line(entry.Name, 60), "", words, func(c *tui.Ctx, word string) tea.Cmd {
		return b.take(c, entry, ways[word])
	})
}

// take prepares one way, beside the event loop: a bundle is downloaded, and the keychain may ask first.
func (b bringer) take(c *tui.Ctx, e described.Entry, way registry.Candidate) tea.Cmd {
	label := "prepare " + safe.Line(e.Name, 60)
	if way.Bundle != nil {
		label = "download " + safe.Line(e.Name, 60)
	}
	cmd, _ := c.Go(b.view, label, func(ctx context.Context) (any, error) {
		host, err := b.from.host(way.Bundle != nil)
		if err != nil {
			return bringOffer{}, err
		}
		o, err := host.Way(ctx, e, way, func(n, of int64) {
			tui.Report(ctx, tui.Progress{Progress: float64(n), Total: float64(of), HasTotal: of > 0, Message: text.Bytes(n)})
		})
		if err != nil {
			return bringOffer{}, err
		}
		r := b.recalled(ctx, o)
		r.lacks = way.Missing
		return r, nil
	})
	return cmd
}

// bundle is the offer of a bundle on the disk.
func (b bringer) bundle(ctx context.Context, path string) (bringOffer, error) {
	host, err := b.from.host(true)
	if err != nil {
		return bringOffer{}, err
	}
	o, err := host.Bundle(path)
	if err != nil {
		return bringOffer{}, err
	}
	return b.recalled(ctx, o), nil
}

// host is where bundles are kept; where none are needed, there may be no such place.
func (p *Published) host(bundles bool) (described.Host, error) {
	var h described.Host
	err := errors.New("there is no folder to unpack bundles in")
	if p.Host != nil {
		h, err = p.Host()
	}
	if !bundles {
		err = nil
	}
	return h, err
}

// recalled is an offer with the secrets that are kept for it.
func (b bringer) recalled(ctx context.Context, o *described.Offer) bringOffer {
	r := bringOffer{offer: o}
	for _, i := range o.Inputs {
		if i.Secret && b.from.Recall != nil {
			r.given, r.warn = b.from.Recall(ctx, o.Scope)
			break
		}
	}
	return r
}

// ask has the inputs filled in, then makes the server.
func (b bringer) ask(c *tui.Ctx, r bringOffer) tea.Cmd {
	var warn tea.Cmd
	switch {
	case r.warn != nil:
		warn = c.Toast(tui.Warning, r.warn.Error())
	case r.lacks != "":
		warn = c.Toast(tui.Warning, r.lacks)
	}
	if len(r.offer.Inputs) == 0 {
		return tea.Batch(warn, b.make(c, r.offer, nil))
	}
	done := func(c *tui.Ctx, values setup.Values, remember bool) tea.Cmd {
		var kept tea.Cmd
		if remember && b.from.Keep != nil {
			given := map[string]string{}
			for name := range values {
				given[name] = values.First(name)
			}
			kept, _ = c.Go(b.view, "keep secrets in the keychain", func(ctx context.Context) (any, error) {
				return bringKept{}, b.from.Keep(ctx, r.offer.Scope, r.offer.Inputs, given)
			})
		}
		return tea.Batch(kept, b.make(c, r.offer, values))
	}
	return tea.Batch(warn, c.Navigate("setup", setupRequest{Title: r.offer.Name, Inputs: r.offer.Inputs, Given: r.given, Done: done}))
}

// make makes the server of these values; what it runs is unpacked by then.
func (b bringer) make(c *tui.Ctx, o *described.Offer, values setup.Values) tea.Cmd {
	cmd, _ := c.Replace(b.view, "make", "prepare "+safe.Line(o.Name, 60), func(ctx context.Context) (any, error) {
		s, err := o.Server(values)
		if err == nil {
			err = o.Prepare()
		}
		if err != nil {
			return bringMade{}, err
		}
		return bringMade{o, s, o.Lacks(ctx, s)}, nil
	})
	return cmd
}

// made hands the server over.
func (b bringer) made(c *tui.Ctx, r bringMade) tea.Cmd {
	var notes []tea.Cmd
	for _, n := range r.lacks {
		notes = append(notes, c.Toast(tui.Warning, n))
	}
	for _, i := range r.offer.After {
		notes = append(notes, c.Toast(tui.Note, "once it is installed, its publisher says: "+strings.TrimSpace(i.Description+" "+i.Command)))
	}
	return tea.Batch(append(notes, c.Navigate("addserver", offered{from: cmp.Or(b.title, "From "+safe.Line(r.offer.From, 200)), servers: []config.Server{r.server}}))...)
}
