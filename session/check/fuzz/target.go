package fuzz

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/check"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// maxSchema is the largest schema that values are made for.
const maxSchema = 1 << 20

// target is one thing that can be called: a tool, a prompt, a resource or a template of some.
type target struct {
	kind    string // as in check.Place
	name    string // or URI
	schema  *schema.Schema
	checked bool // the schema says all there is to say about the arguments
	place   check.Place

	inputs  []input       // the plan, nil until it is made
	next    int           // which of them is next
	times   []timing      // of calls that the schema does not forbid, with values that are not extreme
	spent   time.Duration // on calls that try made, restarts included
	tally   tally
	limited int    // calls of them all that came too fast
	busy    bool   // a call of it is under way
	example []byte // what the example returned
	stopped string // why no more calls are made, "" while they are
	// found has what was found already, by rule and cause; costly is how many failures cost a restart or a timeout.
	found  map[string]bool
	costly int
}

// tally counts the calls of a target by how they ended.
type tally struct {
	Calls    int `json:"calls"`
	Answered int `json:"answered"` // with a result, without isError
	Failed   int `json:"failed"`   // with isError
	Refused  int `json:"refused"`  // with a JSON-RPC error
	Lost     int `json:"lost"`     // without an answer
	Valid    int `json:"valid"`    // of all: with arguments that the schema allows
	Wrong    int `json:"wrong"`    // of all: with arguments that it forbids
}

// timing is an input and how long its call took.
type timing struct {
	in   input
	took time.Duration
}

func newTarget(kind, name string, s *schema.Schema, checked bool) *target {
	return &target{kind: kind, name: name, schema: s, checked: checked, place: check.Place{Kind: kind, Name: name}, found: map[string]bool{}}
}

// targets are all that may be called of what a server offers. left are tools that may not, see Subject.May. Of a tool whose schema is too large
// nothing is known, so that no argument of it is right or wrong; a template's variables are texts that may be anything.
func targets(s *check.Subject) (out []*target, left []offer.Item) {
	for _, it := range s.Tools {
		switch {
		case it.Name == "" || it.Barred != nil || slices.ContainsFunc(out, func(t *target) bool { return t.name == it.Name }):
		case !s.May(it):
			left = append(left, it)
		case len(it.InputSchema) > maxSchema:
			t := newTarget(check.OfTool, it.Name, schema.ParseArguments(nil), false)
			out = append(out, t)
		default:
			sch := schema.ParseArguments(it.InputSchema)
			out = append(out, newTarget(check.OfTool, it.Name, sch, sch.Err() == nil && len(it.InputSchema) > 0))
		}
	}
	for _, it := range s.Prompts {
		if it.Name == "" {
			continue
		}
		var args []schema.Argument
		for _, a := range it.Args {
			args = append(args, schema.Argument{Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required})
		}
		out = append(out, newTarget(check.OfPrompt, it.Name, schema.FromArguments(args), true))
	}
	for _, it := range s.Templates {
		tpl, err := offer.ParseTemplate(it.URI)
		if err != nil {
			continue // that is for other sections to say
		}
		var args []schema.Argument
		for _, name := range tpl.Varnames() {
			args = append(args, schema.Argument{Name: name})
		}
		out = append(out, newTarget(check.OfTemplate, it.URI, schema.FromArguments(args), false))
	}
	for _, it := range s.Resources {
		if it.URI != "" {
			out = append(out, resource(it.URI))
		}
	}
	return out, left
}

// resource is a resource that is read, and has no arguments.
func resource(uri string) *target {
	t := newTarget(check.OfResource, uri, schema.FromArguments(nil), false)
	t.inputs = []input{{Value: Value{What: "read"}, verdict: unclear}}
	return t
}

// request is the method and the parameters of a call. ok is false where there can be none: a template cannot be expanded with these values.
func (t *target) request(in input) (method string, params json.RawMessage, ok bool) {
	switch t.kind {
	case check.OfTool, check.OfPrompt:
		params = append([]byte(`{"name":`), jsonrpc.Quote(t.name)...)
		if in.IsSet() {
			params = append(append(params, `,"arguments":`...), in.JSON()...)
		}
		if t.kind == check.OfPrompt {
			return "prompts/get", append(params, '}'), true
		}
		return "tools/call", append(params, '}'), true
	case check.OfTemplate:
		given := map[string]string{}
		for _, m := range in.Members() {
			given[m.Name] = m.Value.Text()
		}
		uri, err := offer.Expand(t.name, given)
		if err != nil {
			return "", nil, false
		}
		return "resources/read", readParams(uri), true
	default:
		return "resources/read", readParams(t.name), true
	}
}

// canExpand reports whether a call can be made with an input.
func (t *target) canExpand(in input) bool {
	_, _, ok := t.request(in)
	return ok
}

func readParams(uri string) json.RawMessage {
	return append(append([]byte(`{"uri":`), jsonrpc.Quote(uri)...), '}')
}
