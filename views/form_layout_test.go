package views_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// A form is above its result where both would be cut beside each other, as tall as its fields, and a key in its frame puts
// the result beside it, also while text is typed.
func TestFormAboveItsResult(t *testing.T) {
	for _, c := range []struct {
		w     int
		below bool
	}{{80, true}, {109, true}, {110, false}, {160, false}} {
		synctest.Test(t, func(t *testing.T) {
			app := tuitest.Start(t, tuitest.At("tools", nil), tuitest.Server("demo", basics.NewServer("")), tuitest.Size(c.w, 24),
				tuitest.Views(views.All(views.Deps{})...))
			app.View("tools").Pane("list").Some(tuitest.Contains("echo"))
			app.Press("/").Type("echo").Press("enter", "enter")
			app.Pane("form").Has("message")
			form, result := app.State().Panes["form"], app.State().Panes["result"]
			if below := result.Y > form.Y; below != c.below {
				t.Fatalf("at %d columns the form is at %v and its result at %v", c.w, form, result)
			}
			if !c.below {
				app.Whole().Has(`ctrl+\ below`)
				return
			}
			if form.W != c.w-2 || form.H > 4 || result.H < 12 {
				t.Errorf("at %d columns the form of one field is %v and its result %v", c.w, form, result)
			}
			app.Whole().Has(`ctrl+\ side by side`)
			app.Press("ctrl+\\")
			if s := app.State(); s.Panes["result"].Y != s.Panes["form"].Y {
				t.Errorf("the key left the result at %v", s.Panes["result"])
			}
		})
	}
}
