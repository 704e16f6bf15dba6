package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
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
	"github.com/mcphud/mcphud/session/wire/journal"
)

func TestLoginStepByStep(t *testing.T) {
	r := local(t, authtest.Knobs{JWT: true}).open()
	require.NoError(t, r.call("echo"))
	want := []struct {
		name      string
		paths     []string // of the exchanges in the journal
		note, url string
	}{
		{auth.StepResource, []string{"/.well-known/oauth-protected-resource/mcp"}, "WWW-Authenticate names", ""},
		{auth.StepServer, []string{"/.well-known/oauth-authorization-server"}, "found", ""},
		{auth.StepRegister, []string{"/register"}, "registered now", ""},
		{auth.StepAuthorize, nil, "mcp:read", ""},
		{auth.StepToken, []string{"/token"}, "kept in memory", ""},
		{auth.StepRetry, nil, "", ""},
	}
	st := r.s.Authorizer().Status()
	steps := st.Flow.Steps()
	if len(steps) != len(want) {
		t.Fatalf("%d steps: %+v", len(steps), steps)
	}
	for i, w := range want {
		s := steps[i]
		if s.Name != w.name || s.State != auth.Done || s.Err != nil || s.Broken != nil || s.URL != "" || s.Asks == "" || s.Section == "" || s.Start.IsZero() {
			t.Errorf("step %d: %+v", i, s)
		}
		if !strings.Contains(strings.Join(s.Notes, "\n"), w.note) {
			t.Errorf("%s: the notes are %q", s.Name, s.Notes)
		}
		if len(s.Exchanges) != len(w.paths) {
			t.Errorf("%s: the exchanges are %v", s.Name, s.Exchanges)
			continue
		}
		for j, seq := range s.Exchanges {
			e, ok := r.m.Journal().Get(seq)
			if !ok || !strings.HasSuffix(e.Note, w.paths[j]) || e.Dir != journal.Out {
				t.Errorf("%s: exchange %d is %+v", s.Name, seq, e)
			}
		}
	}
	if !st.LoggedIn || st.Issuer != r.Issuer.URL || !strings.HasPrefix(st.ClientID, "client-1@") || st.Origin != auth.Registered || !st.Refresh || !st.Revocable ||
		!slices.Equal(st.Scopes, []string{"mcp:read"}) || st.Challenge != nil || time.Until(st.Expires) < 30*time.Minute {
		t.Errorf("status is %+v", st)
	}
	if c := st.Claims; c == nil || c.Subject != "ada" || c.Issuer != r.Issuer.URL || !slices.Equal(c.Audience, []string{r.URL}) {
		t.Errorf("claims are %+v", c)
	}
	assert.Equalf(t, r.p.Open(), 0, "the browser is still expected")
}

func TestLoginRequests(t *testing.T) {
	r := public(t, authtest.Knobs{Metadata: func(doc map[string]any) { doc["scopes_supported"] = []string{"mcp:read", "offline_access"} }}).open()
	reg := r.Issuer.Calls("/register")[0].JSON
	if reg["application_type"] != "native" || !strings.Contains(strings.Join(texts(reg["grant_types"]), " "), "refresh_token") || reg["client_name"] == nil {
		t.Errorf("registration is %v", reg)
	}
	u, err := url.Parse(r.p.Shown()[0])
	require.NoError(t, err)
	q, form := u.Query(), r.Issuer.Calls("/token")[0].Form
	for name, want := range map[string]string{"resource": r.URL, "code_challenge_method": "S256", "response_type": "code", "scope": "mcp:read offline_access", "prompt": "consent"} {
		if q.Get(name) != want {
			t.Errorf("%s is %q in the authorization request", name, q.Get(name))
		}
	}
	if len(q.Get("state")) < 32 || q.Get("code_verifier") != "" || q.Get("client_secret") != "" {
		t.Errorf("the authorization request is %v", q)
	}
	if form.Get("resource") != r.URL || len(form.Get("code_verifier")) < 43 || form.Get("redirect_uri") != q.Get("redirect_uri") {
		t.Errorf("the token request is %v", form)
	}
	for _, c := range r.Calls("/mcp")[1:] {
		if c.Query.Has("access_token") || strings.Contains(c.Path, "zq") {
			t.Errorf("the token is in a URL: %v", c)
		}
	}
}

func texts(v any) (all []string) {
	for _, s := range v.([]any) {
		all = append(all, s.(string))
	}
	return all
}

func TestLoginFindsMetadata(t *testing.T) {
	absent := http.NotFound
	for name, c := range map[string]struct {
		knobs authtest.Knobs
		asked []string // of the MCP server
	}{
		"by WWW-Authenticate": {authtest.Knobs{}, []string{"/.well-known/oauth-protected-resource/mcp"}},
		"below the path":      {authtest.Knobs{Challenges: []string{"Bearer"}}, []string{"/.well-known/oauth-protected-resource/mcp"}},
		"no WWW-Authenticate": {authtest.Knobs{Challenges: []string{}}, []string{"/.well-known/oauth-protected-resource/mcp"}},
		"a relative URL":      {authtest.Knobs{Challenges: []string{`Bearer resource_metadata="/.well-known/oauth-protected-resource/mcp"`}}, []string{"/.well-known/oauth-protected-resource/mcp"}},
		"beside another scheme, in two headers": {
			authtest.Knobs{Challenges: []string{`Negotiate YWJj`, `Basic realm="x, y", Bearer realm="a\"b", resource_metadata="{metadata}"`}},
			[]string{"/.well-known/oauth-protected-resource/mcp"},
		},
		"at the root": {
			authtest.Knobs{Challenges: []string{"Bearer"}, Serve: map[string]http.HandlerFunc{"/.well-known/oauth-protected-resource/mcp": absent}},
			[]string{"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := public(t, c.knobs)
			if len(c.asked) == 2 {
				r.Set(func(k *authtest.Knobs) {
					k.Serve["/.well-known/oauth-protected-resource"] = func(w http.ResponseWriter, _ *http.Request) {
						_, _ = w.Write([]byte(`{"resource":"` + r.URL + `","authorization_servers":["` + r.Issuer.URL + `"]}`))
					}
				})
			}
			r.open()
			var asked []string
			for _, call := range r.Calls("") {
				if call.Path != "/mcp" {
					asked = append(asked, call.Path)
				}
			}
			if !slices.Equal(asked, c.asked) {
				t.Errorf("asked at %q", asked)
			}
		})
	}
}

func TestTwoLoginsAtOnce(t *testing.T) {
	r := public(t, authtest.Knobs{})
	r.connect()
	there, on := make(chan struct{}), make(chan struct{})
	r.p.Browse = func(ctx context.Context, u *url.URL) (*url.URL, error) {
		close(there)
		<-on
		return authtest.Visit(ctx, r.HTTP, u)
	}
	first := make(chan error, 1)
	go func() { first <- r.s.Authorizer().Login(t.Context(), r.p, auth.LoginOptions{}) }()
	<-there
	if s := r.step(auth.StepAuthorize); s.State != auth.Running || s.URL != r.p.Shown()[0] {
		t.Errorf("while the browser is away: %+v", s)
	}
	if err := r.s.Authorizer().Login(t.Context(), &authtest.Person{HTTP: r.HTTP}, auth.LoginOptions{}); failure.KindOf(err) != failure.OAuth || !strings.Contains(err.Error(), "under way") {
		t.Errorf("the second login: %v", err)
	}
	close(on)
	assert.NoError(t, <-first)
	assert.NoError(t, r.s.Connect(t.Context()))
}

// A browser that never comes back, or comes back with another login's answer, is waited for as long as its person wants.
func TestBrowserThatDoesNotComeBack(t *testing.T) {
	for name, knobs := range map[string]authtest.Knobs{
		"never":           {},
		"foreign state":   {Back: func(q url.Values) { q.Set("state", "somebody else's") }},
		"no state":        {Back: func(q url.Values) { q.Del("state") }},
		"error, no state": {Back: func(q url.Values) { q.Del("state"); q.Del("code"); q.Set("error", "access_denied") }},
	} {
		t.Run(name, func(t *testing.T) {
			r := public(t, knobs)
			r.connect()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if name == "never" {
				r.p.Browse = func(ctx context.Context, _ *url.URL) (*url.URL, error) {
					cancel()
					<-ctx.Done()
					return nil, ctx.Err()
				}
			} else {
				go func() {
					for r.p.Foreign() == 0 && ctx.Err() == nil {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
			}
			err := r.again(ctx)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the login ended with %v", err)
			}
			if len(r.Issuer.Calls("/token")) != 0 || r.p.Open() != 0 || r.s.Authorizer().Status().LoggedIn {
				t.Error("a code was used that nobody waited for")
			}
			if s := r.step(auth.StepAuthorize); s.State != auth.Failed || s.URL != "" {
				t.Errorf("the step is %+v", s)
			}
			// It can be tried again.
			r.Issuer.Set(func(k *authtest.Knobs) { k.Back = nil })
			r.p.Browse = nil
			assert.NoError(t, r.again(t.Context()))
		})
	}
}

func TestLoginOfStaticHeader(t *testing.T) {
	r := at(t, authtest.Memory(t, authtest.Knobs{}), auth.Options{}, func(s *config.Server) { s.Headers = map[string]string{"authorization": "Bearer of-the-config"} })
	err := r.s.Connect(t.Context())
	if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Status != http.StatusUnauthorized {
		t.Errorf("connected with %v", err)
	}
	if err := r.again(t.Context()); failure.KindOf(err) != failure.Usage {
		t.Errorf("login: %v", err)
	}
	assert.Equalf(t, r.Calls("/mcp")[0].Header.Get("Authorization"), "Bearer of-the-config", "the header")
}

// A WebSocket begins with a request by HTTP: that is what its login is for.
func TestLoginOfAWebSocket(t *testing.T) {
	srv := authtest.Start(t, authtest.Knobs{})
	cfg := srv.Config()
	cfg.URL, cfg.Transport = "ws"+strings.TrimPrefix(srv.URL, "http"), config.WS
	a := auth.New(cfg, auth.Options{})
	require.NoError(t, a.Login(t.Context(), &authtest.Person{}, auth.LoginOptions{}))
	if calls := srv.Issuer.Calls("/authorize"); len(calls) != 1 || calls[0].Query.Get("resource") != srv.URL || !a.Status().LoggedIn {
		t.Errorf("asked for %+v", calls)
	}
}

// A server that refuses without a word about logins, as one that takes API keys does, has no authorization server that could break a rule:
// the login says what to give it, also in its step.
func TestLoginWhereNothingSaysHow(t *testing.T) {
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(bare.Close)
	a := auth.New(config.Server{Name: "keyed", URL: bare.URL + "/mcp"}, auth.Options{})
	err := a.Login(t.Context(), &authtest.Person{}, auth.LoginOptions{})
	const want = "the server wants credentials, and nothing says where to get them by a login"
	var e *failure.Error
	if !errors.As(err, &e) || e.Message != want || e.Remedy != failure.GiveHeader {
		t.Fatalf("%v", err)
	}
	steps := a.Status().Flow.Steps()
	if last := steps[len(steps)-1]; last.State != auth.Failed || last.Broken != nil || !strings.Contains(last.Err.Error(), want) {
		t.Errorf("the step says %v, broken %+v", last.Err, last.Broken)
	}
}
