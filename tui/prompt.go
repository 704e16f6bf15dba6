package tui

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// prompt is the line at the bottom in which text is typed: the `/` filter, the
// `:` command line, or a question of a view. It takes the hint bar's place.
type prompt struct {
	label  string
	edit   widget.Line
	secret bool
	why    string       // why the text was not accepted
	wrong  *FilterError // what is wrong with the text of a filter

	change   func(a *App, text string) tea.Cmd
	done     func(a *App, text string) tea.Cmd
	cancel   func(a *App) tea.Cmd
	check    func(text string) string
	complete func(text string, cursor int) []Completion
	parse    func(text string) *FilterError // nil where every text is a filter
	recall   *recall
	touched  bool // the text was changed

	offers []Completion // of the text, when tab was pressed or while typing
	offer  int          // the one taken by tab, -1 for none
}

// newQuestion asks q, with at most width cells of its label.
func newQuestion(q Question, width int) *prompt {
	p := &prompt{
		label: safe.Line(q.Label, width) + ": ", secret: q.Secret, check: q.Check, complete: wholeLines(q.Complete),
		done: func(a *App, text string) tea.Cmd {
			if q.OnDone == nil {
				return nil
			}
			return q.OnDone(&a.ctx, text)
		},
		cancel: func(a *App) tea.Cmd {
			if q.OnCancel == nil {
				return nil
			}
			return q.OnCancel(&a.ctx)
		},
	}
	p.edit.SetValue(q.Initial)
	p.edit.Select() // the first key replaces what is there, a motion edits it
	p.suggest()
	return p
}

// wholeLines are completions that are shown as what the line becomes.
func wholeLines(complete func(text string) []string) func(string, int) []Completion {
	if complete == nil {
		return nil
	}
	return func(text string, _ int) []Completion {
		var out []Completion
		for _, s := range complete(text) {
			out = append(out, Completion{Text: s, Cursor: len(s), Label: s})
		}
		return out
	}
}

// newFilter is the `/` prompt; the view sees the text while it is typed. It starts empty, with what was looked for before
// one key away; what is applied stays so until something else is typed.
func newFilter(a *App) *prompt {
	k := a.filterKey()
	if a.searched[k] == nil {
		a.searched[k] = &recall{}
	}
	p := &prompt{label: "/", recall: a.searched[k]}
	if s := a.current(); s.CheckFilter != nil && a.place.focus != RailFocus {
		p.parse = func(text string) *FilterError { return s.CheckFilter(&a.ctx, text) }
		p.complete = func(text string, cursor int) []Completion { return s.CompleteFilter(&a.ctx, text, cursor) }
	}
	p.change = func(a *App, text string) tea.Cmd { return a.setFilter(text, false) }
	p.done = func(a *App, text string) tea.Cmd {
		if !p.touched {
			return nil
		}
		return a.setFilter(text, true)
	}
	p.cancel = func(a *App) tea.Cmd {
		p.recall.add(p.edit.Value())
		return a.setFilter("", true)
	}
	p.recall.begin()
	p.suggest()
	return p
}

func (p *prompt) key(a *App, m tea.KeyPressMsg) tea.Cmd {
	switch k := m.String(); k {
	case "esc":
		a.prompt = nil
		return p.cancel(a)
	case "enter":
		return p.enter(a)
	case "tab", "shift+tab":
		p.cycle(k == "tab")
		return p.changed(a)
	case "up", "ctrl+p", "down", "ctrl+n":
		if p.recall == nil {
			return nil
		}
		p.edit.SetValue(p.recall.move(k == "up" || k == "ctrl+p", p.edit.Value()))
		p.suggest()
		return p.changed(a)
	case "backspace":
		if p.edit.Value() == "" && p.recall != nil && p.change == nil {
			a.prompt = nil
			return p.cancel(a)
		}
	}
	if !p.edit.Key(m) {
		return nil
	}
	p.suggest()
	return p.changed(a)
}

func (p *prompt) paste(a *App, text string) tea.Cmd {
	p.edit.Insert(text)
	p.suggest()
	return p.changed(a)
}

func (p *prompt) changed(a *App) tea.Cmd {
	p.why, p.touched = "", true
	text := p.edit.Value()
	if p.parse != nil {
		if p.wrong = p.parse(text); p.wrong != nil {
			text = p.wrong.Valid
		}
	}
	if p.change == nil {
		return nil
	}
	return p.change(a, text)
}

func (p *prompt) enter(a *App) tea.Cmd {
	text := p.edit.Value()
	if p.check != nil {
		if p.why = p.check(text); p.why != "" {
			return nil
		}
	}
	if p.wrong != nil {
		p.offers = nil // in favour of what is wrong
		return nil
	}
	a.prompt = nil
	if p.recall != nil {
		p.recall.add(text)
	}
	return p.done(a, text)
}

// suggest finds completions for the text.
func (p *prompt) suggest() {
	p.offers, p.offer = nil, -1
	if p.complete != nil {
		text := p.edit.Value()
		p.offers = p.complete(text, len(string([]rune(text)[:p.edit.Cursor()])))
	}
}

// cycle takes the next completion.
func (p *prompt) cycle(forward bool) {
	n := len(p.offers)
	if n == 0 {
		return
	}
	if forward {
		p.offer = (p.offer + 1) % n
	} else {
		p.offer = (max(p.offer, 0) - 1 + n) % n
	}
	taken := p.offers[p.offer]
	p.edit.SetValue(taken.Text)
	p.edit.SetCursor(utf8.RuneCountInString(taken.Text[:taken.Cursor]))
	if n == 1 {
		p.suggest() // what may follow
	}
}

// draw returns the prompt's line and the cursor's column.
func (p *prompt) draw(t *Theme, w int) (string, int) {
	label := p.label
	value := p.edit.Value()
	room := w - ansi.StringWidth(label)
	beside := max(room/2, room-4-min(len(value), room)) // the text, as far as it is short, needs no more
	offers := ""
	switch {
	case p.why != "":
		offers = "  " + t.Error.S("✗ "+safe.Line(p.why, max(beside, 1)))
	case p.wrong != nil && len(p.offers) == 0:
		offers = "  " + t.Error.S(safe.Line(fmt.Sprintf("✗ %d: %s", p.wrong.At+1, p.wrong.Why), max(beside, 1)))
	default:
		if p.change != nil && value == "" && len(p.recall.lines) > 0 {
			offers = "  " + t.Muted.S(safe.Line("↑ "+p.recall.lines[len(p.recall.lines)-1], max(room/2, 1)))
		}
		if free := beside - ansi.StringWidth(offers); len(p.offers) > 0 && free > 10 {
			offers += "  " + p.menu(t, free)
		}
	}
	ow := ansi.StringWidth(offers)
	text, x := p.edit.Draw(room-ow, p.secret)
	tw := ansi.StringWidth(text)
	switch {
	case p.edit.Selected():
		text = t.Selection.S(text)
	case p.wrong != nil:
		at := min(max(p.edit.Cell(p.wrong.At), 0), tw)
		text = ansi.Truncate(text, at, "") + t.Error.S(ansi.TruncateLeft(text, at, ""))
	}
	line := t.Accent.S(label) + text
	if ow > 0 {
		line += strings.Repeat(" ", max(room-tw-ow, 0)) + offers
	}
	return line, ansi.StringWidth(label) + x
}

// menu shows the completions that fit, the taken one marked.
func (p *prompt) menu(t *Theme, w int) string {
	var b strings.Builder
	used := 0
	from := max(p.offer, 0)
	for i := from; i < len(p.offers); i++ {
		s := safe.Line(p.offers[i].Label, 40)
		n := ansi.StringWidth(s) + 1
		if used+n > w {
			break
		}
		used += n
		if i == p.offer {
			b.WriteString(t.Selection.S(s))
		} else {
			b.WriteString(t.Muted.S(s))
		}
		b.WriteByte(' ')
	}
	return b.String()
}
