package servers

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
)

func (v *servers) actions() []tui.Action {
	return slices.Concat([]tui.Action{
		{
			ID: "servers.open", Verb: tui.VerbOpen, Title: "open", Group: "Server", Hint: 1, Pane: "list",
			Help: "Connect to the server if it is not, and go to its tools.", Disabled: v.nothing, Run: v.open,
		},
		{
			ID: "servers.connect", Verb: tui.VerbRun, Title: "reconnect", Group: "Server", Hint: 2,
			Help: "Connect, or disconnect and connect again.", Disabled: v.none, Run: v.reconnect,
			Now: func(*tui.Ctx) string {
				if s := v.selected(); s != nil && s.Status().State == session.NeedsLogin {
					return "connect again"
				}
				return pane.ConnectWord(v.selected())
			},
		},
		v.sectionAction(),
		pane.VariableAction("servers", func(*tui.Ctx) *session.Session { return v.selected() }),
		{
			ID: "servers.login", Word: "login", Title: "log in", Group: "Server", Hint: 1,
			Help:     "Log in at the server where it wants that, and see every step of it; else show the login.",
			Hinted:   func(*tui.Ctx) bool { return tui.WantsLogin(v.selected()) },
			Disabled: v.noLogin,
			Run: func(c *tui.Ctx) tea.Cmd {
				if s := v.selected(); tui.WantsLogin(s) {
					return c.NavigateOn(s.Name(), "login", tui.LogIn{})
				}
				return c.NavigateOn(v.selected().Name(), "login", nil)
			},
		},
		{
			ID: "servers.doctor", Verb: tui.VerbDoctor, Title: "doctor", Group: "Server", Hint: 2,
			Help:   "Find out why the server does not connect, or whether it does all that it declares, stage by stage.",
			Hinted: func(*tui.Ctx) bool { return tui.FailedToConnect(v.selected()) }, Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd { return c.NavigateOn(v.selected().Name(), "doctor", v.selected().Name()) },
		},
		pane.CheckAction("servers", func(*tui.Ctx) *session.Session { return v.selected() }),
		pane.SkillsAction("servers", func(*tui.Ctx) *session.Session { return v.selected() }),
		{
			ID: "servers.disconnect", Word: "disconnect", Title: "disconnect", Group: "Server", Hint: 3,
			Help: "End the connection; a stdio server's process ends with it.", Disabled: v.notUp, Run: v.disconnect,
		},
		{
			ID: "servers.ping", Word: "ping", Title: "ping", Group: "Server", Hint: 4,
			Help: "Ping the server and show the round-trip time.", Disabled: v.notConnected, Run: v.ping,
		},
		v.cardAction(),
		v.secretsAction(),
		{
			ID: "servers.roots", Word: "roots", Title: "roots", Group: "Server",
			Help: "Edit the roots that the server is told when it asks for them.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd { return c.NavigateOn(v.selected().Name(), "roots", nil) },
		},
		{
			ID: "servers.traffic", Verb: tui.VerbFrames, Title: "traffic", Group: "Server",
			Help: "Go to the traffic.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("traffic", nil) },
		},
		{
			ID: "servers.registry", Word: "registry", Title: "registry", Group: "Server", Hint: 7,
			Help: "Search a registry for servers that others have published.",
			Run:  func(c *tui.Ctx) tea.Cmd { return c.Navigate("registry", nil) },
		},
		{
			ID: "servers.all", Word: "all", Title: "tools of all", Group: "Server",
			Help: "Go to the tools of all servers in one list, which source:mcp and server:NAME filter.",
			Run:  func(c *tui.Ctx) tea.Cmd { return c.Navigate("toolset", nil) },
		},
		{
			ID: "servers.add", Verb: tui.VerbAdd, Title: "add", Group: "Server", Hint: 5,
			Help: "Add servers: type or paste a command line, a URL, or the JSON of another program, and choose where to keep them.", Run: v.add,
		},
		{
			ID: "servers.paste", Word: "paste", Title: "paste JSON", Group: "Server",
			Help: "Add servers from the JSON of another program: an entry, a part of a file, or all of it.", Run: v.paste,
		},
		{
			ID: "servers.template", Word: "popular", Title: "from a template", Group: "Server",
			Help: "Add a well-known server, which only needs to be told what is yours.", Run: v.template,
		},
		{
			ID: "servers.files", Word: "files", Title: "files", Group: "Server",
			Help: "List the configuration files that are looked for, and what became of each.", Disabled: v.noFiles, Run: v.files,
		},
		{
			ID: "servers.demo", Verb: tui.VerbElsewhere, Title: "demo", Group: "Server",
			Help: "Open the bundled demo, which needs nothing else, where there are no servers.", Disabled: v.noDemo, Run: v.demo,
			Applies: func(c *tui.Ctx) bool { return v.noDemo(c) == "" },
		},
	}, v.entryActions(), personaActions("servers", func(*tui.Ctx) *session.Session { return v.selected() }))
}
