package traffic

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/trace"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// traceRows are the hops of a call.
type traceRows struct {
	v *traceScreen
	c *tui.Ctx
}

// Len is the number of lines.
func (r traceRows) Len() int { return len(r.v.rows) }

// Row is who did what, since when, how long, and a bar of that; where there is room also how much was sent.
func (r traceRows) Row(i, w int) string {
	th, row := r.c.Theme, r.v.rows[i]
	room := max(w-label(w)-2*tookWidth-2, 0)
	bar := room
	if room > 2*factsWidth {
		bar = min(room-factsWidth, 60)
	}
	style := hopStyle(th, row)
	name := strings.Repeat("  ", min(row.Depth, 10))
	if s := row.Node.Status(); s != journal.OK && !row.Gap {
		mark := th.Error.S("✗ ")
		if s == journal.Pending {
			mark = th.Info.S("… ")
		}
		name += mark
	}
	name += r.v.Query.HighlightName(safe.Line(row.Label(), 200), style, th.Match)
	at := text.Duration(row.Node.From.Sub(r.v.tree.Begin()))
	if row.Gap {
		at = ""
	}
	out := paint.Fit(name, label(w)) + th.Muted.S(fmt.Sprintf("%*s", tookWidth, at)) + style.S(fmt.Sprintf("%*s", tookWidth, text.Duration(row.Took()))) + "  " + style.S(r.v.tree.Bar(row, bar))
	if facts := row.Facts(); len(facts) > 0 && bar < room {
		out += " " + th.Muted.S(safe.Line(strings.Join(facts, " · "), 200))
	}
	return out
}

// Cells of a time, and of what else there is to say of a hop; without room for that the detail pane has it.
const (
	tookWidth  = 8
	factsWidth = 24
)

// label is the cells of what a line is called.
func label(w int) int { return min(max(w*50/100, 20), 54) }

// hopStyle is the colour of a hop; the word says the same.
func hopStyle(th *tui.Theme, r trace.Row) paint.Style {
	switch {
	case r.Gap:
		return th.Warn
	case r.Node.Failed:
		return th.Error
	case r.Node.Hop == "":
		return th.Accent
	case r.Node.Hop == span.Router:
		return th.Info
	}
	return th.OK
}

// facts are what there is to say of the line under the cursor.
func (v *traceScreen) facts(c *tui.Ctx, w int) []string {
	th, i := c.Theme, v.List.Selected()
	if i < 0 || i >= len(v.rows) || v.tree == nil {
		return nil
	}
	r := v.rows[i]
	n := r.Node
	var out []string
	fact := func(name, value string) {
		if value != "" {
			out = append(out, paint.Cut(th.Muted.S(fmt.Sprintf("%-12s ", safe.Line(name, 40)))+safe.Line(value, 300), w))
		}
	}
	if r.Gap {
		out = append(out, th.Warn.S(text.Duration(r.Took())+" unaccounted"))
		out = append(out, paint.Cut(safe.Line("Nobody recorded what was done in this part of: "+trace.Row{Node: n}.Label(), 300), w))
		return append(out, paint.Cut(th.Muted.S("the way between two hops, or work that has no span of its own"), w))
	}
	fact("what", words(n.Name, v.rows[i].Label()))
	status := r.Facts()
	if n.Status() == journal.OK {
		status = append([]string{journal.OK}, status...)
	}
	fact("status", strings.Join(status, " · "))
	fact("took", fmt.Sprintf("%s, from %s on", text.Duration(n.Took()), text.Duration(n.From.Sub(v.tree.Begin()))))
	if n.Unaccounted > 0 {
		fact("unaccounted", text.Duration(n.Unaccounted))
	}
	fact("recorded by", strings.TrimSpace(cmp.Or(n.Hop, "this client")+" "+n.Server)+" at "+n.Start.Format("15:04:05.000000"))
	for _, note := range v.tree.Clocks {
		if note.Hop == n.Hop && (note.Server == n.Server || n.Hop == span.Router) {
			fact("clock", note.String())
		}
	}
	for _, k := range slices.Sorted(maps.Keys(n.Attributes)) {
		if k != span.AttrProcess && k != span.AttrIn && k != span.AttrOut {
			fact(k, fmt.Sprint(n.Attributes[k]))
		}
	}
	fact("trace", v.tree.ID)
	fact("span", n.ID)
	return out
}

// words joins two words, of which the second may say the first.
func words(name, label string) string {
	if strings.Contains(label, name) {
		return label
	}
	return label + " (" + name + ")"
}
