package offer

import (
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
)

// The examples of RFC 6570, sections 1.2 and 3.2, with the values that they use; lists and maps are given as JSON.
func TestD2_TemplatesExpandByRFC6570(t *testing.T) {
	given := map[string]string{
		"count": `["one","two","three"]`, "dom": `["example","com"]`, "dub": "me/too", "hello": "Hello World!", "half": "50%", "var": "value", "who": "fred",
		"base": "http://example.com/home/", "path": "/foo/bar", "list": `["red","green","blue"]`, "keys": `{"semi":";","dot":".","comma":","}`,
		"v": "6", "x": "1024", "y": "768", "empty": "", "empty_keys": `{}`, "none": `[]`,
	}
	for template, want := range map[string]string{
		"{var}": "value", "{hello}": "Hello%20World%21", "{half}": "50%25", "O{empty}X": "OX", "O{undef}X": "OX", "{x,y}": "1024,768",
		"{x,hello,y}": "1024,Hello%20World%21,768", "?{x,empty}": "?1024,", "?{x,undef}": "?1024", "?{undef,y}": "?768", "{var:3}": "val", "{var:30}": "value",
		"{list}": "red,green,blue", "{list*}": "red,green,blue", "{keys}": "semi,%3B,dot,.,comma,%2C", "{keys*}": "semi=%3B,dot=.,comma=%2C",
		"{+var}": "value", "{+hello}": "Hello%20World!", "{+half}": "50%25", "{base}index": "http%3A%2F%2Fexample.com%2Fhome%2Findex", "{+base}index": "http://example.com/home/index",
		"O{+empty}X": "OX", "{+path}/here": "/foo/bar/here", "here?ref={+path}": "here?ref=/foo/bar", "up{+path}{var}/here": "up/foo/barvalue/here",
		"{+x,hello,y}": "1024,Hello%20World!,768", "{+path:6}/here": "/foo/b/here", "{+list*}": "red,green,blue", "{+keys}": "semi,;,dot,.,comma,,", "{+keys*}": "semi=;,dot=.,comma=,",
		"{#var}": "#value", "{#hello}": "#Hello%20World!", "foo{#empty}": "foo#", "foo{#undef}": "foo", "{#path,x}/here": "#/foo/bar,1024/here", "{#path:6}/here": "#/foo/b/here",
		"{#list}": "#red,green,blue", "{#keys*}": "#semi=;,dot=.,comma=,",
		"{.who}": ".fred", "{.half,who}": ".50%25.fred", "www{.dom*}": "www.example.com", "X{.var:3}": "X.val", "X{.empty}": "X.", "X{.undef}": "X", "X{.list}": "X.red,green,blue",
		"X{.list*}": "X.red.green.blue", "X{.keys}": "X.semi,%3B,dot,.,comma,%2C", "X{.keys*}": "X.semi=%3B.dot=..comma=%2C", "X{.empty_keys}": "X", "X{.empty_keys*}": "X",
		"{/who,dub}": "/fred/me%2Ftoo", "{/var,empty}": "/value/", "{/var,undef}": "/value", "{/var:1,var}": "/v/value", "{/list}": "/red,green,blue", "{/list*,path:4}": "/red/green/blue/%2Ffoo",
		"{/keys*}": "/semi=%3B/dot=./comma=%2C",
		"{;who}":   ";who=fred", "{;empty}": ";empty", "{;v,empty,who}": ";v=6;empty;who=fred", "{;v,bar,who}": ";v=6;who=fred", "{;hello:5}": ";hello=Hello", "{;list}": ";list=red,green,blue",
		"{;list*}": ";list=red;list=green;list=blue", "{;keys}": ";keys=semi,%3B,dot,.,comma,%2C", "{;keys*}": ";semi=%3B;dot=.;comma=%2C",
		"{?x,y}": "?x=1024&y=768", "{?x,y,empty}": "?x=1024&y=768&empty=", "{?x,y,undef}": "?x=1024&y=768", "{?var:3}": "?var=val", "{?list}": "?list=red,green,blue",
		"{?list*}": "?list=red&list=green&list=blue", "{?keys}": "?keys=semi,%3B,dot,.,comma,%2C", "{?keys*}": "?semi=%3B&dot=.&comma=%2C",
		"?fixed=yes{&x}": "?fixed=yes&x=1024", "{&var:3}": "&var=val", "{&list*}": "&list=red&list=green&list=blue", "{&keys*}": "&semi=%3B&dot=.&comma=%2C", "X{none}{?none*}": "X",
	} {
		if got, err := Expand(template, given); err != nil && want != "" || got != want {
			t.Errorf("%s: %q, %v; want %q", template, got, err, want)
		}
	}
}

// What servers of resources write, and what users type: text beyond ASCII, numbers in lists, JSON that is a text after all.
func TestD2_TemplatesOfServers(t *testing.T) {
	given := map[string]string{
		"id": `["a","b/c","ü"]`, "q": "日本 & why?", "nums": `[1, 2.50, true]`, "deep": `["a",["b"]]`, "kv": `{"a&b":"c=d","e":""}`, "blank": `["",""]`, "pre": "%41%zz",
	}
	for template, want := range map[string]string{
		"db://t/{id*}":        "db://t/a,b%2Fc,%C3%BC",
		"db://t{/id*}":        "db://t/a/b%2Fc/%C3%BC",
		"db://t{?q}":          "db://t?q=%E6%97%A5%E6%9C%AC%20%26%20why%3F",
		"db://t/{q:1}":        "db://t/%E6%97%A5",
		"db://t/{nums}":       "db://t/1,2.50,true",
		"db://t/{deep}":       "db://t/%5B%22a%22%2C%5B%22b%22%5D%5D",
		"db://t{?kv*}":        "db://t?a%26b=c%3Dd&e=",
		"db://t{?blank*}":     "db://t?blank=&blank=",
		"db://t/{+pre}/{pre}": "db://t/%41%25zz/%2541%25zz",
		"db://ü/{nums}":       "db://%C3%BC/1,2.50,true",
	} {
		if got, err := Expand(template, given); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", template, got, err, want)
		}
	}
	for template, want := range map[string]string{
		"db://{":                              "cannot expand db://{",
		"db://{a b}":                          "cannot expand",
		"{}":                                  "cannot expand",
		"{unset}":                             "expands to nothing",
		"db://" + strings.Repeat("{x}", 4000): "more than the",
	} {
		if got, err := Expand(template, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %q, %v; want %q", template, got, err, want)
		}
	}
}

// Whatever the template and the value, expanding ends, and gives a URI of ASCII.
func FuzzExpand(f *testing.F) {
	f.Add("db://t{/id*}{?q,r:3}{&kv*}", `["a"]`)
	f.Add("{+a}{#b}{.c}{;d}", `{"k":"v"}`)
	f.Fuzz(func(t *testing.T, template, value string) {
		p, err := ParseTemplate(template)
		if err != nil {
			return
		}
		given := map[string]string{}
		for _, n := range p.Varnames() {
			given[n] = value
		}
		uri, err := Expand(template, given)
		if err == nil && strings.IndexFunc(uri, func(r rune) bool { return r <= ' ' || r >= 0x7f }) >= 0 {
			t.Errorf("%q with %q: %q", template, value, uri)
		}
	})
}

// Templates and values in the shapes that take other implementations exponential time (exploded lists behind each other,
// values that almost match) are answered at once.
func TestD2_HostileTemplatesAreQuick(t *testing.T) {
	limit := 500 * time.Millisecond // exponential time would be hours
	if budget.Race() {
		limit *= 10
	}
	explode := strings.Repeat("{/id*}{?q*}", 600)
	commas := strings.Repeat("a,", 50_000) + "!"
	for name, c := range map[string]struct {
		template string
		given    map[string]string
	}{
		"one exploded list":   {"db://t{/id*}", map[string]string{"id": commas}},
		"many exploded lists": {explode, map[string]string{"id": `["a"]`, "q": `["b"]`}},
		"long list":           {"db://t{?q*}", map[string]string{"q": `["` + strings.Repeat(`a","`, 20_000) + `"]`}},
		"nested braces":       {strings.Repeat("{", 4000), nil},
		"never closed":        {"db://" + strings.Repeat("{a,", 2000), nil},
		"many operators":      {strings.Repeat("{+a}{#b}{.c}", 600), map[string]string{"a": commas[:200]}},
	} {
		// How it ends is not the point.
		if took := budget.Median(func() { _, _ = Expand(c.template, c.given) }); took > limit {
			t.Errorf("%s took %v", name, took)
		}
	}
}
