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
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/shell"
)

// starting is a page of a server that is not connected.
type starting struct {
	*page.Page
	brief bool // beside the list of servers, and below the command
}

// startPage is what there is to say of a server that is not connected, on a screen of another thing.
func startPage(s *session.Session, st session.Status) (p page.Page) {
	(&starting{Page: &p}).add(s, st)
	return p
}

// add says what is being waited for or went wrong, the command, the end of its stderr, and the keys that help.
func (p *starting) add(s *session.Session, st session.Status) {
	name, srv := safe.Line(s.Title(), 80), s.Config()
	switch {
	case st.State == session.Connecting:
		p.connecting(name, srv, st)
	case st.State == session.NeedsLogin:
		p.needsLogin(name, s, st)
	case st.State == session.Failed:
		p.failed(srv, st)
	case st.PID > 0:
		p.Paragraph(page.Plain, spinner()+" "+name+" is ending.")
		p.Paragraph(page.Quiet, "What it does at the moment may finish first. Press r to start again after that.")
	default:
		p.Paragraph(page.Plain, name+" is not connected.")
		p.Paragraph(page.Quiet, "Press r to connect"+p.servers()+".")
	}
}

// connecting is an attempt that runs.
func (p *starting) connecting(name string, srv config.Server, st session.Status) {
	what, next := "Connecting to ", "Press x to give up."
	if srv.Command != "" {
		what, next = "Starting ", "It goes on until it answers, or you press x to give up."
		if diagnosis.Installs(srv.Command, srv.Args) {
			next = "It may have to be downloaded first. " + next
		}
	}
	waited := tui.Elapsed(time.Since(st.Since).Truncate(time.Second))
	p.Paragraph(page.Plain, strings.TrimRight(spinner()+" "+what+name+"… "+waited, " "))
	p.command(srv)
	p.stderr(st.Stderr, 3)
	p.Paragraph(page.Quiet, next)
}

// needsLogin is a server that answered, and wants to know who asks.
func (p *starting) needsLogin(name string, s *session.Session, st session.Status) {
	known := s.Authorizer().Known()
	what, does := " wants a login.", "log in, and see every step of it"
	bare := tui.Unnamed(s)
	if bare {
		what, does = " wants credentials; its answer names no place to log in.", "look for a login all the same"
	}
	p.Paragraph(page.Login, tui.Locked.Glyph()+" "+name+what)
	if bare {
		p.Paragraph(page.Plain, `Give it a token or an API key in a header of its configuration, or in the shell: -H "Authorization: Bearer …"`)
	}
	var e *failure.Error
	if errors.As(st.Err, &e) && (e.Reason+e.Detail != "" || known.LoggedIn) {
		p.Paragraph(page.Plain, ErrorText(&failure.Error{Message: e.Message, Reason: e.Reason, Detail: e.Detail}))
	}
	if p.brief { // the list of servers, where r connects
		p.Key("enter", does)
		p.Paragraph(page.Quiet, "Press r to connect again, 6 for the traffic.")
		return
	}
	p.Key("r", does)
	p.Paragraph(page.Quiet, "Press 6 for the traffic"+p.servers()+".")
}

// failed is an attempt that failed, or a connection that was lost.
func (p *starting) failed(srv config.Server, st session.Status) {
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
	if ended != "" {
		p.Paragraph(page.Bad, "✗ "+ErrorText(err), page.Text{S: ended, Tone: page.Quiet})
	} else {
		p.Paragraph(page.Bad, "✗ "+ErrorText(err))
	}
	p.command(srv)
	if name != "" {
		p.Key("e", "set "+name+" and start again")
	}
	p.Key("!", "find out why, stage by stage")
	if left := tui.Countdown(st.RetryAt); left != "" {
		p.Paragraph(page.Quiet, fmt.Sprintf("Attempt %d in %s. Press r to try now, :disconnect to stop.", st.Attempt+1, left))
	} else if srv.Command != "" {
		p.Paragraph(page.Quiet, "Press r to start again, :logs for all of stderr"+p.servers()+".")
	} else {
		p.Paragraph(page.Quiet, "Press r to connect again, 6 for the traffic"+p.servers()+".")
	}
	if name != "" {
		srv.Env = maps.Clone(srv.Env)
		delete(srv.Env, name) // it may have a value that did not do
		if line, err := (shell.Invocation{}).On(srv); err == nil {
			p.Paragraph(page.Quiet, "In the shell: "+safe.Line(strings.Replace(line, "mcphud", "mcphud -e "+name+"=…", 1), 0))
		}
	}
	p.stderr(said, 10) // last: what is above must be seen at any height
}

// servers says how to get to the list of servers, where it is not on the screen.
func (p *starting) servers() string {
	if p.brief {
		return ""
	}
	return ", 1 for the servers"
}

// command is what is run or contacted, where it does not stand below.
func (p *starting) command(srv config.Server) {
	if p.brief {
		return
	}
	sign := ""
	if srv.Command != "" {
		sign = "$ "
	}
	p.Brief(3, page.Plain, sign+safe.Line(text.Clip(srv.Masked().Destination(), 1000), 0))
}

// stderr is the last lines that a child wrote, at most as many as given.
func (p *starting) stderr(said string, most int) {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	p.Quote("stderr", strings.Join(lines[max(len(lines)-most, 0):], "\n"))
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

// MissingVariable is the environment variable for want of which a server did not start, "" if its stderr named none.
func MissingVariable(st session.Status) string {
	var e *failure.Error
	if st.State == session.Failed && errors.As(st.Err, &e) && e.Remedy == failure.SetVariable && e.Object != "PATH" {
		return e.Object
	}
	return ""
}
