package cost

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What is counted in a text, at the edges of each feature.
func TestFeatures(t *testing.T) {
	for text, want := range map[string]features{
		"": {}, " ": {}, "  ": {breaks: 1}, "\n": {breaks: 1}, "\x7f": {breaks: 1}, "abcdefg": {words: 1}, "abcdefgh": {words: 1, long: 1}, "abcdefghijkl": {words: 1, long: 5}, "abcdefghijklm": {words: 1, long: 6, longer: 1},
		"AB": {words: 1}, "ABC": {words: 1, shouted: 1}, "ABCd": {words: 1, shouted: 1}, "aB": {words: 2}, "a b": {words: 2}, "1": {digits: 1}, "123": {digits: 1}, "1234": {digits: 2}, "a1": {words: 1, digits: 1},
		",": {marks: 1}, ",,": {marks: 1}, ",,,": {marks: 1, moreMarks: 1}, "(a": {words: 1}, "((Z": {words: 1, marks: 1}, "((((a": {words: 1, marks: 1, moreMarks: 1}, "(1": {marks: 1, digits: 1}, "{}[]`@": {marks: 1, moreMarks: 4},
		"aé": {words: 1, foreign: 2}, "é": {foreign: 2}, "aж": {words: 1, foreign: 2}, "日本": {ideographs: 2}, "かな": {ideographs: 2}, "한": {ideographs: 1}, "😀": {symbols: 4}, "—": {symbols: 3}, "\xff": {symbols: 1}, "e\u0301": {words: 1, foreign: 2},
	} {
		if got := count(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if got := count([]byte(text)); got != want {
			t.Errorf("%q as bytes: %v, want %v", text, got, want)
		}
	}
	for server, want := range map[string]string{"a-B_9": "mcp__a-B_9__t", "my server!": "mcp__my_server___t", "é": "mcp______t"} {
		assert.Equalf(t, Prefixed(server, "t"), want, "%s", server)
	}
}

// Which titles say no more than the name, whatever joins its words.
func TestIdle(t *testing.T) {
	for _, c := range []struct {
		title, property string
		want            bool
	}{
		{"User Id", "user_id", true},
		{"User-ID", "userId", true},
		{"user_id", "user id", true},
		{"Users Id", "user_id", false},
		{"", "user_id", false},
		{"User Id", "", false},
		{"A         ", "a", true},
		{"A          ", "a", false},
	} {
		assert.Equalf(t, idle(c.title, c.property), c.want, "%q of %q", c.title, c.property)
	}
}

// What is there often is shown at its first places, and the others are counted.
func TestEvidenceOfRepeats(t *testing.T) {
	for n, shown := range map[int][]string{1: {}, 10: {}, 12: {"and 2 more"}} {
		r := newRepeats()
		var want []string
		for i := range n {
			r.add([]byte("text"), check.Place{Kind: check.OfTool, Name: fmt.Sprint("t", i)})
			if i < 10 {
				want = append(want, fmt.Sprint("tool t", i))
			}
		}
		r.add([]byte("other"), check.Place{Kind: check.OfTool, Name: "x"})
		want = append(append(want, shown...), "", "text")
		if got := r.all[0].evidence(); len(r.all) != 2 || got != strings.Join(want, "\n") {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// The table has those that take most, what the others take, and the sums; the notes have what could be saved, and nothing twice.
func TestTableAndNotes(t *testing.T) {
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	var tools []string
	for i := range 25 {
		tools = append(tools, tool(fmt.Sprintf("t%02d", i), words(100-i), `"p":{"type":"object","description":"`+words(70)+`","properties":{"q":{"description":"`+words(60)+`"}}}`))
	}
	sub := subject(t, tools...)
	for kind, list := range map[offer.Kind]*[]offer.Item{offer.Prompts: &sub.Prompts, offer.Resources: &sub.Resources} {
		l, err := new(offer.Pages).Read([]byte(`{"`+kind.String()+`":[{"name":"a","uri":"x://a"},{"name":"b","uri":"x://b"}]}`), kind)
		require.NoError(t, err)
		*list = l.Items
	}
	sub.Resources, sub.Instructions = sub.Resources[:1], "Use it well."
	_, rep := found(t, &Section{}, sub)
	sec := rep.Sections[1]
	var first []string
	tokens := 0
	for _, row := range sec.Table[1:22] {
		var n int
		if _, err := fmt.Sscan(row[1], &n); err != nil {
			t.Fatal(err)
		}
		tokens += n
		first = append(first, row[0])
	}
	var rest [][]string
	for _, row := range sec.Table[22:] {
		rest = append(rest, row[:2])
	}
	if first[0] != "t00" || first[19] != "t19" || first[20] != "5 more" || fmt.Sprint(rest) != fmt.Sprintf("[[all 25 tools %d] [all 2 prompts 22] [resources 11] [instructions 4]]", tokens) || sec.Table[1][2] != "4 %" {
		t.Errorf("%q %v of %d", first, rest, tokens)
	}
	// A part and what is in it are not both named.
	if len(sec.Notes) != 4 || !strings.HasPrefix(sec.Notes[0], "Dropping t00 (") || !strings.HasPrefix(sec.Notes[1], "Shortening t00 /inputSchema/properties/p (") || strings.Contains(sec.Notes[1], "properties/p/properties") || strings.Contains(sec.Notes[1], "properties/p/description") {
		t.Errorf("%q", sec.Notes)
	}
}

// A parameter is a part of its own from a hundred bytes on, and so is a schema that is there twice.
func TestLeastPart(t *testing.T) {
	for n, want := range map[int]bool{99: false, 100: true} {
		schema := `{"pattern":"` + strings.Repeat("x", n-len(`{"pattern":""}`)) + `"}`
		_, rep := found(t, &Section{}, subject(t, tool("a", "", `"p":`+schema)))
		if got := strings.Contains(string(rep.Sections[1].Figures), `"/inputSchema/properties/p"`); got != want {
			t.Errorf("%d bytes: %v: %s", n, got, rep.Sections[1].Figures)
		}
	}
}
