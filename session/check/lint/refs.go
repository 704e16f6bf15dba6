package lint

import (
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// references examines where the references of a schema lead, once all of it was seen: a name may be declared after it is referred to.
func (w *walker) references() {
	targets := map[*schema.Value]bool{}
	to := make([]*schema.Value, len(w.refs))
	for i, r := range w.refs {
		v, state := w.resolve(r.to)
		switch state {
		case missing:
			w.add("lint/ref-missing", r.n, "$ref", fmt.Sprintf("%s is not in the schema", text.Clip(r.to, 100)))
		case remote:
			w.add("lint/ref-remote", r.n, "$ref", fmt.Sprintf("%s is another document", text.Clip(r.to, 100)))
		case here:
			if w.loops(v) {
				w.add("lint/ref-loop", r.n, "$ref", fmt.Sprintf("%s leads to itself", text.Clip(r.to, 100)))
				continue
			}
			to[i], targets[v] = v, true
		}
	}
	w.recursion(to, targets)
	if w.countExpanded(w.root, map[*schema.Value]int{}) > maxWritten {
		w.add("lint/refs-multiply", &node{v: w.root}, "", fmt.Sprintf("with each $ref replaced by what it refers to, the schema has more than %d parts", maxWritten))
	}
}

// maxWritten is how many parts a schema may have with its references written out, which many clients do before they pass it on.
const maxWritten = 100_000

// countExpanded counts the subschemas of v with each reference replaced by what it refers to, at most one more than maxWritten of each. known has
// the numbers of those that were counted, so that the time is that of the schema as it stands; of recursion, only what is not yet open counts.
func (w *walker) countExpanded(v *schema.Value, known map[*schema.Value]int) int {
	if n, ok := known[v]; ok || v.Kind() != schema.Object {
		return max(n, 1)
	}
	known[v] = 0
	n := 1
	add := func(v *schema.Value) { n = min(n+w.countExpanded(v, known), maxWritten+1) }
	for _, m := range v.Members() {
		switch h := holds(m.Name); {
		case m.Name == "$defs" || m.Name == "definitions": // count where they are referred to
		case m.Name == "$ref" && m.Value.Kind() == schema.String:
			if to, state := w.resolve(m.Value.Text()); state == here {
				add(to)
			}
		case h == one || h == oneOrList && m.Value.Kind() != schema.Array:
			add(m.Value)
		case h != 0 && (m.Value.Kind() == schema.Array || m.Value.Kind() == schema.Object):
			for _, k := range m.Value.Members() {
				add(k.Value)
			}
		}
	}
	known[v] = n
	return n
}

// Where a reference leads.
const (
	here    = iota // to a place in the document that is known
	inName         // to a name in the document: where it stands, findAnchor knows
	missing        // nowhere
	remote         // to another document
)

// resolve finds where a reference leads, as a URI with a fragment. v is set for here alone. Documents that are not known are not fetched: a check of
// a list asks nobody else.
// https://json-schema.org/draft/2020-12/json-schema-core#section-8.2.3.1
func (w *walker) resolve(to string) (v *schema.Value, state int) {
	uri, frag, _ := strings.Cut(to, "#")
	switch {
	case uri != "":
		// The schema of a dialect, to which meta-schemas refer, every validator has.
		if w.ids[uri] || w.ids[to] || strings.Contains(uri, "json-schema.org/draft") {
			return nil, inName
		}
		return nil, remote
	case frag == "":
		return w.root, here
	case frag[0] != '/':
		if w.ids[frag] || w.ids["#"+frag] {
			return nil, inName
		}
		return nil, missing
	}
	path, ok := schema.SplitPointer(frag)
	if v = w.root.At(path...); !ok || !v.IsSet() {
		return nil, missing
	}
	return v, here
}

// loops says whether a chain of nothing but references comes back to where it was. One of more than 64 is taken for such.
func (w *walker) loops(v *schema.Value) bool {
	for range 64 {
		r := v.Get("$ref")
		if r.Kind() != schema.String {
			return false
		}
		next, state := w.resolve(r.Text())
		if state != here {
			return false
		}
		v = next
	}
	return true
}

// recursion finds one reference by which the schema describes itself. to are the places that w.refs lead to, nil for none; targets are the same as a
// set. An edge goes from each target to what is referred to below it; a way back to an open one is a circle.
func (w *walker) recursion(to []*schema.Value, targets map[*schema.Value]bool) {
	edges := map[*schema.Value][]*schema.Value{}
	by := map[[2]*schema.Value]*node{}
	for i, r := range w.refs {
		if to[i] == nil {
			continue
		}
		for n := r.n; n != nil; n = n.parent { // the reference is in each target above it
			if targets[n.v] {
				if e := [2]*schema.Value{n.v, to[i]}; by[e] == nil {
					by[e], edges[n.v] = r.n, append(edges[n.v], to[i])
				}
			}
		}
	}
	const open, done = 1, 2
	state := map[*schema.Value]int{}
	var visit func(v *schema.Value, depth int) bool
	visit = func(v *schema.Value, depth int) bool {
		state[v] = open
		for _, t := range edges[v] {
			if state[t] == open {
				n := by[[2]*schema.Value{v, t}]
				w.add("lint/ref-recursive", n, "$ref", fmt.Sprintf("%s is in what it refers to", text.Clip(n.v.Get("$ref").Text(), 100)))
				return true
			}
			if state[t] == 0 && depth < maxRefs && visit(t, depth+1) {
				return true
			}
		}
		state[v] = done
		return false
	}
	for i := range w.refs { // in order, so that each run finds the same one
		if v := to[i]; v != nil && state[v] == 0 && visit(v, 0) {
			return
		}
	}
}
