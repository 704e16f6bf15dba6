package auth_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// slack is the command of the published example, in a session of its own.
type slack struct {
	*rig
	c     *authtest.Command
	store auth.Store
}

func startSlack(t *testing.T, k authtest.Knobs, edit func(*config.Server)) *slack {
	t.Helper()
	c := authtest.StartCommand(t, k)
	cfg := c.Config()
	if edit != nil {
		edit(&cfg)
	}
	s := &slack{c: c, store: auth.NewMemory()}
	s.rig = atCommand(t, c.Issuer, cfg, s.store)
	return s
}

// atCommand is a session with a command.
func atCommand(t *testing.T, i *authtest.Issuer, cfg config.Server, store auth.Store) *rig {
	t.Helper()
	srv := &authtest.Server{Issuer: i}
	return at(t, srv, auth.Options{Store: store}, func(c *config.Server) { *c = cfg })
}

// token is that which the command was started with last.
func (s *slack) token() string {
	s.t.Helper()
	tokens, _ := s.c.Started()
	if len(tokens) == 0 {
		s.t.Fatal("it was not started")
	}
	return tokens[len(tokens)-1]
}

func (s *slack) starts() int { tokens, _ := s.c.Started(); return len(tokens) }

// The example as it was published: log in, start with the token, expire, renew before the next start, log out.
func TestC4b_TheExampleCommandLogsInAndStarts(t *testing.T) {
	s := startSlack(t, authtest.Knobs{}, nil)
	s.connect()
	if s.starts() != 0 || len(s.c.Calls("")) != 0 {
		t.Fatalf("before a login it was started %d times, and %d requests were sent", s.starts(), len(s.c.Calls("")))
	}
	if !s.s.Authorizer().Wanted() {
		t.Error("that it wants a login is not known")
	}
	s.open()
	asked := s.c.Calls("/oauth/v2/authorize")
	if len(asked) != 1 || asked[0].Query.Get("scope") != "channels:read chat:write" || asked[0].Query.Get("code_challenge_method") != "S256" || !strings.HasSuffix(asked[0].Query.Get("redirect_uri"), "/oauth/callback") {
		t.Errorf("%+v", asked)
	}
	if st := s.s.Authorizer().Status(); !st.LoggedIn || st.Issuer != s.c.URL+"/oauth/v2/authorize" || s.s.Authorizer().Wanted() {
		t.Errorf("%+v", st)
	}
	if last := s.last(); last.Name != auth.StepRetry || last.State != auth.Done {
		t.Errorf("%+v", last)
	}
	first := s.token()
	if _, args := s.c.Started(); first != s.c.Secrets()[len(s.c.Secrets())-2] || slices.ContainsFunc(args, func(a string) bool { return a != "-y @modelcontextprotocol/server-slack" }) {
		t.Errorf("started with %q and %q", first, args)
	}
	assert.NoError(t, s.call("echo"))
	again := func() string {
		t.Helper()
		require.NoError(t, s.s.Reconnect(t.Context()))
		return s.token()
	}
	assert.Equalf(t, again(), first, "a token with most of its time left was renewed")
	s.off.Store(int64(40 * time.Minute)) // of an hour
	second := again()
	s.off.Store(int64(3 * time.Hour))
	third := again()
	if second == first || third == second || len(s.c.Calls("/api/oauth.v2.access")) != 3 {
		t.Errorf("not renewed before its start: %q %q %q by %d requests", first, second, third, len(s.c.Calls("/api/oauth.v2.access")))
	}
	// Another program on the same machine finds the login; one that logs out is heeded at the next start.
	if err := atCommand(t, s.c.Issuer, s.s.Config(), s.store).s.Connect(t.Context()); err != nil || s.token() != third {
		t.Error(err)
	}
	require.NoError(t, auth.New(s.s.Config(), auth.Options{Store: s.store}).Forget(t.Context()))
	n := s.starts()
	require.NoError(t, s.s.Disconnect())
	s.connect()
	assert.Equalf(t, s.starts(), n, "started after the logout")
}

// Where the entry names variables, these have the token, and no other.
func TestC4b_TheTokenIsWhereTheEntryPutsIt(t *testing.T) {
	s := startSlack(t, authtest.Knobs{}, func(c *config.Server) { c.Env["SLACK_TOKEN"], c.Env["OTHER"] = "with ${oauth.token}", "x" })
	s.open()
	if _, args := s.c.Started(); !strings.Contains(strings.Join(args, "\n"), "zqaccesszq") || s.token() != "with" {
		t.Error("not in SLACK_TOKEN")
	}
	assert.NotContains(t, fmt.Sprintf("%+v %+v", s.s.Config(), s.s.Config().Masked()), "zqaccesszq")
}

// An authorization server that is away, refuses, or has ended the login; a command that refuses its token.
func TestC4b_CommandsWhoseLoginsFail(t *testing.T) {
	t.Run("a wrong grant", func(t *testing.T) {
		s := startSlack(t, authtest.Knobs{Refuse: map[string]string{"/api/oauth.v2.access": "invalid_grant"}}, nil)
		if err := s.login(); err == nil || !strings.Contains(err.Error(), "invalid_grant") || s.starts() != 0 {
			t.Errorf("%v after %d starts", err, s.starts())
		}
	})
	t.Run("away, with a token that is good", func(t *testing.T) {
		s := startSlack(t, authtest.Knobs{}, nil)
		s.open()
		s.c.Set(func(k *authtest.Knobs) {
			k.Refuse = map[string]string{"/api/oauth.v2.access": "temporarily_unavailable"}
		})
		s.off.Store(int64(40 * time.Minute))
		assert.NoError(t, s.s.Reconnect(t.Context()))
		s.off.Store(int64(2 * time.Hour))
		err := s.s.Reconnect(t.Context())
		s.keep(err)
		if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Kind != failure.OAuth || e.Remedy != "" || !strings.Contains(e.Message, "the token has expired, and could not be renewed: ") || !strings.Contains(e.Next, "later") {
			t.Errorf("%v", err)
		}
	})
	t.Run("the login has ended", func(t *testing.T) {
		s := startSlack(t, authtest.Knobs{}, nil)
		s.open()
		s.c.ExpireRefresh()
		s.off.Store(int64(2 * time.Hour))
		err := s.s.Reconnect(t.Context())
		s.keep(err)
		if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Remedy != failure.LogIn || e.Message != "the login has ended" || !strings.Contains(e.Detail, "invalid_grant") || s.s.Status().State != session.NeedsLogin {
			t.Errorf("%v", err)
		}
		require.NoError(t, s.again(t.Context()))
		assert.NoError(t, s.s.Connect(t.Context()))
	})
	t.Run("no refresh token", func(t *testing.T) {
		s := startSlack(t, authtest.Knobs{Token: func(doc map[string]any) {
			delete(doc, "refresh_token")
			doc["token_type"] = "bot"
			doc["scope"] = "a,b"
		}}, nil)
		s.open()
		if st := s.s.Authorizer().Status(); st.Type != "bot" || strings.Join(st.Scopes, " ") != "a b" {
			t.Errorf("%+v", st)
		}
		s.off.Store(int64(2 * time.Hour))
		err := s.s.Reconnect(t.Context())
		if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Remedy != failure.LogIn || !strings.Contains(e.Message, "nothing to renew it with") {
			t.Errorf("%v", err)
		}
	})
	t.Run("the command refuses its token", func(t *testing.T) {
		s := startSlack(t, authtest.Knobs{}, nil)
		s.open()
		old := s.token()
		s.c.Refuse(old)
		if err := s.s.Reconnect(t.Context()); err != nil || s.token() == old { // renewed, once
			t.Fatalf("%v", err)
		}
		s.c.Refuse(s.token())
		s.c.Set(func(k *authtest.Knobs) { k.Refuse = map[string]string{"/api/oauth.v2.access": "invalid_grant"} })
		err := s.s.Reconnect(t.Context())
		s.keep(err)
		e := (*failure.Error)(nil)
		if !errors.As(err, &e) || e.Kind != failure.OAuth || e.Remedy != failure.LogIn || !strings.HasPrefix(e.Reason, "the server says that its token is not good: ") || !strings.Contains(e.Reason, "invalid_auth") {
			t.Errorf("%v", err)
		}
		if s.s.Status().State != session.NeedsLogin || !s.s.Authorizer().Wanted() {
			t.Errorf("it is %s", s.s.Status().State)
		}
		s.c.Set(func(k *authtest.Knobs) { k.Refuse = nil })
		require.NoError(t, s.again(t.Context()))
		if err := s.s.Connect(t.Context()); err != nil || s.last().State != auth.Done {
			t.Errorf("%v %+v", err, s.last())
		}
		// A token that is new is refused: another one would be as well.
		s.c.Refuse("*")
		require.NoError(t, s.again(t.Context()))
		n := len(s.c.Calls("/api/oauth.v2.access"))
		err = s.s.Reconnect(t.Context())
		s.keep(err)
		if failure.RemedyOf(err) != failure.LogIn || len(s.c.Calls("/api/oauth.v2.access")) != n || s.last().State != auth.Failed {
			t.Errorf("%v after %d requests: %+v", err, len(s.c.Calls("/api/oauth.v2.access"))-n, s.last())
		}
	})
	t.Run("nobody logs in", func(t *testing.T) {
		c := authtest.StartCommand(t, authtest.Knobs{})
		m := session.NewManager(session.Options{})
		t.Cleanup(func() { _ = m.Close() })
		one, err := m.Register(config.Server{Name: "slack", Transport: config.Stdio, Command: "npx", OAuth: &config.OAuth{AuthURL: c.URL, TokenURL: c.URL, ClientID: "x"}})
		require.NoError(t, err)
		if err := one.Connect(t.Context()); failure.KindOf(err) != failure.OAuth {
			t.Error(err)
		}
	})
}

// A program's own grant needs nobody.
func TestC4b_ACommandWithAGrantForPrograms(t *testing.T) {
	s := startSlack(t, authtest.Knobs{Other: func(r *http.Request) string {
		if u, p, _ := r.BasicAuth(); u != "slack-id" || p != "zqclientzq" || r.PostForm.Has("resource") {
			return "invalid_client"
		}
		return ""
	}}, func(c *config.Server) { c.OAuth.Grant = config.GrantClient })
	if err := s.s.Connect(t.Context()); err != nil || !strings.Contains(s.token(), "zqaccesszq") {
		t.Fatal(err)
	}
}

// What a login is for is one command, with one place of logins: another one does not get its token.
func TestC4b_AChangedCommandGetsNoToken(t *testing.T) {
	base := config.Server{Name: "s", Command: "x", Args: []string{"a"}, OAuth: &config.OAuth{AuthURL: "https://a/authorize", TokenURL: "https://a/token", ClientID: "me"}}
	edit := func(f func(*config.Server)) string {
		c, o := base, *base.OAuth
		c.OAuth = &o
		f(&c)
		return auth.ResourceOf(c)
	}
	same := auth.ResourceOf(base)
	if !strings.HasPrefix(same, "command:s#") || edit(func(c *config.Server) { c.OAuth.Scopes = []string{"more"}; c.OAuth.ClientSecret = "x"; c.Timeout = 1 }) != same {
		t.Errorf("%s", same)
	}
	for name, f := range map[string]func(*config.Server){
		"name": func(c *config.Server) { c.Name = "t" }, "command": func(c *config.Server) { c.Command = "y" }, "args": func(c *config.Server) { c.Args = []string{"a", "b"} },
		"folder": func(c *config.Server) { c.Cwd = "/tmp" }, "page": func(c *config.Server) { c.OAuth.AuthURL = "https://b/authorize" }, "tokens": func(c *config.Server) { c.OAuth.TokenURL = "https://b/token" },
		"client": func(c *config.Server) { c.OAuth.ClientID = "you" }, "a project's": func(c *config.Server) { c.Source.Project = true },
	} {
		if edit(f) == same {
			t.Errorf("another %s has the same login", name)
		}
	}
}
