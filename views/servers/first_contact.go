package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
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

	news news
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
	key, title, about string
	run               func(*tui.Ctx) tea.Cmd
}

func (v *servers) starters(c *tui.Ctx) []starter {
	out := []starter{
		{"a", "add a server", "type a command or a URL", v.add},
		{"", "paste JSON", "an entry or a whole file of any program", v.paste},
		{"", "choose a template", "filesystem, github, postgres, slack, memory, others", v.template},
	}
	if c.HasScreen("registry") {
		out = append(out, starter{"", "search the registry", "thousands of servers by name", v.registry})
	}
	if v.noDemo(c) == "" {
		out = append(out, starter{"o", "open the demo", "bundled agents and a router: nothing to install", v.demo})
	}
	if v.noConfigs(c) == "" && !c.Linear { // there is no editor in linear mode
		out = append(out, starter{"e", "write ./" + ownFile, "in $EDITOR, from an example", v.edit})
	}
	if v.noFiles(c) == "" {
		out = append(out, starter{"", "where was looked", fmt.Sprintf("%d files, and what became of each", len(v.configs.Looked)), v.files})
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
	x := r.list[i]
	return paint.Cut(" "+r.th.Accent.S(paint.Fit(x.key, 1))+"  "+paint.Fit(x.title, 20)+"  "+r.th.Muted.S(x.about), w)
}

// drawFirst fills the list pane where there are no servers.
func (v *servers) drawFirst(c *tui.Ctx, p *tui.Pane) {
	p.Title, p.Badge, p.Foot = "No servers yet: choose with arrows and enter", "", ""
	rows := starterRows{v.starters(c), c.Theme}
	v.List.SetTheme(c.Theme)
	v.List.SetRows(rows)
	v.List.SetSize(p.W, min(rows.Len(), p.H))
	v.List.SetFocus(p.Focused)
	p.Lines = append(p.Lines[:0], v.List.Lines()...)
	p.Lines = append(p.Lines, v.hints(c.Theme, p.W, p.H-len(p.Lines))...)
	p.Selected, p.Scroll = v.List.Line(), tui.Scroll{}
}

// hints are the commands of the shell that open a server, and where was looked, in at most h lines.
func (v *servers) hints(th *tui.Theme, w, h int) []string {
	var p page.Page
	note := func(lines ...string) {
		for _, l := range lines {
			p.Line(page.Quiet, l)
		}
	}
	note("", " or from the shell:", "    mcphud -- npx -y @modelcontextprotocol/server-everything stdio", "    mcphud https://host/mcp")
	out := p.Lines(th, w)
	if v.configs == nil || len(v.configs.Looked) == 0 {
		return out
	}
	var paths, programs []string
	for _, f := range v.configs.Looked {
		paths = append(paths, safe.Line(pane.ShortPath(v.configs.Where, f.Path, f.Project), 200))
		if t := config.ProgramOf(f.Dialect); !slices.Contains(programs, t) {
			programs = append(programs, t)
		}
	}
	head, rows := fmt.Sprintf(" none of these %d files has a server:", len(paths)), flow(paths, w-4)
	if len(out)+len(rows)+2 > h {
		head, rows = " no servers in the files of:", flow(programs, w-4)
	}
	note("", head)
	for _, row := range rows {
		note("    " + row)
	}
	return p.Lines(th, w)
}

// flow puts texts into rows of w cells.
func flow(texts []string, w int) (rows []string) {
	row := ""
	for _, t := range texts {
		if row != "" && paint.Width(row)+2+paint.Width(t) > w {
			rows, row = append(rows, row), ""
		}
		if row != "" {
			row += "  "
		}
		row += t
	}
	if row != "" {
		rows = append(rows, row)
	}
	return rows
}

// noFiles is why no files can be listed.
func (v *servers) noFiles(*tui.Ctx) string {
	if v.configs == nil || len(v.configs.Looked) == 0 {
		return "no files were looked for"
	}
	return ""
}

// files lists the files that were looked for, and what became of each.
func (v *servers) files(c *tui.Ctx) tea.Cmd {
	var picks []tui.Option
	for _, f := range v.configs.Looked {
		help := text.Count(f.Servers, "server")
		switch {
		case f.Absent:
			help = "not there"
		case f.Err != nil:
			help = f.Err.Error()
		}
		path := f.Path
		picks = append(picks, tui.Option{
			Group: config.ProgramOf(f.Dialect), Title: pane.ShortPath(v.configs.Where, path, f.Project), Help: help,
			Run: func(c *tui.Ctx) tea.Cmd { return c.Copy("path", path) },
		})
	}
	return c.Pick("Files that are looked for, enter copies the path", picks)
}

// add goes to where servers are added.
func (v *servers) add(c *tui.Ctx) tea.Cmd { return c.Navigate("addserver", nil) }

// template is add, for who knows the server by name.
func (v *servers) template(c *tui.Ctx) tea.Cmd {
	return pickTemplate(c, func(c *tui.Ctx, made offered) tea.Cmd { return c.Navigate("addserver", made) })
}

func (v *servers) registry(c *tui.Ctx) tea.Cmd { return c.Navigate("registry", nil) }

// paste is add, for who has JSON.
func (v *servers) paste(c *tui.Ctx) tea.Cmd { return c.Navigate("addserver", pasteHere{}) }

// added opens the server that was added, or puts the cursor on the first of several.
func (v *servers) added(c *tui.Ctx, a addedServers) tea.Cmd {
	cmd := v.sync(c)
	if len(a.names) == 0 {
		if a.note != "" {
			cmd = tea.Batch(cmd, c.Toast(tui.Success, a.note))
		}
		return cmd
	}
	first := a.names[0]
	note := fmt.Sprintf("%s added for this run; enter opens one", text.Count(len(a.names), "server"))
	if len(a.names) == 1 {
		note = first + " added for this run; y m copies its entry"
	}
	cmd = tea.Batch(cmd, c.Toast(tui.Success, cmp.Or(a.note, note)), c.SelectServer(first))
	v.selectNamed(first)
	if s, ok := c.Sessions.Server(first); ok && len(a.names) == 1 && !a.shown {
		return tea.Batch(cmd, v.openServer(c, s))
	}
	return cmd
}

// removed is the outcome of taking a server off the list.
type removed struct{}

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
	opened struct {
		text   string
		before []byte // nil where there is no file
	}
	reloaded struct {
		added    int
		problems []string
		lost     []string // of the file that was replaced
	}
)

// edit opens ./mcphud.yaml, or an example of one.
func (v *servers) edit(c *tui.Ctx) tea.Cmd {
	path := v.ownPath()
	cmd, _ := c.Replace("servers", "edit", "read "+ownFile, func(context.Context) (any, error) {
		b, err := files.Read(path, 1<<20)
		if errors.Is(err, fs.ErrNotExist) {
			return opened{text: example}, nil
		}
		return opened{string(b), b}, err
	})
	return cmd
}

// replaceOwn replaces a file that had other bytes when the editor opened it. Where another program wrote it meanwhile, the text of the
// editor is kept beside it.
func replaceOwn(ctx context.Context, path string, before, text []byte) (lost []string, err error) {
	unlock, err := files.Lock(ctx, path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if lost, err = files.Rewrite(path, before, text); !errors.Is(err, files.ErrChanged) {
		return lost, err
	}
	draft := strings.TrimSuffix(path, filepath.Ext(path)) + ".draft" + filepath.Ext(path)
	if bad := files.Write(draft, text); bad != nil {
		return nil, fmt.Errorf("%s changed while it was edited; it was left as it is, and what you wrote cannot be kept: %w", path, bad)
	}
	return nil, fmt.Errorf("%s changed while it was edited; it was left as it is: what you wrote is in %s", path, draft)
}

// write saves what the editor made of ./mcphud.yaml, and takes in what it says.
func (v *servers) write(c *tui.Ctx, text string) tea.Cmd {
	path, where, m, before := v.ownPath(), v.configs.Where, c.Sessions, v.edited
	cmd, _ := c.Replace("servers", "edit", "write "+ownFile, func(ctx context.Context) (any, error) {
		lost, err := replaceOwn(ctx, path, before, []byte(text))
		if err != nil {
			return reloaded{}, err
		}
		set, err := config.Load(where)
		out := reloaded{lost: lost}
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
		return c.Toast(tui.Failure, r.problems[0]+"; :file opens it again")
	}
	said := fmt.Sprintf("%s saved: %s new or changed", ownFile, text.Count(r.added, "server"))
	if len(r.lost) > 0 {
		return c.Toast(tui.Warning, safe.Line(said+"; "+strings.Join(r.lost, "; "), 400))
	}
	return c.Toast(tui.Success, said)
}
