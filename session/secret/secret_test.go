package secret

import (
	"slices"
	"strings"
	"testing"
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
		out, places := Of([]byte(c.schema)).Hide([]byte(c.value))
		if string(out) != c.want || !slices.Equal(places, c.places) {
			t.Errorf("%s %.200s: %s at %q, want %s at %q", c.schema, c.value, out, places, c.want, c.places)
		}
	}
}

// What is not a secret stays byte for byte, but for blanks, whatever it is.
func TestHideKeeps(t *testing.T) {
	for _, v := range []string{`{"a":1,"a":2}`, `{"b":"\u00e9\u0041 \ud83d\ude00","c":1e400,"d":-0.0}`, `[]`, `"x"`, `null`, `{"monkey":"banana","page":3}`, "\"\xff\""} {
		if out, places := Of(nil).Hide([]byte(" " + v + " ")); string(out) != v || places != nil {
			t.Errorf("%s: %s, %v", v, out, places)
		}
	}
	if out, _ := Of(nil).Hide(nil); out != nil {
		t.Errorf("nothing became %s", out)
	}
}

// A form is filled in without what Hide hides.
func TestWithout(t *testing.T) {
	for _, c := range corpus {
		if out, ok := Of([]byte(c.schema)).Without([]byte(c.value)); ok && strings.Contains(string(out), "hunter2") {
			t.Errorf("%s %.200s: %s", c.schema, c.value, out)
		}
	}
	if out, ok := Of([]byte(`{"properties":{"pin":{"format":"password"}}}`)).Without([]byte(`{"pin":"1","a":[1, 2]}`)); !ok || string(out) != `{"a":[1,2]}` {
		t.Errorf("%s, %v", out, ok)
	}
}

// A schema that refers to itself, or is wide and deep, ends.
func TestHostileSchemas(t *testing.T) {
	loop := `{"properties":{"a":{"$ref":"#"},"pin":{"format":"password"}}}`
	if out, _ := Of([]byte(loop)).Hide([]byte(`{"pin":"1","a":{"pin":"2","b":3}}`)); string(out) != `{"pin":"***","a":{"pin":"***","b":3}}` {
		t.Errorf("%s", out)
	}
	var b strings.Builder // each level refers twice to the next: 2^40 ways
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{"password":{}`)
	for i := range 40 {
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(`,"dI":{"allOf":[{"$ref":"#/$defs/dJ"},{"$ref":"#/$defs/dJ"}]}`, "I", string(rune('0'+i))), "J", string(rune('1'+i))))
	}
	b.WriteString(`}}`)
	if out, _ := Of([]byte(b.String())).Hide([]byte(`{"pin":"1"}`)); string(out) != `"***"` {
		t.Errorf("%s", out)
	}
}

func TestText(t *testing.T) {
	r := Of([]byte(`{"properties":{"pin":{"format":"password"}}}`))
	for s, want := range map[string]bool{`{"pin": 12`: true, `{"a": 12`: false, `token = x`: true, "": false} {
		if r.Text(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}
