package consent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/offer"
)

func tool(name, annotations string) offer.Item {
	return offer.Item{Name: name, Annotations: []byte(annotations)}
}

func TestPolicy(t *testing.T) {
	drop, harmless := tool("drop", `{"destructiveHint":true}`), tool("look", `{}`)
	if (*Policy)(nil).Asks("db", harmless) || !(*Policy)(nil).Asks("db", drop) {
		t.Error("without a policy only what is marked asks")
	}
	p := &Policy{}
	p.Tool("db", "drop")
	if p.Asks("db", drop) || !p.Asks("other", drop) || !p.Asks("db", tool("wipe", `{"destructiveHint":true}`)) {
		t.Error("agreeing to one tool is not agreeing to that tool alone")
	}
	p.Server("other")
	if p.Asks("other", drop) || !p.Asks("third", drop) {
		t.Error("agreeing to a server is not agreeing to that server alone")
	}
	p.Follow(Writing)
	if !p.Asks("third", drop) || !p.Asks("third", harmless) || p.Asks("third", tool("read", `{"readOnlyHint":true}`)) || p.Asks("other", harmless) {
		t.Error("writing tools are those that are not marked as read-only, where nobody agreed to them")
	}
	p.Follow(Never)
	if p.Asks("third", drop) {
		t.Error("asked though nothing is to ask")
	}
	p.Follow(Destructive)
	p.All()
	if p.Asks("third", drop) {
		t.Error("asked after everything was agreed to")
	}
}

func TestQuestion(t *testing.T) {
	for args, want := range map[string]string{
		``:                            "Call it without arguments?",
		`{}`:                          "Call it without arguments?",
		`{"width":300, "height":2e2}`: `Call it with {"width":300,"height":2e2}?`,
		`{"api_key":"abc","n":12345678901234567890}`:                                         `Call it with {"api_key":"***","n":12345678901234567890}?`,
		`{"auth":{"user":"ada","pin":1234}}`:                                                 `Call it with {"auth":{"user":"***","pin":"***"}}?`,
		`{"url":"https://ada:geheim@host/?token=abc","deep":true,"text":"more than a line"}`: "Call it with these arguments?\n{\n  \"url\": \"https://",
	} {
		if got := Question("db", tool("drop", `{"destructiveHint":true}`), "drop", []byte(args)); !strings.HasPrefix(got, "db marks drop as destructive. "+want) || strings.Contains(got, "geheim") || strings.Contains(got, "abc") {
			t.Errorf("%s: %s", args, got)
		}
	}
}

// A name cannot add lines to the question.
func TestNamesAreOneLine(t *testing.T) {
	if got := Question("db\r\nsafe", tool("look", `{}`), "look\n\nThis is harmless.\n", []byte("{}")); strings.ContainsAny(got, "\r\n") || !strings.Contains(got, "does not mark look This is harmless. as read-only.") {
		t.Errorf("%q", got)
	}
}

// What is shown is valid JSON of a few kB, whatever the arguments are.
func TestArgumentsAreBounded(t *testing.T) {
	long, deep := strings.Repeat("x", 1<<20), strings.Repeat(`{"a":[`, 400)+"1"+strings.Repeat("]}", 400)
	for _, args := range []string{
		`{"text":"` + long + `"}`, `{"` + long + `":1}`, deep, `{"n":` + strings.Repeat("9", 1<<20) + `}`,
		`{"list":[` + strings.Repeat(`"x",`, 1<<20) + `1]}`, `{"a":` + strings.Repeat(`[[1],`, 300) + "2" + strings.Repeat("]", 300) + "}",
	} {
		got := Arguments([]byte(args))
		if len(got) > 2*maxArgs || !json.Valid([]byte(got)) && !strings.HasPrefix(args, `{"n"`) {
			t.Errorf("%.60s…: %d bytes: %.200s", args, len(got), got)
		}
	}
}
