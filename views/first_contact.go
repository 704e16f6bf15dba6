package views

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/atomicfile"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// Configs is where servers come from besides the command line.
type Configs struct {
	// Where says which files are read, and expands variables in what is pasted.
	Where config.Options
	// Looked are the files that were looked for; nil where other servers were named, and none of them is written.
	Looked []config.File
	// Demo opens the bundled demo once the UI has ended; nil where there is none.
	Demo func()
}

// ownFile is the configuration file that is written for the user, in the working folder.
const ownFile = "mcphud.yaml"

// example is what that file starts from.
const example = `# The servers that mcphud lists in this folder. It asks before it starts one. All members: mcphud help config
servers:
#  everything:
#    command: npx
#    args: [-y, "@modelcontextprotocol/server-everything", stdio]
#    env:
#      TOKEN: ${TOKEN}
#  remote:
#    url: https://example.com/mcp
#    headers:
#      Authorization: Bearer ${REMOTE_TOKEN}
`

// starter is a row of the list without servers: something to begin with.
type starter struct {
	key, title string
	run        func(*tui.Ctx) tea.Cmd
}

func (v *servers) starters(c *tui.Ctx) []starter {
	out := []starter{{"a", "add one: paste a command, a URL or an mcpServers JSON", v.add}}
	if v.configs != nil && v.configs.Demo != nil {
		out = append(out, starter{"D", "try the bundled demo (offline)", v.demo})
	}
	if v.noConfigs(c) == "" && !c.Linear { // there is no editor in linear mode
		out = append(out, starter{"e", "write ./" + ownFile + " in $EDITOR", v.edit})
	}
	return out
}

// starterRows draws them.
type starterRows struct {
	list []starter
	th   *tui.Theme
}

// Len is the number of rows.
func (r starterRows) Len() int { return len(r.list) }

// Row is the key and what it does.
func (r starterRows) Row(i, w int) string {
	return paint.Cut(" "+r.th.Accent.S(r.list[i].key)+"  "+r.list[i].title, w)
}

// drawFirst fills the list pane where there are no servers.
func (v *servers) drawFirst(c *tui.Ctx, p *tui.Pane) {
	p.Title, p.Badge, p.Foot = "No servers yet", "", ""
	rows := starterRows{v.starters(c), c.Theme}
	v.List.SetTheme(c.Theme)
	v.List.SetRows(rows)
	v.List.SetSize(p.W, min(rows.Len(), p.H))
	v.List.SetFocus(p.Focused)
	p.Lines = append(p.Lines[:0], v.List.Lines()...)
	p.Lines = append(p.Lines, v.hints(c.Theme, p.W)...)
	p.Selected, p.Scroll = v.List.Line(), tui.Scroll{}
}

// hints are the commands of the shell that open a server, and where was looked.
func (v *servers) hints(th *tui.Theme, w int) []string {
	l := pane.NewDetails(th, w)
	l.Note("", " or from the shell:", "    mcphud -- npx -y @modelcontextprotocol/server-everything stdio", "    mcphud https://host/mcp")
	if v.configs != nil && len(v.configs.Looked) > 0 {
		l.Note("", " looked in:")
		for _, path := range v.looked() {
			l.Note("    " + path)
		}
	}
	return l.Lines
}

// looked are the files that were looked for, below the home and the working folder without these.
func (v *servers) looked() (out []string) {
	for _, f := range v.configs.Looked {
		path := f.Path
		if rel, err := filepath.Rel(v.configs.Where.Cwd, path); err == nil && f.Project {
			path = rel
		} else if rel, err := filepath.Rel(v.configs.Where.Home, path); err == nil && v.configs.Where.Home != "" && !strings.HasPrefix(rel, "..") {
			path = "~/" + filepath.ToSlash(rel)
		}
		out = append(out, safe.Line(path, 200))
	}
	return out
}

// add asks for servers, and opens the one or lists the many. They are not saved.
func (v *servers) add(c *tui.Ctx) tea.Cmd {
	var where config.Options
	if v.configs != nil {
		where = v.configs.Where
	}
	return c.Ask(tui.Question{
		Label: "command, URL or JSON",
		Check: func(text string) string {
			if _, err := config.Pasted(text, where); err != nil {
				return err.Error()
			}
			return ""
		},
		OnDone: func(c *tui.Ctx, text string) tea.Cmd {
			list, err := config.Pasted(text, where)
			if err != nil {
				return c.Toast(tui.Failure, err.Error())
			}
			var added []*session.Session
			for _, srv := range list {
				s, err := register(c.Sessions, srv)
				if err != nil {
					return c.Toast(tui.Failure, err.Error())
				}
				added = append(added, s)
			}
			first := added[0]
			note := fmt.Sprintf("%s added for this run; enter opens one", pane.Count(len(added), "server"))
			if len(added) == 1 {
				note = first.Name() + " added for this run; y m copies its entry"
			}
			cmd := tea.Batch(v.sync(c), c.Toast(tui.Note, note), c.SelectServer(first.Name()))
			v.selectNamed(first.Name())
			if len(added) > 1 {
				return cmd
			}
			return tea.Batch(cmd, v.openServer(c, first))
		},
	})
}

// notOurs is why a server cannot be taken off the list: what a file names comes back with the next start.
func (v *servers) notOurs(c *tui.Ctx) string {
	if why := v.none(c); why != "" {
		return why
	}
	if src := v.selected().Config().Source; src.File != "" {
		return "it is in " + src.String()
	}
	return ""
}

func (v *servers) remove(c *tui.Ctx) tea.Cmd {
	m, name := c.Sessions, v.selected().Name()
	cmd, _ := c.Replace("servers", "remove\x00"+name, "remove "+safe.Line(v.selected().Title(), 80), func(context.Context) (any, error) {
		return removed{}, m.Unregister(name)
	})
	return cmd
}

// removed is the outcome of taking a server off the list.
type removed struct{}

// register adds a server under the first name that is free.
func register(m *session.Manager, srv config.Server) (*session.Session, error) {
	name := srv.Name
	for n := 2; ; n++ {
		if _, taken := m.Server(srv.Name); !taken {
			return m.Register(srv)
		}
		srv.Name = fmt.Sprintf("%s-%d", name, n)
	}
}

// demo ends the UI; who started it opens the demo.
func (v *servers) demo(*tui.Ctx) tea.Cmd {
	v.configs.Demo()
	return tea.Quit
}

func (v *servers) noDemo(*tui.Ctx) string {
	switch {
	case v.configs == nil || v.configs.Demo == nil:
		return "not available here"
	case len(v.all) > 0:
		return "there are servers; start it with: mcphud demo"
	}
	return ""
}

// ownPath is where the configuration file of the working folder is.
func (v *servers) ownPath() string { return filepath.Join(v.configs.Where.Cwd, ownFile) }

func (v *servers) noConfigs(*tui.Ctx) string {
	if v.configs == nil || v.configs.Looked == nil || len(v.configs.Where.Files) > 0 {
		return "the servers here come from elsewhere"
	}
	return ""
}

// What comes of reading and of writing ./mcphud.yaml.
type (
	opened   struct{ text string }
	reloaded struct {
		added    int
		problems []string
	}
)

// edit opens ./mcphud.yaml, or an example of one.
func (v *servers) edit(c *tui.Ctx) tea.Cmd {
	path := v.ownPath()
	cmd, _ := c.Replace("servers", "edit", "read "+ownFile, func(context.Context) (any, error) {
		b, err := atomicfile.Read(path, 1<<20)
		if errors.Is(err, fs.ErrNotExist) {
			return opened{example}, nil
		}
		return opened{string(b)}, err
	})
	return cmd
}

// write saves what the editor made of ./mcphud.yaml, and takes in what it says.
func (v *servers) write(c *tui.Ctx, text string) tea.Cmd {
	path, where, m := v.ownPath(), v.configs.Where, c.Sessions
	cmd, _ := c.Replace("servers", "edit", "write "+ownFile, func(context.Context) (any, error) {
		if err := atomicfile.Write(path, []byte(text)); err != nil {
			return nil, err
		}
		set, err := config.Load(where)
		out := reloaded{}
		for _, w := range set.Warnings {
			if w.File == path {
				out.problems = append(out.problems, strings.TrimPrefix(w.String(), filepath.Dir(path)+string(filepath.Separator)))
			}
		}
		for _, srv := range set.Servers {
			changed, err := renew(m, srv)
			if err != nil {
				return out, err
			}
			if changed {
				out.added++
			}
		}
		return out, err
	})
	return cmd
}

// renew takes in an entry that is new, or that changed while its server is not in use.
func renew(m *session.Manager, srv config.Server) (bool, error) {
	if s, ok := m.Server(srv.Name); ok {
		have := s.Config()
		if have.Source.File != srv.Source.File || have.Fingerprint() == srv.Fingerprint() && (have.Problem == nil) == (srv.Problem == nil) ||
			s.Status().State == session.Connected || s.Status().State == session.Connecting {
			return false, nil
		}
		if err := m.Unregister(srv.Name); err != nil {
			return false, err
		}
	}
	_, err := m.Register(srv)
	return err == nil, err
}

// took says what came of an edit.
func (v *servers) took(c *tui.Ctx, r reloaded) tea.Cmd {
	if len(r.problems) > 0 {
		return c.Toast(tui.Failure, r.problems[0]+"; e opens it again")
	}
	return c.Toast(tui.Success, fmt.Sprintf("%s saved: %s new or changed", ownFile, pane.Count(r.added, "server")))
}
