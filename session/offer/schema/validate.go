package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Problem is one way in which a value violates its schema.
type Problem struct {
	Pointer string // RFC 6901, to the value (or to where it is missing)
	Keyword string // the keyword that is violated
	Message string // for people, without the place: "must be a whole number"
}

func (p Problem) String() string {
	if p.Pointer == "" {
		return p.Message
	}
	return p.Pointer + ": " + p.Message
}

// Sentence is the problem as people say it: "location is required".
func (p Problem) Sentence() string {
	return strings.TrimSpace(strings.TrimPrefix(p.Pointer, "/") + " " + p.Message)
}

// maxProblems bounds a list of problems; a wrong array of a million numbers needs no million lines.
const maxProblems = 1_000

// Validate checks v by the whole schema, formats included, and lists what is wrong in the order of pointers; nil means
// nothing is. What cannot be checked is in [Schema.Unchecked]. It may be called from any goroutine; the first call
// compiles the schema.
func (s *Schema) Validate(v *Value) []Problem {
	return s.ValidateChosen(v, nil)
}

// ValidateChosen is Validate for a value of which it is known what variants its parts are meant to be, as [Variant.Path] by
// the pointer of the part: of one that fits none, the problems are those of that variant.
func (s *Schema) ValidateChosen(v *Value, chosen map[string][]int) []Problem {
	problems, _ := s.check(v, chosen)
	return problems
}

// ValidateJSON is Validate for a JSON text. unchecked says in a sentence why the value was not checked, "" if it was; a
// text that is not JSON is a problem at the root.
func (s *Schema) ValidateJSON(raw []byte) (problems []Problem, unchecked string) {
	if len(raw) > MaxValidateBytes {
		return nil, fmt.Sprintf("the value has %d bytes, more than the %d that are checked", len(raw), MaxValidateBytes)
	}
	v, err := ParseValue(raw)
	if err != nil {
		return []Problem{{Message: "is not valid JSON: " + err.Error()}}, ""
	}
	return s.check(v, nil)
}

// Unchecked lists, in sentences, what Validate does not check about any value of this schema.
func (s *Schema) Unchecked() []string { return slices.Clone(s.loadCompiler().unchecked) }

// check is all kinds of Validate: problems in the order of pointers, each once, at most maxProblems; unchecked is a sentence on why the
// schema was not applied, "" when it was. Repeated keys are found without it.
func (s *Schema) check(v *Value, chosen map[string][]int) (problems []Problem, unchecked string) {
	c := s.loadCompiler()
	if !v.IsSet() {
		return []Problem{{Keyword: "required", Message: "there is no value yet"}}, ""
	}
	problems = repeatedKeys(v, nil, nil)
	if c.sch == nil {
		return problems, strings.Join(c.unchecked, "; ")
	}
	if v.size(MaxValidateBytes) > MaxValidateBytes {
		return problems, fmt.Sprintf("the value has more than the %d bytes that are checked", MaxValidateBytes)
	}
	if c.refs && s.cost(v) > MaxEvaluations {
		return problems, fmt.Sprintf("checking this value would take more than %d steps, because the schema's references multiply", MaxEvaluations)
	}
	found, err := run(c.sch, plain(v), chosen)
	if err != nil {
		return problems, err.Error()
	}
	problems = append(problems, found...)
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Pointer, b.Pointer) })
	problems = slices.CompactFunc(problems, func(a, b Problem) bool { return a == b })
	return problems[:min(len(problems), maxProblems)], ""
}

// run validates. The validator panics on some values and schemas that its compiler let through; that is an error, as is a schema
// that never ends. problems are then those of what was looked at, and do not count.
func run(sch *jsonschema.Schema, v any, chosen map[string][]int) (problems []Problem, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the validator gave up on this value: %v", r)
		}
	}()
	e := sch.Validate(v)
	var ve *jsonschema.ValidationError
	if e == nil || !errors.As(e, &ve) {
		return nil, e
	}
	w := problemWriter{chosen: chosen}
	w.walk(ve)
	return w.problems, w.err
}

// repeatedKeys reports keys that an object has more than once: parsers disagree about which one counts.
func repeatedKeys(v *Value, path []string, out []Problem) []Problem {
	if len(out) >= maxProblems {
		return out
	}
	var seen map[string]bool
	if v.Kind() == Object && v.Len() > 1 {
		seen = make(map[string]bool, v.Len())
	}
	for i, m := range v.Members() {
		if m.Value.Len() == 0 && v.Kind() == Array {
			continue
		}
		tok := m.Name
		if v.Kind() == Array {
			tok = fmt.Sprint(i)
		}
		at := append(path, tok) // shared on purpose: Pointer copies
		if seen != nil {
			if seen[m.Name] {
				out = append(out, Problem{Pointer: Pointer(at...), Message: "the key is there more than once; servers may take either"})
			}
			seen[m.Name] = true
		}
		if m.Value.Len() > 0 {
			out = repeatedKeys(m.Value, at, out)
		}
	}
	return out
}

// cost estimates how many subschema evaluations a validation takes. Without references it is at most the parts of the schema times
// those of the value, which MaxCompileNodes and MaxValidateBytes bound; a reference may be followed from many places, and so on below
// it, which multiplies. It is not less than what the validator does, which has no bound of its own.
func (s *Schema) cost(v *Value) int {
	e := estimator{s: s, memo: map[visit]int{}, props: map[*Value]map[string]*Value{}}
	return e.cost(part{node: s.doc}, v)
}

// estimator counts without evaluating. Every pair of a subschema and a value is counted once and its figure used again, which keeps
// the count itself cheap where an evaluation would not be.
type estimator struct {
	s     *Schema
	memo  map[visit]int                // evaluations below a pair; inProgress while it is being counted
	props map[*Value]map[string]*Value // members of properties by name
	total int                          // pairs counted; beyond MaxEvaluations nothing more is looked at
}

// inProgress marks a pair that is met again below itself.
const inProgress = -1

func (e *estimator) cost(p part, v *Value) int {
	if p.node.Kind() != Object || e.total > MaxEvaluations || !v.IsSet() {
		return 1
	}
	at := visit{p.node, v}
	if n, ok := e.memo[at]; ok {
		if n == inProgress {
			return 1 // a loop in place; the validator stops there too
		}
		return n
	}
	e.memo[at] = inProgress
	e.total++
	p.base = rebase(p.node, p.base)
	n := 1
	add := func(node, v *Value) {
		n = min(n+e.cost(part{node: node, base: p.base}, v), MaxEvaluations+1)
	}
	for _, m := range p.node.Members() {
		switch m.Name {
		case "$ref", "$dynamicRef", "$recursiveRef":
			if t, ok := e.s.resolve(p.base, m.Value.Text()); ok {
				n = min(n+e.cost(t, v), MaxEvaluations+1)
			}
		case "allOf", "anyOf", "oneOf":
			for _, k := range m.Value.Members() {
				add(k.Value, v)
			}
		case "not", "if", "then", "else":
			add(m.Value, v)
		case "dependentSchemas", "dependencies":
			for _, k := range m.Value.Members() {
				add(k.Value, v)
			}
		case "properties":
			index := e.index(m.Value)
			for _, k := range v.Members() {
				if sub := index[k.Name]; sub != nil && v.Kind() == Object {
					add(sub, k.Value)
				}
			}
		case "patternProperties":
			for _, pat := range m.Value.Members() {
				for _, k := range v.Members() {
					add(pat.Value, k.Value)
				}
			}
		case "additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems", "contains", "items", "prefixItems":
			subs := []Member{m}
			if m.Value.Kind() == Array {
				subs = m.Value.Members()
			}
			for i, k := range v.Members() {
				if m.Value.Kind() == Array {
					if i < len(subs) {
						add(subs[i].Value, k.Value)
					}
				} else {
					add(m.Value, k.Value)
				}
			}
		}
	}
	e.memo[at] = n
	return n
}

func (e *estimator) index(props *Value) map[string]*Value {
	if ix := e.props[props]; ix != nil {
		return ix
	}
	ix := props.index()
	e.props[props] = ix
	return ix
}
