package aggregate

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
)

// A session that a client ends just now has ended when Close returns.
func TestR19_CloseWaitsForSessionsThatEnd(t *testing.T) {
	caller := Caller{May: func(string) bool { return true }}
	for round := range 50 {
		s := New(Options{Agents: func() []string { return nil }, Identify: func(http.ResponseWriter, *http.Request) (Caller, bool) { return caller, true }})
		var ends sync.WaitGroup
		all := make([]*client, 8)
		for i := range all {
			c := s.newClient(caller, 0, []byte("{}"))
			c.id = strconv.Itoa(i)
			require.NoError(t, s.addClient(c, s.clients, c.id, "full"))
			c.release()
			c.background(func(ctx context.Context) { <-ctx.Done(); time.Sleep(time.Millisecond) })
			all[i] = c
			r := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/mcp", nil)
			r.Header.Set("Mcp-Session-Id", c.id)
			ends.Go(func() { s.ServeHTTP(httptest.NewRecorder(), r) })
		}
		require.NoError(t, s.Close())
		for _, c := range all {
			c.mu.Lock()
			if !c.closed {
				t.Errorf("round %d: session %s goes on", round, c.id)
			}
			c.mu.Unlock()
		}
		ends.Wait()
	}
}
