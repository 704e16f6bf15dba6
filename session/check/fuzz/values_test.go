package fuzz

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func generator() *Generator { return NewGenerator(rand.New(rand.NewPCG(1, 1)), nil) }

const rich = `{"type":"object","additionalProperties":false,"required":["name","kind"],"properties":{
	"name":{"type":"string","minLength":2,"maxLength":5},"kind":{"enum":["a","b"]},"n":{"type":"integer","minimum":3,"maximum":9},
	"x":{"type":"number","exclusiveMinimum":0,"multipleOf":0.25},"code":{"type":"string","pattern":"^[A-Z]{3}-\\d{2,4}$"},"at":{"type":"string","format":"date"},
	"tags":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":3,"uniqueItems":true},
	"either":{"oneOf":[{"type":"object","required":["left"],"properties":{"left":{"type":"integer"}}},{"type":"object","required":["right"],"properties":{"right":{"type":"boolean"}}}]}}}`

// TestValuesAreAllowed: what is generated satisfies the schema, and reaches bounds, options and branches.
func TestValuesAreAllowed(t *testing.T) {
	s := schema.ParseArguments([]byte(rich))
	base := generator().Object(s.Root(), 0, true)
	if p := s.Validate(base); p != nil {
		t.Fatalf("%s: %v", base, p)
	}
	seen := map[string]bool{}
	for _, c := range s.Root().Children(base) {
		wrong := 0
		of := generator().Values(c.Field(), c.Name, 1)
		for _, v := range of {
			seen[c.Name+"="+v.Value.String()] = true
			if s.Validate(base.Set([]string{c.Name}, v.Value)) != nil {
				wrong++
			}
		}
		if len(of) < 2 || wrong > len(of)/3 {
			t.Errorf("%s: %d of %d values are not allowed", c.Name, wrong, len(of))
		}
	}
	for _, want := range []string{`kind="a"`, `kind="b"`, "n=3", "n=9", `name="aa"`, `name="aaaaa"`, `either={"left":1}`, `either={"right":true}`, `at="2024-02-29"`} {
		if !seen[want] {
			t.Errorf("%s was not made", want)
		}
	}
}

// TestBrokenHaveOneThingWrong: and each keyword is broken.
func TestBrokenHaveOneThingWrong(t *testing.T) {
	s := schema.ParseArguments([]byte(rich))
	base := generator().Object(s.Root(), 0, true)
	keywords := map[string]bool{}
	for _, v := range Broken(s.Root(), base) {
		problems := s.Validate(v.Value)
		if problems == nil {
			t.Errorf("%s: %s is allowed", v.What, v.Value)
			continue
		}
		keywords[problems[0].Keyword] = true
	}
	for _, want := range []string{"required", "type", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "exclusiveMinimum", "multipleOf", "additionalProperties"} {
		if !keywords[want] {
			t.Errorf("nothing breaks %s", want)
		}
	}
}

func TestMatching(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, p := range []string{`^[A-Z]{3}-\d{2,4}$`, `^(foo|ba[rz])+$`, `^\w+@\w+\.com$`, `a?b*c+`, `^[^a-z]$`, `^.{5}$`} {
		for range 20 {
			s, ok := matchingText(rng, p)
			if !ok || !regexp.MustCompile(p).MatchString(s) {
				t.Errorf("%s: %q, %v", p, s, ok)
			}
		}
	}
	for _, p := range []string{`((a{1000}){1000}){1000}`, `(`, strings.Repeat("a", maxPattern+1), `(((((((a{9}){9}){9}){9}){9}){9}){9})`} {
		if s, ok := matchingText(rng, p); ok {
			t.Errorf("%.30s: %d characters", p, len(s))
		}
	}
}

// TestExplodingSchemas: whatever a schema branches into, little is made of it, and soon.
func TestExplodingSchemas(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i := range 20_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"p` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + time.Duration(i).String() + `":{"type":"string"}`)
	}
	b.WriteString(`}}`)
	wide := `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"anyOf":[` + strings.Repeat(`{"type":"object","required":["a","b","c"],"properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n"},"c":{"$ref":"#/$defs/n"}}},`, 12) + `{"type":"null"}]}}}`
	for name, raw := range map[string]string{
		"many properties": b.String(),
		"branches":        wide,
		"itself":          `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`,
		"many elements":   `{"type":"object","properties":{"a":{"type":"array","minItems":1000000000,"items":{"type":"array","minItems":1000000000}}}}`,
		"long text":       `{"type":"object","required":["a"],"properties":{"a":{"type":"string","minLength":1000000000}}}`,
		"huge bounds":     `{"type":"object","properties":{"a":{"type":"number","minimum":1e308,"maximum":1e309,"multipleOf":1e-300}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := schema.ParseArguments([]byte(raw))
			base := generator().Object(s.Root(), 0, true)
			size := 0
			for _, v := range append(append(generator().Values(s.Root(), "", 0), Broken(s.Root(), base)...), Extremes(s.Root(), base)...) {
				size += len(v.JSON())
			}
			if size > 64<<20 {
				t.Errorf("%d bytes", size)
			}
		})
	}
}

func TestSmaller(t *testing.T) {
	v, err := schema.ParseValue([]byte(`{"keep":{"list":[1,2,3,"needle",5]},"other":true,"text":"abcdefgh"}`))
	require.NoError(t, err)
	fails := func(v *schema.Value) bool { return strings.Contains(v.Get("keep").Get("list").String(), "eed") }
	for again := true; again; {
		again = false
		Smaller(v, func(s *schema.Value) bool {
			if Weight(s) < Weight(v) && fails(s) {
				v, again = s, true
			}
			return !again
		})
	}
	assert.Equal(t, v.String(), `{"keep":{"list":["eed"]}}`)
}

// What is tried instead of a value, in order.
func TestSmallerInOrder(t *testing.T) {
	for from, want := range map[string]string{
		`"abcd"`: `"" "a" "a" "ab" "aa" "cd" "bcd" "abc" "aaaa"`, `"ab"`: `"" "a" "a" "aa"`, `""`: `""`, `9`: `0 1 -1 4`, `-9`: `0 1 -1 -4`, `1.5`: `0 1 -1`, `true`: `false`, `null`: ``,
		`[]`: ``, `[7,8,9]`: `[] [7] [7,8] [8,9] [7,9] [7,8] [0,8,9] [1,8,9] [-1,8,9] [3,8,9] [7,0,9] [7,1,9] [7,-1,9] [7,4,9] [7,8,0] [7,8,1] [7,8,-1] [7,8,4]`,
		`{}`: ``, `{"a":true}`: `{} {} {"a":false}`, `{"a":null,"b":null,"c":null,"d":null}`: `{} {"a":null,"b":null} {"c":null,"d":null} {"b":null,"c":null,"d":null} {"a":null,"c":null,"d":null} {"a":null,"b":null,"d":null} {"a":null,"b":null,"c":null}`,
	} {
		v, err := schema.ParseValue([]byte(from))
		require.NoError(t, err)
		var tried []string
		if !Smaller(v, func(s *schema.Value) bool { tried = append(tried, s.String()); return true }) {
			t.Errorf("%s: it was stopped", from)
		}
		assert.Equalf(t, strings.Join(tried, " "), want, "%s", from)
		for n := range tried { // each may be the last
			left := n
			if Smaller(v, func(*schema.Value) bool { left--; return left >= 0 }) || left != -1 {
				t.Errorf("%s goes on after %d", from, n)
			}
		}
	}
}

// Of two values the one with less to read is lighter.
func TestWeight(t *testing.T) {
	ordered := []string{`1`, `10`, `-1`, `1.0`, `"ab"`, `-1.0`, `"abcd"`, `"a\u00e9"`}
	for i := range ordered[1:] {
		a, _ := schema.ParseValue([]byte(ordered[i]))
		b, _ := schema.ParseValue([]byte(ordered[i+1]))
		if Weight(a) >= Weight(b) {
			t.Errorf("%s weighs %d, %s %d", a, Weight(a), b, Weight(b))
		}
	}
}

func TestPool(t *testing.T) {
	p := NewPool()
	p.Learn([]byte(`{"content":[{"type":"text","text":"{\"users\":[{\"id\":\"u7\",\"user_name\":\"Ada\"}]}"},{"type":"resource_link","uri":"a://b","name":"b"}],"structuredContent":{"userId":9}}`))
	for name, want := range map[string]string{"user_id": "9", "order_id": `"u7"`, "userName": `"Ada"`, "nothing": ""} {
		got := ""
		if of := p.of(name); len(of) > 0 {
			got = of[0].String()
		}
		assert.Equalf(t, got, want, "%s", name)
	}
	if len(p.Links) != 1 {
		t.Error(p.Links)
	}
}

// What is looked at is shared among fields, and many values are cut to some: the plainest, and a sample of the others.
func TestBounds(t *testing.T) {
	s := schema.Parse([]byte(`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"}}},"id":{"type":"string"}}}`))
	size := func(g *Generator) (n int) {
		for range 12 {
			n += len(g.Values(s.Root().Property("a"), "", 0))
		}
		return n
	}
	if all, part := size(generator()), size(generator().Share(maxNodes)); all <= part || part == 0 {
		t.Errorf("%d values of all that may be looked at, %d of a small part", all, part)
	}
	p := NewPool()
	for i := range 200 {
		p.Learn([]byte(`{"content":[],"structuredContent":{"id":"seen` + strings.Repeat("x", i) + `"}}`))
	}
	g := func(p *Pool) []Value {
		return NewGenerator(rand.New(rand.NewPCG(1, 1)), p).Values(s.Root().Property("id"), "id", 0)
	}
	few, many := g(nil), g(p)
	if len(many) > maxValues || len(many) <= len(few) {
		t.Errorf("%d of %d values", len(many), len(few))
	}
	for i := range min(len(few), maxValues/2) {
		if few[i].What != many[i].What || !schema.Equal(few[i].Value, many[i].Value) {
			t.Errorf("%d: %s, %s", i, few[i].Value, many[i].Value)
		}
	}
	var branches []string
	for i := range 12 {
		branches = append(branches, `{"type":"integer","minimum":`+strings.Repeat("9", i+1)+`}`)
	}
	choice := schema.Parse([]byte(`{"anyOf":[` + strings.Join(branches, ",") + `]}`)).Root()
	if n := len(NewGenerator(rand.New(rand.NewPCG(1, 1)), nil).Values(choice, "", 0)); n != maxValues {
		t.Errorf("%d values of many, not %d", n, maxValues)
	}
	for name, want := range map[string]bool{"id": true, "ID": true, "thing_id": true, "": false, "idle": false} {
		if (len(p.of(name)) > 0) != want {
			t.Errorf("%q is known: %v", name, !want)
		}
	}
}

// TestFormats: there are values of each format that the validator knows, and it takes them.
func TestFormats(t *testing.T) {
	for _, format := range strings.Fields("date time date-time duration email uri iri uri-reference uuid ipv4 ipv6 hostname json-pointer regex") {
		s := schema.Parse([]byte(`{"type":"string","format":"` + format + `"}`))
		made := formats(format)
		if len(made) == 0 {
			t.Errorf("%s: no value", format)
		}
		for _, v := range made {
			if p := s.Validate(schema.StringValue(v)); p != nil {
				t.Errorf("%s: %s: %v", format, v, p)
			}
		}
	}
	if len(formats("url")) == 0 || formats("none of them") != nil {
		t.Error("url has values, and what is no format has none")
	}
}
