package offer

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// TestPromptArguments: those that can be read are kept beside one that cannot.
func TestPromptArguments(t *testing.T) {
	if it := readItem(jsonrpc.Walk([]byte(`{"name":"p","arguments":[{"name":"a","required":true,"title":"A"},{}]}`)), Prompts); len(it.Args) != 2 || it.Args[0] != (PromptArg{Name: "a", Title: "A", Required: true}) || it.Flaw == nil {
		t.Errorf("%+v", it)
	}
}

// What is gone stays marked with its definition until somebody looked; one that comes back is compared with it.
func TestCompareRemoved(t *testing.T) {
	state := func(tools ...string) (out []Item) {
		for _, raw := range tools {
			out = append(out, Item{Name: jsonrpc.GetString([]byte(raw), "name"), Raw: []byte(raw)})
		}
		return out
	}
	a, b, other := `{"name":"a"}`, `{"name":"b"}`, `{"name":"a","title":"A"}`
	var marks map[string]Mark
	step := func(before, after []Item, want map[string]Mark) {
		t.Helper()
		if _, marks = Compare(Tools, before, after, marks); !maps.EqualFunc(marks, want, func(got, want Mark) bool {
			return got.Added == want.Added && got.Removed == want.Removed && got.Was == want.Was
		}) {
			t.Errorf("%+v, want %+v", marks, want)
		}
	}
	step(state(a, b), state(b), map[string]Mark{"a": {Removed: true, Was: a}})
	step(state(b), state(b), map[string]Mark{"a": {Removed: true, Was: a}})
	step(state(b), state(other, b), map[string]Mark{"a": {Was: a}})
	step(state(other, b), state(b), map[string]Mark{"a": {Removed: true, Was: a}})
	step(state(b), state(a, b), map[string]Mark{})
	step(state(b), state(a, b), map[string]Mark{"a": {Added: true}})
	step(state(a, b), state(b), map[string]Mark{}) // nobody saw it

	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf(`{"name":"t%d","description":%q}`, i, strings.Repeat("x", 30<<10)))
	}
	marks = nil
	_, marks = Compare(Tools, state(many...), nil, nil)
	kept := 0
	for _, m := range marks {
		kept += len(m.Was)
	}
	if len(marks) != 100 || kept < maxGone || kept > maxGone+maxCompare {
		t.Error(len(marks), kept)
	}
}
