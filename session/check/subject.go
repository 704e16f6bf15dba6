package check

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
)

// Offer is what a server says of itself and what it lists, at one time.
type Offer struct {
	Server       string // our name for it
	Name         string // its own, "" if it gave none
	Version      string // of the server
	Protocol     string // version
	Era          session.Era
	Transport    string // as in session.Status
	Info         json.RawMessage
	Capabilities json.RawMessage
	Instructions string

	Tools, Prompts, Resources, Templates []offer.Item
	// Lists are the lists as they were sent, all pages in one object; nil for one that the server does not have.
	Lists map[offer.Kind]json.RawMessage
	// Failed are lists that could not be read, with why.
	Failed map[offer.Kind]error
}

// kinds are the lists that are taken.
var kinds = []offer.Kind{offer.Tools, offer.Prompts, offer.Resources, offer.Templates}

// Take lists everything that a connected server has. Where ctx ends before, the offer has what was read until then, and Failed the list that
// was not answered.
func Take(ctx context.Context, s *session.Session) (Offer, error) {
	st := s.Status()
	o := Offer{
		Server: s.Name(), Protocol: st.Version, Era: st.Era, Transport: st.Transport, Info: st.ServerInfo, Capabilities: st.Capabilities, Instructions: st.Instructions,
		Lists: map[offer.Kind]json.RawMessage{}, Failed: map[offer.Kind]error{},
	}
	o.Name, o.Version = jsonrpc.GetString(o.Info, "name"), jsonrpc.GetString(o.Info, "version")
	for _, k := range kinds {
		if !s.Supports(k.Method()) {
			continue
		}
		l, err := s.List(ctx, k)
		if ctx.Err() != nil {
			o.Failed[k] = context.Cause(ctx)
			return o, context.Cause(ctx)
		}
		if k == offer.Templates && unknownMethod(err) {
			continue // no capability says that there are templates: who has none may leave the method out
		}
		if err != nil {
			o.Failed[k] = err
			continue
		}
		o.Lists[k] = l.JSON()
		switch k {
		case offer.Tools:
			o.Tools = l.Items
		case offer.Prompts:
			o.Prompts = l.Items
		case offer.Resources:
			o.Resources = l.Items
		case offer.Templates:
			o.Templates = l.Items
		}
	}
	return o, nil
}

// unknownMethod reports whether a server does not implement what it was asked.
func unknownMethod(err error) bool {
	var e *failure.Error
	return errors.As(err, &e) && e.Kind == failure.RpcError && e.Code != nil && *e.Code == jsonrpc.CodeMethodNotFound
}

// Nothing reports whether lists are known to have nothing: they were read and are empty, or the server does not have them.
func (o *Offer) Nothing(lists ...offer.Kind) bool {
	for _, k := range lists {
		if err := o.Failed[k]; len(o.Items(k)) > 0 || err != nil && !unknownMethod(err) {
			return false
		}
	}
	return true
}

// Items returns the items of the list of a kind, in the order in which the server listed them.
func (o *Offer) Items(k offer.Kind) []offer.Item {
	switch k {
	case offer.Tools:
		return o.Tools
	case offer.Prompts:
		return o.Prompts
	case offer.Resources:
		return o.Resources
	case offer.Templates:
		return o.Templates
	}
	return nil
}

// PlaceOf returns the place of an item, by its name or URI, and of the part of its definition that a JSON pointer leads to; "" for all of it.
func PlaceOf(k offer.Kind, it offer.Item, pointer string) Place {
	switch k {
	case offer.Prompts:
		return Place{OfPrompt, it.Name, pointer}
	case offer.Resources:
		return Place{OfResource, it.URI, pointer}
	case offer.Templates:
		return Place{OfTemplate, it.URI, pointer}
	}
	return Place{OfTool, it.Name, pointer}
}

// Subject is the server that a check examines: what it listed, and the way to call it.
type Subject struct {
	Offer
	// Session is connected when a section begins. A section that ends its connection, or has the server die, leaves it so: the next one
	// gets a new connection.
	Session *session.Session
	// Others are what other servers offer that a client would have beside this one.
	Others []Offer
	// Sections are the names of those that run; Run fills them in.
	Sections []string
	// Allow says which tools may be called although they are not read-only.
	Allow []string
	// Again connects to the server once more: to a process of its own over stdio. change, nil for none, is made to its configuration
	// before. What it returns is ended by end. It is nil where there is only what was listed before.
	Again func(ctx context.Context, change func(*config.Server)) (s *session.Session, end func(), err error)
}

// May reports whether a tool may be called with arguments that nobody wrote.
func (s *Subject) May(it offer.Item) bool {
	if it.ReadOnly() {
		return true
	}
	for _, name := range s.Allow {
		if name == it.Name || name == "*" {
			return true
		}
	}
	return false
}
