package pane

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
)

// ListPage is the panes of a screen that is a list beside a page about the row under the cursor.
type ListPage struct {
	Rows
	Detail TextPane
	// Page is the list, and what else a text of the screen says.
	Page func(*tui.Ctx) page.Page
	// About is a page about a row, its title that of the pane.
	About func(c *tui.Ctx, i int) page.Page
	// Pick is what the number of a row does in linear mode; nil where the numbers are those of actions.
	Pick func(c *tui.Ctx, i int) tea.Cmd
	// Line draws a row where columns do not do; nil where they do.
	Line func(c *tui.Ctx, i, w int) string
	// Inputs is what the panes depend on besides Rev, the rows and the server; nil for nothing.
	Inputs func(*tui.Ctx) any

	// Head draws the parts of the page above its rows.
	Head bool

	own    bool // Freeze is the screen's
	head   int  // rows of the pane that the parts have
	at     string
	titles map[string]string // of the panes, where no page says another
}

// Screen completes a screen by what its list and its page are.
func (s *ListPage) Screen(x tui.Screen) *tui.Screen {
	s.own, s.titles = s.Freeze != nil, map[string]string{}
	for _, p := range x.Panes {
		s.titles[p.ID] = p.Title
	}
	x.Page = s.Listed
	if x.Draw == nil {
		x.Draw = s.Draw
	}
	if s.Pick != nil && x.Choices == nil {
		x.Choices = s.Choices
	}
	if s.Pick != nil && x.Plain == nil {
		x.Plain = s.Plain
	}
	if x.Hints == nil && x.Tab != "" { // it has no number: q leaves it
		x.Hints = func(*tui.Ctx) []tui.Hint { return BackHint(true) }
	}
	return &x
}

// Listed is the page with the rows that the filter leaves.
func (s *ListPage) Listed(c *tui.Ctx) page.Page {
	is := s.Page(c)
	if !s.List.Filtered() || is.Table.Len == 0 {
		return is
	}
	rows, row := slices.Collect(s.List.Listed()), is.Table.Row
	is.Table.Len, is.Table.Row = len(rows), func(i int) page.Row { return row(rows[i]) }
	is.None[0] = NothingListed(s.Typed)
	return is
}

// Changed says that the page's rows changed.
func (s *ListPage) Changed(c *tui.Ctx) tea.Cmd {
	is := s.Page(c)
	if !s.own {
		words := make([][2]string, is.Table.Len)
		for i := range words {
			words[i][0], words[i][1] = is.Table.Words(i)
		}
		s.Freeze = func() (int, func(int) (string, string)) {
			return len(words), func(i int) (name, about string) { return words[i][0], words[i][1] }
		}
	}
	return s.SetRows(c, pageRows{&is.Table, c, s})
}

// pageRows draws the rows of a page.
type pageRows struct {
	*page.Table
	c *tui.Ctx
	s *ListPage
}

// Len is the number of rows.
func (r pageRows) Len() int { return r.Table.Len }

// Row is a row in its columns.
func (r pageRows) Row(i, w int) string {
	if r.s.Line != nil {
		return r.s.Line(r.c, i, w)
	}
	return r.Table.Line(i, w, r.c.Theme, r.s.Query.HighlightName)
}

// Draw fills a pane.
func (s *ListPage) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	i, more := s.List.Selected(), any(nil)
	if s.Inputs != nil {
		more = s.Inputs(c)
	}
	if p.ID == "detail" {
		s.drawAbout(c, p, i, more)
		return nil
	}
	if p.Same(c, s.Rev, i, c.Server, Offline(c), more) {
		return nil
	}
	is := s.Page(c)
	p.Title, p.Foot, p.Badge = cmp.Or(safe.Line(is.Title, 80), s.titles[p.ID]), safe.Line(is.Foot, max(p.W-4, 1)), safe.Line(is.Badge, 40)
	s.List.SetRows(pageRows{&is.Table, c, s}) // they carry the theme
	var head []string
	if s.Head {
		head = is.Lines(c.Theme, p.W)
		head = head[:min(len(head), max(p.H-is.Table.Len, 0))]
	}
	s.head = len(head)
	p.H -= s.head
	s.DrawList(c, p, func(w int) []string {
		if s.Typed != "" && is.Table.Len > 0 {
			return NothingMatches(c.Theme, w, s.Typed)
		}
		return Message(c.Theme, w, safe.Text(is.None[0]), safe.Text(is.None[1]))
	})
	p.H += s.head
	p.Lines = append(head, p.Lines...)
	if p.Selected > 0 {
		p.Selected += s.head
	}
	if is.Badge == "" && is.Table.Len > 0 && (s.List.Filtered() || is.Counted) {
		p.Badge = CountBadge(s.List.Len(), is.Table.Len)
	}
	return nil
}

// drawAbout draws the page about a row, from its beginning where it is another one.
func (s *ListPage) drawAbout(c *tui.Ctx, p *tui.Pane, i int, more any) {
	if p.Same(c, s.Rev, i, s.Detail.Top, c.Server, more) {
		return
	}
	var is page.Page
	if i >= 0 {
		is = s.About(c, i)
	}
	at := fmt.Sprint(is.Title, i)
	if c.Server != nil {
		at += c.Server.Name()
	}
	if at != s.at {
		s.at, s.Detail.Top = at, 0
	}
	p.Title, p.Badge, p.Foot = cmp.Or(safe.Line(is.Title, 120), s.titles[p.ID]), "", ""
	s.Detail.Draw(p, is.Lines(c.Theme, p.W))
}

// mostChoices is how many rows have a number in linear mode.
const mostChoices = 100

// Plain writes all of the page, in linear mode without the rows that have a number there: those are the choices.
func (s *ListPage) Plain(c *tui.Ctx, w io.Writer) {
	is := s.Listed(c)
	if n := is.Table.Len; c.Linear && n > mostChoices {
		is.Table.Len = mostChoices
		is.After = append(is.After, fmt.Sprintf("the first %d of %d; /text narrows", mostChoices, n))
	}
	fmt.Fprintln(w, c.Spoken(is, c.Linear))
}

// Choices are the first rows listed, each with what picking it does.
func (s *ListPage) Choices(c *tui.Ctx) (out []tui.Choice) {
	is := s.Page(c)
	for i := range s.List.Listed() {
		if len(out) == mostChoices || i >= is.Table.Len {
			break
		}
		label, _, _ := strings.Cut(is.Table.Spoken(i), "\n")
		out = append(out, tui.Choice{Label: label, Run: func(c *tui.Ctx) tea.Cmd {
			s.List.Select(i)
			return s.Pick(c, i)
		}})
	}
	return out
}

// Handle gives what is meant for them to the panes; open is what enter does.
func (s *ListPage) Handle(c *tui.Ctx, msg tea.Msg, open func() tea.Cmd) (tea.Cmd, bool) {
	if m, ok := msg.(tui.PaneMouse); ok && m.Pane == "list" {
		m.Y -= s.head
		msg = m
	}
	return ListAndText(c, &s.Rows, &s.Detail, msg, open)
}
