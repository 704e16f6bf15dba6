package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/catalog/described"
	"github.com/mcphud/mcphud/session/catalog/mcpb"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
)

// addedServers, as the Arg of a Navigate to the list of servers, opens the one that was added, or puts the cursor on the first of
// several.
type addedServers struct {
	names []string
	note  string
	shown bool // the one is shown only
}

// beginnings are where to begin while nothing is typed.
func (v *adder) beginnings(c *tui.Ctx) []addRow {
	const group = "Or begin with"
	out := []addRow{{group, "a template", "filesystem, github, postgres, slack, memory, others", v.template}}
	if c.HasScreen("registry") {
		out = append(out, addRow{group, "the registry", "search thousands of servers by name", func(c *tui.Ctx) tea.Cmd { return c.Navigate("registry", nil) }})
	}
	if !c.Linear { // there a dialog has no place
		out = append(out, addRow{group, "a file", "a server.json, a bundle (.mcpb), or JSON of any program", v.file})
	}
	return out
}

// maxAddFile bounds a file that is read in place of a paste.
const maxAddFile = 1 << 20

// Outcomes of reading one.
type (
	fileText  struct{ text string }
	fileEntry struct{ entry described.Entry }
)

// file lets a file be picked.
func (v *adder) file(c *tui.Ctx) tea.Cmd {
	return c.PickFile(cmp.Or(v.where().Cwd, "."), v.readFile)
}

// readFile begins with what is in a file: the description of a server, a bundle, or a text as if it was pasted.
func (v *adder) readFile(c *tui.Ctx, path string) tea.Cmd {
	cmd, _ := c.Replace("addserver", "read", "read the file", func(ctx context.Context) (any, error) {
		if mcpb.IsBundle(path) {
			return v.bring.bundle(ctx, path)
		}
		if e := described.File(path); e.Document != nil {
			return fileEntry{e}, nil
		}
		b, err := files.Read(path, maxAddFile)
		return fileText{string(b)}, err
	})
	return cmd
}

// absolute is a path that was typed.
func (v *adder) absolute(path string) string {
	where := v.where()
	if rest, ok := strings.CutPrefix(path, "~/"); ok && where.Home != "" {
		return filepath.Join(where.Home, rest)
	}
	if filepath.IsAbs(path) || where.Cwd == "" {
		return path
	}
	return filepath.Join(where.Cwd, path)
}

// template begins with a template.
func (v *adder) template(c *tui.Ctx) tea.Cmd {
	return pickTemplate(c, func(_ *tui.Ctx, made offered) tea.Cmd {
		v.clear()
		v.made = &made
		return nil
	})
}

// pickTemplate lets a well-known server be chosen, and asks for what it needs to be told.
func pickTemplate(c *tui.Ctx, begin func(*tui.Ctx, offered) tea.Cmd) tea.Cmd {
	var picks []tui.Option
	for _, t := range config.Templates() {
		group, help := "Templates", t.Description
		if t.Archived != "" {
			group, help = "Archived", t.Archived
		}
		picks = append(picks, tui.Option{Group: group, Title: t.Name, Help: t.Title + ": " + help, Run: func(c *tui.Ctx) tea.Cmd {
			made := func(c *tui.Ctx, values setup.Values) tea.Cmd {
				return begin(c, offered{from: "From the template " + t.Name, servers: []config.Server{t.Fill("", values)}})
			}
			if len(t.Inputs) == 0 {
				return made(c, nil)
			}
			return c.Navigate("setup", setupRequest{
				Title: t.Title, Inputs: t.Inputs, NoKeychain: true,
				Done: func(c *tui.Ctx, values setup.Values, _ bool) tea.Cmd { return made(c, values) },
			})
		}})
	}
	return c.Pick("Template", picks)
}

// places are where what was typed can be kept.
func (v *adder) places(c *tui.Ctx) []addRow {
	out := []addRow{{"Keep it", "for this run only", "and open it", v.once}}
	for _, d := range v.files {
		about := d.Title
		if !d.Exists {
			about += ", a new file"
		}
		out = append(out, addRow{"Or in a file", pane.ShortPath(v.where(), d.File, d.Project), about, func(c *tui.Ctx) tea.Cmd { return v.keep(c, d) }})
	}
	return out
}

// filesFound are the files that a server can be written to.
type filesFound struct{ list []config.Destination }

// lookForFiles finds them.
func (v *adder) lookForFiles(c *tui.Ctx) tea.Cmd {
	if v.configs == nil {
		return nil
	}
	where := v.where()
	cmd, _ := c.Replace("addserver", "files", "look for files", func(context.Context) (any, error) {
		return filesFound{where.Destinations()}, nil
	})
	return cmd
}

// setFiles offers other files; the cursor stays on the row that it is on, since enter may be on its way.
func (v *adder) setFiles(c *tui.Ctx, files []config.Destination) {
	var on addRow
	if rows := v.rows(c); v.at < len(rows) {
		on = rows[v.at]
	}
	v.files = files
	if i := slices.IndexFunc(v.rows(c), func(r addRow) bool { return r.group == on.group && r.title == on.title }); i >= 0 {
		v.at = i
	}
}

// asWritten are the servers with their variables as they are written.
func (v *adder) asWritten() ([]config.Server, error) {
	if v.made != nil {
		return v.made.servers, nil
	}
	return v.typed.servers(v.where())
}

// runnable are the servers with the values of their variables.
func (v *adder) runnable() ([]config.Server, error) {
	if v.made == nil {
		return config.Pasted(v.typed.text(), v.where())
	}
	if slices.ContainsFunc(v.made.servers, func(s config.Server) bool { return s.Source.Published != nil }) {
		return v.made.servers, nil // made of values, not of text: nothing is expanded, and trust is asked for by what they are
	}
	file, _, err := config.EncodeAll("claude-code", v.made.servers)
	if err != nil {
		return nil, err
	}
	list, err := config.Pasted(string(file), v.where())
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Roots = v.made.servers[i].Roots
	}
	return list, nil
}

// once adds servers that are forgotten when the program ends.
func (v *adder) once(c *tui.Ctx) tea.Cmd {
	list, err := v.runnable()
	if err != nil {
		v.why = err.Error()
		v.rev++
		return nil
	}
	var names []string
	for _, srv := range list {
		s, err := pane.Register(c.Sessions, srv)
		if err != nil {
			return c.Toast(tui.Failure, err.Error())
		}
		names = append(names, s.Name())
	}
	v.clear()
	return addedAs(c, addedServers{names: names})
}

// addedAs goes back to the list, which opens what was added.
func addedAs(c *tui.Ctx, added addedServers) tea.Cmd {
	return tea.Sequence(c.Return("servers"), c.Navigate("servers", added))
}

// keep writes servers into a file, the one under a name that is asked for.
func (v *adder) keep(c *tui.Ctx, to config.Destination) tea.Cmd {
	list, err := v.asWritten()
	switch {
	case err != nil:
		v.why = err.Error()
		v.rev++
		return nil
	case len(list) != 1:
		return v.write(c, to, list)
	}
	return c.Ask(tui.Question{
		Label: "name", Initial: list[0].Name,
		Check: func(name string) string {
			if name == "" {
				return "type a name"
			}
			return ""
		},
		OnDone: func(c *tui.Ctx, name string) tea.Cmd {
			one := list[0]
			one.Name = name
			return v.write(c, to, []config.Server{one})
		},
	})
}

// write shows what the file would become, then saves and opens.
func (v *adder) write(c *tui.Ctx, to config.Destination, list []config.Server) tea.Cmd {
	where := v.where()
	what := list[0].Name
	if len(list) > 1 {
		what = text.Count(len(list), "server")
	}
	f := fileChange{
		view: "addserver", where: where, title: fmt.Sprintf("Add %s to %s?", what, to.Title), yes: "save and open",
		done: func(c *tui.Ctx, s savedChange) tea.Cmd { return v.saved(c, s, to, list) },
	}
	for _, srv := range list {
		if srv.Source.Published != nil { // somebody else's words, of which the diff may mask some
			f.about += pane.DescribeServer(srv) + "\n\n"
		}
		f.make = append(f.make, func() (*config.Change, error) { return where.AddEntry(to, srv) })
	}
	return f.plan(c)
}

// saved opens what was written. Who has just written an entry trusts it.
func (v *adder) saved(c *tui.Ctx, s savedChange, to config.Destination, list []config.Server) tea.Cmd {
	v.clear()
	added := addedServers{note: s.said("saved to " + pane.ShortPath(s.where, to.File, to.Project))}
	var failed error
	for _, one := range list {
		srv, ok := s.find(to.File, one.Name)
		if !ok {
			continue
		}
		added.names = append(added.names, srv.Name)
		if v.trust != nil {
			failed = errors.Join(failed, v.trust.Trust(srv))
		}
	}
	if failed != nil {
		return tea.Batch(addedAs(c, added), c.Toast(tui.Failure, failed.Error()))
	}
	return tea.Batch(addedAs(c, added), v.lookForFiles(c))
}

func (v *adder) finished(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	if found, ok := m.Value.(filesFound); ok {
		v.setFiles(c, found.list)
		v.rev++
		return nil
	}
	if read, ok := m.Value.(fileText); ok {
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error())
		}
		v.clear()
		v.typed.paste(read.text)
		if _, err := v.asWritten(); err != nil {
			v.why = err.Error()
		}
		return nil
	}
	if read, ok := m.Value.(fileEntry); ok {
		return v.bring.choose(c, read.entry)
	}
	if cmd, ok := v.bring.finished(c, m); ok {
		return cmd
	}
	cmd, _ := changed(c, m)
	return cmd
}
