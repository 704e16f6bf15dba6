package auth_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// asked are the scopes of an authorization request.
func asked(t *testing.T, shown string) []string {
	t.Helper()
	u, err := url.Parse(shown)
	require.NoError(t, err)
	return strings.Fields(u.Query().Get("scope"))
}

// wants is the error of a call that needs a login with more scopes.
func wants(t *testing.T, err error, scope string) {
	t.Helper()
	e := (*failure.Error)(nil)
	if !errors.As(err, &e) || e.Kind != failure.OAuth || e.Remedy != failure.LogIn || !strings.Contains(e.Message, scope) {
		t.Fatalf("the call ended with %v", err)
	}
}

func TestStepUpKeepsWhatWasGranted(t *testing.T) {
	r := public(t, authtest.Knobs{Scopes: map[string]string{"echo": "mcp:write", "add": "mcp:admin mcp:read"}}).open()
	wants(t, r.call("echo"), "mcp:write")
	require.NoError(t, r.again(t.Context()))
	require.NoError(t, r.call("echo"))
	if s := r.last(); s.Name != auth.StepRetry || s.State != auth.Done {
		t.Errorf("the last step is %+v", s)
	}
	wants(t, r.call("add"), "mcp:admin")
	require.NoError(t, r.again(t.Context()))
	for _, tool := range []string{"add", "echo"} {
		assert.NoError(t, r.call(tool))
	}
	for i, want := range [][]string{{"mcp:read"}, {"mcp:read", "mcp:write"}, {"mcp:read", "mcp:write", "mcp:admin"}} {
		if got := asked(t, r.p.Shown()[i]); !slices.Equal(got, want) {
			t.Errorf("login %d asked for %q", i+1, got)
		}
	}
	if n := len(r.Issuer.Calls("/register")); n != 1 {
		t.Errorf("registered %d times", n)
	}
}

// A server that is never satisfied gets one request for each call, and the error says that another login like this one does not help.
func TestStepUpWithoutEnd(t *testing.T) {
	r := public(t, authtest.Knobs{Scopes: map[string]string{"echo": "mcp:write"}, Insatiable: true}).open()
	refused := r.Refused()
	err := r.call("echo")
	if wants(t, err, "mcp:write"); strings.Contains(err.Error(), "which the login has") {
		t.Errorf("before the step-up: %v", err)
	}
	for range 2 {
		require.NoError(t, r.again(t.Context()))
		wants(t, r.call("echo"), "mcp:write, which the login has")
		if s := r.last(); s.Name != auth.StepRetry || s.State != auth.Failed || s.Err == nil {
			t.Errorf("the last step is %+v", s)
		}
	}
	assert.Equalf(t, r.Refused()-refused, 3, "refused requests for 3 calls")
	assert.Equalf(t, len(r.Issuer.Calls("/token")), 3, "token requests for 3 logins: a refresh has no more scopes")
}

// A server that changes its authorization server shows the new one nothing of the old one: no client_id, secret or token.
func TestMigrationStartsAnew(t *testing.T) {
	r := public(t, authtest.Knobs{}).open()
	second := r.Beside("login.example.org", authtest.Knobs{})
	r.Move(second)
	err := r.call("echo")
	if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Remedy != failure.LogIn {
		t.Fatalf("the call ended with %v", err)
	}
	before, old := len(r.first.Calls("")), r.s.Authorizer().Status().ClientID
	require.NoError(t, r.again(t.Context()))
	assert.NoError(t, r.call("echo"))
	if n := len(r.first.Calls("")); n != before {
		t.Errorf("the old issuer got %v", r.first.Calls("")[before:])
	}
	if n := len(second.Calls("/register")); n != 1 {
		t.Errorf("registered %d times at the new one", n)
	}
	for _, c := range second.Calls("") {
		text := c.Query.Encode() + c.Form.Encode() + strings.Join(c.Header.Values("Authorization"), " ")
		for _, secret := range append(r.first.Secrets(), old) {
			if strings.Contains(text, secret) {
				t.Errorf("the new issuer got %s in %v", secret, c)
			}
		}
	}
	assert.Equalf(t, r.s.Authorizer().Status().Issuer, second.URL, "the issuer")
	second.Expire()
	if err := r.call("echo"); err != nil || len(second.Calls("/token")) != 2 {
		t.Errorf("refreshed with %v", err)
	}
}

// The client of the configuration belongs to the issuer that first took it.
func TestMigrationKeepsConfiguredClient(t *testing.T) {
	srv := authtest.Memory(t, authtest.Knobs{})
	srv.Issuer.Client("ours", "zqconfiguredzq", "client_secret_basic")
	r := at(t, srv, auth.Options{}, func(s *config.Server) {
		s.OAuth = &config.OAuth{ClientID: "ours", ClientSecret: "zqconfiguredzq"}
	}).open()
	second := r.Beside("login.example.org", authtest.Knobs{})
	r.Move(second)
	wants(t, r.call("echo"), "")
	assert.ErrorContains(t, r.again(t.Context()), "belongs to https://login.example.com")
	if len(r.p.Shown()) != 1 || len(second.Calls("/token")) != 0 || r.last().Broken == nil {
		t.Errorf("%d pages shown, last step %+v", len(r.p.Shown()), r.last())
	}
	// Who means it forgets the login.
	second.Client("ours", "zqconfiguredzq", "client_secret_basic")
	require.NoError(t, r.s.Authorizer().Forget(t.Context()))
	assert.NoError(t, r.again(t.Context()))
	assert.NotContains(t, r.journal(), "zqconfiguredzq")
}

// A wrong clock is said where a login fails, and does no harm where it works.
func TestWrongClock(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour, time.Minute} {
		r := public(t, authtest.Knobs{Clock: off, Refuse: map[string]string{"/token": "invalid_grant"}})
		err := r.login()
		e := (*failure.Error)(nil)
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		said := strings.Contains(e.Detail, "clock") && strings.Contains(e.Detail, "h") && strings.Contains(e.Next, "clock")
		if said != (off.Abs() == time.Hour) {
			t.Errorf("off by %s: %v", off, err)
		}
		r.Issuer.Set(func(k *authtest.Knobs) { k.Refuse = nil })
		require.NoError(t, r.again(t.Context()))
		assert.NoError(t, r.s.Connect(t.Context()))
		assert.Equalf(t, len(r.Issuer.Calls("/token")), 2, "off by %s: token requests", off)
	}
}

// A token that the server never takes is not one that it does not take any more.
func TestNewTokenIsRefused(t *testing.T) {
	r := public(t, authtest.Knobs{Unauthorized: true})
	require.NoError(t, r.login())
	err := r.s.Connect(t.Context())
	if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Message != "the server does not take the new token" || !strings.Contains(e.Next, "report it") || strings.Contains(e.Detail, "clock") {
		t.Errorf("connected with %v", err)
	}
	if s := r.last(); s.Name != auth.StepRetry || s.State != auth.Failed || len(r.Issuer.Calls("/token")) != 1 {
		t.Errorf("%d token requests, the last step is %+v", len(r.Issuer.Calls("/token")), s)
	}
	r.off.Store(int64(time.Hour)) // which a proof of DPoP does not survive
	assert.ErrorContains(t, r.s.Connect(t.Context()), "the clock here is off by 1h")
}

// The clock here may be the wrong one.
func TestWrongClockHere(t *testing.T) {
	r := at(t, authtest.Memory(t, authtest.Knobs{Refuse: map[string]string{"/token": "invalid_grant"}}), auth.Options{Now: func() time.Time { return time.Now().Add(-time.Hour) }}, nil)
	assert.ErrorContains(t, r.login(), "the clock here is off by 1h")
}
