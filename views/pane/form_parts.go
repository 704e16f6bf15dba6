package pane

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// FullJSON is the form's value as JSON for people, or the raw editor's text.
func FullJSON(f *form.Form) string {
	if f.Raw() {
		_, text, _ := f.EditText()
		return text
	}
	return string(f.Value().Indent())
}

// DrawForm draws a form into its pane, with how many problems it has as the badge.
func DrawForm(c *tui.Ctx, p *tui.Pane, f *form.Form) *tea.Cursor {
	f.SetTheme(c.Theme)
	f.SetSize(p.W, p.H)
	f.SetFocus(p.Focused)
	p.Badge = FormBadge(f)
	p.Lines = append(p.Lines[:0], f.Lines()...)
	p.Scroll.Pos, p.Scroll.Total = f.Scroll()
	if x, y, ok := f.Cursor(); ok {
		return tea.NewCursor(x, y)
	}
	return nil
}

// InvalidForm is a question whether a value with these problems is sent all the same.
func InvalidForm(title, why string, problems []schema.Problem, send func(*tui.Ctx) tea.Cmd) tui.Confirmation {
	var lines []string
	for i, p := range problems {
		if i == 8 {
			lines = append(lines, fmt.Sprintf("… and %d more", len(problems)-i))
			break
		}
		lines = append(lines, "✗ "+safe.Line(p.Sentence(), 200))
	}
	return tui.Confirmation{Title: title + " Send anyway?", Body: strings.Join(lines, "\n") + "\n\n" + why, Yes: "send anyway", No: "keep editing", OnYes: send}
}

// FormBadge says how many problems the value has.
func FormBadge(f *form.Form) string {
	if f.Err() != nil {
		return "✗ not JSON"
	}
	n, fill := len(f.Problems())-f.ToFill(), f.ToFill()
	switch {
	case n == 0 && fill > 0:
		return fmt.Sprintf("%d to fill in", fill)
	case fill > 0:
		return fmt.Sprintf("✗ %s · %d to fill in", text.Count(n, "problem"), fill)
	}
	switch n {
	case 0:
		if f.Unchecked() != "" {
			return "✓ valid as far as checked"
		}
		return "✓ valid"
	case 1:
		return "✗ 1 problem"
	default:
		return fmt.Sprintf("✗ %d problems", n)
	}
}

// ReportTo tells the shell of progress.
func ReportTo(ctx context.Context) func(rpc.Progress) {
	return func(p rpc.Progress) { tui.Report(ctx, p) }
}

// ProgressLines is a call's progress as one bar, however many notifications came.
func ProgressLines(th *tui.Theme, op tui.Op, w int) []string {
	g := op.Progress
	if op.Cancelling {
		return []string{"", " " + th.Warn.S("cancelling…")}
	}
	if g.Count == 0 {
		return nil
	}
	total := 0.0
	if g.HasTotal {
		total = g.Total
	}
	bar := widget.Bar(th, max(min(w-2, 70), 1), g.Progress, total)
	out := []string{"", " " + bar, " " + th.Muted.S(text.Count(g.Count, "notification"))}
	if g.Message != "" {
		out = append(out, " "+th.Text.S(safe.Line(g.Message, 400)))
	}
	return out
}

// FieldChoices are the fields of a form, each asked for by its number. before runs when one is picked.
func FieldChoices(f *form.Form, before func()) (out []tui.Choice) {
	for _, it := range f.Items() {
		out = append(out, tui.Choice{Label: it.Label, Run: func(c *tui.Ctx) tea.Cmd {
			before()
			if it.Folds {
				f.Unfold()
				return f.Cmd()
			}
			return c.Ask(tui.Question{
				Label: safe.Line(strings.TrimPrefix(it.Pointer, "/"), 80), Initial: it.Value, Secret: it.Secret,
				OnDone: func(c *tui.Ctx, text string) tea.Cmd {
					if err := f.SetText(it.Pointer, text); err != nil {
						return tea.Batch(f.Cmd(), c.Toast(tui.Warning, err.Error()))
					}
					return f.Cmd()
				},
			})
		}})
	}
	return out
}
