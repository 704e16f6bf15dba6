package widget

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/testdata/hostile"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

const page = `# Title

Some **bold** text with ` + "`code`" + ` and a [link](https://example.com/x).

- one
- two
  - three

> quoted 日本語

` + "```json\n{\"a\": 1}\n```" + `

| a | b |
|---|---|
| 1 | 2 |
`

func render(t *testing.T, p colorprofile.Profile, source string, w int) []string {
	t.Helper()
	doc, err := Markdown(context.Background(), testTheme(p), source, w)
	require.NoError(t, err)
	return doc.Lines
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	got := strings.Join(render(t, colorprofile.NoTTY, page, 40), "\n")
	for _, want := range []string{"# Title", "Some bold text with code and a link", "https://example.com/x", "• one", "│ quoted 日本語", `{"a": 1}`} {
		assert.Contains(t, got, want)
	}
	assert.NotContains(t, got, "\x1b")
	th := testTheme(colorprofile.TrueColor)
	got = strings.Join(render(t, colorprofile.TrueColor, page, 40), "\n")
	assert.Contains(t, got, strings.TrimSuffix(th.Code.Open(), "m"))
	assert.NotContains(t, got, "\x1b]8")
}

// Whatever a document says, only the styles of the theme leave the renderer.
func TestMarkdownHostile(t *testing.T) {
	t.Parallel()
	sources := []string{
		"&#27;[2J &#x1b;]0;owned&#7; &#155;2J &#x202e;x &#x200b; &#x9b;31m",
		"&amp;#27;[2J <b>&#27;[2J &amp;#27;[2J</b>\n\n<div>&#27;[31m&amp;#x1b;c</div>",
		"`&#27;[2J`\n\n    &#27;[2J\n\n~~~\n&#27;[2J\n~~~",
		"[a](http://x/&#27;%1b \"t&#27;\") ![&#27;](&#27;) <http://x/&#27;> &#27;[38;2;21;23;28mhidden",
		"| &#27;[2J |\n|---|\n| &shy;&rlm;&zwj;&lrm; |", "[x]: http://e \"&#27;\"\n\n[x]",
	}
	for _, h := range hostile.Strings() {
		sources = append(sources, h.Value[:min(len(h.Value), 2000)])
	}
	for _, s := range sources {
		for _, p := range []colorprofile.Profile{colorprofile.NoTTY, colorprofile.TrueColor} {
			doc, err := Markdown(context.Background(), testTheme(p), s, 40)
			if err != nil {
				if !errors.Is(err, ErrMarkdownNesting) {
					t.Errorf("%.60q: %v", s, err)
				}
				continue
			}
			for _, line := range doc.Lines {
				text := paint.Strip(line)
				if text != safe.Text(text) || paint.Width(line) > 40 {
					t.Errorf("%.60q: %q", s, line)
				}
				for i := strings.IndexByte(line, 0x1b); i >= 0; i = strings.IndexByte(line, 0x1b) {
					n, _, _ := paint.Next(line[i:])
					if seq := line[i : i+n]; seq != "\x1b[m" && !permitted(seq[2:n-1], inks(testTheme(p))) {
						t.Errorf("%.60q: sequence %q", s, seq)
					}
					line = line[i+n:]
				}
			}
		}
	}
}

func TestMarkdownBounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A paragraph of words that goes on for a while.\n\n", 4000)
	ctx, cancel := context.WithCancel(context.Background())
	doc, err := Markdown(ctx, testTheme(colorprofile.NoTTY), long, 60)
	if err != nil || doc.Rest < len(long)-MaxMarkdown || doc.Rest > len(long)-MaxMarkdown+100 {
		t.Errorf("%d bytes of %d left out, %v", doc.Rest, len(long), err)
	}
	cancel()
	if _, err := Markdown(ctx, testTheme(colorprofile.NoTTY), long, 60); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, s := range []string{strings.Repeat(">", 50_000), strings.Repeat("> ", 9000) + "x", strings.Repeat("- ", 9000) + "x"} {
		if _, err := Markdown(context.Background(), testTheme(colorprofile.NoTTY), s, 60); !errors.Is(err, ErrMarkdownNesting) {
			t.Errorf("%.10q…: %v", s, err)
		}
	}
}

func TestChunks(t *testing.T) {
	t.Parallel()
	para := strings.Repeat("word ", 500) + "\n\n"
	source := strings.Repeat(para, 10) + "```\n" + strings.Repeat("code\n\n", 4000) + "```\n\nend\n"
	got := chunks(source)
	if strings.Join(got, "") != source || len(got) < 3 {
		t.Fatalf("%d chunks", len(got))
	}
	for _, c := range got {
		assert.Equalf(t, strings.Count(c, "```")%2, 0, "a fence was cut")
	}
}

// Renderers are not shared: many documents at once are the same as one.
func TestMarkdownConcurrently(t *testing.T) {
	t.Parallel()
	want := render(t, colorprofile.TrueColor, page, 40)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			doc, err := Markdown(context.Background(), testTheme(colorprofile.TrueColor), page, 40)
			if err != nil || !slices.Equal(doc.Lines, want) {
				t.Errorf("%v: %q", err, doc.Lines)
			}
		})
	}
	wg.Wait()
}
