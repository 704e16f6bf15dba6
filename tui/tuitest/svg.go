package tuitest

import (
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// Size of a cell in a picture, in px at 14 px type.
const (
	cellW = 8.4
	cellH = 16.2
	baseY = 12.6
)

// Picture draws the screen as SVG: a rectangle for each run of one background and a text element for each run of one
// style, stretched to its cells so that it lines up in whatever monospaced font the reader has.
func (a *App) Picture() string {
	cells := a.screen.cells()
	fg, bg := a.ground()
	return canvas(cells, fg, bg) + paint(cells, fg, bg) + "</g>\n</svg>\n"
}

// ground is the colours of text and ground of the terminal.
func (a *App) ground() (fg, bg string) {
	if a.light() {
		return "#1f2328", "#ffffff"
	}
	return "#d7dae0", "#15171c"
}

// canvas begins a picture that has room for cells.
func canvas(cells [][]uv.Cell, fg, bg string) string {
	h, w := len(cells), 0
	if h > 0 {
		w = len(cells[0])
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14" fill="%s" xml:space="preserve">`+"\n",
		px(float64(w)*cellW+16), px(float64(h)*cellH+16), fg) +
		fmt.Sprintf(`<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n"+`<g transform="translate(8 8)">`+"\n", bg)
}

// paint draws cells, and takes their lines out of them.
func paint(cells [][]uv.Cell, fg, bg string) string {
	var b strings.Builder
	lines := halfBlocks(cells, fg, bg) + boxLines(cells, fg, bg)
	for y, row := range cells {
		for _, g := range grounds(row, fg, bg) {
			if g.color != bg {
				box(&b, float64(g.x)*cellW, float64(y)*cellH, float64(g.w)*cellW, cellH, g.color)
			}
		}
		for _, r := range runs(row) {
			r.words(&b, y, fg, bg)
		}
	}
	return b.String() + lines
}

func (a *App) light() bool {
	a.screen.mu.Lock()
	defer a.screen.mu.Unlock()
	r, _, _, _ := a.screen.em.BackgroundColor().RGBA()
	return r > 0x8000
}

// run is a stretch of one row in one style.
type run struct {
	x, w  int
	text  string
	style uv.Style
}

// runs groups a row. Nobody sees in which colour a blank would have been written, and what it is depends on how the
// screen came about: a blank belongs to the text before it, or to no run. So does a second one, since browsers make one
// blank of several.
func runs(row []uv.Cell) (out []run) {
	open := false
	for x := range row {
		c := &row[x]
		if c.Width == 0 && c.Content == "" && x > 0 && row[x-1].Width == 2 {
			continue
		}
		w := max(c.Width, 1)
		if invisible(c) {
			if open && out[len(out)-1].style.Underline == 0 && !strings.HasSuffix(out[len(out)-1].text, " ") {
				out[len(out)-1].text += " "
				out[len(out)-1].w += w
			} else {
				open = false
			}
			continue
		}
		text := c.Content
		if text == "" {
			text = " "
		}
		if open && out[len(out)-1].style.Equal(&c.Style) {
			out[len(out)-1].text += text
			out[len(out)-1].w += w
			continue
		}
		out = append(out, run{x, w, text, c.Style})
		open = true
	}
	return out
}

// invisible is whether a cell shows nothing but its ground.
func invisible(c *uv.Cell) bool {
	return (c.Content == "" || c.Content == " ") && c.Style.Underline == 0
}

// grounds groups a row by background colour.
func grounds(row []uv.Cell, fg, bg string) (out []ground) {
	for x := range row {
		_, g := (&run{style: row[x].Style}).colors(fg, bg)
		if n := len(out); n > 0 && out[n-1].color == g {
			out[n-1].w++
			continue
		}
		out = append(out, ground{x, 1, g})
	}
	return out
}

// ground is a stretch of one row on one background.
type ground struct {
	x, w  int
	color string
}

// colors are what the run is painted with.
func (r *run) colors(fg, bg string) (string, string) {
	f, g := hex(r.style.Fg, fg), hex(r.style.Bg, bg)
	if r.style.Attrs&uv.AttrReverse != 0 {
		f, g = g, f
	}
	return f, g
}

// words draws the run's words; blanks between far words are not drawn.
func (r *run) words(b *strings.Builder, y int, fg, bg string) {
	f, _ := r.colors(fg, bg)
	if r.style.Underline != 0 {
		box(b, float64(r.x)*cellW, float64(y)*cellH+baseY+1.6, float64(r.w)*cellW, 1, f)
	}
	lead := len(r.text) - len(strings.TrimLeft(r.text, " "))
	text := strings.Trim(r.text, " ")
	if text == "" {
		return
	}
	trail := len(r.text) - len(strings.TrimRight(r.text, " "))
	w := float64(r.w-lead-trail) * cellW
	fmt.Fprintf(b, `<text x="%s" y="%s" textLength="%s"`, px(float64(r.x+lead)*cellW), px(float64(y)*cellH+baseY), px(w))
	if f != fg {
		fmt.Fprintf(b, ` fill="%s"`, f)
	}
	if r.style.Attrs&uv.AttrBold != 0 {
		b.WriteString(` font-weight="bold"`)
	}
	if r.style.Attrs&uv.AttrItalic != 0 {
		b.WriteString(` font-style="italic"`)
	}
	if r.style.Attrs&uv.AttrFaint != 0 {
		b.WriteString(` opacity=".6"`)
	}
	fmt.Fprintf(b, `>%s</text>`+"\n", html.EscapeString(text))
}

// box draws a filled rectangle.
func box(b *strings.Builder, x, y, w, h float64, fill string) {
	fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", px(x), px(y), px(w), px(h), fill)
}

func hex(c color.Color, def string) string {
	if c == nil {
		return def
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// px writes a length with one decimal at most.
func px(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}
