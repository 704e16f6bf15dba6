package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/redact"
	"github.com/mcphud/mcphud/session/wire/journal"
)

type said struct {
	e    journal.Entry
	body string
}

// changed applies rules to entries, and gives what is left and what was taken out.
func changed(t *testing.T, rules redact.Rules, all ...said) (out []string, report []redact.Taken) {
	t.Helper()
	r, err := redact.New(rules)
	require.NoError(t, err)
	for _, s := range all {
		r.Learn(s.e, []byte(s.body))
	}
	for _, s := range all {
		before := []byte(s.body)
		e, body := r.Change(s.e, before)
		assert.Equalf(t, string(before), s.body, "the body was modified")
		if s.e.Kind <= journal.Notification {
			if _, err := jsonrpc.Scan(body); err != nil {
				t.Errorf("%s is not valid any more: %v", body, err)
			}
		}
		out = append(out, string(body))
		if e.Note != "" || e.Tool != "" {
			out = append(out, "note: "+e.Note+e.Tool)
		}
	}
	return out, r.Report()
}

func request(params string) said {
	return said{journal.Entry{Kind: journal.Request, ID: "1", Method: "tools/call"}, `{"jsonrpc":"2.0", "id":1,"method":"tools/call","params":` + params + `}`}
}

func TestRules(t *testing.T) {
	const before, after = `{"jsonrpc":"2.0", "id":1,"method":"tools/call","params":`, `}`
	for name, c := range map[string]struct {
		rules redact.Rules
		in    []said
		want  []string
	}{
		"key, in any spelling and depth": {
			redact.Rules{Keys: []string{"user-id"}},
			[]said{request(`{"arguments":{"userId":"jane", "n": 1.0,"deep":[{"USER_ID":42}],"user_id":{"a":["x",true,null]}}}`)},
			[]string{before + `{"arguments":{"userId":"[user-id-1]", "n": 1.0,"deep":[{"USER_ID":"[user-id-2]"}],"user_id":{"a":["[user-id-3]",true,null]}}}` + after},
		},
		"key, but not where a schema describes it": {
			redact.Rules{Keys: []string{"email"}},
			[]said{request(`{"properties":{"email":{"type":"string","password":{}}},"email":"a@b.c"}`)},
			[]string{before + `{"properties":{"email":{"type":"string","password":{}}},"email":"[email-1]"}` + after},
		},
		"path": {
			redact.Rules{Paths: []string{"/params/list/*/name", "/params/a~1b/0"}},
			[]said{request(`{"list":[{"name":"x","id":"x"},{"name":"y"}],"a/b":["first","second"],"name":"x"}`)},
			[]string{before + `{"list":[{"name":"[name-1]","id":"x"},{"name":"[name-2]"}],"a/b":["[0-1]","second"],"name":"x"}` + after},
		},
		"value, in any place": {
			redact.Rules{Values: []string{"ACME"}},
			[]said{request(`{"ACME":"of ACME and \u0041CME"}`), {journal.Entry{Kind: journal.Stderr, Note: "ACME"}, "hello ACME\n"}},
			[]string{before + `{"[value-1]":"of [value-1] and [value-1]"}` + after, "hello [value-1]\n", "note: [value-1]"},
		},
		"pattern": {
			redact.Rules{Patterns: []string{`\b\d{4}-\d{4}\b`}},
			[]said{request(`{"a":"card 1234-5678, 1234-5678 and 1111-2222","n":12345678}`)},
			[]string{before + `{"a":"card [match-1], [match-1] and [match-2]","n":12345678}` + after},
		},
		"JSON in a text": {
			redact.Rules{Keys: []string{"ssn"}},
			[]said{request(`{"text":"{\"ssn\": \"078-05-1120\",\"x\":1}"}`)},
			[]string{before + `{"text":"{\"ssn\": \"[ssn-1]\",\"x\":1}"}` + after},
		},
		"what was found by name is taken out elsewhere, also before": {
			redact.Rules{Keys: []string{"customer"}},
			[]said{{journal.Entry{Kind: journal.Stderr}, "serving Jane Roe now"}, request(`{"customer":"Jane Roe","say":"Dear Jane Roe!"}`)},
			[]string{"serving [customer-1] now", before + `{"customer":"[customer-1]","say":"Dear [customer-1]!"}` + after},
		},
		"secrets by name and look": {
			redact.Rules{},
			[]said{request(`{"_meta":{"progressToken":"abcdefgh"},"password":"hunter2","maxTokens":5,"text":"Bearer abcdef123456 and ghp_0123456789abcdef0123"}`)},
			[]string{before + `{"_meta":{"progressToken":"abcdefgh"},"password":"[secret-1]","maxTokens":5,"text":"Bearer [secret-2] and [secret-3]"}` + after},
		},
		"HTTP heads and texts": {
			redact.Rules{Keys: []string{"x-tenant", "user"}},
			[]said{{journal.Entry{Kind: journal.HTTP, Note: "POST /mcp?user=jane"}, "POST http://h/mcp?user=jane&a=1 HTTP/1.1\nX-Tenant: The Big One\nAccept: x\n"}, {journal.Entry{Kind: journal.Bad}, `user: "jane", other=1`}},
			[]string{"POST http://h/mcp?user=[user-1]&a=1 HTTP/1.1\nX-Tenant: [x-tenant-1]\nAccept: x\n", "note: POST /mcp?user=[user-1]", `user: [user-1], other=1`},
		},
		"the envelope": {
			redact.Rules{Keys: []string{"id", "method", "jsonrpc", "code"}, Values: []string{"tools"}},
			[]said{request(`{"id":"x"}`), {journal.Entry{Kind: journal.ErrorResponse, ID: "1"}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"m"}}`}},
			[]string{before + `{"id":"[id-1]"}` + after, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"m"}}`},
		},
		"twice is once": {
			redact.Rules{Keys: []string{"a"}},
			[]said{request(`{"a":"[a-1]","b":"***","password":"***"}`)},
			[]string{before + `{"a":"[a-1]","b":"***","password":"***"}` + after},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := changed(t, c.rules, c.in...)
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// An id that holds a value changes, and what refers to it changes alike.
func TestIDsStayLinked(t *testing.T) {
	r, err := redact.New(redact.Rules{Values: []string{"jane"}})
	require.NoError(t, err)
	e, body := r.Change(journal.Entry{Kind: journal.Request, ID: `"jane-1"`}, []byte(`{"jsonrpc":"2.0","id":"jane-1","method":"ping"}`))
	head, _ := r.Change(journal.Entry{Kind: journal.HTTP, ID: `"jane-1"`}, nil)
	if e.ID != `"[value-1]-1"` || head.ID != e.ID || !bytes.Contains(body, []byte(`"id":"[value-1]-1"`)) {
		t.Errorf("%s %s %s", e.ID, head.ID, body)
	}
}

// The report says of each rule how much it took out, and where; not what.
func TestReport(t *testing.T) {
	_, report := changed(t, redact.Rules{Keys: []string{"pin", "never"}, Values: []string{"topsecret"}},
		request(`{"list":[{"pin":"a"},{"pin":"b"}],"x":"topsecret topsecret"}`), request(`{"pin":"a"}`), said{journal.Entry{Kind: journal.Stderr}, "topsecret"})
	var got []string
	for _, r := range report {
		got = append(got, fmt.Sprintf("%s: %d in %d: %s", r.Rule, r.N, r.Entries, r.Where(1)))
	}
	want := []string{
		"key pin: 3 in 2: /params/list/*/pin (2), and 1 more places", "key never: 0 in 0: ",
		"value 1: 3 in 2: /params/x (2), and 1 more places",
	}
	assert.Equal(t, strings.Join(got, "\n"), strings.Join(want, "\n"))
}

func TestWrongRules(t *testing.T) {
	for says, rules := range map[string]redact.Rules{
		"JSON pointer":   {Paths: []string{"params.x"}},
		"pattern":        {Patterns: []string{"("}},
		"the empty text": {Patterns: []string{"a*"}},
		"no letter":      {Keys: []string{"--"}},
		"empty":          {Values: []string{""}},
	} {
		if _, err := redact.New(rules); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// Whatever is in a message: valid JSON stays valid, and what a rule names is gone.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":"secretvalue"}`, `[[{"k":{"k":[1,"x"]}}]]`, `"\ud800"`, `{"a":1,"a":2}`, `{"t":"{\"k\":\"v\"}"}`, "{\"\x80\":\"\xff\"}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := redact.New(redact.Rules{Keys: []string{"k"}, Paths: []string{"/a"}, Values: []string{"secret"}})
		require.NoError(t, err)
		e := journal.Entry{Kind: journal.Notification}
		r.Learn(e, []byte(text))
		_, out := r.Change(e, []byte(text))
		if json.Valid([]byte(text)) && !json.Valid(out) {
			t.Errorf("%q became %q", text, out)
		}
		if bytes.Contains(out, []byte("secret")) {
			t.Errorf("%q became %q", text, out)
		}
	})
}

// A value ends with the brackets behind it, for they may be in it; without them it is found elsewhere.
func TestSecretsBeforeBrackets(t *testing.T) {
	stderr := journal.Entry{Kind: journal.Stderr}
	out, _ := changed(t, redact.Rules{}, said{stderr, "Config(password=hunter2)"}, said{stderr, "no user hunter2 here"}, said{stderr, "DB_PASSWORD=aB)Y8kQ2m"})
	assert.NotContains(t, strings.Join(out, "\n"), "hunter2", "Y8kQ2m", "aB")
}

// What is called like a secret is taken out of texts too: of stderr, of a command line, of JSON in the middle of a text.
func TestSecretsInTexts(t *testing.T) {
	for in, want := range map[string]string{
		"apikey=hunter2": "apikey=[secret-1]",
		"set API_KEY='hunter 2' and DB_PASSWORD=x":                                   "set API_KEY='[secret-1]' and DB_PASSWORD=[secret-2]",
		`sent {"password": "hunter2", "n": 1}`:                                       `sent {"password": "[secret-1]", "n": 1}`,
		`{'password': 'hunter2'} of python`:                                          `{'password': '[secret-1]'} of python`,
		"API_KEY: hunter2, and":                                                      "API_KEY: [secret-1], and",
		"/cb?client_secret=hunter2&state=1":                                          "/cb?client_secret=[secret-1]&state=1",
		"Authorization=Bearer hunter2hunter2":                                        "Authorization=Bearer [secret-1]",
		"--token=hunter2 --max-tokens=5":                                             "--token=[secret-1] --max-tokens=5",
		"-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\nx": "[secret-1]\nx",
		"token: the token that was given":                                            "token: the token that was given",
		"if token == nil || key := 5":                                                "if token == nil || key := 5",
		"password: ":                                                                 "password: ",
		"n=1: no secret":                                                             "n=1: no secret",
	} {
		out, _ := changed(t, redact.Rules{}, said{journal.Entry{Kind: journal.Stderr}, in})
		if out[0] != want {
			t.Errorf("%q is left as %q, want %q", in, out[0], want)
		}
		out, _ = changed(t, redact.Rules{}, request(`{"message":`+string(jsonrpc.Quote(in))+`}`))
		if said := string(jsonrpc.Get([]byte(out[0]), "params")); said != `{"message":`+string(jsonrpc.Quote(want))+`}` {
			t.Errorf("in a message %q is left as %s, want %q", in, said, want)
		}
		again, _ := changed(t, redact.Rules{}, said{journal.Entry{Kind: journal.Stderr}, want})
		if again[0] != want {
			t.Errorf("%q is left as %q the second time", want, again[0])
		}
	}
}
