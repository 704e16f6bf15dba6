package views

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
	"github.com/mcphud/mcphud/views/pane"
)

// Release is which version runs, and what changed up to it.
type Release struct {
	Version   string // "v0.2.0"; anything but a release is a working copy's
	Changelog string // Markdown
}

// whatsNew shows what changed since the version that ran before, or all changes where none did.
type whatsNew struct {
	release Release
	text    pane.TextPane
	lines   []string // rendered for w cells
	w       int
	rev     int
}

func newWhatsNew(r Release) *tui.Screen { return (&whatsNew{release: r}).screen() }

func (v *whatsNew) screen() *tui.Screen {
	return &tui.Screen{
		ID: "whatsnew", Title: "What is new", Aliases: []string{"changes"}, Tab: "servers", NoRail: true, AllServers: true,
		Panes:  []tui.PaneSpec{{ID: "text", Title: "What is new"}},
		Handle: v.handle, Draw: v.draw, Page: v.page, Hints: v.hints,
	}
}

// hints say how to leave the screen, which has no number.
func (v *whatsNew) hints(*tui.Ctx) []tui.Hint { return pane.BackHint(true) }

// since is the release that ran before, and what changed since.
func (v *whatsNew) since(c *tui.Ctx) (before, text string) {
	before = tui.ReleasedOn(c.Preference(tui.VersionBefore))
	text = tui.ChangesBetween(v.release.Changelog, before, v.release.Version)
	if text == "" {
		before = ""
	}
	return before, cmp.Or(text, v.release.Changelog)
}

func (v *whatsNew) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate, tui.ThemeChanged:
		if _, opened := m.(tui.Navigate); opened {
			v.text.Top = 0
		}
		return v.render(c), true
	case tui.Resized:
		v.w = m.Width("text")
		return v.render(c), true
	case tui.Rendered:
		if m.Err == nil && m.Key == v.key() {
			v.lines = m.Lines
			v.rev++
		}
		return nil, true
	}
	if pane.IsBack(msg) {
		return c.Back(), true
	}
	return nil, v.text.Handle(msg)
}

func (v *whatsNew) key() string { return fmt.Sprint("changes", v.w) }

// render prepares the text beside the screen.
func (v *whatsNew) render(c *tui.Ctx) tea.Cmd {
	if v.w == 0 || c.View != "whatsnew" {
		return nil
	}
	_, text := v.since(c)
	th, w := c.Theme, v.w
	return c.Render("whatsnew", v.key(), func() ([]string, error) {
		doc, err := widget.Markdown(context.Background(), th, text, w)
		return doc.Lines, err
	})
}

func (v *whatsNew) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	before, text := v.since(c)
	p.Title = "What is new"
	if before != "" {
		p.Title = "Since " + before
	}
	p.Badge = safe.Line(v.release.Version, 40)
	lines := v.lines
	switch {
	case strings.TrimSpace(text) == "":
		lines = pane.Message(c.Theme, p.W, "No changes are recorded.", "Press q to go back.")
	case lines == nil:
		lines = pane.Message(c.Theme, p.W, "Preparing the text…", "")
	}
	v.text.Draw(p, lines)
	return nil
}

func (v *whatsNew) page(c *tui.Ctx) page.Page {
	_, text := v.since(c)
	return *new(page.Page).Text(page.Plain, text)
}
