package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// item is one line of a picker.
type item struct {
	title, keys, help string // safe text
	group             string
	why               string // why it cannot be picked, "" if it can
	pick              func(*App) tea.Cmd
}

// placeGroup is the group of the palette's screens and servers.
const placeGroup = "Go to"

// picker is an overlay with a search line over a list: the palette and help.
type picker struct {
	title  string
	items  []item
	ranked bool // best match first, in place of keeping groups together
	edit   lineEdit
	shown  []int
	at     int // index in shown
	top    int // first row drawn
	rows   []int
}

func newPicker(title string, items []item, ranked bool) *picker {
	p := &picker{title: title, items: items, ranked: ranked}
	p.search()
	return p
}

// Title names the picker.
func (p *picker) Title() string { return p.title }

// Size is most of the screen, so that it does not jump while typing.
func (p *picker) Size(maxW, maxH int) (int, int) {
	return min(maxW, 90), min(maxH, max(len(p.items)+2+p.groups(), 6), 30)
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

// String is the text that item i is found by, for the fuzzy matcher.
func (p *picker) String(i int) string {
	it := &p.items[i]
	return it.title + " " + it.keys + " " + it.group + " " + it.help
}

// Len is how many items there are, for the fuzzy matcher.
func (p *picker) Len() int { return len(p.items) }

// rank orders what the fuzzy matcher found: what is called so, screens and
// servers that begin so, other titles with a word that begins so, the rest.
func (it *item) rank(text string) int {
	text, title := strings.ToLower(text), strings.ToLower(it.title)
	switch {
	case title == text:
		return 0
	case !strings.HasPrefix(title, text) && !strings.Contains(title, " "+text):
		return 3
	case it.group == placeGroup:
		return 1
	}
	return 2
}

func (p *picker) search() {
	p.shown, p.at, p.top = p.shown[:0], 0, 0
	text := strings.TrimSpace(p.edit.String())
	if text == "" {
		for i := range p.items {
			p.shown = append(p.shown, i)
		}
		return
	}
	if p.ranked {
		for _, m := range fuzzy.FindFrom(text, p) {
			p.shown = append(p.shown, m.Index)
		}
		slices.SortStableFunc(p.shown, func(a, b int) int { return cmp.Compare(p.items[a].rank(text), p.items[b].rank(text)) })
		return
	}
	words := strings.Fields(strings.ToLower(text))
next:
	for i := range p.items {
		s := strings.ToLower(p.String(i))
		for _, w := range words {
			if !strings.Contains(s, w) {
				continue next
			}
		}
		p.shown = append(p.shown, i)
	}
}

// Handle moves, searches and picks.
func (p *picker) Handle(c *Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		return p.key(c, m)
	case tea.PasteMsg:
		p.edit.insert(m.Content)
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
		if p.edit.String() == "" {
			return nil, false
		}
		p.edit.set("")
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
		if !p.edit.key(m) {
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

// Draw shows the search line and the rows around the cursor.
func (p *picker) Draw(c *Ctx, pane *Pane) *tea.Cursor {
	t := c.Theme
	text, x := p.edit.draw(pane.W-2, false)
	lines := append(pane.Lines[:0], t.Accent.S("› ")+text)
	rows := p.layout(pane.H - 1)
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
			if g := p.items[p.shown[i]].group; !p.ranked && g != last {
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
	const keyW = 14
	keys := ansi.Truncate(it.keys, keyW-1, "…")
	head := " " + keys + strings.Repeat(" ", max(keyW-ansi.StringWidth(keys), 1))
	title := it.title
	if it.why != "" {
		title += " (" + it.why + ")"
	}
	if at {
		return t.SelectRow(safe.Line(head+title+"  "+it.help, w), w, true)
	}
	s := t.Accent.S(head)
	if it.why != "" {
		s += t.Muted.S(title)
	} else {
		s += t.Text.S(title)
	}
	if it.help != "" {
		s += "  " + t.Muted.S(it.help)
	}
	return paint.Fit(s, w)
}
