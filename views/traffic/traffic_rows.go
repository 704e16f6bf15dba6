package traffic

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// anything belongs to traffic.
func anything(*journal.Entry) bool { return true }

// routine is what an entry is folded away as: what hops recorded of the requests that the list has, and spans, which have a
// screen of their own.
func (v *traffic) routine(e *journal.Entry) string {
	switch {
	case e.Kind == journal.Span:
		return "span"
	case e.Hop != "" && !v.hops:
		return "hop"
	}
	return routine(e)
}

// routine is what an entry is folded away as: health checks that found nothing, and questions for what a server speaks.
func routine(e *journal.Entry) string {
	switch {
	case e.Method == "ping" && e.Status != journal.Failed && e.Status != journal.Cancelled:
		return "ping"
	case pane.Probe(e):
		return "probe"
	}
	return ""
}

// framesOf is whether an entry is part of what was said while a request waited for its answer: its own frames, what the
// server asked, reported and logged meanwhile, and the answers to that.
func framesOf(q journal.Entry, e *journal.Entry) bool {
	switch {
	case e.Kind == journal.Span: // which have a screen of their own
		return false
	case e.Root == q.Seq, e.Seq == q.Seq, e.Peer == q.Seq:
		return true
	case e.Server != q.Server || e.Conn != q.Conn || e.Seq < q.Seq || q.Peer != 0 && e.Seq > q.Peer || e.Method == "ping":
		return false
	case e.Kind == journal.Request:
		return e.Dir != q.Dir
	case e.Kind == journal.Response || e.Kind == journal.ErrorResponse:
		return e.Dir == q.Dir
	}
	return e.Root == 0 // else it is about another request
}

// show restricts the list to the frames of a request, or with 0 lifts that.
func (v *traffic) show(c *tui.Ctx, request uint64) tea.Cmd {
	if request == v.only.Seq {
		return nil
	}
	j := c.Sessions.Journal()
	v.only, _ = j.Get(request)
	v.Feed.Belongs, v.Feed.Fold = anything, v.routine
	if v.only.Seq != 0 {
		v.Feed.Fold = nil
		v.Feed.Belongs = func(e *journal.Entry) bool {
			q, _ := j.Get(request) // its answer may have come
			return framesOf(q, e)
		}
	}
	v.Feed.Exchanges = v.exchanges(c)
	return v.Feed.Refilter(c)
}

// listPreference is what the user's choice between a row for each exchange and one for each frame is kept under.
const (
	listPreference = "traffic"
	listFrames     = "frames"
)

// exchanges is whether a row is an exchange.
func (v *traffic) exchanges(c *tui.Ctx) bool {
	return v.only.Seq == 0 && c.Preference(listPreference) != listFrames
}

// arrange lists exchanges or frames, as the user prefers.
func (v *traffic) arrange(c *tui.Ctx) tea.Cmd {
	want, probes := v.exchanges(c), c.ShowsProbes()
	if want == v.Feed.Exchanges && probes == v.Feed.Unfold {
		return nil
	}
	v.Feed.Exchanges, v.Feed.Unfold = want, probes
	return v.Feed.Refilter(c)
}

// frames follows the call under the cursor: it shows the frames of its exchange, and what the server asked meanwhile.
func (v *traffic) frames(c *tui.Ctx) tea.Cmd {
	e, ok := v.Entry(c)
	if !ok || e.Root == 0 || !v.Feed.Exchanges {
		return nil
	}
	return v.follow(c, e.Root)
}

func (v *traffic) follow(c *tui.Ctx, root uint64) tea.Cmd {
	at := v.Feed.Selected()
	v.inside = true
	cmd := v.show(c, root)
	v.Feed.Jump(at)
	return tea.Batch(cmd, v.Load(c))
}

// leave goes back from the frames of a call to the list that they were opened from.
func (v *traffic) leave(c *tui.Ctx) tea.Cmd {
	at := v.Feed.Selected()
	cmd := v.show(c, 0)
	v.inside = false
	v.Feed.Jump(at)
	return tea.Batch(cmd, v.Load(c))
}

// row is what a row shows.
func (v *traffic) row(c *tui.Ctx, e journal.Entry) *pane.TrafficRow {
	r := &pane.TrafficRow{Entry: e, Exchange: v.Feed.Exchanges, Preview: v.Preview(c, e), Note: v.noteOf(c, &e)}
	r.Badge = v.broken.badge(c.Theme, e.Seq)
	if v.ref.Seq != 0 {
		r.Since = v.ref.Time
	}
	if n, cells := v.Feed.Servers(); n > 1 || v.foreign != nil || len(c.Sessions.Servers()) > 1 {
		r.Server = cells
	}
	if r.Exchange {
		r.Odd = v.Feed.Odd(e.Seq)
	}
	if r.Exchange && e.Peer != 0 && e.Kind == journal.Request {
		r.Answer, _ = c.Sessions.Journal().Get(e.Peer)
	}
	r.Over = v.foreign != nil && v.foreign.Over != nil && v.foreign.Over()
	v.waiting = v.waiting || e.Status == journal.Pending && e.Kind == journal.Request
	return r
}

// frameHead is what the detail pane says above the frame.
func frameHead(c *tui.Ctx, e journal.Entry) []string {
	th := c.Theme
	line := fmt.Sprintf("%s %s %s · %s · %s", pane.DirGlyph(e.Dir), pane.KindWord(e.Kind), safe.Line(c.ServerTitle(e.Server), 80),
		e.Time.Format("15:04:05.000000"), text.Bytes(e.Size))
	out := []string{pane.KindStyle(th, e).S(line)}
	if e.Note != "" && frameNone(e) == "" {
		out = append(out, th.Muted.S(safe.Line(e.Note, 400)))
	}
	return out
}

// frameNone is what the detail pane says instead of a frame, "" if there is one.
func frameNone(e journal.Entry) string {
	if e.Size > 0 {
		return ""
	}
	return e.Note
}
