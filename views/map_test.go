package views_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// TestTheMap: eight tabs and no other place. Each screen is one of them or a section of one, each of its names is a word for `:`, and the
// palette says where it is.
func TestTheMap(t *testing.T) {
	all := views.All(views.Deps{})
	title := map[string]string{}
	var tabs []string
	for _, s := range all {
		title[s.ID] = s.Title
		if s.Tab == "" {
			tabs = append(tabs, s.Title)
		}
	}
	assert.Equal(t, strings.Join(tabs, " "), "Servers Tools Resources Prompts Call Traffic Check Inbox")
	for _, s := range all {
		t.Run(s.ID, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at := s.Title
				if s.Tab != "" {
					at = title[s.Tab] + " ▸ " + s.Title
				}
				lands := s.ID
				if lands == "answer" { // without a question there is none to answer
					lands = "inbox"
				}
				start := "logs"
				if s.ID == start {
					start = "tools"
				}
				app := demo(t, tuitest.At(start, nil), tuitest.Size(100, 40)).View(start)
				app.Palette().Find(s.Title)
				app.Overlay("Command palette").Has(at)
				app.Press("esc", "esc").NoOverlay()
				for _, word := range append([]string{s.ID}, s.Aliases...) {
					app.Press(":").Type(word).Press("enter").View(lands).Settle()
					if app.State().Prompt != "" { // what is searched at once
						app.Press("esc")
					}
					app.Send(tui.Back{}).View(start)
				}
			})
		})
	}
	for _, s := range views.Watch(traffic.Foreign{}) {
		assert.Equalf(t, s.Tab == "" || s.Tab == "traffic", true, "the tab of %s is %s", s.ID, s.Tab)
	}
}

// TestTabsAt80Columns: each name is whole beside the numbers of big servers, and nothing is cut.
func TestTabsAt80Columns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := views.All(views.Deps{})
		for _, s := range all {
			if s.Badge != nil {
				s.Badge = func(*tui.Ctx) string { return "12345" }
			}
		}
		app := tuitest.Start(t, tuitest.Views(all...), tuitest.Size(80, 24), tuitest.At("tools", nil)).View("tools")
		line, _, _ := strings.Cut(app.Settle().Screen(), "\n")
		assert.Contains(t, line, " Servers ", " Tools 12k ", " Resources ", " Prompts ", " Call ", " Traffic ", " Check ", " Inbox")
		assert.NotContains(t, line, "…")
	})
}
