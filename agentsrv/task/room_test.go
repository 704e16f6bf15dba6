package task

import (
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What tasks use adds up to what is there, also when they give way to each other while they are being saved.
func TestX2_RoomAddsUp(t *testing.T) {
	r := newRig(t, options{tenant: true, tasks: Options{MaxTasks: 40, MaxBytes: 4000}})
	var all sync.WaitGroup
	for g := range 24 {
		all.Go(func() {
			for i := range 30 {
				r.tool(sessionless.with("X-Tenant", fmt.Sprint(g%6)), []string{"echo", "big"}[i%2], map[string]any{"n": 50 + 10*i}, "_meta", map[string]any{"async": true})
			}
		})
	}
	all.Wait()
	r.until("no call runs", func() bool {
		r.tasks.mu.Lock()
		defer r.tasks.mu.Unlock()
		return len(r.tasks.runs) == 0
	})
	again := New(Options{Table: SQL(r.db, quiet)})
	require.NoError(t, again.Open(t.Context()))
	r.tasks.mu.Lock()
	had, _ := r.tasks.usage()
	if has, _ := again.usage(); !maps.Equal(has, had) || len(r.tasks.live) > 0 {
		t.Errorf("%v is used, in the store %v; %d only in memory", had, has, len(r.tasks.live))
	}
	r.tasks.mu.Unlock()
	assert.NoError(t, again.Close(t.Context()))
}
