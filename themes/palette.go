package themes

// Token names what a colour is for. Views ask for tokens, never for colours.
type Token uint8

// The tokens, in the order in which a palette lists them.
const (
	Text        Token = iota // running text
	Muted                    // what may be overlooked: hints, units, units of time
	Accent                   // what the eye should find: names, the active tab
	Accent2                  // a second accent, for what sits beside the first
	Border                   // pane borders
	BorderFocus              // border of the pane that has the keyboard
	SelectionFg              // the selected row
	SelectionBg              // behind the selected row
	OK                       // it went well
	Warn                     // it needs a look
	Error                    // it failed
	Info                     // neutral news
	Key                      // JSON: member name
	String                   // JSON: string
	Number                   // JSON: number
	Bool                     // JSON: true and false
	Null                     // JSON: null
	Punct                    // JSON: braces, colons, commas
	Heading                  // headings of documents
	Link                     // what can be followed
	Code                     // code inside text
	BadgeFg                  // a badge: short text on a filled ground
	BadgeBg                  // behind a badge
	MatchFg                  // what a search found
	MatchBg                  // behind what a search found
	Surface                  // ground of overlays
	Login                    // it waits until somebody logs in
	Field                    // ground of inputs, and of the selected row of a pane without the keyboard
	Count                    // how many there are; not a token
)

// Color is one colour twice: for terminals that show any, and for those that have 16.
type Color struct {
	R, G, B uint8
	// ANSI is the index among the terminal's own 16 colours, -1 for its default foreground or background.
	ANSI int8
	// Only16 says that R, G and B do not apply: the terminal's own colour is meant, also where it could show others.
	Only16 bool
}

// Deficiency is a kind of colour blindness.
type Deficiency string

// The kinds of colour blindness that a palette can be made for.
const (
	Protan Deficiency = "protan" // no red cones
	Deutan Deficiency = "deutan" // no green cones
	Tritan Deficiency = "tritan" // no blue cones
)

// Palette is a complete set of colours.
type Palette struct {
	Name         string       // as on the command line and in configs
	Title        string       // for people
	Dark         bool         // made for a dark background
	Background   Color        // the background that it was checked against; the terminal's own may differ
	Deficiencies []Deficiency // whom OK, Warn, Error and Login must also tell apart for
	Colors       [Count]Color
	Servers      [Hues]Color // by which servers are told apart, see [Hue]
}

// Color returns the colour of a token.
func (p *Palette) Color(t Token) Color { return p.Colors[t] }

// All returns every palette, in the order in which a picker shows them.
func All() []Palette {
	return []Palette{dark(), light(), contrast(), deuteranopia(), tritanopia(), ansi16()}
}

// Find returns the palette of that name.
func Find(name string) (Palette, bool) {
	for _, p := range All() {
		if p.Name == name {
			return p, true
		}
	}
	return Palette{}, false
}

// Default returns the palette for a terminal whose background is dark or light.
func Default(isDark bool) Palette {
	if isDark {
		return dark()
	}
	return light()
}

// rgb is 0xRRGGBB with its stand-in among the 16.
func rgb(hex uint32, ansi int8) Color {
	return Color{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), ANSI: ansi}
}
