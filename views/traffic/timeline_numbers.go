package traffic

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/stats"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
	"github.com/mcphud/mcphud/views/pane"
)

// row is the numbers under the cursor.
func (v *timeline) row() *stats.Row {
	if i := v.table.Selected(); i >= 0 && i < len(v.rows) {
		return v.rows[i]
	}
	return nil
}

// cells are the rows of the numbers as the table asks for them.
type numberCells struct {
	v     *timeline
	th    *tui.Theme
	names bool // servers are named
	spark int  // cells of the sparkline
}

func (n *numberCells) Len() int { return len(n.v.rows) }

// Cell draws one number.
func (n *numberCells) Cell(i, column int) string {
	r, th := n.v.rows[i], n.th
	switch column {
	case 0:
		name, rest := numberName(r), ""
		if r.Tool != "" {
			name, rest = r.Tool, r.Method
		}
		if n.names {
			rest = strings.TrimSpace(strings.TrimSpace(r.Hop+" "+r.Server) + " " + rest)
		}
		return safe.Line(name, 200) + " " + th.Muted.S(safe.Line(rest, 200))
	case 1:
		return fmt.Sprint(r.Calls)
	case 2:
		if r.Failed == 0 {
			return th.Muted.S("0 %")
		}
		return th.Error.S(percent(r.ErrorRate()))
	case 3, 4, 5:
		q := r.Quantile([]float64{0.5, 0.95, 0.99}[column-3])
		if q == 0 {
			return th.Muted.S("–")
		}
		return text.Duration(q)
	case 6:
		return th.Muted.S(text.Bytes(r.Bytes))
	}
	return spark(th, r, n.v.numbers.Used(), n.spark)
}

// numberName is what a row of the numbers counts.
func numberName(r *stats.Row) string {
	switch {
	case r.Method == "":
		return "(others)"
	case r.Tool != "":
		return r.Tool + " " + r.Method
	}
	return r.Method
}

// percent is a share; one that is not zero is not shown as zero.
func percent(share float64) string {
	if share > 0 && share < 0.01 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", share*100)
}

// spark draws how many calls there were in each part of the time, w cells wide; parts in which some failed are in the colour of
// errors, and marked where there are no colours.
func spark(th *tui.Theme, r *stats.Row, used, w int) string {
	if w < 1 {
		return ""
	}
	w = min(w, used)
	bins := make([]stats.Bucket, w)
	most := 1
	for i := range used {
		b := &bins[i*w/used]
		b.Calls += r.Series[i].Calls
		b.Failed += r.Series[i].Failed
		most = max(most, b.Calls)
	}
	var out []byte
	for _, b := range bins {
		switch {
		case b.Calls == 0:
			out = append(out, ' ')
		case b.Failed > 0 && th.Profile <= colorprofile.ASCII:
			out = append(out, "✗"...)
		case b.Failed > 0:
			out = th.Error.Append(out, string(level(b.Calls, most)))
		default:
			out = th.OK.Append(out, string(level(b.Calls, most)))
		}
	}
	return string(out)
}

func (v *timeline) sort() {
	if v.sorted == v.rev+1 {
		return
	}
	at := v.row()
	v.rows, v.sorted = v.numbers.Rows(v.order), v.rev+1
	if at == nil {
		return
	}
	for i, r := range v.rows {
		if r.Key == at.Key {
			v.table.Select(i)
			return
		}
	}
}

func (v *timeline) drawNumbers(c *tui.Ctx, p *tui.Pane) {
	if p.Same(c, v.rev, v.busy) {
		return
	}
	v.sort()
	p.Badge, p.Foot = pane.CountBadge(len(v.rows), len(v.rows)), ""
	if len(v.rows) == 0 {
		p.Scroll, p.Selected = tui.Scroll{}, 0
		what := "No calls."
		if v.ranged() {
			what = "No calls in the range."
		}
		p.Lines = pane.Message(c.Theme, p.W, what, "")
		return
	}
	title := func(o stats.Order, s string) string {
		if v.order == o {
			return s + "▾"
		}
		return s
	}
	n := &numberCells{v: v, th: c.Theme, names: len(v.lanes.All()) > 1}
	cols := []widget.Column{
		{Title: title(stats.ByName, "tool and method"), Width: 20, Grow: 3},
		{Title: title(stats.ByCalls, "calls"), Width: 7, Right: true},
		{Title: title(stats.ByErrors, "err"), Width: 5, Right: true},
		{Title: title(stats.ByP50, "p50"), Width: 7, Right: true},
		{Title: title(stats.ByP95, "p95"), Width: 7, Right: true},
		{Title: title(stats.ByP99, "p99"), Width: 7, Right: true},
		{Title: title(stats.ByBytes, "bytes"), Width: 9, Right: true},
	}
	if free := p.W - 69; free > 5 {
		n.spark = min(max(free, 8), stats.Buckets)
		if p.W > 110 {
			n.spark = min(free/2, stats.Buckets)
		}
		cols = append(cols, widget.Column{Title: "rate", Width: n.spark})
	}
	v.table.SetColumns(cols)
	v.table.SetTheme(c.Theme)
	v.table.SetSize(p.W, p.H)
	v.table.SetFocus(p.Focused)
	v.table.SetCells(n)
	p.Lines = append(p.Lines[:0], v.table.Lines()...)
	p.Scroll.Pos, p.Scroll.Total = v.table.Scroll()
	p.Selected = v.table.Line()
	_, bucket := v.numbers.Span()
	p.Foot = "sorted by " + v.order.String() + " · " + text.Duration(time.Duration(v.numbers.Used())*bucket)
}

func (v *timeline) plainNumbers(w io.Writer) {
	v.sort()
	for _, r := range v.rows {
		fmt.Fprintf(w, "%s %s: %s, errors %s, p50 %s, p95 %s, p99 %s, %s\n", safe.Line(strings.TrimSpace(r.Hop+" "+r.Server), 80), safe.Line(numberName(r), 200),
			text.Count(r.Calls, "call"), percent(r.ErrorRate()), text.Duration(r.Quantile(0.5)), text.Duration(r.Quantile(0.95)), text.Duration(r.Quantile(0.99)), text.Bytes(r.Bytes))
	}
}
