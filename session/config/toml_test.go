package config

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// TOML is read through the same nodes as the other formats, with positions.
func TestTOMLTree(t *testing.T) {
	tree, err := ParseTree("/c.toml", []byte(`model = "o"
[mcp_servers.a]
command = 'npx' # the program
args = ["-y", """
two
lines""", '''raw\''']
env = { A = "1", B.c = 2, B.d = [[], [3, # x
 4]] }
[mcp_servers.a.tools]
x.y = true
[[list]]
n = 0x1f
[[list]]
n = 2026-11-23
`))
	require.NoError(t, err)
	const want = `{"model":"o","mcp_servers":{"a":{"command":"npx","args":["-y","two\nlines","raw\\"],"env":{"A":"1","B":{"c":2,"d":[[],[3,4]]}},"tools":{"x":{"y":true}}}},"list":[{"n":"0x1f"},{"n":"2026-11-23"}]}`
	assert.Equal(t, string(tree.Root.JSON()), want)
	servers, _ := tree.Root.Get("mcp_servers")
	a, _ := servers.Get("a")
	command, _ := a.Get("command")
	if m := servers.Members[0]; m.Line != 2 || m.Col != 14 || command.Line != 3 || command.Col != 11 {
		t.Errorf("a at %d:%d, its command at %d:%d", m.Line, m.Col, command.Line, command.Col)
	}
}

func TestTOMLMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"a = \n":                             "/c.toml:1:",
		"[a]\nb = 1\n[a]\n":                  `/c.toml:3:2: is not valid TOML: table "a" is given twice`,
		"a = 1\na = 2\n":                     `/c.toml:2:1: is not valid TOML: "a" is given twice`,
		"a = 1\n[a.b]\n":                     `/c.toml:2:2: is not valid TOML: "a" has a value already`,
		"a = 1\n[[a]]\n":                     `/c.toml:2:3: is not valid TOML: "a" has a value already`,
		"a = {b = 1}\na.c = 2\n":             `/c.toml:2:1: is not valid TOML: "a" has a value already`,
		"x = {a.b = 1, a.b = 2}":             `/c.toml:1:17: is not valid TOML: "b" is given twice`,
		"a = [{}]\n[[a]]\n":                  `/c.toml:2:3: is not valid TOML: "a" has a value already`,
		"x = { a = 1, a = 2 }":               `/c.toml:1:14: is not valid TOML: "a" is given twice`,
		"x = [" + strings.Repeat("[", 1000):  "nests more than 200 levels",
		strings.Repeat("# comment\n", 110e3): "is larger than the limit of",
		"a = \"\n\"":                         "/c.toml:1:",
	} {
		if _, err := ParseTree("/c.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}
