package views_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	checkview "github.com/mcphud/mcphud/views/check"
)

func strict(name, required string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object","properties":{"limit":{"type":"integer"}},"required":[%s]}}`, name, required)
}

// What a server changes in its lists is said by what it means, on all screens until somebody looked.
func TestDriftSinceConnected(t *testing.T) {
	drifting(t, nil, func(a *tuitest.App, s *scribe) {
		a.Status().HasNot("breaking")
		s.list(strict("alpha", `"limit"`), strict("gamma", ""))
		time.Sleep(2 * time.Second)
		a.Toast("changed since you looked (d): 2 breaking, 1 compatible").Status().Has("! 2 breaking (d)")
		a.Press("3").Status().Has("! 2 breaking (d)")
		a.Press("6").Status().Has("! 2 breaking (d in Tools)")
		a.Press(":check").View("check").Status().Has("! 2 breaking (d)")
		a.Press("d").View("drift").Pane("list").Has("✗ breaking   alpha `limit` became required", "✗ breaking   beta was removed; gamma has the same definition: was it renamed?", "✓ compatible gamma was added")
		a.Press("j").Pane("detail").Has("was removed; gamma has the same definition: was it renamed?", `- {"inputSchema":`)
		a.Press("k")
		a.Pane("detail").Has("contract/parameter-required", "calls that leave it out are refused")
		a.Status().HasNot("breaking")
		a.Press("enter").View("tools").Pane("detail").Has("~ Changed since you looked")
		a.Press("d", ":seen").Pane("list").Has("scribe changed nothing since you looked.")
	})
}

// So is what is different after a reconnect, of which the server said nothing.
func TestDriftSinceTheLastConnection(t *testing.T) {
	drifting(t, nil, func(a *tuitest.App, s *scribe) {
		s.mu.Lock()
		s.tools = strict("alpha", `"limit"`) + "," + strict("beta", "")
		s.mu.Unlock()
		assert.NoError(t, only(a).Reconnect(context.Background()))
		time.Sleep(2 * time.Second)
		a.Status().Has("! 1 breaking (d)")
	})
}

// locked is a project whose lock, if any, has one server.
func locked(t *testing.T, server, tools string) (file string, p *contract.Project) {
	t.Helper()
	file = filepath.Join(t.TempDir(), contract.FileName)
	p = contract.NewProject(func() string { return file })
	if tools != "" {
		page, err := (*offer.Pages)(nil).Read([]byte(`{"tools":[`+tools+`]}`), offer.Tools)
		require.NoError(t, err)
		if _, err := p.Accept(&check.Offer{Server: server, Tools: page.Items}); err != nil {
			t.Fatal(err)
		}
	}
	return file, p
}

// A server that is not what the lock of the project says is marked when it was listed.
func TestDriftSinceTheLock(t *testing.T) {
	_, lock := locked(t, "scribe", strict("alpha", `"limit"`)+`,`+strict("gone", ""))
	drifting(t, lock, func(a *tuitest.App, _ *scribe) {
		a.Status().Has("! 1 breaking (d)")
		a.Press("d").Pane("list").Has("Changed since mcphud.lock", "gone was removed", "beta was added")
		a.Hints().Has("s accept into lock")
		a.Press("s").Confirm("Accept what scribe offers now?").Says("It replaces what the lock says of this server").No()
		a.Pane("list").Has("gone was removed")
		a.Press("s").Confirm("Accept what scribe offers now?").Yes()
		a.Toast("accepted 9 changes of scribe in").Pane("list").Has("scribe offers what mcphud.lock says.")
		if l, err := lock.Read(); err != nil || len(l.Servers["scribe"].Lists[offer.Tools]) != 2 {
			t.Errorf("%v %+v", err, l)
		}
		a.Press("esc").Status().HasNot("breaking")
	})
}

// A comparison that takes its time is not lost where another server becomes the current one meanwhile.
func TestDriftOfAServerThatWasLeft(t *testing.T) {
	file, _ := locked(t, "scribe", strict("alpha", "")+`,`+strict("beta", ""))
	var slow atomic.Bool
	lock := contract.NewProject(func() string {
		if slow.Load() {
			time.Sleep(time.Second)
		}
		return file
	})
	page, err := (*offer.Pages)(nil).Read([]byte(`{"tools":[`+strict("north", "")+`]}`), offer.Tools)
	require.NoError(t, err)
	if _, err := lock.Accept(&check.Offer{Server: "north", Tools: page.Items}); err != nil {
		t.Fatal(err)
	}
	other := tuitest.Server("north", weather("north"))
	driftingWith(t, views.Deps{Lock: lock}, []tuitest.Option{other}, func(a *tuitest.App, s *scribe) {
		goTo := func(server string) {
			a.Press("1").View("servers").Type("/"+server).Press("enter", "enter").Sleep(10 * time.Millisecond)
		}
		goTo("scribe")
		a.Sleep(3 * time.Second).Status().HasNot("breaking")
		slow.Store(true)
		s.list(strict("alpha", `"limit"`), strict("beta", ""))
		a.Sleep(300 * time.Millisecond)
		goTo("north")
		a.Sleep(3 * time.Second).Status().Has("north")
		goTo("scribe")
		a.Sleep(3 * time.Second).Status().Has("! 1 breaking")
	})
}

// A lock is made of what a server offers, on the screen that says what is wrong with it too, and counted from at once.
func TestAcceptIntoANewLock(t *testing.T) {
	file, lock := locked(t, "", "")
	section := trial{"contract", func(_ context.Context, _ *check.Subject, r *check.Recorder) error {
		l, err := lock.Read()
		r.Figures(check.Figures{Notes: []string{fmt.Sprintf("locked servers: %d", len(l.Servers))}})
		return err
	}}
	with := checks(section)
	sections := with.Sections
	with.Sections = func(cfg config.Server) []checkview.CheckSection {
		all := sections(cfg)
		all[0].Absent = func() string {
			if l, _ := lock.Read(); l == nil {
				return "there is no lock"
			}
			return ""
		}
		return all
	}
	driftingWith(t, views.Deps{Lock: lock, Checks: with}, nil, func(a *tuitest.App, s *scribe) {
		a.Press(":check").View("check").Pane("list").Has("– contract there is no lock")
		a.Press("j").Pane("detail").Has(":accept makes one of what the server offers now.")
		a.Press(":accept").Confirm("Make mcphud.lock?").Says("tools, prompts, resources", "mcphud.lock").Yes()
		a.Toast("made the contract of scribe in").Pane("list").Has("✓ contract no findings")
		if l, err := contract.Read(file); err != nil || len(l.Servers["scribe"].Lists[offer.Tools]) != 2 {
			t.Errorf("%v %+v", err, l)
		}
		s.list(strict("alpha", `"limit"`))
		time.Sleep(2 * time.Second)
		a.Status().Has("! 2 breaking (d)").Press("d").Pane("list").Has("Changed since mcphud.lock", "beta was removed")
		if err := os.Remove(file); err != nil { // as another program does
			t.Error(err)
		}
	})
}

// Nothing is written in read-only mode.
func TestAcceptInReadOnlyMode(t *testing.T) {
	file, lock := locked(t, "", "")
	driftingWith(t, views.Deps{Lock: lock}, []tuitest.Option{tuitest.ReadOnly()}, func(a *tuitest.App, _ *scribe) {
		a.Press("d").View("drift").Press("s").Idle()
		a.Hints().HasNot("accept into lock")
		if _, err := os.Stat(file); err == nil {
			t.Error("it was written")
		}
	})
}

func drifting(t *testing.T, lock *contract.Project, f func(*tuitest.App, *scribe)) {
	t.Helper()
	driftingWith(t, views.Deps{Lock: lock}, nil, f)
}

func driftingWith(t *testing.T, d views.Deps, opts []tuitest.Option, f func(*tuitest.App, *scribe)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScribe()
		s.tools = strict("alpha", "") + "," + strict("beta", "")
		s.answers["prompts/list"], s.answers["resources/templates/list"] = always(`{"prompts":[]}`), always(`{"resourceTemplates":[]}`)
		f(tuitest.Start(t, append(opts, tuitest.Views(views.All(d)...), tuitest.Peer("scribe", s.serve), tuitest.At("tools", nil), tuitest.Size(100, 24))...), s)
	})
}
