package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// key routes a key press: cancel and quit first, then the overlay on top, the
// prompt, the focused pane, and last the global actions.
func (a *App) key(m tea.KeyPressMsg) tea.Cmd {
	a.status.last = ""
	switch m.String() {
	case "ctrl+c":
		return a.quit.interrupt(a)
	case "alt+esc": // two esc that were read at once: terminals put esc before a key for alt
		first := a.key(pressOf("esc"))
		first = join(first, a.settle())
		a.sync()
		return join(first, a.key(pressOf("esc")))
	}
	if a.hold(m) {
		return nil
	}
	if l := a.top(); l != nil {
		return l.key(a, m)
	}
	if a.prompt != nil {
		return a.prompt.key(a, m)
	}
	return a.paneKey(m)
}

// paneKey routes a key to the focused pane and the actions.
func (a *App) paneKey(m tea.KeyPressMsg) tea.Cmd {
	k := m.String()
	if a.place.focus == RailFocus {
		if cmd, ok := a.rail.key(a, k); ok {
			return cmd
		}
		return a.globalKey(k)
	}
	v := a.current()
	if a.typing() {
		if cmd, ok := v.Handle(&a.ctx, m); ok {
			return cmd
		}
		if printable(m) {
			return nil
		}
		if x, _ := lookup(&a.ctx, v.actions, a.ctx.Focus, k); x != nil {
			return a.run(x)
		}
		return a.globalKey(k)
	}
	x, chord := lookup(&a.ctx, v.actions, a.ctx.Focus, k)
	if x != nil {
		return a.run(x)
	}
	if chord {
		return a.begin(k)
	}
	if a.actions.unbound[k] {
		return a.globalKey(k)
	}
	if cmd, ok := v.Handle(&a.ctx, m); ok {
		return cmd
	}
	return a.globalKey(k)
}

// globalKey runs the global action of a key.
func (a *App) globalKey(k string) tea.Cmd {
	x, chord := lookup(&a.ctx, a.actions.global, "", k)
	if x != nil {
		return a.run(x)
	}
	if chord {
		return a.begin(k)
	}
	return nil
}

// paste goes to whatever a printable key would go to.
func (a *App) paste(m tea.PasteMsg) tea.Cmd {
	if a.hold(m) {
		return nil
	}
	if l := a.top(); l != nil {
		cmd, _ := l.overlay.Handle(&a.ctx, m)
		return cmd
	}
	if a.prompt != nil {
		return a.prompt.paste(a, m.Content)
	}
	if a.place.focus == RailFocus {
		return nil
	}
	cmd, _ := a.current().Handle(&a.ctx, m)
	return cmd
}

// typing is whether the focused pane takes text.
func (a *App) typing() bool {
	if a.place.focus == RailFocus {
		return false
	}
	s := a.current()
	return s.Typing != nil && s.Typing(&a.ctx)
}

// printable is whether a key is typed text rather than a command.
func printable(m tea.KeyPressMsg) bool {
	return m.Text != "" && m.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModMeta|tea.ModSuper) == 0
}

// pressOf makes the key press of a key's name, for actions that stand for a key ("G", "pgdown", "ctrl+d").
func pressOf(name string) tea.KeyPressMsg {
	var k tea.Key
	rest := name
	for {
		mod, tail, ok := strings.Cut(rest, "+")
		if !ok || tail == "" {
			break
		}
		switch mod {
		case "ctrl":
			k.Mod |= tea.ModCtrl
		case "alt":
			k.Mod |= tea.ModAlt
		case "shift":
			k.Mod |= tea.ModShift
		default:
			ok = false
		}
		if !ok {
			break
		}
		rest = tail
	}
	if code, ok := namedKeys[rest]; ok {
		k.Code = code
		if rest == "space" && k.Mod == 0 {
			k.Text = " "
		}
		return tea.KeyPressMsg(k)
	}
	r := []rune(rest)
	if len(r) > 0 {
		k.Code = r[0]
	}
	if k.Mod&^tea.ModShift == 0 {
		k.Text = rest
	}
	return tea.KeyPressMsg(k)
}

// namedKeys are the keys whose names are words.
var namedKeys = map[string]rune{
	"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "space": tea.KeySpace, "backspace": tea.KeyBackspace,
	"delete": tea.KeyDelete, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "insert": tea.KeyInsert,
	"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6,
	"f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9, "f10": tea.KeyF10, "f11": tea.KeyF11, "f12": tea.KeyF12,
}

// PressOf makes the key press message of a key's name as used in
// [Action.Keys]: for tests and for actions that stand for a key.
func PressOf(name string) tea.KeyPressMsg { return pressOf(name) }
