package schema

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// nested returns a schema of n levels of properties.
func nested(n int) []byte {
	return []byte(strings.Repeat(`{"type":"object","title":"level","required":["next"],"properties":{"v":{"type":"integer"},"next":`, n) +
		`{"type":"string"}` + strings.Repeat(`}}`, n))
}

func TestDeepSchemas(t *testing.T) {
	s := Parse(nested(100))
	if got := strings.Count(s.Root().Initial().String(), "next"); got != 99 {
		t.Errorf("initial value has %d levels", got)
	}
	if ps := s.Validate(s.Root().Skeleton()); len(ps) != 0 {
		t.Errorf("%v", ps)
	}
	for _, deep := range [][]byte{
		nested(50_000),
		[]byte(strings.Repeat(`{"allOf":[`, 50_000)),
		[]byte(strings.Repeat(`{"not":`, 4_000) + "true" + strings.Repeat("}", 4_000)),
		[]byte(strings.Repeat(`{"allOf":[`, 4_000) + "{}" + strings.Repeat("]}", 4_000)),
		[]byte(strings.Repeat(`{"items":`, 9_000) + "{}" + strings.Repeat("}", 9_000)),
	} {
		s := Parse(deep)
		s.Root().Skeleton()
		s.Validate(parse(t, `{"a":[[[1]]]}`))
		if len(s.Unchecked()) == 0 {
			t.Errorf("%.20s: nothing is reported as unchecked", deep)
		}
	}
}

// Two references to the next level at every level: 2^100 paths.
func doubling(applicator string) []byte {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/l0","$defs":{`)
	for i := range 100 {
		next := fmt.Sprintf(`{"$ref":"#/$defs/l%d"}`, i+1)
		fmt.Fprintf(&b, `"l%d":%s,`, i, strings.ReplaceAll(applicator, "NEXT", next))
	}
	b.WriteString(`"l100":{"type":"string"}}}`)
	return []byte(b.String())
}

func TestMultiplyingReferences(t *testing.T) {
	value := parse(t, strings.Repeat(`{"a":`, 90)+"1"+strings.Repeat("}", 90))
	for _, app := range []string{
		`{"anyOf":[NEXT,NEXT]}`, `{"allOf":[NEXT,NEXT]}`, `{"oneOf":[{"title":"x","allOf":[NEXT]},NEXT]}`,
		`{"anyOf":[{"properties":{"a":NEXT}},{"properties":{"a":NEXT}}]}`, `{"if":NEXT,"then":NEXT,"else":NEXT}`,
		`{"required":["a","b"],"properties":{"a":NEXT,"b":NEXT}}`, `{"items":[NEXT,NEXT],"minItems":2}`,
	} {
		start := time.Now()
		s := Parse(doubling(app))
		f := s.Root()
		f.Skeleton()
		f.Children(value)
		f.Active(value)
		f.Pick(value)
		_, _ = f.Coerce("x")
		s.check(value, nil)
		if d := time.Since(start); d > 30*time.Second {
			t.Errorf("%s took %v", app, d)
		}
	}
	if _, unchecked := Parse(doubling(`{"anyOf":[NEXT,NEXT]}`)).check(value, nil); !strings.Contains(unchecked, "multiply") {
		t.Errorf("unchecked: %q", unchecked)
	}
}

// Twenty references at every level to a union that lists them: 160,000 paths within four levels.
func TestMultiplyingUnions(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/l0","$defs":{`)
	for i := range 4 {
		fmt.Fprintf(&b, `"l%d":{"oneOf":[{"const":%d}`+strings.Repeat(fmt.Sprintf(`,{"$ref":"#/$defs/l%d"}`, i+1), 20)+`]},`, i, i)
	}
	b.WriteString(`"l4":{"oneOf":[{"type":"null"}`)
	for i := range 255 {
		fmt.Fprintf(&b, `,{"properties":{"p%d":{}}}`, i)
	}
	b.WriteString(`]}}}`)
	start := time.Now()
	vs := Parse([]byte(b.String())).Root().Variants()
	if took := time.Since(start); len(vs) < 2 || len(vs) > MaxVariants || took > 10*time.Second {
		t.Errorf("%d variants in %v", len(vs), took)
	}
}

func TestLoopsEnd(t *testing.T) {
	for _, text := range []string{
		`{"$ref":"#"}`, `{"allOf":[{"$ref":"#"}]}`, `{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`,
		`{"anyOf":[{"title":"a","$ref":"#"},{"title":"b","$ref":"#"}]}`, `{"not":{"$ref":"#"}}`,
		`{"if":{"$ref":"#"},"then":{"$ref":"#"}}`, `{"required":["a"],"properties":{"a":{"$ref":"#"}}}`,
		`{"type":"array","minItems":3,"items":{"$ref":"#"}}`, `{"$dynamicRef":"#x","$dynamicAnchor":"x"}`,
		`{"$ref":"#/$ref"}`, `{"$id":"x","$ref":"x"}`, `{"$id":"::::","$ref":"%zz"}`,
		`{"dependentSchemas":{"a":{"$ref":"#"}}}`, `{"additionalProperties":{"$ref":"#"}}`,
	} {
		s := Parse([]byte(text))
		f := s.Root()
		f.Skeleton()
		for i := 0; i < 50; i++ {
			v := parse(t, `{"a":{"a":[{"a":1}]}}`)
			f = f.Active(v)
			f.Pick(v)
			if vs := f.Variants(); vs != nil {
				f = vs[0].Field()
			}
			f = f.Property("a")
		}
		s.check(parse(t, `{"a":{"a":[{"a":1}]}}`), nil)
	}
}

// A schema that refers to itself without end is not checked, wherever it does: nothing is said of the value that may not be so.
func TestEndlessReferencesAreUnchecked(t *testing.T) {
	for _, text := range []string{`{"allOf":[{"$ref":"#"}]}`, `{"anyOf":[{"$ref":"#"},{"type":"string"}]}`, `{"oneOf":[{"type":"string"},{"$ref":"#"}]}`} {
		if _, why := Parse([]byte(text)).check(parse(t, `5`), nil); !strings.Contains(why, "refers to itself without end") {
			t.Errorf("%s: %q", text, why)
		}
	}
}

func TestHugeParts(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	s := Parse([]byte(`{"properties":{"` + long + `":{"type":"string","title":"` + long + `","pattern":"` + long + `"}},"$ref":"#/` + long + `"}`))
	f := s.Root().Children(nil)[0].Field()
	assert.Equalf(t, len(f.Title), 1<<20, "the title is not kept whole")
	for _, n := range append(append(s.Notes(), s.Unchecked()...), f.Notes...) {
		if len(n) > 1000 {
			t.Errorf("a note of %d bytes", len(n))
		}
	}
	for _, c := range f.Constraints {
		if len(c.Text) > 1000 {
			t.Errorf("a constraint of %d bytes", len(c.Text))
		}
	}
	if s := Parse(make([]byte, MaxSchemaBytes+1)); s.Err() == nil || s.Root().Shape() != ShapeAny {
		t.Error("an oversize schema is expanded")
	}
}

func TestNumbersThatExplode(t *testing.T) {
	s := Parse([]byte(`{"minimum":-1e999999999,"maximum":1e999999999,"multipleOf":1e-999999999,"enum":[1e999999999]}`))
	s.Validate(parse(t, `1e999999999`))
	s.Validate(parse(t, `-1e-999999999`))
	s.Root().Skeleton()
	for _, kw := range []string{"minLength", "maxItems", "minItems", "minProperties", "minContains"} {
		for _, n := range []string{"1e999999999", "99999999999999999999", "-1", "1.5", "1e3"} {
			s := Parse([]byte(`{"` + kw + `":` + n + `}`))
			s.Validate(parse(t, `["a"]`))
			s.Root().Skeleton()
		}
	}
}

func TestManyProperties(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i := range 5_000 {
		fmt.Fprintf(&b, `"p%d":{"type":"string","default":"x"},`, i)
	}
	b.WriteString(`"last":{}}}`)
	s := Parse([]byte(b.String()))
	if n := len(s.Root().Children(nil)); n != 5_001 {
		t.Fatal(n)
	}
	if ps := s.Validate(s.Root().Skeleton()); len(ps) != 0 || len(s.Unchecked()) != 0 {
		t.Error(ps, s.Unchecked())
	}
}

func BenchmarkParse100Levels(b *testing.B) {
	raw := nested(100)
	for b.Loop() {
		s := Parse(raw)
		for _, c := range s.Root().Children(nil) {
			c.Field().Shape()
		}
	}
}

func BenchmarkValidate100Levels(b *testing.B) {
	s := Parse(nested(100))
	v := s.Root().Skeleton()
	s.Validate(v)
	for b.Loop() {
		s.Validate(v)
	}
}

func BenchmarkCompile100Levels(b *testing.B) {
	raw := nested(100)
	for b.Loop() {
		Parse(raw).Unchecked()
	}
}
