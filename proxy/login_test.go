package proxy

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/proxy/policy/breaker"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

const modernEcho = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"kept"},` +
	`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

// logIn logs in at a server as another process does, and keeps that.
func logIn(t *testing.T, s *authtest.Server, store auth.Store) {
	t.Helper()
	require.NoError(t, auth.New(s.Config(), auth.Options{Store: store}).Login(t.Context(), &authtest.Person{}, auth.LoginOptions{}))
}

// bearers are the credentials that requests to the server had.
func bearers(s *authtest.Server) (all []string) {
	for _, c := range s.Calls("/mcp") {
		all = append(all, strings.Join(c.Header["Authorization"], ", "))
	}
	return all
}

// A route with oauth is served with the login that the user of the router has there, also one that comes while it runs; callers
// who come without it are told who can help, and their own tokens stay here.
func TestRoutesLogInAtTheirAgents(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{})
	store := credstore.Open(credstore.File, t.TempDir())
	var log faketest.Buffer
	f := start(t, Options{Login: auth.Options{Store: store}, Breaker: breaker.Options{Failures: 1}, Logger: slog.New(slog.NewTextHandler(&log, nil))}, route("a", s.URL, `"oauth":{}`))
	mine := []string{"Accept", accept, "Authorization", "Bearer of-the-caller"}
	for _, path := range []string{"/mcps/a/mcp", "/mcps/a/mcp"} { // a breaker stays closed
		got := f.post(t, path, callEcho, mine...)
		e := got.rpcError(t)
		if got.status != http.StatusBadGateway || e.Error.Data["kind"] != "OAuth" || got.header.Get("WWW-Authenticate") != "" ||
			!strings.HasPrefix(e.Error.Message, "Agent 'a' needs a login: the server wants a login") || !strings.HasSuffix(e.Error.Message, "; whoever runs the router has to log in there") {
			t.Fatalf("before a login: %+v", got)
		}
	}
	if st := f.Status().Agents["a"]; st.State != "needs login" || st.Login == nil || st.Login.State != "needs login" || st.Breaker.State != breaker.Closed {
		t.Errorf("before a login: %+v, %+v", st, st.Login)
	}
	if n := strings.Count(log.String(), "agent needs a login"); n != 1 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
	logIn(t, s, store)
	for _, call := range []string{callEcho, callEcho} {
		if got := f.post(t, "/mcps/a/mcp", call, mine...); got.status != http.StatusOK || !strings.Contains(got.body, `"result"`) {
			t.Fatalf("after a login: %+v", got)
		}
	}
	if st := f.Status().Agents["a"]; st.State != "ok" || st.Login.State != "logged in" {
		t.Errorf("after a login: %+v, %+v", st, st.Login)
	}
	// A refused token is refreshed, and the request arrives whole and once.
	s.Issuer.Expire()
	before := len(s.Calls("/mcp"))
	if got := f.post(t, "/mcps/a/mcp", modernEcho, append(mine, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo")...); !strings.Contains(got.body, "kept") || got.status != http.StatusOK {
		t.Fatalf("after the token expired: %+v", got)
	}
	again := s.Calls("/mcp")[before:]
	if len(again) != 2 || again[0].JSON["id"] != again[1].JSON["id"] || again[1].JSON["params"] == nil || len(s.Issuer.Calls("/token")) != 2 {
		t.Errorf("a refused request was sent as %+v, with %d requests for tokens", again, len(s.Issuer.Calls("/token")))
	}
	for _, b := range bearers(s) {
		assert.NotContains(t, b, "of-the-caller", ",")
	}
	got := f.send(t, http.MethodGet, "/status", "").body
	for _, secret := range s.Issuer.Secrets() {
		assert.NotContains(t, got, secret)
	}
	var st Status
	if err := json.Unmarshal([]byte(got), &st); err != nil || st.Agents["a"].State != "ok" || st.Agents["a"].Login.State != "logged in" || st.Agents["a"].Login.Issuer != s.Issuer.URL || st.Agents["a"].Login.Expires == nil {
		t.Errorf("status %+v %v", st.Agents["a"].Login, err)
	}
	// What only a new login helps against.
	s.Issuer.Expire()
	s.Issuer.ExpireRefresh()
	if got := f.post(t, "/mcps/a/mcp", callEcho, mine...); got.status != http.StatusBadGateway || !strings.Contains(got.body, "the login has ended") {
		t.Errorf("after the login ended: %+v", got)
	}
}

// Many callers who meet an expired token cause one refresh.
func TestRoutesRefreshOnceForAll(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{})
	store := credstore.Open(credstore.File, t.TempDir())
	logIn(t, s, store)
	f := start(t, Options{Login: auth.Options{Store: store}}, route("a", s.URL, `"oauth":{}`))
	if got := f.post(t, "/mcps/a/mcp", callEcho, "Accept", accept); got.status != http.StatusOK {
		t.Fatalf("%+v", got)
	}
	s.Issuer.Expire()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if got := f.post(t, "/mcps/a/mcp", callEcho, "Accept", accept); got.status != http.StatusOK {
				t.Errorf("%+v", got)
			}
		})
	}
	all.Wait()
	assert.Equalf(t, len(s.Issuer.Calls("/token")), 2, "requests for tokens")
}

// Among all agents one that wants a login is missing, and says why; the others are served.
func TestAllAgentsWithOneThatWantsALogin(t *testing.T) {
	t.Parallel()
	s, other := authtest.Start(t, authtest.Knobs{}), newAgent(t)
	store := credstore.Open(credstore.File, t.TempDir())
	f := start(t, Options{Login: auth.Options{Store: store}}, route("a", s.URL, `"oauth":{}`), route("b", other.at(), ""))
	list := func() string {
		return f.post(t, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Accept", accept).body
	}
	assert.Contains(t, list(), "mcphud/missing", "Agent 'a' needs a login")
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mcp__a__echo","arguments":{}}}`
	if got := f.post(t, "/mcp", call, "Accept", accept); !strings.Contains(got.body, "needs a login") {
		t.Errorf("a call before a login: %+v", got)
	}
	logIn(t, s, store)
	require.Eventually(t, "the tools of the agent", func() bool { return strings.Contains(list(), "mcp__a__echo") })
	if got := f.post(t, "/mcp", call, "Accept", accept); !strings.Contains(got.body, `"result"`) {
		t.Errorf("a call after a login: %+v", got)
	}
}

// Over HTTP+SSE the login is the same.
func TestRoutesOfSSELogIn(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{})
	f := start(t, Options{}, route("a", s.URL, `"oauth":{},"transport":"sse"`))
	got := f.post(t, "/mcps/a/mcp", callEcho, "Accept", accept)
	if got.status != http.StatusBadGateway || got.rpcError(t).Error.Data["kind"] != "OAuth" || !strings.Contains(got.body, "needs a login") {
		t.Errorf("%+v", got)
	}
}

// A login that cannot be read is said, and the server is not asked without it.
func TestRoutesWithAStoreThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{})
	f := start(t, Options{Login: auth.Options{Store: locked{}}}, route("a", s.URL, `"oauth":{}`))
	got := f.post(t, "/mcps/a/mcp", callEcho, "Accept", accept)
	if e := got.rpcError(t); got.status != http.StatusBadGateway || e.Error.Data["kind"] != "OAuth" || !strings.Contains(e.Error.Message, "Agent 'a' needs a login: the credentials cannot be read") || len(s.Calls("/mcp")) > 0 {
		t.Errorf("%+v", got)
	}
}

type locked struct{ auth.Store }

func (locked) Find(_ context.Context, resource string) ([]auth.Credentials, error) {
	return []auth.Credentials{{Key: auth.Key{Resource: resource, Issuer: "https://id.example"}}}, auth.ErrLocked
}

func (locked) Where() string { return "the keychain" }

// The block is that of a configuration; what cannot be is said by line.
func TestRoutesOAuthSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ more, want string }{
		{`"oauth":{"client_id":"x","scopes":["a"],"grant":"client_credentials","client_secret":"zqsecret"}`, ""},
		{`"oauth":{"grant":"magic"}`, "routes.a.oauth has an unknown grant"},
		{`"oauth":{},"headers":{"authorization":"Bearer x"}`, "routes.a.oauth cannot be"},
		{`"oauth":[]`, "routes.a.oauth is a list"},
		{`"oauth":{"client_id":7}`, "routes.a.oauth.client_id is a number"},
	} {
		r, err := New(Options{Routes: writeRoutes(t, table(route("a", "https://a.example/mcp", c.more))), RoutesMust: true})
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.more, err, c.want)
		}
		if err == nil {
			assert.NoError(t, r.Close(context.Background()))
		}
	}
	var e *failure.Error
	if _, err := New(Options{Routes: writeRoutes(t, `{"routes":{"a":{"command":"x","oauth":{}}}}`), RoutesMust: true}); err == nil || errors.As(err, &e) || !strings.Contains(err.Error(), "must say where the login is") {
		t.Error(err)
	}
}

func writeRoutes(t *testing.T, text string) string {
	t.Helper()
	file := t.TempDir() + "/routing.json"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// Where logins are kept is for those who may call all agents.
func TestStatusOfALoginForCallers(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{})
	tokens := t.TempDir() + "/tokens.json"
	sum := func(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }
	require.NoError(t, os.WriteFile(tokens, fmt.Appendf(nil, `{"tokens":[{"sha256":%q,"name":"one","allowedTargets":["a"]},{"sha256":%q,"name":"all","allowedTargets":["*"]}]}`, sum("one"), sum("all")), 0o600))
	f := start(t, Options{Tokens: tokens}, route("a", s.URL, `"oauth":{}`))
	for who, shown := range map[string]bool{"one": false, "all": true} {
		got := f.send(t, http.MethodGet, "/status", "", "Authorization", "Bearer "+who).body
		if strings.Contains(got, `"where"`) != shown || !strings.Contains(got, `"login"`) {
			t.Errorf("%s: %s", who, got)
		}
	}
}

// A grant of the program itself needs nobody, neither at first nor when its token ends.
func TestRoutesGetTokensWithoutAPerson(t *testing.T) {
	t.Parallel()
	s := authtest.Start(t, authtest.Knobs{Other: func(r *http.Request) string {
		if r.PostForm.Get("grant_type") != "client_credentials" {
			return "unsupported_grant_type"
		}
		return ""
	}})
	s.Issuer.Client("router", "zqsecret", "client_secret_basic")
	f := start(t, Options{}, route("a", s.URL, `"oauth":{"grant":"client_credentials","client_id":"router","client_secret":"zqsecret"}`))
	for range 2 {
		if got := f.post(t, "/mcps/a/mcp", callEcho, "Accept", accept); got.status != http.StatusOK || !strings.Contains(got.body, `"result"`) {
			t.Fatalf("%+v", got)
		}
		s.Issuer.Expire()
	}
	assert.Equalf(t, len(s.Issuer.Calls("/token")), 2, "requests for tokens")
	assert.NotContains(t, f.send(t, http.MethodGet, "/status", "").body, "zqsecret")
}
