package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// beyondVariants are the rows that only Validate knows.
var beyondVariants = []string{"patternProperties", "propertyNames", "uniqueItems", "unevaluatedProperties", "repeated key"}

// One row per keyword: a value that satisfies it, one that does not, and where and how the problem is reported.
func TestValidateKeywords(t *testing.T) {
	for _, c := range []struct {
		name, schema, good, bad, want string
	}{
		{"type", `{"type":"integer"}`, `1.0`, `1.5`, `must be a whole number`},
		{"type array", `{"type":["string","null"]}`, `null`, `1`, `must be a string or null`},
		{"nullable", `{"type":"string","nullable":true}`, `null`, `1`, `must be a string or null`},
		{"enum", `{"enum":["a",1,null]}`, `1.0`, `"b"`, `must be one of "a", 1, null`},
		{"const", `{"const":{"a":1}}`, `{"a":1.0}`, `{"a":2}`, `must be {"a":1}`},
		{"minimum", `{"minimum":2}`, `2`, `1`, `must be at least 2`},
		{"maximum", `{"maximum":2.5}`, `2.5`, `2.6`, `must be at most 2.5`},
		{"exclusiveMinimum", `{"exclusiveMinimum":2}`, `3`, `2`, `must be more than 2`},
		{"exclusiveMaximum", `{"exclusiveMaximum":2}`, `1`, `2`, `must be less than 2`},
		{"exclusiveMinimum draft-04", `{"minimum":2,"exclusiveMinimum":true}`, `3`, `2`, `must be more than 2`},
		{"exclusiveMaximum draft-04", `{"maximum":2,"exclusiveMaximum":true}`, `1`, `2`, `must be less than 2`},
		{"multipleOf", `{"multipleOf":0.1}`, `0.3`, `0.35`, `must be a multiple of 0.1`},
		{"big integers", `{"maximum":9007199254740993}`, `9007199254740993`, `9007199254740994`, `must be at most 9007199254740993`},
		{"minLength", `{"minLength":2}`, `"äö"`, `"ä"`, `must have at least 2 characters, has 1`},
		{"maxLength", `{"maxLength":1}`, `"ä"`, `"äö"`, `must have at most 1 character, has 2`},
		{"pattern", `{"pattern":"^\\u0061+$"}`, `"aa"`, `"b"`, `must match ^\u0061+$`},
		{"surrogate pair", `{"pattern":"^\\ud83d\\ude00$"}`, `"😀"`, `"a"`, `must match ^\ud83d\ude00$`},
		{"format date", `{"format":"date"}`, `"2026-02-28"`, `"2026-02-30"`, `is not a valid date, for example 2026-11-21`},
		{"format date-time", `{"format":"date-time"}`, `"2026-02-28T00:00:00Z"`, `"x"`, `is not a valid date-time, for example 2026-11-21T13:45:00Z`},
		{"format email", `{"format":"email"}`, `"a@b.c"`, `"ab"`, `is not a valid email, for example name@example.com`},
		{"format uri", `{"format":"uri"}`, `"https://a/"`, `"a b"`, `is not a valid uri, for example https://example.com/`},
		{"format uuid", `{"format":"uuid"}`, `"123e4567-e89b-12d3-a456-426614174000"`, `"1"`, `is not a valid uuid, for example 123e4567-e89b-12d3-a456-426614174000`},
		{"format ipv4", `{"format":"ipv4"}`, `"1.2.3.4"`, `"1.2.3"`, `is not a valid ipv4, for example 192.0.2.1`},
		{"format ipv6", `{"format":"ipv6"}`, `"::1"`, `"1"`, `is not a valid ipv6, for example 2001:db8::1`},
		{"required", `{"required":["a/b"]}`, `{"a/b":1}`, `{}`, `/a~1b: is required`},
		{"properties", `{"properties":{"a":{"type":"string"}}}`, `{"a":""}`, `{"a":1}`, `/a: must be a string`},
		{"additionalProperties", `{"properties":{"a":true},"additionalProperties":false}`, `{"a":1}`, `{"b":1}`, `/b: is not a property the schema allows`},
		{"additionalProperties schema", `{"additionalProperties":{"type":"number"}}`, `{"a":1}`, `{"a":"1"}`, `/a: must be a number`},
		{"patternProperties", `{"patternProperties":{"^n_":{"type":"number"}}}`, `{"n_a":1,"b":""}`, `{"n_a":""}`, `/n_a: must be a number`},
		{"propertyNames", `{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"a":1}`, `{"A":1}`, `/A: the key must match ^[a-z]+$`},
		{"minProperties", `{"minProperties":1}`, `{"a":1}`, `{}`, `must have at least 1 property, has 0`},
		{"maxProperties", `{"maxProperties":1}`, `{"a":1}`, `{"a":1,"b":2}`, `must have at most 1 property, has 2`},
		{"dependentRequired", `{"dependentRequired":{"a":["b"]}}`, `{"b":1}`, `{"a":1}`, `/b: is required because a is given`},
		{"dependencies", `{"dependencies":{"a":["b"]}}`, `{"a":1,"b":1}`, `{"a":1}`, `/b: is required because a is given`},
		{"dependentSchemas", `{"dependentSchemas":{"a":{"required":["c"]}}}`, `{"c":1}`, `{"a":1}`, `/c: is required`},
		{"items", `{"items":{"type":"string"}}`, `["a"]`, `["a",1]`, `/1: must be a string`},
		{"prefixItems", `{"prefixItems":[{"type":"string"}],"items":false}`, `["a"]`, `["a",1]`, `/1: is not allowed here`},
		{"items array draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `["a"]`, `[1]`, `/0: must be a string`},
		{"items array, no $schema", `{"items":[{"type":"string"}],"additionalItems":{"type":"null"}}`, `["a",null]`, `["a",1]`, `/1: must be null`},
		{"minItems", `{"minItems":1}`, `[1]`, `[]`, `must have at least 1 item, has 0`},
		{"maxItems", `{"maxItems":1}`, `[1]`, `[1,2]`, `must have at most 1 item, has 2`},
		{"uniqueItems", `{"uniqueItems":true}`, `[1,2]`, `[1,2,1.0]`, `/2: is the same as item 0; all must differ`},
		{"contains", `{"contains":{"const":1}}`, `[2,1]`, `[2]`, `must have an item that the schema describes in contains`},
		{"allOf", `{"allOf":[{"minimum":1},{"maximum":3}]}`, `2`, `4`, `must be at most 3`},
		{"anyOf types", `{"anyOf":[{"type":"string"},{"type":"number"}]}`, `1`, `null`, `must be a string or a number`},
		{"oneOf none", `{"oneOf":[{"minimum":5},{"maximum":1}]}`, `6`, `3`, `fits none of the 2 alternatives (must be at least 5; or must be at most 1)`},
		{"oneOf two", `{"oneOf":[{"minimum":1},{"minimum":2}]}`, `1`, `3`, `fits alternatives 1 and 2; it must fit exactly one`},
		{"oneOf tagged", `{"oneOf":[{"properties":{"k":{"const":"a"},"n":{"type":"number"}},"required":["k"]},{"properties":{"k":{"const":"b"}},"required":["k"]}]}`, `{"k":"b"}`, `{"k":"a","n":""}`, `/n: must be a number`},
		{"not", `{"not":{"const":0}}`, `1`, `0`, `is one of the values that the schema excludes (not)`},
		{"if then else", `{"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":2,"c":0}`, `{"a":1}`, `/b: is required`},
		{"$ref", `{"$ref":"#/$defs/x","$defs":{"x":{"type":"null"}}}`, `null`, `1`, `must be null`},
		{"$ref definitions", `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/x","definitions":{"x":{"type":"null"}}}`, `null`, `1`, `must be null`},
		{"$anchor", `{"$ref":"#x","$defs":{"y":{"$anchor":"x","type":"null"}}}`, `null`, `1`, `must be null`},
		{"recursion", `{"properties":{"next":{"$ref":"#"},"v":{"type":"number"}}}`, `{"next":{"next":{}}}`, `{"next":{"next":{"v":""}}}`, `/next/next/v: must be a number`},
		{"boolean schema", `{"properties":{"a":false}}`, `{}`, `{"a":1}`, `/a: is not allowed here`},
		{"false", `false`, ``, `1`, `is not allowed here`},
		{"unevaluatedProperties", `{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1}`, `{"b":1}`, `/b: is not allowed here`},
		{"repeated key", `{"type":"object"}`, `{"a":1}`, `{"a":1,"a":2}`, `/a: the key is there more than once; servers may take either`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Parse([]byte(c.schema))
			if c.good != "" {
				if ps, un := s.ValidateJSON([]byte(c.good)); len(ps) > 0 || un != "" {
					t.Errorf("%s: %v %q", c.good, ps, un)
				}
				if !s.matches(part{node: s.doc}, parse(t, c.good)) {
					t.Errorf("%s: the matcher of variants refuses it", c.good)
				}
			}
			left := strings.HasPrefix(c.name, "format ") || slices.Contains(beyondVariants, c.name)
			if s.matches(part{node: s.doc}, parse(t, c.bad)) != left {
				t.Errorf("%s: the matcher of variants says otherwise than Validate", c.bad)
			}
			ps, _ := s.ValidateJSON([]byte(c.bad))
			if len(ps) != 1 || ps[0].String() != c.want {
				t.Errorf("%s: %v, want %q", c.bad, ps, c.want)
			}
			if u := s.Unchecked(); len(u) > 0 {
				t.Errorf("unchecked: %v", u)
			}
		})
	}
}

// What the validator cannot take is reported, and the rest still checked.
func TestValidateSalvagesBadSchemas(t *testing.T) {
	for _, c := range []struct{ name, keyword, unchecked string }{
		{"look-ahead", `"pattern":"(?=x)"`, "pattern (?=x) is not checked"},
		{"pattern key", `"patternProperties":{"(?!x)":false},"additionalProperties":false`, "keys matching (?!x) are not checked"},
		{"remote ref", `"$ref":"https://example.com/schema.json"`, "https://example.com/schema.json is not checked"},
		{"file ref", `"$ref":"file:///etc/passwd"`, "file:///etc/passwd is not checked"},
		{"dangling ref", `"$ref":"#/$defs/none"`, "#/$defs/none is not checked"},
		{"unknown type", `"type":"any"`, `type "any" is not checked`},
		{"malformed keyword", `"minLength":"three"`, "minLength is malformed"},
		{"malformed list", `"allOf":{}`, "allOf is a JSON object"},
		{"subschema is text", `"not":"x"`, "a subschema that is a JSON string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Parse([]byte(`{"properties":{"a":{` + c.keyword + `},"b":{"type":"number"}}}`))
			ps, _ := s.ValidateJSON([]byte(`{"a":{"k":1},"b":""}`))
			last := Problem{}
			if len(ps) > 0 {
				last = ps[len(ps)-1]
			}
			if last.String() != "/b: must be a number" {
				t.Errorf("problems %v", ps)
			}
			assert.Contains(t, strings.Join(s.Unchecked(), "\n"), c.unchecked)
		})
	}
}
