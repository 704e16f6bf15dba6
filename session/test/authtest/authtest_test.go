package authtest_test

import (
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/transport"
)

func TestLoginWorks(t *testing.T) {
	for name, s := range map[string]*authtest.Server{
		"loopback": authtest.Start(t, authtest.Knobs{}),
		"memory":   authtest.Memory(t, authtest.Knobs{}),
	} {
		t.Run(name, func(t *testing.T) {
			_, sess := sessiontest.Register(t, session.Options{Auth: &auth.Options{HTTP: s.HTTP}, Transport: transport.Options{Via: s.HTTP}}, s.Config())
			if err := sess.Connect(t.Context()); failure.KindOf(err) != failure.OAuth {
				t.Fatalf("without a token: %v", err)
			}
			p := &authtest.Person{HTTP: s.HTTP}
			require.NoError(t, sess.Authorizer().Login(t.Context(), p, auth.LoginOptions{}))
			require.NoError(t, sess.Connect(t.Context()))
			if len(p.Shown()) != 1 || p.Open() != 0 || len(s.Issuer.Calls("/token")) != 1 || s.Refused() == 0 {
				t.Errorf("%d pages, %d visits open, %d token requests, %d refusals", len(p.Shown()), p.Open(), len(s.Issuer.Calls("/token")), s.Refused())
			}
		})
	}
}
