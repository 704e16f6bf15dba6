package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	verbconfig "github.com/mcphud/mcphud/cmd/verb/config"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/stack"
)

// outsideHelp is what --help-all prints of each command, and the topics. A block of flags that stood under a command before, byte for
// byte, is named only.
func outsideHelp(t *testing.T, _ string) string {
	var b strings.Builder
	first := map[string]string{} // blocks by the command that had them first
	add := func(path, text string) {
		fmt.Fprintf(&b, "═══ %s\n", path)
		for block := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n\n") {
			head, _, _ := strings.Cut(block, "\n")
			if at, ok := first[block]; ok && strings.HasSuffix(head, ":") {
				fmt.Fprintf(&b, "%s as above, %s\n\n", head, at)
				continue
			}
			first[block] = path
			b.WriteString(block + "\n\n")
		}
	}
	eachCommand(t, func(_ *app, c *cobra.Command) {
		add(c.CommandPath(), mcphud(t, append(strings.Fields(c.CommandPath())[1:], "--help-all")...).ok(t))
	})
	add("mcphud help", mcphud(t, "help").ok(t))
	add("mcphud conformance", mcphud(t, "conformance", "--help-all").ok(t))
	add("mcphud --cli", mcphud(t, "--cli", "--help").ok(t))
	return b.String()
}

// outsideErrors is the exit code of each kind of error, and the error itself as people and scripts get it.
func outsideErrors(t *testing.T, _ string) string {
	var b strings.Builder
	code := int64(-32000)
	ctx := t.Context()
	one := func(name string, err error) {
		for _, f := range []string{output.FormatText, output.FormatJSON} {
			o := errorReport(ctx, t, err, f)
			if f == output.FormatText {
				fmt.Fprintf(&b, "═══ %s: exit code %d\n", name, o.code)
			}
			b.WriteString(o.stderr)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(cli.ExitCodes)) {
		one(string(kind), &failure.Error{Kind: kind, Server: "github", Stage: "tools/call add", Message: "what happened"})
	}
	one("everything at once", &failure.Error{
		Kind: failure.RpcError, Server: "github", Stage: "tools/call add", Code: &code, Message: "what happened", Reason: "why", Data: json.RawMessage(`{"a":1}`),
		Status: 500, URL: "https://host/mcp", Detail: "more\nlines", Next: "what to do", Err: errors.New("the cause"),
	})
	one("strict", &cli.StrictError{Err: &failure.Error{Kind: failure.Assertion, Message: "a rule is broken"}})
	one("of another origin", errors.New("no kind"))
	for _, remedy := range slices.Sorted(maps.Keys(cli.Remedies)) {
		one("with the remedy "+string(remedy), &failure.Error{Kind: failure.Transport, Message: "what happened", Remedy: remedy, Object: "OBJECT"})
	}
	var end context.CancelCauseFunc
	ctx, end = context.WithCancelCause(ctx)
	end(cli.ErrInterrupted)
	one("interrupted", &failure.Error{Kind: failure.Interrupted, Server: "github", Stage: "tools/call add", Message: "what happened"})
	return b.String()
}

// outsideActions is every action of every screen. What those with keys do is in tui/KEYS.md, which has a test of its own.
func outsideActions(*testing.T, string) string {
	var b strings.Builder
	for _, k := range tui.KeyTable(views.All(views.Deps{Stack: struct{ stack.Stack }{}})) {
		fmt.Fprintf(&b, "%s | %s | %s | %s | %s", k.Scope, k.ID, k.Group, k.Title, k.Keys)
		if k.Keys == "" {
			b.WriteString("no key: " + k.Help)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// outsideRules is every rule of check and of explain.
func outsideRules(t *testing.T, _ string) string {
	var b strings.Builder
	type rule struct{ ID, Rule, Severity, By, Title string }
	var check struct{ Rules []rule }
	var explain []rule
	for args, to := range map[string]any{"check --list-rules": &check, "explain --rules": &explain} {
		require.NoError(t, json.Unmarshal([]byte(mcphud(t, append(strings.Fields(args), "--format", "json")...).ok(t)), to))
	}
	b.WriteString("═══ mcphud check --list-rules\n")
	for _, r := range check.Rules {
		fmt.Fprintf(&b, "%s %s: %s\n", r.Severity, r.ID, r.Title)
	}
	b.WriteString("═══ mcphud explain --rules\n")
	for _, r := range explain {
		fmt.Fprintf(&b, "%s %s, by the %s: %s\n", r.Severity, r.Rule, r.By, r.Title)
	}
	return b.String()
}

// outsideSchemas is the schema of every file that people write: a line for each part without the words for people, and a digest of all.
func outsideSchemas(t *testing.T, _ string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(verbconfig.Schemas())) {
		text := mcphud(t, "config", "schema", name).ok(t)
		var root map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &root))
		fmt.Fprintf(&b, "═══ %s: %v\n", name, root["title"])
		schemaLines(&b, "", root)
		fmt.Fprintf(&b, "%d bytes, SHA-256 %x\n", len(text), sha256.Sum256([]byte(text)))
	}
	return b.String()
}

// schemaLines writes a line for a part of a schema, and for each part in it.
func schemaLines(b *strings.Builder, path string, part map[string]any) {
	line, parts := path, map[string]map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(part)) {
		switch v := part[key].(type) {
		case map[string]any:
			if key != "properties" && key != "$defs" && key != "patternProperties" && key != "dependentSchemas" {
				parts[path+"/"+key] = v
				continue
			}
			for name, sub := range v {
				at := path + "/" + name
				if key != "properties" {
					at = path + "/" + key + "/" + name
				}
				parts[at], _ = sub.(map[string]any)
			}
		case []any:
			if len(v) > 0 {
				if _, deep := v[0].(map[string]any); deep {
					for i := range v {
						parts[fmt.Sprintf("%s/%s/%d", path, key, i)], _ = v[i].(map[string]any)
					}
					continue
				}
			}
			line += schemaWord(key, v)
		default:
			if key != "description" && key != "title" {
				line += schemaWord(key, v)
			}
		}
	}
	b.WriteString(line + "\n")
	for _, at := range slices.Sorted(maps.Keys(parts)) {
		schemaLines(b, at, parts[at])
	}
}

func schemaWord(key string, v any) string {
	text, _ := json.Marshal(v) // it came from JSON
	return " " + key + "=" + string(text)
}

// errorReport is what the program does with an error.
func errorReport(ctx context.Context, t *testing.T, err error, format string) outcome {
	t.Helper()
	f, failed := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, failed)
	defer f.Close()
	a := &app{&cli.App{Standard: cli.Standard{In: os.Stdin, Out: f, Err: f}, Kill: &cli.Children{}, Sent: &cli.Redactor{}}}
	a.Options.Format = format
	code := a.Report(ctx, err)
	text, failed := os.ReadFile(f.Name())
	require.NoError(t, failed)
	return outcome{code: code, stderr: string(text)}
}
