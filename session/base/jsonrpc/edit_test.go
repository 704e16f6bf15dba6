package jsonrpc

import (
	"strings"
	"testing"
)

func TestSplice(t *testing.T) {
	text := []byte(`{"a":1,"b":{"c":"x","d":[2]},"e":null}`)
	for path, want := range map[string]string{"a": "1", "b c": `"x"`, "b d": "[2]", "e": "null", "b": `{"c":"x","d":[2]}`} {
		start, end, ok := Find(text, split(path)...)
		if !ok || string(text[start:end]) != want {
			t.Errorf("%s: %q %v", path, text[start:end], ok)
		}
	}
	for _, path := range []string{"x", "a b", "b x", "e x", ""} {
		if _, _, ok := Find(text, split(path)...); ok {
			t.Errorf("%q is found", path)
		}
	}
	a, b, _ := Find(text, "a")
	c, d, _ := Find(text, "b", "c")
	got := string(splice(text, edit{a, b, []byte("17")}, edit{c, d, nil}, edit{len(text) - 1, len(text) - 1, []byte(`,"f":0`)}))
	if want := `{"a":17,"b":{"c":,"d":[2]},"e":null,"f":0}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if string(text) != `{"a":1,"b":{"c":"x","d":[2]},"e":null}` || &splice(text)[0] != &text[0] {
		t.Error("the text was changed, or copied for nothing")
	}
}

func split(s string) []string { return strings.Fields(s) }
