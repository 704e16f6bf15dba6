package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// masking are tools whose arguments and results a journal masks, and that would refuse what stands in their place.
func masking(more string) []server.ServerTool {
	result := mcp.NewToolResultStructured(map[string]any{"session_token": "x7Kq2mWn9pLr4sTv", "n": 1}, "the token is ghp_A8s7Df6g5Hj4k3L2z1XcVbNmQwEr")
	login := mcp.NewToolWithRawSchema("login", "Logs in.", json.RawMessage(`{"type":"object","properties":{
		"user":{"type":"string"},"password":{"type":"string","minLength":14,"maxLength":14,"pattern":"^hunter2-"},"pin":{"type":"integer","format":"password","minimum":1000},
		"way":{"oneOf":[{"properties":{"api_key":{"type":"string","pattern":"^k-"}},"required":["api_key"]},{"properties":{"name":{"type":"string"}},"required":["name"]}]}`+more))
	login.RawOutputSchema = json.RawMessage(`{"type":"object","properties":{"session_token":{"type":"string","minLength":16,"maxLength":16},"n":{"type":"integer"}}}`)
	login.Annotations.ReadOnlyHint = mcp.ToBoolPtr(true)
	vault := mcp.NewToolWithRawSchema("vault", "Keeps.", json.RawMessage(`{"type":"object","patternProperties":{"^v_":{"type":"string","writeOnly":true,"minLength":20}}}`))
	return []server.ServerTool{answering(login, result), answering(vault, mcp.NewToolResultText("kept"))}
}

// A journal with masked secrets is evidence of what was called all the same: nothing is found that is only in the masks, what is found is, and
// no secret is shown with it.
func TestEvidenceOfAMaskedJournal(t *testing.T) {
	t.Parallel()
	s, url := changeable(t, masking(`}}`)...)
	file := filepath.Join(t.TempDir(), "j.jsonl")
	record := func(words ...string) {
		t.Helper()
		mcphud(t, append(append([]string{"tools", "call"}, words...), "--url", url, "--journal", file)...).ok(t)
	}
	record("login", "user=ann", "password=hunter2-hunter", "pin:=47118088", `way:={"api_key":"k-a-key-of-nobody"}`)
	record("vault", "v_one=a-secret-of-twenty-characters", "other=plain")
	journal := contents(file)
	for _, secret := range []string{"hunter2-hunter", "47118088", "k-a-key-of-nobody", "a-secret-of-twenty", "ghp_A8s7", "x7Kq2mWn"} {
		assert.NotContains(t, journal, secret)
	}
	if !strings.Contains(journal, `"arguments":{"v_one":"[secret-`) { // still an object, as the protocol wants it
		t.Errorf("arguments that may all be secret: %s", journal)
	}
	o := mcphud(t, "check", "contract", "--evidence", file, "--format", "json", "--url", url)
	if o.code != cli.ExitOK || strings.Contains(o.out, "recorded-calls-refused") || !strings.Contains(o.out, `"calls":2,"refused":0`) {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.stderr)
	}
	mcphud(t, "explain", "--strict", file).exits(t, cli.ExitOK)
	o = mcphud(t, "check", "safety", "--evidence", file, "--format", "json", "--url", url)
	for _, want := range []string{"/structuredContent/session_token has a secret by its name, which was hidden when it was kept", "1 text was hidden when the calls were recorded"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%s is not in %s%s", want, o.out, o.stderr)
		}
	}
	o = mcphud(t, "journal", "replay", file, "--filter", "tool:login", "--format", "text", "--url", url)
	o.prints(t, cli.ExitOK, "a secret in it was hidden when it was recorded")
	s.SetTools(masking(`},"required":["limit"]}`)...)
	o = mcphud(t, "check", "contract", "--evidence", file, "--format", "json", "--url", url)
	if !strings.Contains(o.out, "1 of 1 recorded calls would be refused: `limit` is required") || strings.Contains(o.out, "hunter2") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.stderr)
	}
}
