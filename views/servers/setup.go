package servers

import (
	"io"
	"maps"
	"reflect"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// setupRequest, as the Arg of a Navigate to the screen "setup", asks for what a server needs to be told before it can start.
type setupRequest struct {
	Title  string // what asks for them
	Inputs []setup.Input
	Given  map[string]string // what is known already
	// NoKeychain is that the secrets go where everything else goes: nobody asks whether to keep them in the keychain.
	NoKeychain bool
	// Done takes the values; remember is that the secrets among them are to be kept in the keychain. The screen before is shown
	// again by then.
	Done func(c *tui.Ctx, values setup.Values, remember bool) tea.Cmd
}

// setupScreen is a form over the inputs of a setupRequest.
type setupScreen struct {
	req  setupRequest
	form *form.Form
}

// NewSetup is the form for what a server needs to be told before it starts.
func NewSetup() *tui.Screen { return (&setupScreen{}).screen() }

func (v *setupScreen) screen() *tui.Screen {
	return &tui.Screen{
		ID: "setup", Title: "Server settings", Tab: "servers", AllServers: true, NoRail: true,
		Panes:   []tui.PaneSpec{{ID: "form", Title: "Server settings"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Choices: v.choices, Typing: v.typing, Hints: v.hints,
	}
}

func (v *setupScreen) actions() []tui.Action {
	return append([]tui.Action{
		{
			ID: "setup.use", Verb: tui.VerbSend, Title: "go on with these", Group: "Form", Hint: 1,
			Help: "Go on with the values of the form.", Disabled: v.none, Run: v.use,
		},
		{
			ID: "setup.file", Verb: tui.VerbFile, Title: "pick a file", Group: "Form", Pane: "form",
			Help: "Put the path of a file or folder into the focused field.", Disabled: v.noFile,
			Run: func(c *tui.Ctx) tea.Cmd {
				return pane.PickFile(c, "setup", v.form, v.form, func(c *tui.Ctx, r pane.FileRead[*form.Form]) tea.Cmd {
					if err := r.Draft.SetFile(r.Pointer, r.Path, r.Bytes); err != nil {
						return c.Toast(tui.Failure, err.Error())
					}
					return r.Draft.Cmd()
				})
			},
		},
		{
			ID: "setup.back", Verb: tui.VerbLeave, Title: "cancel", Group: "Form", Hint: 60,
			Help: "Go back without starting anything.", Run: func(c *tui.Ctx) tea.Cmd { return c.Back() },
		},
	}, pane.FormActions("setup", v.none, func() *form.Form { return v.form }, func(*tui.Ctx) tea.Cmd { return v.form.Cmd() })...)
}

func (v *setupScreen) none(*tui.Ctx) string {
	if v.form == nil {
		return "no server asks for settings"
	}
	return ""
}

func (v *setupScreen) noFile(c *tui.Ctx) string {
	if why := v.none(c); why != "" {
		return why
	}
	return pane.NoFileField(v.form)
}

// typing is whether letters go into the form.
func (v *setupScreen) typing(*tui.Ctx) bool { return v.form != nil && v.form.Typing() }

// hints are what the form's keys do at the focused field.
func (v *setupScreen) hints(*tui.Ctx) (out []tui.Hint) {
	if v.form == nil {
		return nil
	}
	for _, h := range v.form.Hints() {
		out = append(out, tui.Hint{Key: h.Keys[0], Title: h.Text})
	}
	return out
}

func (v *setupScreen) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if m, ok := msg.(tui.Navigate); ok {
		if req, ok := m.Arg.(setupRequest); ok {
			return v.open(c, req), true
		}
		return nil, true
	}
	if v.form == nil {
		return nil, false
	}
	return pane.ToForm(c, v.form, msg, func() (tea.Cmd, bool) { return v.use(c), true })
}

func (v *setupScreen) open(c *tui.Ctx, req setupRequest) tea.Cmd {
	if v.form != nil && v.req.Title == req.Title && reflect.DeepEqual(v.req.Inputs, req.Inputs) && maps.Equal(v.req.Given, req.Given) {
		v.req = req // what was typed before somebody went back is still there
		return v.form.Cmd()
	}
	v.req, v.form = req, form.New(schema.Parse(setup.Schema(req.Inputs)), c.Theme)
	given := map[string]string{}
	for _, in := range req.Inputs {
		if in.Default != "" && !in.Secret { // which is said in words: see [setup.Schema]
			given[in.Name] = in.Default
		}
		if g := req.Given[in.Name]; g != "" {
			given[in.Name] = g
		}
	}
	err := v.form.SetJSON(setup.Object(req.Inputs, given))
	v.form.MarkClean()
	if err != nil {
		return c.Toast(tui.Failure, err.Error())
	}
	return v.form.Cmd()
}

// use hands over what the form holds, after asking where new secrets are to stay.
func (v *setupScreen) use(c *tui.Ctx) tea.Cmd {
	if err := v.form.Err(); err != nil {
		return c.Toast(tui.Warning, "not valid JSON: "+err.Error())
	}
	if problems := v.form.Check(); len(problems) > 0 {
		return tea.Batch(v.form.Cmd(), c.Toast(tui.Warning, problems[0].Sentence()))
	}
	given, err := setup.Given(v.form.JSON())
	if err != nil {
		return c.Toast(tui.Warning, err.Error())
	}
	values, err := setup.Read(v.req.Inputs, given)
	if err != nil {
		return c.Toast(tui.Warning, err.Error())
	}
	req := v.req
	done := func(c *tui.Ctx, remember bool) tea.Cmd {
		v.form, v.req = nil, setupRequest{} // no secret stays behind
		return tea.Sequence(c.Back(), req.Done(c, values, remember))
	}
	var fresh []string
	for _, in := range req.Inputs {
		if g := given[in.Name]; in.Secret && g != "" && g != req.Given[in.Name] && !in.Declares(g) {
			fresh = append(fresh, safe.Line(in.Name, 60))
		}
	}
	if fresh == nil || req.NoKeychain {
		return done(c, false)
	}
	return c.Confirm(tui.Confirmation{
		Title: "Keep secrets in the keychain?",
		Body: strings.Join(fresh, ", ") + "\n\nKept in the keychain, they need not be typed again for this server. " +
			"Otherwise they are forgotten when mcphud ends.",
		Yes: "keep", No: "only for this run",
		OnYes: func(c *tui.Ctx) tea.Cmd { return done(c, true) },
		OnNo:  func(c *tui.Ctx) tea.Cmd { return done(c, false) },
	})
}

func (v *setupScreen) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if v.form == nil {
		p.Lines, p.Scroll = pane.Message(c.Theme, p.W, "No server asks for settings.", "They are asked for when a server that needs some is opened."), tui.Scroll{}
		return nil
	}
	p.Title = safe.Line(v.req.Title, 80)
	return pane.DrawForm(c, p, v.form)
}

// plain writes nothing: what is asked for stands in the choices.
func (v *setupScreen) plain(*tui.Ctx, io.Writer) {}

// choices are the fields, each asked for by its number, and going on.
func (v *setupScreen) choices(*tui.Ctx) []tui.Choice {
	if v.form == nil {
		return nil
	}
	return append(pane.FieldChoices(v.form, func() {}), tui.Choice{Label: "go on with these", Run: v.use})
}
