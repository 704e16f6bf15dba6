package jsonrpc

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestGet(t *testing.T) {
	obj := []byte(` {"a":"x\u0041","b":{"c":[1, 2],"d":null},"a":"second","":0} `)
	for path, want := range map[string]string{"a": `"x\u0041"`, "b c": "[1, 2]", "b d": "null", "b x": "", "a b": "", "z": "", "": ""} {
		assert.Equalf(t, string(Get(obj, split(path)...)), want, "%q", path)
	}
	assert.Equalf(t, string(Get(obj, "")), "0", "the empty name")
	assert.Equal(t, GetString(obj, "a"), "xA")
	assert.Equalf(t, GetString(obj, "b", "c"), "", "of an array")
	if got := Get(obj, "b", "c"); cap(got) != len(got) {
		t.Error("appending to a part would write into the whole")
	}
	for _, bad := range []string{"", "null", "[]", `{"a"`, `"a"`} {
		if got := Get([]byte(bad), "a"); got != nil {
			t.Errorf("of %s: %s", bad, got)
		}
	}
}

func TestUpdate(t *testing.T) {
	v := func(s string) []byte { return []byte(s) }
	for _, c := range []struct {
		in      string
		changes []Change
		want    string
	}{
		{`{"a":1}`, nil, `{"a":1}`},
		{``, []Change{Set(v("1"), "a")}, `{"a":1}`},
		{" \n", []Change{Delete("a")}, `{}`},
		{` { } `, []Change{Set(v("1"), "a"), Set(v(`"x"`), "b\"")}, ` {"a":1,"b\"":"x" } `},
		{`{ "a" : 1 , "b" : 2e0 }`, []Change{Set(v("3"), "a")}, `{ "a" : 3 , "b" : 2e0 }`},
		{`{ "a" : 1 , "b" : 2 }`, []Change{Set(v("3"), "c")}, `{ "a" : 1 , "b" : 2,"c":3 }`},
		{`{"a":1,"b":2,"c":3}`, []Change{Delete("a")}, `{"b":2,"c":3}`},
		{`{"a":1,"b":2,"c":3}`, []Change{Delete("b")}, `{"a":1,"c":3}`},
		{`{"a":1,"b":2,"c":3}`, []Change{Delete("c")}, `{"a":1,"b":2}`},
		{`{"a":1,"b":2,"c":3}`, []Change{Delete("b"), Delete("a")}, `{"c":3}`},
		{`{"a":1,"b":2,"c":3}`, []Change{Delete("a"), Delete("c")}, `{"b":2}`},
		{`{"a":1,"b":2,"c":3}`, []Change{Delete("a"), Delete("b"), Delete("c"), Delete("x")}, `{}`},
		{`{ "a":1, "b":2 }`, []Change{Delete("a"), Delete("b"), Set(v("3"), "c")}, `{ "c":3 }`},
		{`{"a":1,"b":2,"c":3}`, []Change{Delete("a"), Set(v("4"), "b"), Delete("c"), Set(v("5"), "d")}, `{"b":4,"d":5}`},
		{`{"a":1,"a":2,"b":3,"a":4}`, []Change{Delete("a")}, `{"b":3}`},
		{`{"a":1,"b":3,"a":4}`, []Change{Set(v("0"), "a")}, `{"a":0,"b":3,"a":0}`},
		{`{"\u0061":1}`, []Change{Set(v("0"), "a")}, `{"\u0061":0}`},
		{`{"a":1}`, []Change{Set(nil, "a"), Set(nil, "b")}, `{}`},
		{`{"a":null}`, []Change{Default(v("0"), "a"), Default(v("0"), "b")}, `{"a":null,"b":0}`},
		{`{"a":1}`, []Change{Replace(v("0"), "a"), Replace(v("0"), "b")}, `{"a":0}`},
		{`{"_meta":{"x":1},"z":0}`, []Change{Default(v("2"), "_meta", "x"), Default(v("3"), "_meta", "y"), Set(v("4"), "w")}, `{"_meta":{"x":1,"y":3},"z":0,"w":4}`},
		{`{"z":0}`, []Change{Set(v("2"), "_meta", "x"), Set(v("4"), "w"), Set(v("3"), "_meta", "y")}, `{"z":0,"_meta":{"x":2,"y":3},"w":4}`},
		{`{"_meta":null}`, []Change{Default(v("2"), "_meta", "x"), Set(v("3"), "_meta", "y", "deep"), Delete("_meta", "k")}, `{"_meta":{"x":2,"y":{"deep":3}}}`},
		{`{"_meta":7}`, []Change{Delete("_meta", "x"), Replace(v("3"), "_meta", "y")}, `{"_meta":7}`},
		{`{}`, []Change{Delete("_meta", "x"), Replace(v("3"), "_meta", "y")}, `{}`},
		{`{"p":{"_meta":{"a":1,"b":2}},"q":[{"a":1}]}`, []Change{Delete("p", "_meta", "a")}, `{"p":{"_meta":{"b":2}},"q":[{"a":1}]}`},
		{`{"a":1,"b":{"c":1}}`, []Change{Delete("a"), Set(v("2"), "b", "c")}, `{"b":{"c":2}}`},
	} {
		in := []byte(c.in)
		got, err := Update(in, c.changes...)
		if err != nil || string(got) != c.want || string(in) != c.in {
			t.Errorf("%s: %s, %v; want %s (in is %s)", c.in, got, err, c.want, in)
		}
		if c.want == c.in && &got[0] != &in[0] {
			t.Errorf("%s: copied for nothing", c.in)
		}
	}
	for in, want := range map[string]string{
		`[]`: "an object", `null`: "an object", `{"a":`: "value", `{"_meta":"x"}`: "_meta is not an object", `{"_meta":{"y":1}}`: "_meta.y is not an object",
	} {
		got, err := Update([]byte(in), Set([]byte("1"), "_meta", "y", "z"))
		if err == nil || !strings.Contains(err.Error(), want) || string(got) != in {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
	}
}

// What an update of an object means is what the same on a map means.
func FuzzUpdate(f *testing.F) {
	f.Add(`{"a":1, "b":{"c":2},"a":3}`, "a", `"x"`, "b", "c")
	f.Add(` {"k":null}`, "n", `{}`, "k", "n")
	f.Fuzz(func(t *testing.T, obj, set, value, outer, gone string) {
		var have map[string]any
		if !json.Valid([]byte(value)) || json.Unmarshal([]byte(obj), &have) != nil || have == nil || set == outer || set == "" {
			t.Skip()
		}
		if !utf8.ValidString(set + "," + outer + "," + gone + "," + obj) {
			t.Skip()
		}
		got, err := Update([]byte(obj), Set([]byte(value), set), Delete(outer, gone))
		if err != nil {
			t.Fatalf("%s: %v", obj, err)
		}
		var is map[string]any
		if err := json.Unmarshal(got, &is); err != nil {
			t.Fatalf("%s became %s: %v", obj, got, err)
		}
		var v any
		require.NoError(t, json.Unmarshal([]byte(value), &v))
		have[set] = v
		if in, ok := have[outer].(map[string]any); ok {
			delete(in, gone)
		}
		if !reflect.DeepEqual(is, have) {
			t.Errorf("%s became %s", obj, got)
		}
	})
}

// Changes of every kind, at every depth, mean what the same on maps means.
func FuzzChanges(f *testing.F) {
	f.Add(`{"a":1, "b":{"a":2, "b":{}},"b":null}`, []byte{0, 1, 0, 9, 2, 6, 14, 3})
	f.Add(` {"a":{"\u0061":{"a":[ ]}} , "é":3} `, []byte{3, 0, 7, 1, 5, 8, 2, 2})
	names := []string{"a", "b", "é", "_meta"}
	f.Fuzz(func(t *testing.T, obj string, plan []byte) {
		var have map[string]any
		if !utf8.ValidString(obj) || json.Unmarshal([]byte(obj), &have) != nil || have == nil || len(plan) > 16 {
			t.Skip()
		}
		var changes []Change
		for i := 0; i+1 < len(plan); i += 2 {
			path := []string{names[plan[i]%4], names[plan[i]/4%4], names[plan[i]/16%4]}[:plan[i]/64%3+1]
			for _, c := range changes {
				if n := min(len(c.path), len(path)); reflect.DeepEqual(c.path[:n], path[:n]) {
					t.Skip()
				}
			}
			value := []byte([]string{`1`, `{}`, `null`, `"x"`}[plan[i+1]/4%4])
			changes = append(changes, []Change{Set(value, path...), Default(value, path...), Replace(value, path...), Delete(path...)}[plan[i+1]%4])
		}
		got, err := Update([]byte(obj), changes...)
		if err != nil {
			if string(got) != obj {
				t.Fatalf("%s: %v, and became %s", obj, err, got)
			}
			return // what stands twice can be wrong once
		}
		for _, c := range changes {
			if !onMap(have, c) {
				t.Fatalf("%s: no error for %v", obj, c.path)
			}
		}
		var is map[string]any
		if err := json.Unmarshal(got, &is); err != nil || !reflect.DeepEqual(is, have) {
			t.Errorf("%s became %s, %v; want %v", obj, got, err, have)
		}
	})
}

// onMap makes a change to a map; false where something on the path is not an object.
func onMap(m map[string]any, c Change) bool {
	for _, name := range c.path[:len(c.path)-1] {
		v := m[name]
		inner, ok := v.(map[string]any)
		switch {
		case ok:
		case c.when == present || c.value == nil:
			return true
		case v != nil:
			return false
		default:
			inner = map[string]any{}
			m[name] = inner
		}
		m = inner
	}
	last := c.path[len(c.path)-1]
	_, there := m[last]
	switch {
	case c.when == present && !there || c.when == absent && there:
	case c.value == nil:
		delete(m, last)
	default:
		var v any
		if err := json.Unmarshal(c.value, &v); err != nil {
			return false
		}
		m[last] = v
	}
	return true
}
