package tui_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
)

// fruits is a screen with a list and a detail, small enough to see at once
// what the shell does.
type fruits struct {
	rows   []string
	at     int
	top    int
	filter string
	text   string // typed in the form, while typing
	typing bool
	ran    []string
	notes  []string // messages as received
	block  chan struct{}
	rev    int
	drawn  int
	foot   string
}

func newFruits(n int) *fruits {
	f := &fruits{block: make(chan struct{})}
	for i := range n {
		f.rows = append(f.rows, fmt.Sprintf("fruit %d", i))
	}
	return f
}

func (f *fruits) screen() *tui.Screen {
	return &tui.Screen{
		ID: "fruits", Title: "Fruits", Aliases: []string{"f"}, Panes: []tui.PaneSpec{{ID: "list", Title: "Fruits"}, {ID: "detail", Title: "Detail"}},
		Actions: f.Actions, Handle: f.Handle, Draw: f.Draw, Plain: f.Plain, Typing: f.Typing, CopyText: f.CopyText, Choices: f.Choices,
	}
}

func (f *fruits) Actions() []tui.Action {
	return []tui.Action{
		{
			ID: "fruits.eat", Keys: []string{"enter"}, Title: "eat", Help: "Eats the fruit, which takes 3 s.", Group: "Fruit", Hint: 1, Pane: "list",
			Run: func(c *tui.Ctx) tea.Cmd {
				cmd, _ := c.Go("fruits", "eat "+f.rows[f.at], func(ctx context.Context) (any, error) {
					tui.Report(ctx, tui.Progress{Count: 1, Progress: 1, Total: 4, HasTotal: true})
					select {
					case <-f.block:
						return "eaten", nil
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				})
				return cmd
			},
		},
		{
			ID: "fruits.bin", Keys: []string{"D"}, Title: "bin", Help: "Throws the fruit away.", Group: "Fruit", Danger: true,
			Run: func(c *tui.Ctx) tea.Cmd {
				return c.Confirm(tui.Confirmation{
					Title: "Bin it?", Body: "It cannot be taken back.", Yes: "bin", Danger: true,
					OnYes: func(*tui.Ctx) tea.Cmd { f.ran = append(f.ran, "bin"); f.rev++; return nil },
				})
			},
		},
		{
			ID: "fruits.name", Keys: []string{"R"}, Title: "rename", Help: "Gives the fruit a name.", Group: "Fruit",
			Run: func(c *tui.Ctx) tea.Cmd {
				return c.Ask(tui.Question{
					Label: "name", Initial: f.rows[f.at],
					Check:    func(s string) string { return map[bool]string{true: "a name is needed"}[s == ""] },
					Complete: func(string) []string { return []string{"apple", "pear"} },
					OnDone:   func(_ *tui.Ctx, s string) tea.Cmd { f.rows[f.at] = s; f.rev++; return nil },
				})
			},
		},
		{ID: "fruits.form", Keys: []string{"i"}, Title: "type", Help: "Starts typing.", Group: "Fruit", Run: func(*tui.Ctx) tea.Cmd { f.typing = true; f.rev++; return nil }},
		{ID: "fruits.fail", Keys: []string{"F"}, Title: "fail", Help: "Shows an error.", Group: "Fruit", Run: func(c *tui.Ctx) tea.Cmd { return c.Toast(tui.Failure, "it is \x1b[31mrotten") }},
		{ID: "fruits.peel", Keys: []string{"p"}, Title: "peel", Help: "Peels.", Group: "Fruit", Disabled: func(*tui.Ctx) string { return "it has no peel" }, Run: func(*tui.Ctx) tea.Cmd { f.ran = append(f.ran, "peel"); return nil }},
		{ID: "fruits.panic", Keys: []string{"X"}, Title: "panic", Help: "Breaks.", Group: "Fruit", Run: func(*tui.Ctx) tea.Cmd { panic("squashed") }},
		{ID: "fruits.other", Keys: []string{"o"}, Title: "other", Help: "Goes elsewhere.", Group: "Fruit", Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("other", "arg") }},
	}
}

func (f *fruits) Typing(*tui.Ctx) bool { return f.typing }

func (f *fruits) CopyText(_ *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	return tui.CopyString(f.rows[f.at], k == tui.CopyValue)
}

func (f *fruits) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	f.rev++
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		return nil, f.key(m)
	case tea.PasteMsg:
		f.text += m.Content
		return nil, true
	case tui.FilterChanged:
		f.filter = m.Text
		return nil, true
	case tui.FindNext:
		f.notes = append(f.notes, fmt.Sprint("next ", m.Back))
		return nil, true
	case tui.PaneMouse:
		f.at = min(max(f.at+m.Wheel, 0), len(f.rows)-1)
		if m.Click == tea.MouseLeft && m.Pane == "list" && f.top+m.Y < len(f.rows) {
			f.at = f.top + m.Y
		}
		if m.Double {
			f.notes = append(f.notes, "open "+f.rows[f.at])
		}
		return nil, true
	case tui.OpDone:
		how := fmt.Sprint(m.Value)
		if errors.Is(m.Err, context.Canceled) {
			how = "cancelled"
		}
		f.notes = append(f.notes, m.Label+": "+how)
		return nil, true
	case tui.Navigate:
		if m.Arg != nil {
			f.notes = append(f.notes, fmt.Sprint("arg ", m.Arg))
		}
		return nil, true
	}
	return nil, false
}

func (f *fruits) key(m tea.KeyPressMsg) bool {
	if f.typing {
		switch m.String() {
		case "esc":
			f.typing = false
		default:
			if m.Text == "" {
				return false
			}
			f.text += m.Text
		}
		return true
	}
	switch m.String() {
	case "down", "j":
		f.at = min(f.at+1, len(f.rows)-1)
	case "up", "k":
		f.at = max(f.at-1, 0)
	case "G":
		f.at = len(f.rows) - 1
	default:
		return false
	}
	return true
}

func (f *fruits) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.Same(c, f.rev) {
		return p.Cursor()
	}
	f.drawn++
	p.Lines = p.Lines[:0]
	if p.ID == "detail" {
		p.Lines = append(p.Lines, "at "+f.rows[f.at], "filter "+f.filter, "text "+f.text)
		p.Lines = append(p.Lines, f.notes...)
		p.Lines = append(p.Lines, "ran "+strings.Join(f.ran, ","))
		if f.typing && p.Focused {
			return tea.NewCursor(5+len(f.text), 2)
		}
		return nil
	}
	f.top = min(max(f.top, f.at-p.H+1), f.at)
	for i := f.top; i < len(f.rows) && len(p.Lines) < p.H; i++ {
		if i == f.at {
			p.Lines = append(p.Lines, c.Theme.SelectRow("> "+f.rows[i], p.W, p.Focused))
		} else {
			p.Lines = append(p.Lines, paint.Cut("  "+f.rows[i], p.W))
		}
	}
	p.Badge, p.Foot = fmt.Sprintf("%d of %d", f.at+1, len(f.rows)), f.foot
	p.Selected = f.at - f.top + 1
	p.Scroll = tui.Scroll{Pos: f.top, Total: len(f.rows)}
	return nil
}

func (f *fruits) Plain(c *tui.Ctx, w io.Writer) {
	fmt.Fprintln(w, "fruit basket")
	for _, n := range f.notes {
		fmt.Fprintln(w, n)
	}
	fmt.Fprintln(w, "ran", strings.Join(f.ran, ","))
}

func (f *fruits) Choices(*tui.Ctx) []tui.Choice {
	var out []tui.Choice
	for i, r := range f.rows {
		if !strings.Contains(r, f.filter) {
			continue
		}
		out = append(out, tui.Choice{Label: r, Run: func(*tui.Ctx) tea.Cmd { f.at = i; f.notes = append(f.notes, "picked "+r); return nil }})
	}
	return out
}

// other is a second screen with one pane.
type other struct{ arg string }

func (o *other) screen() *tui.Screen {
	return &tui.Screen{
		ID: "other", Title: "Other", Panes: []tui.PaneSpec{{ID: "all", Title: "All"}},
		Actions: o.Actions, Handle: o.Handle, Draw: o.Draw, Plain: o.Plain,
	}
}

func (o *other) Actions() []tui.Action {
	return []tui.Action{{ID: "other.do", Keys: []string{"enter"}, Title: "do it", Help: "Does it.", Group: "Other", Run: func(c *tui.Ctx) tea.Cmd { return c.Toast(tui.Success, "did it") }}}
}

func (o *other) Handle(_ *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if m, ok := msg.(tui.Navigate); ok {
		o.arg = fmt.Sprint(m.Arg)
		return nil, true
	}
	return nil, false
}

func (o *other) Draw(_ *tui.Ctx, p *tui.Pane) *tea.Cursor {
	p.Lines = append(p.Lines[:0], "came with "+o.arg)
	return nil
}

func (o *other) Plain(_ *tui.Ctx, w io.Writer) { fmt.Fprintln(w, "came with", o.arg) }
