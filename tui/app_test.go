package tui_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// in runs f with a UI on the fruits screen in a synctest bubble.
func in(t *testing.T, f func(*testing.T, *tuitest.App, *fruits), opts ...tuitest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := newFruits(100)
		app := tuitest.Start(t, append([]tuitest.Option{tuitest.Views(v.screen(), (&other{}).screen())}, opts...)...)
		f(t, app, v)
	})
}

func TestKeysMoveAndTheFrameFollows(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.View("fruits").Pane("list").Focused().Selected("fruit 0").Rows(tuitest.Eq("> fruit 0").Selected(), tuitest.Eq("  fruit 1").NotSelected())
		app.Press("down", "j").Pane("list").Rows(tuitest.Eq("  fruit 0"), tuitest.Eq("  fruit 1").NotSelected(), tuitest.Eq("> fruit 2").Selected())
		app.Pane("detail").Rows(tuitest.Eq("at fruit 2"))
		app.Press("G").Pane("list").Selected("fruit 99").Pane("detail").Rows(tuitest.Eq("at fruit 99"))
	})
}

func TestSixtyKeysInOneWrite(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Burst(strings.Split(strings.Repeat("j", 60), "")...)
		app.Pane("detail").Rows(tuitest.Eq("at fruit 60"))
	})
}

func TestOperationRunsShowsAndIsCancelled(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("enter").Sleep(2 * time.Second)
		app.Status().Has("eat fruit 0", "2s", "25%")
		app.Press("x").Pane("detail").Has("eat fruit 0: cancelled")
		app.Status().HasNot("eat fruit 0")
		app.Whole().HasNot("cancelling") // it is over
		app.Press("x").Toast("nothing is running")

		app.Press("enter")
		close(f.block)
		app.Pane("detail").Has("eat fruit 0: eaten")
	})
}

func TestInterruptCancelsThenQuits(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("enter", "ctrl+c").Toast("cancelling eat fruit 0; ctrl+c again quits")
		app.Hints().Has("? help")
		app.Whole().Has("again quits")
		app.Pane("detail").Has("eat fruit 0: cancelled")
		app.Sleep(2*time.Second + time.Millisecond).Whole().HasNot("again quits") // it no longer does
		app.Sleep(time.Second).Press("ctrl+c").View("fruits")                     // too late for the second
		app.Press("ctrl+c")
		require.NoError(t, app.Ended())
	})
}

func TestQuitAsksOnlyWhenCallsRun(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("enter", "q").Confirm("Quit mcphud?").Says("A call is running.").No().Press("x").Idle().Press("q")
		require.NoError(t, app.Ended())
	})
}

// TestTheQuestionOfQuittingGoes: when the call that it asks about is over, there is nothing to ask.
func TestTheQuestionOfQuittingGoes(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("enter", "q").Overlay("Quit mcphud?")
		app.Send(tui.OpDone{Op: app.State().Ops[0].ID, View: "fruits"}).NoOverlay().View("fruits")
		app.Press("q")
		require.NoError(t, app.Ended())
	})
}

func TestEscNeverQuits(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("esc", "esc", "esc").View("fruits").Pane("list").Focused().Selected("fruit 0")
	})
}

func TestConfirmDangerDefaultsToNo(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("D").Confirm("Bin it?").Says("It cannot be taken back.", "y bin", "n cancel").Focused()
		app.Press("enter").NoOverlay().Pane("detail").Some(tuitest.Eq("ran"))
		app.Press("D").Confirm("Bin it?").Yes().Pane("detail").Some(tuitest.Eq("ran bin"))
	})
}

func TestReadOnlyUnbindsDanger(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("D").Toast("bin: not in read-only mode").NoOverlay()
		app.Status().Has("read-only")
	}, tuitest.ReadOnly())
}

func TestDisabledActionSaysWhy(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("p").Toast("peel: it has no peel")
		if len(f.ran) > 0 {
			t.Error("it ran all the same")
		}
	})
}

func TestFilterReachesTheViewWhileTyping(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("/").Type("be").Hints().Has("/be")
		app.Pane("detail").Has("filter be")
		app.Press("enter", "n", "N").Pane("detail").Has("filter be", "next false", "next true")
		app.Press("esc").Pane("detail").HasNot("filter be")
		app.Press("/").Type("x").Press("esc").Pane("detail").HasNot("filter x")
	})
}

func TestTypingKeepsPrintableKeysFromActions(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("tab", "i").Type("quit?").Pane("detail").Has("text quit?")
		app.Paste("pasted").Pane("detail").Has("text quit?pasted")
		app.Palette().Press("esc", "esc").View("fruits")
		app.Press("?").Overlay("Help")
	})
}

func TestQuestionChecksCompletesAndDelivers(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("R").Hints().Has("name: fruit 0")
		app.Press("ctrl+u", "enter").Hints().Has("a name is needed")
		app.Press("tab", "enter").Pane("detail").Has("at apple")
	})
}

func TestErrorToastStaysUntilEscAndIsHarmless(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("F").Sleep(20 * time.Second)
		app.Whole().Has("✗ it is ^[[31mrotten")
		app.Toast("rotten").Press("esc").Whole().HasNot("rotten")
	})
}

func TestNavigateBackAndTabs(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("o").View("other").Pane("all").Rows(tuitest.Eq("came with arg"))
		app.Press("esc").View("fruits")
		app.Press("2").View("other")
		app.ClickOn("Fruits").View("fruits")
		app.Press("8").Toast("there is no such tab")
	})
}

func TestPaletteFindsActionsOfOtherScreens(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Palette().Find("do it").Run("do it").Toast("did it").View("other")
	})
}

func TestHelpSearchesAndRuns(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("?").Overlay("Help").Rows(tuitest.Eq("›"), tuitest.Eq("Fruits · Fruit"), tuitest.Contains("eat").Selected())
		app.Type("mouse capture").Press("enter").NoOverlay().Toast("mouse capture is off")
		app.Status().Has("mouse off")
	})
}

func TestCommandLineCompletesRunsAndRecalls(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press(":").Type("oth").Press("tab", "enter").View("other")
		app.Press(":", "up").Prompt(":other").Cancel()
		app.Press(":").Prompt(":").Answer("nonsense").Toast("there is no command nonsense; tab completes, ctrl+p lists everything")
		app.Press(":").Prompt(":").Answer("fruit").Toast("there is no command fruit; did you mean :fruits or :quit?")
		app.Press(":").Type("f ripe").Press("enter").View("fruits")
		app.Pane("detail").Has("arg ripe")
	})
}

func TestCopyChord(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("y").Overlay("y …").Has("v  copy value", "j  copy JSON (not available here)")
		app.Press("v").Toast("copied value (7 B)")
		assert.Contains(t, string(app.Output()), "\x1b]52;c;ZnJ1aXQgMA==")
	})
}

func TestMouse(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.ClickOn("fruit 5").Pane("detail").Has("at fruit 5")
		app.ClickOn("filter").Press("D").Overlay("Bin it?")
		app.ClickOn("n cancel").NoOverlay()
		app.Pane("detail").Focused()
		app.DoubleClickOn("fruit 7").Pane("detail").Has("open fruit 7")
		app.WheelOn("fruit 7", 50).Pane("detail").Has("at fruit 57")
		app.WheelOn("fruit 57", -7).Pane("detail").Has("at fruit 50")
	})
}

func TestLayoutFollowsSizeAndKeys(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Whole().Has("no traffic yet").HasNot("Servers") // a rail of less than two servers is not worth its columns
		app.Resize(100, 30)
		app.Pane("detail").Has("at fruit 0")
		app.Resize(60, 15).Whole().HasNot("at fruit 0")
		app.Press("tab").Pane("detail").Has("at fruit 0")
		app.Press("esc").View("fruits").Pane("list").Focused().Selected("fruit 0")
		app.Resize(30, 5).Whole().Has("mcphud needs 40x10")
		app.Press("j").Resize(100, 30).Pane("detail").Has("at fruit 1")
		wide := app.State().Panes["list"].W
		app.Press(">", ">")
		if got := app.State().Panes["list"].W; got <= wide {
			t.Errorf("> made the list %d wide, from %d", got, wide)
		}
		app.Press("z").Status().Has("zoom")
		app.Whole().HasNot("at fruit 1")
		app.Press("z", "\\")
		if s := app.State(); s.Panes["detail"].Y <= s.Panes["list"].Y {
			t.Errorf("\\ left the detail at %v beside %v", s.Panes["detail"], s.Panes["list"])
		}
	})
}

func TestThemeFollowsTheTerminalAndTheWord(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		assert.Equalf(t, app.State().Theme, "light", "the theme on a light terminal")
		if got := app.Press(":theme").State().Theme; got == "light" {
			t.Error(":theme changed nothing")
		}
		if got := app.Press(":theme deuteranopia").State().Theme; got != "deuteranopia" {
			t.Errorf("the theme is %s", got)
		}
		app.Press(":theme nope").Toast("there is no theme nope; there are auto, dark, light")
		if got := app.Press(":theme auto").State().Theme; got != "light" {
			t.Errorf("the terminal's background leaves the theme %s", got)
		}
	}, tuitest.Light())
}

func TestNoColor(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("j", "D").Overlay("Bin it?")
		for _, code := range []string{"\x1b[38;", "\x1b[48;", "\x1b[31m", "\x1b[32m", ";38;", ";48;"} {
			assert.NotContains(t, string(app.Output()), code)
		}
		app.Press("esc")
	}, tuitest.NoColor())
}

func TestPanicRestoresTheTerminalAndSaysWhatToReport(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("X")
		err := app.Ended()
		var crash *tui.CrashError
		if !errors.As(err, &crash) {
			t.Fatalf("the UI ended with %v", err)
		}
		for _, want := range []string{"squashed", "fruits", "https://example.org/issues", "fixture_test.go"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error does not mention %s:\n%v", want, err)
			}
		}
		assert.Contains(t, string(app.Output()), "\x1b[?1049l", "\x1b[?25h")
	}, tuitest.Config(func(c *tui.Config) { c.Report = "https://example.org/issues" }))
}

func TestUnchangedFramesAreNotDrawn(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Settle()
		before := f.drawn
		app.State() // a message that changes nothing the panes depend on
		app.State()
		if f.drawn != before {
			t.Errorf("the panes were drawn %d times for nothing", f.drawn-before)
		}
	})
}

func TestIdleHasNoTicker(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Settle()
		n, out := f.rev, len(app.Output())
		time.Sleep(time.Minute)
		synctest.Wait()
		if f.rev != n || len(app.Output()) != out {
			t.Errorf("an idle minute brought %d messages and %d bytes", f.rev-n, len(app.Output())-out)
		}
	})
}

// While text is typed the hint bar offers no letters, and f1 is help.
func TestHintsWhileTyping(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Hints().Has("y copy", "ctrl+p all", "? help", "q quit")
		app.Press("i").Hints().Has("f1 help", "ctrl+p all")
		app.Hints().HasNot("y copy", "/ filter", "q quit")
		app.Press("f1").Overlay("Help")
	}, tuitest.Size(120, 30))
}

// Where the status bar is short of room a call's time stays.
func TestStatusKeepsTheTimeOfACall(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		f.rows[0] = "that has a name which is much too long for this"
		app.Press("enter").Sleep(2 * time.Second)
		app.Status().Has("eat that", "… 2s")
	}, tuitest.Size(60, 20))
}

// The palette offers the screen before what can be done on it.
func TestPaletteRanksScreensByName(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("ctrl+p").Type("oth").Press("enter").NoOverlay().View("other")
	})
}

// What the program was started on is open before the first key: opened behind one, it would take back what the key opened.
func TestTheFirstScreenIsOpenBeforeTheFirstKey(t *testing.T) {
	v := newFruits(3)
	app, err := tui.NewApp(t.Context(), tui.Config{Views: []*tui.Screen{v.screen(), (&other{}).screen()}, StartArg: "ripe"})
	require.NoError(t, err)
	app.Init() // whose commands get no processor here
	assert.Equal(t, strings.Join(v.notes, "\n"), "arg ripe")
}
