package kb

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTerms(t *testing.T) {
	for in, want := range map[string]string{
		"Validating validates validation validated": "valid valid valid valid",
		"queries query calling calls cancelled":     "query query cal cal cancel",
		"readFile read_file HTTPServer":             "read fil readfil read fil readfil httpserver",
		"tools/call -32602 v1.2":                    "tool cal 32602 v1 2",
		"Élément e\u0301te\u0301":                   "element ete",
		"工具x列":                                      "工 具 x 列",
		`" OR NEAR( * 🙂 \x00`:                       "or near x00",
		"session sessions status process access":    "session session status proces acces",
		"_a_ __ a__b":                               "a a b",
		strings.Repeat("x", 100):                    "",
	} {
		if got := strings.TrimSpace(joinTerms(in)); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestSplit(t *testing.T) {
	long := strings.Repeat("Many words make a paragraph.\n", 30) // 870 bytes
	title, chunks := split("x.md", "# Title\n\n## One\n\n"+long+"\n"+long+"\n## Two\n\n```\n# no heading\n```\n\n"+long+"\n### Deep\n\n"+long)
	if title != "Title" {
		t.Errorf("title %q", title)
	}
	var got []string
	for _, c := range chunks {
		got = append(got, fmt.Sprintf("%s %d-%d", c.Heading, c.Line, c.Last))
	}
	want := "Title › One 1-34|Title › One 36-65|Title › Two 67-102|Title › Two › Deep 104-135"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("# a\n\nb\n", true)
	f.Add(strings.Repeat("ü", 3000)+"\n\n"+strings.Repeat("word ", 900), false)
	f.Add("```\n# x\n"+strings.Repeat("line\n\n", 400), true)
	f.Fuzz(func(t *testing.T, text string, md bool) {
		if !utf8.ValidString(text) || strings.Contains(text, "\r") || strings.HasPrefix(text, "\uFEFF") {
			return
		}
		name := "x.txt"
		if md {
			name = "x.md"
		}
		_, chunks := split(name, text)
		var got strings.Builder
		last := 0
		for _, c := range chunks {
			if len(c.Content) > chunkSize || c.Line < last || c.Last < c.Line || !utf8.ValidString(c.Content) {
				t.Fatalf("%d bytes, lines %d to %d after %d", len(c.Content), c.Line, c.Last, last)
			}
			last = c.Line
			got.WriteString(c.Content)
		}
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if bare(got.String()) != bare(text) {
			t.Fatalf("chunks of %q hold %q", text, got.String())
		}
	})
}

func TestSnippetShowsTheHit(t *testing.T) {
	terms := []term{{alts: []alt{{"aardvark", 1, 1}}, weight: 1}, {alts: []alt{{"zebra", 1, 1}}, weight: 2}}
	for _, text := range []string{
		strings.Repeat("filler words stand here. ", 50) + "The zebra met an aardvark. " + strings.Repeat("more filler comes after. ", 50),
		strings.Repeat("ü", 600) + " aardvark zebra " + strings.Repeat("🙂", 400),
		"zebra aardvark " + strings.Repeat("x", 3000),
	} {
		s := snippet(text, terms)
		if !strings.Contains(s, "zebra") || !strings.Contains(s, "aardvark") || len(s) > snippetSize+10 || !utf8.ValidString(s) {
			t.Errorf("%d bytes: %q", len(s), s)
		}
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		d    int
	}{{"protocol", "protocol", 0}, {"protocl", "protocol", 1}, {"portocol", "protocol", 1}, {"sesion", "session", 1}, {"abc", "xyz", 3}, {"größe", "grosse", 3}, {"", "ab", 2}} {
		if d := edits([]rune(c.a), []rune(c.b), 2); d != c.d {
			t.Errorf("%s to %s: %d, want %d", c.a, c.b, d, c.d)
		}
	}
}
