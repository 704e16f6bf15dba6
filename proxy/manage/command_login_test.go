package manage_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// slackRoute is slack of the published example, as a route: what RegisterMcpServer takes beside its name.
func slackRoute(c *authtest.Command, env string) string {
	return `"command":"npx","args":["-y","@modelcontextprotocol/server-slack"],"env":{"PATH":` + quote(c.Env["PATH"]) + env + `},"oauth":{"auth_url":` + quote(c.URL+"/oauth/v2/authorize") +
		`,"token_url":` + quote(c.URL+"/api/oauth.v2.access") + `,"client_id":"slack-id","client_secret":"zqclientzq","scopes":["channels:read","chat:write"]}`
}

// startLogin begins a login whose page is the caller's own, and is what completes it.
func (g *rig) startLogin(name string) (flow started, complete string) {
	g.t.Helper()
	flow = ok[started](g, "StartMcpOAuth", `{"name":`+quote(name)+`,"redirect_uri":"http://127.0.0.1:9/my/page"}`)
	return flow, `{"flow":` + quote(flow.Flow) + `,"callback_url":` + quote(browse(g.t, flow.URL).String()) + `}`
}

// A command that wants a login is not started before one, is started with its token after it, renews it before the next start, and says so where it
// refuses the token.
func TestC4b_LogInForACommand(t *testing.T) {
	c := authtest.StartCommand(t, authtest.Knobs{})
	g := start(t, "")
	ok[state](g, "RegisterMcpServer", `{"name":"slack",`+slackRoute(c, "")+`}`)
	e := g.fails("ConnectMcpServer", named("slack"), http.StatusBadGateway, "OAuth", "needs a login")
	if !strings.Contains(e.Message, "StartMcpOAuth") {
		t.Errorf("what to do is not said: %+v", e)
	}
	if got := g.entry("slack"); got.Status != "Needs login" {
		t.Errorf("before the login: %+v", got)
	}
	if tokens, _ := c.Started(); len(tokens) > 0 || len(c.Calls("")) > 0 {
		t.Errorf("before the login it was started %d times, and %d requests were sent", len(tokens), len(c.Calls("")))
	}
	_, complete := g.startLogin("slack")
	if got := ok[met](g, "CompleteMcpOAuth", complete); got.Status != "Connected" || got.ToolCount < 10 {
		t.Errorf("after the login: %+v", got)
	}
	tokens, args := c.Started()
	if len(tokens) == 0 || !strings.Contains(tokens[len(tokens)-1], "zqaccesszq") || strings.Contains(strings.Join(args, " "), "zqaccesszq") {
		t.Errorf("started with %q %q", tokens, args)
	}
	if status, answer := g.post("/mcps/slack/mcp", callEcho); status != http.StatusOK || !strings.Contains(answer, "hi") {
		t.Errorf("%d %s", status, answer)
	}
	_, all, err := g.send(t.Context(), http.MethodPost, "ListMcpServers", "")
	require.NoError(t, err)
	_, listed := g.post("/status", "")
	for _, secret := range c.Secrets() {
		assert.NotContains(t, all+listed, secret)
	}
	ok[state](g, "DisconnectMcpServer", named("slack"))
	// It refuses its token now, and is started with another one; where it refuses every one, that is said.
	c.Refuse(tokens[len(tokens)-1])
	if got := ok[met](g, "ConnectMcpServer", named("slack")); got.Status != "Connected" {
		t.Errorf("%+v", got)
	}
	if now, _ := c.Started(); now[len(now)-1] == tokens[len(tokens)-1] {
		t.Error("started with the token that it refused")
	}
	ok[state](g, "DisconnectMcpServer", named("slack"))
	c.Refuse("*")
	e = g.fails("ConnectMcpServer", named("slack"), http.StatusBadGateway, "OAuth", "the server says that its token is not good")
	if strings.Contains(e.Message, "zqaccesszq") || e.Cause != nil && strings.Contains(*e.Cause, "zqaccesszq") || !strings.Contains(e.Message, "StartMcpOAuth") {
		t.Errorf("%+v", e)
	}
	if got := g.entry("slack"); got.Status != "Needs login" {
		t.Errorf("%+v", got)
	}
}

// A route of the file is served as soon as somebody has logged in; who calls before that learns why it is not.
func TestC4b_ACommandOfTheFileNeedsALogin(t *testing.T) {
	c := authtest.StartCommand(t, authtest.Knobs{})
	g := start(t, `"slack":{`+slackRoute(c, `,"BOT":"${oauth.token}"`)+`}`)
	if status, answer := g.post("/mcps/slack/mcp", callEcho); status != http.StatusBadGateway || !strings.Contains(answer, "needs a login") {
		t.Errorf("before the login: %d %s", status, answer)
	}
	if got := g.entry("slack"); got.Status != "Needs login" {
		t.Errorf("before the login: %+v", got)
	}
	_, complete := g.startLogin("slack")
	if got := ok[met](g, "CompleteMcpOAuth", complete); got.Status != "Connected" {
		t.Errorf("after the login: %+v", got)
	}
	if got := g.entry("slack"); got.Status != "Connected" {
		t.Errorf("after the login: %+v", got)
	}
	if tokens, _ := c.Started(); tokens[0] != "" {
		t.Errorf("SLACK_TOKEN is %q, and the entry says BOT", tokens[0])
	}
}

// The same over gRPC, as a client with nothing but the service's description does it.
func TestC4b_LogInForACommandOverGRPC(t *testing.T) {
	each(t, func(t *testing.T, g *rig, s *stub) {
		c := authtest.StartCommand(t, authtest.Knobs{})
		s.ok("RegisterMcpServer", `{"name":"slack",`+slackRoute(c, "")+`}`, nil)
		s.fails("ConnectMcpServer", named("slack"), 9, "OAuth", "StartMcpOAuth") // failed precondition
		var flow started
		s.ok("StartMcpOAuth", `{"name":"slack","redirect_uri":"http://127.0.0.1:9/x"}`, &flow)
		var met struct{ Status string }
		s.ok("CompleteMcpOAuth", `{"flow":`+quote(flow.Flow)+`,"callback_url":`+quote(browse(t, flow.URL).String())+`}`, &met)
		if tokens, _ := c.Started(); met.Status != "Connected" || len(tokens) == 0 || !strings.Contains(tokens[0], "zqaccesszq") {
			t.Errorf("%+v %q", met, tokens)
		}
	})
}

// What cannot be a login of a command is refused when it is registered.
func TestC4b_CommandsWithoutAPlaceToLogIn(t *testing.T) {
	g := start(t, "")
	for more, want := range map[string]string{
		`"command":"x","oauth":{}`:                   "must say where the login is",
		`"command":"x","env":{"T":"${oauth.token}"}`: "needs an oauth block",
		`"command":"x","args":["${oauth.token}"]`:    "is given in env only",
		`"hostPort":1,"oauth":{}`:                    "applies only to a route with a url or a command",
		`"command":"x","env":{"A_TOKEN":"1"},"oauth":{"auth_url":"https://a/","token_url":"https://a/t"}`: "a variable in env",
		`"command":"x","oauth":{"auth_url":"https://a/","token_url":"https://a/t","dpop":true}`:           "cannot have dpop",
	} {
		g.fails("RegisterMcpServer", `{"name":"a",`+more+`}`, http.StatusBadRequest, "Usage", want)
	}
	ok[state](g, "RegisterMcpServer", `{"name":"plain","command":"x"}`)
	g.fails("StartMcpOAuth", named("plain"), http.StatusConflict, "Usage", "has no oauth")
}
