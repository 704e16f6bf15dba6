package pane

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pages"
)

// StateMark is a server's state.
func StateMark(s *session.Session, st session.Status) page.Mark {
	m := pages.ServerMark(s, st.State)
	if st.Retired != "" {
		m.Word = "closed"
	}
	return m
}

// DescribeServer is what starting a server would do, a line each.
func DescribeServer(srv config.Server) string {
	var b strings.Builder
	for _, f := range config.Describe(srv) {
		fmt.Fprintf(&b, "%-12s %s\n", f.Label, safe.Text(shorten(f.Value)))
	}
	return strings.TrimRight(b.String(), "\n")
}

// shorten cuts what nobody reads to its end, and says so: a decision must not rest on less than all of it.
func shorten(value string) string {
	const most = 16 << 10
	if len(value) <= most {
		return value
	}
	return fmt.Sprintf("%s\n!! %s more are not shown here: read the file before you trust it", text.Clip(value, most), text.Bytes(len(value)-most))
}

// ServerLines is the page of a server: its state and why, its sections, what it is and what it offers. place is where an entry is, for
// people; keys are those that change it, "" where none does.
func ServerLines(c *tui.Ctx, s *session.Session, w int, place func(config.Source) string, keys string, known pages.Known) (lines []string, leads []page.Lead) {
	var d page.Page
	srv, st := s.Config(), s.Status()
	mark, began := StateMark(s, st), page.Text{S: since(st), Tone: page.Quiet}
	if paint.Width(mark.String()+" "+began.S) > w-page.LabelWidth {
		d.Styled("state", mark.Text()).Styled("", began)
	} else {
		d.Styled("state", mark.Text(), began)
	}
	if srv.Problem != nil {
		d.Paragraph(page.Bad, "✗ "+ErrorText(srv.Problem)).Paragraph(page.Quiet, "Correct "+place(srv.Source)+" and start again.").Line(page.Plain, "")
	}
	if o := s.Outdated(); o != nil && o.Removed {
		d.Note("Its entry is gone from " + srv.Source.File + ". It stays here until it is disconnected.")
	} else if o != nil {
		d.Note("Its entry in " + srv.Source.File + " changed. What runs is as it was before; the next connection is made with the new one.")
	}
	if names := inputNames(srv); srv.Problem == nil {
		d.Field("asks for", names)
	}
	if srv.Problem == nil && (st.State == session.Failed && st.Err != nil || st.State == session.NeedsLogin || st.State == session.Connecting || st.PID > 0 && st.State == session.Disconnected) {
		(&starting{Page: &d, brief: true}).add(s, st)
		d.Line(page.Plain, "")
	}
	if st.State == session.Disconnected && srv.Problem == nil && st.Retired != "" {
		d.Note("The connection was closed: " + st.Retired + ". Press enter to connect again.")
	} else if st.State == session.Disconnected && srv.Problem == nil {
		d.Note("Press enter to connect.")
	}
	pages.Connection(&d, st)
	pages.Leads(&d, s, st, known)
	d.Line(page.Plain, "")
	for _, f := range config.Describe(srv) {
		switch {
		case f.Label == "server":
		case f.Label == "from" && srv.Source.File != "" && srv.Source.Published == nil:
			d.Field("from", place(srv.Source)+" ("+config.ProgramOf(srv.Source.Dialect)+")")
			for _, also := range srv.Also {
				d.Field("also in", place(also)+" ("+config.ProgramOf(also.Dialect)+")")
			}
			d.Field("", keys)
		default:
			d.Field(f.Label, f.Value)
		}
	}
	if len(srv.Roots) > 0 {
		d.Field("", "! roots are "+offer.Deprecated("roots"))
	}
	if st.PID > 0 {
		d.Field("process", fmt.Sprint(st.PID))
	}
	if st.SessionID != "" {
		d.Field("session", mask.Hidden)
	}
	if c := s.Presented(); c != nil {
		ClientRows(&d, c)
	}
	if st.Latency > 0 {
		d.Field("latency", text.Duration(st.Latency))
	}
	if use := s.Use(); use.Calls > 0 {
		requests := fmt.Sprint(use.Calls)
		if use.Failed > 0 {
			requests += fmt.Sprintf(", %d failed", use.Failed)
		}
		d.Field("requests", requests)
	}
	if a := s.Authorizer(); a != nil {
		if known := a.Known(); known.LoggedIn {
			d.Heading("Login")
			Login(&d, known, false)
		}
	}
	identity(&d, st.ServerInfo)
	pages.Offered(&d, st)
	cache(&d, s)
	return d.Leads(c.Theme, w)
}

// since is how long a state has been, for states that are not expected to end.
func since(st session.Status) string {
	if st.Since.IsZero() || st.Conn == 0 && st.State == session.Disconnected { // nobody wanted it yet
		return ""
	}
	return "since " + st.Since.Format(time.TimeOnly)
}

// identity is what the server calls itself, every member as sent.
func identity(p *page.Page, info []byte) {
	const most = 100 // members
	if len(info) == 0 {
		return
	}
	p.Heading("Server")
	n := 0
	_ = jsonrpc.Members(info, func(key string, value []byte) bool {
		if n++; key == "icons" {
			icons(p, value)
		} else {
			member(p, key, PlainValue(value))
		}
		return n < most
	})
}

// member is one member of an object that a server sent. Its name is cut, so that the values stay below each other.
func member(p *page.Page, key, value string) {
	p.Field(safe.Line(key, page.LabelWidth-1), cmp.Or(value, `""`))
}

// cache lists how long the server says that its lists may be kept.
func cache(p *page.Page, s *session.Session) {
	first := true
	for k := range offer.NumKinds {
		list := s.Listing(k)
		hints := list.Hints.String()
		if hints == "" {
			continue
		}
		if first {
			p.Heading("Cache")
			first = false
		}
		if ttl := list.Hints.TTL; ttl != nil && *ttl > 0 {
			hints += ", until " + list.Expires.Format(time.TimeOnly)
		}
		member(p, k.String(), hints)
	}
}

// inputNames are what a server has to be told before it starts.
func inputNames(srv config.Server) string {
	var names []string
	for _, in := range srv.Inputs {
		names = append(names, in.Name)
	}
	return strings.Join(names, ", ")
}
