package auth_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// deaf refuses the server's own stream, whatever the token, and counts.
type deaf struct {
	http.RoundTripper
	refused atomic.Int64
}

func (d *deaf) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet || r.URL.Path != "/mcp" {
		return d.RoundTripper.RoundTrip(r)
	}
	d.refused.Add(1)
	return &http.Response{
		StatusCode: http.StatusUnauthorized, Status: "401 Unauthorized", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Www-Authenticate": {`Bearer error="invalid_token"`}}, Body: io.NopCloser(strings.NewReader("")),
	}, nil
}

// A server that takes a token with calls, and never with its own stream, is left alone there: no refresh token is spent on it, and the
// login is not said to be wanting.
func TestStreamRefusesEveryToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := authtest.Memory(t, authtest.Knobs{})
		via := &deaf{RoundTripper: srv.HTTP}
		_, s := sessiontest.Register(t, session.Options{Auth: &auth.Options{HTTP: srv.HTTP}, Transport: transport.Options{Via: via}, HealthInterval: 30 * time.Second}, srv.Config())
		if err := s.Connect(t.Context()); err == nil {
			t.Fatal("connected without a login")
		}
		require.NoError(t, s.Authorizer().Login(t.Context(), &authtest.Person{HTTP: srv.HTTP}, auth.LoginOptions{}))
		require.NoError(t, s.Connect(t.Context()))
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := via.refused.Load(); n == 0 || n > 10 {
			t.Errorf("the stream was asked for %d times", n)
		}
		if n := len(srv.Issuer.Calls("/token")); n > 3 { // a login, one for the stream, and one when that ends
			t.Errorf("%d token requests", n)
		}
		if st := s.Authorizer().Status(); st.Challenge != nil || s.Status().State != session.Connected {
			t.Errorf("state %s, challenge %+v", s.Status().State, st.Challenge)
		}
	})
}
