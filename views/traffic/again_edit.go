package traffic

import (
	"fmt"
	"io"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// editor changes the params of a request before it is sent again. Navigate's Arg is a [pane.Again]; what was typed for an entry of the
// journal is kept until the program ends.
type editor struct {
	drafts []*editDraft // the newest last
	cur    *editDraft
	op     uint64 // that reads the request
	err    error
}

// maxEdits is how many texts are kept.
const maxEdits = 50

// editDraft is a request with what was typed for it.
type editDraft struct {
	req    calls.Request
	before calls.Answer
	form   *form.Form
}

// NewEditor is the screen on which a request is changed and sent again.
func NewEditor() *tui.Screen { return (&editor{}).screen() }

func (v *editor) screen() *tui.Screen {
	return &tui.Screen{
		ID: "edit", Title: "Edit", Tab: "traffic", NoRail: true,
		Panes:   []tui.PaneSpec{{ID: "form", Title: "Params"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		CopyText: v.copyText, Typing: v.typing, Hints: v.hints, Breadcrumb: v.breadcrumb,
	}
}

func (v *editor) nothing(*tui.Ctx) string {
	if v.cur == nil {
		return "nothing is open: press e on a frame in Traffic"
	}
	return ""
}

func (v *editor) actions() []tui.Action {
	return append([]tui.Action{
		{
			ID: "edit.send", Verb: tui.VerbSend, Title: "send", Group: "Form", Hint: 1,
			Help: "Send the request with these params, and compare the answers.", Disabled: v.nothing,
			Run: func(c *tui.Ctx) tea.Cmd { return v.send(c, false) },
		},
		{
			ID: "edit.sendto", Word: "sendto", Title: "send to", Group: "Form", Hint: 2,
			Help: "Send the request with these params to another server, by another path, or in another protocol version.", Disabled: v.nothing,
			Run: func(c *tui.Ctx) tea.Cmd { return v.send(c, true) },
		},
		{
			ID: "edit.editor", Verb: tui.VerbEditor, Title: "edit in $EDITOR", Group: "Form", Hint: 3,
			Help: "Edit the params as JSON in $EDITOR.", Disabled: v.nothing,
			Run: func(c *tui.Ctx) tea.Cmd {
				tag, text, ext := v.cur.form.EditText()
				return c.Edit("edit", tag, text, ext)
			},
		},
		{
			ID: "edit.reset", Verb: tui.VerbReset, Title: "start over", Group: "Form",
			Help: "Go back to the params as they were sent; ctrl+z undoes it.", Disabled: v.nothing,
			Run: func(*tui.Ctx) tea.Cmd {
				v.cur.fill()
				return v.cur.form.Cmd()
			},
		},
	}, pane.FormActions("edit", v.nothing, func() *form.Form { return v.cur.form }, func(*tui.Ctx) tea.Cmd { return v.cur.form.Cmd() })...)
}

// typing is whether letters go into the form.
func (v *editor) typing(*tui.Ctx) bool { return v.cur != nil && v.cur.form.Typing() }

// hints say how to leave the screen.
func (v *editor) hints(c *tui.Ctx) []tui.Hint {
	if v.typing(c) {
		return []tui.Hint{{Key: "esc", Title: "back"}}
	}
	return pane.BackHint(true)
}

func (v *editor) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate:
		if of, ok := m.Arg.(pane.Again); ok {
			return v.open(c, of), true
		}
		return nil, true
	case tui.OpDone:
		r, ok := m.Value.(openedRequest)
		if !ok || m.Op != v.op {
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
	case tea.KeyPressMsg:
		if pane.IsBack(msg) && !v.typing(c) {
			return c.Back(), true
		}
	}
	if v.cur == nil {
		return nil, false
	}
	return pane.ToForm(c, v.cur.form, msg, func() (tea.Cmd, bool) { return nil, false })
}

func (v *editor) open(c *tui.Ctx, of pane.Again) tea.Cmd {
	v.cur, v.err = nil, nil
	cmd, op := c.Replace("edit", "read", "read the request", readRequest(c.Sessions.Journal(), of))
	v.op = op
	return tea.Batch(cmd, c.FocusPane("form"))
}

// edit opens a request, with what was typed for it before.
func (v *editor) edit(c *tui.Ctx, r openedRequest) tea.Cmd {
	i := slices.IndexFunc(v.drafts, func(d *editDraft) bool { return string(d.req.Frame) == string(r.req.Frame) })
	if i >= 0 {
		v.cur = v.drafts[i]
		return v.cur.form.Cmd()
	}
	d := &editDraft{req: r.req, before: r.before, form: form.New(schema.Parse([]byte(`{}`)), c.Theme)}
	d.fill()
	if !d.form.Raw() {
		d.form.Key(tui.PressOf("ctrl+r"))
	}
	if v.drafts = append(v.drafts, d); len(v.drafts) > maxEdits {
		v.drafts = v.drafts[1:]
	}
	v.cur = d
	return d.form.Cmd()
}

// fill puts the params as they were sent into the form.
func (d *editDraft) fill() {
	params := d.req.Params()
	if params == nil {
		params = []byte("{}")
	}
	_ = d.form.SetJSON(params) // it is valid: it was read as a frame
}

// send hands the request over to be sent; text that is not JSON stays where it is.
func (v *editor) send(c *tui.Ctx, choose bool) tea.Cmd {
	d := v.cur
	if err := d.form.Err(); err != nil {
		return c.Toast(tui.Warning, "not valid JSON: "+err.Error())
	}
	params := d.form.JSON()
	if len(params) > 0 && params[0] != '{' && params[0] != '[' {
		return c.Toast(tui.Warning, "params are a JSON object")
	}
	req, err := d.req.With(params)
	if d.req.Params() == nil && string(params) == "{}" {
		req, err = d.req, nil
	}
	if err != nil {
		return c.Toast(tui.Warning, err.Error())
	}
	return c.Navigate("again", pane.Again{Request: &req, Asked: &d.req, Before: &d.before, Choose: choose})
}

func (v *editor) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	p.Title, p.Badge, p.Foot, p.Scroll = "Params", "", "", tui.Scroll{}
	switch {
	case v.err != nil:
		p.Lines = append([]string{""}, pane.ErrorLines(c.Theme, p.W, v.err)...)
		return nil
	case v.op != 0:
		p.Lines = pane.Message(c.Theme, p.W, "Reading the request…", "")
		return nil
	case v.cur == nil:
		p.Lines = pane.Message(c.Theme, p.W, "Nothing is open here.", "Press e on a frame in Traffic.")
		return nil
	}
	p.Title = v.breadcrumb(c)
	if v.cur.req.Server != "" {
		p.Foot = "to " + safe.Line(c.ServerTitle(v.cur.req.Server), 60)
	}
	return pane.DrawForm(c, p, v.cur.form)
}

func (v *editor) breadcrumb(*tui.Ctx) string {
	if v.cur == nil {
		return ""
	}
	return safe.Line(strings.TrimSpace(v.cur.req.Method()+" "+v.cur.req.Target()), 60)
}

func (v *editor) copyText(_ *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	if v.cur == nil || k != tui.CopyJSON && k != tui.CopyValue {
		return nil
	}
	f := v.cur.form
	return func() (string, error) { return pane.FullJSON(f), nil }
}

func (v *editor) plain(c *tui.Ctx, w io.Writer) {
	if v.cur != nil {
		fmt.Fprintf(w, "%s %s\n", v.breadcrumb(c), safe.Line(string(jsonrpc.OneLine(v.cur.form.JSON())), 2000))
	}
}
