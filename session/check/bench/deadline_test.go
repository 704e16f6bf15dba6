package bench

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Requests in time have one context, and one that is late takes none of those after it with it.
func TestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		run, stop := context.WithCancel(t.Context())
		d := &deadline{parent: run}
		first := d.begin(time.Second)
		d.end()
		time.Sleep(time.Minute)
		assert.NoError(t, first.Err())
		if d.begin(time.Second) != first {
			t.Error("another context for the second request")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, context.Cause(first), errLate)
		d.end()
		late := d.begin(-time.Second) // it was due long ago
		synctest.Wait()
		assert.Equal(t, context.Cause(late), errLate)
		d.end()
		third := d.begin(time.Second)
		assert.NoError(t, third.Err())
		stop()
		assert.Equal(t, context.Cause(third), context.Canceled)
		d.end()
		d.close()
	})
}
