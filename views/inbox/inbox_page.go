package inbox

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// pageURL is the page that a question wants to be visited.
func pageURL(q pending.Question) string { return jsonrpc.GetString(q.Params, "url") }

// pageOpened is the outcome of opening a page.
type pageOpened struct{}

func (v *answer) noPage(c *tui.Ctx) string {
	switch {
	case v.over(c) != "":
		return v.over(c)
	case v.cur.Kind != pending.URL:
		return "the server names no page"
	case v.browse == nil:
		return "there is no browser to open it with; copy the URL"
	}
	if p := pending.PageOf(pageURL(v.cur.Question)); p.Refused != nil {
		return safe.Line(p.Why, 100) + "; " + p.Next
	}
	return ""
}

// openPage opens the page, after asking where its host may be another one than it seems.
func (v *answer) openPage(c *tui.Ctx) tea.Cmd {
	raw := pageURL(v.cur.Question)
	p := pending.PageOf(raw)
	open := func(c *tui.Ctx) tea.Cmd {
		cmd, _ := c.Go("answer", "open "+safe.Line(p.Host, 60), func(ctx context.Context) (any, error) { return pageOpened{}, v.browse(ctx, raw) })
		return cmd
	}
	if len(p.Warnings) == 0 {
		return open(c)
	}
	return c.Confirm(tui.Confirmation{
		Title: "Open a page of " + safe.Line(p.Host, 60) + "?", Body: safe.Text(raw) + "\n\n! " + strings.Join(p.Warnings, "\n! "),
		Yes: "open", No: "do not open", Danger: true, OnYes: open,
	})
}
