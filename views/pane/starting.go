package pane

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/diagnosis"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/shell"
)

// startLines is what there is to say of a server that is not connected: what is being waited for or went wrong, its command, the
// end of its stderr, and the keys that help. Where the command stands elsewhere it is left out.
func startLines(th *tui.Theme, s *session.Session, st session.Status, w int, command bool) []string {
	l := NewDetails(th, w)
	l.brief = !command
	name, srv := safe.Line(s.Title(), 80), s.Config()
	switch {
	case st.State == session.Connecting:
		l.starting(name, srv, st)
	case st.State == session.NeedsLogin:
		l.needsLogin(name, s, st)
	case st.State == session.Failed:
		l.failed(srv, st)
	case st.PID > 0:
		l.paragraph(th.Text, spinner()+" "+name+" is ending.")
		l.paragraph(th.Muted, "What it does at the moment may finish first. Press r to start again after that.")
	default:
		l.paragraph(th.Text, name+" is not connected.")
		l.paragraph(th.Muted, "Press r to connect"+l.servers()+".")
	}
	return l.Lines
}

// starting is an attempt that runs.
func (l *Details) starting(name string, srv config.Server, st session.Status) {
	what, next := "Connecting to ", "Press x to give up."
	if srv.Command != "" {
		what, next = "Starting ", "It goes on until it answers, or you press x to give up."
		if diagnosis.Installs(srv.Command, srv.Args) {
			next = "It may have to be downloaded first. " + next
		}
	}
	waited := tui.Elapsed(time.Since(st.Since).Truncate(time.Second))
	l.paragraph(l.th.Text, strings.TrimRight(spinner()+" "+what+name+"… "+waited, " "))
	l.command(srv)
	l.stderr(st.Stderr, 3)
	l.paragraph(l.th.Muted, next)
}

// needsLogin is a server that answered, and wants to know who asks.
func (l *Details) needsLogin(name string, s *session.Session, st session.Status) {
	th := l.th
	known := s.Authorizer().Known()
	what, does := " wants a login.", "log in, and see every step of it"
	bare := tui.Unnamed(s)
	if bare {
		what, does = " wants credentials; its answer names no place to log in.", "look for a login all the same"
	}
	l.paragraph(th.Login, tui.Locked.Glyph()+" "+name+what)
	if bare {
		l.paragraph(th.Text, `Give it a token or an API key in a header of its configuration, or in the shell: -H "Authorization: Bearer …"`)
	}
	var e *failure.Error
	if errors.As(st.Err, &e) && (e.Reason+e.Detail != "" || known.LoggedIn) {
		l.paragraph(th.Text, ErrorText(&failure.Error{Message: e.Message, Reason: e.Reason, Detail: e.Detail}))
	}
	if l.brief { // the list of servers, where r connects
		l.key("enter", does)
		l.paragraph(th.Muted, "Press r to connect again, 6 for the traffic.")
		return
	}
	l.key("r", does)
	l.paragraph(th.Muted, "Press 6 for the traffic"+l.servers()+".")
}

// failed is an attempt that failed, or a connection that was lost.
func (l *Details) failed(srv config.Server, st session.Status) {
	said, ended, err, name := "", "", st.Err, MissingVariable(st)
	var e *failure.Error
	if errors.As(err, &e) && srv.Command != "" {
		c := *e
		said, c.Detail = c.Detail, ""
		if name != "" || said != "" && c.Remedy == "" && c.Reason == "" { // a key below does it, or what to read stands there
			c.Next, c.Remedy = "", ""
		}
		if c.Reason != "" { // first; how it ended stands below
			c.Stage, c.Message, c.Reason, c.Next = "", c.Reason, "", strings.TrimPrefix(c.Next, c.Reason+": ")
			ended = (&failure.Error{Stage: e.Stage, Message: e.Message}).Error()
		}
		err = &c
	}
	l.Lines = append(l.Lines, errorMessage(l.th, l.w, ErrorText(err), "")...)
	if ended != "" {
		l.Lines = append(l.Lines, paragraphs(l.th, l.w, l.th.Muted, safe.Text(ended), "")[1:]...)
	}
	l.command(srv)
	if name != "" {
		l.key("e", "set "+name+" and start again")
	}
	l.key("!", "find out why, stage by stage")
	if left := tui.Countdown(st.RetryAt); left != "" {
		l.paragraph(l.th.Muted, fmt.Sprintf("Attempt %d in %s. Press r to try now, :disconnect to stop.", st.Attempt+1, left))
	} else if srv.Command != "" {
		l.paragraph(l.th.Muted, "Press r to start again, :logs for all of stderr"+l.servers()+".")
	} else {
		l.paragraph(l.th.Muted, "Press r to connect again, 6 for the traffic"+l.servers()+".")
	}
	if name != "" {
		srv.Env = maps.Clone(srv.Env)
		delete(srv.Env, name) // it may have a value that did not do
		if line, err := (shell.Invocation{}).On(srv); err == nil {
			l.paragraph(l.th.Muted, "In the shell: "+safe.Line(strings.Replace(line, "mcphud", "mcphud -e "+name+"=…", 1), 0))
		}
	}
	l.stderr(said, 10) // last: what is above must be seen at any height
}

// paragraph adds a blank line and wrapped text.
func (l *Details) paragraph(style paint.Style, s string) {
	l.Lines = append(l.Lines, paragraphs(l.th, l.w, style, s, "")...)
}

// servers says how to get to the list of servers, where it is not on the screen.
func (l *Details) servers() string {
	if l.brief {
		return ""
	}
	return ", 1 for the servers"
}

// ConnectWord is what connecting does to a server at present, "" for connecting it again while it is connected.
func ConnectWord(s *session.Session) string {
	if s == nil {
		return ""
	}
	switch st := s.Status(); {
	case st.State == session.Connected || st.State == session.Connecting:
		return ""
	case st.State == session.Disconnected:
		return "connect"
	case st.State == session.NeedsLogin:
		return "log in"
	case s.Config().Command != "":
		return "start again"
	}
	return "connect again"
}

func (l *Details) key(key, does string) {
	l.Lines = append(l.Lines, "", " "+l.th.Accent.S(key)+"  "+l.th.Text.S(paint.Cut(does, l.w-5)))
}

// command is what is run or contacted.
func (l *Details) command(srv config.Server) {
	if l.brief {
		return
	}
	sign := ""
	if srv.Command != "" {
		sign = "$ "
	}
	lines := paint.Wrap(sign+safe.Line(text.Clip(srv.Masked().Destination(), 1000), 0), l.w-2)
	if len(lines) > 3 {
		lines = append(lines[:3], "…")
	}
	l.paragraph(l.th.Text, strings.Join(lines, "\n"))
}

// stderr is the last lines that a child wrote, at most as many as given.
func (l *Details) stderr(said string, most int) {
	if said = strings.TrimSpace(said); said == "" {
		return
	}
	l.Lines = append(l.Lines, "")
	lines := strings.Split(said, "\n")
	label := " stderr │ "
	for _, line := range lines[max(len(lines)-most, 0):] {
		for _, piece := range paint.Wrap(safe.Line(text.Clip(line, 500), 0), l.w-len(" stderr | ")-1) {
			l.Lines = append(l.Lines, l.th.Muted.S(label)+l.th.Text.S(piece))
			label = "        │ "
		}
	}
}

// MissingVariable is the environment variable for want of which a server did not start, "" if its stderr named none.
func MissingVariable(st session.Status) string {
	var e *failure.Error
	if st.State == session.Failed && errors.As(st.Err, &e) && e.Remedy == failure.SetVariable && e.Object != "PATH" {
		return e.Object
	}
	return ""
}
