package schema

import (
	"fmt"
	"slices"
	"strings"
)

// CoerceArgs builds an object from command-line arguments: key=value is coerced by the schema, key:=json is taken as
// JSON, and keys may be nested (a.b[0]=x, a[]=x appends; a backslash keeps a dot or bracket literal, and a key that the
// schema declares as it stands is that property). Given keys are set on base, which may be unset. Repeating a key whose
// field is an array appends to it. The error is a *[CoerceError].
func (s *Schema) CoerceArgs(base *Value, args []string) (*Value, error) {
	out := base
	if !out.IsSet() {
		out = emptyObject
	}
	given := map[string]bool{}
	for _, arg := range args {
		key, text, asJSON, err := splitArg(arg)
		if err != nil {
			return nil, err
		}
		steps, err := s.steps(key)
		if err != nil {
			return nil, err
		}
		if out, err = s.apply(out, key, steps, text, asJSON, given); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// splitArg cuts key=value or key:=json at the first unescaped equals sign.
func splitArg(arg string) (key, text string, asJSON bool, err error) {
	for i := 0; i < len(arg); i++ {
		switch arg[i] {
		case '\\':
			i++
		case '=':
			key, text = arg[:i], arg[i+1:]
			if strings.HasSuffix(key, ":") {
				key, asJSON = key[:len(key)-1], true
			}
			if key == "" {
				return "", "", false, &CoerceError{Text: arg, Want: "needs a name before the equals sign, such as name=value"}
			}
			return key, text, asJSON, nil
		}
	}
	return "", "", false, &CoerceError{Text: arg, Want: "needs the form name=value or name:=json"}
}

// step is one part of a nested key.
type step struct {
	name  string // of a property; for an element, apply writes its index here
	index int    // of an element; -1 to append
	elem  bool   // an index rather than a name
}

// steps reads a nested key. A key that the root declares as it stands wins over its parts: dots in names are common.
func (s *Schema) steps(key string) ([]step, error) {
	if s.root.Declares(key) {
		return []step{{name: key}}, nil
	}
	var out []step
	var name strings.Builder
	bad := func(want string) ([]step, error) { return nil, &CoerceError{Key: key, Text: key, Want: want} }
	pending := true // a name is expected or being read
	flush := func() {
		if pending {
			out = append(out, step{name: name.String()})
			name.Reset()
			pending = false
		}
	}
	for i := 0; i < len(key); i++ {
		switch c := key[i]; c {
		case '\\':
			if i++; i < len(key) {
				name.WriteByte(key[i])
			}
		case '.':
			flush()
			pending = true
		case '[':
			flush()
			end := strings.IndexByte(key[i:], ']')
			if end < 0 {
				return bad("has an opening bracket that is never closed")
			}
			text := key[i+1 : i+end]
			st := step{elem: true, index: -1}
			if text != "" {
				n, ok := arrayIndex(text)
				if !ok || n > maxArrayIndex {
					return bad(fmt.Sprintf("needs an index from 0 to %d in its brackets", maxArrayIndex))
				}
				st.index = n
			}
			out = append(out, st)
			i += end
		default:
			if !pending {
				return bad("needs a dot between a bracket and the next name")
			}
			name.WriteByte(c)
		}
		if len(out) > 100 {
			return bad("is nested more than 100 levels deep")
		}
	}
	flush()
	return out, nil
}

// apply sets one argument. given remembers array fields that this command line filled, to which a repeated key appends.
func (s *Schema) apply(root *Value, key string, steps []step, text string, asJSON bool, given map[string]bool) (*Value, error) {
	f, path, cur := s.root, make([]string, 0, len(steps)), root
	for i, st := range steps {
		f = f.at(cur)
		if st.elem {
			if cur.IsSet() && cur.Kind() != Array && cur.Kind() != Null {
				return nil, &CoerceError{Key: key, Text: text, Want: fmt.Sprintf("has an index into what is %s already", cur.Kind())}
			}
			list := values(cur)
			if st.index < 0 {
				st.index = len(list)
			}
			for len(list) < st.index { // elements left out are null until they are given
				list = append(list, nullValue)
			}
			if cur.Kind() != Array || len(list) > cur.Len() { // all at once: each edit copies the array
				root = root.Set(path, ArrayValue(list...))
			}
			st.name = fmt.Sprint(st.index)
			f = f.Item(st.index)
		} else {
			if i > 0 && cur.IsSet() && cur.Kind() != Object && cur.Kind() != Null {
				return nil, &CoerceError{Key: key, Text: text, Want: fmt.Sprintf("names a property of what is %s already", cur.Kind())}
			}
			if !cur.IsSet() || cur.Kind() == Null {
				root = root.Set(path, emptyObject)
			}
			f = f.Property(st.name)
		}
		path = append(path, st.name)
		cur = root.At(path...)
	}
	v, err := s.read(f, key, text, asJSON)
	if err != nil {
		return nil, err
	}
	ptr := Pointer(path...)
	if given[ptr] && cur.Kind() == Array && v.Kind() == Array && !strings.HasPrefix(strings.TrimSpace(text), "[") {
		v = ArrayValue(append(values(cur), values(v)...)...)
	}
	given[ptr] = true
	return root.Set(path, v), nil
}

// read makes a value of an argument's text, and names the argument in what is wrong with it.
func (s *Schema) read(f *Field, key, text string, asJSON bool) (*Value, error) {
	if asJSON {
		v, err := ParseValue([]byte(text))
		if err != nil || !v.IsSet() {
			want := "needs JSON after :="
			if err != nil {
				want += " (" + err.Error() + ")"
			}
			return nil, &CoerceError{Key: key, Text: text, Want: want}
		}
		return v, nil
	}
	v, err := f.Coerce(text)
	if ce, ok := err.(*CoerceError); ok {
		ce.Key = key
		return nil, ce
	}
	return v, err
}

// at returns the field that holds for value v: its conditions applied and its variants picked. A variant may have conditions and
// variants again; eight rounds are more than schemas that people write have, and one that refers to itself would never end.
func (f *Field) at(v *Value) *Field {
	for range 8 {
		f = f.Active(v)
		vs := f.Variants()
		if vs == nil {
			break
		}
		i := f.Pick(v)
		if i < 0 {
			return f.mergeVariants()
		}
		f = vs[i].Field()
	}
	return f
}

// mergeVariants merges the properties of all variants, for a value that does not tell yet which it will be. The field is for reading
// one argument only: it is not kept, and its Types, Options and the like are those of f.
func (f *Field) mergeVariants() *Field {
	out := f
	if len(f.groups) == 0 {
		return out
	}
	c := *f
	c.kids, c.props = nil, map[string][]part{}
	for name, ps := range f.props {
		c.props[name] = slices.Clip(ps) // what is added must not end up in f
	}
	alts := map[string][]part{}
	for i, p := range f.groups[0].branches {
		if i == maxMerged {
			break
		}
		q := f.s.peek(p)
		base := rebase(q.node, q.base) // a branch can be a resource with an $id of its own
		for _, m := range q.node.Get("properties").Members() {
			alts[m.Name] = append(alts[m.Name], part{node: m.Value, base: base})
		}
	}
	for name, of := range alts {
		c.props[name] = append(c.props[name], anyOf(of))
	}
	return &c
}

// anyOf is a subschema that is satisfied by what satisfies one of some. One with another base than the first is given it as $id,
// so that its references lead where they led.
func anyOf(of []part) part {
	if len(of) == 1 {
		return of[0]
	}
	kids := make([]Member, len(of))
	for i, p := range of {
		if kids[i].Value = p.node; p.base != of[0].base {
			kids[i].Value = ObjectValue(Member{Name: "$id", Value: StringValue(p.base)}, Member{Name: "allOf", Value: ArrayValue(p.node)})
		}
	}
	return part{node: ObjectValue(Member{Name: "anyOf", Value: &Value{kind: Array, kids: kids}}), base: of[0].base}
}

// values are the elements of an array, or the values of an object's members; a new slice.
func values(v *Value) []*Value {
	out := make([]*Value, v.Len())
	for i, m := range v.Members() {
		out[i] = m.Value
	}
	return out
}
