package live

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Frames of one shape are validated once: so shape has to look at all that the schemas of the protocol do. A member whose value
// a schema names, a bound of a number or a list that shape does not know about fails this test.
func TestShapeSeesWhatSchemasSay(t *testing.T) {
	t.Parallel()
	for _, rev := range rules.Revisions() {
		doc, err := load(rev)
		require.NoError(t, err)
		defs := map[string]any{}
		for name, raw := range doc.defs {
			var v any
			require.NoError(t, json.Unmarshal(raw, &v))
			defs[name] = v
		}
		var named func(v any, hops int) bool
		named = func(v any, hops int) bool {
			m, _ := v.(map[string]any)
			if ref, ok := m["$ref"].(string); ok && hops < 8 {
				return named(defs[ref[strings.LastIndexByte(ref, '/')+1:]], hops+1)
			}
			return m["const"] != nil || m["enum"] != nil || m["items"] != nil && named(m["items"], hops+1)
		}
		var walk func(at string, v any)
		walk = func(at string, v any) {
			switch v := v.(type) {
			case []any:
				for i, one := range v {
					walk(fmt.Sprint(at, "/", i), one)
				}
			case map[string]any:
				if props, ok := v["properties"].(map[string]any); ok && !strings.HasSuffix(at, "/properties") {
					for name, p := range props {
						if named(p, 0) && !hasNamedValues(name) && name != "code" {
							t.Errorf("%s %s: shape does not look at the value of %q", rev, at, name)
						}
					}
				}
				if !strings.HasSuffix(at, "/properties") {
					for _, k := range []string{"pattern", "minLength", "maxLength", "minItems", "uniqueItems", "multipleOf", "exclusiveMinimum", "exclusiveMaximum", "minProperties", "maxProperties", "propertyNames", "patternProperties"} {
						if v[k] != nil {
							t.Errorf("%s %s: shape does not look at %s", rev, at, k)
						}
					}
					for k, allowed := range map[string]string{"minimum": " 0", "maximum": " 1", "maxItems": " 100", "additionalProperties": " false true map[]"} {
						if s := fmt.Sprint(v[k]); v[k] != nil && k != "additionalProperties" && !strings.Contains(allowed+" ", " "+s+" ") {
							t.Errorf("%s %s: shape does not look at %s %s", rev, at, k, s)
						}
					}
				}
				for k, one := range v {
					walk(at+"/"+k, one)
				}
			}
		}
		for name, v := range defs {
			walk(name, v)
		}
	}
}

func shapeOf(t *testing.T, s string) uint64 {
	t.Helper()
	h, ok := shape([]byte(s))
	if !ok {
		t.Errorf("%s is too deep", s)
	}
	return h
}

// A value that nests without an end costs no stack, and is said not to be validated.
func TestDeepFrames(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)
	if _, ok := shape([]byte(deep)); ok {
		t.Error("no depth is too deep")
	}
	ck := NewChecker(func(f Finding) { t.Errorf("%s: %s", f.Rule.ID, f.Evidence) })
	play(t, ck, legacy+promising+"> {'id':1,'method':'tools/call','params':{'name':'a','arguments':{'x':"+deep+"}}}\n< {'id':1,'result':{'content':[{'type':'text','text':'b'}],'structuredContent':{'b':1,'x':"+deep+"},'_meta':{'x':"+deep+"}}}")
	assert.Equalf(t, ck.Unchecked, 2, "frames were not validated")
}

// Values that a schema tells apart have different shapes, the others the same.
func TestShape(t *testing.T) {
	t.Parallel()
	same := [][2]string{
		{`{"text":"a"}`, `{ "text" : "bb\"c" }`},
		{`{"arguments":{"a":"x"}}`, `{"arguments":{"b":"y","c":"z"}}`},
		{`[{"type":"text","text":"a"}]`, `[{"type":"text","text":"b"},{"type":"text","text":"c"}]`},
		{`{"n":2}`, `{"n":345}`},
		{`{"structuredContent":{"a":[1]}}`, `{"structuredContent":{"b":{"c":null}}}`},
	}
	for _, p := range same {
		if shapeOf(t, p[0]) != shapeOf(t, p[1]) {
			t.Errorf("%s and %s differ", p[0], p[1])
		}
	}
	different := [][2]string{
		{`{"type":"text"}`, `{"type":"txet"}`},
		{`{"text":"a"}`, `{"text":1}`},
		{`{"text":"a"}`, `{"txet":"a"}`},
		{`{"n":1}`, `{"n":1.5}`},
		{`{"n":1}`, `{"n":-1}`},
		{`{"n":1}`, `{"n":2}`},
		{`{"n":null}`, `{"n":true}`},
		{`{"arguments":{"a":"x"}}`, `{"arguments":{"a":1}}`},
		{`{"audience":["user"]}`, `{"audience":["nobody"]}`},
		{`{"content":[{"type":"text"}]}`, `{"content":{"type":"text"}}`},
		{`{"a":{},"b":[]}`, `{"a":{"b":[]}}`},
	}
	for _, p := range different {
		if shapeOf(t, p[0]) == shapeOf(t, p[1]) {
			t.Errorf("%s and %s are the same", p[0], p[1])
		}
	}
}

// What is cut off anywhere has some shape: nothing is read beyond the end.
func TestShapeOfPieces(t *testing.T) {
	t.Parallel()
	whole := []byte(`{"a":"x\"y","arguments":{"b":[1,-2.5e3,true]},"structuredContent":{"c":["}"]},"d":null}`)
	for n := range whole {
		shape(whole[:n])
	}
}

func FuzzShape(f *testing.F) {
	f.Add([]byte(`{"a":["\\",{"structuredContent":[{}]}]}`))
	f.Fuzz(func(_ *testing.T, b []byte) { shape(b) })
}
