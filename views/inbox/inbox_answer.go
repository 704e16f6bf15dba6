package inbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/form"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// answer shows one question and takes its answer. Navigate's Arg is the id (uint64) of the question; without one it is the oldest that
// waits.
type answer struct {
	*questions
	reply  pane.Reply
	cur    pending.Record
	open   bool // cur still waits
	at     uint64
	shown  string
	draft  *answerDraft // nil while there is nothing to fill in
	browse func(ctx context.Context, url string) error
	model  *chat.Client // nil where none is configured

	editing *answerDraft // what is open in $EDITOR
}

// answerDraft is what was typed for a question. It is never saved.
type answerDraft struct{ form *form.Form }

// NewAnswer is the screen of one question and its answer; browse and model may be nil.
func NewAnswer(q *questions, browse func(context.Context, string) error, model *chat.Client) *tui.Screen {
	return (&answer{questions: q, browse: browse, model: model, reply: pane.NewReply("answer", "question")}).screen()
}

func (v *answer) screen() *tui.Screen {
	return &tui.Screen{
		ID: "answer", Title: "Answer", Tab: "inbox", NoRail: true, AllServers: true, Split: 40, StackUnder: pane.StackUnder,
		Panes:   []tui.PaneSpec{{ID: "question", Title: "Question"}, {ID: "form", Title: "Answer"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Choices: v.choices, PageText: v.pageText, CopyText: v.copyText, Typing: v.typing, Hints: v.hints, Rows: v.firstRows, Lone: v.lone,
		Breadcrumb: v.breadcrumb, Question: v.question,
	}
}

func (v *answer) actions() []tui.Action {
	all := []tui.Action{
		{
			ID: "answer.accept", Verb: tui.VerbSend, Title: "accept", Group: "Answer", Hint: 1,
			Help: "Send what the form holds; of a page, say that you agree to visit it.", Disabled: v.over, Run: v.accept,
		},
		{
			ID: "answer.decline", Verb: tui.VerbDecline, Title: "decline", Group: "Answer", Hint: 2,
			Help: "Decline the question: the server is told that you do not want to answer.", Disabled: v.over,
			Run: func(c *tui.Ctx) tea.Cmd { return v.leave(c, v.decline(c, v.cur.Question)) },
		},
		{
			ID: "answer.cancel", Verb: tui.VerbDismiss, Title: "cancel", Group: "Answer", Hint: 3,
			Help: "Dismiss the elicitation without choosing: the server is told that it was cancelled.", Disabled: v.noCancel,
			Run: func(c *tui.Ctx) tea.Cmd {
				return v.leave(c, v.give(c, v.cur.Question, pending.ActionResult(pending.Cancel)))
			},
		},
		{
			ID: "answer.page", Verb: tui.VerbElsewhere, Title: "open page", Group: "Answer", Hint: 1, Pane: "question",
			Help: "Open the page that the server names in the browser: https, or http on this machine.", Disabled: v.noPage, Run: v.openPage,
		},
		{
			ID: "answer.model", Verb: tui.VerbModel, Title: v.modelTitle(), Group: "Answer", Hint: 4,
			Help: "Let the configured language model answer; what it says goes into the form.", Disabled: v.noModel, Run: v.askModel,
		},
		{
			ID: "answer.editor", Verb: tui.VerbEditor, Title: "edit in $EDITOR", Group: "Form", Pane: "form",
			Help: "Edit the focused text, or the whole value as JSON, in $EDITOR.", Disabled: v.nothing,
			Run: func(c *tui.Ctx) tea.Cmd {
				tag, text, ext := v.draft.form.EditText()
				v.editing = v.draft
				return c.Edit("answer", tag, text, ext)
			},
		},
		{
			ID: "answer.file", Verb: tui.VerbFile, Title: "pick a file", Group: "Form", Pane: "form",
			Help: "Put the path of a file into the focused field, or its bytes where the schema wants base64.", Disabled: v.noFile, Run: v.pickFile,
		},
		{
			ID: "answer.reset", Verb: tui.VerbReset, Title: "start over", Group: "Form", Pane: "form",
			Help: "Reset the form to the schema's defaults; ctrl+z undoes it.", Disabled: v.nothing,
			Run: func(c *tui.Ctx) tea.Cmd {
				fillDefaults(v.draft.form)
				return v.draft.form.Cmd()
			},
		},
		{
			ID: "answer.later", Verb: tui.VerbLeave, Title: "answer later", Group: "Answer", Hint: 60,
			Help: "Go back to where you came from; the question waits, and what was typed is kept.",
			Now: func(c *tui.Ctx) string {
				if v.over(c) != "" {
					return "back"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { return c.Back() },
		},
	}
	all = append(all, pane.FormActions("answer", v.nothing, func() *form.Form { return v.draft.form }, func(*tui.Ctx) tea.Cmd { return v.draft.form.Cmd() })...)
	return append(all, questionActions(&v.reply, "answer", "question")...)
}

func (v *answer) over(*tui.Ctx) string {
	switch {
	case v.at == 0:
		return "there is no question"
	case !v.open:
		return "this question is over"
	}
	return ""
}

func (v *answer) noCancel(c *tui.Ctx) string {
	if why := v.over(c); why != "" {
		return why
	}
	return cannotCancel(v.cur.Question)
}

func (v *answer) nothing(*tui.Ctx) string {
	if v.draft == nil {
		return "there is nothing to fill in"
	}
	return ""
}

func (v *answer) noFile(c *tui.Ctx) string {
	if why := v.nothing(c); why != "" {
		return why
	}
	return pane.NoFileField(v.draft.form)
}

func (v *answer) pickFile(c *tui.Ctx) tea.Cmd {
	return pane.PickFile(c, "answer", v.draft.form, v.draft, v.putFile)
}

func (v *answer) putFile(c *tui.Ctx, r pane.FileRead[*answerDraft]) tea.Cmd {
	if err := r.Draft.form.SetFile(r.Pointer, r.Path, r.Bytes); err != nil {
		return c.Toast(tui.Failure, err.Error())
	}
	return r.Draft.form.Cmd()
}

// typing is whether letters go into the form.
func (v *answer) typing(c *tui.Ctx) bool {
	return c.Focus == "form" && v.draft != nil && v.draft.form.Typing()
}

// hints are what the form's keys do at the focused field.
func (v *answer) hints(c *tui.Ctx) (out []tui.Hint) {
	if c.Focus != "form" || v.draft == nil {
		return nil
	}
	for _, h := range v.draft.form.Hints() {
		out = append(out, tui.Hint{Key: h.Keys[0], Title: h.Text})
	}
	return out
}

// lone says that there is nothing to fill in.
func (v *answer) lone(*tui.Ctx) bool { return v.draft == nil }

// firstRows makes the question as tall as what it says, up to half of the screen.
func (v *answer) firstRows(_ *tui.Ctx, w, h int) int {
	return min(pane.QuestionRows(v.cur.Question, w-2)+1, h/2)
}

func (v *answer) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate:
		id, _ := m.Arg.(uint64)
		return v.show(c, id), true
	case tui.SessionChanged:
		return v.sync(c), true
	case tui.OpDone:
		return v.finished(c, m)
	case tui.Edited:
		return v.edited(c, m), true
	case tui.FilterChanged, tui.FindNext, tui.Resized:
		return v.reply.Handle(c, msg)
	case tui.PaneMouse:
		if m.Pane == "question" {
			return v.reply.Handle(c, msg)
		}
	}
	if cmd, ok := v.toForm(c, msg); ok {
		return cmd, true
	}
	if c.Focus == "question" {
		return v.reply.Handle(c, msg)
	}
	return nil, false
}

// question is the oldest other one that waits, 0 if there is none.
func (v *answer) question(*tui.Ctx) uint64 {
	for _, q := range v.questions.open {
		if q.ID != v.at {
			return q.ID
		}
	}
	return 0
}

// show opens a question, the oldest one if id is 0.
func (v *answer) show(c *tui.Ctx, id uint64) tea.Cmd {
	if id == 0 {
		id = v.oldest()
	}
	if id == 0 && v.at == 0 {
		return c.Return("inbox")
	}
	if id != 0 && id != v.at {
		v.at, v.shown = id, ""
	}
	cmd := v.sync(c)
	if v.draft == nil {
		return tea.Batch(cmd, c.FocusPane("question"))
	}
	v.draft.form.Ask()
	return tea.Batch(cmd, v.draft.form.Cmd(), c.FocusPane("form"))
}

// sync takes in what became of the question.
func (v *answer) sync(c *tui.Ctx) (cmd tea.Cmd) {
	if v.at == 0 {
		return nil
	}
	e, open, ok := v.find(v.at)
	was := v.open
	if v.open = open; ok {
		v.cur = e
	}
	key := fmt.Sprint(v.at, open, ok, e.Completed)
	if key == v.shown {
		return nil
	}
	v.shown = key
	cmd = loadQuestion(c, &v.reply, v.cur)
	if v.draft = v.drafts[v.at]; v.draft == nil && open {
		if f := answerForm(v.cur.Question, c.Theme); f != nil {
			v.draft = &answerDraft{f}
			v.drafts[v.at] = v.draft
			cmd = tea.Batch(cmd, f.Cmd())
		}
	}
	if was && !open && ok && v.cur.Why != "" && c.View == "answer" {
		cmd = tea.Batch(cmd, c.Toast(tui.Warning, "nobody waits for this answer any more: "+v.cur.Why))
	}
	return cmd
}

func (v *answer) finished(c *tui.Ctx, m tui.OpDone) (tea.Cmd, bool) {
	switch r := m.Value.(type) {
	case pane.FileRead[*answerDraft]:
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error()), true
		}
		return v.putFile(c, r), true
	case modelSaid:
		return v.filled(c, r), true
	case pageOpened:
		if m.Err != nil {
			return c.Toast(tui.Failure, m.Err.Error()), true
		}
		return c.Toast(tui.Success, "opened in the browser: "+c.KeyOf("answer.accept")+" accepts once you are done there"), true
	}
	if m.Err != nil && m.Slot == "" && m.Label != "save" {
		return c.Toast(tui.Failure, m.Err.Error()), true
	}
	return v.reply.Handle(c, m)
}

// edited takes back what $EDITOR made of a text or of the value.
func (v *answer) edited(c *tui.Ctx, m tui.Edited) tea.Cmd {
	d := v.editing
	v.editing = nil
	if d == nil {
		return nil
	}
	return pane.EditedForm(c, d.form, m)
}

// toForm gives the form what is meant for it, and other drafts the checks that ended after another question was opened.
func (v *answer) toForm(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if v.draft == nil {
		return nil, false
	}
	cmd, ok := pane.ToForm(c, v.draft.form, msg, func() (tea.Cmd, bool) {
		if v.over(c) != "" {
			return nil, false
		}
		return v.accept(c), true
	})
	switch msg.(type) {
	case tea.KeyPressMsg, tea.PasteMsg, tui.PaneMouse:
		return cmd, ok
	}
	for _, d := range v.drafts {
		ok = ok || d.form.Handle(msg)
	}
	return cmd, ok
}

// accept sends the answer, after asking where it is not what the schema says.
func (v *answer) accept(c *tui.Ctx) tea.Cmd {
	q, d := v.cur.Question, v.draft
	if d == nil {
		return v.leave(c, v.give(c, q, pending.ActionResult(pending.Accept)))
	}
	if err := d.form.Err(); err != nil {
		return c.Toast(tui.Warning, "not valid JSON: "+err.Error())
	}
	send := func(c *tui.Ctx) tea.Cmd {
		result, err := answerResult(q, d.form)
		if err != nil {
			return c.Toast(tui.Warning, err.Error())
		}
		return v.leave(c, v.give(c, q, result))
	}
	problems := d.form.Check() // not Problems: the last key may not be checked yet
	if len(problems) == 0 {
		return send(c)
	}
	return c.Confirm(pane.InvalidForm("The answer is not valid.", "Sending it tests how the server takes it.", problems, send))
}

// callers are the screens on which a call of a method waits.
var callers = map[string][]string{"tools/call": {"call"}, "prompts/get": {"prompt"}, "resources/read": {"resources", "template"}}

// leave goes back to the call that waited for the answer, else to where the question was opened from, if it was answered.
func (v *answer) leave(c *tui.Ctx, answered tea.Cmd) tea.Cmd {
	if _, waits, _ := v.find(v.at); waits {
		return answered
	}
	v.open, v.draft = false, nil
	return tea.Sequence(answered, c.BackTo(callers[cmp.Or(v.cur.Cause.Method, "tools/call")]...)) // an unknown one is most often a tool's
}

func (v *answer) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "question" {
		if v.at == 0 {
			p.Title, p.Badge, p.Foot, p.Scroll = "Question", "", "", tui.Scroll{}
			p.Lines = pane.Message(c.Theme, p.W, "Nothing is open here.", "Pick a question in the inbox and press enter.")
			return nil
		}
		p.Title = questionTitle(c.Theme, v.cur, v.open)
		return v.reply.Draw(c, p)
	}
	p.Title, p.Badge, p.Foot, p.Lines, p.Scroll = "Your answer", "", "", p.Lines[:0], tui.Scroll{}
	if v.draft == nil {
		return nil
	}
	cursor := pane.DrawForm(c, p, v.draft.form)
	if !v.open {
		p.Badge = "over"
	}
	return cursor
}

func (v *answer) breadcrumb(*tui.Ctx) string { return safe.Line(v.cur.Title, 60) }

func (v *answer) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	switch {
	case v.at == 0:
		return nil
	case k == tui.CopyRaw:
		return tui.CopyBytes(v.cur.Params)
	case c.Focus == "question" && v.cur.Kind == pending.URL && k == tui.CopyValue:
		return tui.CopyString(pageURL(v.cur.Question), true)
	case c.Focus == "question":
		return v.reply.Doc.CopyText(k)
	case v.draft != nil && (k == tui.CopyJSON || k == tui.CopyValue):
		f := v.draft.form
		return func() (string, error) { return pane.FullJSON(f), nil }
	}
	return nil
}

func (v *answer) pageText(c *tui.Ctx) (text, ext string, ok bool) {
	if c.Focus == "form" && v.draft != nil {
		return pane.FullJSON(v.draft.form), ".json", true
	}
	return v.reply.Doc.PageText()
}

// answerResult is what is sent for what a form holds.
func answerResult(q pending.Question, f *form.Form) (json.RawMessage, error) {
	content := f.JSON()
	if content == nil {
		content = json.RawMessage("{}")
	}
	switch q.Kind {
	case pending.Form:
		return pending.AcceptResult(content), nil
	case pending.Sampling:
		return samplingResult(content)
	}
	return content, nil
}
