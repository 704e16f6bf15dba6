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
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// line is who did what, since when, how long, and a bar of that; where there is room also how much was sent.
func (v *traceScreen) line(c *tui.Ctx, i, w int) string {
	th, row := c.Theme, v.rows[i]
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
	name += v.Query.HighlightName(safe.Line(row.Label(), 200), style, th.Match)
	at := text.Duration(row.Node.From.Sub(v.tree.Begin()))
	if row.Gap {
		at = ""
	}
	out := paint.Fit(name, label(w)) + th.Muted.S(fmt.Sprintf("%*s", tookWidth, at)) + style.S(fmt.Sprintf("%*s", tookWidth, text.Duration(row.Took()))) + "  " + style.S(v.tree.Bar(row, bar))
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

// hop is what there is to say of a hop, or of a part of one that nobody recorded.
func (v *traceScreen) hop(_ *tui.Ctx, i int) page.Page {
	r, p := v.rows[i], page.Page{Title: "Hop"}
	n := r.Node
	if r.Gap {
		p.Line(page.Warn, text.Duration(r.Took())+" unaccounted").Line(page.Plain, "Nobody recorded what was done in this part of: "+trace.Row{Node: n}.Label())
		return *p.Note("the way between two hops, or work that has no span of its own")
	}
	status := r.Facts()
	if n.Status() == journal.OK {
		status = append([]string{journal.OK}, status...)
	}
	p.Field("what", words(n.Name, r.Label())).Field("status", strings.Join(status, " · ")).
		Field("took", fmt.Sprintf("%s, from %s on", text.Duration(n.Took()), text.Duration(n.From.Sub(v.tree.Begin()))))
	if n.Unaccounted > 0 {
		p.Field("unaccounted", text.Duration(n.Unaccounted))
	}
	p.Field("recorded by", strings.TrimSpace(cmp.Or(n.Hop, "this client")+" "+n.Server)+" at "+n.Start.Format("15:04:05.000000"))
	for _, note := range v.tree.Clocks {
		if note.Hop == n.Hop && (note.Server == n.Server || n.Hop == span.Router) {
			p.Field("clock", note.String())
		}
	}
	for _, k := range slices.Sorted(maps.Keys(n.Attributes)) {
		if k != span.AttrProcess && k != span.AttrIn && k != span.AttrOut {
			p.Field(k, fmt.Sprint(n.Attributes[k]))
		}
	}
	return *p.Field("trace", v.tree.ID).Field("span", n.ID)
}

// words joins two words, of which the second may say the first.
func words(name, label string) string {
	if strings.Contains(label, name) {
		return label
	}
	return label + " (" + name + ")"
}
