package servers

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// entryActions are what can be done with the entry of a server in its file.
func (v *servers) entryActions() []tui.Action {
	return []tui.Action{
		{
			ID: "servers.edit", Verb: tui.VerbEdit, Title: "edit", Group: "Entry", Hint: 7,
			Help: "Edit the server's entry in a form, and write it to its file once its diff was seen. Where there are no servers: edit ./" + ownFile + ".",
			Now: func(*tui.Ctx) string {
				if len(v.all) == 0 {
					return "write ./" + ownFile
				}
				return ""
			},
			Disabled: func(c *tui.Ctx) string {
				if len(v.all) == 0 {
					return v.noConfigs(c)
				}
				return v.noEntry(c)
			},
			Run: func(c *tui.Ctx) tea.Cmd {
				if len(v.all) == 0 {
					return v.edit(c)
				}
				return c.Navigate("entry", v.selected().Name())
			},
		},
		{
			ID: "servers.file", Word: "file", Title: "edit ./" + ownFile, Group: "Entry",
			Help: "Edit the working folder's mcphud.yaml in $EDITOR, and read it again.", Disabled: v.noConfigs, Run: v.edit,
		},
		{
			ID: "servers.copy", Word: "duplicate", Title: "duplicate", Group: "Entry",
			Help: "Copy the server's entry, under another name or into another file.", Disabled: v.noEntry, Run: v.duplicate,
		},
		{
			ID: "servers.enable", Verb: tui.VerbFold, Title: "disable", Group: "Entry",
			Help:     "Say in the server's entry that it is not to be used, or that it is.",
			Disabled: v.noFile,
			Now: func(*tui.Ctx) string {
				if s := v.selected(); s != nil && s.Config().Disabled {
					return "enable"
				}
				return ""
			},
			Run: v.enable,
		},
		{
			ID: "servers.remove", Word: "remove", Title: "remove", Group: "Entry", Hint: 6,
			Help: "Remove the server's entry from its file once its diff was seen; take a server of this run off the list.",
			Disabled: func(c *tui.Ctx) string {
				if s := v.selected(); s != nil && s.Config().Source.File == "" {
					return ""
				}
				return v.noFile(c)
			},
			Run: v.remove,
		},
	}
}

// entryKeys are the keys that change the entry of the server under the cursor.
func (v *servers) entryKeys(c *tui.Ctx) string {
	if v.noFile(c) != "" {
		return ""
	}
	toggle := "disable"
	if v.selected().Config().Disabled {
		toggle = "enable"
	}
	var out []string
	for _, a := range [][2]string{{"edit", "edit"}, {"copy", "copy"}, {"enable", toggle}, {"remove", "remove"}} {
		if key := c.KeyOf("servers." + a[0]); key != "" {
			out = append(out, key+" "+a[1])
		}
	}
	return strings.Join(out, " · ")
}

// noEntry is why an entry cannot be looked at.
func (v *servers) noEntry(c *tui.Ctx) string {
	if why := v.none(c); why != "" {
		return why
	}
	if src := v.selected().Config().Source; src.Published != nil || src.File != "" && v.configs == nil {
		return "its file is not changed from here"
	}
	return ""
}

// noFile is why the file of an entry cannot be changed.
func (v *servers) noFile(c *tui.Ctx) string {
	if why := v.noEntry(c); why != "" {
		return why
	}
	if v.selected().Config().Source.File == "" {
		return "it is for this run only, in no file"
	}
	return ""
}

// copied is the outcome of reading an entry to copy it.
type copied struct{ server config.Server }

// duplicate copies the entry as it is written, to where the user says.
func (v *servers) duplicate(c *tui.Ctx) tea.Cmd {
	srv := v.selected().Config()
	if srv.Source.File == "" {
		return v.copyOf(c, srv)
	}
	where := v.configs.Where
	cmd, _ := c.Replace("servers", "copy", "read the entry", func(context.Context) (any, error) {
		was, err := writtenEntry(where, srv)
		return copied{was}, err
	})
	return cmd
}

func (v *servers) copyOf(c *tui.Ctx, srv config.Server) tea.Cmd {
	name := nameInFile(srv)
	srv.Name, srv.Given = name+"-copy", ""
	return c.Navigate("addserver", offered{from: "A copy of " + name, servers: []config.Server{srv}})
}

// enable turns an entry on or off in its file.
func (v *servers) enable(c *tui.Ctx) tea.Cmd {
	srv := v.selected().Config()
	src, name, where, on := srv.Source, nameInFile(srv), v.configs.Where, srv.Disabled
	title, said := "Disable ", "disabled in "
	if on {
		title, said = "Enable ", "enabled in "
	}
	return v.change(c, srv, title+safe.Line(name, 60)+"?", said, func() (*config.Change, error) { return where.EnableEntry(src, name, on) })
}

// remove takes an entry out of its file, or a server of this run off the list.
func (v *servers) remove(c *tui.Ctx) tea.Cmd {
	srv := v.selected().Config()
	if v.noFile(c) != "" {
		m, name := c.Sessions, srv.Name
		cmd, _ := c.Replace("servers", "remove\x00"+name, "remove "+safe.Line(v.selected().Title(), 80), func(context.Context) (any, error) {
			return removed{}, m.Unregister(name)
		})
		return cmd
	}
	src, name, where := srv.Source, nameInFile(srv), v.configs.Where
	return v.change(c, srv, "Remove "+safe.Line(name, 60)+"?", "removed from ", func() (*config.Change, error) { return where.RemoveEntry(src, name) })
}

// change writes a change of the entry under the cursor, and keeps the cursor on what became of it.
func (v *servers) change(c *tui.Ctx, srv config.Server, title, said string, plan func() (*config.Change, error)) tea.Cmd {
	trusted := v.trust != nil && v.trust.Trusted(srv)
	f := fileChange{
		view: "servers", where: v.configs.Where, title: title, yes: "write the file", gone: []string{srv.Name},
		make: []func() (*config.Change, error){plan},
		done: func(c *tui.Ctx, s savedChange) tea.Cmd {
			added := addedServers{note: s.said(said + pane.ShortPath(s.where, srv.Source.File, srv.Source.Project)), shown: true}
			if is, ok := s.find(srv.Source.File, nameInFile(srv)); ok {
				added.names = []string{is.Name}
				if trusted {
					_ = v.trust.Trust(is) // else it asks again
				}
			}
			return v.added(c, added)
		},
	}
	return f.plan(c)
}
