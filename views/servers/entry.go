package servers

import (
	"context"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// entry changes the entry of a server in its file. Navigate's Arg is the server's name (string). Values are as they are written:
// variables stay variables. What was changed and not saved is kept until the program ends.
type entry struct {
	configs *Configs
	trust   *config.Trust
	drafts  map[string]*entryDraft
	cur     *entryDraft
	op      uint64 // that reads the entry
	err     error
}

// entryDraft is an entry with what became of it in the form.
type entryDraft struct {
	server string        // of the session
	now    config.Server // as it is used
	was    config.Server // as it is written
	form   *form.Form
}

// NewEntry is the form for an entry of a configuration file.
func NewEntry(configs *Configs, trust *config.Trust) *tui.Screen {
	return (&entry{configs: configs, trust: trust, drafts: map[string]*entryDraft{}}).screen()
}

func (v *entry) screen() *tui.Screen {
	return &tui.Screen{
		ID: "entry", Title: "Entry", Tab: "servers", NoRail: true, AllServers: true,
		Panes:   []tui.PaneSpec{{ID: "form", Title: "Entry"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Choices: v.choices, Typing: v.typing, Hints: v.hints, Breadcrumb: v.breadcrumb,
	}
}

func (v *entry) actions() []tui.Action {
	return append([]tui.Action{
		{
			ID: "entry.save", Verb: tui.VerbSend, Title: "save", Group: "Form", Hint: 1,
			Help: "Show what the file would become, and write it.", Disabled: v.none, Run: v.save,
		},
		{
			ID: "entry.editor", Verb: tui.VerbEditor, Title: "edit in $EDITOR", Group: "Form", Hint: 2,
			Help: "Edit the entry as JSON in $EDITOR.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd {
				tag, text, ext := v.cur.form.EditText()
				return c.Edit("entry", tag, text, ext)
			},
		},
		{
			ID: "entry.reset", Verb: tui.VerbReset, Title: "start over", Group: "Form",
			Help: "Go back to the entry as it is in the file; ctrl+z undoes it.", Disabled: v.none,
			Run: func(c *tui.Ctx) tea.Cmd { return v.fill(c) },
		},
		{
			ID: "entry.back", Verb: tui.VerbLeave, Title: "back", Group: "Form", Hint: 60,
			Help: "Go back; what was changed and not saved is kept.", Run: func(c *tui.Ctx) tea.Cmd { return c.Back() },
		},
	}, pane.FormActions("entry", v.none, func() *form.Form { return v.cur.form }, func(*tui.Ctx) tea.Cmd { return v.cur.form.Cmd() })...)
}

func (v *entry) none(*tui.Ctx) string {
	if v.cur == nil {
		return "no entry is open: press e on a server"
	}
	return ""
}

// typing is whether letters go into the form.
func (v *entry) typing(*tui.Ctx) bool { return v.cur != nil && v.cur.form.Typing() }

// hints are what the form's keys do at the focused field.
func (v *entry) hints(*tui.Ctx) (out []tui.Hint) {
	if v.cur == nil {
		return nil
	}
	for _, h := range v.cur.form.Hints() {
		out = append(out, tui.Hint{Key: h.Keys[0], Title: h.Text})
	}
	return out
}

// entryRead is the outcome of reading an entry.
type entryRead struct{ now, was config.Server }

func (v *entry) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate:
		if name, ok := m.Arg.(string); ok {
			return v.open(c, name), true
		}
		return nil, true
	case tui.OpDone:
		if cmd, ok := changed(c, m); ok {
			return cmd, true
		}
		r, ok := m.Value.(entryRead)
		if m.Op != v.op {
			return nil, ok
		}
		v.op = 0
		if v.err = m.Err; v.err != nil {
			return nil, true
		}
		return v.edit(c, r), true
	case tui.Edited:
		if v.cur != nil {
			return pane.EditedForm(c, v.cur.form, m), true
		}
		return nil, true
	}
	if v.cur == nil {
		return nil, false
	}
	return pane.ToForm(c, v.cur.form, msg, func() (tea.Cmd, bool) { return nil, false })
}

// open reads the entry of a server.
func (v *entry) open(c *tui.Ctx, name string) tea.Cmd {
	v.cur, v.err = nil, nil
	s, ok := c.Sessions.Server(name)
	if !ok {
		return c.Toast(tui.Failure, "there is no server "+name)
	}
	now := s.Config()
	if now.Source.File == "" {
		return v.edit(c, entryRead{now, now})
	}
	where := v.configs.Where
	cmd, op := c.Replace("entry", "read", "read the entry", func(context.Context) (any, error) {
		was, err := writtenEntry(where, now)
		return entryRead{now, was}, err
	})
	v.op = op
	return cmd
}

// writtenEntry is a server as its file has it.
func writtenEntry(where config.Options, srv config.Server) (config.Server, error) {
	where.Files, where.Literal = []string{srv.Source.File}, true
	set, err := config.Load(where)
	var found config.Server
	for _, s := range set.Servers {
		if nameInFile(s) == nameInFile(srv) && (found.Name == "" || s.Source.Line == srv.Source.Line) {
			found = s
		}
	}
	if found.Name != "" {
		return found, nil
	}
	if err == nil {
		err = fmt.Errorf("%s has no server %s any more", srv.Source.File, nameInFile(srv))
	}
	return found, err
}

// edit opens an entry, with what was changed and not saved before.
func (v *entry) edit(c *tui.Ctx, r entryRead) tea.Cmd {
	name := r.now.Name
	if d := v.drafts[name]; d != nil && d.form.Dirty() {
		d.now, d.was, v.cur = r.now, r.was, d
		return d.form.Cmd()
	}
	v.cur = &entryDraft{server: name, now: r.now, was: r.was, form: form.New(schema.Parse(entrySchema(r.was)), c.Theme)}
	v.cur.form.Front("name", "command", "args", "env", "url", "transport", "headers")
	v.drafts[name] = v.cur
	return tea.Batch(v.fill(c), c.FocusPane("form"))
}

// fill puts the entry as it is in the file into the form.
func (v *entry) fill(c *tui.Ctx) tea.Cmd {
	value, err := entryValue(v.cur.was)
	if err == nil {
		err = v.cur.form.SetJSON(value)
	}
	v.cur.form.MarkClean()
	if err != nil {
		return c.Toast(tui.Failure, err.Error())
	}
	return v.cur.form.Cmd()
}

// save shows the diff of the entry, then writes it.
func (v *entry) save(c *tui.Ctx) tea.Cmd {
	d := v.cur
	if err := d.form.Err(); err != nil {
		return c.Toast(tui.Warning, "not valid JSON: "+err.Error())
	}
	if problems := d.form.Check(); len(problems) > 0 {
		return tea.Batch(d.form.Cmd(), c.Toast(tui.Warning, problems[0].Sentence()))
	}
	to, err := entryServer(d.was, d.form.JSON())
	if err != nil {
		return c.Toast(tui.Warning, err.Error())
	}
	s, ok := c.Sessions.Server(d.server)
	up := ok && s.Status().State == session.Connected
	if d.was.Source.File == "" {
		return v.exchange(c, to, up)
	}
	src, name, where := d.was.Source, nameInFile(d.was), v.configs.Where
	f := fileChange{
		view: "entry", where: where, title: "Change " + safe.Line(name, 60) + "?", yes: "save", gone: []string{d.server},
		make: []func() (*config.Change, error){func() (*config.Change, error) { return where.EditEntry(src, name, to) }},
	}
	if to.Disabled != d.was.Disabled {
		f.make = append(f.make, func() (*config.Change, error) { return where.EnableEntry(src, name, !to.Disabled) })
	}
	if to.Name != name {
		f.make = append(f.make, func() (*config.Change, error) { return where.RenameEntry(src, name, to.Name) })
	}
	trusted := v.trust != nil && v.trust.Trusted(d.now)
	f.done = func(c *tui.Ctx, s savedChange) tea.Cmd {
		delete(v.drafts, d.server)
		v.cur = nil
		srv, ok := s.find(src.File, to.Name)
		if ok && trusted { // who trusted it has changed it
			if err := v.trust.Trust(srv); err != nil {
				return c.Toast(tui.Failure, err.Error())
			}
		}
		added := addedServers{note: s.said("saved to " + pane.ShortPath(s.where, src.File, src.Project)), shown: !up || srv.Disabled}
		if ok {
			added.names = []string{srv.Name}
		}
		return addedAs(c, added)
	}
	return f.plan(c)
}

// exchange puts the changed server of this run in the place of the one that is there.
func (v *entry) exchange(c *tui.Ctx, to config.Server, up bool) tea.Cmd {
	m, d := c.Sessions, v.cur
	cmd, _ := c.Replace("entry", "change", "change "+safe.Line(d.server, 80), func(context.Context) (any, error) {
		if err := m.Unregister(d.server); err != nil {
			return nil, err
		}
		s, err := pane.Register(m, to)
		if err != nil {
			return nil, err
		}
		return savedChange{fileChange: fileChange{done: func(c *tui.Ctx, _ savedChange) tea.Cmd {
			delete(v.drafts, d.server)
			v.cur = nil
			return addedAs(c, addedServers{names: []string{s.Name()}, note: s.Name() + " changed for this run", shown: !up})
		}}}, nil
	})
	return cmd
}

func (v *entry) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	p.Title, p.Badge, p.Foot, p.Scroll = "Entry", "", "", tui.Scroll{}
	switch {
	case v.err != nil:
		p.Lines = append([]string{""}, pane.ErrorLines(c.Theme, p.W, v.err)...)
		return nil
	case v.op != 0:
		p.Lines = pane.Message(c.Theme, p.W, "Reading the entry…", "")
		return nil
	case v.cur == nil:
		p.Lines = pane.Message(c.Theme, p.W, "No entry is open.", "Press e on a server.")
		return nil
	}
	p.Title, p.Foot = v.breadcrumb(c), v.place()
	return pane.DrawForm(c, p, v.cur.form)
}

// place is where the entry is.
func (v *entry) place() string {
	src := v.cur.was.Source
	if src.File == "" {
		return "for this run"
	}
	return safe.Line(fmt.Sprintf("%s:%d", pane.ShortPath(v.configs.Where, src.File, src.Project), src.Line), 80)
}

func (v *entry) breadcrumb(*tui.Ctx) string {
	if v.cur == nil {
		return ""
	}
	return safe.Line(nameInFile(v.cur.was), 60)
}

func (v *entry) plain(c *tui.Ctx, w io.Writer) {
	if v.cur == nil {
		fmt.Fprintln(w, "No entry is open.")
		return
	}
	fmt.Fprintf(w, "entry %s, %s\n", v.breadcrumb(c), v.place())
	for _, p := range v.cur.form.Problems() {
		fmt.Fprintln(w, "problem: "+safe.Line(p.Sentence(), 400))
	}
}

// choices are the fields, each asked for by its number, and saving.
func (v *entry) choices(*tui.Ctx) []tui.Choice {
	if v.cur == nil {
		return nil
	}
	return append(pane.FieldChoices(v.cur.form, func() {}), tui.Choice{Label: "save", Run: v.save})
}
