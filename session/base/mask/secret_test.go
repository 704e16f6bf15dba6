package mask

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// corpus is what has "hunter2" in it and must not have it after Hide. places are where a person has to type it again.
var corpus = []struct {
	schema, value, want string
	places              []string
}{
	{"", `{"api_key":"hunter2","n":12345678901234567890.10}`, `{"api_key":"***","n":12345678901234567890.10}`, []string{"/api_key"}},
	{"", `{"a":[{"deep":{"client_secret":{"x":["hunter2"]}}},1]}`, `{"a":[{"deep":{"client_secret":"***"}},1]}`, []string{"/a/0/deep/client_secret"}},
	{"", `{"Authorization":"Bearer hunter2hunter2","token":"","max_tokens":5,"secret":null}`, `{"Authorization":"***","token":"","max_tokens":5,"secret":null}`, []string{"/Authorization"}},
	{"", `{"url":"https://ada:hunter2@example.com/x?api_key=hunter2&q=1"}`, `{"url":"https://***@example.com/x?api_key=***&q=1"}`, []string{"/url"}},
	{"", `{"note":"use ghp_hunter2hunter2hunter2hunter2hunter2hun now"}`, `{"note":"use *** now"}`, []string{"/note"}},
	{"", `{"body":"{\"q\":1,\"password\":\"hunter2\"}"}`, `{"body":"{\"q\":1,\"password\":\"***\"}"}`, []string{"/body"}},
	{"", `{"password":72}`, `{"password":"***"}`, []string{"/password"}},
	{"", `{"a/b":{"~tok":1,"api-key":"hunter2"}}`, `{"a/b":{"~tok":1,"api-key":"***"}}`, []string{"/a~1b/api-key"}},
	{`{"properties":{"pin":{"type":"string","format":"password"}}}`, `{"pin":"hunter2","x":1}`, `{"pin":"***","x":1}`, []string{"/pin"}},
	{`{"properties":{"pin":{"writeOnly":true}}}`, `{"b":{"pin":"hunter2"}}`, `{"b":{"pin":"***"}}`, []string{"/b/pin"}},
	{`{"properties":{"pin":{"$ref":"#/$defs/hidden"}},"$defs":{"hidden":{"anyOf":[{"type":"null"},{"format":"password"}]}}}`, `{"pin":"hunter2"}`, `{"pin":"***"}`, []string{"/pin"}},
	{`{"properties":{"pins":{"items":{"writeOnly":true}}}}`, `{"pins":["hunter2"]}`, `{"pins":"***"}`, []string{"/pins"}},
	{`{"oneOf":[{"properties":{"a":{}}},{"properties":{"pin":{"format":"password"}}}]}`, `{"pin":"hunter2"}`, `{"pin":"***"}`, []string{"/pin"}},
	{`{"additionalProperties":{"format":"password"}}`, `{"any":"hunter2"}`, `"***"`, []string{""}},
	{`{"patternProperties":{"^p":{"writeOnly":true}}}`, `{"pin":"hunter2"}`, `"***"`, []string{""}},
	{`{"$ref":"https://example.com/other","x":"password"}`, `{"pin":"hunter2"}`, `"***"`, []string{""}},
	{"", `{"a":"hunter2",`, `"***"`, []string{""}},
	{"", strings.Repeat("[", 20_000) + `"hunter2"` + strings.Repeat("]", 20_000), `"***"`, []string{""}},
}

func TestHide(t *testing.T) {
	for _, c := range corpus {
		out, places := RuleOf([]byte(c.schema)).Hide([]byte(c.value))
		if string(out) != c.want || !slices.Equal(places, c.places) {
			t.Errorf("%s %.200s: %s at %q, want %s at %q", c.schema, c.value, out, places, c.want, c.places)
		}
	}
}

// What is not a secret stays byte for byte, but for blanks, whatever it is.
func TestHideKeeps(t *testing.T) {
	for _, v := range []string{`{"a":1,"a":2}`, `{"b":"\u00e9\u0041 \ud83d\ude00","c":1e400,"d":-0.0}`, `[]`, `"x"`, `null`, `{"monkey":"banana","page":3}`, "\"\xff\""} {
		if out, places := RuleOf(nil).Hide([]byte(" " + v + " ")); string(out) != v || places != nil {
			t.Errorf("%s: %s, %v", v, out, places)
		}
	}
	if out, _ := RuleOf(nil).Hide(nil); out != nil {
		t.Errorf("nothing became %s", out)
	}
}

// A form is filled in without what Hide hides.
func TestWithout(t *testing.T) {
	for _, c := range corpus {
		if out, ok := RuleOf([]byte(c.schema)).Without([]byte(c.value)); ok && strings.Contains(string(out), "hunter2") {
			t.Errorf("%s %.200s: %s", c.schema, c.value, out)
		}
	}
	if out, ok := RuleOf([]byte(`{"properties":{"pin":{"format":"password"}}}`)).Without([]byte(`{"pin":"1","a":[1, 2]}`)); !ok || string(out) != `{"a":[1,2]}` {
		t.Errorf("%s, %v", out, ok)
	}
}

// A schema that refers to itself, or is wide and deep, ends.
func TestHostileSchemas(t *testing.T) {
	loop := `{"properties":{"a":{"$ref":"#"},"pin":{"format":"password"}}}`
	if out, _ := RuleOf([]byte(loop)).Hide([]byte(`{"pin":"1","a":{"pin":"2","b":3}}`)); string(out) != `{"pin":"***","a":{"pin":"***","b":3}}` {
		t.Errorf("%s", out)
	}
	var b strings.Builder // each level refers twice to the next: 2^40 ways
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{"password":{}`)
	for i := range 40 {
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(`,"dI":{"allOf":[{"$ref":"#/$defs/dJ"},{"$ref":"#/$defs/dJ"}]}`, "I", string(rune('0'+i))), "J", string(rune('1'+i))))
	}
	b.WriteString(`}}`)
	if out, _ := RuleOf([]byte(b.String())).Hide([]byte(`{"pin":"1"}`)); string(out) != `"***"` {
		t.Errorf("%s", out)
	}
}

func TestRuleOfText(t *testing.T) {
	r := RuleOf([]byte(`{"properties":{"pin":{"format":"password"}}}`))
	for s, want := range map[string]bool{`{"pin": 12`: true, `{"a": 12`: false, `token = x`: true, "": false, `{"a":"{\\"pin\\": 1`: true, `{"a":"{\\"pen\\": 1`: false} {
		if r.Text(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}

// What was sent as a secret is masked where it comes back, wherever in the value it was, and what is short is not: it comes by chance.
func TestAfter(t *testing.T) {
	marked := RuleOf([]byte(`{"properties":{"pin":{"writeOnly":true}}}`))
	for sent, want := range map[string]string{
		`{"pin":"abcdef","q":"public"}`:          "*** abcde 123456 public",
		`{"pin":"abcde","q":"public"}`:           "abcdef abcde 123456 public",
		`{"pin":123456}`:                         "abcdef abcde *** public",
		`{"pin":["x",{"deep":["abcdef",12]}]}`:   "*** abcde 123456 public",
		`{"a":[1,{"api_key":["public","yes"]}]}`: "abcdef abcde 123456 ***",
		`{"api_key":{"x":"abcdef xy"},"pin":""}`: "abcdef abcde 123456 public",
		`["abcdef"]`:                             "abcdef abcde 123456 public",
		` {"pin" : "abcdef" } `:                  "*** abcde 123456 public",
		``:                                       "abcdef abcde 123456 public",
	} {
		assert.Equalf(t, marked.After([]byte(sent)).Clean("abcdef abcde 123456 public"), want, "%s", sent)
	}
	both := marked.After([]byte(`{"pin":"abcdef"}`), []byte(`{"pin":"abcdefghi"}`))
	assert.Equalf(t, both.Clean("abcdefghi abcdef"), "*** ***", "one that has another in it")
	assert.Equalf(t, marked.After([]byte(`{"pin":"abcdef"}`)).After([]byte(`{"pin":"123456"}`)).Clean("abcdef 123456"), "*** ***", "twice")
	if names, whole := marked.Names(); len(names) != 1 || names[0] != "pin" || whole {
		t.Errorf("%q, %v", names, whole)
	}
}

// What was sent comes back as a number, or as a text of which a part looks like a secret by itself: all of it goes. A token of somebody else in
// which it is by chance goes, too.
func TestAfterWhole(t *testing.T) {
	sent := RuleOf([]byte(`{"properties":{"pin":{"writeOnly":true}}}`)).After([]byte(`{"pin":12345678,"password":"Basic horse-battery and more","dsn":"postgres://me:pw@host.example/db","key":"abcdef"}`))
	out, places := sent.Hide([]byte(`{"n":12345678,"m":123456789,"s":["you said Basic horse-battery and more","at postgres://me:pw@host.example/db","ghp_0123456789abcdef"]}`))
	assert.Equal(t, string(out), `{"n":"***","m":123456789,"s":["you said ***","at ***","***"]}`)
	assert.Equal(t, strings.Join(places, " "), "/n /s/0 /s/1 /s/2")
}

// Each place in which a schema may mark something is looked into.
func TestMarkedPlaces(t *testing.T) {
	const mark = `{"properties":{"pin":{"format":"password"}}}`
	for _, kw := range strings.Fields("items additionalItems additionalProperties unevaluatedProperties unevaluatedItems contains if then else") {
		if names, _ := RuleOf([]byte(`{"` + kw + `":` + mark + `}`)).Names(); !slices.Equal(names, []string{"pin"}) {
			t.Errorf("%s: %q", kw, names)
		}
		if _, whole := RuleOf([]byte(`{"` + kw + `":{"writeOnly":true}}`)).Names(); !whole {
			t.Errorf("%s marks nothing", kw)
		}
	}
	for _, kw := range strings.Fields("allOf anyOf oneOf prefixItems items") {
		if names, _ := RuleOf([]byte(`{"` + kw + `":[{},` + mark + `]}`)).Names(); !slices.Equal(names, []string{"pin"}) {
			t.Errorf("%s: %q", kw, names)
		}
	}
	for _, kw := range strings.Fields("patternProperties dependentSchemas dependencies") {
		names, whole := RuleOf([]byte(`{"` + kw + `":{"a":` + mark + `}}`)).Names()
		if _, marks := RuleOf([]byte(`{"` + kw + `":{"a":{"writeOnly":true}}}`)).Names(); !slices.Equal(names, []string{"pin"}) || whole || !marks {
			t.Errorf("%s: %q, %v, %v", kw, names, whole, marks)
		}
	}
	for ref, want := range map[string]bool{"#/$defs/a~1b~0": true, "#/$defs/none": true, "#/$defs/open": false, "#": false, "#anchor": true} {
		schema := `{"properties":{"x":{"$ref":"` + ref + `"}},"$defs":{"a/b~":{"writeOnly":true},"open":{"type":"string"}}}`
		if names, _ := RuleOf([]byte(schema)).Names(); slices.Contains(names, "x") != want {
			t.Errorf("%s: %q", ref, names)
		}
	}
}
