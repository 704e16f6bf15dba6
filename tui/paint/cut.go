package paint

import (
	"image/color"
	"strconv"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/themes"
)

// cutter makes the SGR sequences of one palette under one profile.
type cutter struct {
	palette *themes.Palette
	profile colorprofile.Profile
}

// color is the colour that the profile can show, nil for the terminal's own.
func (c cutter) color(tok themes.Token) color.Color { return c.convert(c.palette.Color(tok)) }

func (c cutter) convert(col themes.Color) color.Color {
	switch {
	case (col.Only16 || c.profile == colorprofile.ANSI) && col.ANSI < 0:
		return nil
	case col.Only16 || c.profile == colorprofile.ANSI:
		return ansi.BasicColor(col.ANSI)
	}
	return c.profile.Convert(color.RGBA{col.R, col.G, col.B, 0xff})
}

func (c cutter) fg(tok themes.Token) Style { return c.ink(c.palette.Color(tok)) }

func (c cutter) ink(col themes.Color) Style {
	if s := sgr(c.convert(col), 30); s != "" {
		return Style{s, "\x1b[39m"}
	}
	return Style{}
}

func (c cutter) bg(tok themes.Token) Style {
	if s := sgr(c.color(tok), 40); s != "" {
		return Style{s, "\x1b[49m"}
	}
	return Style{}
}

// sgr is the sequence that selects a colour, base 30 for ink and 40 for ground.
func sgr(c color.Color, base int) string {
	switch c := c.(type) {
	case nil:
		return ""
	case ansi.BasicColor:
		if c >= 8 {
			return "\x1b[" + strconv.Itoa(base+60+int(c)-8) + "m"
		}
		return "\x1b[" + strconv.Itoa(base+int(c)) + "m"
	case ansi.IndexedColor:
		return "\x1b[" + strconv.Itoa(base+8) + ";5;" + strconv.Itoa(int(c)) + "m"
	}
	r, g, b, _ := c.RGBA()
	return "\x1b[" + strconv.Itoa(base+8) + ";2;" + strconv.Itoa(int(r>>8)) + ";" + strconv.Itoa(int(g>>8)) + ";" + strconv.Itoa(int(b>>8)) + "m"
}
