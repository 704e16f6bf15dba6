package call

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	counts "github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
	"github.com/mcphud/mcphud/views/pane"
)

// treemap is what the tools of the current server cost a model: a rectangle for each, as large as its share of all tokens.
type treemap struct {
	server  string
	listing uint64 // revision of what was counted
	counted []counts.Entry
	sum     counts.Sum
	tiles   []widget.Tile
	w, h    int // that tiles are made for
	at      int // index in tiles
	rev     int
}

// NewTreemap is the screen of what each tool costs a model, as rectangles.
func NewTreemap() *tui.Screen { return (&treemap{}).screen() }

func (v *treemap) screen() *tui.Screen {
	return &tui.Screen{
		ID: "treemap", Title: "Tokens", Aliases: []string{"tokens", "cost"}, Hidden: true,
		Panes:   []tui.PaneSpec{{ID: "map", Title: "Tokens"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Hints: v.hints, Breadcrumb: v.breadcrumb,
	}
}

func (v *treemap) actions() []tui.Action {
	return []tui.Action{
		{
			ID: "treemap.open", Keys: []string{"enter"}, Title: "open", Group: "Tokens", Hint: 1,
			Help: "Go to the tool under the cursor.", Disabled: func(*tui.Ctx) string {
				switch t, ok := v.tile(); {
				case !ok:
					return "nothing is selected"
				case t.Index < 0:
					return "these tools are too small for a rectangle each"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd {
				t, _ := v.tile()
				return c.NavigateOn(v.server, "tools", v.counted[t.Index].Name)
			},
		},
		{
			ID: "treemap.check", Keys: []string{"Q"}, Title: "what would save", Group: "Tokens", Hint: 2,
			Help: "Examine the server: what its lists cost, and which five tools or parts less save most.",
			Disabled: func(c *tui.Ctx) string {
				if c.Server == nil {
					return "no server is open"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("check", c.Server.Name()) },
		},
		pane.DriftAction("treemap"),
	}
}

func (v *treemap) tile() (widget.Tile, bool) {
	if v.at < 0 || v.at >= len(v.tiles) {
		return widget.Tile{}, false
	}
	return v.tiles[v.at], true
}

// tokensCounted is what the tools of a server cost.
type tokensCounted struct {
	server  string
	listing uint64
	entries []counts.Entry
}

// count counts what the server lists now, beside the event loop.
func (v *treemap) count(c *tui.Ctx) tea.Cmd {
	if c.Server == nil {
		v.counted, v.tiles, v.server = nil, nil, ""
		v.rev++
		return nil
	}
	l, name := c.Server.Listing(offer.Tools), c.Server.Name()
	if c.View != "treemap" || name == v.server && l.Rev == v.listing {
		return nil
	}
	if name != v.server {
		v.counted, v.tiles, v.at = nil, nil, 0
	}
	v.server, v.listing = name, l.Rev
	v.rev++
	cmd, _ := c.Replace("treemap", "count", "count tokens", func(ctx context.Context) (any, error) {
		return tokensCounted{name, l.Rev, counts.All(ctx, name, offer.Tools, l.Items)}, ctx.Err()
	})
	return cmd
}

func (v *treemap) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged, tui.ServerChanged, tui.FocusChanged, tui.Navigate:
		return v.count(c), true
	case tui.OpDone:
		if r, ok := m.Value.(tokensCounted); ok && m.Err == nil && r.server == v.server && r.listing == v.listing {
			v.counted, v.sum = r.entries, counts.Total(r.entries)
			slices.SortStableFunc(v.counted, func(a, b counts.Entry) int { return cmp.Or(b.Tokens-a.Tokens, strings.Compare(a.Name, b.Name)) })
			v.w, v.at = 0, 0
			v.rev++
		} else if m.Err != nil {
			v.listing = 0 // whoever comes back has it counted again
		}
		return nil, true
	case tea.KeyPressMsg:
		dx, dy := 0, 0
		switch m.String() {
		case "right", "l":
			dx = 1
		case "left", "h":
			dx = -1
		case "down", "j":
			dy = 1
		case "up", "k":
			dy = -1
		case "g", "home":
			v.at = 0
			return nil, true
		case "G", "end":
			v.at = max(len(v.tiles)-1, 0)
			return nil, true
		case "q":
			return c.Back(), true
		default:
			return nil, false
		}
		v.at = widget.Beside(v.tiles, v.at, dx, dy)
		return nil, true
	case tui.FilterChanged: // goes to the largest tile that has it
		q := widget.ParseQuery(m.Text)
		for i, t := range v.tiles {
			if t.Index >= 0 && !q.Empty() && q.Match(v.counted[t.Index].Name) {
				v.at = i
				break
			}
		}
		return nil, true
	case tui.PaneMouse:
		if m.Click == tea.MouseLeft {
			for i, t := range v.tiles {
				if m.X >= t.X && m.X < t.X+t.W && m.Y >= t.Y && m.Y < t.Y+t.H {
					v.at = i
				}
			}
		}
		return nil, true
	}
	return nil, false
}

// hints say how to leave the screen.
func (v *treemap) hints(*tui.Ctx) []tui.Hint { return pane.BackHint(true) }

func (v *treemap) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.Same(c, v.rev, v.at, c.Server) {
		return nil
	}
	p.Title, p.Badge, p.Foot = "Tokens", "", ""
	if c.Server != nil {
		p.Title += " of " + safe.Line(c.Server.Title(), 60)
	}
	if len(v.counted) == 0 {
		p.Lines = v.empty(c, p.W)
		return nil
	}
	if p.W != v.w || p.H != v.h {
		was, had := v.tile()
		values := make([]int, len(v.counted))
		for i, e := range v.counted {
			values[i] = e.Tokens
		}
		v.tiles, v.w, v.h, v.at = widget.Treemap(values, p.W, p.H), p.W, p.H, 0
		for i, t := range v.tiles {
			if had && t.Index == was.Index {
				v.at = i
			}
		}
	}
	p.Foot = text.Count(v.sum.Count, "tool") + " · " + pane.Tokens(v.sum.Tokens)
	if n := len(v.tiles); n > 0 && v.tiles[n-1].Index >= 0 && n < v.sum.Count && !slices.ContainsFunc(v.tiles, func(t widget.Tile) bool { return t.Index < 0 }) {
		p.Foot = fmt.Sprintf("the %d largest of ", n) + p.Foot
	}
	if t, ok := v.tile(); ok && t.Index >= 0 {
		e := v.counted[t.Index]
		p.Badge = fmt.Sprintf("%s: %s, %s of description, %s of schema", safe.Line(e.Name, 40), pane.Tokens(e.Tokens), pane.Tokens(e.Description), pane.Tokens(e.Schema))
	}
	p.Lines = v.cells(c.Theme, p.W, p.H)
	return nil
}

func (v *treemap) empty(c *tui.Ctx, w int) []string {
	th := c.Theme
	switch {
	case c.Server == nil:
		return pane.Message(th, w, "No server is open.", "Press 1 for the servers.")
	case pane.Offline(c) != "" && len(c.Server.Listing(offer.Tools).Items) == 0:
		return pane.Message(th, w, "The server is not connected.", "Press 1 for the servers.")
	case len(c.Server.Listing(offer.Tools).Items) == 0:
		return pane.Message(th, w, "There are no tools that could be counted.", "Press 2 for the tools.")
	}
	return pane.Message(th, w, "Counting…", "")
}

// share is the share of all tokens in words.
func (v *treemap) share(tokens int) string {
	if v.sum.Tokens == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*float64(tokens)/float64(v.sum.Tokens))
}

// cells is the map, row by row: each tile has a border at its right and its bottom, and its text in the corner.
func (v *treemap) cells(th *tui.Theme, w, h int) []string {
	rows := make([][]int, h) // the tiles of each row, from the left
	order := make([]int, len(v.tiles))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return v.tiles[a].X - v.tiles[b].X })
	for _, i := range order {
		for y := v.tiles[i].Y; y < v.tiles[i].Y+v.tiles[i].H && y < h; y++ {
			rows[y] = append(rows[y], i)
		}
	}
	out := make([]string, h)
	for y := range out {
		var b strings.Builder
		for _, i := range rows[y] {
			b.WriteString(v.segment(th, i, y))
		}
		out[y] = paint.Cut(b.String(), w)
	}
	return out
}

// segment is a row of a tile.
func (v *treemap) segment(th *tui.Theme, i, y int) string {
	t := v.tiles[i]
	style := th.Surface.And(th.Text)
	share := 0.0
	if v.sum.Tokens > 0 {
		share = float64(t.Value) / float64(v.sum.Tokens)
	}
	switch {
	case i == v.at:
		style = th.Selection
	case share >= 0.25:
		style = th.Surface.And(th.Error)
	case share >= 0.10:
		style = th.Surface.And(th.Warn)
	}
	border := th.Border
	if t.H > 1 && y == t.Y+t.H-1 { // the bottom
		return border.S(strings.Repeat("─", t.W-1) + "┘")
	}
	inner, end := t.W, ""
	if t.W > 1 {
		inner, end = t.W-1, border.S("│")
	}
	name := fmt.Sprintf("%d more tools", v.sum.Count-(len(v.tiles)-1))
	if t.Index >= 0 {
		name = safe.Line(v.counted[t.Index].Name, 200)
	}
	line := ""
	switch y - t.Y {
	case 0:
		line = name
		if i == v.at {
			line = "▸" + name
		}
		if t.H <= 2 {
			line += " " + text.Cut(pane.Tokens(t.Value), 10)
		}
	case 1:
		line = pane.Tokens(t.Value)
	case 2:
		line = v.share(t.Value)
	}
	return style.S(paint.Fit(line, inner)) + end
}

// plain is the same as a table: linear mode has no map.
func (v *treemap) plain(_ *tui.Ctx, w io.Writer) {
	if len(v.counted) == 0 {
		fmt.Fprintln(w, "No tools are listed whose tokens could be counted.")
		return
	}
	fmt.Fprintln(w, text.Count(v.sum.Count, "tool")+", "+pane.Tokens(v.sum.Tokens)+", "+text.Bytes(v.sum.Bytes))
	for _, e := range v.counted {
		fmt.Fprintf(w, "%8s %5s  %s\n", pane.Tokens(e.Tokens), v.share(e.Tokens), safe.Line(e.Name, 200))
	}
}

// breadcrumb is the tool under the cursor.
func (v *treemap) breadcrumb(*tui.Ctx) string {
	if t, ok := v.tile(); ok && t.Index >= 0 && t.Index < len(v.counted) {
		return safe.Line(v.counted[t.Index].Name, 60)
	}
	return ""
}
