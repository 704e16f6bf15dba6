package schema

import (
	"math/big"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// wellFormed reports whether keywords understands a keyword, and its value is what it has to be. A validator leaves a malformed one out.
func wellFormed(kw string, v *Value) (known, ok bool) {
	switch kw {
	case "type", "nullable", "const":
		return true, true
	case "enum", "anyOf", "oneOf", "prefixItems":
		return true, v.Kind() == Array
	case "required":
		return true, v.Kind() == Array && len(nameSet(v)) == v.Len()
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return true, v.Kind() == Number
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return true, v.Kind() == Number && isInteger(v.raw) && ratOf(v.raw).Sign() >= 0
	case "pattern", "format":
		return true, v.Kind() == String
	case "uniqueItems":
		return true, v.Kind() == Bool
	case "properties", "patternProperties":
		return true, v.Kind() == Object
	case "items":
		return true, v.Kind() == Object || v.Kind() == Bool || v.Kind() == Array
	case "additionalItems", "additionalProperties", "propertyNames":
		return true, v.Kind() == Object || v.Kind() == Bool
	}
	return false, true
}

// keywords compares two views, keyword by keyword.
func (c *comparer) keywords(x, y view, at place) {
	c.texts(x, y, at)
	c.compareUnevaluated([]view{x}, []view{y}, at)
	if c.compareUnion(x, y, at) {
		return
	}
	odd := c.compareUnknown(x, y, at)
	tx, okx := x.types()
	ty, oky := y.types()
	if x.never != y.never {
		if y.never {
			c.narrows(at, "", "no value is accepted any more")
		} else {
			c.widens(at, "", "values are accepted, where none was")
		}
		return
	}
	if x.never {
		return
	}
	if (!okx || !oky) && !odd["type"] && !Equal(x.get("type"), y.get("type")) {
		c.addUnsure(at.schema("type"), "type", "type changed, and is not one of JSON Schema's")
	}
	c.types(x, y, tx, ty, at)
	c.values(x, y, tx, ty, at)
	both := tx & ty
	if both.Has(TypeInteger | TypeNumber) {
		c.numbers(x, y, tx, ty, at)
	}
	if both.Has(TypeString) {
		c.strings(x, y, at)
	}
	if both.Has(TypeArray) {
		c.arrays(x, y, at)
	}
	if both.Has(TypeObject) {
		c.object(x, y, at)
	}
	for _, kw := range []string{"anyOf", "oneOf"} {
		xs, ys := x.get(kw), y.get(kw)
		switch {
		case xs.Kind() == Array && ys.Kind() == Array && xs.Len() > 0 && ys.Len() > 0:
			if !c.same(xs, ys) {
				c.union(branches(x, kw), branches(y, kw), kw == "oneOf", at.schema(kw))
			}
		case ys.Len() > 0:
			c.add(at.schema(kw), ConstraintChanged, kw, Narrows, false, "must fit one of %d variants", ys.Len())
		case xs.Len() > 0:
			c.add(at.schema(kw), ConstraintChanged, kw, Widens, false, "need not fit one of %d variants", xs.Len())
		}
	}
}

// compareUnevaluated reports that something changed beside keywords that look at what others left, or above them.
func (c *comparer) compareUnevaluated(xs, ys []view, at place) {
	looks := func(v view) bool { return v.get("unevaluatedProperties").IsSet() || v.get("unevaluatedItems").IsSet() }
	if !slices.ContainsFunc(xs, looks) && !slices.ContainsFunc(ys, looks) {
		return
	}
	differ := len(xs) != len(ys)
	for i := range min(len(xs), len(ys)) {
		for _, kw := range append(slices.Clip(xs[i].order), ys[i].order...) {
			differ = differ || !isAnnotation(kw) && !c.same(xs[i].get(kw), ys[i].get(kw))
		}
	}
	if differ {
		c.addUnsure(at, "unevaluatedProperties", "what changed counts for unevaluatedProperties or unevaluatedItems, too")
	}
}

// texts compares what is for people, and the default.
func (c *comparer) texts(x, y view, at place) {
	for _, kw := range []string{"title", "description", "examples", "example", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType"} {
		if a, b := x.get(kw), y.get(kw); !Equal(a, b) {
			c.add(at.schema(kw), TextChanged, kw, 0, true, "%s", Became(kw, a, b))
		}
	}
	if a, b := x.get("default"), y.get("default"); !Equal(a, b) {
		c.add(at.schema("default"), DefaultChanged, "default", 0, true, "%s", Became("default", a, b))
	}
}

// Became says in a few words how a value of that name changed; one that is not set was added or removed.
func Became(what string, a, b *Value) string {
	switch {
	case !a.IsSet():
		return what + " " + clip(b) + " added"
	case !b.IsSet():
		return what + " " + clip(a) + " removed"
	}
	return what + " " + clip(a) + " → " + clip(b)
}

func clip(v *Value) string { return text.Clip(string(v.JSON()), maxClip) }

// compareUnknown reports keywords that are not compared, or not what they should be, and changed.
func (c *comparer) compareUnknown(x, y view, at place) (odd map[string]bool) {
	odd = map[string]bool{}
	check := func(kw string) {
		a, b := x.get(kw), y.get(kw)
		if odd[kw] || isAnnotation(kw) {
			return
		}
		known, oka := wellFormed(kw, a)
		_, okb := wellFormed(kw, b)
		if known && (oka || !a.IsSet()) && (okb || !b.IsSet()) {
			return
		}
		odd[kw] = true
		if c.same(a, b) {
			return
		}
		effect := Narrows | Widens
		switch kw { // a constraint more, or one less
		case "not", "dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems":
			switch {
			case !a.IsSet():
				effect = Narrows
			case !b.IsSet():
				effect = Widens
			}
		}
		c.add(at.schema(kw), ConstraintChanged, kw, effect, false, "%s", Became(kw, a, b))
	}
	for _, kw := range x.order {
		check(kw)
	}
	for _, kw := range y.order {
		check(kw)
	}
	return odd
}

// types compares the types that are left. Where one side lists its values and the change goes that way, values words it better.
func (c *comparer) types(x, y view, tx, ty TypeSet, at place) {
	lost, gained := tx&^ty, ty&^tx
	if lost == 0 && gained == 0 {
		return
	}
	if _, finite := y.values(); finite && gained == 0 {
		return // values says so
	}
	if _, finite := x.values(); finite && lost == 0 {
		return
	}
	var effect Effect
	if lost != 0 {
		effect |= Narrows
	}
	if gained != 0 {
		effect |= Widens
	}
	c.add(at.schema("type"), ConstraintChanged, "type", effect, true, "type %s → %s", tx, ty)
}

// values compares enum and const.
func (c *comparer) values(x, y view, tx, ty TypeSet, at place) {
	xs, fx := x.values()
	ys, fy := y.values()
	xs, ys = valuesOfTypes(xs, tx), valuesOfTypes(ys, ty)
	if fy && !fx { // true, false and null can be listed, too
		xs, fx = allOf(tx)
	} else if fx && !fy {
		ys, fy = allOf(ty)
	}
	kw := "enum"
	if x.get("const").IsSet() || y.get("const").IsSet() {
		kw = "const"
	}
	here := at.schema(kw)
	switch {
	case fx && fy:
		if lost := subtractValues(xs, ys); lost != nil {
			c.narrows(here, kw, "no longer accepts %s", listValues(lost))
		}
		if gained := subtractValues(ys, xs); gained != nil {
			c.widens(here, kw, "also accepts %s", listValues(gained))
		}
	case fy:
		c.narrows(here, kw, "accepts only %s", listValues(ys))
	case fx:
		c.widens(here, kw, "accepts more than %s", listValues(xs))
	}
}

// allOf lists the values of some types, where these have few.
func allOf(set TypeSet) (vals []*Value, finite bool) {
	if set == 0 || set&^(TypeNull|TypeBoolean) != 0 {
		return nil, false
	}
	return valuesOfTypes([]*Value{trueValue, falseValue, nullValue}, set), true
}

// valuesOfTypes are those of some types.
func valuesOfTypes(vals []*Value, set TypeSet) []*Value {
	return slices.DeleteFunc(slices.Clone(vals), func(v *Value) bool { return !set.Has(typeOf(v)) })
}

// subtractValues are the values of a that b does not have.
func subtractValues(a, b []*Value) (out []*Value) {
	if len(a)*len(b) > 4_000_000 { // rather by their text
		has := make(map[string]bool, len(b))
		for _, v := range b {
			has[string(v.JSON())] = true
		}
		return slices.DeleteFunc(slices.Clone(a), func(v *Value) bool { return has[string(v.JSON())] })
	}
	for _, v := range a {
		if !slices.ContainsFunc(b, func(w *Value) bool { return Equal(v, w) }) {
			out = append(out, v)
		}
	}
	return out
}

func listValues(vals []*Value) string {
	var out []string
	for i, v := range vals {
		if i == 5 {
			out = append(out, "…")
			break
		}
		out = append(out, clip(v))
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

// counts compares a pair of bounds that count something.
func (c *comparer) counts(x, y view, at place, least, most string) {
	c.limit(at, least, x.get(least), y.get(least), true)
	c.limit(at, most, x.get(most), y.get(most), false)
}

// limit compares one bound; lower says that values below it are refused.
func (c *comparer) limit(at place, kw string, a, b *Value, lower bool) {
	if _, ok := wellFormed(kw, a); !ok {
		a = nil
	}
	if _, ok := wellFormed(kw, b); !ok {
		b = nil
	}
	if lower { // at least 0 says nothing
		if a != nil && ratOf(a.raw).Sign() <= 0 {
			a = nil
		}
		if b != nil && ratOf(b.raw).Sign() <= 0 {
			b = nil
		}
	}
	switch {
	case a == nil && b == nil, a != nil && b != nil && compare(a.raw, b.raw) == 0:
	case a == nil, b != nil && (compare(b.raw, a.raw) > 0) == lower:
		c.narrows(at.schema(kw), kw, "%s", Became(kw, a, b))
	default:
		c.widens(at.schema(kw), kw, "%s", Became(kw, a, b))
	}
}

// edge is a bound of numbers.
type edge struct {
	n    *big.Rat
	open bool   // n itself is refused
	from *Value // as it is written
	kw   string // that it comes from
}

// edgeOf is the stricter of two bounds, nil for none. Of whole numbers it is one that is accepted.
func edgeOf(v view, plain, exclusive string, lower, whole bool) *edge {
	var e *edge
	for _, kw := range []string{plain, exclusive} {
		k := v.get(kw)
		if k.Kind() != Number {
			continue
		}
		n := &edge{ratOf(k.raw), kw == exclusive, k, kw}
		if whole {
			n.settle(lower)
		}
		if d := 0; e != nil {
			d = n.n.Cmp(e.n)
			if !lower {
				d = -d
			}
			if d < 0 || d == 0 && !n.open {
				continue
			}
		}
		e = n
	}
	return e
}

// settle makes a bound of whole numbers one that is accepted.
func (e *edge) settle(lower bool) {
	one := big.NewRat(1, 1)
	if !lower {
		one.Neg(one)
	}
	if e.n.IsInt() {
		if e.open {
			e.n.Add(e.n, one)
		}
	} else {
		q := new(big.Int).Div(e.n.Num(), e.n.Denom()) // rounds down, as the denominator is positive
		if lower {
			q.Add(q, big.NewInt(1))
		}
		e.n.SetInt(q)
	}
	e.open = false
}

// numbers compares bounds by what they accept, not by how they are written: for whole numbers exclusiveMinimum 0 is minimum 1.
func (c *comparer) numbers(x, y view, tx, ty TypeSet, at place) {
	whole := !tx.Has(TypeNumber) && !ty.Has(TypeNumber)
	for _, lower := range []bool{true, false} {
		plain, exclusive := "maximum", "exclusiveMaximum"
		if lower {
			plain, exclusive = "minimum", "exclusiveMinimum"
		}
		if x.get(exclusive).Kind() == Bool || y.get(exclusive).Kind() == Bool { // draft-04; unknown reports a change of it
			if !Equal(x.get(plain), y.get(plain)) {
				c.addUnsure(at.schema(plain), plain, "%s", Became(plain, x.get(plain), y.get(plain)))
			}
			continue
		}
		a, b := edgeOf(x, plain, exclusive, lower, whole), edgeOf(y, plain, exclusive, lower, whole)
		switch {
		case a == nil && b == nil:
		case a == nil:
			c.narrows(at.schema(b.kw), b.kw, "%s", Became(b.kw, nil, b.from))
		case b == nil:
			c.widens(at.schema(a.kw), a.kw, "%s", Became(a.kw, a.from, nil))
		default:
			d := b.n.Cmp(a.n)
			if !lower {
				d = -d
			}
			if d == 0 && a.open != b.open {
				d = -1
				if b.open {
					d = 1
				}
			}
			msg := Became(b.kw, a.from, b.from)
			if a.kw != b.kw {
				msg = a.kw + " " + clip(a.from) + " → " + b.kw + " " + clip(b.from)
			}
			if d > 0 {
				c.narrows(at.schema(b.kw), b.kw, "%s", msg)
			} else if d < 0 {
				c.widens(at.schema(b.kw), b.kw, "%s", msg)
			}
		}
	}
	c.multiples(x.get("multipleOf"), y.get("multipleOf"), at.schema("multipleOf"))
}

// multiples compares multipleOf: a multiple of the old one accepts less, a divisor more, anything else both.
func (c *comparer) multiples(a, b *Value, at place) {
	ok := func(v *Value) bool { return v.Kind() == Number && ratOf(v.raw).Sign() > 0 }
	switch {
	case Equal(a, b):
	case !ok(a) && !ok(b):
		c.addUnsure(at, "multipleOf", "%s", Became("multipleOf", a, b))
	case !ok(a):
		c.narrows(at, "multipleOf", "%s", Became("multipleOf", a, b))
	case !ok(b):
		c.widens(at, "multipleOf", "%s", Became("multipleOf", a, b))
	case new(big.Rat).Quo(ratOf(b.raw), ratOf(a.raw)).IsInt():
		c.narrows(at, "multipleOf", "%s", Became("multipleOf", a, b))
	case new(big.Rat).Quo(ratOf(a.raw), ratOf(b.raw)).IsInt():
		c.widens(at, "multipleOf", "%s", Became("multipleOf", a, b))
	default:
		c.add(at, ConstraintChanged, "multipleOf", Narrows|Widens, true, "%s", Became("multipleOf", a, b))
	}
}

func (c *comparer) strings(x, y view, at place) {
	c.counts(x, y, at, "minLength", "maxLength")
	for _, kw := range []string{"pattern", "format"} {
		a, b := x.get(kw), y.get(kw)
		here := at.schema(kw)
		switch {
		case Equal(a, b):
		case kw == "format": // whether formats are checked is up to the validator
			effect := Narrows | Widens
			if !a.IsSet() {
				effect = Narrows
			} else if !b.IsSet() {
				effect = Widens
			}
			c.add(here, ConstraintChanged, kw, effect, false, "%s", Became(kw, a, b))
		case !a.IsSet():
			c.narrows(here, kw, "%s", Became(kw, a, b))
		case !b.IsSet():
			c.widens(here, kw, "%s", Became(kw, a, b))
		default:
			c.addUnsure(here, kw, "%s", Became(kw, a, b))
		}
	}
}

// arrays compares elements one by one as far as either tuple goes, and then the rest.
func (c *comparer) arrays(x, y view, at place) {
	c.counts(x, y, at, "minItems", "maxItems")
	if a, b := x.get("uniqueItems").Bool(), y.get("uniqueItems").Bool(); a != b {
		if b {
			c.narrows(at.schema("uniqueItems"), "uniqueItems", "must not have equal items")
		} else {
			c.widens(at.schema("uniqueItems"), "uniqueItems", "may have equal items")
		}
	}
	xt, xr := x.tuple()
	yt, yr := y.tuple()
	for i := range max(len(xt), len(yt)) {
		a, b := xr, yr
		if i < len(xt) {
			a = xt[i].Value
		}
		if i < len(yt) {
			b = yt[i].Value
		}
		c.compare(x.sub(a), y.sub(b), at.items("prefixItems", itoa(i)))
	}
	c.compare(x.sub(xr), y.sub(yr), at.items("items"))
}

// tuple is prefix for the keywords of a view.
func (v view) tuple() (tuple []Member, rest *Value) {
	return prefix(&Value{kind: Object, kids: []Member{{Name: "prefixItems", Value: v.get("prefixItems")}, {Name: "items", Value: v.get("items")}, {Name: "additionalItems", Value: v.get("additionalItems")}}})
}
