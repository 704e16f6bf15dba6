package views_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// The tools say what they cost a model, and the check where the tokens go.
func TestTokensOfTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, append(agent(), tuitest.Views(views.All(views.Deps{Checks: checks(&cost.Section{})})...), tuitest.Size(120, 40), tuitest.At("tools", nil))...)
		app.Pane("list").Has("k tok", "65 tok", "≈").Some(tuitest.Matches(`form_gallery.* [0-9.]+k tok`))
		app.Press(":tokens").View("check").Pane("list").Selected("what a model pays")
		app.Pane("detail").Has("TOKENS", "SHARE", "DESCRIPTION", "SCHEMA").Some(tuitest.Matches(`form_gallery +2\d\d\d +8\d % +\d+ +2\d\d\d +[0-9.]+ kB`)).Some(tuitest.Matches(`all 8 tools +2\d\d\d`))
	})
}

// The tokens of 5,000 tools are counted beside the screen.
func TestBudgetTokensOfManyTools(t *testing.T) {
	budget.Skip(t)
	r := newRig(t, faketest.Stdio(t, behave.ManyTools), "tools")
	_, slowest := r.until("k tok")
	budget.Ceiling(t, "5,000 tools counted, slowest message", slowest, 50*time.Millisecond)
}

// What the tools cost together stands above them where there is a budget, and warns where that is too much: by the number of
// mcphud check cost --budget.
func TestTokenBudget(t *testing.T) {
	with := func(option tuitest.Option, budget int, f func(a *tuitest.App, all int)) {
		synctest.Test(t, func(t *testing.T) {
			a := tuitest.Start(t, append(agent(), option, tuitest.Views(views.All(views.Deps{TokenBudget: budget})...), tuitest.Size(80, 24), tuitest.At("tools", nil))...)
			o, err := check.Take(t.Context(), only(a))
			require.NoError(t, err)
			rep, err := check.Run(t.Context(), &check.Subject{Offer: o}, []check.Section{&cost.Section{Budget: 1}}, check.Tool{}, check.Watch{})
			require.NoError(t, err)
			at := slices.IndexFunc(rep.Findings, func(f check.Finding) bool { return f.ID == "cost/over-budget" })
			var tools, all int
			if _, err := fmt.Sscanf(rep.Findings[at].Message, "%d tools take %d tokens", &tools, &all); err != nil {
				t.Fatal(err)
			}
			f(a, all)
		})
	}
	with(tuitest.NoColor(), 1_000_000, func(a *tuitest.App, all int) {
		a.Pane("list").Has(fmt.Sprintf("Tools · %d of 1000000 tok ─", all))
	})
	for _, look := range []tuitest.Option{tuitest.NoColor(), tuitest.Light()} {
		with(look, 500, func(a *tuitest.App, all int) {
			list, over := a.Pane("list"), fmt.Sprintf("Tools ! %d of 500 tok", all)
			list.Has(over + ", :check ─")
			a.Press("/").Type("echo").Press("enter")
			list.Has(over + " /echo")
			a.Press("esc").Resize(160, 40)
			list.Has(over + ": over the budget, :check says what to drop ─")
		})
	}
	with(tuitest.ReadOnly(), 500, func(a *tuitest.App, _ int) { a.Pane("list").HasNot("500 tok") })
}
