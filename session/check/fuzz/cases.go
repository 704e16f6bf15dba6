package fuzz

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/mcphud/mcphud/session/check"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// maxChildren is how many properties of an object get values of their own.
const maxChildren = 100

// What a schema says of a value.
const (
	unclear   = iota // nobody can tell: a part of the schema is not checked
	allowed          // where it is refused, that is looked into
	forbidden        // it must not be accepted
)

// input is what one call is given.
type input struct {
	Value
	verdict int // of the schema
	// cause is what is wrong with a forbidden value, without what differs from one value to the next: "required /query".
	cause   string
	problem string // what the validator says of it, for people
	// problems is how many things are wrong. Shrinking must not add any: it would find another fault.
	problems int
}

// classify makes an input of a value, with what the schema says of it. A format alone forbids nothing: most readers take it as a remark (2020-12, section 7.2.1).
func (t *target) classify(v Value) input {
	in := input{Value: v, verdict: unclear}
	if !t.checked {
		return in
	}
	in.verdict = allowed
	checked := v.Value
	if !checked.IsSet() {
		checked = schema.ObjectValue()
	}
	raw := checked.JSON()
	problems, unchecked := t.schema.ValidateJSON(raw)
	if unchecked != "" {
		in.verdict = unclear
	}
	for _, p := range problems {
		if p.Keyword == "format" || t.kind == check.OfPrompt && p.Keyword == "additionalProperties" { // nothing forbids prompts more arguments
			if in.verdict == allowed {
				in.verdict = unclear
			}
			continue
		}
		if in.problems++; in.problems == 1 {
			in.verdict, in.cause, in.problem = forbidden, p.Keyword+" "+anyIndex(p.Pointer), p.String()
		}
	}
	if t.kind == check.OfPrompt && slices.ContainsFunc(v.Members(), func(m schema.Member) bool { return m.Value.Text() == "" }) && in.verdict == allowed {
		in.verdict = unclear // to many an empty argument is none, and prompts have no schema that says otherwise
	}
	return in
}

// anyIndex is a pointer with * in place of the indices.
func anyIndex(pointer string) string {
	path, ok := schema.SplitPointer(pointer)
	if !ok {
		return pointer
	}
	for i, p := range path {
		if p != "" && p[0] <= '9' && p[0] >= '0' {
			path[i] = "*"
		}
	}
	return schema.Pointer(path...)
}

// newRand returns a random source for a seed and a purpose, so that a target's calls are the same whatever
// other targets there are.
func newRand(seed uint64, of ...string) *rand.Rand {
	h := fnv.New64a()
	for _, s := range of {
		_, _ = h.Write([]byte(s + "\x00")) // a hash takes everything
	}
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// plan makes the inputs of a target, at most n, each once: plain ones first, then valid and wrong ones in turn, with odd ones between them. It
// follows from the seed, the target and the pool. How a value was made does not say what it is: each is validated.
func (t *target) plan(seed uint64, p *Pool, n int) []input {
	rng := newRand(seed, t.kind, t.name)
	root := t.schema.Root()
	base := t.base(rng, p)
	valid := []Value{{Value: nil, What: "no arguments"}, {Value: base, What: "an example"}}
	add := func(v Value) { valid = append(valid, v) }
	if plain := NewGenerator(rng, p).Object(root, 0, false); plain != nil {
		add(Value{Value: plain, What: "what is required"})
	}
	for _, o := range NewGenerator(rng, p).Values(root, "", 0) {
		add(o)
	}
	var single []Value
	children := Sample(rng, root.Active(base).Children(base), maxChildren)
	for _, c := range children {
		if !c.Allowed {
			continue
		}
		for _, v := range NewGenerator(rng, p).Share(len(children)).Values(c.Field(), c.Name, 1) {
			single = append(single, Value{Value: base.Set([]string{c.Name}, v.Value), What: schema.Pointer(c.Name) + " " + v.What})
		}
	}
	rng.Shuffle(len(single), func(i, j int) { single[i], single[j] = single[j], single[i] })
	valid = append(valid, single...)
	wrong := Broken(root, base)
	if t.kind == check.OfTool {
		wrong = append(wrong, Value{Value: schema.ArrayValue(), What: "arguments are an array"}, Value{Value: schema.StringValue("text"), What: "arguments are a string"})
	}
	rng.Shuffle(len(wrong), func(i, j int) { wrong[i], wrong[j] = wrong[j], wrong[i] })
	odd := Extremes(root, base)
	rng.Shuffle(len(odd), func(i, j int) { odd[i], odd[j] = odd[j], odd[i] })

	var out []input
	seen := map[string]bool{}
	take := func(from *[]Value) {
		for len(*from) > 0 {
			v := (*from)[0]
			*from = (*from)[1:]
			key := string(v.JSON())
			if seen[key] {
				continue
			}
			seen[key] = true
			out = append(out, t.classify(v))
			return
		}
	}
	turns := []*[]Value{&valid, &wrong, &valid, &wrong, &odd}
	for len(out) < n && slices.ContainsFunc(turns, func(l *[]Value) bool { return len(*l) > 0 }) {
		for _, l := range turns {
			take(l)
		}
	}
	return First(out, n)
}

// base is a value that the schema allows, as far as one can be made: an example, and where the schema refuses a part of that, other values
// there.
func (t *target) base(rng *rand.Rand, p *Pool) *schema.Value {
	root := t.schema.Root()
	g := NewGenerator(rng, p)
	// Each is mended member by member, by the first thing that is wrong with it; the last resort is an object without members.
	for _, v := range []*schema.Value{root.Example(), g.Object(root, 0, true), g.Object(root, 0, false), root.Skeleton()} {
		if v.Kind() != schema.Object {
			continue
		}
		for range 20 {
			in := t.classify(Value{Value: v})
			if in.verdict != forbidden {
				return v
			}
			problems, _ := t.schema.ValidateJSON(v.JSON())
			path, ok := schema.SplitPointer(problems[0].Pointer)
			if !ok || len(path) == 0 {
				break
			}
			of := NewGenerator(rng, p).Values(root.Active(v).Property(path[0]), path[0], 1)
			if len(of) == 0 {
				v = v.Delete(path[0])
				continue
			}
			v = v.Set(path[:1], of[rng.IntN(len(of))].Value)
		}
	}
	return schema.ObjectValue()
}
