package schema

import (
	"fmt"
	"slices"

	"github.com/mcphud/mcphud/session/base/text"
)

// Effect is what a change does to the values that a schema accepts, as bits. The zero Effect does nothing to them.
type Effect uint8

// The effects.
const (
	Narrows Effect = 1 << iota // values that were accepted are refused
	Widens                     // values that were refused are accepted
)

// ChangeKind says what a change is about.
type ChangeKind uint8

// The kinds of changes.
const (
	ConstraintChanged ChangeKind = iota
	PropertyAdded                // that the schema declares
	PropertyRemoved
	TextChanged // title, description, examples: nothing that a validator looks at
	DefaultChanged
)

// Change is one difference between two versions of a schema.
type Change struct {
	Kind    ChangeKind
	Pointer string // to the keyword: in the later schema, in the earlier one where it is gone
	Path    string // of the value, as people write it: filter.tags[]; "" for the whole
	Keyword string // that changed; "" for the schema as a whole
	Effect  Effect // on the values at Path
	Sure    bool   // of Effect; else values may be refused or accepted
	Message string // for people, without the place: "became required"
}

// Bounds of one comparison: tools are compared whenever a list comes, many at a time, and both versions are the server's. What is
// beyond one of them is a change that is not Sure, never none.
const (
	maxChangeSteps = 10_000 // pairs of subschemas that are compared
	maxChangeDepth = 200    // subschemas within each other
	maxConjuncts   = 64     // subschemas that apply to one place, through $ref and allOf
	maxBranches    = 64     // of a union on either side: each of one is compared with each of the other
	maxChanges     = 500    // of one schema
	maxClip        = 60     // bytes of a value in a message
)

// tooLarge is the message of a comparison that was given up; Changes finds its own by it, to say it once.
const tooLarge = "is too large to be compared as a whole"

// Changes lists what changed from one version of a schema to another. It is cautious: where no change Narrows, every value that before
// accepts is accepted by after, and where none Widens the other way round; what it cannot decide is a change of both that is not Sure.
// There is one exception: a property that is declared in an object which said nothing of additional ones (PropertyAdded, without
// an Effect) may refuse what was accepted under a name that nothing declared.
func Changes(before, after *Schema) []Change {
	switch {
	case before.err != nil || after.err != nil:
		if string(before.raw) == string(after.raw) {
			return nil
		}
		return []Change{{Effect: Narrows | Widens, Message: "cannot be read as a schema, and changed"}}
	case Equal(before.doc, after.doc):
		return nil
	}
	c := &comparer{a: before, b: after, steps: maxChangeSteps}
	c.still = !c.refers(before.doc, 0) && !c.refers(after.doc, 0)
	if !c.still && Equal(before.doc.Get("$defs"), after.doc.Get("$defs")) && Equal(before.doc.Get("definitions"), after.doc.Get("definitions")) {
		c.still = c.isLocal(before) && c.isLocal(after)
	}
	if before.legacy != after.legacy {
		c.addUnsure(place{}, "$schema", "the dialect of the schema changed")
	}
	c.compare(part{node: before.doc}, part{node: after.doc}, place{})
	if c.over {
		c.out = slices.DeleteFunc(c.out, func(ch Change) bool { return ch.Message == tooLarge })
		c.addUnsure(place{}, "", tooLarge)
	}
	return c.out
}

// comparer compares two documents.
type comparer struct {
	a, b  *Schema // before and after
	steps int     // that are left
	still bool    // what references lead to did not change
	over  bool    // steps were too few
	stack []pair  // what is being compared, outermost first: a pair within itself adds nothing
	out   []Change
}

// pair is two subschemas by identity.
type pair struct{ a, b *Value }

// place is where in the schema and in the value something is.
type place struct {
	pointer []string // as Change.Pointer; never changed in place, as places share it
	path    string   // as Change.Path
}

func (p place) schema(tokens ...string) place {
	return place{append(slices.Clip(p.pointer), tokens...), p.path}
}

func (p place) property(name string) place {
	path := name
	if p.path != "" {
		path = p.path + "." + name
	}
	return place{append(slices.Clip(p.pointer), "properties", name), path}
}

func (p place) items(tokens ...string) place {
	q := p.schema(tokens...)
	q.path += "[]"
	return q
}

func (c *comparer) add(at place, kind ChangeKind, keyword string, effect Effect, sure bool, format string, args ...any) {
	switch n := len(c.out); {
	case n > maxChanges:
		return
	case n == maxChanges: // the last one has every effect, so that nothing is taken for compatible that was not looked at
		c.over, c.steps = true, 0
		at, kind, keyword, effect, sure, format, args = place{}, ConstraintChanged, "", Narrows|Widens, false, tooLarge, nil
	}
	c.out = append(c.out, Change{kind, Pointer(at.pointer...), text.Clip(at.path, 200), keyword, effect, sure, fmt.Sprintf(format, args...)})
}

func (c *comparer) narrows(at place, keyword, format string, args ...any) {
	c.add(at, ConstraintChanged, keyword, Narrows, true, format, args...)
}

func (c *comparer) widens(at place, keyword, format string, args ...any) {
	c.add(at, ConstraintChanged, keyword, Widens, true, format, args...)
}

func (c *comparer) addUnsure(at place, keyword, format string, args ...any) {
	c.add(at, ConstraintChanged, keyword, Narrows|Widens, false, format, args...)
}

// refers reports whether there is a reference below v.
func (c *comparer) refers(v *Value, depth int) bool {
	if depth > maxChangeDepth {
		return true
	}
	for _, m := range v.Members() {
		if v.Kind() == Object && (m.Name == "$ref" || m.Name == "$dynamicRef" || m.Name == "$recursiveRef") || c.refers(m.Value, depth+1) {
			return true
		}
	}
	return false
}

// isLocal reports whether all references lead to definitions of the document itself.
func (c *comparer) isLocal(s *Schema) bool {
	ok := true
	var walk func(v *Value, depth int)
	walk = func(v *Value, depth int) {
		if depth > maxChangeDepth {
			ok = false
		}
		if !ok {
			return
		}
		for _, m := range v.Members() {
			switch {
			case v.Kind() != Object:
			case m.Name == "$ref":
				path, is := SplitPointer(trimHash(m.Value.Text()))
				ok = ok && is && len(path) == 2 && (path[0] == "$defs" || path[0] == "definitions")
			case m.Name == "$dynamicRef" || m.Name == "$recursiveRef" || m.Name == "$id":
				ok = false
			}
			walk(m.Value, depth+1)
		}
	}
	walk(s.doc, 0)
	return ok
}

// trimHash is the pointer of a reference within the document.
func trimHash(ref string) string {
	if len(ref) > 0 && ref[0] == '#' {
		return decodeFragment(ref[1:])
	}
	return "-" // not a pointer
}

// same reports that two subschemas mean the same.
func (c *comparer) same(a, b *Value) bool {
	return Equal(a, b) && (c.still || !c.refers(a, 0))
}

// compare compares what two parts accept.
func (c *comparer) compare(a, b part, at place) {
	a, b = follow(c.a, a), follow(c.b, b)
	if c.same(a.node, b.node) && a.base == b.base {
		return
	}
	if c.steps--; c.steps < 0 || len(c.stack) > maxChangeDepth {
		if c.over = true; effects(c.out) != Narrows|Widens { // whoever tries it has to know
			c.addUnsure(at, "", tooLarge)
		}
		return
	}
	on := pair{a.node, b.node}
	if a.node != nil && b.node != nil && slices.Contains(c.stack, on) {
		return // it is being compared
	}
	c.stack = append(c.stack, on)
	defer func() { c.stack = c.stack[:len(c.stack)-1] }()

	xs, xok := conjuncts(c.a, a)
	ys, yok := conjuncts(c.b, b)
	switch {
	case !xok || !yok:
		c.addUnsure(at, "$ref", "has references that cannot be followed, and changed")
	case len(xs) == 1 && len(ys) == 1:
		c.keywords(xs[0], ys[0], at)
	default:
		c.conjunctions(xs, ys, at)
	}
}

// follow is what a schema refers to that is nothing else than a reference.
func follow(s *Schema, p part) part {
	for range maxRefHops {
		ref := p.node.Get("$ref")
		if ref.Kind() != String || p.node.Len() != 1 {
			break
		}
		t, ok := s.resolve(p.base, ref.Text())
		if !ok {
			break
		}
		p = t
	}
	return p
}

// conjunctions compares what has to be satisfied together, and cannot be written as one. What it finds is never sure: one of the others
// may say the same.
func (c *comparer) conjunctions(xs, ys []view, at place) {
	from := len(c.out)
	c.compareUnevaluated(xs, ys, at)
	for i := range min(len(xs), len(ys)) {
		c.keywords(xs[i], ys[i], at)
	}
	for i := range c.out[from:] {
		c.out[from+i].Sure = false
	}
	switch {
	case len(ys) > len(xs):
		c.add(at, ConstraintChanged, "allOf", Narrows, false, "must satisfy more schemas at once")
	case len(ys) < len(xs):
		c.add(at, ConstraintChanged, "allOf", Widens, false, "must satisfy fewer schemas at once")
	}
}

// try runs f without keeping what it adds, and returns that.
func (c *comparer) try(f func()) []Change {
	kept := c.out
	c.out = nil
	f()
	found := c.out
	c.out = kept
	return found
}

// effects is what changes do together.
func effects(changes []Change) (all Effect) {
	for _, ch := range changes {
		all |= ch.Effect
	}
	return all
}
