package call

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestBriefTool(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, about, want string }{
		{`{"type":"object"}`, "", "t()"},
		{`{"type":"object"}`, "Does it. And more.", "t() — Does it"},
		{`{"type":"object"}`, "Does e.g. this. And more", "t() — Does e.g. this"},
		{`{"type":"object"}`, "\n\nFirst line\nsecond", "t() — First line"},
		{`{"type":"object","properties":{"head":{"type":"integer"},"path":{"type":"string"}},"required":["path"]}`, "", "t(path: string, head?: integer)"},
		{
			`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":"array","items":{"type":"number"}},"c":{"type":"array","items":{"enum":["x","y"]}}}}`, "",
			`t(a?: string|null, b?: number[], c?: ("x"|"y")[])`,
		},
		{
			`{"type":"object","properties":{"m":{"enum":["r","w",1,null]},"k":{"const":"fixed"},"long":{"type":"string","enum":["` + strings.Repeat("x", 60) + `"]},"any":{}}}`, "",
			`t(m?: "r"|"w"|1|null, k?: "fixed", long?: string, any?: any)`,
		},
		{`{"type":"object","properties":{"grid":{"type":"array","items":{"type":"array","items":{"type":"number"}}},"o":{"type":"object"}}}`, "", "t(grid?: array[], o?: object)"},
		{`{"type":"object","properties":{"a b":{"type":"string"},"c:d":{"type":"string"}}}`, "", `t("a b"?: string, "c:d"?: string)`},
		{`{"type":"array"`, "", "t()"},
		{`{"$ref":"#"}`, "", "t()"},
		{`{"type":"object","properties":{"a":{"$ref":"#/properties/a"},"tree":{"type":"array","items":{"$ref":"#/properties/tree"}}}}`, "", "t(a?: any, tree?: array[])"},
	} {
		got := briefTool(offer.Item{Name: "t", InputSchema: []byte(c.schema), Description: c.about})
		assert.Equal(t, got, c.want)
	}
}

// A line is bounded, and safe, whatever a server lists.
func TestBriefIsOneSafeLine(t *testing.T) {
	t.Parallel()
	many := `{"type":"object","properties":{`
	for i := range 100 {
		many += fmt.Sprintf(`"argument%d":{"type":"string"},`, i)
	}
	many += `"last":{}},"required":["argument0"]}`
	line := briefTool(offer.Item{Name: "many", InputSchema: []byte(many), Description: strings.Repeat("word ", 1000)})
	if !strings.HasPrefix(line, "many(argument0: string, argument1?: string, ") || !strings.Contains(line, " more) — word word") || ansi.StringWidth(line) > 700 {
		t.Error(line)
	}
	for _, it := range []offer.Item{
		{Name: "evil\x1b[2J\nname", URI: "file:///\x1b]0;x\a", Title: "x\x1b[1m", Description: "say\x9b\x07"},
		{Name: strings.Repeat("n", 10_000), URI: strings.Repeat("u", 10_000), InputSchema: []byte(`{"properties":{"` + strings.Repeat("a", 10_000) + `":{}}}`)},
		{Flaw: errors.New("no name")},
	} {
		for _, line := range []string{briefTool(it), briefPrompt(it), briefResource(it), briefSkill(it)} {
			if strings.ContainsAny(line, "\x1b\a\n") || strings.Contains(line, "\x9b") || ansi.StringWidth(line) > 1000 {
				t.Errorf("%q", line)
			}
			if it.Flaw != nil {
				assert.Contains(t, line, "malformed: no name")
			}
		}
	}
}

func TestBriefOfOthers(t *testing.T) {
	t.Parallel()
	args := []offer.PromptArg{{Name: "tone"}, {Name: "who", Required: true}}
	assert.Equal(t, briefPrompt(offer.Item{Name: "greet", Args: args, Title: "Greets"}), "greet(who, tone?) — Greets")
	assert.Equal(t, briefResource(offer.Item{URI: "file:///a", Name: "a"}), "file:///a — a")
	assert.Equal(t, briefResource(offer.Item{URI: "file:///{x}", Name: "x", Title: "X files"}), "file:///{x} — X files")
	assert.Equal(t, briefSkill(offer.Item{Name: "see", Description: "Sees. All."}), "see — Sees")
}
