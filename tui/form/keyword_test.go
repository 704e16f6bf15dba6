package form

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// One row per schema keyword: what keys make of it, and what is shown.
func TestKeywords(t *testing.T) {
	obj := func(prop string) string { return `{"type":"object","properties":{"a":` + prop + `}}` }
	for _, c := range []struct {
		name, schema, keys, json, shows string
	}{
		{"type string", obj(`{"type":"string"}`), `text:hi there`, `{"a":"hi there"}`, `string`},
		{"type integer", obj(`{"type":"integer"}`), `text:12345678901234567890`, `{"a":12345678901234567890}`, `integer`},
		{"type number", obj(`{"type":"number"}`), `text:1.50`, `{"a":1.50}`, `number`},
		{"number is kept as typed text", obj(`{"type":"integer"}`), `text:12x`, `{"a":"12x"}`, `✗ must be a whole number`},
		{"type boolean", obj(`{"type":"boolean"}`), `space`, `{"a":true}`, `● true`},
		{"boolean false", obj(`{"type":"boolean"}`), `space space`, `{"a":false}`, `● false`},
		{"boolean unset", obj(`{"type":"boolean"}`), `space space space`, `{}`, `● unset`},
		{"type null", obj(`{"type":"null"}`), `space`, `{"a":null}`, `null`},
		{"type null off", obj(`{"type":"null"}`), `space space`, `{}`, `unset`},
		{"type array", obj(`{"type":"array","items":{"type":"integer"}}`), `right down enter text:1 ctrl+n text:2`, `{"a":[1,2]}`, `[1]`},
		{"type array of types", obj(`{"type":["string","integer"]}`), `space down enter text:7`, `{"a":7}`, `integer ▾`},
		{"types with null", obj(`{"type":["string","null"]}`), `ctrl+o down enter`, `{"a":null}`, `string | null`},
		{"nullable", obj(`{"type":"integer","nullable":true}`), `text:null`, `{"a":null}`, `integer | null`},
		{"enum", obj(`{"enum":["red",2,null]}`), `space down enter`, `{"a":2}`, `‹ 2 ▾ ›`},
		{"enum by typing", obj(`{"enum":["red","green","blue"]}`), `text:gre enter`, `{"a":"green"}`, `‹ green ▾ ›`},
		{"enum steps", obj(`{"enum":["red","green","blue"]}`), `left`, `{"a":"blue"}`, `one of: red, green, blue`},
		{"enum unset", obj(`{"enum":["red"]}`), `space enter space down enter`, `{}`, `unset`},
		{"const", obj(`{"const":{"x":1.0}}`), `space`, `{"a":{"x":1.0}}`, `= {"x":1.0}`},
		{"default", obj(`{"type":"integer","default":5}`), `ctrl+o down down enter`, `{"a":5}`, `default 5`},
		{"required default", `{"type":"object","required":["a"],"properties":{"a":{"default":1.0}}}`, ``, `{"a":1.0}`, `a*`},
		{"title", obj(`{"type":"string","title":"The Title"}`), ``, `{}`, `The Title`},
		{"description", obj(`{"type":"string","description":"explains it"}`), ``, `{}`, `explains it`},
		{"examples", obj(`{"type":"string","examples":["one"]}`), `ctrl+o down down down enter`, `{"a":"one"}`, `examples "one"`},
		{"$comment", obj(`{"$comment":"by hand"}`), ``, `{}`, `$comment by hand`},
		{"minimum", obj(`{"type":"number","minimum":3}`), `text:2`, `{"a":2}`, `✗ must be at least 3`},
		{"maximum", obj(`{"type":"number","maximum":3}`), `text:4`, `{"a":4}`, `✗ must be at most 3`},
		{"exclusiveMinimum", obj(`{"type":"number","exclusiveMinimum":3}`), `text:3`, `{"a":3}`, `✗ must be more than 3`},
		{"exclusiveMaximum", obj(`{"type":"number","exclusiveMaximum":3}`), `text:3`, `{"a":3}`, `✗ must be less than 3`},
		{"multipleOf", obj(`{"type":"number","multipleOf":5}`), `text:7`, `{"a":7}`, `✗ must be a multiple of 5`},
		{"minLength", obj(`{"type":"string","minLength":3}`), `text:ab`, `{"a":"ab"}`, `✗ must have at least 3 characters, has 2`},
		{"maxLength", obj(`{"type":"string","maxLength":1}`), `text:ab`, `{"a":"ab"}`, `✗ must have at most 1 character, has 2`},
		{"pattern", obj(`{"type":"string","pattern":"^x"}`), `text:ab`, `{"a":"ab"}`, `✗ must match ^x`},
		{"pattern unchecked", obj(`{"type":"string","pattern":"(?=x)"}`), `text:ab`, `{"a":"ab"}`, `(?=x) is not checked`},
		{"format", obj(`{"type":"string","format":"date"}`), `text:2026`, `{"a":"2026"}`, `✗ is not a valid date`},
		{"contentEncoding", obj(`{"type":"string","contentEncoding":"base64"}`), ``, `{}`, `contentEncoding base64`},
		{"required", `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`, `tab`, `{}`, `✗ is required`},
		{"nested object", obj(`{"type":"object","properties":{"b":{"type":"object","properties":{"c":{"type":"string"}}}}}`), `right down right down text:x`, `{"a":{"b":{"c":"x"}}}`, `▾ b`},
		{"empty object", obj(`{"type":"object","properties":{"b":{}}}`), `ctrl+o down down enter`, `{"a":{}}`, `{}  empty`},
		{"null object", obj(`{"type":["object","null"],"properties":{"b":{}}}`), `ctrl+o down enter`, `{"a":null}`, `object | null`},
		{"minItems", obj(`{"type":"array","minItems":2}`), `ctrl+n`, `{"a":[null]}`, `✗ must have at least 2 items, has 1`},
		{"maxItems", obj(`{"type":"array","items":{"type":"string"},"maxItems":1}`), `ctrl+n ctrl+n`, `{"a":[""]}`, `at most 1 item`},
		{"uniqueItems", obj(`{"type":"array","items":{"type":"string"},"uniqueItems":true}`), `ctrl+n text:x ctrl+n text:x`, `{"a":["x","x"]}`, `✗ is the same as item 0`},
		{"remove item", obj(`{"type":"array","items":{"type":"string"}}`), `ctrl+n text:x ctrl+n text:y up ctrl+x`, `{"a":["y"]}`, `[0]`},
		{"move item", obj(`{"type":"array","items":{"type":"string"}}`), `ctrl+n text:x ctrl+n text:y alt+up`, `{"a":["y","x"]}`, `[1]`},
		{"contains", obj(`{"type":"array","contains":{"const":1}}`), `ctrl+n text:2`, `{"a":[2]}`, `✗ must have an item that the schema describes in contains`},
		{"prefixItems", obj(`{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`), `right down down text:4`, `{"a":["",4]}`, `tuple of 2`},
		{"items as array", obj(`{"type":"array","items":[{"const":1},{"type":"integer"}],"additionalItems":{"type":"string"}}`), `right down down text:4 down enter text:z`, `{"a":[1,4,"z"]}`, `tuple of 2`},
		{"additionalProperties", obj(`{"type":"object","additionalProperties":{"type":"integer"}}`), `right down enter text:k enter text:5`, `{"a":{"k":5}}`, `not in the schema`},
		{"additionalProperties false", `{"type":"object","properties":{"a":{}},"additionalProperties":false}`, `ctrl+n`, `{}`, `any`},
		{"rename key", obj(`{"type":"object","additionalProperties":{"type":"integer"}}`), `right down enter text:k enter text:5 f2 text:2 enter`, `{"a":{"k2":5}}`, `k2`},
		{"key that is taken", obj(`{"additionalProperties":true}`), `right down enter text:k enter down enter text:k enter`, `{"a":{"k":null}}`, `there is such a key already`},
		{"patternProperties", obj(`{"type":"object","patternProperties":{"^n":{"type":"integer"}},"additionalProperties":{"type":"boolean"}}`), `right down enter text:n1 enter text:5 ctrl+n text:b enter space`, `{"a":{"n1":5,"b":true}}`, `map`},
		{"propertyNames", obj(`{"type":"object","additionalProperties":true,"propertyNames":{"maxLength":1}}`), `right down enter text:kk enter`, `{"a":{"kk":null}}`, `✗ the key must have at most 1 character, has 2`},
		{"minProperties", obj(`{"type":"object","minProperties":1,"additionalProperties":true}`), `ctrl+o down down enter`, `{"a":{}}`, `✗ must have at least 1 property, has 0`},
		{"unevaluatedProperties", `{"type":"object","properties":{"a":{}},"unevaluatedProperties":false}`, `ctrl+n`, `{}`, `any`},
		{"dependentRequired", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"dependentRequired":{"a":["b"]}}`, `text:x down down`, `{"a":"x"}`, `✗ is required because a is given`},
		{"dependentSchemas", `{"type":"object","properties":{"a":{"type":"string"}},"dependentSchemas":{"a":{"properties":{"extra":{"type":"string"}}}}}`, `text:x down text:y`, `{"a":"x","extra":"y"}`, `extra`},
		{"dependencies", `{"type":"object","properties":{"a":{"type":"string"},"b":{}},"dependencies":{"a":["b"]}}`, `text:x down`, `{"a":"x"}`, `required because a is given`},
		{"if then", `{"type":"object","properties":{"a":{"type":"string"}},"if":{"properties":{"a":{"const":"x"}},"required":["a"]},"then":{"properties":{"b":{"type":"string"}}},"else":{"properties":{"c":{"type":"string"}}}}`, `text:x down text:y`, `{"a":"x","b":"y"}`, `b`},
		{"else", `{"type":"object","properties":{"a":{"type":"string"}},"if":{"properties":{"a":{"const":"x"}},"required":["a"]},"then":{"properties":{"b":{"type":"string"}}},"else":{"properties":{"c":{"type":"string"}}}}`, `text:z down text:y`, `{"a":"z","c":"y"}`, `c`},
		{"allOf of two oneOf", obj(`{"allOf":[{"oneOf":[{"properties":{"r":{"type":"number"}},"required":["r"]},{"properties":{"s":{"type":"number"}},"required":["s"]}]},{"oneOf":[{"properties":{"x":{"type":"number"}},"required":["x"]},{"properties":{"y":{"type":"number"}},"required":["y"]}]}]}`), `right down right down text:1 down text:2`, `{"a":{"r":1,"x":2}}`, `and `},
		{"allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"integer"}}},{"properties":{"a":{"minimum":3},"b":{}}}]}`, `text:2`, `{"a":2}`, `✗ must be at least 3`},
		{"oneOf", obj(`{"oneOf":[{"title":"Circle","type":"object","properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind"]},{"title":"Square","type":"object","properties":{"kind":{"const":"square"},"side":{"type":"number"}},"required":["kind"]}]}`), `space down enter text:4 up up`, `{"a":{"kind":"square","side":4}}`, `one of: Circle, Square by kind`},
		{"oneOf back and forth", obj(`{"oneOf":[{"title":"C","properties":{"kind":{"const":"c"},"r":{"type":"number"}},"required":["kind"]},{"title":"S","properties":{"kind":{"const":"s"},"side":{"type":"number"}},"required":["kind"]}]}`), `right down down text:4 up up right right`, `{"a":{"kind":"c","r":4}}`, `‹ C ▾ ›`},
		{"oneOf constants", obj(`{"oneOf":[{"const":1,"title":"Low","description":"hardly"},{"const":2,"title":"High"}]}`), `space`, `{}`, `Low  1  hardly`},
		{"anyOf", obj(`{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"integer"}}]}`), `space down enter ctrl+n text:3`, `{"a":[3]}`, `‹ array of integer ▾ ›`},
		{"anyOf null", obj(`{"anyOf":[{"type":"integer"},{"type":"null"}]}`), `text:null`, `{"a":null}`, `integer | null`},
		{"anyOf required", `{"type":"object","properties":{"a":{"anyOf":[{"required":["x"]},{"required":["y"]}],"type":"object"}}}`, ``, `{}`, `at least one of: x; or y`},
		{"discriminator", obj(`{"discriminator":{"propertyName":"t"},"oneOf":[{"properties":{"t":{"const":"p"}}},{"properties":{"t":{"const":"q"}}}]}`), ``, `{}`, `by t`},
		{"not", obj(`{"type":"string","not":{"const":"x"}}`), `text:x`, `{"a":"x"}`, `✗ is one of the values that the schema excludes (not)`},
		{"$ref", `{"type":"object","properties":{"a":{"$ref":"#/$defs/pos"}},"$defs":{"pos":{"type":"integer","minimum":1}}}`, `text:0`, `{"a":0}`, `integer (pos)`},
		{"$ref recursion", `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"v":{"type":"string"},"next":{"$ref":"#/$defs/n"}}}}}`, `right down down right down text:deep`, `{"a":{"next":{"v":"deep"}}}`, `object (n)`},
		{"remote $ref", obj(`{"$ref":"https://example.com/s"}`), ``, `{}`, `is never fetched`},
		{"$anchor", `{"type":"object","properties":{"a":{"$ref":"#x"}},"$defs":{"y":{"$anchor":"x","type":"boolean"}}}`, `space`, `{"a":true}`, `boolean`},
		{"true", obj(`true`), `text:[1,2] down`, `{"a":[1,2]}`, `any`},
		{"any text", obj(`{}`), `text:plain`, `{"a":"plain"}`, `any`},
		{"any number", obj(`{}`), `text:1.0`, `{"a":1.0}`, `any`},
		{"any quoted", obj(`{}`), `text:"1"`, `{"a":"1"}`, `any`},
		{"false", obj(`false`), `space`, `{}`, `no value allowed`},
		{"unknnot in the schemaword", obj(`{"type":"string","x-widget":{"rows":3}}`), ``, `{}`, `x-widget: {"rows":3}`},
		{"x-mcp-header", obj(`{"type":"string","x-mcp-header":"Region"}`), ``, `{}`, `Mcp-Param-Region`},
		{"deprecated", obj(`{"type":"string","deprecated":true}`), ``, `{}`, `deprecated`},
		{"readOnly", obj(`{"type":"string","readOnly":true}`), ``, `{}`, `read-only`},
		{"writeOnly", obj(`{"type":"string","writeOnly":true}`), ``, `{}`, `write-only`},
		{"empty string", obj(`{"type":"string"}`), `text:x backspace`, `{"a":""}`, `""  empty`},
		{"unset by backspace", obj(`{"type":"string"}`), `text:x backspace backspace`, `{}`, `[            `},
		{"unset by key", obj(`{"type":"string"}`), `text:x ctrl+x`, `{}`, `[            `},
		{"undo", obj(`{"type":"string"}`), `text:x ctrl+x ctrl+z`, `{"a":"x"}`, `x`},
		{"several lines", obj(`{"type":"string"}`), `text:x alt+enter text:y`, `{"a":"x\ny"}`, `x`},
		{"root string", `{"type":"string"}`, `text:x`, `"x"`, `value`},
		{"root variants", `{"oneOf":[{"title":"A","type":"integer"},{"title":"B","type":"string"}]}`, `space down enter down text:x`, `"x"`, `string ▾`},
		{"no properties", `{"type":"object","additionalProperties":false}`, ``, `{}`, `takes no arguments`},
		{"order", `{"type":"object","properties":{"z":{"type":"string"},"m":{"type":"string"},"a":{"type":"string"}}}`, `down down text:3 up text:2 up text:1`, `{"z":"1","m":"2","a":"3"}`, `m`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, c.schema)
			if c.keys != "" {
				press(t, f, split(c.keys)...)
			}
			if got := string(f.JSON()); got != c.json {
				t.Errorf("value %s, want %s\n%s", got, c.json, screen(f))
			}
			assert.Contains(t, screen(f), c.shows)
		})
	}
}

// split cuts a script into keys; text: may hold blanks up to the next key.
func split(script string) []string {
	var out []string
	for _, w := range strings.Split(script, " ") {
		n := len(out) - 1
		if n >= 0 && strings.HasPrefix(out[n], "text:") && w == "there" {
			out[n] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}
