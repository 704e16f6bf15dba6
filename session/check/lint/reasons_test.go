package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/check/lint"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// messages are what a rule says of a schema of a parameter.
func messages(t *testing.T, id, members string) (out []string) {
	t.Helper()
	r := examine(t, listed(t, tool(`inputSchema:{"type":"object","properties":{"x":{"description":"d",`+members+`}},"$defs":{"a":{"$anchor":"n","description":"d","type":"string"}}}`)), lint.Options{})
	for _, f := range r.Findings {
		if f.ID == id {
			out = append(out, f.Message)
		}
	}
	return out
}

// The keyword that is offered is the nearest, not the first that is near.
func TestNearestKeyword(t *testing.T) {
	for name, want := range map[string]string{
		"maxlength": "maxLength", "minlength": "minLength", "exclusivemaximum": "exclusiveMaximum", "exclusiveminimum": "exclusiveMinimum", "maxitem": "maxItems", "minproperties": "minProperties",
		"maxproperties": "maxProperties", "descripton": "description",
	} {
		got := messages(t, "lint/keyword-misspelled", `"type":"string","`+name+`":1`)
		if len(got) != 1 || !strings.HasSuffix(got[0], "; "+want+" is") {
			t.Errorf("%s: %q, want %s", name, got, want)
		}
	}
}

// Why an engine does not have a pattern is what it lacks, and only look-around and back-references need one that backtracks.
func TestPatternReasons(t *testing.T) {
	for pattern, want := range map[string]string{
		`^(?=.*a)b`: "look-around", `a(?!b)`: "look-around", `(?<=a)b`: "look-around", `(?<!a)b`: "look-around", `(a)\\1`: "back-references",
		`^[a-z]{1,2000}$`: "at most 1000 times", `\\cA`: `the escape \c`, `[^]`: "empty class [^]", `a[]b`: "empty class []",
	} {
		got := messages(t, "lint/pattern-portability", `"type":"string","pattern":"`+pattern+`"`)
		if len(got) != 1 || !strings.Contains(got[0], want) || strings.Contains(got[0], "backtrack") != (strings.Contains(want, "look") || strings.Contains(want, "back")) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

// A character by its number and a large bound are written in other ways elsewhere, and no fault.
func TestOtherSpellings(t *testing.T) {
	for id, members := range map[string]string{
		"lint/pattern-portability": `"type":"string","pattern":"^[\\u0400-\\u04FF\\/]+\\u{1F600}\\\\u$"`,
		"lint/keyword-type":        `"type":"string","maxLength":18446744073709551615`,
		"lint/default-invalid":     `"type":"integer","default":18446744073709551615`,
	} {
		if got := messages(t, id, members); got != nil {
			t.Errorf("%s: %q", id, got)
		}
	}
	for id, members := range map[string]string{
		"lint/pattern-invalid": `"type":"string","pattern":"\\u0041["`, "lint/keyword-type": `"type":"string","maxLength":1.5`, "lint/default-invalid": `"type":"integer","default":7.5`,
	} {
		if got := messages(t, id, members); len(got) != 1 {
			t.Errorf("%s: %q, want one", id, got)
		}
	}
}

// The empty name is one: a finding below it is not at its parent.
func TestPointerOfTheEmptyName(t *testing.T) {
	r := examine(t, listed(t, tool(`inputSchema:{"type":"object","properties":{"x":{"description":"d","type":"object","patternProperties":{"":{"type":"strin"}}}}}`)), lint.Options{})
	for _, f := range r.Findings {
		if f.ID == "lint/type-unknown" {
			assert.Equal(t, f.Place.Pointer, "/inputSchema/properties/x/patternProperties//type")
			return
		}
	}
	t.Error("nothing found")
}

// What an anchor names describes as well as what a pointer leads to.
func TestDescribedByAnchor(t *testing.T) {
	for ref, want := range map[string]int{"#n": 0, "#/$defs/a": 0, "#other": 1} {
		r := examine(t, listed(t, tool(`inputSchema:{"type":"object","properties":{"x":{"$ref":"`+ref+`"}},"$defs":{"a":{"$anchor":"n","description":"d","type":"string"}}}`)), lint.Options{})
		n := 0
		for _, f := range r.Findings {
			if f.ID == "lint/parameter-description" {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d findings, want %d", ref, n, want)
		}
	}
}

// What is wrong with a default is said in words of its own, whatever stands beside it that does not matter.
func TestDefaultReasons(t *testing.T) {
	for members, want := range map[string]string{
		`"type":"integer","default":"3"`: `"3": is not of type [integer]`, `"type":"integer","title":"t","$comment":"c","deprecated":false,"examples":[3],"default":"3"`: `"3": is not of type [integer]`,
		`"type":["integer","null"],"default":"3"`: `"3": is not of type [integer null]`, `"type":"integer","minimum":3,"default":2`: "2: is less than 3", `"type":"integer","minimum":3,"default":3`: "",
		`"type":"integer","maximum":3,"default":4`: "4: is more than 3", `"type":"integer","maximum":3,"default":3`: "", `"enum":["a","b"],"default":"c"`: `"c": is not in enum`, `"enum":["a","b"],"default":"b"`: "",
		`"type":"string","minLength":2,"default":"c"`: `"c": must have at least 2 characters, has 1`, `"type":"array","items":{"type":"string"},"default":[1]`: "[1]: 0 must be a string",
		`"type":"array","items":{"type":"string"},"default":[]`: "", `"type":"array","minItems":1,"items":{"type":"string"},"default":[]`: "[]: must have at least 1 item, has 0", `"type":"object","required":["a"],"properties":{"a":{"type":"null","description":"d"}},"default":{}`: "{}: a is required",
		`"$ref":"#/$defs/a","default":5`: "5: must be a string", `"type":"number","maximum":3,"default":"x"`: `"x": is not of type [number]`,
	} {
		got := messages(t, "lint/default-invalid", members)
		if want == "" && len(got) != 0 || want != "" && (len(got) != 1 || got[0] != want) {
			t.Errorf("%s: %q, want %q", members, got, want)
		}
	}
}

// Who refuses a tool stands at the end of what is said of it, where a rule is about clients and does not name one by itself.
func TestRefusedBy(t *testing.T) {
	for members, want := range map[string]string{
		`"type":"array"`:              "the array has no items · refused by openai, gemini, vscode",
		`"type":"string","default":7`: "",
	} {
		r := examine(t, listed(t, param(members)), lint.Options{})
		said := ""
		for _, f := range r.Findings {
			if strings.Contains(f.Message, " · ") {
				said += f.Message
			}
		}
		assert.Equalf(t, said, want, "%s", members)
	}
	r := examine(t, listed(t, param(`"type":"array"`)), lint.Options{Clients: []string{"gemini", "cursor"}})
	if len(r.Findings) != 1 || r.Findings[0].Message != "the array has no items · refused by gemini" {
		t.Errorf("%q", places(r))
	}
}

// Clients write the name of a server before that of a tool, with _ for what they do not take.
func TestPrefixes(t *testing.T) {
	long := strings.Repeat("a", 64)
	for known, want := range map[string]string{"a b.c/d": "a_b_c_d", "A-1_z": "A-1_z", "ü": "_"} {
		r := examine(t, listed(t, tool(`name:"`+long+`"`)), lint.Options{KnownAs: known})
		n := 0
		for _, f := range r.Findings {
			before, _, found := strings.Cut(f.Message, long)
			if f.ID != "lint/name-too-long" || !found || before == "" {
				continue
			}
			if n++; !strings.Contains(before, want) || strings.ContainsAny(before, " ./ü") {
				t.Errorf("%s: %s", known, f.Message)
			}
		}
		if n == 0 {
			t.Errorf("%s: %q", known, places(r))
		}
	}
}

// Names are read by their words, sizes by their numbers, and keys by their characters.
func TestNamesAndSizes(t *testing.T) {
	for name, want := range map[string]string{
		"get_x": "get x", "get-x": "get x", "get.x": "get x", "get/x": "get x", "get x": "get x", "getX": "get x", "getXY": "get xy", "GETx": "getx", "getURLs": "get urls", "x2Y": "x2y", "__a__": "a", "": "", "A": "a", "aB_C": "a b c", "get:x": "get:x",
	} {
		assert.Equalf(t, strings.Join(lint.WordsOf(name), " "), want, "%s", name)
	}
	for size, want := range map[string]bool{"any": true, "48x48": true, "1x1": true, "48x": false, "x48": false, "48": false, "48x48x48": false, "048x48": false, "48x0": false, "48X48": false, "4 x 4": false, "": false, "x": false, "10x100": true} {
		if lint.IconSize(size) != want {
			t.Errorf("%q is a size: %v", size, !want)
		}
	}
	for key, want := range map[string]bool{"a": true, "aZ09_.-": true, "": false, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "a b": false, "ä": false, "a$": false, "a/b": false} {
		if lint.KeyFits(key) != want {
			t.Errorf("%q fits: %v", key, !want)
		}
	}
}

// Each member of an item is what the protocol says, and a finding where it is something else.
func TestEachMember(t *testing.T) {
	icon := func(members string) string { return tool(`icons:[{"src":"https://a.b/c",` + members + `}]`) }
	hinted := func(name, hint string) string { return tool(`name:"`+name+`"`, `annotations:{"`+hint+`":true}`) }
	for doc, want := range map[string]string{
		tool(`execution:{"taskSupport":"sometimes"}`): "member-type /execution/taskSupport", tool(`execution:{"taskSupport":"optional"}`): "", tool(`execution:[]`): "member-type /execution", tool(`outputSchema:[1]`): "output-schema-type /outputSchema",
		tool(`title:null`): "member-type /title", tool(`_meta:[]`): "member-type /_meta", tool(`annotations:[]`): "member-type /annotations", tool(`annotations:{"title":7}`): "annotation-type /annotations/title", tool(`annotations:{"title":"T"}`): "",
		tool(`icons:{}`): "member-type /icons", tool(`icons:["x"]`): "member-type /icons/0", tool(`icons:[{}]`): "member-type /icons/0", icon(`"theme":"grey"`): "member-type /icons/0/theme", icon(`"theme":"dark"`): "", icon(`"theme":"light"`): "",
		icon(`"mimeType":7`): "member-type /icons/0/mimeType", icon(`"sizes":"48x48"`): "member-type /icons/0/sizes", icon(`"sizes":[48]`): "member-type /icons/0/sizes/0", icon(`"sizes":["any",48]`): "member-type /icons/0/sizes/1",
		tool(`icons:[{"src":"http://a.b/c"},{"src":"data:image/png;base64,x"},{"src":"ftp://a.b/c"}]`):                         "icon-source /icons/2/src",
		`{"tools":[{"name":"do_it","name":"do_it","description":"Does what the test wants done.","inputSchema":` + obj + `}]}`: "member-repeated /name",
		hinted("list_things", "destructiveHint"): "annotation-name /annotations/destructiveHint", hinted("list_and_delete", "destructiveHint"): "", hinted("add_thing", "readOnlyHint"): "annotation-name /annotations/readOnlyHint", hinted("add", "readOnlyHint"): "", hinted("delete", "readOnlyHint"): "annotation-name /annotations/readOnlyHint",
		hinted("do_it", "readOnly"): "annotation-unknown /annotations/readOnly", hinted("do_it", "readOnlyHints"): "annotation-unknown /annotations/readOnlyHints", hinted("do_it", "readHint"): "",
		prompt(`,"arguments":{}`): "member-type /arguments", prompt(`,"arguments":[{"name":"a","description":"d","required":"yes"}]`): "member-type /arguments/0/required", prompt(`,"arguments":[{"name":"a","description":7}]`): "member-type /arguments/0/description", prompt(`,"title":7`): "member-type /title",
		resource(`,"uri":"a://b","annotations":[]`): "content-annotation /annotations", resource(`,"uri":"a://b","annotations":{"audience":"user"}`): "content-annotation /annotations/audience", resource(`,"uri":"a://b","annotations":{"audience":["user","robot"]}`): "content-annotation /annotations/audience",
		resource(`,"uri":"a://b","annotations":{"audience":["user","assistant"],"priority":1,"lastModified":"2027-01-01T00:00:00Z"}`): "", resource(`,"uri":"a://b","annotations":{"priority":0}`): "", resource(`,"uri":"a://b","annotations":{"priority":1.1}`): "content-annotation /annotations/priority",
		resource(`,"uri":"a://b","annotations":{"priority":-0.1}`): "content-annotation /annotations/priority", resource(`,"uri":"a://b","annotations":{"priority":"1"}`): "content-annotation /annotations/priority", resource(`,"uri":"a://b","annotations":{"lastModified":"yesterday"}`): "content-annotation /annotations/lastModified",
		resource(`,"uri":7`): "resource-uri ", resource(`,"uri":"b"`): "resource-uri /uri", resource(`,"uri":"a://b","size":-1`): "resource-size /size", resource(`,"uri":"a://b","size":0`): "", resource(`,"uri":"a://b","size":"1"`): "member-type /size",
		resource(`,"uri":"a://b","mimeType":"text"`): "mime-type /mimeType", resource(`,"uri":"a://b","mimeType":"text/plain; charset=utf-8"`): "", resource(`,"uri":"a://b","mimeType":7`): "member-type /mimeType",
	} {
		var got []string
		for _, f := range examine(t, listed(t, doc), lint.Options{}).Findings {
			if f.ID != "lint/hints-missing" && f.ID != "lint/title-missing" { // what is there is the matter here
				got = append(got, strings.TrimPrefix(f.ID, "lint/")+" "+f.Place.Pointer)
			}
		}
		assert.Equalf(t, strings.Join(got, ", "), want, "%s", doc)
	}
}

// What providers refuse of a parameter, rule by rule and place by place.
func TestPortability(t *testing.T) {
	of := strings.Fields("untyped union-untyped type-union array-items items-union tuple-items tuple-prefix enum-empty-value enum-not-strings format-openai boolean-schema")
	const old, now = `"$schema":"http://json-schema.org/draft-07/schema#",`, `"$schema":"https://json-schema.org/draft/2020-12/schema",`
	for members, want := range map[string]string{
		`"title":"t"`: "untyped ", `"enum":["a"]`: "", `"type":"string"`: "", `"not":{"type":"null"}`: "", `"anyOf":[{"type":"string"},{"type":"null"}]`: "", `"anyOf":[{"minLength":1},{"type":"null"}]`: "union-untyped /anyOf/0",
		`"type":"string","anyOf":[{"minLength":1},{"maxLength":2}]`: "", `"oneOf":[{"anyOf":[{"minLength":1}]},{"const":"a"}]`: "union-untyped /oneOf/0/anyOf/0", `"anyOf":[{"enum":["a"]},{"type":"null"}]`: "union-untyped /anyOf/0",
		`"type":"string","allOf":[{"anyOf":[{"minLength":1}]}]`: "", `"type":["string","integer"]`: "type-union /type", `"type":["string","null"]`: "", `"type":["null","integer","string"]`: "type-union /type",
		`"type":"array"`: "array-items ", `"type":["array","null"]`: "array-items ", `"type":"array","items":{"type":"string"}`: "", `"type":"array","$ref":"#/$defs/a"`: "", `"type":"array","items":{"type":["string","integer"]}`: "items-union /items/type", `"type":"array","items":{"title":"t"}`: "untyped /items",
		`"type":"array","prefixItems":[{"type":"string"}]`: "tuple-prefix /prefixItems", `"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"string"}`: "", `"type":"array","items":[{"type":"string"}]`: "tuple-items /items error", old + `"type":"array","items":[{"type":"string"}]`: "tuple-items /items warning",
		now + `"type":"array","items":[{"type":"string"}]`: "tuple-items /items error", old + `"type":"array","items":{"type":"array","items":[{"type":"string"}]}`: "tuple-items /items/items warning", `"type":"object","properties":{},"additionalProperties":{"title":"t"}`: "",
		`"type":"string","enum":["a",""]`: "enum-empty-value /enum", `"type":["string","null"],"enum":["a",null]`: "enum-empty-value /enum", `"type":"integer","enum":[1,2]`: "enum-not-strings /enum", `"type":["string","integer"],"enum":["a",1,""]`: "type-union /type, enum-empty-value /enum, enum-not-strings /enum",
		`"type":"string","format":"uri"`: "format-openai /format", `"format":"uri"`: "untyped , format-openai /format", `"type":"string","format":"uuid"`: "", `"type":"integer","format":"int32"`: "", `"type":"array","items":true`: "boolean-schema /items", `"type":"object","properties":{"y":true}`: "boolean-schema /properties/y", `"type":"object","properties":{},"additionalProperties":true`: "",
	} {
		var got []string
		r := examine(t, listed(t, in(`{"type":"object","properties":{"x":{"description":"d",`+members+`}},"$defs":{"a":{"type":"string"}}}`)), lint.Options{})
		for _, id := range of {
			for _, f := range r.Findings {
				if f.ID != "lint/"+id || !strings.HasPrefix(f.Place.Pointer, x) {
					continue
				}
				if s := id + " " + strings.TrimPrefix(f.Place.Pointer, x); id == "tuple-items" {
					got = append(got, s+" "+f.Severity.String())
				} else {
					got = append(got, s)
				}
			}
		}
		slices.SortFunc(got, func(a, b string) int { return strings.Index(want, a) - strings.Index(want, b) })
		assert.Equalf(t, strings.Join(got, ", "), want, "%s", members)
	}
	for protocol, want := range map[string]string{"2025-11-25": "error the root is of type \"array\", not object", "2026-07-28": "warning the root is of type \"array\": only revision 2026-07-28 allows it"} {
		s := listed(t, tool(`outputSchema:{"type":"array","items":{"type":"string"}}`))
		s.Protocol = protocol
		said := ""
		for _, f := range examine(t, s, lint.Options{}).Findings {
			if f.ID == "lint/output-schema-type" {
				said += f.Severity.String() + " " + f.Message
			}
		}
		assert.Equalf(t, said, want, "%s", protocol)
	}
}
