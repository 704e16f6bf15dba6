package agentlet

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

func TestT7_PromptsGet(t *testing.T) {
	r := serve(t, "", Options{})
	for _, c := range []struct {
		name, title string
		args        map[string]string
	}{
		{AnalyzeDocument, "plain", map[string]string{"document": "Dear all, the port closes on Friday."}},
		{AnalyzeDocument, "all", map[string]string{"document": "resource://kb/a.md", "focus": "risks", "depth": "quick"}},
		{CreateSummary, "plain", map[string]string{"documents": "resource://kb/a.md\nresource://kb/b.md"}},
		{CreateSummary, "all", map[string]string{"documents": "One.", "length": "one sentence", "audience": "managers"}},
		{ExtractEntities, "plain", map[string]string{"text": "Beacon is down in Calden."}},
		{ExtractEntities, "all", map[string]string{"text": "Beacon is down.", "types": "system, place", "format": "table"}},
	} {
		t.Run(c.name+"/"+c.title, func(t *testing.T) {
			got := r.post(t, "", "", "prompts/get", map[string]any{"name": c.name, "arguments": c.args})
			var m []struct {
				Role    string
				Content struct{ Type, Text string }
			}
			if json.Unmarshal(got.Result.Messages, &m) != nil || len(m) != 1 || m[0].Role != "user" || m[0].Content.Type != "text" {
				t.Fatal(got.raw)
			}
			golden.RequireEqual(t, m[0].Content.Text+"\n")
		})
	}
	for name, field := range map[string]string{AnalyzeDocument: "document", CreateSummary: "documents", ExtractEntities: "text"} {
		got := r.post(t, "", "", "prompts/get", map[string]any{"name": name, "arguments": map[string]string{field: " "}})
		if got.Error == nil || got.Error.Code != -32602 || got.Error.Message != "Invalid params: "+field+" is required" || got.Error.Data["field"] != field {
			t.Errorf("%s: %s", name, got.raw)
		}
	}
}

func TestT7_PromptsComplete(t *testing.T) {
	r := serve(t, "", Options{})
	r.make(t, "acme", "ada", "counter")
	prompt := func(name string) map[string]any { return map[string]any{"type": "ref/prompt", "name": name} }
	template := map[string]any{"type": "ref/resource", "uri": Template}
	for _, c := range []struct {
		ref             map[string]any
		who, arg, value string
		want            string
	}{
		{prompt(AnalyzeDocument), "", "depth", "", "[quick thorough]"},
		{prompt(AnalyzeDocument), "", "focus", "D", "[deadlines decisions]"},
		{prompt(CreateSummary), "", "audience", "man", "[managers]"},
		{prompt(CreateSummary), "", "documents", "x", "[]"},
		{prompt(ExtractEntities), "", "types", "person, pl", "[person, place]"},
		{prompt("greet"), "", "types", "p", "[]"},
		{template, "acme", "uri", "user/", "[user/ada/counter]"},
		{template, "other", "uri", "user/", "[]"},
		{template, "", "uri", "system/r", "[system/researcher]"},
	} {
		got := r.post(t, c.who, "", "completion/complete", map[string]any{"ref": c.ref, "argument": map[string]string{"name": c.arg, "value": c.value}})
		if fmt.Sprint(got.Result.Completion.Values) != c.want || got.Error != nil {
			t.Errorf("%v %s=%s: %s", c.ref, c.arg, c.value, got.raw)
		}
	}
}
