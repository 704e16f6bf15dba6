package doctor_test

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
)

// A command that wants a login is not started without one, and has no failed step; one that refuses its token says so.
func TestC4b_CommandsThatWantALogin(t *testing.T) {
	t.Parallel()
	c := authtest.StartCommand(t, authtest.Knobs{})
	store := auth.NewMemory()
	logins := func(o *doctor.Options) { o.Session.Auth = &auth.Options{Store: store} }
	r := diagnose(t, c.Config(), logins)
	want(t, r, "spawn", doctor.Skipped, "there is none")
	want(t, r, "oauth", doctor.OK, "the server needs a login", "SLACK_TOKEN", "log in")
	if r.Err() != nil || r.Connected() {
		t.Error(said(r))
	}
	require.NoError(t, auth.New(c.Config(), auth.Options{Store: store}).Login(t.Context(), &authtest.Person{}, auth.LoginOptions{}))
	r = diagnose(t, c.Config(), logins)
	want(t, r, "oauth", doctor.OK, "logged in at "+c.URL)
	if !r.Connected() || strings.Contains(said(r), "zqaccesszq") {
		t.Error(said(r))
	}
	c.Refuse("*")
	r = diagnose(t, c.Config(), logins)
	want(t, r, "oauth", doctor.OK, "the server says that its token is not good: ", "invalid_auth")
	if strings.Contains(said(r), "zqaccesszq") || r.Connected() {
		t.Error(said(r))
	}
}
