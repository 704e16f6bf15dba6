package tuitest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mcphud/mcphud/tui"
)

// Row is a line of a part of the screen, without trailing blanks.
type Row struct {
	Text     string
	Selected bool // the cursor of a list or tree is on it
}

// Matcher judges one row.
type Matcher struct {
	what string
	ok   func(Row) bool
}

// Eq wants exactly s.
func Eq(s string) Matcher {
	return Matcher{"equals " + quote(s), func(got Row) bool { return got.Text == s }}
}

// Contains wants s anywhere.
func Contains(s string) Matcher {
	return Matcher{"contains " + quote(s), func(got Row) bool { return strings.Contains(got.Text, s) }}
}

// Matches wants a hit of a regular expression.
func Matches(re string) Matcher {
	r := regexp.MustCompile(re)
	return Matcher{"matches " + quote(re), func(got Row) bool { return r.MatchString(got.Text) }}
}

// Selected wants the cursor on the row too.
func (m Matcher) Selected() Matcher {
	return Matcher{m.what + " and has the cursor", func(got Row) bool { return got.Selected && m.ok(got) }}
}

// NotSelected wants the cursor to be elsewhere.
func (m Matcher) NotSelected() Matcher {
	return Matcher{m.what + " and does not have the cursor", func(got Row) bool { return !got.Selected && m.ok(got) }}
}

// Part is a part of the screen: a pane, the status bar, an overlay. What it asserts it waits for, and it returns itself, so
// that assertions chain; keys and everything else go to the App.
type Part struct {
	*App
	id   string // of the pane, "" for another part
	what string
	rect func() (tui.Rect, string) // the second is why there is none
}

// View waits for a screen.
func (a *App) View(id string) *App {
	a.t.Helper()
	return a.Eventually(func() string {
		if got := a.State().View; got != id {
			return fmt.Sprintf("the screen is %q, want %q", got, id)
		}
		return ""
	})
}

// Pane is a visible pane of the current screen by its id; "rail" is the list of servers, "overlay" the topmost dialog.
func (a *App) Pane(id string) *Part {
	return &Part{a, id, "the pane " + id, func() (tui.Rect, string) {
		r, ok := a.State().Panes[id]
		if !ok {
			return r, "there is no such pane on the screen"
		}
		return r, ""
	}}
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

// bar is a part that is not a pane; at is its place on a screen of w times h cells.
func (a *App) bar(what string, at func(w, h int) tui.Rect) *Part {
	return &Part{a, "", what, func() (tui.Rect, string) { return at(a.screen.size()), "" }}
}

// Status is the status bar.
func (a *App) Status() *Part {
	return a.bar("the status bar", func(w, h int) tui.Rect { return tui.Rect{Y: h - 2, W: w, H: 1} })
}

// Hints is the hint bar or the prompt line in its place.
func (a *App) Hints() *Part {
	return a.bar("the hint bar", func(w, h int) tui.Rect { return tui.Rect{Y: h - 1, W: w, H: 1} })
}

// Whole is the whole screen.
func (a *App) Whole() *Part {
	return a.bar("the screen", func(w, h int) tui.Rect { return tui.Rect{W: w, H: h} })
}

// framed is the part as it is now with its title row, and with the row below it unless that is another pane's.
func (p *Part) framed() string {
	r, why := p.rect()
	if why != "" {
		return ""
	}
	if p.id != "" {
		r.Y, r.H = r.Y-1, r.H+1
		if p.id == "overlay" || r.Y+r.H == p.State().Layout.Rule.Y {
			r.H++
		}
	}
	return strings.Join(p.screen.rows(r), "\n")
}

// rows is the part as it is now.
func (p *Part) rows() (out []Row, why string) {
	r, why := p.rect()
	if why != "" {
		return nil, why
	}
	at := 0
	if p.id != "" {
		at = p.State().Selected[p.id]
	}
	for i, text := range p.screen.rows(r) {
		out = append(out, Row{text, i+1 == at})
	}
	return out, ""
}

// expect waits until judge, given the part's rows, has no complaint.
func (p *Part) expect(judge func(rows []Row) string) *Part {
	p.t.Helper()
	p.Eventually(func() string {
		rows, why := p.rows()
		if why != "" {
			return p.what + ": " + why
		}
		return judge(rows)
	})
	return p
}

// Rows wants the first rows to match, in order.
func (p *Part) Rows(want ...Matcher) *Part {
	p.t.Helper()
	return p.expect(func(rows []Row) string {
		for i, m := range want {
			var got Row
			if i < len(rows) {
				got = rows[i]
			}
			if !m.ok(got) {
				return fmt.Sprintf("row %d of %s is %q (cursor on it: %v), want that it %s", i+1, p.what, got.Text, got.Selected, m.what)
			}
		}
		return ""
	})
}

// Selected wants the cursor on a row that contains text.
func (p *Part) Selected(text string) *Part {
	p.t.Helper()
	return p.expect(func(rows []Row) string {
		for _, r := range rows {
			if r.Selected {
				if strings.Contains(r.Text, text) {
					return ""
				}
				return fmt.Sprintf("the cursor of %s is on %q, want %q", p.what, r.Text, text)
			}
		}
		return p.what + " has no row under a cursor"
	})
}

// Focused wants keys to go to the pane.
func (p *Part) Focused() *Part {
	p.t.Helper()
	p.Eventually(func() string {
		s := p.State()
		focus := s.Focus
		if len(s.Overlays) > 0 {
			focus = "overlay"
		}
		if focus != p.id || s.Prompt != "" {
			return fmt.Sprintf("keys go to %q (prompt %q), want %s", focus, s.Prompt, p.what)
		}
		return ""
	})
	return p
}

// Has wants some row to contain each of the texts.
func (p *Part) Has(texts ...string) *Part {
	p.t.Helper()
	return p.expect(func(rows []Row) string {
		all := join(rows) + "\n" + p.framed()
		for _, s := range texts {
			if !strings.Contains(all, s) {
				return fmt.Sprintf("%s does not show %q", p.what, s)
			}
		}
		return ""
	})
}

// HasNot wants no row to contain any of the texts once the program is idle.
func (p *Part) HasNot(texts ...string) *Part {
	p.t.Helper()
	return p.expect(func(rows []Row) string {
		all := join(rows)
		for _, s := range texts {
			if strings.Contains(all, s) {
				return fmt.Sprintf("%s shows %q", p.what, s)
			}
		}
		return ""
	})
}

// Some wants some row to match.
func (p *Part) Some(m Matcher) *Part {
	p.t.Helper()
	return p.expect(func(rows []Row) string {
		for _, r := range rows {
			if m.ok(r) {
				return ""
			}
		}
		return fmt.Sprintf("no row of %s %s", p.what, m.what)
	})
}

// Text is the part's text once the program is idle.
func (p *Part) Text() string {
	p.t.Helper()
	p.Settle()
	rows, why := p.rows()
	if why != "" {
		p.t.Fatalf("%s: %s\n%s", p.what, why, p.Screen())
	}
	return join(rows)
}

func join(rows []Row) string {
	texts := make([]string, len(rows))
	for i, r := range rows {
		texts[i] = r.Text
	}
	return strings.Join(texts, "\n")
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
		for _, t := range s.Messages {
			if strings.Contains(t.Text, text) {
				found = true
				a.seen[t.Text] = true
			}
		}
		if !found {
			return fmt.Sprintf("no message says %q; there were %v", text, s.Messages)
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
