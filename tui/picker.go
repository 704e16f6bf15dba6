package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// item is one line of a picker.
type item struct {
	title, keys, help string // title and help may be a server's: they are sanitised when drawn
	group             string
	why               string // why it cannot be picked, "" if it can
	typed             bool   // is listed only when something is typed
	pick              func(*App) tea.Cmd
	look              func(*App) tea.Cmd // while the cursor is on it; nil for nothing
}

// offGroup is the last group: what cannot be picked, with the reason.
const offGroup = "Not now"

// picker is an overlay with a search line over a list: the palette and help.
type picker struct {
	title string
	items []item
	keyed bool // some have keys, which are a column
	query widget.Query
	edit  widget.Line
	shown []int
	at    int // index in shown
	top   int // first row drawn
	rows  []int

	looked int                // the item whose look was the last, from 1
	left   func(*App) tea.Cmd // when nothing was picked; nil for nothing
}

func newPicker(title string, items []item) *picker {
	for i := range items {
		if items[i].why != "" {
			items[i].group = offGroup
		}
	}
	p := &picker{title: title, items: items, keyed: slices.ContainsFunc(items, func(it item) bool { return it.keys != "" })}
	p.search()
	return p
}

// Title names the picker.
func (p *picker) Title() string { return p.title }

// Size is most of the screen, so that it does not jump while typing.
func (p *picker) Size(maxW, maxH int) (int, int) {
	return min(maxW, 90), min(maxH, max(len(p.items)+2*p.groups()+footRows, 6+footRows), 30)
}

func (p *picker) groups() (n int) {
	last := ""
	for _, it := range p.items {
		if it.group != last {
			n++
			last = it.group
		}
	}
	return n
}

// search lists what was typed: the group of the best hit first, in a group the best hit first, and what cannot be picked last.
func (p *picker) search() {
	p.shown, p.at, p.top = p.shown[:0], 0, 0
	p.query = widget.ParseQuery(p.edit.Value())
	top := widget.None
	ranks, best, order := make([]widget.Rank, len(p.items)), map[string]widget.Rank{}, map[string]int{}
	for i := range p.items {
		it := &p.items[i]
		if _, ok := order[it.group]; !ok {
			best[it.group], order[it.group] = widget.None, len(order)
		}
		if ranks[i] = p.query.Rank(it.title, it.keys+" "+it.help+" "+it.group); ranks[i] == widget.None || it.typed && p.query.Empty() {
			continue
		}
		p.shown = append(p.shown, i)
		best[it.group] = min(best[it.group], ranks[i])
		top = min(top, ranks[i])
	}
	if top < widget.Subsequence { // as in lists
		p.shown = slices.DeleteFunc(p.shown, func(i int) bool { return ranks[i] == widget.Subsequence })
	}
	best[offGroup] = widget.None
	slices.SortStableFunc(p.shown, func(i, j int) int {
		a, b := p.items[i].group, p.items[j].group
		return cmp.Or(cmp.Compare(best[a], best[b]), cmp.Compare(order[a], order[b]), cmp.Compare(ranks[i], ranks[j]))
	})
}

// Handle moves, searches and picks.
func (p *picker) Handle(c *Ctx, msg tea.Msg) (tea.Cmd, bool) {
	cmd, ok := p.handle(c, msg)
	if c.app.top() == nil || c.app.top().overlay != p || len(p.shown) == 0 {
		return cmd, ok
	}
	if at := p.shown[p.at]; at+1 != p.looked && p.items[at].look != nil {
		p.looked = at + 1
		cmd = join(cmd, p.items[at].look(c.app))
	}
	return cmd, ok
}

func (p *picker) handle(c *Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case Close:
		if p.left != nil {
			return p.left(c.app), true
		}
	case tea.KeyPressMsg:
		return p.key(c, m)
	case tea.PasteMsg:
		p.edit.Insert(m.Content)
		p.search()
		return nil, true
	case PaneMouse:
		p.at = min(max(p.at+m.Wheel, 0), max(len(p.shown)-1, 0))
		if m.Click == tea.MouseLeft && m.Y >= 1 && m.Y-1 < len(p.rows) && p.rows[m.Y-1] >= 0 {
			p.at = p.rows[m.Y-1]
			return p.pick(c), true
		}
		return nil, true
	}
	return nil, false
}

func (p *picker) key(c *Ctx, m tea.KeyPressMsg) (tea.Cmd, bool) {
	move := func(by int) { p.at = min(max(p.at+by, 0), max(len(p.shown)-1, 0)) }
	switch m.String() {
	case "esc":
		if p.edit.Value() == "" {
			return nil, false
		}
		p.edit.SetValue("")
		p.search()
	case "enter":
		return p.pick(c), true
	case "up", "ctrl+p", "shift+tab":
		move(-1)
	case "down", "ctrl+n", "tab":
		move(1)
	case "pgup":
		move(-10)
	case "pgdown":
		move(10)
	default:
		if !p.edit.Key(m) {
			return nil, false
		}
		p.search()
	}
	return nil, true
}

func (p *picker) pick(c *Ctx) tea.Cmd {
	if len(p.shown) == 0 {
		return nil
	}
	it := p.items[p.shown[p.at]]
	if it.why != "" {
		c.app.toasts.add(Warning, it.title+": "+it.why)
		return nil
	}
	c.app.drop(p)
	return it.pick(c.app)
}

// footRows are the rows below the list: a rule, and the whole text of the item under the cursor.
const footRows = 3

// Hints are the picker's keys.
func (p *picker) Hints(*Ctx) []Hint {
	pick, leave := "choose", "close"
	if p.keyed {
		pick = "run"
	}
	if p.edit.Value() != "" {
		leave = "clear"
	}
	return []Hint{{"enter", pick}, {"tab", "next"}, {"esc", leave}}
}

// Draw shows the search line, the rows around the cursor, and what the one under it says in full.
func (p *picker) Draw(c *Ctx, pane *Pane) *tea.Cursor {
	t := c.Theme
	pane.Foot = "esc closes"
	if p.edit.Value() != "" {
		pane.Foot = "esc clears"
	}
	text, x := p.edit.Draw(pane.W-2, false)
	lines := append(pane.Lines[:0], t.Accent.S("› ")+text)
	rows := p.layout(max(pane.H-1-footRows, 1))
	p.rows, pane.Selected = rows, 0
	for i, r := range rows {
		if r >= 0 && r == p.at {
			pane.Selected = len(lines) + 1
		}
		switch {
		case r >= 0:
			lines = append(lines, p.row(t, p.shown[r], pane.W, r == p.at))
		case i+1 < len(rows) && rows[i+1] >= 0:
			lines = append(lines, t.Heading.S(safe.Line(p.items[p.shown[rows[i+1]]].group, pane.W)))
		default:
			lines = append(lines, "")
		}
	}
	if len(p.shown) == 0 {
		lines = append(lines, t.Muted.S(safe.Line("nothing matches; backspace widens the search", pane.W)))
	} else if pane.H > 2*footRows {
		for len(lines) < pane.H-footRows {
			lines = append(lines, "")
		}
		lines = append(lines, t.Border.S(strings.Repeat("─", pane.W)))
		it := p.items[p.shown[p.at]]
		full := safe.Line(cmp.Or(it.help, it.title), 0)
		if it.why != "" {
			full = it.why + ". " + full
		}
		lines = append(lines, strings.Split(ansi.Wrap(full, pane.W, ""), "\n")...)
		lines = lines[:min(len(lines), pane.H)]
	}
	pane.Lines = lines
	pane.Scroll = Scroll{p.top, len(p.shown)}
	return tea.NewCursor(2+x, 0)
}

// layout lists what the rows show: an index in shown, or -1 for a heading of the group that follows.
func (p *picker) layout(h int) (rows []int) {
	p.top = min(p.top, p.at)
	for {
		rows = rows[:0]
		last := ""
		seen := false
		for i := p.top; i < len(p.shown) && len(rows) < h; i++ {
			if g := p.items[p.shown[i]].group; g != last {
				last = g
				if len(rows)+1 >= h {
					break
				}
				rows = append(rows, -1)
			}
			rows = append(rows, i)
			seen = seen || i == p.at
		}
		if seen || p.top >= p.at {
			return rows
		}
		p.top++
	}
}

// row draws an item: keys, title, help.
func (p *picker) row(t *Theme, i, w int, at bool) string {
	it := &p.items[i]
	head := " "
	if p.keyed {
		const keyW = 14
		keys := it.keys
		for ansi.StringWidth(keys) >= keyW && strings.Contains(keys, " ") { // the first of several is enough
			keys = keys[:strings.LastIndex(keys, " ")]
		}
		keys = ansi.Truncate(keys, keyW-1, "…")
		head += keys + strings.Repeat(" ", max(keyW-ansi.StringWidth(keys), 1))
	}
	about := it.help
	if it.why != "" {
		about = it.why
	}
	if at {
		return t.SelectRow(safe.Line(head+it.title+"  "+about, w), w, true)
	}
	st := t.Text
	if it.why != "" {
		st = t.Muted
	}
	s := t.Accent.S(head) + p.query.HighlightName(safe.Line(it.title, w), st, t.Match)
	if about != "" {
		s += "  " + p.query.Highlight(safe.Line(about, w), t.Muted, t.Match)
	}
	return paint.Fit(s, w)
}
