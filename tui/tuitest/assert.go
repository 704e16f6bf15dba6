package tuitest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mcphud/mcphud/tui"
)

// Matcher judges one row of text, without trailing blanks.
type Matcher struct {
	what string
	ok   func(string) bool
}

// Eq wants exactly s.
func Eq(s string) Matcher {
	return Matcher{"equals " + quote(s), func(got string) bool { return got == s }}
}

// Contains wants s anywhere.
func Contains(s string) Matcher {
	return Matcher{"contains " + quote(s), func(got string) bool { return strings.Contains(got, s) }}
}

// Matches wants a hit of a regular expression.
func Matches(re string) Matcher {
	r := regexp.MustCompile(re)
	return Matcher{"matches " + quote(re), r.MatchString}
}

// Part is a part of the screen: a pane, the status bar, an overlay.
type Part struct {
	a    *App
	what string
	rows func() ([]string, string) // the second is why there are none
}

// View waits for a screen and is its first visible pane.
func (a *App) View(id string) *Part {
	a.t.Helper()
	a.Eventually(func() string {
		if got := a.State().View; got != id {
			return fmt.Sprintf("the screen is %q, want %q", got, id)
		}
		return ""
	})
	return a.pane("the first pane of "+id, func(s tui.State) (tui.Rect, bool) {
		best, found := tui.Rect{}, false
		for name, r := range s.Panes {
			if name == "rail" || name == "overlay" {
				continue
			}
			if !found || r.X < best.X || r.X == best.X && r.Y < best.Y {
				best, found = r, true
			}
		}
		return best, found
	})
}

// Pane is a visible pane of the current screen by its id; "rail" is the list of
// servers, "overlay" the topmost dialog.
func (a *App) Pane(id string) *Part {
	a.t.Helper()
	return a.pane("the pane "+id, func(s tui.State) (tui.Rect, bool) {
		r, ok := s.Panes[id]
		return r, ok
	})
}

// Overlay waits for a dialog whose title contains title.
func (a *App) Overlay(title string) *Part {
	a.t.Helper()
	a.Eventually(func() string {
		o := a.State().Overlays
		if len(o) == 0 || !strings.Contains(o[len(o)-1], title) {
			return fmt.Sprintf("the open dialogs are %q, want %q on top", o, title)
		}
		return ""
	})
	return a.Pane("overlay")
}

// NoOverlay wants no dialog to be open.
func (a *App) NoOverlay() *App {
	a.t.Helper()
	return a.Eventually(func() string {
		if o := a.State().Overlays; len(o) > 0 {
			return fmt.Sprintf("the dialogs %q are open, want none", o)
		}
		return ""
	})
}

func (a *App) pane(what string, find func(tui.State) (tui.Rect, bool)) *Part {
	return &Part{a, what, func() ([]string, string) {
		r, ok := find(a.State())
		if !ok {
			return nil, "there is no such pane on the screen"
		}
		return a.screen.rows(r), ""
	}}
}

// Status is the status bar.
func (a *App) Status() *Part {
	return &Part{a, "the status bar", func() ([]string, string) {
		w, h := a.screen.size()
		return a.screen.rows(tui.Rect{Y: h - 1, W: w, H: 1}), ""
	}}
}

// Hints is the hint bar or the prompt line in its place.
func (a *App) Hints() *Part {
	return &Part{a, "the hint bar", func() ([]string, string) {
		w, h := a.screen.size()
		return a.screen.rows(tui.Rect{Y: h - 2, W: w, H: 1}), ""
	}}
}

// Whole is the whole screen.
func (a *App) Whole() *Part {
	return &Part{a, "the screen", func() ([]string, string) {
		w, h := a.screen.size()
		return a.screen.rows(tui.Rect{W: w, H: h}), ""
	}}
}

// Rows wants the first rows to match, in order.
func (p *Part) Rows(want ...Matcher) *App {
	p.a.t.Helper()
	return p.a.Eventually(func() string {
		rows, why := p.rows()
		if why != "" {
			return p.what + ": " + why
		}
		for i, m := range want {
			got := ""
			if i < len(rows) {
				got = rows[i]
			}
			if !m.ok(got) {
				return fmt.Sprintf("row %d of %s is %q, want that it %s", i+1, p.what, got, m.what)
			}
		}
		return ""
	})
}

// Has wants some row to contain each of the texts.
func (p *Part) Has(texts ...string) *App {
	p.a.t.Helper()
	return p.a.Eventually(func() string {
		rows, why := p.rows()
		if why != "" {
			return p.what + ": " + why
		}
		all := strings.Join(rows, "\n")
		for _, s := range texts {
			if !strings.Contains(all, s) {
				return fmt.Sprintf("%s does not show %q", p.what, s)
			}
		}
		return ""
	})
}

// Some wants some row to match.
func (p *Part) Some(m Matcher) *App {
	p.a.t.Helper()
	return p.a.Eventually(func() string {
		rows, why := p.rows()
		if why != "" {
			return p.what + ": " + why
		}
		for _, r := range rows {
			if m.ok(r) {
				return ""
			}
		}
		return fmt.Sprintf("no row of %s %s", p.what, m.what)
	})
}

// HasNot wants no row to contain any of the texts once the program is idle.
func (p *Part) HasNot(texts ...string) *App {
	p.a.t.Helper()
	return p.a.Eventually(func() string {
		rows, why := p.rows()
		if why != "" {
			return p.what + ": " + why
		}
		all := strings.Join(rows, "\n")
		for _, s := range texts {
			if strings.Contains(all, s) {
				return fmt.Sprintf("%s shows %q", p.what, s)
			}
		}
		return ""
	})
}

// Text is the part's text once the program is idle.
func (p *Part) Text() string {
	p.a.t.Helper()
	p.a.Settle()
	rows, why := p.rows()
	if why != "" {
		p.a.t.Fatalf("%s: %s\n%s", p.what, why, p.a.Screen())
	}
	return strings.Join(rows, "\n")
}

// Screen is the whole screen as text, rows without trailing blanks.
func (a *App) Screen() string { return a.screen.text() }

// Output is every byte that the program wrote to the terminal so far.
func (a *App) Output() []byte {
	a.screen.mu.Lock()
	defer a.screen.mu.Unlock()
	return append([]byte(nil), a.screen.raw...)
}

// Title is the window's title.
func (a *App) Title() string {
	a.screen.mu.Lock()
	defer a.screen.mu.Unlock()
	return a.screen.title
}

// Toast waits for a message; an error is acknowledged by looking for it.
func (a *App) Toast(text string) *App {
	a.t.Helper()
	return a.Eventually(func() string {
		s := a.State()
		found := false
		for _, t := range s.Said {
			if strings.Contains(t.Text, text) {
				found = true
				a.seen[t.Text] = true
			}
		}
		if !found {
			return fmt.Sprintf("no message says %q; there were %v", text, s.Said)
		}
		return ""
	})
}

// Idle waits until no operation runs.
func (a *App) Idle() *App {
	a.t.Helper()
	return a.Eventually(func() string {
		if ops := a.State().Ops; len(ops) > 0 {
			return fmt.Sprintf("%d operations run, the first is %q", len(ops), ops[0].Label)
		}
		return ""
	})
}
