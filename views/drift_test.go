package views_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
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
		a.Toast("changed since you looked (D): 2 breaking, 1 compatible").Status().Has("! 2 breaking (D)")
		a.Press("3").Status().Has("! 2 breaking (D)")
		a.Press("6").Status().Has("! 2 breaking (D in Tools)")
		a.Press("Q").View("check").Status().Has("! 2 breaking (D)")
		a.Press("D").View("drift").Pane("list").Has("✗ breaking   alpha `limit` became required", "✗ breaking   beta was removed", "✓ compatible gamma was added")
		a.Pane("detail").Has("contract/parameter-required", "calls that leave it out are refused")
		a.Status().HasNot("breaking")
		a.Press("enter").View("tools").Pane("detail").Has("~ Changed since you looked")
		a.Press("D", "a").Pane("list").Has("scribe changed nothing since you looked.")
	})
}

// So is what is different after a reconnect, of which the server said nothing.
func TestDriftSinceTheLastConnection(t *testing.T) {
	drifting(t, nil, func(a *tuitest.App, s *scribe) {
		s.mu.Lock()
		s.tools = strict("alpha", `"limit"`) + "," + strict("beta", "")
		s.mu.Unlock()
		if err := only(a).Reconnect(context.Background()); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		a.Status().Has("! 1 breaking (D)")
	})
}

// A server that is not what the lock of the project says is marked when it was listed.
func TestDriftSinceTheLock(t *testing.T) {
	page, err := (*offer.Pages)(nil).Read([]byte(`{"tools":[`+strict("alpha", `"limit"`)+`,`+strict("gone", "")+`]}`), offer.Tools)
	if err != nil {
		t.Fatal(err)
	}
	lock := &contract.Lock{}
	if err := lock.Accept("scribe", contract.Of(&check.Offer{Tools: page.Items})); err != nil {
		t.Fatal(err)
	}
	drifting(t, lock, func(a *tuitest.App, _ *scribe) {
		a.Status().Has("! 1 breaking (D)")
		a.Press("D").Pane("list").Has("Changed since mcphud.lock", "gone was removed", "beta was added")
	})
}

func drifting(t *testing.T, lock *contract.Lock, f func(*tuitest.App, *scribe)) {
	synctest.Test(t, func(t *testing.T) {
		s := newScribe()
		s.tools = strict("alpha", "") + "," + strict("beta", "")
		var d views.Deps
		if lock != nil {
			d.Lock = func() (*contract.Lock, error) { return lock, nil }
		}
		f(tuitest.Start(t, tuitest.Views(views.All(d)...), tuitest.Peer("scribe", s.serve), tuitest.At("tools", nil), tuitest.Size(100, 24)), s)
	})
}
