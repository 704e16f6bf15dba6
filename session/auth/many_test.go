package auth_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// many is how many calls meet a token that is not good any more.
var many = map[bool]int{false: 500, true: 100}[budget.Race()]

// all makes that many calls at once, and returns the errors.
func (r *rig) all(t *testing.T) []error {
	errs := make([]error, many)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = r.s.CallTool(t.Context(), "echo", json.RawMessage(`{"text":"hello"}`), session.CallOptions{})
		})
	}
	wg.Wait()
	r.keep(errs...)
	return errs
}

func TestManyCallsRefreshOnce(t *testing.T) {
	for name, c := range map[string]struct {
		ahead   bool // of the end, by the clock
		refuse  string
		down    bool
		works   bool
		refused bool // by the server, at least once
	}{
		"refused token":                     {works: true, refused: true},
		"refused token, login ended":        {refuse: "invalid_grant", refused: true},
		"refused token, issuer down":        {down: true, refused: true},
		"token about to end":                {ahead: true, works: true},
		"token about to end, login ended":   {ahead: true, refuse: "invalid_grant", works: true},
		"token about to end, issuer down":   {ahead: true, down: true, works: true},
		"token about to end, unknown error": {ahead: true, refuse: "server_error", works: true},
	} {
		t.Run(name, func(t *testing.T) {
			var off atomic.Int64
			start := time.Now() // the clock stands still, however long the calls take
			r := at(t, authtest.Memory(t, authtest.Knobs{}), auth.Options{Now: func() time.Time { return start.Add(time.Duration(off.Load())) }}, nil).open()
			require.NoError(t, r.call("echo"))
			before, refused := len(r.Issuer.Calls("/token")), r.Refused()
			if c.ahead {
				off.Store(int64(time.Hour - 10*time.Second))
			} else {
				r.Issuer.Expire()
			}
			r.Issuer.Set(func(k *authtest.Knobs) {
				if c.refuse != "" {
					k.Refuse = map[string]string{"/token": c.refuse}
				}
				if c.down {
					k.Serve = map[string]http.HandlerFunc{"/token": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }}
				}
			})
			for i, err := range r.all(t) {
				e := (*failure.Error)(nil)
				if c.works && err != nil || !c.works && (!errors.As(err, &e) || e.Kind != failure.OAuth || (e.Remedy == failure.LogIn) == c.down) {
					t.Fatalf("call %d: %v", i, err)
				}
			}
			// Whoever comes after a round that met a server out of order may try again.
			if n := len(r.Issuer.Calls("/token")) - before; n != 1 && (!c.down || c.ahead || n == 0) {
				t.Errorf("%d token requests for %d calls", n, many)
			}
			if st := r.s.Authorizer().Status(); (st.Challenge == nil) != c.works {
				t.Errorf("what the server asks for is %+v", st.Challenge)
			}
			if got := r.Refused() > refused; got != c.refused {
				t.Errorf("%d requests were refused", r.Refused()-refused)
			}
		})
	}
}

// Tokens that live shorter than what a refresh comes ahead are used while they are good.
func TestShortTokensAreUsed(t *testing.T) {
	r := public(t, authtest.Knobs{Life: 20 * time.Second}).open()
	for range 10 {
		require.NoError(t, r.call("echo"))
	}
	assert.Equalf(t, len(r.Issuer.Calls("/token")), 1, "token requests for a login and ten calls")
}
