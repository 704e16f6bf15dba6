package inspector

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]string{
		"node s.js --method tools/list":                      "node s.js",
		"--method tools/list node s.js":                      "node s.js",
		"node s.js --port 3 --method tools/list":             "node s.js --port 3",
		"--port 3 --method tools/list":                       "3",
		"node -x -- --method tools/list":                     "node -x",
		"--method tools/list -- node --method x":             "node --method x",
		"--tool-arg a=1 b=2 --method tools/list node":        "node",
		"node --tool-arg a=1 --method tools/list -- -n":      "node --tool-arg a=1 --method tools/list -n",
		"--method=tools/list node -5":                        "node -5",
		"-qe A=b --method tools/list node":                   "node",
		"-eA=b --method tools/list node":                     "node",
		"--method tools/list --header=X:1 node --header Y:2": "node",
	} {
		r, err := Parse(strings.Fields(line))
		if got := strings.Join(r.Target, " "); err != nil || got != want {
			t.Errorf("%s: target %q, %v; want %q", line, got, err, want)
		}
	}
}

func TestParseValues(t *testing.T) {
	r, err := Parse(strings.Fields(`x --method tools/call --tool-arg a=1 b=x=y -5=6 --tool-arg a=null c="q" --connect-timeout 250 --header X:1 x:2 --metadata k={"a":[1]} -q`))
	require.NoError(t, err)
	for got, want := range map[string]string{
		string(r.ToolArgs.JSON()):   `{"a":null,"b":"x=y","c":"q"}`,
		string(r.Header.JSON()):     `{"X":"1","x":"2"}`,
		string(r.Metadata.JSON()):   `{"k":{"a":[1]}}`,
		strings.Join(r.Target, " "): "x -5=6",
	} {
		assert.Equal(t, got, want)
	}
	if !r.Quiet || r.ConnectTimeout == nil || *r.ConnectTimeout != 250*time.Millisecond {
		t.Errorf("%+v", r)
	}
}

func TestArgumentsFollowTheSchema(t *testing.T) {
	schema := []byte(`{"properties":{"n":{"type":"number"},"b":{"type":["boolean","null"]},"o":{"anyOf":[{"type":"object"},{"type":"null"}]},"r":{"$ref":"#/$defs/i"},"c":{"const":5},"s":{"type":"string"}},"$defs":{"i":{"type":"integer"}}}`)
	for pair, want := range map[string]string{
		"n=012": "12", "n=x": "null", "n=0x1F": "31", "n=12345678901234567890": "12345678901234567890", "b=TRUE": "true", "b=yes": "false",
		`o="{\"a\":1}"`: `{"a":1}`, "o=x": `"x"`, "r=+7": "7", `c="5"`: "5", "s=x": `"x"`, "s=1": "1", "other=x": `"x"`,
	} {
		r, err := Parse([]string{"x", "--tool-arg", pair})
		require.NoError(t, err)
		key, _, _ := strings.Cut(pair, "=")
		if got, err := r.Arguments(schema); err != nil || string(got) != `{"`+key+`":`+want+`}` {
			t.Errorf("%s: %s, %v; want %s", pair, got, err, want)
		}
	}
}

// What is not taken is refused as soon as it is read, also with a value; a word of a target that looks like it is not.
func TestElsewhere(t *testing.T) {
	for line, verb := range map[string]string{
		"node s.js --method tools/call --load --load-rate 5": "mcphud bench",
		"--method tools/list --strict node":                  "mcphud check lint",
		"--wait-for-auth=5 --method tools/list":              "mcphud auth login",
		"--method servers/add --server x node":               "mcphud servers add",
		"--method tools/list -- node --load":                 "",
		"--method tools/list node servers/add":               "",
	} {
		r, err := Parse(strings.Fields(line))
		if err == nil {
			err = r.Check()
		}
		if verb == "" {
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			continue
		}
		if e := (*Error)(nil); !errors.As(err, &e) || e.Exit != ExitUsage || !strings.Contains(e.Message, "use "+verb) || strings.Contains(e.Message, "\n") {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, o := range options() {
		for _, n := range o.names {
			if Elsewhere(n) != "" {
				t.Errorf("%s is taken, and is not", n)
			}
		}
	}
}
