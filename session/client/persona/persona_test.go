package persona

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

func TestEveryPersonaHasASource(t *testing.T) {
	if got := Names(); !slices.Equal(got, []string{"claude-code", "vscode", "cursor", "inspector", "none"}) {
		t.Errorf("personas: %v", got)
	}
	for _, p := range All() {
		if p.Source == "" || p.Title == "" {
			t.Errorf("%s: source %q, title %q", p.Name, p.Source, p.Title)
		}
		if p.Name != None && (p.ClientInfo == nil || p.Protocol() != "2025-11-25" || string(p.Capabilities) == "{}") {
			t.Errorf("%s: %s %s %q", p.Name, p.ClientInfo, p.Capabilities, p.Protocol())
		}
	}
	none, ok := Find(None)
	if !ok || none.ClientInfo != nil || string(none.Capabilities) != "{}" || none.Protocol() != "" {
		t.Errorf("none: %+v", none)
	}
	c, _ := Find("claude-code")
	if got, want := string(c.Capabilities), `{"roots":{"listChanged":true},"elicitation":{}}`; got != want {
		t.Errorf("capabilities %s, want %s", got, want)
	}
	if got := string(c.ClientInfo); !strings.HasPrefix(got, `{"name":"claude-code","title":"Claude Code","version":"2.1.261"`) {
		t.Errorf("clientInfo %s", got)
	}
	if _, ok := Find("emacs"); ok {
		t.Error("a persona that is not in the table was found")
	}
}

func TestReadAPersona(t *testing.T) {
	read := func(content string) (Persona, error) {
		path := filepath.Join(t.TempDir(), "own.yaml")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return Read(path)
	}
	p, err := read("name: own\nclientInfo: {name: own, version: '1.10'}\ncapabilities: {sampling: {}}\nversions: ['2026-07-28', '2025-06-18']\n")
	if err != nil || p.Protocol() != "auto" || string(p.Capabilities) != `{"sampling":{}}` || p.Called() != "own" || string(p.ClientInfo) != `{"name":"own","version":"1.10"}` {
		t.Errorf("%+v, %v", p, err)
	}
	for content, want := range map[string]string{
		"[]":                                    "must be an object",
		"capabilities: {}":                      "it has no name",
		"name: x":                               "capabilities must be an object",
		"name: x\ncapabilities: {}\nversion: 1": `unknown field "version"; the keys are name,`,
		"name: x\ncapabilities: {}\nversions: ['1.0']":      `"1.0" is not a protocol version`,
		"name: x\ncapabilities: {}\nclientInfo: {title: y}": "clientInfo must be an object with name and version",
		"name: x\ncapabilities: {}\nname: y":                "name",
		"name: [":                                           "own.yaml:1",
	} {
		if _, err := read(content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "missing")); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}
