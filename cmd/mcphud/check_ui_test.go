package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// The screen runs the sections of the command: the named calls of the project, requests at a rate, and the lock, which may come later.
func TestCheckScreenRunsAllSections(t *testing.T) {
	url := agent(t, agentsrv.Options{})
	dir := project(t, map[string]string{
		"right.yaml": "tool: add\narguments: {a: 1, b: 2}\nexpect: .structuredContent.sum == 3\n",
		"wrong.yaml": "tool: add\narguments: {a: 1, b: 2}\nexpect: .structuredContent.sum == 4\n",
		"other.yaml": "server: another\ntool: add\n",
	})
	a := &app{kill: &children{}}
	own := journal.New(journal.Options{})
	defer own.Close()
	lock := contract.NewProject(func() string { return findLock(".") })
	deps := views.Deps{Lock: lock, Checks: a.uiChecks(session.Options{}, own, lock)}
	ui := tuitest.Start(t, tuitest.Views(views.All(deps)...), tuitest.Target(config.Server{Name: "agent", Transport: config.HTTP, URL: url}), tuitest.Size(120, 50),
		tuitest.At("tools", nil), tuitest.Deadline(time.Minute), tuitest.Beside())
	shows := func(texts ...string) {
		t.Helper()
		ui.Eventually(func() string {
			got := strings.Join(strings.Fields(ui.Screen()), " ")
			for _, text := range texts {
				if !strings.Contains(got, text) {
					return "the screen does not show " + text
				}
			}
			return ""
		})
	}
	const done = " info · " // and how long it took, below the list, once nothing runs
	section := func(title, question string) {
		t.Helper()
		shows(done)
		ui.Press("esc", "o").Overlay("Run sections")
		ui.Type(title).Press("enter").Confirm(question).Yes()
	}
	ui.Press("Q").View("check")
	shows(done)
	ui.Press("/").Type("lock").Press("enter")
	shows("– contract there is no mcphud.lock yet")

	write(t, filepath.Join(filepath.Dir(filepath.Dir(dir)), contract.FileName), "{\"version\": 1, \"servers\": {}}\n") // as git does
	ui.Press("r")
	shows("! contract 0 errors · 1 warning · 0 info")

	section("named calls", "Run cases on")
	ui.Press("/").Type("named calls").Press("enter")
	shows("✗ cases 1 error · 0 warnings · 0 info")
	shows("2 calls, 1 failed, 0 skipped", "Tried", "✗ wrong: .structuredContent.sum == 4 gave false", "✓ right ")

	section("several requests", "Run load on")
	ui.Press("/").Type("several requests").Press("enter")
	shows("1 client", "8 clients", "20/s") // whether that is slow is up to the machine
}
