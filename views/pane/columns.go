package pane

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// Widest is how many cells the longest of n names takes, at most most.
func Widest(n, most int, name func(int) string) int {
	wide := 0
	for i := range n {
		if s := name(i); len(s) > wide { // cells are at most bytes
			wide = max(wide, min(paint.Width(safe.Line(s, 2*most)), most))
		}
		if wide == most {
			break
		}
	}
	return wide
}

// NameColumn bounds the column of names where it stands before others; longer names push what follows them to the right.
const NameColumn = 32

// Column pads a styled name to its column, which takes half of a row of w
// cells at most. Names are never cut for it: they are what the row is about.
func Column(name string, col, w int) string {
	if n := min(col, w/2) - paint.Width(name); n > 0 {
		return name + paint.Blanks(n)
	}
	return name
}

const (
	maxMeasured = 1000 // rows that decide about the columns
	maxName     = 64   // cells of a column of names that others wait for
	maxOverrun  = 12   // cells that the longest names may add to their column
	maxGroup    = 20   // cells of the column of servers
	leastNote   = 14   // free cells from which on there is a column for what items say of themselves
	// tokensColumn is the cells of the column of tokens, with a blank before it.
	tokensColumn = 9
	leastHit     = 10 // the same for the part of it that a filter found
)

// ItemRow is a row of a list of items.
type ItemRow struct {
	Item  offer.Item
	Name  string
	Group string // what it belongs to, "" where there is one group only
	Calls int    // in this session
	// Tokens are what a model that is given the item pays for it, 0 where that is not counted.
	Tokens int

	Mark       *offer.Mark // what became of it since somebody looked, nil for nothing
	Subscribed bool
	Updates    int // since it was subscribed to
}

// ItemColumns are the columns of a list of items: a mark, the name, its group, where there is room what the item says of
// itself, and how often it was called.
type ItemColumns struct {
	marks       bool
	tokens      bool
	name, group int
	prefix      string // what all descriptions begin with
}

// NewItemColumns measures n rows.
func NewItemColumns(n int, row func(int) ItemRow) ItemColumns {
	var k ItemColumns
	n = min(n, maxMeasured)
	wide := make([]int, n)
	for i := range n {
		r := row(i)
		wide[i] = paint.Width(safe.Line(r.Name, 2*maxName))
		if len(r.Group) > k.group {
			k.group = max(k.group, min(paint.Width(safe.Line(r.Group, 2*maxGroup)), maxGroup))
		}
		k.marks = k.marks || r.Item.Destructive() || r.Item.ReadOnly()
		k.tokens = k.tokens || r.Tokens > 0
		if i == 0 {
			k.prefix = text.Cut(aboutItem(r.Item), maxName)
		} else if k.prefix != "" {
			k.prefix = k.prefix[:shared(k.prefix, aboutItem(r.Item))]
		}
	}
	if slices.Sort(wide); n > 0 { // a few long names do not take the descriptions away from all others
		if k.name = wide[(n-1)*9/10]; wide[n-1]-k.name <= maxOverrun {
			k.name = wide[n-1]
		}
	}
	// A prefix is a label only where it ends like one.
	if k.prefix = k.prefix[:strings.LastIndexAny(k.prefix, "|:]>")+1]; n < 3 {
		k.prefix = ""
	}
	return k
}

// shared is how many bytes two texts begin with alike.
func shared(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// aboutItem is the line that an item says of itself.
func aboutItem(it offer.Item) string {
	about := text.FirstLine(text.Cut(it.Description, searched))
	if it.Title == "" || sameWords(it.Title, it.Name) {
		return about
	}
	if about == "" {
		return it.Title
	}
	return it.Title + " — " + about
}

// Mark warns of an item that destroys and assures of one that only reads, in a cell.
func Mark(th *tui.Theme, it offer.Item) string {
	switch {
	case it.Destructive():
		return th.Warn.S("⚠")
	case it.ReadOnly():
		return th.OK.S("✓")
	}
	return " "
}

// Row draws a row of w cells, with what a query found in it.
func (k ItemColumns) Row(th *tui.Theme, q widget.Query, r ItemRow, w int) string {
	out, tail := "", ""
	if k.marks {
		out = Mark(th, r.Item) + " "
	}
	if r.Calls > 0 {
		tail = th.Muted.S(fmt.Sprintf(" ×%d", r.Calls))
	}
	for _, m := range r.marks() {
		tail += " " + m.style(th).S(m.text)
	}
	room := w - paint.Width(out) - paint.Width(tail)
	if k.group > 0 {
		g := min(k.group, room/3)
		tail = "  " + paint.Fit(th.Server(r.Group).S(safe.Line(r.Group, maxGroup)), g) + tail
		room -= g + 2
	}
	name := safe.Line(r.Name, 300)
	if r.Name == r.Item.URI {
		name = CutStart(name, room) // the end of a URI tells most
	}
	if k.tokens && room-max(k.name, paint.Width(name)) >= tokensColumn {
		tail = th.Muted.S(fmt.Sprintf("%*s", tokensColumn, Tokens(r.Tokens))) + tail
		room -= tokensColumn
	}
	found := q.Rank(name, "") == widget.None // what else the row says is why it is there
	col, least := k.name, leastNote
	if found && room-col-2 < least {
		col, least = 0, leastHit
	}
	col = max(col, paint.Width(name))
	note := room - col - 2
	about := ""
	if note >= least {
		about = k.about(q, r, found, note)
	}
	if about == "" {
		return out + paint.Fit(q.HighlightName(name, th.Text, th.Match), room) + tail
	}
	return out + paint.Fit(q.HighlightName(name, th.Text, th.Match), col) + "  " + paint.Fit(q.Highlight(about, th.Muted, th.Match), note) + tail
}

// itemMark is a glyph and a word, and how it is drawn.
type itemMark struct {
	text  string
	style func(*tui.Theme) paint.Style
}

// marks say that an item is new, changed, an app or subscribed to.
func (r ItemRow) marks() (out []itemMark) {
	switch {
	case r.Mark != nil && r.Mark.Added:
		out = append(out, itemMark{"+ new", func(th *tui.Theme) paint.Style { return th.OK }})
	case r.Mark != nil:
		out = append(out, itemMark{"~ changed", func(th *tui.Theme) paint.Style { return th.Warn }})
	}
	if r.Item.App != "" {
		out = append(out, itemMark{"◫ app", func(th *tui.Theme) paint.Style { return th.Accent2 }})
	}
	if r.Subscribed {
		text := "◉ subscribed"
		if r.Updates > 0 {
			text += fmt.Sprintf(" %d", r.Updates)
		}
		out = append(out, itemMark{text, func(th *tui.Theme) paint.Style { return th.Info }})
	}
	return out
}

// about is what stands beside the name: why a filter lists the row, else the URI or what the item says of itself.
func (k ItemColumns) about(q widget.Query, r ItemRow, found bool, w int) string {
	switch {
	case r.Item.URI != "" && r.Item.URI != r.Name:
		return CutStart(safe.Line(r.Item.URI, 4000), w)
	case found:
		return safe.Line(text.Clip(q.Excerpt(flat(r.Item), w), 4*w), 0)
	}
	about := strings.TrimSpace(strings.TrimPrefix(aboutItem(r.Item), k.prefix))
	return safe.Line(text.Clip(strings.ReplaceAll(strings.ReplaceAll(about, "**", ""), "`", ""), 4*w), 0)
}

// flat is all that an item says of itself in one line.
func flat(it offer.Item) string {
	return strings.Join(strings.Fields(it.Title+" "+text.Clip(it.Description, searched)), " ")
}

// searched is how much of a description a filter looks at, in bytes.
const searched = 2000

// CutStart is the end of a plain text that fits in w cells.
func CutStart(s string, w int) string {
	if n := paint.Width(s); n > w {
		return ansi.TruncateLeft(s, n-max(w, 1)+1, "…")
	}
	return s
}

// sameWords is whether a title says no more than the name: "Form gallery" of form_gallery.
func sameWords(title, name string) bool {
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	return len(title) <= 2*len(name)+8 && letters(title) == letters(name)
}
