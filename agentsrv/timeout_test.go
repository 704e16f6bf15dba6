package agentsrv

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A6: 30 s by default, a call of execute_code may ask for more, and 60 s are the end for all.
func TestA6_CallsMayAskForMore(t *testing.T) {
	with := func(o Options) *Agent {
		a, err := New(o)
		require.NoError(t, err)
		t.Cleanup(func() { _ = a.Close(context.Background()) })
		return a
	}
	usual, short := with(Options{}), with(Options{Timeout: 2 * time.Second})
	for _, c := range []struct {
		a            *Agent
		tool, params string
		want         time.Duration
	}{
		{usual, "execute_code", `{"arguments":{"code":"1","timeout":45000}}`, 46 * time.Second},
		{usual, "execute_code", `{"arguments":{"code":"1","timeout":1e300}}`, 61 * time.Second}, // of which the queue gives 60
		{usual, "execute_code", `{"arguments":{"code":"1","timeout":5000}}`, 0},
		{usual, "execute_code", `{"arguments":{"code":"1"}}`, 0},
		{usual, "execute_code", `{"arguments":{"timeout":"45000"}}`, 0},
		{usual, "execute_code", `{}`, 0},
		{usual, "execute_code", ``, 0},
		{usual, "sleep", `{"arguments":{"timeout":45000}}`, 0},
		{short, "execute_code", `{"arguments":{"code":"1","timeout":45000}}`, 0},
	} {
		assert.Equalf(t, c.a.toolTimeout(c.tool, []byte(c.params)), c.want, "%s %s", c.tool, c.params)
	}
	if _, err := New(Options{Timeout: 90 * time.Second}); err == nil || !strings.Contains(err.Error(), "1m0s") {
		t.Errorf("beyond the end: %v", err)
	}
}
