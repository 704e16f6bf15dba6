package routes

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestR19_MergedSettings(t *testing.T) {
	tab, err := Parse([]byte(`{"prefix": "conflict", "separator": "-", "include": ["git/*", "*/read_*"], "exclude": ["*/*secret*"],
		"clients": [{"match": "cursor*", "maxName": 60, "maxTools": 40}, {"maxTools": 100}],
		"routes": {"git": {"hostPort": 1, "exclude": ["push*"]}, "files": {"hostPort": 2, "include": ["read_file", "write_file"]}}}`))
	if err != nil || len(tab.Warnings) > 0 {
		t.Fatal(err, tab)
	}
	for name, want := range map[[2]string]bool{
		{"git", "log"}: true, {"git", "push"}: false, {"git", "read_secrets"}: false, {"files", "read_file"}: true, {"files", "write_file"}: false,
		{"files", "read_link"}: false, {"gone", "read_x"}: true, {"gone", "x"}: false,
	} {
		assert.Equalf(t, tab.Selects(name[0], name[1]), want, "%v", name)
	}
	for client, want := range map[string]ClientLimits{"Cursor-vscode": {"cursor*", 60, 40}, "claude": {MaxTools: 100}, "": {MaxTools: 100}} {
		n, l := tab.Merged.For(client)
		if l != want || n != (toolset.Naming{Prefix: toolset.Conflict, Separator: "-", MaxName: want.MaxName}) {
			t.Errorf("%s: %+v %+v", client, n, l)
		}
	}
	if !(&Table{}).Selects("a", "b") {
		t.Error("a table that says nothing leaves something out")
	}
}

// What is wrong is said with the line and the column.
func TestMergedSettingsThatAreWrong(t *testing.T) {
	for text, want := range map[string]Problem{
		"{\n \"prefix\": \"sometimes\"}":                     {Line: 2, Col: 12, Message: `prefix is "sometimes"; it must be "always", "conflict" or "never"`},
		`{"separator":"."}`:                                  {Line: 1, Col: 14, Message: `separator is "."; it must be 1 to 8 letters, digits, _ or -`},
		"{\"include\":[\"a/*\" ,\n  \"git\"]}":               {Line: 2, Col: 3, Message: `include[1] is "git"; it must be a pattern of AGENT/NAME, such as "git/*"`},
		`{"exclude":[""]}`:                                   {Line: 1, Col: 13, Message: `exclude[0] is not a pattern of 1 to 1024 bytes`},
		`{"clients":{}}`:                                     {Line: 1, Col: 12, Message: "clients is an object; it must be a list of objects"},
		`{"clients":[{"maxTools":1},{"maxName":8}]}`:         {Line: 1, Col: 39, Message: "clients[1].maxName is 8; it must be a whole number from 16 to 128"},
		`{"clients":[{"maxTools":0}]}`:                       {Line: 1, Col: 25, Message: "clients[0].maxTools is 0; it must be a whole number from 1 to 100000"},
		`{"routes":{"a":{"hostPort":1,"exclude":["x", 5]}}}`: {Line: 1, Col: 46, Message: "routes.a.exclude[1] is a number; it must be a string"},
	} {
		_, err := Parse([]byte(text))
		var p Problem
		if !errors.As(err, &p) || p != want {
			t.Errorf("%s: %+v", text, err)
		}
	}
	tab, err := Parse([]byte(`{"clients":[{"maxTools":1},{"match":"x","maxtools":2}]}`))
	if err != nil || len(tab.Warnings) != 2 {
		t.Error(err, tab)
	}
}

// In a folder one file says how names are, and none that others may have written.
func TestMergedSettingsOfAFolder(t *testing.T) {
	d := dir(t, map[string]string{
		"a.json": `{"routes":{"a":{"hostPort":1}}}`, "b.json": `{"prefix":"never","routes":{"b":{"hostPort":2,"exclude":["x"]}}}`,
		"c.json": `{"separator":"-","routes":{}}`,
	})
	tab, err := Load(d)
	if err != nil || tab.Merged.Prefix != toolset.Never || tab.Merged.Separator != "" || tab.Selects("b", "x") || !tab.Selects("a", "x") {
		t.Errorf("%v %+v", err, tab)
	}
	if len(tab.Warnings) != 1 || tab.Warnings[0].File != "c.json" {
		t.Errorf("%v", tab.Warnings)
	}
	if runtime.GOOS == "windows" {
		return
	}
	require.NoError(t, os.Chmod(d, 0o777))
	if tab, err := Load(d); err != nil || !tab.Merged.zero() || tab.Routes["b"] != nil {
		t.Errorf("%v %+v", err, tab)
	}
}
