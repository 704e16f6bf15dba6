package pane

import (
	"fmt"
	"slices"
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
)

// StateMark is a server's state as glyph, word and colour.
func StateMark(th *tui.Theme, s *session.Session, st session.Status) (glyph, word string, style paint.Style) {
	health, srv := tui.HealthOf(st.State), s.Config()
	switch {
	case srv.Problem != nil:
		return tui.Unhealthy.Glyph(), "cannot start", th.Error
	case srv.Disabled && health == tui.Stopped:
		return "⊘", "disabled", th.Muted
	case st.Retired != "":
		return health.Glyph(), "closed", health.Style(th)
	}
	return health.Glyph(), tui.StateWord(s, st), health.Style(th)
}

// Target is what a server runs or contacts, secrets masked.
func Target(srv config.Server) string {
	srv = srv.Masked()
	if srv.Command != "" {
		return strings.Join(append([]string{srv.Command}, srv.Args...), " ")
	}
	return srv.URL
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

// ServerLines is everything known of a server. place is where an entry is, for people; keys are those that change it, "" where none does.
func ServerLines(c *tui.Ctx, s *session.Session, w int, place func(config.Source) string, keys string) []string {
	th := c.Theme
	srv, st := s.Config(), s.Status()
	l := NewDetails(th, w)
	glyph, word, style := StateMark(th, s, st)
	state, began := glyph+" "+word, since(st)
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
	if st.Version != "" {
		l.Row("protocol", fmt.Sprintf("%s (%s era) over %s", st.Version, st.Era, config.TransportName(st.Transport)))
	}
	if old := offer.Deprecated(st.Transport); old != "" && st.Version != "" {
		l.Row("", "! HTTP+SSE is "+old)
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
	l.capabilities(s, st)
	l.extensions(st)
	l.cache(s)
	if st.Instructions != "" {
		l.heading("Instructions")
		l.text(text.Clip(st.Instructions, 32<<10))
	}
	return l.Lines
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

// offers are the capabilities a server can advertise, in the order of the screens.
var offers = []string{"tools", "resources", "prompts", "completions", "logging", "tasks", "extensions", "experimental"}

// capabilities lists what the server advertises, and in muted colour what it does not.
func (l *Details) capabilities(s *session.Session, st session.Status) {
	if st.State != session.Connected && len(st.Capabilities) == 0 {
		return
	}
	l.heading("Capabilities")
	got := map[string]string{}
	var others []string
	_ = jsonrpc.Members(st.Capabilities, func(key string, value []byte) bool {
		got[key] = capabilityText(value)
		if !slices.Contains(offers, key) && len(others) < 50 {
			others = append(others, key)
		}
		return true
	})
	for _, name := range append(offers[:len(offers):len(offers)], others...) {
		if about, ok := got[name]; ok {
			l.Lines = append(l.Lines, strings.TrimRight(l.th.OK.S("✓ ")+safe.Line(name, 60)+" "+l.th.Muted.S(safe.Line(about, 300)), " "))
			if old := offer.Deprecated(name); old != "" {
				for i, row := range paint.Wrap(old, l.w-4) {
					l.Lines = append(l.Lines, "  "+l.th.Warn.S([]string{"! ", "  "}[min(i, 1)])+l.th.Muted.S(row))
				}
			}
		} else {
			l.Lines = append(l.Lines, l.th.Muted.S("· "+name+" not offered"))
		}
	}
}

// extensions lists what the server offers beyond the core protocol, and what is done about each.
func (l *Details) extensions(st session.Status) {
	all := offer.Extensions(st.Capabilities)
	if len(all) == 0 {
		return
	}
	l.heading("Extensions")
	for _, e := range all {
		line := safe.Line(e.Name, 120)
		if e.Experimental {
			line += " (experimental)"
		}
		if e.Settings != "{}" && e.Settings != "true" {
			line += " " + l.th.Muted.S(safe.Line(e.Settings, 200))
		}
		l.Lines = append(l.Lines, line)
		for _, row := range paint.Wrap(e.Support, l.w-2) {
			l.Lines = append(l.Lines, "  "+l.th.Muted.S(row))
		}
	}
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

// capabilityText is a capability's members in a line: "listChanged, subscribe".
func capabilityText(value []byte) string {
	var parts []string
	err := jsonrpc.Members(value, func(key string, v []byte) bool {
		switch string(v) {
		case "true", "{}":
			parts = append(parts, key)
		default:
			parts = append(parts, key+" "+text.Clip(string(v), 80))
		}
		return len(parts) < 20
	})
	if err != nil {
		return text.Clip(string(value), 80)
	}
	return strings.Join(parts, ", ")
}

// inputNames are what a server has to be told before it starts.
func inputNames(srv config.Server) string {
	var names []string
	for _, in := range srv.Inputs {
		names = append(names, in.Name)
	}
	return strings.Join(names, ", ")
}
