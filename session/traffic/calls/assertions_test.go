package calls

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config/yamlfile"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require"
)

const asserted = `note: an order, from its making to its end
command: [node, server.js]
timeout: 20s
steps:
  - name: create
    tool: create_order
    arguments: {sku: "12", count: 2}
    expect: .structuredContent.id
    expectSchema: {type: object, required: [structuredContent]}
    isError: false
    maxLatency: 1.5s
    capture:
      id: .structuredContent.id
      name: .content[0].text
    snapshot:
      file: snapshots/create.json
      ignore: [/structuredContent/id, ".content[].text"]
  - tool: get_order
    arguments: {id: "${capture.id}", note: "of ${capture.name}, not $${capture.id}"}
    expect:
      - .structuredContent.count == 2
      - |
        .content
        | length > 0
    retry: {for: 5s, every: 100ms}
    snapshot: true
  - name: gone
    resource: order://${capture.id}/gone
    expectError: {code: -32002, kind: NotFound}
    expect: .message
    repeat: 3
    timeout: 1s
`

func TestReadSteps(t *testing.T) {
	f, warnings, err := parse("/p/.mcphud/calls/orders.yaml", []byte(asserted))
	if err != nil || len(warnings) > 0 || !f.Steps || len(f.Calls) != 3 {
		t.Fatalf("%v %v %+v", err, warnings, f)
	}
	create, get, gone := f.Calls[0], f.Calls[1], f.Calls[2]
	if create.Name != "orders/create" || create.Line != 5 || len(create.Capture) != 2 || create.Timeout != 20*time.Second || create.Expect.MaxLatency != 1500*time.Millisecond ||
		*create.Expect.IsError || create.Expect.Schema == nil || create.Expect.Snapshot.File != filepath.FromSlash("snapshots/create.json") || create.Expect.Count() != 5 || create.Server.Args[0] != "server.js" {
		t.Errorf("%+v", create)
	}
	if at := create.Expect.Lines["maxLatency"]; at != [2]int{11, 5} {
		t.Errorf("%v", at)
	}
	if get.Name != "orders/2" || get.Retry.For != 5*time.Second || get.Retry.Every != 100*time.Millisecond || get.Expect.Snapshot.File != "orders.2.snapshot.json" || len(get.Expect.Queries) != 2 || get.Expect.Queries[0].Line != 21 {
		t.Errorf("%+v", get)
	}
	if gone.Expect.Error.Kind != failure.NotFound || *gone.Expect.Error.Code != -32002 || gone.Repeat != 3 || gone.Timeout != time.Second {
		t.Errorf("%+v", gone)
	}
	if uses := get.Uses(); !slices.Equal(uses, []string{"id", "name"}) {
		t.Error(uses)
	}
	captured := map[string]json.RawMessage{"id": json.RawMessage(`12345678901234567890`), "name": json.RawMessage(`"A \"b\""`)}
	from := func(name string) (json.RawMessage, bool) { v, ok := captured[name]; return v, ok }
	filled, err := get.Filled(from)
	if err != nil || string(filled.Arguments) != `{"id":12345678901234567890,"note":"of A \"b\", not ${capture.id}"}` {
		t.Errorf("%s %v", filled.Arguments, err)
	}
	if filled, err = gone.Filled(from); err != nil || filled.Target != "order://12345678901234567890/gone" {
		t.Errorf("%s %v", filled.Target, err)
	}
	delete(captured, "name")
	if _, err := get.Filled(from); err == nil || !strings.Contains(err.Error(), "captured as name") {
		t.Error(err)
	}
}

// What is wrong with an assertion is said with its place.
func TestReadRefusesAssertions(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.json"), []byte("["), 0o600))
	file := filepath.Join(dir, "x.yaml")
	for text, want := range map[string]string{
		"tool: a\nexpect: .a[\n":                                      ":2:9: expect is not a jq expression: it ends too soon at character 4",
		"tool: a\nexpect:\n  - .a\n  - lenght\n":                      ":4:5: expect is not a jq expression: function not defined: lenght/0",
		"tool: a\nexpect: {is_error: false}\n":                        "must be a jq expression",
		"tool: a\nexpect: [1]\n":                                      ":2:10: expect must be a jq expression",
		"tool: a\nexpectSchema: {type: 7}\n":                          ":2:1: expectSchema: the schema here",
		"tool: a\nexpectSchema: bad.json\n":                           ":2:1: expectSchema: bad.json is not valid JSON",
		"tool: a\nexpectSchema: none.json\n":                          ":2:1: expectSchema: cannot read the schema",
		"tool: a\nexpectSchema: [1]\n":                                ":2:1: expectSchema must be",
		"tool: a\nexpectError: ToolError\n":                           "isError: true expects it",
		"tool: a\nexpectError: Nope\n":                                `there is no kind "Nope"`,
		"tool: a\nexpectError: {data: 1}\n":                           "has code and kind",
		"tool: a\nexpectError: {}\n":                                  "needs a code or a kind",
		"tool: a\nexpectError: 1.5\n":                                 ":2:1: expectError must be",
		"tool: a\nexpectError: -1\nisError: true\n":                   ":2:1: expectError does not go with",
		"tool: a\nisError: yes please\n":                              ":2:1: isError must be true or false",
		"tool: a\nmaxLatency: 5\n":                                    ":2:1: maxLatency must be a",
		"tool: a\nmaxLatency: -5s\n":                                  ":2:1: maxLatency must be a time",
		"tool: a\nsnapshot: ../x.json\n":                              ":2:1: snapshot: the file",
		"tool: a\nsnapshot: /etc/x.json\n":                            ":2:1: snapshot: the file",
		"tool: a\nsnapshot: {ignore: '.['}\n":                         ":2:20: ignore is not a jq expression",
		"tool: a\nsnapshot: {files: x}\n":                             "has file and ignore",
		"tool: a\ncapture: .id\n":                                     ":2:1: capture must be",
		"tool: a\ncapture: {1x: .id}\n":                               ":2:11: \"1x\" cannot be the name",
		"tool: a\ncapture: {x: '.['}\n":                               ":2:14: capture x is not a jq expression",
		"tool: a\nrepeat: 0\n":                                        ":2:1: repeat must be",
		"tool: a\nretry: {every: 1s}\n":                               ":2:1: retry: for must",
		"tool: a\nretry: 11m\n":                                       ":2:1: retry: for must",
		"tool: a\nretry: {for: 1s, until: x}\n":                       "retry",
		"tool: a\nsteps: [{tool: b}]\n":                               ":1:1: tool is of a single call",
		"steps: []\n":                                                 ":1:1: steps must be a list",
		"steps: [a]\n":                                                ":1:9: a step must be a mapping",
		"steps:\n  - note: x\n":                                       "needs one of tool, prompt and resource",
		"steps:\n  - tool: x\n    url: http://x/\n":                   ":3:5: url is of the whole file",
		"steps:\n  - {name: a, tool: x}\n  - {name: a, tool: x}\n":    "two steps have the name",
		"steps:\n  - {name: ../a, tool: x}\n":                         "cannot be the name",
		"steps: [" + strings.Repeat("{tool: a},", maxSteps+1) + "]\n": "steps must be a list of 1 to 1000",
	} {
		_, _, err := parse(file, []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), file) {
			t.Errorf("%.60q: %v; want %q", text, err, want)
		}
	}
	_, warnings, err := parse(file, []byte("owner: ada\nsteps:\n  - tool: x\n    expects: .a\n"))
	if err != nil || len(warnings) != 2 || warnings[1].Line != 4 || !strings.Contains(warnings[1].Message, `unknown key "expects"`) {
		t.Errorf("%v %v", err, warnings)
	}
}

// The schema has the keys that are read, and takes the files that are.
func TestSchemaHasTheKeys(t *testing.T) {
	var doc struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(Schema, &doc))
	if got, want := slices.Sorted(maps.Keys(doc.Properties)), slices.Sorted(slices.Values(append([]string{"steps"}, keys...))); !slices.Equal(got, want) {
		t.Errorf("%v\n%v", got, want)
	}
	step := slices.DeleteFunc(append([]string{"name"}, keys...), func(k string) bool { return slices.Contains(ofServer, k) })
	if got := slices.Sorted(maps.Keys(doc.Defs["step"].Properties)); !slices.Equal(got, slices.Sorted(slices.Values(step))) {
		t.Errorf("%v\n%v", got, step)
	}
	s := schema.Parse(Schema)
	if left := s.Unchecked(); len(left) > 0 {
		t.Fatal(left)
	}
	for text, ok := range map[string]bool{asserted: true, documented: true, "tool: a\nexpect: 7\n": false, "note: x\n": false, "steps:\n- tool: x\n  expectError: Nope\n": false} {
		r := reader{yamlfile.Reader{File: "/p/x.yaml"}}
		all, err := r.members([]byte(text))
		require.NoError(t, err)
		value := []byte("{")
		for i, m := range all {
			v, err := r.JSON(m.Value)
			require.NoError(t, err)
			if i > 0 {
				value = append(value, ',')
			}
			value = append(append(append(append(value, '"'), m.Key...), `":`...), v...)
		}
		problems, unchecked := s.ValidateJSON(append(value, '}'))
		if (len(problems) == 0) != ok || unchecked != "" {
			t.Errorf("%.40q: %v %s", text, problems, unchecked)
		}
	}
}
