package tui_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// A message has the row below the panes: what is read in them, the status bar, and the keys or what is typed stay as they are.
func TestToastsCoverNothing(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 40}} {
			app.Resize(size[0], size[1])
			line := app.State().Layout.Rule.Y
			before := strings.Split(app.Screen(), "\n")
			for _, level := range []tui.Level{tui.Note, tui.Success, tui.Warning, tui.Failure} {
				app.Send(tui.Toast{Level: level, Text: "a few words"}).Toast("a few words")
				after := strings.Split(app.Screen(), "\n")
				if !strings.Contains(after[line], "a few words ") {
					t.Errorf("at %v the row below the panes is %q", size, after[line])
				}
				after[line] = before[line]
				if !slices.Equal(after, before) {
					t.Errorf("at %v a message changed the screen from\n%s\nto\n%s", size, strings.Join(before, "\n"), strings.Join(after, "\n"))
				}
			}
			app.Press("/").Type("fru").Hints().Has("/fru")
			app.Whole().Has("✗ a few words", "(esc)")
			app.Press("esc", "esc").Whole().HasNot("a few words")
		}
	})
}

// A message that does not fit in a row takes up to three as long as it stands.
func TestToastsOfManyWords(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		const words = "the server exited with status 1 before it answered: no access token was provided; run login, or pass one in a variable"
		app.Resize(80, 24)
		before := app.Screen()
		app.Send(tui.Toast{Level: tui.Failure, Text: words}).Toast("the server exited")
		rows := strings.Split(app.Screen(), "\n")
		line := app.State().Layout.Rule.Y
		if got := strings.Join(strings.Fields(strings.Join(rows[line-1:line+1], " ")), " "); !strings.HasPrefix(got, "✗ "+words+" (esc) ─") {
			t.Errorf("the error is shown as %q", got)
		}
		if was := strings.Split(before, "\n"); !slices.Equal(was[:line-1], rows[:line-1]) || !slices.Equal(was[line+1:], rows[line+1:]) {
			t.Errorf("an error of two rows changed more than those:\n%s", app.Screen())
		}
		app.Press("esc")
		if got := app.Screen(); got != before {
			t.Errorf("once acknowledged it leaves\n%s", got)
		}
		app.Send(tui.Toast{Level: tui.Failure, Text: strings.Repeat("very long ", 29)}).Whole().Has("✗ very long", "… · :messages shows all (esc)")
		if was, got := strings.Split(before, "\n"), strings.Split(app.Screen(), "\n"); !slices.Equal(was[:line-2], got[:line-2]) {
			t.Errorf("it takes more than three rows:\n%s", app.Screen())
		}
		app.Press("esc")
	})
}

// What does not fit in three rows says where all of it is: in the list of messages, the newest first.
func TestLongToastsAreWhole(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Resize(80, 24)
		app.Send(tui.Toast{Level: tui.Success, Text: strings.Repeat("two rows ", 9) + "end"}).Press(":").Type("messages").Press("enter")
		app.Overlay("Messages").Rows(tuitest.Contains("✓ two rows"), tuitest.Matches("end$"))
		app.Press("q")
		words := strings.TrimSpace(strings.Repeat("one of many words ", 60)) + " and the last"
		app.Send(tui.Toast{Level: tui.Failure, Text: words}).Whole().Has("… · :messages shows all (esc)")
		app.Send(tui.Toast{Level: tui.Note, Text: "short"}).Whole().Has("i short ").HasNot(":messages")
		app.Press(":").Type("messages").Press("enter")
		list := app.Overlay("Messages")
		list.Has("i short", "✗ one of many words", "✓ two rows")
		if all := strings.Join(strings.Fields(strings.ReplaceAll(list.Text(), "✗", "")), " "); !strings.Contains(all, words) {
			t.Errorf("the list has %q", all)
		}
		app.Hints().Has("esc close").HasNot("read on")
		app.Resize(60, 15).Hints().Has("↓ read on")
		app.Press("G").Overlay("Messages").Has("and the last")
		app.Press("esc").Whole().HasNot("Messages")
		app.Press("esc").Whole().HasNot("one of many")
	})
}

// One message is shown at a time. An error waits below what is newer; everything else goes when something newer comes, and with
// the screen that it came up on.
func TestToastsComeAndGo(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("p").Toast("peel: it has no peel").Press("D", "esc") // another key of the screen changes nothing
		app.Whole().Has("it has no peel")
		app.Press("o").View("other").Whole().HasNot("it has no peel")
		app.Press("esc").View("fruits").Whole().HasNot("it has no peel")

		app.Press("F", "p").Whole().Has("it has no peel").HasNot("rotten")
		app.Press("o").View("other").Whole().Has("rotten", "(esc)").HasNot("it has no peel")
		app.Press("enter").Whole().Has("did it").HasNot("rotten")
		app.Press("esc").View("other").Whole().Has("did it")
		app.Press("esc").View("fruits").Whole().Has("did it") // which holds everywhere
		app.Press("F").Whole().Has("rotten").HasNot("did it")
		app.Sleep(4 * time.Second).Whole().Has("rotten").HasNot("did it")
		app.Press("esc").View("fruits").Whole().HasNot("rotten")
	})
}

// A message and what stands at the foot of a pane are both there whole, or the message alone.
func TestToastsAndFeet(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		f.foot = "t frames · y copy"
		app.Resize(120, 40).Send(tui.Toast{Level: tui.Note, Text: "short"}).Toast("short")
		app.Press("j").Pane("list").Has("t frames · y copy")
		app.Send(tui.Toast{Level: tui.Note, Text: strings.Repeat("long ", 10)}).Toast("long")
		row := strings.Split(app.Screen(), "\n")[app.State().Layout.Rule.Y]
		if strings.Contains(row, "copy") || !strings.Contains(row, "─") {
			t.Errorf("behind the message stands %q", row)
		}
	})
}
