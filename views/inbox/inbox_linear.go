package inbox

import (
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// plain lists what is over; what waits is in the numbered list.
func (v *inbox) plain(c *tui.Ctx, w io.Writer) {
	if len(v.open)+len(v.ended) == 0 {
		fmt.Fprintln(w, "No questions. What servers ask of you arrives here.")
		return
	}
	if v.List.Len() == 0 {
		fmt.Fprintln(w, pane.NothingListed(v.Typed))
	}
	for i := range v.List.Listed() {
		if i < len(v.open) {
			if !c.Linear {
				fmt.Fprintln(w, "waits: "+v.label(v.open[i]))
			}
			continue
		}
		e := v.ended[i-len(v.open)]
		how, _ := outcome(c.Theme, e)
		fmt.Fprintf(w, "%s %s: %s\n", e.Over.Local().Format(time.TimeOnly), safe.Line(how, 200), v.label(e.Question))
	}
}

// label is a question in a line.
func (v *inbox) label(q pending.Question) string {
	s := kindMark(q.Kind) + " from " + safe.Line(q.Title, 60)
	if why := cause(q); why != "" {
		s += " because of " + safe.Line(why, 80)
	}
	return s + ": " + v.text(q)
}

// choices are the questions that wait.
func (v *inbox) choices(*tui.Ctx) (out []tui.Choice) {
	for i := range v.List.Listed() {
		if i < len(v.open) {
			q := v.open[i]
			out = append(out, tui.Choice{Label: v.label(q), Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("answer", q.ID) }})
		}
	}
	return out
}

// plain is the question, each line of the server's marked.
func (v *answer) plain(c *tui.Ctx, w io.Writer) {
	if v.at == 0 {
		fmt.Fprintln(w, "Nothing is open here.")
		return
	}
	fmt.Fprintln(w, questionTitle(c.Theme, v.cur, v.open))
	if why := cause(v.cur.Question); why != "" {
		fmt.Fprintln(w, "because of "+safe.Line(why, 200))
	}
	v.reply.PlainQuestion(w)
	if v.draft == nil || !v.open {
		return
	}
	if v.draft.form.Raw() || len(v.draft.form.Items()) == 0 {
		v.draft.form.Plain(w)
	}
	for _, p := range v.draft.form.Problems() {
		fmt.Fprintln(w, "problem: "+safe.Line(p.Sentence(), 400))
	}
}

// choices are the fields, each asked for by its number, and the ways to answer.
func (v *answer) choices(c *tui.Ctx) (out []tui.Choice) {
	if v.over(c) != "" {
		return append(out, tui.Choice{Label: "back", Run: func(c *tui.Ctx) tea.Cmd { return c.Back() }})
	}
	if v.draft != nil {
		out = pane.FieldChoices(v.draft.form, func() {})
	}
	for _, x := range v.actions() {
		switch id := strings.TrimPrefix(x.ID, "answer."); id {
		case "accept", "decline", "cancel", "page", "model", "later":
			if x.Disabled == nil || x.Disabled(c) == "" {
				out = append(out, tui.Choice{Label: x.Title, Run: x.Run})
			}
		}
	}
	return out
}
