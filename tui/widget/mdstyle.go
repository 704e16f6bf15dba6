package widget

import (
	"fmt"
	"image/color"
	"strconv"

	md "charm.land/glamour/v2/ansi"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui/paint"
)

// mdStyle is the theme in glamour's terms. Code is not highlighted there: its
// highlighter takes a second per MB and keeps styles in a global.
func mdStyle(th *paint.Theme) md.StyleConfig {
	on, zero, one, two := true, uint(0), uint(1), uint(2)
	if th.Profile <= colorprofile.NoTTY {
		on = false
	}
	bar := "│ "
	ink := func(tok themes.Token) md.StylePrimitive { return md.StylePrimitive{Color: mdColor(th.Token(tok))} }
	bold := func(tok themes.Token, prefix string) md.StyleBlock {
		p := ink(tok)
		p.Bold, p.Prefix = &on, prefix
		return md.StyleBlock{StylePrimitive: p}
	}
	link := ink(themes.Link)
	link.Underline = &on
	muted := ink(themes.Muted)
	code := ink(themes.Code)
	heading := bold(themes.Heading, "")
	heading.BlockSuffix = "\n"
	return md.StyleConfig{
		Document:       md.StyleBlock{Margin: &zero},
		BlockQuote:     md.StyleBlock{StylePrimitive: muted, Indent: &one, IndentToken: &bar},
		List:           md.StyleList{LevelIndent: 2},
		Heading:        heading,
		H1:             bold(themes.Heading, "# "),
		H2:             bold(themes.Heading, "## "),
		H3:             bold(themes.Heading, "### "),
		H4:             bold(themes.Heading, "#### "),
		H5:             bold(themes.Heading, "##### "),
		H6:             bold(themes.Heading, "###### "),
		Strikethrough:  md.StylePrimitive{CrossedOut: &on},
		Emph:           md.StylePrimitive{Italic: &on},
		Strong:         md.StylePrimitive{Bold: &on},
		HorizontalRule: md.StylePrimitive{Color: muted.Color, Format: "\n────────\n"},
		Item:           md.StylePrimitive{BlockPrefix: "• "},
		Enumeration:    md.StylePrimitive{BlockPrefix: ". "},
		Task:           md.StyleTask{Ticked: "[✓] ", Unticked: "[ ] "},
		Link:           link,
		LinkText:       md.StylePrimitive{Bold: &on},
		Image:          link,
		ImageText:      md.StylePrimitive{Color: muted.Color, Format: "Image: {{.text}} →"},
		Code:           md.StyleBlock{StylePrimitive: code},
		CodeBlock:      md.StyleCodeBlock{StyleBlock: md.StyleBlock{StylePrimitive: code, Margin: &two}},
	}
}

// mdColor writes a colour as glamour reads it.
func mdColor(c color.Color) *string {
	var s string
	switch c := c.(type) {
	case nil:
		return nil
	case ansi.BasicColor:
		s = strconv.Itoa(int(c))
	case ansi.IndexedColor:
		s = strconv.Itoa(int(c))
	default:
		r, g, b, _ := c.RGBA()
		s = fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
	return &s
}
