package stack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A server of a stack is shut in by whoever starts it, the stack or the router; and the question before it runs says so.
func TestX5b_SandboxInAStack(t *testing.T) {
	f, p := planned(t, `{"servers": {
		"piped": {"command": "x", "sandbox": {"read": ["data", "/abs"]}},
		"bare": {"command": "x", "sandbox": true},
		"web": {"command": "x", "port": 1, "sandbox": {"write": ["out"], "network": true}},
		"open": {"command": "x", "sandbox": false}},
		"router": {"routes": {"r": {"command": "y", "sandbox": {"read": ["z"]}}}}}`)
	raw, err := os.ReadFile(p.table.path)
	require.NoError(t, err)
	table, err := routes.Parse(raw)
	if err != nil {
		t.Fatal(err, string(raw))
	}
	for name, want := range map[string]string{"piped": `{"read":["/p/data","/abs"]}`, "bare": `{}`, "open": `null`, "web": `null`, "r": `{"read":["/p/z"]}`} {
		if got, _ := json.Marshal(table.Routes[name].Sandbox); string(got) != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, s := range p.Specs {
		if s.Name == "web" && (s.Sandbox == nil || !s.Sandbox.Network || s.Sandbox.Write[0] != "/p/out") {
			t.Errorf("%+v", s.Sandbox)
		}
	}
	about := strings.Join(f.Describe(), "\n")
	for _, want := range []string{
		"piped: x; in a sandbox: no network, reads /p/data /abs", "bare: x; in a sandbox: no network, no files but its own", "in a sandbox: with network, reads and writes /p/out",
		"r: y; in a sandbox: no network, reads /p/z",
	} {
		assert.Contains(t, about, want)
	}
	assert.NotContains(t, about, "open: x; in a sandbox")
	for text, want := range map[string]string{
		`{"servers": {"a": {"command": "x", "sandbox": {"hosts": ["h"]}}}}`:           "is nothing that a sandbox can enforce",
		`{"servers": {"a": {"url": "http://127.0.0.1:1/", "sandbox": true}}}`:         "applies only to a server that is started by its command",
		`{"servers": {"a": {"command": "x", "port": 7, "sandbox": true}}}`:            "write network: true",
		`{"servers": {"a": {"command": "x", "sandbox": null}}}`:                       "it must be true, false, or an object",
		`{"router": {"routes": {"a": {"command": "x", "sandbox": {"write": "/a"}}}}}`: "",
	} {
		f, err := settings.Parse("/p/x.yaml", []byte(text))
		if want == "" && err == nil { // routes of the router are checked where they are written
			_, err = f.Plan(t.Context(), Place{Dir: t.TempDir(), Free: true})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What the stack itself starts is shut in.
func TestX5b_StackShutsIn(t *testing.T) {
	t.Parallel()
	if err := confine.Supported(); err != nil {
		t.Skip(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("it is read\n"), 0o600))
	spec := func(name string, box *confine.Rules) Spec {
		return Spec{Name: name, Kind: Server, Command: "sh", Args: []string{"-c", "cat " + secret + " >&2; sleep 1000"}, Sandbox: box}
	}
	s := supervise(t, Options{}, spec("open", nil), spec("shut", &confine.Rules{}), spec("list", &confine.Rules{Read: []string{secret}}), spec("gone", &confine.Rules{Read: []string{"/nowhere/at/all"}}))
	says(t, s, "open", "it is read")
	says(t, s, "shut", "Permission denied")
	says(t, s, "list", "it is read")
	until(t, s, "gone", func(st Status) bool { return strings.Contains(st.Err, "cannot allow to read /nowhere/at/all") })
}
