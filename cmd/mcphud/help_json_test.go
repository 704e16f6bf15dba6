package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// helpOf reads help as JSON.
func helpOf(t *testing.T, args ...string) (doc cli.HelpDocument) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(mcphud(t, append(args, "--format", "json")...).ok(t)), &doc))
	return doc
}

// Help as JSON has every command, each of its flags with a type, and each name of a shared flag that it uses.
func TestHelpAsJSON(t *testing.T) {
	t.Parallel()
	doc := helpOf(t, "help")
	verbs, global := map[string]cli.ListedVerb{}, map[string]cli.ListedFlag{}
	for _, v := range doc.Verbs {
		verbs[v.Path] = v
	}
	for _, f := range doc.GlobalFlags {
		global[f.Name] = f
	}
	n := 0
	eachCommand(t, func(a *app, c *cobra.Command) {
		n++
		path := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "mcphud"), " ")
		v, ok := verbs[path]
		c.LocalFlags() // merges those of the parents, for the usage
		if !ok || v.About == "" || v.Usage != c.UseLine() || strings.Contains(v.About, "`") || (v.Group == "") != (c.Parent() != a.Root) {
			t.Errorf("%q: %+v", path, v)
		}
		for _, name := range v.Global {
			if global[name].About == "" {
				t.Errorf("%q takes --%s, which is not listed", path, name)
			}
		}
		for _, f := range v.Flags {
			if f.About == "" || f.Type == "boolean" != (f.Value == "") && f.Name != "sandbox" {
				t.Errorf("%q: %+v", path, f)
			}
		}
	})
	if _, help := verbs["help"]; len(doc.Verbs) != len(verbs) || len(verbs) != n+1 || !help { // cobra hides help from those that walk
		t.Errorf("%d commands, %d listed", n, len(doc.Verbs))
	}
	call := verbs["tools call"]
	if call.Group != "" || verbs["tools"].Group != "Use a server" || !slices.Contains(call.Global, "select") || !slices.Contains(call.Global, "expect") || slices.Contains(call.Global, "linear") || len(call.Examples) == 0 || !strings.HasPrefix(call.Examples[0], "mcphud tools call ") {
		t.Errorf("%+v", call)
	}
	for name, want := range map[string]string{
		"format": "string", "timeout": "duration", "max-bytes": "size", "yes": "boolean", "env": "string",
	} {
		assert.Equalf(t, global[name].Type, want, "--%s", name)
	}
	if f := global["format"]; !slices.Contains(f.Allowed, "brief") || f.Value != "FORMAT" {
		t.Errorf("%+v", f)
	}
	if !global["env"].Repeatable || global["env"].Short != "e" || global["timeout"].Default != "30s" || global["timeout"].Repeatable {
		t.Errorf("%+v %+v", global["env"], global["timeout"])
	}
	if slices.ContainsFunc(verbs["agent"].Global, func(name string) bool { return name != "format" }) {
		t.Errorf("agent takes %v", verbs["agent"].Global)
	}
}

// Of a command there is the same, and --help gives it too.
func TestHelpOfACommandAsJSON(t *testing.T) {
	t.Parallel()
	doc := helpOf(t, "help", "tools")
	var paths []string
	for _, v := range doc.Verbs {
		paths = append(paths, v.Path)
	}
	assert.Equal(t, strings.Join(paths, ","), "tools,tools call,tools list,tools show")
	one := mcphud(t, "help", "tools", "call", "--format", "json").ok(t)
	assert.Equal(t, mcphud(t, "tools", "call", "--help", "--format", "json").ok(t), one)
	assert.Equal(t, mcphud(t, "tools", "call", "--help", "--select", ".verbs[].path").ok(t), `"tools call"`+"\n")
	assert.Contains(t, mcphud(t, "help", "tools", "call").ok(t), "Usage:\n")
	var manual struct{ Topic, Text string }
	if err := json.Unmarshal([]byte(mcphud(t, "help", "keys", "--format", "json").ok(t)), &manual); err != nil || manual.Topic != "keys" || !strings.Contains(mcphud(t, "help", "keys").ok(t), "ctrl+p") {
		t.Errorf("%v: %+v", err, manual)
	}
}

// Exit codes and kinds are those of the manual, and each kind has a meaning.
func TestExitCodesAreListed(t *testing.T) {
	t.Parallel()
	doc := helpOf(t, "help", "ping")
	kinds := map[failure.Kind]int{}
	for _, k := range doc.ErrorKinds {
		if kinds[k.Kind] = k.ExitCode; k.Meaning == "" {
			t.Errorf("%+v", k)
		}
	}
	for kind, code := range cli.ExitCodes {
		if got, ok := kinds[kind]; !ok || got != code {
			t.Errorf("%s: %d, listed with %d", kind, code, got)
		}
	}
	assert.Equal(t, len(kinds), len(cli.ExitCodes))
	plain := strings.ReplaceAll(readme, "`", "")
	rows := 0
	for _, e := range doc.ExitCodes {
		_, row, ok := strings.Cut(plain, fmt.Sprintf("\n| %d | %s | ", e.Code, e.Meaning))
		if row, _, _ = strings.Cut(row, "\n"); !ok {
			t.Errorf("the manual does not say of %d: %s", e.Code, e.Meaning)
		}
		for kind, code := range kinds {
			if code == e.Code != slices.Contains(strings.FieldsFunc(row, func(r rune) bool { return strings.ContainsRune(" ,|", r) }), string(kind)) {
				t.Errorf("%d, %s: %s", e.Code, kind, row)
			}
		}
		rows++
	}
	_, table, _ := strings.Cut(plain, "| exit code |")
	table, _, _ = strings.Cut(table, "\n\n")
	assert.Equal(t, strings.Count(table, "\n| "), rows)
}
