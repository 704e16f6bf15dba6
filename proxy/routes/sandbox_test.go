package routes

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// A route's sandbox is what is enforced, or an error: nothing in it is ignored.
func TestX5b_SandboxInRoutingJSON(t *testing.T) {
	parse := func(sandbox string) (*Table, error) {
		return Parse([]byte(`{"routes":{"a":{"command":"x","sandbox":` + sandbox + `}}}`))
	}
	for text, want := range map[string]bool{"true": true, "false": false, "{}": true, `{"read":["/a"],"network":true}`: true} {
		table, err := parse(text)
		if err != nil || len(table.Warnings) > 0 || (table.Routes["a"].Sandbox != nil) != want {
			t.Errorf("%s: %v, %+v", text, err, table)
		}
	}
	for text, want := range map[string]string{
		"null": "it must be true, false, or an object", `"on"`: "it must be true, false, or an object", `{"hosts":["a"]}`: "is nothing that a sandbox can enforce",
		`{"network":"yes"}`: "network", `{"read":"/a"}`: "read", `{"write":[""]}`: "empty",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Parse([]byte(`{"routes":{"a":{"url":"http://127.0.0.1:1/","sandbox":true}}}`)); err == nil || !strings.Contains(err.Error(), "applies only to a route with a command") {
		t.Error(err)
	}
	if _, err := ParseOne([]byte(`{"name":"a","command":"x","sandbox":{"read":["a"]}}`)); err == nil || !strings.Contains(err.Error(), "must be an absolute one") {
		t.Error(err)
	}
	table, err := parse(`{"read":["a","/b"],"write":["c"]}`)
	require.NoError(t, err)
	table.resolve("/folder")
	if s := table.Routes["a"].Sandbox; s.Read[0] != "/folder/a" || s.Read[1] != "/b" || s.Write[0] != "/folder/c" {
		t.Errorf("%+v", s)
	}
}
