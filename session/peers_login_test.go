package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/browser"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// loginPeer is a session with a server that wants a login, and the person who logs in there.
func loginPeer(t *testing.T, cfg config.Server) (*session.Session, auth.Person) {
	t.Helper()
	m := session.NewManager(session.Options{Auth: &auth.Options{}})
	t.Cleanup(func() { _ = m.Close() })
	s, err := m.Register(cfg)
	require.NoError(t, err)
	user := peertest.NewBrowser()
	return s, &browser.Person{
		Ask: func(_ context.Context, question string) (bool, error) { return false, errors.New(question) },
		Open: func(_ context.Context, page string) error {
			_, err := user.Open(page)
			return err
		},
		Note: func(err error) { t.Error(err) },
	}
}

// logIn logs in and connects.
func logIn(t *testing.T, s *session.Session, p auth.Person) {
	t.Helper()
	require.NoError(t, s.Authorizer().Login(t.Context(), p, auth.LoginOptions{}))
	require.NoError(t, s.Connect(t.Context()))
}

func wantsLogin(t *testing.T, err error) {
	t.Helper()
	var e *failure.Error
	if !errors.As(err, &e) || e.Kind != failure.OAuth || e.Remedy != failure.LogIn {
		t.Fatalf("%v does not ask for a login", err)
	}
}

// answer is the text that a tool answers with.
func answer(s *session.Session, tool, args string) (string, error) {
	r, err := s.CallTool(context.Background(), tool, json.RawMessage(args), session.CallOptions{})
	if err != nil {
		return "", err
	}
	var result struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(r.Result, &result); err != nil || len(result.Content) != 1 {
		return "", fmt.Errorf("%w: %s", err, r.Result)
	}
	return result.Content[0].Text, nil
}

// TestPeerLogin: logged in at oidc-provider, a session calls a tool, refreshes a token that has ended with a refresh token that changes
// each time, and gets the rights that another tool needs.
func TestPeerLogin(t *testing.T) {
	t.Parallel()
	s, user := loginPeer(t, peertest.Login(t))
	wantsLogin(t, s.Connect(t.Context()))
	assert.Equalf(t, s.Status().State, session.NeedsLogin, "the state")
	logIn(t, s, user)
	tokens := map[string]bool{}
	for range 3 {
		text, err := answer(s, "whoami", "{}")
		require.NoError(t, err)
		var token struct{ Sub, Scope, JTI, Scheme string }
		if err := json.Unmarshal([]byte(text), &token); err != nil || token.Sub != "ann" || token.Scope != "notes:read" || token.Scheme != "Bearer" {
			t.Errorf("%s: %v", text, err)
		}
		tokens[token.JTI] = true
		peertest.Ask(t, s.Config(), "/expire")
	}
	assert.Equalf(t, len(tokens), 3, "tokens in 3 calls, after each of which it ended")
	_, err := answer(s, "write", "{}")
	wantsLogin(t, err)
	logIn(t, s, user)
	if text, err := answer(s, "write", "{}"); err != nil || text != "written with notes:read notes:write" {
		t.Errorf("%q: %v", text, err)
	}
}

// TestPeerLoginProof: a server that takes only tokens which are bound to a key gets them with a fresh proof for each request, with the nonces
// of server and authorization server where they want such.
func TestPeerLoginProof(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"plain": {"--dpop"}, "nonce": {"--dpop", "--nonce"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, user := loginPeer(t, peertest.Login(t, flags...))
			wantsLogin(t, s.Connect(t.Context()))
			logIn(t, s, user)
			for range 3 { // each refreshes, with a proof
				if text, err := answer(s, "whoami", "{}"); err != nil || !strings.Contains(text, `"scheme":"DPoP"`) {
					t.Errorf("%q: %v", text, err)
				}
				peertest.Ask(t, s.Config(), "/expire")
			}
			_, err := answer(s, "write", "{}")
			wantsLogin(t, err)
			logIn(t, s, user)
			if text, err := answer(s, "write", "{}"); err != nil || text != "written with notes:read notes:write" {
				t.Errorf("%q: %v", text, err)
			}
		})
	}
}

// TestPeerLoginProgram: programs log in at oidc-provider without a person, by a key and by a secret, and again when their tokens end.
func TestPeerLoginProgram(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"bearer": nil, "DPoP": {"--dpop", "--nonce"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := peertest.Login(t, flags...)
			var programs []config.OAuth
			if err := json.Unmarshal([]byte(peertest.Ask(t, cfg, "/programs")), &programs); err != nil || len(programs) != 2 {
				t.Fatalf("%d programs: %v", len(programs), err)
			}
			for _, o := range programs {
				o.Grant = config.GrantClient
				cfg.Name, cfg.OAuth = o.ClientID, &o
				s, _ := loginPeer(t, cfg)
				require.NoError(t, s.Connect(t.Context()))
				for range 2 {
					if text, err := answer(s, "whoami", "{}"); err != nil || !strings.Contains(text, fmt.Sprintf(`"sub":%q`, o.ClientID)) || strings.Contains(text, "DPoP") != (name == "DPoP") {
						t.Errorf("%s: %q: %v", o.ClientID, text, err)
					}
					peertest.Ask(t, cfg, "/expire")
				}
			}
		})
	}
}

// TestPeerLoginExample: so it is at the authorization server that the TypeScript SDK gives as an example, which has no refresh tokens.
func TestPeerLoginExample(t *testing.T) {
	t.Parallel()
	s, user := loginPeer(t, peertest.LoginExample(t))
	wantsLogin(t, s.Connect(t.Context()))
	logIn(t, s, user)
	if text, err := answer(s, "greet", `{"name":"Ann"}`); err != nil || text != "Hello, Ann!" {
		t.Errorf("%q: %v", text, err)
	}
}
