package trace

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// Row is a line of a tree.
type Row struct {
	Node  *Node
	Depth int
	Gap   bool // not the node itself but the part of it that is unaccounted for
}

// What is unaccounted for is worth a line from least on, and where all that is less is more than a fiftieth of the whole.
const (
	least = 50 * time.Microsecond
	part  = 50
)

// gaps are the spans of whose time nobody accounts for a part that is worth a line.
func (t *Tree) gaps() map[*Node]bool {
	var all []*Node
	var add func(n *Node)
	add = func(n *Node) {
		if n.Unaccounted > 0 {
			all = append(all, n)
		}
		for _, c := range n.visibleChildren() {
			add(c)
		}
	}
	for _, r := range t.Roots {
		add(r)
	}
	slices.SortFunc(all, func(a, b *Node) int { return cmp.Compare(a.Unaccounted, b.Unaccounted) })
	out, rest := map[*Node]bool{}, t.Took()/part
	for _, n := range all {
		if rest -= n.Unaccounted; rest < 0 && n.Unaccounted >= least {
			out[n] = true
		}
	}
	return out
}

// visibleChildren returns the spans below one that have lines. The requests about a task are counted in its line, but for those that failed.
func (n *Node) visibleChildren() []*Node {
	if n.above == nil || n.Name != span.Task {
		return n.Children
	}
	return slices.DeleteFunc(slices.Clone(n.Children), func(c *Node) bool { return !c.Failed })
}

// Rows are a tree as lines: each span with what is below it, and then the part of it that nobody accounts for. Of such parts the
// smallest have no line, which together are less than 2 % of the whole.
func (t *Tree) Rows() (out []Row) {
	gaps := t.gaps()
	var add func(n *Node, depth int)
	add = func(n *Node, depth int) {
		out = append(out, Row{Node: n, Depth: depth})
		for _, c := range n.visibleChildren() {
			add(c, depth+1)
		}
		if gaps[n] {
			out = append(out, Row{n, depth + 1, true})
		}
	}
	for _, r := range t.Roots {
		add(r, 0)
	}
	return out
}

// Took is how long what a row says took.
func (r Row) Took() time.Duration {
	if r.Gap {
		return r.Node.Unaccounted
	}
	return r.Node.Took()
}

// Label is what a row is called: who, and what was done. It is text of others.
func (r Row) Label() string {
	n := r.Node
	what, _ := n.Attributes[span.AttrTool].(string)
	switch {
	case r.Gap:
		return "unaccounted: " + r.Where()
	case n.Name == span.Task && n.above != nil:
		return "task, " + times(number(n.Attributes[span.AttrPolls]))
	case n.Call:
		return words("client", n.Name, what, "→", n.Server)
	case n.Name == span.Forward:
		if what == "" {
			what, _ = n.Attributes[span.AttrMethod].(string)
		}
		return words("router", what, "→", n.agent())
	case n.Name == span.Call:
		return words("agent", n.Server, what)
	case n.Kind == span.KindClient:
		return words(n.Name, what, "→", n.agent())
	case n.Kind == span.KindServer:
		return words(cmp.Or(n.Hop, "client"), n.Server, n.Name, what)
	case n.Tries > 1:
		return fmt.Sprintf("%s, try %d", n.Name, n.Tries)
	}
	return n.Name
}

// Where is what a part that nobody accounts for is likely to be.
func (r Row) Where() string {
	n := r.Node
	switch {
	case n.Name == span.Task && n.above != nil:
		return "until the next poll"
	case n.Name == span.Upstream:
		return "network"
	case n.Call:
		return "network, client"
	case n.Kind == span.KindClient:
		return "network, decoding"
	case n.Name == span.Forward:
		return "router"
	}
	return "decoding"
}

// times is how often a task was asked about.
func times(polls int64) string {
	switch polls {
	case 0:
		return "not polled"
	case 1:
		return "polled once"
	}
	return fmt.Sprintf("polled %d times", polls)
}

// words joins those that there are.
func words(all ...string) string {
	out := all[:0]
	for _, w := range all {
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.TrimSuffix(strings.Join(out, " "), " →")
}

// Facts are what else there is to say of a row, most important first.
func (r Row) Facts() (out []string) {
	n := r.Node
	if r.Gap {
		return nil
	}
	if s := n.Status(); s != journal.OK {
		why, _ := n.Attributes[span.AttrError].(string)
		out = append(out, words(s, why))
	}
	if n.Call && n.Tries > 1 {
		out = append(out, fmt.Sprintf("%d requests", n.Tries))
	}
	if n.Request+n.Response > 0 {
		out = append(out, text.Bytes(n.Request)+" → "+text.Bytes(n.Response))
	}
	if n.Attributes[span.AttrTask] == span.TaskRuns {
		out = append(out, "end not recorded")
	}
	if n.Orphan {
		out = append(out, "caller not recorded")
	}
	return out
}

// Begin is when the first span of the tree begins.
func (t *Tree) Begin() (at time.Time) {
	for _, r := range t.Roots {
		if at.IsZero() || r.From.Before(at) {
			at = r.From
		}
	}
	return at
}

// Bar draws when in a tree a row is, in so many cells.
func (t *Tree) Bar(r Row, cells int) string {
	whole := t.Took()
	if cells <= 0 || r.Gap || whole <= 0 {
		return strings.Repeat(" ", max(cells, 0))
	}
	cell := func(at time.Time) float64 {
		return min(max(float64(at.Sub(t.Begin()))/float64(whole), 0), 1) * float64(cells)
	}
	from := min(int(cell(r.Node.From)), cells-1)
	to := min(max(int(math.Ceil(cell(r.Node.To))), from+1), cells)
	mark := "━"
	if len(r.Node.Children) == 0 {
		mark = "█"
	}
	return strings.Repeat(" ", from) + strings.Repeat(mark, to-from) + strings.Repeat(" ", cells-to)
}

// String says how a clock differs.
func (c Clock) String() string {
	who := words(c.Hop, c.Server)
	switch {
	case c.Jumped:
		return "clock of " + who + " was set meanwhile: its times cannot be aligned"
	case c.Offset == 0 && c.Bound < 0:
		return "clock of " + who + ": nothing bounds its difference"
	case c.Offset == 0:
		return "clock of " + who + " agrees within " + text.Duration(c.Bound)
	}
	by, way := c.Offset, "behind"
	if by < 0 {
		by, way = -by, "ahead"
	}
	if c.Bound < 0 {
		return fmt.Sprintf("clock of %s is at least %s %s", who, text.Duration(by), way)
	}
	return fmt.Sprintf("clock of %s is %s %s, ± %s", who, text.Duration(by), way, text.Duration(c.Bound))
}

// Notes are what there is to say of a tree beside its rows.
func (t *Tree) Notes() (out []string) {
	for _, c := range t.Clocks {
		if c.Offset != 0 || c.Jumped {
			out = append(out, c.String())
		}
	}
	if t.Left > 0 {
		out = append(out, fmt.Sprintf("%d entries left out: too many, or malformed", t.Left))
	}
	return out
}

// Write writes a tree as text of so many columns. safe makes what others said harmless; nil leaves it as it is.
func (t *Tree) Write(w io.Writer, columns int, safe func(string) string) error {
	if safe == nil {
		safe = func(s string) string { return s }
	}
	rows := t.Rows()
	label := 0
	for _, r := range rows {
		label = max(label, indent(r)+len([]rune(safe(r.Label()))))
	}
	label = min(label, max(columns*45/100, 24))
	const times = 2 * 9
	bar := min(max(columns-label-times-24, 0), 60)
	var b strings.Builder
	fmt.Fprintf(&b, "trace %s · %s\n", t.ID, text.Duration(t.Took()))
	for _, r := range rows {
		name := []rune(strings.Repeat(" ", indent(r)) + safe(r.Label()))
		if len(name) > label {
			name = append(name[:label-1], '…')
		}
		at := text.Duration(r.Node.From.Sub(t.Begin()))
		if r.Gap {
			at = ""
		}
		line := fmt.Sprintf("%s%s %8s %8s  %s %s", string(name), strings.Repeat(" ", label-len(name)), at, text.Duration(r.Took()), t.Bar(r, bar), safe(strings.Join(r.Facts(), " · ")))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, n := range t.Notes() {
		b.WriteString(safe(n) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// indent is by how many cells a row is moved in; deeper ones stay where they are.
func indent(r Row) int { return 2 * min(r.Depth, 12) }
