package pane

import (
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
	th := c.Theme
	srv, st := s.Config(), s.Status()
	l := NewDetails(th, w)
	mark := StateMark(s, st)
	state, began, style := mark.String(), since(st), mark.Tone.Style(th)
	if paint.Width(state+" "+began) > w-labelWidth && began != "" {
		l.Styled("state", style.S(state))
		l.Styled("", th.Muted.S(began))
	} else {
		l.Styled("state", style.S(state)+" "+th.Muted.S(began))
	}
	if srv.Problem != nil {
		l.failure(srv.Problem, "Correct "+place(srv.Source)+" and start again.")
	}
	if o := s.Outdated(); o != nil && o.Removed {
		l.note("Its entry is gone from " + srv.Source.File + ". It stays here until it is disconnected.")
	} else if o != nil {
		l.note("Its entry in " + srv.Source.File + " changed. What runs is as it was before; the next connection is made with the new one.")
	}
	if names := inputNames(srv); names != "" && srv.Problem == nil {
		l.Row("asks for", names)
	}
	if srv.Problem == nil && (st.State == session.Failed && st.Err != nil || st.State == session.NeedsLogin || st.State == session.Connecting || st.PID > 0 && st.State == session.Disconnected) {
		l.Lines = append(append(l.Lines, startLines(th, s, st, w, false)...), "")
	}
	if st.State == session.Disconnected && srv.Problem == nil && st.Retired != "" {
		l.note("The connection was closed: " + st.Retired + ". Press enter to connect again.")
	} else if st.State == session.Disconnected && srv.Problem == nil {
		l.note("Press enter to connect.")
	}
	var connection, sections page.Page
	pages.Connection(&connection, st)
	l.Page(connection)
	pages.Leads(&sections, s, st, known)
	rows, leads := sections.Leads(th, w)
	for i := range leads {
		leads[i].Line += len(l.Lines)
	}
	l.Lines = append(append(l.Lines, rows...), "")
	for _, f := range config.Describe(srv) {
		switch {
		case f.Label == "server":
		case f.Label == "from" && srv.Source.File != "" && srv.Source.Published == nil:
			l.Row("from", place(srv.Source)+" ("+config.ProgramOf(srv.Source.Dialect)+")")
			for _, also := range srv.Also {
				l.Row("also in", place(also)+" ("+config.ProgramOf(also.Dialect)+")")
			}
			if keys != "" {
				l.Row("", keys)
			}
		default:
			l.Row(f.Label, f.Value)
		}
	}
	if len(srv.Roots) > 0 {
		l.Row("", "! roots are "+offer.Deprecated("roots"))
	}
	if st.PID > 0 {
		l.Row("process", fmt.Sprint(st.PID))
	}
	if st.SessionID != "" {
		l.Row("session", mask.Hidden)
	}
	if c := s.Presented(); c != nil {
		var presented page.Page
		ClientRows(&presented, c)
		l.Page(presented)
	}
	if st.Latency > 0 {
		l.Row("latency", text.Duration(st.Latency))
	}
	if use := s.Use(); use.Calls > 0 {
		requests := fmt.Sprint(use.Calls)
		if use.Failed > 0 {
			requests += fmt.Sprintf(", %d failed", use.Failed)
		}
		l.Row("requests", requests)
	}
	if a := s.Authorizer(); a != nil {
		if known := a.Known(); known.LoggedIn {
			l.heading("Login")
			l.Login(known, false)
		}
	}
	l.identity(st.ServerInfo)
	var offered page.Page
	pages.Offered(&offered, st)
	l.Page(offered)
	l.cache(s)
	return l.Lines, leads
}

// since is how long a state has been, for states that are not expected to end.
func since(st session.Status) string {
	if st.Since.IsZero() || st.Conn == 0 && st.State == session.Disconnected { // nobody wanted it yet
		return ""
	}
	return "since " + st.Since.Format(time.TimeOnly)
}

// Details collects lines of the form "label  value".
type Details struct {
	th    *tui.Theme
	w     int
	brief bool // leaves out what another row says
	spare int  // rows that are free for what would be folded
	Lines []string
}

const labelWidth = 13

// NewDetails is empty; lines are built for w cells.
func NewDetails(th *tui.Theme, w int) *Details { return &Details{th: th, w: w} }

// Page adds the parts of a page.
func (l *Details) Page(p page.Page) { l.Lines = append(l.Lines, p.Lines(l.th, l.w)...) }

// Styled adds a line whose value is safe and styled already.
func (l *Details) Styled(label, value string) {
	l.Lines = append(l.Lines, l.th.Muted.S(paint.Fit(label, labelWidth))+value)
}

// Row adds a value that a server or the user gave, wrapped to the width.
func (l *Details) Row(label, value string) {
	for i, line := range paint.Wrap(safe.Text(text.Clip(value, 4000)), l.w-labelWidth) {
		if i > 0 {
			label = ""
		}
		l.Styled(label, line)
	}
}

func (l *Details) heading(s string) { l.Lines = append(l.Lines, "", l.th.Heading.S(s)) }

// Note adds muted text of ours, each wrapped.
func (l *Details) Note(texts ...string) {
	for _, s := range texts {
		l.note(s)
	}
}

func (l *Details) note(s string) {
	for _, line := range paint.Wrap(s, l.w) {
		l.Lines = append(l.Lines, l.th.Muted.S(line))
	}
}

func (l *Details) text(s string) {
	for _, line := range paint.Wrap(safe.Text(s), l.w) {
		l.Lines = append(l.Lines, l.th.Text.S(line))
	}
}

func (l *Details) failure(err error, next string) {
	l.Lines = append(l.Lines, errorMessage(l.th, l.w, ErrorText(err), next)...)
	l.Lines = append(l.Lines, "")
}

// identity is what the server calls itself, every member as sent.
func (l *Details) identity(info []byte) {
	if len(info) == 0 {
		return
	}
	l.heading("Server")
	_ = jsonrpc.Members(info, func(key string, value []byte) bool {
		if key == "icons" {
			l.icons(value)
			return true
		}
		l.Row(safe.Line(key, labelWidth-1), PlainValue(value))
		return len(l.Lines) < 400
	})
}

// cache lists how long the server says that its lists may be kept.
func (l *Details) cache(s *session.Session) {
	first := true
	for k := range offer.NumKinds {
		list := s.Listing(k)
		hints := list.Hints.String()
		if hints == "" {
			continue
		}
		if first {
			l.heading("Cache")
			first = false
		}
		if ttl := list.Hints.TTL; ttl != nil && *ttl > 0 {
			hints += ", until " + list.Expires.Format(time.TimeOnly)
		}
		l.Row(safe.Line(k.String(), labelWidth-1), hints)
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
