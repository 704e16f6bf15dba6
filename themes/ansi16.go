package themes

// ansi16 uses the terminal's own colours, those that are legible on a dark and on a light background in the schemes
// people use. Its text, its selection (reversed), its inputs (underlined) and its surfaces are the terminal's defaults.
func ansi16() Palette {
	t := func(ansi int8) Color { return Color{ANSI: ansi, Only16: true} }
	return Palette{
		Name: "ansi16", Title: "The terminal's own 16 colours", Dark: true, Background: t(-1),
		Colors: [Count]Color{
			Text: t(-1), Muted: t(-1), Accent: t(6), Accent2: t(5), Border: t(-1), BorderFocus: t(6),
			SelectionFg: t(-1), SelectionBg: t(-1),
			OK: t(2), Warn: t(3), Error: t(1), Info: t(6),
			Key: t(6), String: t(2), Number: t(3), Bool: t(5), Null: t(-1), Punct: t(-1),
			Heading: t(5), Link: t(6), Code: t(3),
			BadgeFg: t(0), BadgeBg: t(6), MatchFg: t(0), MatchBg: t(3), Surface: t(-1), Login: t(5), Field: t(-1),
		},
		Servers: [Hues]Color{t(6), t(5), t(3), t(2), t(14), t(13)},
	}
}
