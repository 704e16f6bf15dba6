package widget

import (
	"context"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"

	"charm.land/glamour/v2"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

const (
	// MaxMarkdown is how many bytes of a document [Markdown] renders.
	MaxMarkdown = 100 << 10
	// mdChunk is how much is rendered at once: some constructs cost the square
	// of their length, and a context is looked at between chunks.
	mdChunk = 8 << 10
	// mdNesting is how deep quotes and lists may nest: fifty thousand levels never end.
	mdNesting = 24
)

// ErrMarkdownNesting says that a document is shown as plain text because it nests too deeply to be rendered.
var ErrMarkdownNesting = errors.New("the markdown nests too deeply to render: it is shown as plain text")

// Document is rendered markdown.
type Document struct {
	Lines []string // safe and styled, for [StyledSection]
	Rest  int      // bytes of the source behind MaxMarkdown that are not in Lines
}

// Markdown renders a document that a server sent, w cells wide, in the styles of a theme. It takes 12 ms per KB: call
// it beside the screen. Hyperlinks become visible addresses, pictures are not fetched, and nothing of the source
// reaches the terminal as an escape sequence, character references included.
func Markdown(ctx context.Context, th *paint.Theme, source string, w int) (Document, error) {
	var doc Document
	if len(source) > MaxMarkdown {
		cut := MaxMarkdown
		if i := strings.LastIndexByte(source[:cut], '\n'); i > cut/2 {
			cut = i + 1
		}
		doc.Rest = len(source) - cut
		source = source[:cut]
	}
	source = neutral(safe.Text(source))
	if deep(source) {
		return doc, ErrMarkdownNesting
	}
	style := mdStyle(th)
	r, err := glamour.NewTermRenderer(glamour.WithStyles(style), glamour.WithWordWrap(max(w, 8)))
	if err != nil {
		return doc, fmt.Errorf("markdown: %w", err)
	}
	allowed := inks(th)
	for _, chunk := range chunks(source) {
		if err := ctx.Err(); err != nil {
			return doc, err
		}
		out, err := r.Render(chunk)
		if err != nil {
			return doc, fmt.Errorf("markdown: %s: shown as plain text", safe.Line(err.Error(), 200))
		}
		if len(doc.Lines) > 0 {
			doc.Lines = append(doc.Lines, "")
		}
		for line := range strings.SplitSeq(strings.Trim(out, "\n"), "\n") {
			line = clean(line, allowed)
			if line == "" && (len(doc.Lines) == 0 || doc.Lines[len(doc.Lines)-1] == "") {
				continue
			}
			doc.Lines = append(doc.Lines, paint.Cut(line, w))
		}
	}
	for n := len(doc.Lines); n > 0 && doc.Lines[n-1] == ""; n-- {
		doc.Lines = doc.Lines[:n-1]
	}
	return doc, nil
}

// reference is a numeric character reference.
var reference = regexp.MustCompile(`&#(?:[0-9]{1,8}|[xX][0-9a-fA-F]{1,6});`)

// neutral keeps character references from becoming what the sanitiser just made visible.
func neutral(s string) string {
	if !strings.Contains(s, "&#") {
		return s
	}
	return reference.ReplaceAllStringFunc(s, func(ref string) string {
		if c := html.UnescapeString(ref); c != safe.Text(c) || c == "\n" {
			return "&amp;" + ref[1:]
		}
		return ref
	})
}

// deep says whether a line begins with more levels of quotes and lists than can be rendered.
func deep(s string) bool {
	for line := range strings.SplitSeq(s, "\n") {
		level, blanks := 0, 0
		for i := 0; i < len(line) && strings.IndexByte(" >-*+0123456789.)", line[i]) >= 0; i++ {
			switch line[i] {
			case ' ':
				if blanks++; blanks%2 == 0 {
					level++
				}
			case '>':
				level++
			case '-', '*', '+', '.', ')':
				if i+1 < len(line) && line[i+1] == ' ' {
					level++
				}
			}
		}
		if level > 2*mdNesting && strings.TrimLeft(line, " ") != "" {
			return true
		}
	}
	return false
}

// chunks cuts a document where a top-level block may begin: at a line that follows an empty one, is not indented,
// continues no list or quote, and is in no fence.
func chunks(s string) []string {
	var out []string
	start, at, empty := 0, 0, false
	fence := ""
	for at < len(s) {
		end := len(s)
		if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := strings.TrimRight(s[at:end], " \n")
		if fence == "" && empty && at-start >= mdChunk && line != "" && strings.IndexByte(" >-*+0123456789<|", line[0]) < 0 {
			out = append(out, s[start:at])
			start = at
		}
		if t := strings.TrimLeft(line, " "); fence == "" && (strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~")) {
			fence = t[:3]
		} else if fence != "" && strings.HasPrefix(t, fence) {
			fence = ""
		}
		empty = line == ""
		at = end
	}
	return append(out, s[start:])
}
