package schema

import (
	"slices"
	"strings"
	"testing"
)

// Of a value with texts that are not known, the problems stay that are there whatever they are.
func TestCertain(t *testing.T) {
	const of = `{"type":"object","required":["limit"],"additionalProperties":false,"properties":{
		"key":{"type":"string","minLength":20},"limit":{"type":"integer"},"list":{"type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^x"}},
		"in":{"oneOf":[{"properties":{"a":{"const":"b"}}},{"properties":{"a":{"const":"c"}}}]},"deep":{"type":"object","properties":{"n":{"type":"integer"}}}}}`
	for in, want := range map[string]string{
		`{"limit":1,"key":"short"}`:              "/key minLength",
		`{"limit":1,"key":"???"}`:                "",
		`{"limit":1,"key":"it is ??? here"}`:     "",
		`{"limit":"???"}`:                        "",
		`{"key":"???"}`:                          "/limit required",
		`{"limit":1,"list":["???","???"]}`:       "",
		`{"limit":1,"list":["???","y"]}`:         "/list/1 pattern",
		`{"limit":1,"in":{"a":"???"}}`:           "",
		`{"limit":1,"in":{"a":"d"}}`:             "/in oneOf",
		`{"limit":1,"deep":"???"}`:               "",
		`{"limit":1,"deep":{"n":"x"}}`:           "/deep/n type",
		`{"limit":1,"???":2}`:                    "",
		`{"limit":1,"other":2,"key":"???"}`:      "/other additionalProperties",
		`{"???":2}`:                              "", // it may be limit
		`"???"`:                                  "",
		`7`:                                      " type",
		`{"limit":1.5,"list":["???"],"key":"?"}`: "/key minLength,/limit type",
	} {
		problems, unchecked := Parse([]byte(of)).ValidateJSON([]byte(in))
		var got []string
		for _, p := range Certain(problems, []byte(in), func(s string) bool { return strings.Contains(s, "???") }) {
			got = append(got, p.Pointer+" "+p.Keyword)
		}
		slices.Sort(got)
		if s := strings.Join(got, ","); s != want || unchecked != "" {
			t.Errorf("%s: %q, want %q (of %v) %s", in, s, want, problems, unchecked)
		}
	}
}

// A text is looked for in values and names of members, whatever is around it.
func TestWithin(t *testing.T) {
	unknown := func(s string) bool { return s == "x" }
	for raw, want := range map[string]bool{`{"a":["x"]}`: true, `{"x":1}`: true, `{"a":"\u0078"}`: true, `"x"`: true, `x`: true, `{"a":"y x"}`: false, `[`: false, `1`: false} {
		if Within([]byte(raw), unknown) != want {
			t.Errorf("%s: %v", raw, !want)
		}
	}
}
