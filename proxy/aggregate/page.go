package aggregate

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/offer"
)

// render is the definition with its merged name: the agent's bytes but for that. It is nil where there is no name to replace.
func (e entry) render(kind offer.Kind) []byte {
	if !isNamed(kind) {
		return e.item.Raw
	}
	if jsonrpc.Get(e.item.Raw, "name") == nil {
		return nil
	}
	return replace(e.item.Raw, jsonrpc.Quote(e.name), "name")
}

// maxPage is how many bytes of definitions a page has at most, but for its last one.
const maxPage = 4 << 20

// lists answers a request for a list. It is put together anew for each page, from lists that the sessions keep: a cursor is a place in the list, and
// nothing is remembered for a client that never asks for the next page. What the client is told of by a name that says not whose it is, it may call
// by that name later: see given.
func (x *exchange) lists(ctx context.Context, kind offer.Kind) ([]byte, error) {
	if x.s.o.Sole != nil {
		return x.listSole(ctx, kind)
	}
	after := place{}
	if cursor := jsonrpc.Get(x.env.Params, "cursor"); cursor != nil && cursor[0] != 'n' {
		var ok bool
		if after, ok = placeOf(kind, cursor); !ok {
			return nil, badCursor()
		}
	}
	v := x.view()
	all, missing := x.c.list(ctx, kind, v.Naming)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	meta := map[string]any{}
	if missing != nil {
		meta[metaMissing] = missing
	}
	if !isNamed(kind) {
		if found := collisions(all); found != nil {
			meta[metaCollisions] = found
		}
	} else {
		var left []Omission
		if all, left = selectEntries(all, kind, v); left != nil {
			meta[metaLeftOut] = left
		}
		x.s.left.record(x.s.log, left)
		now := given{}
		for _, e := range all {
			if e.name != toolset.FullName(e.agent, e.item.Name) {
				now[e.name] = toolset.ToolRef{Server: e.agent, Tool: e.item.Name}
			}
		}
		x.c.rememberGiven(kind, now)
	}
	from := after.in(all)
	to := from
	out := append(append([]byte(`{"`), kind.String()...), `":[`...)
	names := map[string]map[string]string{}
	for ; to < min(from+x.s.o.Page, len(all)) && (to == from || len(out) < maxPage); to++ {
		e := all[to]
		raw := e.render(kind)
		if raw == nil {
			continue
		}
		if out[len(out)-1] != '[' {
			out = append(out, ',')
		}
		out = append(out, raw...)
		if isNamed(kind) && e.name != toolset.FullName(e.agent, e.item.Name) {
			names[e.name] = map[string]string{"agent": e.agent, "name": e.item.Name}
		}
	}
	out = append(out, ']')
	if len(names) > 0 {
		meta[metaNames] = names
	}
	if to < len(all) {
		out = append(append(out, `,"nextCursor":`...), jsonrpc.Quote(cursorAt(all, to-1, kind))...)
	}
	if len(meta) > 0 {
		text, err := json.Marshal(meta)
		if err != nil {
			return nil, err
		}
		out = append(append(out, `,"_meta":`...), text...)
	}
	if x.modern {
		out = append(out, `,"resultType":"complete","ttlMs":0,"cacheScope":"private"`...)
	}
	return append(out, '}'), nil
}

// badCursor is for a cursor that is not one of ours, or one of another list.
func badCursor() error {
	return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: unknown cursor; list again from the start").With("field", "cursor").With("reason", "unknown")
}

// place is where a page ended: behind an item, which was the so-manieth of its agent. What is put in or taken out elsewhere
// does not move the next page; where the item itself is gone, or its agent, the next page begins where it was.
type place struct {
	agent, key string
	n          int // of the item among its agent's, from 1; 0 is before the first page
}

// key tells an item from the others of its agent: its URI, else its own name.
func (e entry) key() string {
	if e.item.URI != "" {
		return e.item.URI
	}
	return e.item.Name
}

// cursorAt names the place behind an item.
func cursorAt(all []entry, i int, kind offer.Kind) string {
	n := 0
	for n <= i && all[i-n].agent == all[i].agent {
		n++
	}
	return base64.RawURLEncoding.EncodeToString([]byte(kind.String() + "\x00" + all[i].agent + "\x00" + strconv.Itoa(n) + "\x00" + all[i].key()))
}

// placeOf reads a cursor, which the client may have made up: it is bounded by what it is compared with.
func placeOf(kind offer.Kind, cursor []byte) (p place, ok bool) {
	s, _ := jsonrpc.String(cursor)
	text, err := base64.RawURLEncoding.DecodeString(s)
	parts := strings.SplitN(string(text), "\x00", 4)
	if err != nil || len(parts) != 4 || parts[0] != kind.String() {
		return p, false
	}
	p.agent, p.key = parts[1], parts[3]
	p.n, err = strconv.Atoi(parts[2])
	return p, err == nil && p.n > 0
}

// in is the index of the first item behind the place; all is sorted by agents.
func (p place) in(all []entry) int {
	if p.n == 0 {
		return 0
	}
	from, _ := slices.BinarySearchFunc(all, p.agent, func(e entry, agent string) int { return strings.Compare(e.agent, agent) })
	count := 0
	for i := from; i < len(all) && all[i].agent == p.agent; i++ {
		if all[i].key() == p.key {
			return i + 1
		}
		count++
	}
	return from + min(p.n-1, count) // the item itself is gone
}
