package views_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/wire/transport"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// The tools say what they cost a model, and the map shows where the tokens go.
func TestTokensOfTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, append(agent(), tuitest.Views(views.All(views.Deps{})...), tuitest.Size(120, 40), tuitest.At("tools", nil))...)
		app.Pane("list").Has("k tok", "65 tok", "≈").Some(tuitest.Matches(`form_gallery.* [0-9.]+k tok`))
		app.Press("$").View("treemap")
		app.Pane("map").Has("▸form_gallery", "k tok", " %", "tok of description")
	})
}

func TestTreemapMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, append(agent(), tuitest.Views(views.All(views.Deps{})...), tuitest.Size(80, 24), tuitest.At("tools", nil))...)
		app.Press("$").View("treemap")
		m := app.Pane("map")
		m.Has("▸form_gallery")
		app.Press("right")
		m.HasNot("▸form_gallery")
		m.Has("▸")
		app.Press("left")
		m.Has("▸form_gallery")
		app.Press("/").Type("conte").Press("enter")
		m.Has("▸contents")
		app.ClickOn("sleep")
		m.Has("▸sleep")
		app.Press("enter").View("tools").Pane("list").Selected("sleep")
		app.Press("esc").View("treemap")
		app.Resize(40, 12)
		app.Pane("map").Has("form_gallery", "7 mo")
		app.Resize(200, 60).Press("Q").View("check").Press("q").View("treemap").Press("q").View("tools")
	})
}

// In linear mode the map is a table.
func TestTreemapLinear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serve := newScribe().serve
		inLinearOn(t, session.Options{
			Dial: func(config.Server) (transport.Transport, bool) { return transport.NewMemory(serve), true },
		}, config.Server{Name: "scribe", Transport: config.Stdio, Command: "memory"}, func(c *console) {
			c.enter("")
			if out := c.enter(":treemap"); !strings.Contains(out, " tok ") || !strings.Contains(out, " %  ") {
				t.Error(out)
			}
		})
	})
}

// TestTreemapPictures draws the map.
func TestTreemapPictures(t *testing.T) {
	for _, size := range sizes[:2] {
		for _, look := range []string{"dark", "light", "text"} {
			if racing && (size[0] != 80 || look != "text") {
				continue // the same code with other numbers
			}
			name := fmt.Sprintf("treemap-%dx%d", size[0], size[1])
			t.Run(name+"-"+look, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := map[string][]tuitest.Option{"light": {tuitest.Light()}, "text": {tuitest.NoColor()}}[look]
					app := tuitest.Start(t, append(append(agent(), opts...), tuitest.Views(views.All(views.Deps{})...), tuitest.Size(size[0], size[1]), tuitest.At("tools", nil), tuitest.Latency(3100*time.Microsecond))...)
					app.Idle().Press("$").View("treemap").Press("right").Idle()
					if look == "text" {
						app.Golden("screens/" + name)
						return
					}
					app.SVG("../testdata/screens/" + name + "-" + look + ".svg")
				})
			})
		}
	}
}

// The tokens of 5,000 tools are counted beside the screen, and the map of them answers at once.
func TestBudgetTokensOfManyTools(t *testing.T) {
	budget.Skip(t)
	r := newRig(t, faketest.Stdio(t, behave.ManyTools), "tools")
	_, slowest := r.until("k tok")
	budget.Ceiling(t, "5,000 tools counted, slowest message", slowest, 50*time.Millisecond)
	r.rest()
	r.send(tui.Navigate{View: "treemap"})
	r.until("the ")
	r.rest()
	budget.Ceiling(t, "map of 5,000 tools, key", bestPress(r, "l", "j", "j", "h", "k", "G", "g"), perKey)
}

// What the tools cost together stands above them where there is a budget, and warns where that is too much: by the number of
// mcphud check cost --budget.
func TestTokenBudget(t *testing.T) {
	with := func(option tuitest.Option, budget int, f func(a *tuitest.App, all int)) {
		synctest.Test(t, func(t *testing.T) {
			a := tuitest.Start(t, append(agent(), option, tuitest.Views(views.All(views.Deps{TokenBudget: budget})...), tuitest.Size(80, 24), tuitest.At("tools", nil))...)
			o, err := check.Take(t.Context(), only(a))
			if err != nil {
				t.Fatal(err)
			}
			rep, err := check.Run(t.Context(), &check.Subject{Offer: o}, []check.Section{&cost.Section{Budget: 1}}, check.Tool{}, check.Watch{})
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(rep.Findings, func(f check.Finding) bool { return f.ID == "cost/over-budget" })
			var tools, all int
			if _, err := fmt.Sscanf(rep.Findings[at].Message, "%d tools take %d tokens", &tools, &all); err != nil {
				t.Fatal(err)
			}
			f(a, all)
		})
	}
	with(tuitest.NoColor(), 1_000_000, func(a *tuitest.App, all int) {
		a.Pane("list").Has(fmt.Sprintf("─ Tools · %d of 1000000 tok ─", all))
	})
	for _, look := range []tuitest.Option{tuitest.NoColor(), tuitest.Light()} {
		with(look, 500, func(a *tuitest.App, all int) {
			list, over := a.Pane("list"), fmt.Sprintf("─ Tools ! %d of 500 tok", all)
			list.Has(over + ", see Q ─")
			a.Press("/").Type("echo").Press("enter")
			list.Has(over + " /echo")
			a.Press("esc").Resize(160, 40)
			list.Has(over + ": over the budget, Q says what to drop ─")
		})
	}
	with(tuitest.ReadOnly(), 500, func(a *tuitest.App, _ int) { a.Pane("list").HasNot("500 tok") })
}
