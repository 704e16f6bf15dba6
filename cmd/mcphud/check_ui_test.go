package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/report"
	verbcheck "github.com/mcphud/mcphud/cmd/verb/check"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// screenShows waits until the screen has all of these texts, whatever blanks are between their words.
func screenShows(t *testing.T, ui *tuitest.App, texts ...string) {
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

// The screen runs the sections of the command: the named calls of the project, requests at a rate, and the lock, which may come later.
func TestCheckScreenRunsAllSections(t *testing.T) {
	url := agent(t, agentsrv.Options{})
	dir := project(t, map[string]string{
		"right.yaml": "tool: add\narguments: {a: 1, b: 2}\nexpect: .structuredContent.sum == 3\n",
		"wrong.yaml": "tool: add\narguments: {a: 1, b: 2}\nexpect: .structuredContent.sum == 4\n",
		"other.yaml": "server: another\ntool: add\n",
	})
	a := &app{&cli.App{Kill: &cli.Children{}, Sent: &cli.Redactor{}}}
	own := journal.New(journal.Options{})
	defer own.Close()
	lock := contract.NewProject(func() string { return report.FindLock(".") })
	deps := views.Deps{Lock: lock, Checks: verbcheck.UIChecks(a.App, session.Options{}, own, lock)}
	ui := tuitest.Start(t, tuitest.Views(views.All(deps)...), tuitest.Target(config.Server{Name: "agent", Transport: config.HTTP, URL: url}), tuitest.Size(120, 50),
		tuitest.At("tools", nil), tuitest.Deadline(time.Minute), tuitest.Beside())
	shows := func(texts ...string) { t.Helper(); screenShows(t, ui, texts...) }
	const done = " info · " // and how long it took, below the list, once nothing runs
	section := func(title, question string) {
		t.Helper()
		shows(done)
		ui.Press("esc", "a").Overlay("Run sections")
		ui.Type(title).Press("enter").Confirm(question).Yes()
	}
	ui.Press(":check").View("check")
	shows(done)
	ui.Press("/").Type("lock").Press("enter")
	shows("– contract there is no mcphud.lock yet")

	write(t, filepath.Join(filepath.Dir(filepath.Dir(dir)), contract.FileName), "{\"version\": 1, \"servers\": {}}\n") // as git does
	ui.Press("r")
	shows("! contract 1 warning")

	section("named calls", "Run cases on")
	ui.Press("/").Type("named calls").Press("enter")
	shows("✗ cases 1 error")
	shows("2 calls, 1 failed, 0 skipped", "Tried", "✗ wrong: .structuredContent.sum == 4 gave false", "✓ right ")

	section("several requests", "Run load on")
	ui.Press("/").Type("several requests").Press("enter")
	shows("1 client", "8 clients", "20/s") // whether that is slow is up to the machine
}

// The section safety of the screen compares with what a router of the user saw first, and with the lock, as the command does.
func TestCheckScreenComparesWithPinsAndLock(t *testing.T) {
	find := func(about string, options ...mcp.ToolOption) mcp.Tool {
		return mcp.NewTool("find", append(options, mcp.WithDescription(about))...)
	}
	found := mcp.NewToolResultText("found")
	s, url := changeable(t, answering(find("Finds pages.", mcp.WithReadOnlyHintAnnotation(true)), found))
	cmd := routerCommand(t, `{"routes":{"pages":{"url":"`+url+`"}}}`, nil, "--port", "0")
	r := launch(t, cmd, routerReady)
	seen := command(t, "tools", "list", "--url", r.url+"/mcps/pages/mcp")
	if o := finish(t, seen); o.code != 0 {
		t.Fatal(o.stderr)
	}
	r.signal(syscall.SIGTERM)
	r.exit()
	for _, v := range cmd.Env { // the same user
		if k, v, _ := strings.Cut(v, "="); k == "HOME" || strings.HasPrefix(k, "XDG_") {
			t.Setenv(k, v)
		}
	}
	t.Chdir(t.TempDir())
	if o := mcphud(t, "check", "contract", "--accept", "--url", url); o.code != 0 {
		t.Fatal(o.stderr)
	}
	s.SetTools(answering(find("Finds pages, and edits them.", mcp.WithReadOnlyHintAnnotation(false)), found))

	a := &app{&cli.App{Kill: &cli.Children{}, Sent: &cli.Redactor{}}}
	own := journal.New(journal.Options{})
	defer own.Close()
	lock := contract.NewProject(func() string { return report.FindLock(".") })
	screen := func(lock *contract.Project, want ...string) {
		t.Helper()
		deps := views.Deps{Lock: lock, Checks: verbcheck.UIChecks(a.App, session.Options{}, own, lock)}
		ui := tuitest.Start(t, tuitest.Views(views.All(deps)...), tuitest.Target(config.Server{Name: "changeable", Transport: config.HTTP, URL: url}), tuitest.Size(240, 60),
			tuitest.At("tools", nil), tuitest.Deadline(time.Minute), tuitest.Beside())
		shows := func(texts ...string) { t.Helper(); screenShows(t, ui, texts...) }
		ui.Press(":check").View("check")
		shows(" info · ") // nothing runs
		ui.Press("a").Overlay("Run sections")
		ui.Type("safety").Press("enter")
		shows(want...)
	}
	screen(lock, "✗ error safety/changed-under-lock find readOnlyHint true → false", "! warning safety/changed-under-lock find description changed")
	nowhere := filepath.Join(t.TempDir(), contract.FileName)
	screen(contract.NewProject(func() string { return nowhere }), "✗ error safety/changed-under-pin find security: readOnlyHint true → false, first seen on", "by a router (agent pages in", "! warning safety/changed-under-pin find behaviour change: description changed")
}
