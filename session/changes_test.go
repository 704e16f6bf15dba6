package session_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// TestListChanges: a refresh says what it added, removed and changed, and marks it until it is seen.
func TestListChanges(t *testing.T) {
	tool := func(name, about string) string {
		return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, about)
	}
	lists := []string{
		tool("a", "1") + "," + tool("b", "1") + "," + tool("c", "1"),
		tool("c", "2") + "," + tool("a", "1") + "," + tool("d", "1"),
		tool("c", "2") + "," + tool("a", "1") + "," + tool("d", "2"),
	}
	synctest.Test(t, func(t *testing.T) {
		_, s := sessiontest.Open(t, lister(`{}`, func(n int, _ string) string { return `{"tools":[` + lists[min(n, 3)-1] + `]}` }), config.Server{})
		l, err := s.List(t.Context(), offer.Tools)
		if err != nil || l.ChangeRev != 0 || len(l.Marks) != 0 {
			t.Fatal(l.Changes, err)
		}
		if l, err = s.Refresh(t.Context(), offer.Tools); err != nil || l.Changes.String() != "1 added (d), 1 removed (b), 1 changed (c)" || l.ChangeRev != l.Rev {
			t.Error(l.Changes, err)
		}
		if m := l.Marks; len(m) != 3 || !m["d"].Added || m["c"].Diff == "" || !m["b"].Removed || m["b"].Was != tool("b", "1") {
			t.Errorf("%+v", m)
		}
		s.Seen(offer.Tools, "c")
		if l, err = s.Refresh(t.Context(), offer.Tools); err != nil || l.Changes.String() != "1 changed (d)" || len(l.Marks) != 2 || !l.Marks["d"].Added || !l.Marks["b"].Removed {
			t.Error(l.Changes, l.Marks, err)
		}
		rev := l.ChangeRev
		if l, err = s.Refresh(t.Context(), offer.Tools); err != nil || l.ChangeRev != rev || len(l.Marks) != 2 {
			t.Error("nothing changed:", l.Changes, l.Marks, err)
		}
		s.Seen(offer.Tools, "")
		if l = s.Listing(offer.Tools); len(l.Marks) != 0 {
			t.Error(l.Marks)
		}
	})
}

// TestCacheOutlivesConnections: a list that its server says may be kept is not asked for again by the next connection, unless the
// server is another one by then or the time is over.
func TestCacheOutlivesConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, version := 0, "1"
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Serve(func(env jsonrpc.Envelope) {
				switch env.Method {
				case "server/discover":
					p.Answer(env, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"`+version+`"}}`)
				case "tools/list":
					asked++
					p.Answer(env, `{"tools":[],"ttlMs":60000,"cacheScope":"private"}`)
				}
			})
		})}, config.Server{})
		list := func(want int, why string) {
			t.Helper()
			l, err := s.List(t.Context(), offer.Tools)
			if synctest.Wait(); err != nil || asked != want || l.Hints.String() != "ttl 1m0s, private" {
				t.Errorf("%s: asked %d times, want %d; %q %v", why, asked, want, l.Hints, err)
			}
		}
		reconnect := func() {
			require.NoError(t, s.Reconnect(t.Context()))
			synctest.Wait()
		}
		list(1, "first")
		reconnect()
		list(1, "reconnected")
		version = "2"
		reconnect()
		list(2, "another version")
		s.SetVariable("X", "y")
		reconnect()
		list(3, "another environment")
		time.Sleep(time.Minute)
		reconnect()
		list(4, "time over")
	})
}
