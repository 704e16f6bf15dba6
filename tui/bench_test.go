package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// bigApp is an App of 200x60 with a screen of 10,000 rows, drawn once.
func bigApp(tb testing.TB) (*tui.App, *fruits) {
	tb.Helper()
	f := newFruits(10_000)
	app, err := tui.NewApp(tb.Context(), tui.Config{Views: []*tui.Screen{f.screen(), (&other{}).screen()}, Environ: []string{"TERM=xterm-256color"}})
	require.NoError(tb, err)
	app.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	if !strings.Contains(app.View().Content, "fruit 30") {
		tb.Fatal("nothing was drawn")
	}
	return app, f
}

// pressDown is one key press up to the View that shows it.
func pressDown(app *tui.App) tea.View {
	app.Update(tea.KeyPressMsg{Code: 'j', Text: "j"})
	return app.View()
}

func BenchmarkKeyToView(b *testing.B) {
	app, _ := bigApp(b)
	b.ReportAllocs()
	for b.Loop() {
		pressDown(app)
	}
}

func BenchmarkUnchangedView(b *testing.B) {
	app, _ := bigApp(b)
	b.ReportAllocs()
	for b.Loop() {
		app.View()
	}
}

func TestBudgetKeyToView(t *testing.T) {
	budget.Skip(t)
	app, f := bigApp(t)
	got := budget.Best(func() time.Duration {
		return budget.Time(func() {
			for range 100 {
				pressDown(app)
			}
		}) / 100
	})
	if f.at != 500 {
		t.Fatalf("500 keys moved to row %d", f.at)
	}
	budget.Ceiling(t, "key press to View at 200x60 (shell)", got, 2*time.Millisecond)
}

func TestBudgetPushKeyToView(t *testing.T) {
	budget.Push(t)
	app, _ := bigApp(t)
	budget.Known(t, "10 keys to View at 200x60 (shell)", func() time.Duration {
		return budget.Time(func() {
			for range 10 {
				pressDown(app)
			}
		})
	}, 700*time.Microsecond, 2)
}

func TestBudgetSixtyKeys(t *testing.T) {
	budget.Skip(t)
	f := newFruits(10_000)
	app := tuitest.Start(t, tuitest.Views(f.screen(), (&other{}).screen()), tuitest.Size(200, 60))
	moved := 0
	got := budget.Best(func() time.Duration {
		moved += 60
		want := "fruit " + itoa(moved)
		start := time.Now()
		app.Keys(strings.Repeat("j", 60))
		for !strings.Contains(app.Screen(), "at "+want) {
			app.Wait()
		}
		return time.Since(start)
	})
	budget.Ceiling(t, "60 keys in one write, on the screen (shell)", got, 60*time.Millisecond)
}
