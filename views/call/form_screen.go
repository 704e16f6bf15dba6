// Package call is the screens from which something is asked of a server: its lists of tools, resources, prompts, templates and skills, the
// form in which a call is filled in, its result, and what tools cost a model.
package call

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// formScreen is a screen with a form on the left and the server's answer on the right: calling a tool, getting a
// prompt, expanding a resource template. Navigate's Arg is the name (string) of what to ask for.
type formScreen struct {
	formKind
	reply  pane.Reply
	inputs *inputs.Store
	drafts map[string]*draft // by server and name: what was typed is kept
	cur    *draft
	calls  map[uint64]*draft // running, by operation

	editing *draft // what is open in $EDITOR
	asks    pane.Asks
	earlier *pane.Calls
}

// formKind is what tells the three screens apart.
type formKind struct {
	info tui.Screen // without functions
	verb string     // "call"
	list string     // the screen that items are picked on
	kind offer.Kind
	name func(offer.Item) string
	// consent is which calls ask first; nil for none.
	consent *consent.Policy
	// fields is what the form asks for.
	fields func(offer.Item) *schema.Schema
	// sessionCall is the call of the session that the form stands for: of a tool, a prompt or a resource.
	sessionCall func(ctx context.Context, s *session.Session, it offer.Item, args []byte, given map[string]string, o session.CallOptions) (rpc.Reply, error)
	// ref is the reference of completion/complete, nil where there is none.
	ref func(offer.Item) []byte
	// command is the mcphud command that does the same.
	command func(d *draft) shell.Invocation
}

// draft is one item with what was typed for it.
type draft struct {
	key    string
	server string
	item   offer.Item
	form   *form.Form
	bare   bool                   // the schema names no argument
	sent   []byte                 // value that was sent last
	op     uint64                 // running call, 0 if none
	asTask bool                   // it is to be called as a task
	task   *taskCall              // of the last call
	last   func() ([]byte, error) // gives the result of the last call, nil if there is none
	gave   []byte                 // value that last is the result of

	request uint64 // journal entry of the last call's request, 0 if there is none

	keeping
}

func newFormScreen(store *inputs.Store, asks pane.Asks, earlier *pane.Calls, a formKind) *formScreen {
	v := &formScreen{formKind: a, inputs: store, asks: asks, earlier: earlier, reply: pane.NewReply(a.info.ID, "result"), drafts: map[string]*draft{}, calls: map[uint64]*draft{}}
	v.reply.Again = "r run again"
	return v
}

func (v *formScreen) screen() *tui.Screen {
	s := v.info
	s.Actions, s.Handle, s.Draw, s.Plain, s.Choices, s.PageText, s.CopyText = v.actions, v.handle, v.draw, v.plain, v.choices, v.pageText, v.copyText
	s.Typing, s.Hints, s.Rows, s.Breadcrumb, s.Question, s.Close = v.typing, v.hints, v.firstRows, v.breadcrumb, v.question, v.close
	return &s
}

func (v *formScreen) actions() []tui.Action {
	id := v.info.ID
	send := func(c *tui.Ctx) tea.Cmd { return v.submit(c, false) }
	return append([]tui.Action{
		{
			ID: id + ".send", Verb: tui.VerbSend, Title: v.verb, Group: "Form", Hint: 1,
			Help: "Send what the form holds to the server.", Disabled: v.cannot, Run: send,
		},
		{
			ID: id + ".login", Verb: tui.VerbRun, Word: "login", Title: "log in", Group: "Result", Hint: 1, Pane: "result",
			Help:    "Log in at the server, and send again what it refused for want of that.",
			Applies: func(c *tui.Ctx) bool { return v.reply.WantsLogin() || tui.WantsLogin(c.Server) },
			Disabled: func(c *tui.Ctx) string {
				if c.Server == nil || c.Server.Authorizer() == nil {
					return "it has no login: a command needs an oauth block for one"
				}
				return ""
			},
			Run: v.logIn,
		},
		{
			ID: id + ".again", Verb: tui.VerbRun, Title: "run again", Group: "Result", Hint: 2, Pane: "result",
			Help: "Send the same again.", Disabled: v.cannot, Run: send,
		},
		{
			ID: id + ".editor", Verb: tui.VerbEditor, Title: "edit in $EDITOR", Group: "Form", Pane: "form",
			Help: "Edit the focused text, or the whole value as JSON, in $EDITOR.", Disabled: v.nothing,
			Run: func(c *tui.Ctx) tea.Cmd {
				tag, text, ext := v.cur.form.EditText()
				v.editing = v.cur
				return c.Edit(id, tag, text, ext)
			},
		},
		{
			ID: id + ".file", Verb: tui.VerbFile, Title: "pick a file", Group: "Form", Pane: "form",
			Help: "Put the path of a file into the focused field, or its bytes where the schema wants base64.", Disabled: v.noFile,
			Run: v.pickFile,
		},
		{
			ID: id + ".reset", Verb: tui.VerbReset, Title: "start over", Group: "Form", Pane: "form",
			Help: "Reset the form to the schema's defaults and forget the values that are kept; ctrl+z undoes it.", Disabled: v.nothing,
			Run: func(c *tui.Ctx) tea.Cmd { return v.startOver(c) },
		},
		v.saveAction(),
		v.earlier.HistoryAction(id, v.formKind.kind, func() string {
			if v.cur == nil {
				return ""
			}
			return v.name(v.cur.item)
		}),
		{
			ID: id + ".list", Verb: tui.VerbLeave, Title: "back to the list", Group: "Form", Hint: 60,
			Help: "Go back to the list; what was typed is kept, also for the next run.",
			Run:  func(c *tui.Ctx) tea.Cmd { return c.Return(v.list) },
		},
	}, append(pane.FormActions(id, v.nothing, func() *form.Form { return v.cur.form }, func(c *tui.Ctx) tea.Cmd { return v.changed(c, v.cur) }), append(v.saveBoth(v.reply.Actions(id, "result")), append(v.taskActions(), pane.AgainActions(id, "result", false, v.lastRequest)...)...)...)...)
}

// lastRequest is the journal entry of what was asked last, 0 for none.
func (v *formScreen) lastRequest(*tui.Ctx) uint64 {
	if v.cur == nil {
		return 0
	}
	return v.cur.request
}

func (v *formScreen) nothing(*tui.Ctx) string {
	if v.cur == nil {
		return "nothing is open"
	}
	return ""
}

// typing is whether letters go into the form.
func (v *formScreen) typing(c *tui.Ctx) bool {
	return c.Focus == "form" && v.cur != nil && v.cur.form.Typing()
}

// hints are what the form's keys do at the focused field.
func (v *formScreen) hints(c *tui.Ctx) (out []tui.Hint) {
	if c.Focus != "form" || v.cur == nil {
		return nil
	}
	for _, h := range v.cur.form.Hints() {
		out = append(out, tui.Hint{Key: h.Keys[0], Title: h.Text})
	}
	return out
}

func (v *formScreen) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	cmd, ok := v.route(c, msg)
	if v.cur != nil {
		cmd = tea.Batch(cmd, v.changed(c, v.cur))
	}
	return cmd, ok
}

func (v *formScreen) route(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case saveDraft:
		if m.view == v.info.ID {
			return v.saveDraft(c, m.d), true
		}
		return nil, false
	case tui.Navigate:
		if r, ok := m.Arg.(pane.Refill); ok {
			return v.refill(c, r), true
		}
		name, _ := m.Arg.(string)
		return v.open(c, name), true
	case tui.ServerChanged:
		if v.cur != nil && v.cur.server != m.Name {
			v.cur = nil
			v.reply.Clear()
		}
		return nil, true
	case tui.OpDone:
		return tea.Batch(v.finished(c, m), v.earlier.Earlier(c)), true
	case tui.Edited:
		return v.edited(c, m), true
	case tui.FilterChanged, tui.FindNext:
		return v.reply.Handle(c, msg)
	case tui.Resized:
		return v.reply.Handle(c, msg)
	case suggestions:
		if v.drafts[m.d.key] == m.d {
			m.d.form.Suggest(m.pointer, m.text, m.found)
			return nil, true
		}
		return nil, false
	case tui.PaneMouse:
		if m.Pane == "result" {
			return v.reply.Handle(c, msg)
		}
	}
	if cmd, ok := v.toForm(c, msg); ok {
		return cmd, true
	}
	if c.Focus == "result" {
		return v.reply.Handle(c, msg)
	}
	return nil, false
}

// toForm gives the form what is meant for it.
func (v *formScreen) toForm(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if v.cur == nil {
		return nil, false
	}
	return pane.ToForm(c, v.cur.form, msg, func() (tea.Cmd, bool) {
		if v.cannot(c) != "" {
			return nil, false
		}
		return v.submit(c, false), true
	})
}

// open shows an item's form, with what was typed for it before.
func (v *formScreen) open(c *tui.Ctx, name string) tea.Cmd {
	s := c.Server
	if s == nil || name == "" {
		return nil
	}
	key := s.Name() + "\x00" + name
	it, ok := v.find(s, name)
	d := v.drafts[key]
	switch {
	case d == nil && !ok:
		return c.Toast(tui.Failure, fmt.Sprintf("%s lists nothing called %s; press r in its list to reload", s.Title(), name))
	case d == nil:
		d = &draft{key: key, server: s.Name(), keeping: keeping{file: v.inputs.File(s.Config(), v.info.ID, name)}}
		v.drafts[key] = d
	}
	cmd := v.fit(c, d, it, ok)
	if d != v.cur && d.last == nil {
		cmd = tea.Batch(cmd, v.recall(c, d))
	}
	if d != v.cur {
		v.cur = d
		v.reply.Clear()
		if d.op != 0 {
			v.reply.Wait(v.verb + " is running")
		}
	}
	d.form.Ask()
	return tea.Batch(cmd, d.form.Cmd(), c.FocusPane("form"))
}

// fit gives a draft the item's form; after its schema changed the value moves to a new form.
func (v *formScreen) fit(c *tui.Ctx, d *draft, it offer.Item, ok bool) tea.Cmd {
	if !ok || d.form != nil && string(it.Raw) == string(d.item.Raw) {
		return nil
	}
	d.item = it
	old := d.form
	fields := v.fields(it)
	d.form, d.bare = form.New(fields, c.Theme), fields.Err() == nil && fields.Root().Shape() == schema.ShapeObject && len(fields.Root().Children(nil)) == 0
	d.form.Complete = v.completer(c.Server, it)
	if old != nil {
		d.form.Continue(old)
	}
	d.saved = d.form.Revision()
	return d.form.Cmd()
}

func (v *formScreen) find(s *session.Session, name string) (offer.Item, bool) {
	for _, it := range s.Listing(v.kind).Items {
		if v.name(it) == name {
			return it, true
		}
	}
	return offer.Item{}, false
}

// edited takes back what $EDITOR made of a text or of the value.
func (v *formScreen) edited(c *tui.Ctx, m tui.Edited) tea.Cmd {
	d := v.editing
	v.editing = nil
	if d == nil {
		return nil
	}
	return pane.EditedForm(c, d.form, m)
}

func (v *formScreen) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "result" {
		return v.drawResult(c, p)
	}
	if v.cur == nil {
		p.Title, p.Badge = v.info.Panes[0].Title, ""
		p.Lines, p.Scroll = pane.Message(c.Theme, p.W, "Nothing is open here.",
			"Pick one of the server's "+v.formKind.kind.String()+" in its list and press enter, or find it by name with ctrl+p."), tui.Scroll{}
		return nil
	}
	cursor := pane.DrawForm(c, p, v.cur.form)
	p.Title = safe.Line(v.name(v.cur.item), 120)
	if note := v.cur.note(); note != "" {
		p.Badge = firstFit(p.W-6-paint.Width(p.Title), note+" · "+c.KeyOf(v.info.ID+".reset")+" clears · "+p.Badge, note+" · "+p.Badge, p.Badge)
	}
	p.Foot = ""
	if below, ok := c.Below(); ok {
		p.Foot = c.KeyOf("app.flip") + " below"
		if below {
			p.Foot = c.KeyOf("app.flip") + " side by side"
		}
	}
	return cursor
}

// firstFit is the first text of at most w cells, else the last.
func firstFit(w int, texts ...string) string {
	for _, s := range texts[:len(texts)-1] {
		if paint.Width(s) <= w {
			return s
		}
	}
	return texts[len(texts)-1]
}

// firstRows makes the form as tall as what is in it; a result has at least two fifths.
func (v *formScreen) firstRows(c *tui.Ctx, w, h int) int {
	most := h * 3 / 5
	if !v.reply.Shown() {
		most = h - 4
	}
	if v.cur == nil {
		return most
	}
	v.cur.form.SetTheme(c.Theme)
	return min(v.cur.form.Rows(w-2)+1, most)
}

func (v *formScreen) breadcrumb(*tui.Ctx) string {
	if v.cur == nil {
		return ""
	}
	return safe.Line(v.name(v.cur.item), 60)
}

func (v *formScreen) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	if v.cur == nil {
		return nil
	}
	switch {
	case k == tui.CopyCommand:
		if c.Server == nil {
			return nil
		}
		return pane.CopyCommand(c.Server.Config(), pane.WithMeta(c.Server, v.command(v.cur)))
	case k == tui.CopyCurl:
		return shell.Curl(c.Sessions, v.cur.request)
	case k == tui.CopyRaw && v.cur.last != nil:
		last := v.cur.last
		return func() (string, error) {
			b, err := last()
			return string(b), err
		}
	case c.Focus == "result":
		return v.reply.Doc.CopyText(k)
	case k == tui.CopyJSON || k == tui.CopyValue:
		f := v.cur.form
		return func() (string, error) { return pane.FullJSON(f), nil }
	}
	return nil
}

func (v *formScreen) pageText(c *tui.Ctx) (text, ext string, ok bool) {
	if c.Focus == "form" && v.cur != nil {
		return pane.FullJSON(v.cur.form), ".json", true
	}
	return v.reply.Doc.PageText()
}
