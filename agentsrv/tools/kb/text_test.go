package kb

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"readFile read_file HTTPServer": "read- File- read file HTTPServer",
		"tools/call -32602 v1.2":        "tools call 32602 v1 2",
		"e\u0301te\u0301 Élément":       "e\u0301te\u0301 Élément",
		"工具x列":                          "工- 具- x- 列-",
		"\" OR NEAR( * 🙂 \x00\xff":      "OR NEAR",
		"_a_ __ a__b":                   "a a b",
	} {
		var got []string
		words(in, func(w string, whole bool) bool {
			if !whole {
				w += "-"
			}
			got = append(got, w)
			return true
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// Endings, accents, the spelling of names and the lack of spaces do not matter.
func TestSearchFindsFormsOfWords(t *testing.T) {
	k := open(t, Options{Dir: folder(t, map[string]string{
		"a.md": "Validating a résumé with readFile and write_file.\n", "b.md": "工具列表在这里\n", "c.md": "Nothing of that.\n",
	})})
	require.NoError(t, k.Reindex(t.Context()))
	for q, want := range map[string]string{
		"validates": "a.md", "validation": "a.md", "resume": "a.md", "re\u0301sume\u0301": "a.md", "file": "a.md", "FILE": "a.md", "readfile": "a.md", "readFile": "a.md",
		"write": "a.md", "write_file": "a.md", "列": "b.md", "工具": "b.md", "nothing": "c.md", "absent": "",
	} {
		got := ""
		for _, h := range find(t, k, q, SearchOptions{}) {
			got += h.Path
		}
		if got != want {
			t.Errorf("%q found %q, want %q", q, got, want)
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
	assert.Equal(t, strings.Join(got, "|"), want)
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
	for _, text := range []string{
		strings.Repeat("filler words stand here. ", 50) + "The zebra met an aardvark. " + strings.Repeat("more filler comes after. ", 50),
		strings.Repeat("ü", 600) + " aardvark zebra " + strings.Repeat("🙂", 400),
		"zebra aardvark " + strings.Repeat("x", 3000),
	} {
		k := open(t, Options{})
		ix, err := k.open(t.Context())
		require.NoError(t, err)
		require.NoError(t, ix.put(t.Context(), 1, []file{{Path: "x.txt", Hash: []byte{}}}, [][]chunk{{{Content: text}}}))
		s := find(t, k, "aardvark zebra", SearchOptions{Limit: 1})[0].Snippet
		if !strings.Contains(s, "zebra") || !strings.Contains(s, "aardvark") || len(s) > snippetSize+10 || !utf8.ValidString(s) {
			t.Errorf("%d bytes: %q", len(s), s)
		}
	}
}
