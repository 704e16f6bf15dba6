package shell

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config"
)

// What a server named like a flag is not copied as an operand, and says why.
func TestInvocationRefusesFlags(t *testing.T) {
	srv := config.Server{Name: "web", URL: "http://127.0.0.1:1/mcp", Transport: config.HTTP}
	for _, operands := range [][]string{{"--journal=/home/u/.bashrc", "k=v"}, {"greet", "--cwd=/tmp"}, {"-e"}, {"-"}} {
		if text, err := (Invocation{Verb: "prompts get", Operands: operands}).On(srv); err == nil || text != "" || !strings.Contains(err.Error(), "begins with a dash") {
			t.Errorf("%q is copied as %s, %v", operands, text, err)
		}
	}
	text, err := (Invocation{Verb: "tools call", Operands: []string{"it's"}, Flags: []string{"--args", "{}"}}).On(srv)
	if want := `mcphud tools call 'it'\''s' --args '{}' --url http://127.0.0.1:1/mcp`; err != nil || text != want {
		t.Errorf("copied %s, %v; want %s", text, err, want)
	}
}

// What is copied starts the server in its sandbox again.
func TestX5b_SandboxIsCopied(t *testing.T) {
	srv := config.OfCommand("serve")
	for want, rules := range map[string]*confine.Rules{
		"mcphud -- serve":           nil,
		"mcphud --sandbox -- serve": {},
		`mcphud '--sandbox=read=/a b' --sandbox=network -- serve`: {Read: []string{"/a b"}, Network: true},
	} {
		srv.Sandbox = rules
		if text, err := (Invocation{}).On(srv); err != nil || text != want {
			t.Errorf("copied %s, %v; want %s", text, err, want)
		}
	}
}
