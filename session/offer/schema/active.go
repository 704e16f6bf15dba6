package schema

import (
	"maps"
	"slices"

	"github.com/mcphud/mcphud/session/base/text"
)

// maxActive bounds the fields that are kept of one place for the ways in which its conditions can turn out.
const maxActive = 1_000

// Active returns f as it is when its value is v: with the then or else of every if, the dependentSchemas and the
// dependentRequired that apply. It is f itself when nothing depends on the value, and the same field again for values
// that decide alike.
func (f *Field) Active(v *Value) *Field {
	cur := f
	key := make([]byte, 0, 16)
	for range 16 { // a then may bring an if of its own
		if len(cur.conds) == 0 {
			break
		}
		resolved := maps.Clone(cur.resolved)
		if resolved == nil {
			resolved = map[*Value]bool{}
		}
		var extra []part
		for _, c := range cur.conds {
			resolved[c.id] = true
			yes := c.yes
			holds := c.byName && v.Get(c.present).IsSet() || !c.byName && f.s.matches(c.test, v)
			key = append(key, '1')
			if !holds {
				yes, key[len(key)-1] = c.no, '0'
			}
			if yes.IsSet() {
				extra = append(extra, part{node: yes, base: c.base})
			}
		}
		key = append(key, '/')
		next := f.active[string(key)]
		if next == nil { // the verdicts so far decide all that follows, so they are the key
			next = cur.merge(extra, resolved)
			for name := range next.required {
				if _, before := f.required[name]; !before && next.required[name] == "" {
					next.required[name] = "given the other values"
				}
			}
			if len(f.active) > maxActive { // each value that a person types may decide otherwise
				f.active = nil
			}
			if f.active == nil {
				f.active = map[string]*Field{}
			}
			f.active[string(key)] = next
		}
		cur = next
	}
	return cur.withNeeds(v)
}

// withNeeds marks what dependentRequired asks for. The children of the two fields are the same, so that their caches are shared:
// they are made here before the copy is, as a map made later by one would not be the other's.
func (f *Field) withNeeds(v *Value) *Field {
	if len(f.needs) == 0 || v.Kind() != Object {
		return f
	}
	key := make([]byte, 1, len(f.needs)+1)
	key[0] = 'n'
	for _, n := range f.needs {
		bit := byte('0')
		if v.Get(n.trigger).IsSet() {
			bit = '1'
		}
		key = append(key, bit)
	}
	if out := f.active[string(key)]; out != nil {
		return out
	}
	if f.kids == nil {
		f.kids = map[string]*Field{}
	}
	if f.active == nil || len(f.active) > maxActive {
		f.active = map[string]*Field{}
	}
	out := *f
	out.required, out.needed = maps.Clone(f.required), slices.Clone(f.needed)
	for i, n := range f.needs {
		for _, name := range n.names {
			if key[i+1] == '1' {
				out.require(name, "because "+text.Clip(n.trigger, 60)+" is given")
			}
		}
	}
	f.active[string(key)] = &out
	return &out
}

// Conditional reports whether Active depends on the value at all.
func (f *Field) Conditional() bool { return len(f.conds) > 0 || len(f.needs) > 0 }
