package traffic

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// choose asks where to send the request: to a server that is listed, to this one in another protocol version, or to one that is named
// now.
func (v *resend) choose(c *tui.Ctx) tea.Cmd {
	return c.Pick("Send to", append(append(v.servers(c), v.versions()...), tui.Option{
		Group: "Another", Title: "a command, a URL or JSON…", Help: "Connect to a server that is not listed, such as another build.", Run: v.name,
	}))
}

// servers are the listed ones, each a path: direct or through a router.
func (v *resend) servers(c *tui.Ctx) (out []tui.Option) {
	for _, s := range v.sessions(c).Servers() {
		cfg, st := s.Config(), s.Status()
		p := tui.Option{Group: "Servers", Title: s.Title(), Run: func(c *tui.Ctx) tea.Cmd { return v.send(c, target{s: s}) }}
		p.Help = string(st.State) + " · " + cfg.Masked().Destination()
		switch {
		case cfg.Disabled:
			p.Disabled = "it is disabled in " + cfg.Source.String()
		case cfg.Problem != nil:
			p.Disabled = cfg.Problem.Error()
		case v.req.Missing(s):
			p.Disabled = fmt.Sprintf("it does not list %s", v.req.Tool())
		}
		if s == v.to.s {
			p.Title += " (as before)"
		}
		out = append(out, p)
	}
	return out
}

// versions are those of the protocol, at the server that the request was sent to.
func (v *resend) versions() (out []tui.Option) {
	s := v.to.s
	if s == nil {
		return nil
	}
	st, cfg := s.Status(), s.Config()
	for _, version := range mcp.ValidProtocolVersions {
		to := target{s, version}
		p := tui.Option{
			Group: "Protocol versions of " + safe.Line(s.Title(), 40), Title: version, Help: "Over a second connection to " + s.Title() + ", which is closed again.",
			Run: func(c *tui.Ctx) tea.Cmd { return v.sendIn(c, to) },
		}
		switch {
		case st.State != session.Connected:
			p.Disabled = "the server is not connected"
		case version == st.Version:
			p.Disabled = "it is spoken already"
		case mcp.IsModernProtocol(version) && (st.Transport == config.SSE || st.Transport == config.WS):
			p.Disabled = "the transport " + st.Transport + " does not exist in it"
		}
		if cfg.Command != "" {
			p.Help = "Starts the command a second time, and ends it after the answer."
		}
		out = append(out, p)
	}
	return out
}

// sendIn says first that a command is started a second time.
func (v *resend) sendIn(c *tui.Ctx, to target) tea.Cmd {
	cfg := to.s.Config()
	if cfg.Command == "" {
		return v.send(c, to)
	}
	return c.Confirm(tui.Confirmation{
		Title: "Start a second process?",
		Body: fmt.Sprintf("To ask %s in %s, its command is started once more, and ended after the answer:\n\n%s",
			safe.Line(to.s.Title(), 60), to.version, safe.Line(cfg.Masked().Destination(), 500)),
		Yes: "start and send", No: "cancel",
		OnYes: func(c *tui.Ctx) tea.Cmd { return v.send(c, to) },
	})
}

// name asks for a server that is not listed.
func (v *resend) name(c *tui.Ctx) tea.Cmd {
	return c.Ask(tui.Question{
		Label: "command, URL or JSON",
		Check: func(text string) string {
			switch list, err := config.Pasted(text, v.Where); {
			case err != nil:
				return err.Error()
			case len(list) != 1:
				return fmt.Sprintf("it names %d servers: name one", len(list))
			}
			return ""
		},
		OnDone: func(c *tui.Ctx, text string) tea.Cmd {
			list, err := config.Pasted(text, v.Where)
			if err != nil {
				return c.Toast(tui.Failure, err.Error())
			}
			s, err := pane.Register(v.sessions(c), list[0])
			if err != nil {
				return c.Toast(tui.Failure, err.Error())
			}
			return v.send(c, target{s: s})
		},
	})
}
