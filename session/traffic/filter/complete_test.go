package filter_test

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// The cursor is at the bar of what is typed. What is offered is in the order in which it is offered.
func TestComplete(t *testing.T) {
	j := recorded(t)
	j.Append(journal.Entry{Server: "disk", Kind: journal.Request, Method: "prompts/get", Tool: "my echo"}, nil)
	var seen filter.Seen
	seen.Update(j)
	for typed, want := range map[string]string{
		"s|":                  "status: server:",
		"S|":                  "status: server:",
		"a -st|":              "status:",
		"zz|":                 "",
		"status:|":            "ok error pending cancelled late duplicate unasked",
		"-status:c|":          "cancelled duplicate",
		"status:ok,e|":        "error pending cancelled late duplicate unasked",
		"tool:|":              `echo kb://a\ b,c my\ echo`,
		"tool:e|":             `echo my\ echo`,
		`tool:"my|`:           `my\ echo`,
		"tool:=e|":            `echo my\ echo`,
		"server:k|":           "kb disk",
		"method:/|":           "",
		"id:|":                "abc",
		">|":                  "10ms 100ms 1s 10s 1kb 10kb 100kb 1mb",
		"x >=100|":            "100ms 100kb",
		"dir:o| kind:req":     "out",
		"kind:re|q status:ok": "res",
		"unknown:|":           "",
		"at:|":                "",
		`"tool:|`:             "",
	} {
		at := strings.Index(typed, "|")
		line := typed[:at] + typed[at+1:]
		var got []string
		for _, c := range seen.Complete(line, at) {
			label := strings.ReplaceAll(strings.Trim(c.Label, `"`), " ", `\ `)
			got = append(got, label)
			if !strings.HasPrefix(c.Text, line[:strings.LastIndexAny(line[:at], ` :,>`)+1]) && strings.ContainsAny(line[:at], " :,>") {
				t.Errorf("%s became %s", typed, c.Text)
			}
			if _, err := filter.Parse(c.Text); err != nil && !strings.HasSuffix(c.Label, ":") {
				t.Errorf("%s became %s: %v", typed, c.Text, err)
			}
			if !strings.HasSuffix(c.Text, line[at:]) && !strings.Contains(typed, "re|q") {
				t.Errorf("%s became %s, without what stood behind the cursor", typed, c.Text)
			}
		}
		if s := strings.Join(got, " "); s != want && typed != "at:|" {
			t.Errorf("%s offers %s, not %s", typed, s, want)
		}
	}
	if got := seen.Complete("", 0); len(got) < 10 || got[0].Text != "method:" {
		t.Errorf("an empty filter offers %v", got)
	}
	if got := seen.Complete("kind:re tool:echo", 7); len(got) == 0 || got[0].Text != "kind:req tool:echo" || got[0].Cursor != 8 {
		t.Errorf("%+v", got)
	}
	if got := seen.Complete("at:", 3); len(got) != 3 {
		t.Errorf("times that are offered: %+v", got)
	}
}
