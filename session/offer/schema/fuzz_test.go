package schema

import (
	"bytes"
	"strings"
	"testing"
)

var seeds = []string{
	`{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#"}},"required":["a"]}`,
	`{"oneOf":[{"properties":{"k":{"const":1}}},{"$ref":"#/$defs/x"}],"$defs":{"x":{"type":["array","null"],"items":[{"enum":["a"]}]}}}`,
	`{"if":{"required":["a"]},"then":{"patternProperties":{"^a":{"minimum":1e400}}},"dependentRequired":{"a":["b"]}}`,
	`{"$id":"http://a/b","$anchor":"c","allOf":[{"$ref":"#c"},{"$dynamicRef":"#c"}],"nullable":true}`,
	`{"type":"object","additionalProperties":{"anyOf":[{"type":"integer"},{"type":"null"}]}}`, `true`, `[]`, `{"enum":[1,1.0,"\ud800"]}`,
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), []byte(`{"a":[1,{"b":null}],"k":1}`))
	}
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		if len(schema) > 20_000 || len(value) > 20_000 {
			return
		}
		s := Parse(schema)
		v, err := ParseValue(value)
		if err != nil {
			v = s.Root().Skeleton()
		}
		walk(s.Root(), v, 4)
		s.Root().Initial()
		problems, unchecked := s.check(v, nil)
		if len(problems) == 0 && unchecked == "" && len(s.Unchecked()) == 0 && !s.matches(part{node: s.doc}, v) {
			t.Fatalf("the matcher refuses what is valid: %s by %s", v, schema)
		}
	})
}

// walk visits a form's fields the way a form does.
func walk(f *Field, v *Value, depth int) {
	for range 4 {
		f = f.Active(v)
		if vs := f.Variants(); vs != nil {
			f = vs[max(f.Pick(v), 0)].Field()
		}
	}
	_, _, _ = f.Extra()
	if depth == 0 {
		return
	}
	for i, c := range f.Children(v) {
		if i > 20 {
			break
		}
		kid := v.Get(c.Name)
		if v.Kind() == Array {
			kid = v.Elem(i)
		}
		walk(c.Field(), kid, depth-1)
	}
}

func FuzzRoundTrip(f *testing.F) {
	for _, s := range append(seeds, `-0.0e+10`, `"\u2028\/"`, `{"a":1,"a":[]}`) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := ParseValue(text)
		if err != nil || !v.IsSet() {
			return
		}
		compact := v.JSON()
		for _, form := range [][]byte{compact, v.Indent()} {
			again, err := ParseValue(form)
			if err != nil || !Same(v, again) || !bytes.Equal(again.JSON(), compact) {
				t.Fatalf("%q became %q: %v", text, form, err)
			}
		}
		if !Equal(v, v) {
			t.Fatal("not equal to itself")
		}
	})
}

func FuzzCoerce(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), "a.b[0]=x")
		f.Add([]byte(s), `b.b.a:=[1]`)
	}
	f.Fuzz(func(t *testing.T, schema []byte, arg string) {
		if len(schema) > 5_000 || len(arg) > 1_000 {
			return
		}
		s := Parse(schema)
		v, err := s.CoerceArgs(nil, []string{arg, arg})
		if err != nil {
			if !strings.Contains(err.Error(), "; got ") {
				t.Fatalf("an error without what was given: %v", err)
			}
			return
		}
		if _, err := ParseValue(v.JSON()); err != nil {
			t.Fatalf("%q gives %s: %v", arg, v, err)
		}
	})
}
