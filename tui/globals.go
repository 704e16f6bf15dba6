package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
)

// globalActions are what works on every screen.
func globalActions() []Action {
	list := []Action{
		{
			ID: helpID, Verb: VerbHelp, Word: "help", Title: "help", Group: "Find", Hint: 91,
			Help: "List what every key does here; type to search, enter runs. f1 works while typing.",
			Run:  func(c *Ctx) tea.Cmd { return c.Open(newHelp(c.app)) },
		},
		{
			ID: paletteID, Keys: []string{"ctrl+p"}, Title: "palette", Group: "Find", Hint: 90,
			Help: "Find any tool, action, screen or server by a few letters.",
			Run:  func(c *Ctx) tea.Cmd { return c.Open(newPalette(c.app)) },
		},
		{
			ID: "app.command", Keys: []string{":"}, Title: "command line", Group: "Find",
			Help: "Run an action, or go to a screen, server or tool, by name; tab completes, up recalls.",
			Run:  func(c *Ctx) tea.Cmd { c.app.prompt = newCommandLine(c.app); return nil },
		},
		{
			ID: "app.filter", Verb: VerbFilter, Title: "filter", Group: "Find", Hint: 4,
			Help: "Filter or search the focused pane while you type; esc clears the filter.",
			Run:  func(c *Ctx) tea.Cmd { c.app.prompt = newFilter(c.app); return nil },
		},
		{
			ID: "app.next", Keys: []string{"n"}, Title: "next hit", Group: "Find",
			Help: "Go to the next hit of the search.",
			Run:  func(c *Ctx) tea.Cmd { return c.app.toView(FindNext{}) },
		},
		{
			ID: "app.previous", Keys: []string{"N"}, Title: "previous hit", Group: "Find",
			Help: "Go to the previous hit.",
			Run:  func(c *Ctx) tea.Cmd { return c.app.toView(FindNext{Back: true}) },
		},
		{
			ID: "app.cancel", Verb: VerbCancel, Title: "cancel", Group: "Call", Hint: 1,
			Help:     "Cancel the newest running call and notify the server, or give up connecting.",
			Disabled: nothingRuns, Now: givesUp,
			Run: func(c *Ctx) tea.Cmd {
				if op, ok := c.app.ops.cancelNewest(c.View); ok {
					c.app.toasts.addFor(op.ID, "cancelling "+op.Label)
					return nil
				}
				s := c.Server // somebody else is connecting it
				cmd, _ := c.Replace("", "disconnect", "give up", func(context.Context) (any, error) { return nil, s.Disconnect() })
				return cmd
			},
		},
		{
			ID: "app.inbox", Keys: []string{"i", "f9"}, Title: "answer", Group: "Call", Hint: 1,
			Help: "Go to the question of a server that waits for your answer: that of the call on the screen, else the one that waits longest. f9 works while typing.",
			Now: func(c *Ctx) string {
				if c.View == "answer" {
					return "next question"
				}
				return ""
			},
			Disabled: func(c *Ctx) string {
				switch {
				case c.app.inbox() == "":
					return "no question waits for your answer"
				case c.View == "answer" && c.app.asked() == 0:
					return "no other question waits for your answer"
				}
				return ""
			},
			Run: func(c *Ctx) tea.Cmd {
				var id any
				if n := c.app.asked(); n != 0 {
					id = n
				}
				return c.app.navigate(Navigate{View: "answer", Arg: id})
			},
		},
		{
			ID: "app.interrupt", Keys: []string{"ctrl+c"}, Title: "cancel, again to quit", Group: "Program",
			Help: "Cancel the newest running call; again within 2 s quits.",
			Run:  func(c *Ctx) tea.Cmd { return c.app.quit.interrupt(c.app) },
		},
		{
			ID: "app.quit", Keys: []string{"q"}, Title: "quit", Group: "Program", Hint: 99,
			Help: "Quit; asks only while calls run. In a section: go back, as esc does.",
			Now: func(c *Ctx) string {
				if c.app.current().Tab != "" {
					return "back"
				}
				return ""
			},
			Run: func(c *Ctx) tea.Cmd { return c.app.leaveOrQuit() },
		},
		{
			ID: "app.back", Keys: []string{"esc"}, Title: "back", Group: "Move",
			Help: "Dismiss errors, else leave the zoom, else clear the filter, else go back. Never quits.",
			Run:  func(c *Ctx) tea.Cmd { return c.app.escape() },
		},
		{
			ID: "app.nextpane", Keys: []string{"tab"}, Title: "next pane", Group: "Move", Hint: 70,
			Help: "Focus the next pane.", Disabled: noNextPane,
			Run: func(c *Ctx) tea.Cmd { return c.app.cycle(1) },
		},
		{
			ID: "app.previouspane", Keys: []string{"shift+tab"}, Title: "previous pane", Group: "Move",
			Help: "Focus the previous pane.",
			Run:  func(c *Ctx) tea.Cmd { return c.app.cycle(-1) },
		},
		{
			ID: "app.zoom", Keys: []string{"z"}, Title: "zoom", Group: "Window", Hint: 95,
			Help: "Zoom the focused pane, or undo it.",
			Run:  func(c *Ctx) tea.Cmd { return c.app.setZoom(!c.app.arrange.Zoom) },
		},
		{
			ID: "app.smaller", Keys: []string{"<"}, Title: "narrower list", Group: "Window",
			Help: "Make the list narrower.",
			Run:  func(c *Ctx) tea.Cmd { return c.app.resize(-5) },
		},
		{
			ID: "app.larger", Keys: []string{">"}, Title: "wider list", Group: "Window",
			Help: "Make the list wider.",
			Run:  func(c *Ctx) tea.Cmd { return c.app.resize(5) },
		},
		{
			ID: "app.flip", Keys: []string{"\\", "ctrl+\\"}, Title: "below or beside", Group: "Window",
			Help:     "Put the second pane below the first one, or beside it; it stays so. ctrl+\\ works while typing.",
			Disabled: onePane,
			Run:      func(c *Ctx) tea.Cmd { return c.app.flip() },
		},
		{
			ID: "app.mouse", Keys: []string{"M"}, Title: "mouse capture", Group: "Window",
			Help: "Toggle mouse capture; while it is off the terminal selects text.",
			Run:  func(c *Ctx) tea.Cmd { return c.app.mouse.toggle(c.app) },
		},
		{
			ID: "app.theme", Word: "theme", Title: "next theme", Group: "Window",
			Help: "Switch to the next theme; :theme NAME takes one, and :theme auto leaves it to the terminal's background.",
			Run:  func(c *Ctx) tea.Cmd { return c.app.look.cycle(c.app) },
			Arg:  func(c *Ctx, name string) tea.Cmd { return c.app.look.take(c.app, name) },
			Args: func(c *Ctx) []string { return c.app.themeNames() },
		},
		{
			ID: "app.instructions", Word: "instructions", Title: "instructions", Group: "Server",
			Help: "Show what the server tells the models that use it.",
			Disabled: func(c *Ctx) string {
				switch {
				case c.Server == nil || c.app.actions.find("instructions") == nil:
					return "no server is open"
				case c.Server.Status().Instructions == "":
					return "the server gives no instructions"
				}
				return ""
			},
			Run: func(c *Ctx) tea.Cmd { return c.Navigate("instructions", nil) },
		},
		loginAction(),
		doctorAction(),
		goodAction(),
		newsAction(),
		messagesAction(),
		{
			ID: "app.servers", Word: "rail", Title: "choose server", Group: "Move",
			Help: "Focus the server rail.",
			Run:  func(c *Ctx) tea.Cmd { return c.app.focusIndex(RailFocus) },
		},
		{
			ID: "app.page", Keys: []string{"v"}, Title: "open in $PAGER", Group: "Copy and open",
			Help: "Open the selection, or the pane's text, in $PAGER.",
			Run: func(c *Ctx) tea.Cmd {
				text, ext := c.app.pageable()
				return c.Page(text, ext)
			},
		},
		{
			ID: "app.edit", Verb: VerbEdit, Title: "open in $EDITOR", Group: "Copy and open",
			Help: "Open the selection, or the pane's text, in $EDITOR.",
			Disabled: func(c *Ctx) string {
				s := c.app.current()
				if s.Lone == nil || !s.Lone(c) {
					return ""
				}
				if s.PageText != nil {
					if _, _, ok := s.PageText(c); ok {
						return ""
					}
				}
				return "there is nothing to edit yet"
			},
			Run: func(c *Ctx) tea.Cmd {
				text, ext := c.app.pageable()
				return c.Edit("", "", text, ext)
			},
		},
	}
	list = append(list, metaAction())
	list = append(list, tabActions()...)
	list = append(list, copyActions()...)
	return append(list, moveActions()...)
}

// tabKeys is how many tabs have a number key.
const tabKeys = 8

// tabActions are the number keys.
func tabActions() (out []Action) {
	for i := range tabKeys {
		key := string(rune('1' + i))
		out = append(out, Action{
			ID: "app.screen" + key, Keys: []string{key}, Title: "tab " + key, Group: "Move",
			Help: "Go to this tab of the top line: the number is its place there.",
			Now: func(c *Ctx) string {
				if tabs := c.app.actions.tabs(); i < len(tabs) {
					return tabs[i].Title
				}
				return ""
			},
			Disabled: func(c *Ctx) string {
				if i >= len(c.app.actions.tabs()) {
					return "there is no such tab"
				}
				return ""
			},
			Run: func(c *Ctx) tea.Cmd { return c.app.navigate(Navigate{View: c.app.actions.tabs()[i].ID}) },
		})
	}
	return out
}

// copyActions are the y chord.
func copyActions() (out []Action) {
	for _, k := range []struct {
		kind     CopyKind
		id, what string
	}{
		{CopyValue, "value", "value"},
		{CopyPath, "path", "path"},
		{CopyJSON, "json", "JSON"},
		{CopyCommand, "command", "mcphud command"},
		{CopyCurl, "curl", "curl command"},
		{CopyRaw, "raw", "raw frame"},
		{CopyConfig, "config", "config entry"},
	} {
		hint := 0
		if k.kind == CopyValue {
			hint = 3
		}
		out = append(out, Action{
			Hint: hint,
			ID:   "copy." + k.id, Keys: []string{"y " + string(rune(k.kind))}, Title: "copy " + k.what, Group: "Copy and open",
			Help: "Copy the selection as " + k.what + " to the clipboard.",
			Disabled: func(c *Ctx) string {
				if c.app.copyable(k.kind) == nil {
					return "not available here"
				}
				return ""
			},
			Run: func(c *Ctx) tea.Cmd {
				text := c.app.copyable(k.kind)
				if text == nil {
					return nil
				}
				if v := c.app.current(); v.CopyShapes != nil && k.kind == CopyConfig {
					return c.app.chooseShape(v.Screen)
				}
				s, err := text()
				if err != nil {
					return c.Toast(Failure, err.Error())
				}
				return c.Copy(k.what, s)
			},
		})
	}
	return out
}

// moveActions stand for the keys that lists and pagers understand, so that
// help and palette have them too. The key itself goes to the view first.
func moveActions() (out []Action) {
	for _, k := range []struct {
		id, title, help string
		keys            []string
	}{
		{"up", "up", "Move up one line.", []string{"up", "k"}},
		{"down", "down", "Move down one line.", []string{"down", "j"}},
		{"left", "left", "Move left, or fold.", []string{"left", "h"}},
		{"right", "right", "Move right, or unfold.", []string{"right", "l"}},
		{"top", "top", "Go to the first line.", []string{"g", "home"}},
		{"bottom", "bottom", "Go to the last line.", []string{"G", "end"}},
		{"halfup", "half a page up", "Move up half a page.", []string{"ctrl+u"}},
		{"halfdown", "half a page down", "Move down half a page.", []string{"ctrl+d"}},
		{"pageup", "page up", "Move up one page.", []string{"pgup"}},
		{"pagedown", "page down", "Move down one page.", []string{"pgdown"}},
		{"open", "open", "Open or run the selection.", []string{"enter"}},
		{"select", "fold or select", "Fold or select what is under the cursor.", []string{"space"}},
	} {
		first := k.keys[0]
		out = append(out, Action{
			ID: "move." + k.id, Keys: k.keys, Title: k.title, Help: k.help, Group: "Move",
			Run: func(c *Ctx) tea.Cmd { return c.app.toView(pressOf(first)) },
		})
	}
	return append(out, sectionAction("move.previoustab", "[", "previous section", -1, 0), sectionAction("move.nexttab", "]", "next section", 1, 65))
}

// sectionAction goes to a section beside the visible one, where the pane has no parts of its own that the key goes through.
func sectionAction(id, key, title string, by, hint int) Action {
	return Action{
		ID: id, Keys: []string{key}, Title: title, Group: "Move", Hint: hint,
		Help: "Go to the " + title + " of the tab, or part of a result.",
		Now: func(c *Ctx) string {
			if v := c.app.section(by); v != nil {
				return v.Title
			}
			return ""
		},
		Disabled: func(c *Ctx) string {
			if c.app.section(by) == nil {
				return "there is nothing beside this"
			}
			return ""
		},
		Run: func(c *Ctx) tea.Cmd { return c.app.goBeside(by) },
	}
}

// toView gives a message to the visible view.
func (a *App) toView(msg tea.Msg) tea.Cmd {
	cmd, _ := a.current().Handle(&a.ctx, msg)
	return cmd
}

func noNextPane(c *Ctx) string {
	if a := c.app.arrange; a.Panes < 2 && (a.NoRail || c.Width < WideWidth) {
		return "there is only one pane"
	}
	return ""
}

// givesUp says so where cancelling ends an attempt to connect.
func givesUp(c *Ctx) string {
	if c.app.ops.calls() == 0 && c.Server != nil && c.Server.Status().State == session.Connecting {
		return "give up"
	}
	local, _ := c.app.actions.scoped(c, c.View, c.Focus)
	for _, a := range local { // a question or a task has a key to cancel of its own
		if a.Title == "cancel" {
			return "cancel call"
		}
	}
	return ""
}

func nothingRuns(c *Ctx) string {
	for _, o := range c.app.ops.all {
		if !o.Cancelling && !o.dropped {
			return ""
		}
	}
	if c.Server != nil && c.Server.Status().State == session.Connecting {
		return ""
	}
	return "nothing is running"
}

// copyable makes what the visible view would copy, nil if it would not.
func (a *App) copyable(k CopyKind) CopyFunc {
	s := a.current()
	switch {
	case a.place.focus == RailFocus:
	case s.CopyText != nil:
		return s.CopyText(&a.ctx, k)
	case s.Page != nil && k == CopyValue:
		return func() (string, error) { return strings.TrimRight(a.text(), "\n"), nil }
	}
	return nil
}

// chooseShape asks for the shape to copy in, the cursor on the one that was taken last.
func (a *App) chooseShape(s *Screen) tea.Cmd {
	return a.ctx.Choose("shape of the entry", a.prefs.get("shape"), s.CopyShapes(&a.ctx), func(c *Ctx, shape string) tea.Cmd {
		return join(s.CopyShape(c, shape), a.prefs.set("shape", shape))
	})
}

// pageable is what v and e open: the selection, else the pane's text.
func (a *App) pageable() (text, ext string) {
	if s := a.current(); s.PageText != nil {
		if text, ext, ok := s.PageText(&a.ctx); ok {
			return text, ext
		}
	}
	return a.text(), ".txt"
}

// text is all of the visible view, in linear mode also what has a number there.
func (a *App) text() string {
	var b strings.Builder
	c := a.ctx
	c.Linear = false
	a.current().write(&c, &b)
	return b.String()
}
