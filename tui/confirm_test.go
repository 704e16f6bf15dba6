package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// A question about damage is not answered with yes before all of it was seen.
func TestConfirmShowsAllFirst(t *testing.T) {
	a := &App{actions: &actionSet{}}
	a.ctx.app, a.ctx.Theme = a, &Theme{}
	yes := 0
	d := newConfirm(Confirmation{
		Title: "t", Body: strings.Repeat("harmless\n", 60) + "--evil", Danger: true,
		OnYes: func(*Ctx) tea.Cmd { yes++; return nil },
	})
	a.push(d, false)
	p := &Pane{W: 60, H: 20}
	seen := ""
	for range 10 {
		d.Draw(&a.ctx, p)
		if len(p.Lines) > p.H {
			t.Fatalf("%d lines for %d rows", len(p.Lines), p.H)
		}
		seen += strings.Join(p.Lines, "\n")
		if yes > 0 {
			break
		}
		d.Handle(&a.ctx, pressOf("y"))
	}
	if yes != 1 || !strings.Contains(seen, "--evil") || !strings.Contains(seen, "more lines") {
		t.Errorf("%d answers, the end was seen: %v", yes, strings.Contains(seen, "--evil"))
	}
}
