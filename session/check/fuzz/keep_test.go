package fuzz

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/check"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What was kept is read again as it was; long arguments have a file of their own. What is not a kept failure is refused by its name.
func TestKeeper(t *testing.T) {
	t.Parallel()
	k := newKeeper(t.TempDir(), &check.Subject{Offer: check.Offer{Server: "../a b", Name: ""}})
	if filepath.Base(k.dir) != "a-b" {
		t.Errorf("the folder is %s", k.dir)
	}
	if all, _, err := k.read(); err != nil || all != nil {
		t.Errorf("%v, %v", all, err)
	}
	target := newTarget(check.OfTool, "do/it", schema.ParseArguments(nil), true)
	put := func(n int, h hit, how recurrence) Call {
		t.Helper()
		v := schema.ObjectValue(schema.Member{Name: "s", Value: schema.StringValue(strings.Repeat("x", n))})
		call, err := k.put(target, target.classify(Value{Value: v, Extreme: n == 0}), h, 7, how)
		require.NoError(t, err)
		return call
	}
	few := maxInline - len(`{"s":""}`)
	if call := put(few, hit{rule: "fuzz/died", cause: "c", message: "m"}, recurrence{}); call.File != "" {
		t.Errorf("%s for %d bytes", call.File, len(call.Arguments))
	}
	call := put(few+1, hit{rule: "fuzz/frame"}, recurrence{once: true})
	if raw, err := os.ReadFile(call.File); err != nil || string(raw) != string(call.Arguments) || call.Method != "tools/call" {
		t.Errorf("%+v, %v", call, err)
	}
	put(0, hit{rule: "fuzz/frame"}, recurrence{}) // the same again, with other arguments
	all, _, err := k.read()
	if err != nil || len(all) != 2 || k.kept != 3 {
		t.Fatalf("%+v, %v, %d kept", all, err, k.kept)
	}
	if f := all[0]; f.Rule != "fuzz/died" || f.Kind != check.OfTool || f.Name != "do/it" || f.Cause != "c" || f.Message != "m" || f.Seed != 7 || f.Extreme || f.Chance || len(f.Arguments) < few {
		t.Errorf("%+v", f)
	}
	if f := all[1]; !f.Extreme || f.Chance || string(f.Arguments) != `{"s": ""}` && string(f.Arguments) != "{\n    \"s\": \"\"\n  }" {
		t.Errorf("%+v: %s", f, f.Arguments)
	}
	for text, want := range map[string]string{`{"format":99}`: "its format is 99, and 1 is known", `{`: "unexpected end of JSON input", `{"format":"1"}`: "cannot unmarshal"} {
		bad := filepath.Join(k.dir, "z.json")
		require.NoError(t, os.WriteFile(bad, []byte(text), 0o600))
		_, _, err := k.read()
		var f *failure.Error
		if !errors.As(err, &f) || f.Message != "cannot read the kept failure "+bad || !strings.Contains(f.Detail, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if none := newKeeper("", nil); none.dir != "" {
		t.Error(none.dir)
	} else if call, err := none.put(target, input{}, hit{}, 1, recurrence{}); err != nil || call.Name != "do/it" || none.kept != 0 {
		t.Errorf("%+v, %v", call, err)
	}
	for name, want := range map[string]string{"a_B-9": "a_B-9", "../x": "x", "": "server", "///": "server", strings.Repeat("a", 61): strings.Repeat("a", 60), "ü": "server", "aü": "a"} {
		assert.Equalf(t, fileName(name), want, "%s", name)
	}
}

// Two servers whose names differ only in what no file is named by have one folder, and each its own failures.
func TestKeepersOfOneFolder(t *testing.T) {
	t.Parallel()
	dir, tool := t.TempDir(), newTarget(check.OfTool, "x", schema.ParseArguments(nil), true)
	keeper := func(name string) *keeper {
		return newKeeper(dir, &check.Subject{Offer: check.Offer{Server: name}})
	}
	for i, name := range []string{"a-b", "a.b", "a b"} {
		for range 2 { // the second replaces the first
			_, err := keeper(name).put(tool, input{}, hit{rule: "fuzz/died", message: name}, uint64(i), recurrence{})
			require.NoError(t, err)
		}
	}
	for name, want := range map[string]int{"a.b": 2, "a b": 2, "a/b": 1, "a-b": 1} { // what says no server may be of any
		all, more, err := keeper(name).read()
		if err != nil || len(all) != want || more != 0 {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
	}
}

// What is beyond the bound of a replay is counted.
func TestMoreThanIsKept(t *testing.T) {
	t.Parallel()
	k := newKeeper(t.TempDir(), &check.Subject{Offer: check.Offer{Server: "a"}})
	require.NoError(t, os.MkdirAll(k.dir, 0o700))
	for i := range maxKept + 3 {
		require.NoError(t, os.WriteFile(filepath.Join(k.dir, fmt.Sprintf("%05d.json", i)), []byte(`{"format":1}`), 0o600))
	}
	all, more, err := k.read()
	if err != nil || len(all) != maxKept || more != 3 {
		t.Errorf("%d, %d, %v", len(all), more, err)
	}
}

// A kept failure is tried where it was: at a target that is listed, at a resource that something linked to, or at a tool that there is not.
func TestFindTarget(t *testing.T) {
	t.Parallel()
	known := []*target{newTarget(check.OfTool, "a", schema.FromArguments(nil), true), newTarget(check.OfPrompt, "a", schema.FromArguments(nil), true)}
	for _, c := range []struct {
		kind, name string
		want       string
	}{{check.OfTool, "a", "tool a"}, {check.OfPrompt, "a", "prompt a"}, {check.OfTool, "b", ""}, {check.OfPrompt, "b", ""}, {check.OfResource, "x://y", "resource x://y"}, {check.OfTool, noTool, check.OfServer}, {check.OfPrompt, noTool, ""}, {check.OfResource, noTool, "resource " + noTool}} {
		got := ""
		if t := findTarget(known, failureFile{Kind: c.kind, Name: c.name}); t != nil {
			got = t.place.String()
		}
		assert.Equalf(t, got, c.want, "%s %s", c.kind, c.name)
	}
}
