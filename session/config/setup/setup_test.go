package setup

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func number(n float64) *float64 { return &n }

var inputs = []Input{
	{Name: "token", Title: "API token", Required: true, Secret: true},
	{Name: "mode", Choices: []string{"ro", "rw"}, Default: "ro"},
	{Name: "port", Kind: Number, Min: number(1), Max: number(65535)},
	{Name: "verbose", Kind: Boolean, Default: "false"},
	{Name: "dir", Kind: Directory, Repeated: true, Required: true},
	{Name: "api", Fixed: "v2"},
	{Name: "note", Placeholder: "as you <like>"},
}

func TestRead(t *testing.T) {
	got, err := Read(inputs, map[string]string{"token": "t0p", "dir": `["/a","/b"]`, "port": "80", "verbose": "1"})
	want := Values{"token": {"t0p"}, "mode": {"ro"}, "port": {"80"}, "verbose": {"true"}, "dir": {"/a", "/b"}, "api": {"v2"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got.First("dir") != "/a" || got.First("note") != "" {
		t.Error("the first value is not the first")
	}
	_, err = Read(inputs, map[string]string{"mode": "rw"})
	var missing *Missing
	if !errors.As(err, &missing) || err.Error() != "required and not given: token, dir" || len(missing.Inputs) != 2 {
		t.Errorf("%v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, given := range map[string]string{
		"mode":    "x",
		"port":    "70000",
		"verbose": "maybe",
		"api":     "v3",
		"tokn":    "t0p",
		"note":    "a\x00b",
		"dir":     "[" + strings.Repeat(`"a",`, maxRepeated) + `"b"]`,
	} {
		all := map[string]string{"token": "t0p", "dir": "/"}
		all[name] = given
		values, err := Read(inputs, all)
		var wrong *Invalid
		if !errors.As(err, &wrong) || wrong.Name != name || values.First("token") != "t0p" {
			t.Errorf("%s=%.20s: %v", name, given, err)
		}
	}
	_, err := Read([]Input{{Name: "pin", Secret: true, Kind: Number}}, map[string]string{"pin": "hunter2"})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a secret is in %v", err)
	}
}

// What a form makes of the schema is read as it was given, and the schema says what the inputs say.
func TestSchema(t *testing.T) {
	raw := Schema(inputs)
	var s struct {
		Properties map[string]map[string]any
		Required   []string
	}
	require.NoError(t, json.Unmarshal(raw, &s))
	if !reflect.DeepEqual(s.Required, []string{"token", "dir"}) || len(s.Properties) != len(inputs)-1 {
		t.Errorf("%s", raw)
	}
	if p := s.Properties["token"]; p["writeOnly"] != true || p["format"] != FormatSecret || p["title"] != "API token" {
		t.Errorf("%v", p)
	}
	if p := s.Properties["dir"]; p["type"] != "array" || p["items"].(map[string]any)["format"] != FormatDirectory {
		t.Errorf("%v", p)
	}
	if p := s.Properties["verbose"]; p["default"] != false {
		t.Errorf("%v", p)
	}
	if strings.Index(string(raw), `"token"`) > strings.Index(string(raw), `"mode"`) || !strings.Contains(string(raw), "<like>") {
		t.Errorf("the order or the text changed: %s", raw)
	}
	given := map[string]string{"token": "t0p", "mode": "rw", "port": "80", "verbose": "true", "dir": `["/a","/b"]`}
	object := Object(inputs, given)
	if want := `{"token":"t0p","mode":"rw","port":80,"verbose":true,"dir":["/a","/b"]}`; string(object) != want {
		t.Errorf("%s", object)
	}
	if got, err := Given(object); err != nil || !reflect.DeepEqual(got, given) {
		t.Errorf("%v, %v", got, err)
	}
	several := []Input{{Name: "dirs", Kind: Directory, Required: true, Repeated: true}, {Name: "more", Repeated: true}}
	assert.Equalf(t, string(Object(several, nil)), `{"dirs":[""]}`, "what is required has no item to type into")
	assert.Equal(t, string(Object(several, map[string]string{"dirs": "/a", "more": "x"})), `{"dirs":["/a"],"more":["x"]}`)
}

func TestPair(t *testing.T) {
	given := map[string]string{}
	for _, p := range []string{"a=1", "dir=/a", "dir=/b", "dir=/c=d", "url=http://h/?x=1"} {
		if !Pair(given, p) {
			t.Error(p)
		}
	}
	if want := map[string]string{"a": "1", "dir": `["/a","/b","/c=d"]`, "url": "http://h/?x=1"}; !reflect.DeepEqual(given, want) {
		t.Errorf("%v", given)
	}
	if Pair(given, "=x") || Pair(given, "x") {
		t.Error("what is no pair was taken")
	}
}

// What a declarer presets for a secret is said in words, since the field for it shows nothing; nobody takes it for one that was typed.
func TestSecretsWithADefault(t *testing.T) {
	in := []Input{{Name: "k", Description: strings.Repeat("d", 3000), Secret: true, Required: true, Default: "--call=x"}}
	if raw := string(Schema(in)); !strings.Contains(raw, `"description":"Left empty, it is \"--call=x\". ddd`) || strings.Contains(raw, "default\":") || strings.Contains(raw, "minLength") {
		t.Errorf("%s", raw)
	}
	for v, want := range map[string]bool{"--call=x": true, "--call=y": false, "": false} {
		if in[0].Declares(v) != want {
			t.Errorf("%q is the declarer's: %v", v, !want)
		}
	}
	several := []Input{{Name: "k", Repeated: true, Default: `["a","b"]`, Fixed: ""}, {Name: "on", Kind: Boolean, Default: "TRUE"}, {Name: "c", Choices: []string{"x", "y"}}}
	given := Values{"k": {"a", "mine", "b"}, "on": {"true"}, "c": {"y"}, "other": {"o"}}
	got := given.Replace(several, func(i Input, v string) string { return "<" + i.Name + ">" })
	if want := (Values{"k": {"a", "<k>", "b"}, "on": {"true"}, "c": {"y"}, "other": {"o"}}); !reflect.DeepEqual(got, want) || given["k"][1] != "mine" {
		t.Errorf("%v of %v", got, given)
	}
}
