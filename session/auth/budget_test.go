package auth_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// TestBudgetToken sets a call with a token that a login got against one with the same token in a header of the configuration: what the
// server does is the same.
func TestBudgetToken(t *testing.T) {
	budget.Skip(t)
	r, plain := withAndWithout(t)
	const calls = 4000
	var took [2][]time.Duration // in turns, so that a busy spell of the machine falls on both
	for range calls {
		for i, s := range []*session.Session{r.s, plain} {
			took[i] = append(took[i], budget.Time(func() { times(t, s, 1) }))
		}
	}
	slices.Sort(took[0])
	slices.Sort(took[1])
	got, base := took[0][calls/4], took[1][calls/4] // the slower ones have waited for the processor
	budget.Beyond(t, "a call with a valid token, beyond one without login", got, base, 20*time.Microsecond)
}

func TestValidTokenCostsNoRequest(t *testing.T) {
	r, plain := withAndWithout(t)
	const calls = 50
	count := func(s *session.Session) (mcp, issuer int) {
		mcp, issuer = len(r.Calls("")), len(r.Issuer.Calls(""))
		times(t, s, calls)
		return len(r.Calls("")) - mcp, len(r.Issuer.Calls("")) - issuer
	}
	for _, s := range []*session.Session{plain, r.s} {
		if mcp, issuer := count(s); mcp != calls || issuer != 0 {
			t.Errorf("%d requests to the server and %d to the authorization server for %d calls", mcp, issuer, calls)
		}
	}
}

// withAndWithout are two sessions at one server: one that logged in, and one with the token in a header.
func withAndWithout(t *testing.T) (*rig, *session.Session) {
	store := auth.NewMemory()
	r := at(t, authtest.Start(t, authtest.Knobs{}), auth.Options{Store: store}, nil).open()
	found, err := store.Find(t.Context(), "")
	if err != nil || len(found) != 1 {
		t.Fatalf("%d logins, %v", len(found), err)
	}
	cfg := r.Config()
	cfg.Headers = map[string]string{"Authorization": "Bearer " + found[0].Token.Access}
	_, plain := sessiontest.Open(t, session.Options{}, cfg)
	times(t, r.s, 1) // which waits for the server's own stream
	times(t, plain, 1)
	return r, plain
}

// times calls a tool that often.
func times(t *testing.T, s *session.Session, n int) {
	t.Helper()
	for range n {
		if _, err := s.CallTool(t.Context(), "echo", json.RawMessage(`{"text":"hello"}`), session.CallOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}
