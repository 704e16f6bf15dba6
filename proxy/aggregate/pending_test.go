package aggregate

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A call that ended while its question was still there has an answer, which whoever waits gets. It is not kept for anybody to come back to: nothing would
// take it out again, and there is room for so many.
func TestPendingCallThatEnded(t *testing.T) {
	s := New(Options{Agents: func() []string { return nil }})
	c := s.newClient(Caller{}, 0, []byte("{}"))
	defer func() {
		c.close()
		require.NoError(t, s.Close())
	}()
	for i := range 50 { // which of the two is seen first is up to select
		p := &pendingCall{
			state: statePrefix + strconv.Itoa(i), c: c, agent: "a", result: []byte(`{}`), cancel: func(error) {}, asked: make(chan struct{}, 1), done: make(chan struct{}), taken: make(chan struct{}, 1),
			asks: map[string]question{"1": {[]byte(`{}`), make(chan json.RawMessage, 1)}},
		}
		p.signal()
		close(p.done)
		s.expirePending(t.Context(), p)
		result, err := p.wait(t.Context(), &exchange{s: s, c: c})
		require.NoError(t, err)
		assert.Equal(t, string(result), `{}`)
		assert.Equal(t, len(s.pending), 0)
	}
}

// Of an agent that is no more nothing is remembered.
func TestHealthForgetsAgents(t *testing.T) {
	s := New(Options{Agents: func() []string { return []string{"stays"} }})
	defer func() { require.NoError(t, s.Close()) }()
	for _, agent := range []string{"stays", "goes"} {
		s.health.noteStatus(agent, http.StatusOK)
		s.health.noteStatus(agent, http.StatusBadGateway)
		s.health.noteLate(agent)
	}
	s.RoutesChanged()
	for _, n := range []int{len(s.health.seen), len(s.health.down), len(s.health.slow)} {
		assert.Equal(t, n, 1)
	}
}
