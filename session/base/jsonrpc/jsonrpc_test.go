package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestScanKinds(t *testing.T) {
	for _, c := range []struct {
		frame string
		kind  Kind
		id    string
	}{
		{`{"jsonrpc":"2.0","id":7,"method":"ping"}`, Request, "7"},
		{` { "id" : "a\"b" , "method":"x","params":{"a":[1,{}]}, "jsonrpc":"2.0" } `, Request, `"a\"b"`},
		{`{"jsonrpc":"2.0","method":"notifications/x","params":null}`, Notification, ""},
		{`{"jsonrpc":"2.0","id":1.50,"result":{}}`, Response, "1.50"},
		{`{"jsonrpc":"2.0","id":12345678901234567890,"result":"\u0000"}`, Response, "12345678901234567890"},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, ErrorResponse, "null"},
		{`{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}`, ErrorResponse, ""},
		{`{"json\u0072pc":"2.0","id":3,"result":null,"extra":true}`, Response, "3"},
	} {
		e, err := Scan([]byte(c.frame))
		if err != nil || e.Kind != c.kind || string(e.ID) != c.id {
			t.Errorf("%s: %v %q %v", c.frame, e.Kind, e.ID, err)
		}
	}
}

func TestScanRefuses(t *testing.T) {
	for frame, want := range map[string]string{
		``:                                    "an object was expected",
		`[]`:                                  "an object was expected",
		`{}`:                                  `must be "2.0"`,
		`server up!`:                          "an object was expected",
		`{"jsonrpc":"1.0","id":1,"result":1}`: `must be "2.0"`,
		`{"jsonrpc":"2.0","id":1}`:            "neither method, result nor error",
		`{"jsonrpc":"2.0","id":1,"result":1,"result":2}`:              "given twice",
		`{"jsonrpc":"2.0","id":1,"result":1,"re\u0073ult":2}`:         "given twice",
		`{"jsonrpc":"2.0","id":1,"Result":1}`:                         "letter case",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"re\u017fult\":1}":            "letter case",
		`{"jsonrpc":"2.0","id":1,"re\u017fult":1}`:                    "letter case",
		`{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1}}`:      "both result and error",
		`{"jsonrpc":"2.0","id":null,"result":1}`:                      "answers nothing",
		`{"jsonrpc":"2.0","id":null,"method":"x"}`:                    "must not be null",
		`{"jsonrpc":"2.0","id":[1],"method":"x"}`:                     "neither a string nor a number",
		`{"jsonrpc":"2.0","id":1,"method":3}`:                         "method is not a string",
		`{"jsonrpc":"2.0","id":1,"method":"x","params":3}`:            "neither an object nor an array",
		`{"jsonrpc":"2.0","id":1,"method":"x","result":3}`:            "no result or error",
		`{"jsonrpc":"2.0","id":1,"error":"boom"}`:                     "error is not an object",
		`{"jsonrpc":"2.0","id":1,"result":1} x`:                       "more text after",
		`{"jsonrpc":"2.0","id":1,"result":01}`:                        "leading zero",
		`{"jsonrpc":"2.0","id":1,"result":[1,]}`:                      "a value was expected",
		`{"jsonrpc":"2.0","id":1,"result":[1}}`:                       "a comma or the end",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"a\nb\"}":          "control character",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}":          "UTF-8",
		`{"jsonrpc":"2.0","id":1,"result":"\x"}`:                      "escape character",
		`{"jsonrpc":"2.0","id":1,"result":"\u12g4"}`:                  "hexadecimal",
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text"`: "ends where",
		`{"jsonrpc":"2.0","id":1,"result":"half a li`:                 "ends inside a string",
	} {
		e, err := Scan([]byte(frame))
		if err == nil || e.Kind != Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", frame, e.Kind, err, want)
		}
	}
}

// TestScanKeepsIDOfBrokenAnswer: a caller waiting for answer 9 must learn that it came broken.
func TestScanKeepsIDOfBrokenAnswer(t *testing.T) {
	e, err := Scan([]byte(`{"jsonrpc":"2.0","id":9,"result":1,"RESULT":2}`))
	if !errors.Is(err, ErrInvalid) || string(e.ID) != "9" {
		t.Fatal(e, err)
	}
}

func TestScanDeep(t *testing.T) {
	const depth = 100_000
	frame := `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat(`[{"a":`, depth) + `1` + strings.Repeat(`}]`, depth) + `}`
	if e, err := Scan([]byte(frame)); err != nil || len(e.Result) != depth*8+1 {
		t.Fatal(err)
	}
	if _, err := Scan([]byte(strings.Replace(frame, "}]", "]}", 1))); err == nil {
		t.Fatal("crossed brackets accepted")
	}
}

// TestD6_ErrorData: data is absent when the server sent none, null when it sent null, and exact otherwise.
func TestD6_ErrorData(t *testing.T) {
	for raw, data := range map[string]string{
		`{"code":-32001,"message":"no"}`:                            "",
		`{"code":-32001,"message":"no","data":null}`:                "null",
		`{"code":-32001,"message":"no","data":{"b":1.0,"a":1e400}}`: `{"b":1.0,"a":1e400}`,
	} {
		e, err := ParseError([]byte(raw))
		if err != nil || e.Code != -32001 || e.Message != "no" || string(e.Data) != data {
			t.Errorf("%s: %+v %v", raw, e, err)
		}
		if out, _ := json.Marshal(&Error{Code: 1, Message: "m"}); strings.Contains(string(out), "data") {
			t.Errorf("data must be left out: %s", out)
		}
	}
	for _, raw := range []string{`{}`, `{"code":1.5}`, `{"code":"x"}`, `{`} {
		if _, err := ParseError([]byte(raw)); err == nil {
			t.Errorf("%s accepted", raw)
		}
	}
}

func TestBuild(t *testing.T) {
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{NewRequest([]byte(`"x"`), "a\"b", []byte(`{"n":1.0}`)), `{"jsonrpc":"2.0","id":"x","method":"a\"b","params":{"n":1.0}}`},
		{NewNotification("n", nil), `{"jsonrpc":"2.0","method":"n"}`},
		{NewResult([]byte("1"), nil), `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{NewError(nil, -32601, "no \xff", nil), `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no ` + "\ufffd" + `"}}`},
		{NewError([]byte("2"), 1, "m", []byte(`[]`)), `{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"m","data":[]}}`},
	} {
		assert.Equal(t, string(c.got), c.want)
		if _, err := Scan(c.got); err != nil {
			t.Error(err)
		}
	}
}

func TestMembersAndElements(t *testing.T) {
	var got []string
	err := Members([]byte(` {"b" : 1.0 , "\u0061": [ 1 ], "b":{}}`), func(k string, v []byte) bool {
		got = append(got, k+"="+string(v))
		return true
	})
	if s := strings.Join(got, ";"); err != nil || s != "b=1.0;a=[ 1 ];b={}" {
		t.Fatal(s, err)
	}
	got = nil
	err = Elements([]byte(`[1, "a,b" ,[2],{"x":3}]`), func(v []byte) bool {
		got = append(got, string(v))
		return len(got) < 3
	})
	if s := strings.Join(got, ";"); err != nil || s != `1;"a,b";[2]` {
		t.Fatal(s, err)
	}
	if Elements([]byte(`{}`), nil) == nil || Members([]byte(`[]`), nil) == nil || Elements([]byte(`[`), nil) == nil {
		t.Fatal("wrong kinds accepted")
	}
}

func TestStringMatchesEncodingJSON(t *testing.T) {
	for _, raw := range []string{
		`""`, `"plain"`, `"a\nb\t\"\\\/\b\f\r"`, `"\u00e9\ud83d\ude00 \ud83d x \ude00 \ud83d\u0041"`, `"é😀"`, `"\uD83D"`, `"\uD83D\uD83D\uDE00"`,
	} {
		var want string
		require.NoError(t, json.Unmarshal([]byte(raw), &want))
		if got, ok := String([]byte(raw)); !ok || got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestWalk(t *testing.T) {
	w := Walk([]byte(` {"a":[{"x":1},{"x":"two","y":[]},7],"b":null , "c":{"d":true}}`))
	var got []string
	all, ok := w.Object(func(key string) {
		switch key {
		case "a":
			w.Array(func() {
				raw, ok := w.Object(func(key string) {
					if key == "x" {
						got = append(got, string(w.Raw()))
					}
				})
				got = append(got, fmt.Sprint(string(raw), ok))
			})
		case "c":
			got = append(got, string(w.Raw()))
		}
	})
	want := `1;{"x":1}true;"two";{"x":"two","y":[]}true;7false;{"d":true}`
	if s := strings.Join(got, ";"); s != want || !ok || w.Err() != nil || all[0] != '{' || all[len(all)-1] != '}' {
		t.Fatal(s, w.Err())
	}
	for _, bad := range []string{`{"a" 1}`, `{"a":1`, `{"a":[1 2]}`, `{a:1}`, `{"a":[}`, ``} {
		w := Walk([]byte(bad))
		w.Object(func(string) { w.Array(func() {}) })
		if w.Err() == nil {
			t.Errorf("%s accepted", bad)
		}
	}
}

func TestSpans(t *testing.T) {
	obj := []byte(`xx{ "a" : 1, "\u0062":[2] }`)[2:]
	var got []string
	require.NoError(t, Spans(obj, func(s Span) bool {
		got = append(got, s.Key+"|"+string(obj[s.At:s.End])+"|"+string(obj[s.Start:s.End]))
		return true
	}))
	if s := strings.Join(got, ";"); s != `a|"a" : 1|1;b|"\u0062":[2]|[2]` {
		t.Fatal(s)
	}
}

// FuzzScan holds the scanner against encoding/json: both must agree on what is JSON, and every part that Scan hands out
// must be a valid value of its own.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1,-0.5e+7,"\ud800",true,null]}}`,
		`{"jsonrpc":"2.0","method":"x","params":[]}`, `{"jsonrpc":"2.0","id":"x","error":{"code":1}}`, `[{}]`, "{\"\u212a\":1}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := Valid(b) == nil, json.Valid(b); got != want {
			t.Fatalf("Valid = %v, encoding/json says %v", got, want)
		}
		w := Walk(b)
		w.Object(func(string) { w.Array(func() { w.Object(func(string) {}) }) })
		if w.Err() == nil && json.Valid(b) != (Valid(b) == nil) {
			t.Fatal("walker and validator disagree")
		}
		var s string
		if len(b) > 0 && b[0] == '"' && utf8.Valid(b) && json.Unmarshal(b, &s) == nil {
			if got, ok := String(bytes.TrimRight(b, " \t\r\n")); !ok || got != s {
				t.Fatalf("String = %q, want %q", got, s)
			}
		}
		e, err := Scan(b)
		if err != nil {
			if e.Kind != Invalid {
				t.Fatal("an error with a kind")
			}
			return
		}
		if !json.Valid(b) || !utf8.Valid(b) {
			t.Fatal("accepted invalid JSON")
		}
		for _, part := range [][]byte{e.ID, e.Params, e.Result, e.Error} {
			if part != nil && !json.Valid(part) {
				t.Fatalf("part %q", part)
			}
		}
		if e.Params != nil && e.Params[0] == '{' {
			require.NoError(t, Members(e.Params, func(_ string, v []byte) bool { return Valid(v) == nil }))
		}
	})
}

func BenchmarkScanText50MB(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` +
		strings.Repeat(`The quick brown fox jumps over the lazy dog and says \"hello\" to it.\n`, 50<<20/72) + `"}]}}`)
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		if _, err := Scan(frame); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScanTools(b *testing.B) {
	tool := `{"name":"tool_12","description":"Does a thing with several arguments of note.","inputSchema":{"type":"object","properties":{` +
		strings.Repeat(`"argument":{"type":"string","description":"What it is good for","minLength":1},`, 14) + `"last":{"type":"integer"}},"required":["last"]}}`
	frame := []byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[` + strings.Repeat(tool+",", 4999) + tool + `]}}`)
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		if _, err := Scan(frame); err != nil {
			b.Fatal(err)
		}
	}
}
