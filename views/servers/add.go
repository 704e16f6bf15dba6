package servers

import (
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// adder adds servers: what is typed, pasted or made elsewhere, then where to keep it. Letters always go to the text; the rows below
// it are what can be done with it, or where else to begin while there is none. Navigate's Arg is nil, a text (string) to begin
// with, or an [offered]. What was typed stays until it was added.
type adder struct {
	configs *Configs
	trust   *config.Trust
	bring   bringer
	typed   addText
	made    *offered // in place of what is typed
	why     string   // why what was typed cannot be added
	json    bool     // the text is expected to be pasted
	at      int      // row under the cursor
	top     int      // first row drawn
	spots   []int    // row of each drawn line, -1 for none
	rev     int
	files   []config.Destination
}

// offered are servers that something else than typing made: a template, the registry, a bundle.
type offered struct {
	from    string // "From the template github"
	servers []config.Server
}

// pasteHere, as Navigate's Arg, says that JSON is to be pasted.
type pasteHere struct{}

// addRow is something that can be done.
type addRow struct {
	group, title, about string
	run                 func(*tui.Ctx) tea.Cmd
}

// NewAdder is the screen that takes servers in from pasted text; published may be nil.
func NewAdder(configs *Configs, trust *config.Trust, from *Published) *tui.Screen {
	if from == nil {
		from = &Published{}
	}
	return (&adder{configs: configs, trust: trust, bring: bringer{view: "addserver", from: from}}).screen()
}

func (v *adder) screen() *tui.Screen {
	return &tui.Screen{
		ID: "addserver", Title: "Add", Tab: "servers", NoRail: true, AllServers: true,
		Panes:   []tui.PaneSpec{{ID: "add", Title: "Add"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Choices: v.choices, Typing: v.typing, Hints: v.hints,
	}
}

func (v *adder) actions() []tui.Action {
	return []tui.Action{
		{
			ID: "addserver.take", Verb: tui.VerbOpen, Title: "add", Group: "Add", Hint: 1,
			Help: "Do what the row under the cursor says: add the server and keep it there, or begin elsewhere.",
			Now: func(c *tui.Ctx) string {
				if v.servers() == nil && v.typed.empty() {
					return "choose"
				}
				return ""
			},
			Run: v.take,
		},
		{
			ID: "addserver.editor", Verb: tui.VerbEditor, Title: "type in $EDITOR", Group: "Add", Hint: 3,
			Help: "Type a command, a URL or JSON in $EDITOR.", Disabled: v.notTyped,
			Run: func(c *tui.Ctx) tea.Cmd { return c.Edit("addserver", "text", v.typed.text(), ".json") },
		},
		{
			ID: "addserver.clear", Verb: tui.VerbLeaveOut, Title: "clear", Group: "Add", Hint: 4,
			Help: "Forget what was typed or chosen, and begin again.",
			Disabled: func(*tui.Ctx) string {
				if v.made == nil && v.typed.empty() {
					return "nothing is typed"
				}
				return ""
			},
			Run: func(*tui.Ctx) tea.Cmd { v.clear(); return nil },
		},
	}
}

func (v *adder) notTyped(c *tui.Ctx) string {
	if v.made != nil {
		return "ctrl+x begins again"
	}
	return ""
}

func (v *adder) clear() {
	v.made, v.typed, v.why, v.at, v.top = nil, addText{}, "", 0, 0
	v.rev++
}

// typing is always: letters go to the text.
func (v *adder) typing(*tui.Ctx) bool { return true }

// hints say how to move and leave.
func (v *adder) hints(*tui.Ctx) []tui.Hint {
	return []tui.Hint{{Key: "down", Title: "next"}, {Key: "esc", Title: "back"}}
}

// servers are what would be added, as it is written; nil if what was typed is not one.
func (v *adder) servers() []config.Server {
	if v.made == nil && v.typed.path() != "" {
		return nil
	}
	list, err := v.asWritten()
	if err != nil {
		return nil
	}
	return list
}

// where says where files are, and expands variables in what is pasted.
func (v *adder) where() config.Options {
	if v.configs == nil {
		return config.Options{}
	}
	return v.configs.Where
}

// rows are what can be done now.
func (v *adder) rows(c *tui.Ctx) []addRow {
	switch path := v.typed.path(); {
	case v.made == nil && v.typed.empty():
		return v.beginnings(c)
	case v.made == nil && path != "":
		return []addRow{{"Open it", pane.ShortPath(v.where(), v.absolute(path), false), "a bundle, the description of a server, or JSON", func(c *tui.Ctx) tea.Cmd {
			return v.readFile(c, v.absolute(path))
		}}}
	}
	return v.places(c)
}

func (v *adder) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate:
		return v.open(c, m.Arg), true
	case tui.Edited:
		if m.Tag == "text" && m.Err == nil && m.Changed {
			v.typed = addText{}
			v.typed.paste(m.Text)
			v.changed()
		}
		return nil, true
	case tea.PasteMsg:
		v.made = nil
		v.typed.paste(m.Content)
		v.changed()
		return nil, true
	case tea.KeyPressMsg:
		return nil, v.key(c, m)
	case tui.PaneMouse:
		v.move(c, m.Wheel)
		if m.Click == tea.MouseLeft && m.Y >= 0 && m.Y < len(v.spots) && v.spots[m.Y] >= 0 {
			v.at = v.spots[m.Y]
			v.rev++
			return v.take(c), true
		}
		return nil, true
	case tui.OpDone:
		return v.finished(c, m), true
	}
	return nil, false
}

// open begins with what was given, or goes on with what was typed before.
func (v *adder) open(c *tui.Ctx, arg any) tea.Cmd {
	v.json = false
	switch given := arg.(type) {
	case offered:
		v.clear()
		v.made = &given
	case pasteHere:
		v.json = true
	case string:
		v.clear()
		v.typed.paste(given)
	}
	v.rev++
	return v.lookForFiles(c)
}

func (v *adder) key(c *tui.Ctx, m tea.KeyPressMsg) bool {
	switch m.String() {
	case "up", "shift+tab", "ctrl+p":
		v.move(c, -1)
	case "down", "tab", "ctrl+n":
		v.move(c, 1)
	case "pgup":
		v.move(c, -10)
	case "pgdown":
		v.move(c, 10)
	default:
		if v.made != nil || !v.typed.key(m) {
			return false
		}
		v.changed()
	}
	return true
}

func (v *adder) move(c *tui.Ctx, by int) {
	if by != 0 {
		v.at = min(max(v.at+by, 0), max(len(v.rows(c))-1, 0))
		v.rev++
	}
}

// changed begins with the first row again.
func (v *adder) changed() {
	v.why, v.at, v.top = "", 0, 0
	v.rev++
}

// take does what the row under the cursor says.
func (v *adder) take(c *tui.Ctx) tea.Cmd {
	if v.made == nil && !v.typed.empty() && v.typed.path() == "" {
		if _, err := v.asWritten(); err != nil {
			v.why = err.Error()
			v.rev++
			return nil
		}
	}
	if rows := v.rows(c); len(rows) > 0 {
		return rows[min(v.at, len(rows)-1)].run(c)
	}
	return nil
}

func (v *adder) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	th := c.Theme
	p.Title, p.Badge, p.Scroll = "Add", "", tui.Scroll{}
	lines := p.Lines[:0]
	var cursor *tea.Cursor
	if v.made != nil {
		lines = append(lines, " "+safe.Line(v.made.from, p.W-4)+":", "")
	} else {
		text, x := v.typed.draw(th, p.W-4)
		label := " Type or paste a command, a URL, or the JSON of any program:"
		if v.json {
			label = " Paste the JSON here, as your terminal pastes; " + c.KeyOf("addserver.editor") + " opens $EDITOR:"
		}
		lines = append(lines, th.Muted.S(paint.Cut(label, p.W)), th.Accent.S(" › ")+text)
		if x >= 0 {
			cursor = tea.NewCursor(3+x, 1)
		}
	}
	lines = append(lines, v.reading(th, p.W)...)
	lines = append(lines, "")
	p.Lines = v.drawRows(c, p, lines)
	return cursor
}

// reading is what was typed, as it would be started.
func (v *adder) reading(th *tui.Theme, w int) (out []string) {
	if v.why != "" {
		return []string{th.Error.S(safe.Line("   ✗ "+v.why, w))}
	}
	const most = 4
	list := v.servers()
	for i, srv := range list {
		if i == most {
			out = append(out, th.Muted.S(fmt.Sprintf("   and %d more", len(list)-most)))
			break
		}
		verb := "runs "
		if srv.Command == "" {
			verb = "contacts "
		}
		out = append(out, paint.Cut("   "+th.OK.S("✓ ")+safe.Line(srv.Name, 40)+"  "+th.Muted.S(verb+safe.Line(srv.Masked().Destination(), 4*w)), w))
	}
	return out
}

// drawRows adds the rows below what was typed, those around the cursor where there is not room for all.
func (v *adder) drawRows(c *tui.Ctx, p *tui.Pane, lines []string) []string {
	th, rows := c.Theme, v.rows(c)
	v.at = min(v.at, max(len(rows)-1, 0))
	v.spots = v.spots[:0]
	for range lines {
		v.spots = append(v.spots, -1)
	}
	titleW := 0
	for _, r := range rows {
		titleW = max(titleW, min(paint.Width(r.title), max(p.W/2, 20)))
	}
	room := max(p.H-len(lines), 1)
	body, of := []string{}, []int{}
	group, cursor := "", 0
	for i, r := range rows {
		if r.group != group {
			if group != "" {
				body, of = append(body, ""), append(of, -1)
			}
			group = r.group
			body, of = append(body, th.Heading.S(safe.Line(" "+group, p.W))), append(of, -1)
		}
		if i == v.at {
			cursor = len(body)
		}
		body, of = append(body, v.row(th, r, titleW, p.W, i == v.at)), append(of, i)
	}
	v.top = min(max(v.top, cursor-room+1), cursor)
	if v.at == 0 {
		v.top = 0
	}
	end := min(v.top+room, len(body))
	p.Scroll = tui.Scroll{Pos: v.top, Total: len(body) + len(lines)}
	p.Selected = len(lines) + cursor - v.top + 1
	v.spots = append(v.spots, of[v.top:end]...)
	return append(lines, body[v.top:end]...)
}

func (v *adder) row(th *tui.Theme, r addRow, titleW, w int, at bool) string {
	title := paint.Fit(safe.Line(r.title, titleW), titleW)
	if at {
		return th.SelectRow(safe.Line(" > "+title+"  "+r.about, w), w, true)
	}
	return paint.Cut("   "+title+"  "+th.Muted.S(safe.Line(r.about, w)), w)
}

func (v *adder) plain(c *tui.Ctx, w io.Writer) {
	switch {
	case v.made != nil:
		fmt.Fprintln(w, safe.Line(v.made.from, 200))
	case v.typed.empty():
		fmt.Fprintln(w, "Type a command, a URL or the JSON of another program.")
	}
	for _, srv := range v.servers() {
		fmt.Fprintf(w, "%s: %s\n", safe.Line(srv.Name, 80), safe.Line(srv.Masked().Destination(), 1000))
	}
}

// choices are the rows, and typing.
func (v *adder) choices(c *tui.Ctx) (out []tui.Choice) {
	if v.made == nil {
		out = append(out, tui.Choice{Label: "type a command, a URL or JSON", Run: v.ask})
	}
	for _, r := range v.rows(c) {
		label := r.title
		if r.about != "" {
			label += " (" + r.about + ")"
		}
		out = append(out, tui.Choice{Label: r.group + ": " + safe.Line(label, 200), Run: r.run})
	}
	return out
}

// ask takes the text in linear mode.
func (v *adder) ask(c *tui.Ctx) tea.Cmd {
	if v.made != nil {
		return nil
	}
	return c.Ask(tui.Question{
		Label: "command, URL or JSON",
		Check: func(text string) string {
			if _, err := config.Pasted(text, v.where()); err != nil && (&addText{block: text}).path() == "" {
				return err.Error()
			}
			return ""
		},
		OnDone: func(c *tui.Ctx, text string) tea.Cmd {
			v.clear()
			v.typed.paste(text)
			return nil
		},
	})
}
