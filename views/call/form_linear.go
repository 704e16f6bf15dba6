package call

import (
	"fmt"
	"io"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

func (v *formScreen) plain(_ *tui.Ctx, w io.Writer) {
	if v.cur == nil {
		fmt.Fprintln(w, "Nothing is open here.")
		return
	}
	fmt.Fprintf(w, "%s %s\n", v.verb, safe.Line(v.name(v.cur.item), 120))
	if v.reply.Shown() {
		v.reply.Plain(w)
		return
	}
	items := v.cur.form.Items()
	if v.cur.form.Raw() || len(items) == 0 {
		v.cur.form.Plain(w)
	}
	problems, fill := v.cur.form.Problems(), v.cur.form.ToFill()
	for _, p := range problems[:min(len(problems), 20)] { // a field says what is wrong with it
		if fill < len(problems) && !slices.ContainsFunc(items, func(it form.Item) bool { return it.Pointer == p.Pointer }) {
			fmt.Fprintln(w, "problem: "+safe.Line(p.Sentence(), 400))
		}
	}
	if fill > 0 {
		fmt.Fprintf(w, "%d to fill in\n", fill)
	}
}

// choices are the fields, each asked for by its number, and sending.
func (v *formScreen) choices(c *tui.Ctx) (all []tui.Choice) {
	if v.cur == nil || v.cur.op != 0 {
		return nil
	}
	d := v.cur
	all = append(pane.FieldChoices(d.form, v.reply.Clear), tui.Choice{Label: v.verb + " " + safe.Line(v.name(d.item), 120), Run: func(c *tui.Ctx) tea.Cmd {
		if why := v.cannot(c); why != "" {
			return c.Toast(tui.Warning, why)
		}
		return v.submit(c, false)
	}})
	if v.taskless(c) == "" {
		all = append(all, tui.Choice{Label: v.verb + " " + safe.Line(v.name(d.item), 120) + " as a task", Run: v.startTask})
	}
	return all
}
