package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// editing is fruits with a key that edits JSON and what came back.
type editing struct {
	*fruits
	got tui.Edited
}

func (e *editing) screen() *tui.Screen {
	s := e.fruits.screen()
	s.Actions, s.Handle = e.Actions, e.Handle
	return s
}

func (e *editing) Actions() []tui.Action {
	return append(e.fruits.Actions(), tui.Action{
		ID: "fruits.edit", Keys: []string{"E"}, Title: "edit", Help: "Edits.", Group: "Fruit",
		Run: func(c *tui.Ctx) tea.Cmd { return c.Edit("fruits", "args", "{\"a\":\t1}", ".json") },
	})
}

func (e *editing) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if m, ok := msg.(tui.Edited); ok {
		e.got = m
		e.notes = append(e.notes, "edited "+m.Tag)
	}
	return e.fruits.Handle(c, msg)
}

// script writes an executable.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "my editor")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o755))
	return path
}

// $EDITOR may have blanks and arguments, gets no shell, ends at once without
// freezing the program, and gives back every byte.
func TestEditorRoundTrip(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	ed := script(t, `printf '%s\n' "$#" "$1" "${2##*.}" > "`+log+`"; printf ' \t\n' >> "$2"`)
	v := &editing{fruits: newFruits(3)}
	app := tuitest.Start(t, tuitest.Views(v.screen(), (&other{}).screen()), tuitest.Env("EDITOR", `"`+ed+`" '--wait;$HOME'`))
	app.Press("E").Pane("detail").Has("edited args")
	if v.got.Text != "{\"a\":\t1} \t\n" || !v.got.Changed || v.got.Err != nil {
		t.Errorf("came back as %+v", v.got)
	}
	b, err := os.ReadFile(log)
	if err != nil || string(b) != "2\n--wait;$HOME\njson\n" {
		t.Errorf("the editor was given %q, %v", b, err)
	}
	app.AfterExec().Press("j").Pane("detail").Has("at fruit 1")
}

func TestEditorThatFailsKeepsTheText(t *testing.T) {
	v := &editing{fruits: newFruits(3)}
	app := tuitest.Start(t, tuitest.Views(v.screen(), (&other{}).screen()), tuitest.Env("EDITOR", "/nonexistent/editor"))
	app.Press("E").AfterExec().Toast("set $EDITOR to an editor that works").Pane("detail").Has("edited args")
	if v.got.Text != "{\"a\":\t1}" || v.got.Err == nil {
		t.Errorf("came back as %+v", v.got)
	}
	app.Press("esc", "j").Pane("detail").Has("at fruit 1")
}

func TestPagerShowsThePane(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	pager := script(t, `cat "$1" > "`+log+`"`)
	app := tuitest.Start(t, tuitest.Views(newFruits(3).screen(), (&other{}).screen()), tuitest.Env("PAGER", "'"+pager+"'"))
	app.Press("v").Eventually(func() string {
		if b, _ := os.ReadFile(log); !strings.Contains(string(b), "fruit basket") {
			return "the pager was given " + string(b)
		}
		return ""
	})
	app.AfterExec().Press("j").Pane("detail").Has("at fruit 1")
}

// broken is a screen that breaks while drawing.
func broken() *tui.Screen {
	s := (&other{}).screen()
	s.ID, s.Title, s.Actions = "broken", "Broken", nil
	s.Draw = func(*tui.Ctx, *tui.Pane) *tea.Cursor { panic("no paint") }
	return s
}

func TestPanicWhileDrawing(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Send(tui.Navigate{View: "broken"})
		assert.ErrorContains(t, app.Ended(), "no paint")
	}, tuitest.Views(newFruits(1).screen(), broken()), tuitest.Config(func(c *tui.Config) { c.Views = c.Views[2:] }))
}
