package settings

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/tui"
)

// change asks for another value of a setting, in the way of its kind.
func (v *settings) change(c *tui.Ctx, i int) tea.Cmd {
	v.Settle()
	if i < 0 {
		return nil
	}
	if no := v.closed(c); no != nil {
		return no
	}
	r := v.rows[i]
	given := v.is.Given[r.Key].Texts
	one := func(c *tui.Ctx, text string) tea.Cmd {
		if text == "" {
			return v.write(c, r, nil)
		}
		return v.write(c, r, []string{text})
	}
	switch {
	case r.Key == "theme":
		return c.ChooseTheme(one)
	case r.Kind == userconfig.Bindings:
		return c.Navigate("keys", nil)
	case r.Kind == userconfig.Switch:
		return one(c, map[bool]string{true: "false", false: "true"}[v.valueOf(c, r).on()])
	case r.Kind == userconfig.Choice:
		return c.Choose(r.Key, v.valueOf(c, r).shown, r.Choices(), one)
	case r.List():
		return v.changeList(c, r, given)
	}
	now := strings.Join(given, " ")
	if mask.Text(now) != now { // it is typed anew rather than shown
		now = ""
	}
	return c.Ask(tui.Question{Label: r.Key, Initial: now, Check: check(r, true), OnDone: one})
}

// check says why a text cannot be the value of a setting.
func check(r row, empty bool) func(string) string {
	return func(text string) string {
		if text == "" && empty {
			return ""
		}
		if err := r.Check(text); err != nil {
			return err.Error()
		}
		return ""
	}
}

// changeList offers to add to a list, and to take each of its texts out.
func (v *settings) changeList(c *tui.Ctx, r row, given []string) tea.Cmd {
	options := []tui.Option{{Group: "Add", Title: "add one", Help: r.About(), Run: func(c *tui.Ctx) tea.Cmd {
		return c.Ask(tui.Question{Label: "one more for " + r.Key, Check: check(r, false), OnDone: func(c *tui.Ctx, text string) tea.Cmd {
			return v.write(c, r, append(given[:len(given):len(given)], text))
		}})
	}}}
	for i, text := range given {
		options = append(options, tui.Option{Group: "Take out", Title: "take out " + text, Run: func(c *tui.Ctx) tea.Cmd {
			var rest []string // none takes the setting out
			return v.write(c, r, append(append(rest, given[:i]...), given[i+1:]...))
		}})
	}
	return c.Pick(r.Key, options)
}

// holds says when a change holds, where that is not at once.
func (v *settings) holds(c *tui.Ctx, r wrote) tea.Cmd {
	over, look := v.over(r.Key), c.ForgetArranged(r.Key)
	if r.Key == "theme" && (over != "" || r.texts == nil) { // what was looked at is not what holds
		look = tea.Batch(look, c.ResetTheme())
	}
	switch {
	case over != "":
		return tea.Batch(look, c.Toast(tui.Warning, r.Key+" is written to config.yaml, and "+over+" wins over that as long as it is there"))
	case !r.live && r.Key != "":
		return tea.Batch(look, c.Toast(tui.Success, r.Key+" is written to config.yaml, and holds from the next start on"))
	}
	return look
}
