package session_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
)

// TestSessionsShareEqualPages: many sessions with one server keep its list once. The router has one for each of its clients.
func TestSessionsShareEqualPages(t *testing.T) {
	const sessions = 20
	tools := make([]string, 1000)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"name":"tool%d","description":%q,"inputSchema":{"type":"object"}}`, i, strings.Repeat("what it does ", 40))
	}
	page := `{"tools":[` + strings.Join(tools, ",") + `]}`
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	grown := func(pages *offer.Pages) uint64 {
		before := heap()
		var kept []*session.Session
		for range sessions {
			o := lister(`{"tools":{}}`, func(int, string) string { return page })
			o.Pages, o.Unrecorded = pages, true
			m := session.NewManager(o)
			t.Cleanup(func() { _ = m.Close() })
			s, err := m.Register(config.Server{Name: "peer"})
			if err == nil {
				err = s.Connect(t.Context())
			}
			if err == nil {
				_, err = s.List(t.Context(), offer.Tools)
			}
			require.NoError(t, err)
			kept = append(kept, s)
		}
		after := heap()
		runtime.KeepAlive(kept)
		return after - min(before, after)
	}
	each, shared := grown(nil), grown(new(offer.Pages))
	t.Logf("%d sessions with a list of %d bytes: %d bytes alone, %d shared", sessions, len(page), each, shared)
	if shared > each*6/10 { // what is left is what each connection reads with
		t.Errorf("%d bytes for %d sessions that share their pages, %d for those that do not", shared, sessions, each)
	}
}
