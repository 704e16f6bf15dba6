package themes

import (
	"fmt"
	"math"
)

// tokens are the names of the tokens in files.
var tokens = [Count]string{
	Text: "text", Muted: "muted", Accent: "accent", Accent2: "accent2", Border: "border", BorderFocus: "border_focus",
	SelectionFg: "selection_fg", SelectionBg: "selection_bg", OK: "ok", Warn: "warn", Error: "error", Info: "info",
	Key: "key", String: "string", Number: "number", Bool: "bool", Null: "null", Punct: "punct", Heading: "heading", Link: "link", Code: "code",
	BadgeFg: "badge_fg", BadgeBg: "badge_bg", MatchFg: "match_fg", MatchBg: "match_bg", Surface: "surface", Login: "login", Field: "field",
}

// String is the token's name in files: "border_focus".
func (t Token) String() string {
	if t >= Count {
		return fmt.Sprintf("token %d", t)
	}
	return tokens[t]
}

// linear is the light that a colour sends, per channel, 0 to 1.
func linear(c Color) [3]float64 {
	f := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return [3]float64{f(c.R), f(c.G), f(c.B)}
}

// Contrast is WCAG 2's, 1 to 21.
func Contrast(a, b Color) float64 {
	l := func(c Color) float64 { v := linear(c); return 0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2] + 0.05 }
	x, y := l(a), l(b)
	return max(x, y) / min(x, y)
}

// Weak is a pair of colours that are hard to tell apart.
type Weak struct {
	Token  Token
	Behind string  // what it stands on: "the background", "a selected row"
	Ratio  float64 // WCAG 2's contrast, 1 to 21
	Least  float64 // what it should be
}

func (w Weak) String() string {
	return fmt.Sprintf("%s has a contrast of %.2f to %s, which should be at least %.1f", w.Token, w.Ratio, w.Behind, w.Least)
}

// Weak lists the texts whose contrast to what is behind them is too low. What the terminal's own colours are is not known, and left out.
func (p *Palette) Weak() (all []Weak) {
	check := func(t Token, behind string, bg Color, least float64) {
		fg := p.Color(t)
		if fg.Only16 || bg.Only16 {
			return
		}
		if r := Contrast(fg, bg); r < least {
			all = append(all, Weak{t, behind, r, least})
		}
	}
	for _, t := range []Token{Text, Muted, Accent, Accent2, OK, Warn, Error, Info, Key, String, Number, Bool, Null, Punct, Heading, Link, Code, Login} {
		check(t, "the background", p.Background, 4.5)
		check(t, "an input", p.Color(Field), 4.5)
		check(t, "a dialog", p.Color(Surface), 4.5)
	}
	check(SelectionFg, "a selected row", p.Color(SelectionBg), 4.5)
	check(SelectionBg, "the background", p.Background, 3)
	check(SelectionBg, "a dialog", p.Color(Surface), 2.5)
	check(BadgeFg, "a badge", p.Color(BadgeBg), 4.5)
	check(MatchFg, "a match", p.Color(MatchBg), 4.5)
	check(Border, "the background", p.Background, 3)
	check(BorderFocus, "the background", p.Background, 4.5)
	return all
}
