package paint

import (
	"image"
	"image/color"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/themes"
)

// Theme is a palette cut for one colour profile. It does not change after
// [New]: a pointer to it is its identity, which is what caches compare.
//
// Without colours ([colorprofile.ASCII]) the tokens that matter differ
// by bold, underline and reverse; nothing may depend on more than that.
type Theme struct {
	Palette themes.Palette
	Profile colorprofile.Profile
	// Canvas takes pictures in their own pixels, nil where they are drawn as characters; NoPictures leaves them out.
	Canvas     Canvas
	NoPictures bool

	Text, Muted, Accent, Accent2, Border, BorderFocus Style
	OK, Warn, Error, Info, Login                      Style
	Key, String, Number, Bool, Null, Punct            Style
	Title, Heading, Link, Code                        Style
	Badge                                             Style // short text on a filled ground; put a space at each end
	Selection                                         Style // the selected row of the focused pane; see SelectRow for others
	Match, MatchCurrent                               Style // what a search found; the match that the cursor is on
	Surface                                           Style // ground of overlays
	Field                                             Style // ground of inputs
	Bold, Italic, Underline, Reverse, Faint           Style
	hues                                              [themes.Hues]Style
	borders                                           Borders
	strip                                             bool // selected rows lose their inner colours also without the keyboard
}

// Canvas puts pictures on the screen in their own pixels.
type Canvas interface {
	// Place takes a picture over, and returns the lines of cells that stand for it; none where it is too large.
	Place(img *image.NRGBA) []string
	// Cell is the size of a cell in pixels.
	Cell() (w, h int)
}

// New cuts a palette for a profile. What the profile cannot show is replaced:
// by the nearest of 256, by the palette's own stand-in among 16, or by nothing.
func New(p themes.Palette, profile colorprofile.Profile) *Theme {
	if profile == colorprofile.Unknown {
		profile = colorprofile.ASCII
	}
	c := cutter{&p, profile}
	if profile <= colorprofile.ASCII {
		return plain(p, profile)
	}
	t := &Theme{
		Palette: p, Profile: profile,
		Text: c.fg(themes.Text), Muted: c.fg(themes.Muted), Accent: c.fg(themes.Accent), Accent2: c.fg(themes.Accent2),
		Border: c.fg(themes.Border), BorderFocus: c.fg(themes.BorderFocus),
		OK: c.fg(themes.OK), Warn: c.fg(themes.Warn), Error: c.fg(themes.Error), Info: c.fg(themes.Info), Login: c.fg(themes.Login),
		Key: c.fg(themes.Key), String: c.fg(themes.String), Number: c.fg(themes.Number), Bool: c.fg(themes.Bool),
		Null: c.fg(themes.Null), Punct: c.fg(themes.Punct),
		Title:   c.fg(themes.Accent).And(bold),
		Heading: c.fg(themes.Heading).And(bold),
		Link:    c.fg(themes.Link).And(underline),
		Code:    c.fg(themes.Code),
		Badge:   c.fg(themes.BadgeFg).And(c.bg(themes.BadgeBg)),
		Match:   c.fg(themes.MatchFg).And(c.bg(themes.MatchBg)),
		Surface: c.bg(themes.Surface),
	}
	for i, col := range p.Servers {
		t.hues[i] = c.ink(col)
	}
	t.MatchCurrent = t.Match.And(bold).And(underline)
	t.Selection = c.fg(themes.SelectionFg).And(c.bg(themes.SelectionBg)).And(bold)
	if p.Color(themes.SelectionBg).Only16 {
		t.Selection = reverse.And(bold)
	}
	if t.Field = c.bg(themes.Field); t.Field == (Style{}) {
		t.Field = underline
	}
	t.strip = profile < colorprofile.ANSI256 || p.Background.Only16
	t.attributes()
	if p.Background.Only16 {
		t.Muted = faint
	}
	return t
}

var ( // escape sequences are constants in all but name: nothing assigns to these
	bold      = Style{"\x1b[1m", "\x1b[22m"}
	faint     = Style{"\x1b[2m", "\x1b[22m"}
	italic    = Style{"\x1b[3m", "\x1b[23m"}
	underline = Style{"\x1b[4m", "\x1b[24m"}
	reverse   = Style{"\x1b[7m", "\x1b[27m"}
)

func (t *Theme) attributes() {
	t.Bold, t.Italic, t.Underline, t.Reverse, t.Faint = bold, italic, underline, reverse, faint
}

// plain is the theme without colours: bold, underline, reverse. Without a terminal there is not even that.
func plain(p themes.Palette, profile colorprofile.Profile) *Theme {
	t := &Theme{Palette: p, Profile: profile, strip: true}
	if profile == colorprofile.NoTTY {
		return t
	}
	t.Accent, t.BorderFocus, t.Title, t.Heading, t.Key = bold, bold, bold, bold, bold
	t.Error, t.Warn, t.Login = bold, bold, bold
	t.Link = underline
	t.Badge, t.Selection, t.Field = reverse, reverse, underline
	t.Match, t.MatchCurrent = underline, reverse.And(underline)
	t.attributes()
	t.Italic, t.Faint = Style{}, Style{}
	return t
}

// Token returns the colour of a token as the profile shows it, for what paints
// with colours instead of styles (nil: the terminal's default, or no colours).
func (t *Theme) Token(tok themes.Token) color.Color {
	if t.Profile <= colorprofile.ASCII {
		return nil
	}
	return cutter{&t.Palette, t.Profile}.color(tok)
}

// Ink returns the style that writes in a token's colour and nothing else.
func (t *Theme) Ink(tok themes.Token) Style {
	if t.Profile <= colorprofile.ASCII {
		return Style{}
	}
	return cutter{&t.Palette, t.Profile}.fg(tok)
}

// Server is the colour of a server, by its name: the same wherever it is named.
func (t *Theme) Server(name string) Style { return t.Hue(themes.Hue(name)) }

// Hue is one of the colours of servers.
func (t *Theme) Hue(i int) Style { return t.hues[i] }

// SelectRow draws a row as the selected one, exactly w cells wide. On the ground of the selection colours of the row could not
// be read.
func (t *Theme) SelectRow(row string, w int, focused bool) string {
	row = Fit(row, w)
	if t.strip || focused {
		row = Strip(row)
	}
	if focused {
		return t.Selection.S(row)
	}
	return t.Field.S(row)
}
