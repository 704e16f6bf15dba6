// Package cost says what a server's lists cost a model that is given them: bytes and tokens of each entry, where most of them go, and
// what could be saved.
package cost

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
)

// Counted says what is counted, for people.
const Counted = "of a tool: its prefixed name, description and input schema as compact JSON, once for each conversation; of anything else: its entry as listed"

// Estimate says how far the numbers are to be trusted, for people. A test holds the figures.
const Estimate = "tokens are an estimate of o200k_base: lists of ten or more tools are within 5 %, a tool within 10 %"

// Entry is the cost of one tool, prompt, resource or template, in bytes and in tokens of o200k_base (see Estimate).
type Entry struct {
	Kind        string `json:"kind"`
	Name        string `json:"name"` // URI of a resource or template
	Bytes       int    `json:"bytes"`
	Tokens      int    `json:"tokens"`
	Description int    `json:"description_tokens"` // of Tokens
	Schema      int    `json:"schema_tokens"`      // of Tokens
}

// Of is what an item costs that a client calls server.
func Of(server string, k offer.Kind, it offer.Item) Entry {
	place := check.PlaceOf(k, it, "")
	text := Handed(server, k, it)
	e := Entry{Kind: place.Kind, Name: place.Name, Bytes: len(text), Tokens: Tokens(text), Description: Tokens(it.Description)}
	if k == offer.Tools {
		e.Schema = Tokens(it.InputSchema)
	}
	return e
}

// All is what each item of a list costs, nil after ctx ended.
func All(ctx context.Context, server string, k offer.Kind, items []offer.Item) []Entry {
	out := make([]Entry, 0, len(items))
	for i, it := range items {
		if i%100 == 0 && ctx.Err() != nil {
			return nil
		}
		out = append(out, Of(server, k, it))
	}
	return out
}

// Handed is what a client gives to a model for an item, as compact JSON: see [Counted].
func Handed(server string, k offer.Kind, it offer.Item) []byte {
	if k != offer.Tools {
		return compact(it.Raw)
	}
	b := make([]byte, 0, len(it.Raw)+64)
	b = append(append(b, `{"name":`...), jsonrpc.Quote(Prefixed(server, it.Name))...)
	if it.Description != "" {
		b = append(append(b, `,"description":`...), jsonrpc.Quote(it.Description)...)
	}
	if it.InputSchema != nil {
		b = append(append(b, `,"input_schema":`...), compact(it.InputSchema)...)
	}
	return append(b, '}')
}

// compact is JSON without white space; what is none stays as it is.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(raw))
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// Prefixed is a tool's name as most clients give it to a model, so that those of several servers do not clash.
func Prefixed(server, tool string) string {
	b := []byte(server)
	for i, c := range b {
		if k := class(c); k != lower && k != upper && k != digit && c != '-' {
			b[i] = '_'
		}
	}
	return "mcp__" + string(b) + "__" + tool
}

// Sum is the cost of several entries together.
type Sum struct {
	Count  int `json:"count"`
	Bytes  int `json:"bytes"`
	Tokens int `json:"tokens"`
}

// Total adds entries up.
func Total(entries []Entry) (s Sum) {
	for _, e := range entries {
		s.add(e)
	}
	return s
}

func (s *Sum) add(e Entry) {
	s.Count++
	s.Bytes += e.Bytes
	s.Tokens += e.Tokens
}
