package tuitest

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/tui"
)

// escTime is a little more than what the input reader waits for after an ESC, to tell the key from the beginning of a
// sequence: 50 ms, and as long again where time is fake and its timer fires exactly on time.
const escTime = 110 * time.Millisecond

// Press presses keys one after the other, named as in tui.Action.Keys ("enter", "ctrl+p", "G"). A command line (":theme") stands for what
// is typed to run it. It waits for idle after each.
func (a *App) Press(keys ...string) *App {
	a.t.Helper()
	for _, k := range keys {
		if line, ok := strings.CutPrefix(k, ":"); ok && line != "" {
			a.Press(":").Type(line).Press("enter")
			continue
		}
		a.enter(Encode(k))
		if k == "esc" && a.bubble {
			time.Sleep(escTime)
		}
		a.Settle()
	}
	return a
}

// Type types text in one write and waits for idle.
func (a *App) Type(text string) *App {
	a.t.Helper()
	a.enter(text)
	return a.Settle()
}

// enter types what stands for whole keys. Where time is real the events of it go to the program in the order of its messages, so that all
// that is asked of it afterwards comes behind them: its own reader may get no processor for longer than Settle takes.
func (a *App) enter(keys string) {
	if a.bubble {
		a.screen.send(keys)
		return
	}
	events := make(chan uv.Event)
	go func() {
		defer close(events)
		_ = uv.NewTerminalReader(strings.NewReader(keys), "xterm-256color").StreamEvents(context.Background(), events) // it ends with the keys
	}()
	for e := range events {
		a.prog.Send(e)
	}
}

// Burst presses keys in one write, as a fast typist or key repeat over a slow line does.
func (a *App) Burst(keys ...string) *App {
	a.t.Helper()
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(Encode(k))
	}
	return a.Type(b.String())
}

// Paste pastes text in brackets.
func (a *App) Paste(text string) *App {
	a.t.Helper()
	return a.Type(ansi.BracketedPasteStart + text + ansi.BracketedPasteEnd)
}

// Click presses and releases the left button at a cell of the screen.
func (a *App) Click(x, y int) *App {
	a.t.Helper()
	return a.Type(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, x+1, y+1))
}

// ClickOn clicks on the first place on the screen that shows text.
func (a *App) ClickOn(text string) *App {
	a.t.Helper()
	x, y := a.find(text)
	return a.Click(x, y)
}

// DoubleClickOn clicks twice.
func (a *App) DoubleClickOn(text string) *App {
	a.t.Helper()
	x, y := a.find(text)
	return a.Click(x, y).Click(x, y)
}

// WheelOn turns the wheel over text: down for n > 0, up for n < 0.
func (a *App) WheelOn(text string, n int) *App {
	a.t.Helper()
	x, y := a.find(text)
	return a.Wheel(x, y, n)
}

// Wheel turns the wheel over a cell: down for n > 0, up for n < 0.
func (a *App) Wheel(x, y, n int) *App {
	a.t.Helper()
	button := 65
	if n < 0 {
		button, n = 64, -n
	}
	a.Type(strings.Repeat(fmt.Sprintf("\x1b[<%d;%d;%dM", button, x+1, y+1), n))
	return a.Settle()
}

// Resize changes the terminal's size.
func (a *App) Resize(w, h int) *App {
	a.t.Helper()
	a.screen.resize(w, h)
	a.prog.Send(tea.WindowSizeMsg{Width: w, Height: h})
	return a.Settle()
}

// find is the cell where text starts on the screen.
func (a *App) find(text string) (x, y int) {
	a.t.Helper()
	a.Eventually(func() string {
		w, h := a.screen.size()
		for i, row := range a.screen.rows(tui.Rect{W: w, H: h}) {
			if before, _, ok := strings.Cut(row, text); ok {
				x, y = ansi.StringWidth(before), i
				return ""
			}
		}
		return "the screen does not show " + quote(text)
	})
	return x, y
}

// Encode is what a terminal sends for a key.
func Encode(name string) string {
	k := tea.Key(tui.PressOf(name))
	if s, ok := plainKeys[name]; ok {
		return s
	}
	mod := 1
	if k.Mod&tea.ModShift != 0 {
		mod++
	}
	if k.Mod&tea.ModAlt != 0 {
		mod += 2
	}
	if k.Mod&tea.ModCtrl != 0 {
		mod += 4
	}
	if f, ok := finals[k.Code]; ok {
		if mod == 1 {
			return "\x1b[" + f
		}
		if strings.HasSuffix(f, "~") {
			return fmt.Sprintf("\x1b[%s;%d~", strings.TrimSuffix(f, "~"), mod)
		}
		return fmt.Sprintf("\x1b[1;%d%s", mod, f)
	}
	switch {
	case k.Mod == tea.ModCtrl && k.Code >= 'a' && k.Code <= 'z':
		return string(k.Code & 0x1f)
	case k.Mod == tea.ModAlt && k.Code > ' ':
		return "\x1b" + string(k.Code)
	case k.Text != "":
		return k.Text
	}
	return fmt.Sprintf("\x1b[%d;%du", k.Code, mod) // the kitty protocol's form
}

var plainKeys = map[string]string{
	"enter": "\r", "tab": "\t", "esc": "\x1b", "space": " ", "backspace": "\x7f", "shift+tab": "\x1b[Z",
}

var finals = map[rune]string{
	tea.KeyUp: "A", tea.KeyDown: "B", tea.KeyRight: "C", tea.KeyLeft: "D", tea.KeyHome: "H", tea.KeyEnd: "F",
	tea.KeyPgUp: "5~", tea.KeyPgDown: "6~", tea.KeyDelete: "3~", tea.KeyInsert: "2~",
	tea.KeyF1: "11~", tea.KeyF2: "12~", tea.KeyF3: "13~", tea.KeyF4: "14~", tea.KeyF5: "15~",
	tea.KeyF6: "17~", tea.KeyF7: "18~", tea.KeyF8: "19~", tea.KeyF9: "20~", tea.KeyF10: "21~", tea.KeyF11: "23~", tea.KeyF12: "24~",
}

// Keys writes bytes as they are and returns at once: for measuring.
func (a *App) Keys(raw string) { a.screen.send(raw) }

// Wait blocks until the program printed something, 50 ms at most.
func (a *App) Wait() { a.screen.wait(50*time.Millisecond, a.bubble) }

// AfterExec feeds the input reader that Bubble Tea leaves behind when a child had the terminal: without a real terminal
// it cannot be cancelled and swallows what is typed first. Call it once after $EDITOR or $PAGER ran.
func (a *App) AfterExec() *App {
	a.t.Helper()
	a.Keys("\x00")
	return a.Settle()
}
