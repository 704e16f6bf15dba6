package tuitest

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Film is what happens on the screen, as a moving picture that begins again at its end: each row of each [Film.Hold] for as
// long as it stays the same. Its time is that of somebody who looks at it, not that of the test.
type Film struct {
	app  *App
	head string
	at   time.Duration
	rows [][]still // by row, one after the other
}

// still is a row while it does not change.
type still struct {
	from, to time.Duration
	drawn    string
}

// letterTime is how long each letter of [Film.Type] stands before the next one.
const letterTime = 90 * time.Millisecond

// Film begins one.
func (a *App) Film() *Film {
	a.t.Helper()
	a.Settle()
	cells := a.screen.cells()
	fg, bg := a.ground()
	return &Film{app: a, head: canvas(cells, fg, bg), rows: make([][]still, len(cells))}
}

// Hold shows the screen as it is for some time.
func (f *Film) Hold(d time.Duration) *Film {
	f.app.t.Helper()
	f.app.Settle()
	fg, bg := f.app.ground()
	cells := f.app.screen.cells()
	if len(cells) != len(f.rows) {
		f.app.t.Fatal("the size of the screen changed within a film")
	}
	for y := range cells {
		drawn := paint(cells[y:y+1], fg, bg)
		if n := len(f.rows[y]); n > 0 && f.rows[y][n-1].drawn == drawn && f.rows[y][n-1].to == f.at {
			f.rows[y][n-1].to += d
			continue
		}
		f.rows[y] = append(f.rows[y], still{f.at, f.at + d, drawn})
	}
	f.at += d
	return f
}

// Press presses keys, and shows for some time what each of them does.
func (f *Film) Press(d time.Duration, keys ...string) *Film {
	f.app.t.Helper()
	for _, k := range keys {
		f.app.Press(k)
		f.Hold(d)
	}
	return f
}

// Type types text as a person does, letter by letter.
func (f *Film) Type(text string) *Film {
	f.app.t.Helper()
	for _, r := range text {
		f.app.Type(string(r))
		f.Hold(letterTime)
	}
	return f
}

// SVG compares the film with the file as [App.SVG] does a picture, and fails where it is not as long as asked for.
func (f *Film) SVG(path string, shortest, longest time.Duration) {
	f.app.t.Helper()
	if f.at < shortest || f.at > longest {
		f.app.t.Errorf("the film takes %s, which is not within %s and %s", f.at, shortest, longest)
	}
	var b strings.Builder
	b.WriteString(f.head)
	for y, row := range f.rows {
		for _, s := range row {
			if s.drawn == "" {
				continue
			}
			fmt.Fprintf(&b, `<g transform="translate(0 %s)"`, px(float64(y)*cellH))
			if s.from == 0 && s.to == f.at {
				fmt.Fprintf(&b, ">\n%s</g>\n", s.drawn)
				continue
			}
			fmt.Fprintf(&b, ` visibility="hidden">%s`+"\n%s</g>\n", f.shown(s), s.drawn)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	if !utf8.ValidString(b.String()) {
		f.app.t.Error("the film is not UTF-8")
	}
	f.app.compare(path, b.String())
}

// shown is when a row is on the screen.
func (f *Film) shown(s still) string {
	part := func(d time.Duration) string { return px4(float64(d) / float64(f.at)) }
	values, times := "hidden;visible;hidden", "0;"+part(s.from)+";"+part(s.to)
	if s.from == 0 {
		values, times = "visible;hidden", "0;"+part(s.to)
	} else if s.to == f.at {
		values, times = "hidden;visible", "0;"+part(s.from)
	}
	return fmt.Sprintf(`<animate attributeName="visibility" calcMode="discrete" values="%s" keyTimes="%s" dur="%ss" repeatCount="indefinite"/>`,
		values, times, px(f.at.Seconds()))
}

// px4 writes a share with four decimals at most.
func px4(v float64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.4f", v), "0"), ".")
}
