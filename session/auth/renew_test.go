package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// refreshes is how many refreshes there were.
func (r *rig) refreshes() (n int) {
	for _, c := range r.Issuer.Calls("/token") {
		if c.Form.Get("grant_type") == "refresh_token" {
			n++
		}
	}
	return n
}

// The token endpoint of a server that is down: nobody has to log in for that, and the refresh token is still good afterwards.
func TestRefreshWhileTheServerIsDown(t *testing.T) {
	for name, down := range map[string]http.HandlerFunc{
		"503":     func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusServiceUnavailable) },
		"429":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
		"busy":    func(w http.ResponseWriter, _ *http.Request) { answer(w, 400, `{"error":"temporarily_unavailable"}`) },
		"no line": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			r := public(t, authtest.Knobs{}).open()
			r.Issuer.Set(func(k *authtest.Knobs) { k.Serve = map[string]http.HandlerFunc{"/token": down} })
			r.Issuer.Expire() // only now: what the session sends by itself must not renew the token before
			err := r.call("echo")
			e := (*failure.Error)(nil)
			if !errors.As(err, &e) || e.Kind != failure.OAuth || e.Remedy == failure.LogIn || e.Next == "" || !strings.HasPrefix(e.Message, "the token cannot be refreshed: ") {
				t.Errorf("while it is down: %v, %+v", err, e)
			}
			r.Issuer.Set(func(k *authtest.Knobs) { k.Serve = nil })
			if err := r.call("echo"); err != nil || len(r.p.Shown()) != 1 {
				t.Errorf("after %d logins: %v", len(r.p.Shown()), err)
			}
		})
	}
}

// A token endpoint that breaks the rules: a login may help, and the error says what is wrong.
func TestRefreshAnsweredWithNonsense(t *testing.T) {
	r := public(t, authtest.Knobs{}).open()
	r.Issuer.Set(func(k *authtest.Knobs) {
		k.Serve = map[string]http.HandlerFunc{"/token": func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 200, `{"token_type":"mac","access_token":"x"}`)
		}}
	})
	r.Issuer.Expire()
	err := r.call("echo")
	if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Remedy != failure.LogIn || !strings.Contains(e.Detail, `token_type is "mac"`) {
		t.Errorf("got %v", err)
	}
	r.Issuer.Set(func(k *authtest.Knobs) { k.Serve = nil })
	r.goesOn()
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // the client may be gone
}

// A refused refresh token is not sent again: a login is needed, and the error says why.
func TestRefreshRefused(t *testing.T) {
	r := public(t, authtest.Knobs{}).open()
	r.Issuer.ExpireRefresh()
	r.Issuer.Expire()
	for range 3 {
		err := r.call("echo")
		if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Remedy != failure.LogIn {
			t.Fatalf("got %v", err)
		} else if e.Message != "the login has ended" || !strings.Contains(e.Detail, "invalid_grant") {
			t.Errorf("got %+v", e)
		}
	}
	assert.Equalf(t, r.refreshes(), 1, "refreshes")
	require.NoError(t, r.again(t.Context()))
	assert.NoError(t, r.call("echo"))
}

// Those who wait for one refresh share its failure as well.
func TestOneFailedRefreshForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := public(t, authtest.Knobs{}).open()
		synctest.Wait() // for what goes on beside the calls
		r.Issuer.Expire()
		r.Issuer.Set(func(k *authtest.Knobs) {
			k.Serve = map[string]http.HandlerFunc{"/token": func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(time.Second) // until all wait
				http.Error(w, "down", http.StatusServiceUnavailable)
			}}
		})
		var wg sync.WaitGroup
		failed := make(chan error, 50)
		for range cap(failed) {
			wg.Go(func() {
				_, err := r.s.CallTool(t.Context(), "echo", []byte(`{"text":"x"}`), session.CallOptions{})
				failed <- err
			})
		}
		wg.Wait()
		close(failed)
		for err := range failed {
			if failure.KindOf(err) != failure.OAuth {
				t.Errorf("a call ended with %v", err)
			}
		}
		assert.Equalf(t, r.refreshes(), 1, "refreshes")
	})
}

// A token is refreshed before its end, without a refusal. While that fails, the old one is used, and the endpoint is not asked again at once.
func TestRefreshAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := public(t, authtest.Knobs{Life: 2 * time.Minute}).open()
		refused := r.Refused()
		time.Sleep(100 * time.Second)
		if err := r.call("echo"); err != nil || r.refreshes() != 1 || r.Refused() != refused {
			t.Errorf("%d refreshes, %d refusals: %v", r.refreshes(), r.Refused()-refused, err)
		}
		time.Sleep(100 * time.Second)
		r.Issuer.Set(func(k *authtest.Knobs) {
			k.Serve = map[string]http.HandlerFunc{"/token": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }}
		})
		for range 10 {
			assert.NoError(t, r.call("echo"))
		}
		if r.refreshes() != 2 || r.Refused() != refused {
			t.Errorf("%d refreshes, %d refusals", r.refreshes(), r.Refused()-refused)
		}
	})
}

// The answer to a refresh has the only refresh token that is good from then on: it is waited for a little, even if the call that
// wanted it is not wanted any more.
func TestRefreshOfACancelledCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := public(t, authtest.Knobs{}).open()
		synctest.Wait() // for what goes on beside the calls
		r.Issuer.Expire()
		r.Issuer.Set(func(k *authtest.Knobs) { k.Token = func(map[string]any) { time.Sleep(time.Second) } })
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := r.s.CallTool(ctx, "echo", []byte(`{"text":"x"}`), session.CallOptions{}); err == nil {
			t.Fatal("the call did not end")
		}
		if err := r.call("echo"); err != nil || r.refreshes() != 1 {
			t.Errorf("%d refreshes: %v", r.refreshes(), err)
		}
	})
}

// twins are two programs that share a store.
func twins(t *testing.T) (a, b *rig) {
	t.Helper()
	srv, dir := authtest.Memory(t, authtest.Knobs{}), t.TempDir()
	open := func() *rig { return at(t, srv, auth.Options{Store: credstore.Open(credstore.File, dir)}, nil) }
	a, b = open(), open()
	b.connect() // before there is a login
	a.open()
	return a, b
}

// A login in one program is found by another one that was refused before.
func TestLoginOfAnotherProgram(t *testing.T) {
	a, b := twins(t)
	require.NoError(t, b.s.Connect(t.Context()))
	b.goesOn()
	if len(b.p.Shown()) != 0 || a.refreshes() != 0 {
		t.Errorf("%d pages, %d refreshes", len(b.p.Shown()), a.refreshes())
	}
}

// Two programs do not use one refresh token twice: the second one takes what the first one got.
func TestTwoProgramsRefreshOnce(t *testing.T) {
	a, b := twins(t)
	require.NoError(t, b.s.Connect(t.Context()))
	for range 3 {
		a.Issuer.Expire()
		before, ends := a.refreshes(), make(chan error, 2)
		for _, r := range []*rig{a, b} {
			go func() {
				_, err := r.s.CallTool(t.Context(), "echo", []byte(`{"text":"x"}`), session.CallOptions{})
				ends <- err
			}()
		}
		for range 2 {
			assert.NoError(t, <-ends)
		}
		assert.Equalf(t, a.refreshes()-before, 1, "refreshes")
	}
}

func TestRefreshByAPerson(t *testing.T) {
	r := public(t, authtest.Knobs{})
	err := r.s.Authorizer().Refresh(t.Context())
	if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Remedy != failure.LogIn {
		t.Errorf("without a login: %v", err)
	}
	r.open()
	old := r.s.Authorizer().Status().Obtained
	require.NoError(t, r.s.Authorizer().Refresh(t.Context()))
	if s := r.last(); s.Name != auth.StepRefresh || s.State != auth.Done || len(s.Exchanges) != 1 || s.Section == "" || !r.s.Authorizer().Status().Obtained.After(old) {
		t.Errorf("step %+v", s)
	}
	r.goesOn()
	r.Issuer.ExpireRefresh()
	err = r.s.Authorizer().Refresh(t.Context())
	r.keep(err)
	if s := r.last(); err == nil || !strings.Contains(err.Error(), "invalid_grant") || s.State != auth.Failed {
		t.Errorf("refused: %v, step %+v", err, s)
	}
	r.goesOn() // the token itself is still good
	err = r.s.Authorizer().Refresh(t.Context())
	assert.ErrorContains(t, err, "no refresh token")
}

// goesOn calls a tool after a login.
func (r *rig) goesOn() {
	r.t.Helper()
	require.NoError(r.t, r.call("echo"))
}

func TestForgetRevokes(t *testing.T) {
	store := auth.NewMemory()
	for name, turn := range map[string]func(*authtest.Knobs){
		"revoked":     func(*authtest.Knobs) {},
		"not offered": member("revocation_endpoint", nil),
		"refused":     func(k *authtest.Knobs) { k.Refuse = map[string]string{"/revoke": "invalid_client"} },
		"down":        says("/revoke", 503, "text/plain", "down"),
		"only one":    func(k *authtest.Knobs) { k.Refuse = map[string]string{"/revoke": "unsupported_token_type"} },
	} {
		t.Run(name, func(t *testing.T) {
			var k authtest.Knobs
			turn(&k)
			r := at(t, authtest.Memory(t, k), auth.Options{Store: store}, nil).open()
			require.NoError(t, r.s.Authorizer().Forget(t.Context()))
			if found, err := store.Find(t.Context(), ""); err != nil || len(found) != 0 || r.s.Authorizer().Status().LoggedIn {
				t.Errorf("still there: %+v, %v", found, err)
			}
			hints := ""
			for _, c := range r.Issuer.Calls("/revoke") {
				hints += c.Form.Get("token_type_hint") + " "
				if c.Form.Get("token") == "" || c.Form.Get("client_id") == "" && c.Header.Get("Authorization") == "" {
					t.Errorf("revoked by %+v", c.Form)
				}
			}
			s := r.last()
			want := map[string]struct {
				state auth.StepState
				hints string
			}{
				"revoked": {auth.Done, "refresh_token access_token "}, "not offered": {auth.Skipped, ""}, "refused": {auth.Failed, "refresh_token "}, "down": {auth.Failed, "refresh_token "},
				"only one": {auth.Done, "refresh_token access_token "},
			}[name]
			if s.Name != auth.StepRevoke || s.State != want.state || hints != want.hints {
				t.Errorf("%s, step %+v", hints, s)
			}
			if err := r.call("echo"); err == nil {
				t.Error("still logged in")
			}
		})
	}
}

// Who is logged out by another program stays it: nothing refreshes the login back into the store.
func TestForgottenElsewhere(t *testing.T) {
	for name, end := range map[string]func(r *rig){
		"refused":  func(r *rig) { r.Issuer.Expire() },
		"expiring": func(r *rig) { r.off.Store(int64(59*time.Minute + 45*time.Second)) },
		"both":     func(r *rig) { r.Issuer.Expire(); r.off.Store(int64(2 * time.Hour)) },
	} {
		t.Run(name, func(t *testing.T) {
			store := auth.NewMemory()
			r := at(t, authtest.Memory(t, authtest.Knobs{}), auth.Options{Store: store}, nil).open()
			r.goesOn()
			before := len(r.Issuer.Calls("/token"))
			require.NoError(t, auth.New(r.Config(), auth.Options{Store: store, HTTP: r.HTTP}).Forget(t.Context()))
			end(r)
			err := r.call("echo")
			e := (*failure.Error)(nil)
			if wants(t, err, "the login has ended"); !errors.As(err, &e) || e.Detail != "another program has logged out" {
				t.Errorf("the call ended with %+v", err)
			}
			if found, err := store.Find(t.Context(), ""); err != nil || len(found) != 0 || len(r.Issuer.Calls("/token")) != before || r.s.Authorizer().Status().LoggedIn {
				t.Errorf("kept %+v after %d token requests: %v", found, len(r.Issuer.Calls("/token")), err)
			}
			require.NoError(t, r.again(t.Context()))
			r.off.Store(0)
			r.goesOn()
		})
	}
}

// leaving is a store from which another program removes everything after some looks.
type leaving struct {
	auth.Store
	looks atomic.Int32
}

func (l *leaving) Find(ctx context.Context, resource string) ([]auth.Credentials, error) {
	found, err := l.Store.Find(ctx, resource)
	if l.looks.Add(-1) == 0 {
		for _, c := range found {
			err = errors.Join(err, l.Delete(ctx, c.Key))
		}
	}
	return found, err
}

// A logout by another program while the token is being renewed holds: the new token does not come back into the store.
func TestForgottenWhileRenewing(t *testing.T) {
	store := &leaving{Store: auth.NewMemory()}
	r := at(t, authtest.Memory(t, authtest.Knobs{}), auth.Options{Store: store}, nil).open()
	r.goesOn()
	before := len(r.Issuer.Calls("/token"))
	store.looks.Store(2) // for a newer token, and whether it is there still
	r.off.Store(int64(59*time.Minute + 45*time.Second))
	err := r.call("echo")
	if found, bad := store.Find(t.Context(), ""); bad != nil || len(found) != 0 || r.s.Authorizer().Status().LoggedIn {
		t.Errorf("it came back: %+v %v; the call ended with %v", found, bad, err)
	}
	if len(r.Issuer.Calls("/token")) != before+1 {
		t.Errorf("%d token requests, not 1", len(r.Issuer.Calls("/token"))-before)
	}
}

// A client that the authorization server has forgotten registers anew, once.
func TestForgottenRegistration(t *testing.T) {
	r := public(t, authtest.Knobs{}).open()
	r.Issuer.Set(func(k *authtest.Knobs) { k.Refuse = map[string]string{"/token": "invalid_client"} })
	err := r.again(t.Context())
	if err == nil || !strings.Contains(err.Error(), "invalid_client") || len(r.p.Shown()) != 3 || len(r.Issuer.Calls("/register")) != 2 {
		t.Errorf("%d pages, %d registrations: %v", len(r.p.Shown()), len(r.Issuer.Calls("/register")), err)
	}
	r.Issuer.Set(func(k *authtest.Knobs) { k.Refuse = nil })
	if err := r.again(t.Context()); err != nil || len(r.Issuer.Calls("/register")) != 2 {
		t.Errorf("registered %d times: %v", len(r.Issuer.Calls("/register")), err)
	}
	// At a refresh there is nobody: the next login registers anew.
	r.goesOn()
	r.Issuer.Set(func(k *authtest.Knobs) { k.Refuse = map[string]string{"/token": "invalid_client"} })
	r.Issuer.Expire()
	assert.ErrorContains(t, r.call("echo"), "invalid_client")
	r.Issuer.Set(func(k *authtest.Knobs) { k.Refuse = nil })
	if err := r.again(t.Context()); err != nil || len(r.Issuer.Calls("/register")) != 3 {
		t.Errorf("registered %d times: %v", len(r.Issuer.Calls("/register")), err)
	}
}

// Some authorization servers give a client no more than the scopes that it was registered with.
func TestARegistrationForFewerScopes(t *testing.T) {
	r := public(t, authtest.Knobs{}).open()
	var refusals atomic.Int32
	r.Issuer.Set(func(k *authtest.Knobs) {
		k.Back = func(q url.Values) {
			if refusals.Add(1) == 1 {
				q.Del("code")
				q.Set("error", "invalid_scope")
			}
		}
	})
	if err := r.again(t.Context()); err != nil || len(r.Issuer.Calls("/register")) != 2 {
		t.Errorf("registered %d times: %v", len(r.Issuer.Calls("/register")), err)
	}
	r.goesOn()
}

// A program's token is not a person's, although both are for the same server.
func TestAProgramDoesNotUseAPersonsLogin(t *testing.T) {
	store := auth.NewMemory()
	srv := authtest.Memory(t, authtest.Knobs{Other: func(*http.Request) string { return "" }})
	at(t, srv, auth.Options{Store: store}, nil).open()
	before, err := store.Find(t.Context(), "")
	require.NoError(t, err)
	r := at(t, srv, auth.Options{Store: store}, func(s *config.Server) {
		s.OAuth = &config.OAuth{Grant: config.GrantClient, ClientID: "a", ClientSecret: "zqsecretzq"}
	})
	require.NoError(t, r.s.Connect(t.Context()))
	after, err := store.Find(t.Context(), "")
	if err != nil || len(after) != 1 || after[0].Token.Access != before[0].Token.Access || r.s.Authorizer().Status().ClientID != "a" {
		t.Errorf("kept %d logins: %v", len(after), err)
	}
}

// A new token that the server refuses is not refreshed at once. Later it is, although no request succeeded meanwhile.
func TestRefreshOfATokenThatBroughtNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := public(t, authtest.Knobs{Life: 24 * time.Hour})
		a := r.s.Authorizer()
		require.NoError(t, a.Login(t.Context(), r.p, auth.LoginOptions{}))
		answered := func(status int) (again bool, err error) {
			t.Helper()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL, nil)
			require.NoError(t, err)
			require.NoError(t, a.Authorize(req))
			return a.Answered(req, &http.Response{StatusCode: status, Header: http.Header{}})
		}
		if again, err := answered(http.StatusNotFound); again || err != nil {
			t.Errorf("not found: %v, %v", again, err)
		}
		for range 2 {
			before := r.refreshes()
			if again, err := answered(http.StatusUnauthorized); again || err == nil || r.refreshes() != before {
				t.Errorf("a new token: %v, %v, %d refreshes", again, err, r.refreshes()-before)
			}
			time.Sleep(2 * time.Minute)
			if again, err := answered(http.StatusUnauthorized); !again || err != nil || r.refreshes() != before+1 {
				t.Errorf("later: %v, %v, %d refreshes", again, err, r.refreshes()-before)
			}
		}
	})
}
