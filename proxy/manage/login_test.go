package manage_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
)

// started is what StartMcpOAuth answers.
type started struct {
	Name, Flow  string
	URL         string `json:"authorization_url"`
	RedirectURI string `json:"redirect_uri"`
	Listening   bool
	Expires     time.Time
}

// browse does what a browser does with an authorization URL, as far as where it is sent back to.
func browse(t *testing.T, authorize string) *url.URL {
	t.Helper()
	u, err := url.Parse(authorize)
	require.NoError(t, err)
	back, err := authtest.Visit(t.Context(), nil, u)
	require.NoError(t, err)
	return back
}

// A server that wants a login says so, is logged in at, and is served then: by what the caller's own page brings back.
func TestG1_LogInWithAPageOfOnesOwn(t *testing.T) {
	s := authtest.Start(t, authtest.Knobs{})
	g := start(t, "")
	ok[state](g, "RegisterMcpServer", web("docs", s.URL, `,"oauth":{}`))
	e := g.fails("ConnectMcpServer", named("docs"), http.StatusBadGateway, "OAuth", "the server wants a login")
	if !strings.Contains(e.Message, "StartMcpOAuth") {
		t.Errorf("what to do is not said: %+v", e)
	}
	if got := g.entry("docs"); got.Status != "Needs login" || got.Error == nil || got.Error.Kind != "OAuth" {
		t.Errorf("before the login: %+v", got)
	}
	const mine = "http://127.0.0.1:9/my/page"
	begin := `{"name":"docs","redirect_uri":"` + mine + `"}`
	flow := ok[started](g, "StartMcpOAuth", begin)
	if flow.Name != "docs" || flow.Flow == "" || flow.Listening || flow.RedirectURI != mine || !strings.HasPrefix(flow.URL, s.Issuer.URL+"/authorize?") || time.Until(flow.Expires) < time.Minute {
		t.Fatalf("%+v", flow)
	}
	if again := ok[started](g, "StartMcpOAuth", named("docs")); again != flow {
		t.Errorf("a second login at a time: %+v", again)
	}
	g.fails("StartMcpOAuth", `{"name":"docs","redirect_uri":"http://127.0.0.1:9/other"}`, http.StatusConflict, "Usage", "another redirect_uri is under way")
	back := browse(t, flow.URL)
	foreign := *back
	foreign.RawQuery = strings.Replace(back.RawQuery, "state=", "state=x", 1)
	g.fails("CompleteMcpOAuth", `{"flow":`+quote(flow.Flow)+`,"callback_url":`+quote(foreign.String())+`}`, http.StatusBadRequest, "Usage", "another login")
	g.fails("CompleteMcpOAuth", `{"name":"docs","callback_url":"http://elsewhere.example/x?state=1"}`, http.StatusBadRequest, "Usage", "not where the login ends")
	got := ok[met](g, "CompleteMcpOAuth", `{"flow":`+quote(flow.Flow)+`,"callback_url":`+quote(back.String())+`}`)
	if got.Name != "docs" || got.Status != "Connected" || got.ToolCount < 10 {
		t.Errorf("after the login: %+v", got)
	}
	if e := g.entry("docs"); e.Status != "Connected" || e.Error != nil {
		t.Errorf("after the login: %+v", e)
	}
	if status, answer := g.post("/mcps/docs/mcp", callEcho); status != http.StatusOK || !strings.Contains(answer, "hi") {
		t.Errorf("%d %s", status, answer)
	}
	g.fails("CompleteMcpOAuth", named("docs"), http.StatusNotFound, "ServerNotFound", "no login is under way")
	for _, secret := range s.Issuer.Secrets() {
		_, all, err := g.send(t.Context(), http.MethodPost, "ListMcpServers", "")
		if err != nil || strings.Contains(all, secret) {
			t.Errorf("a secret is listed: %s, %v", all, err)
		}
	}
}

// Without a page of the caller's the router waits for the browser itself; a server of the file is served as soon as it came.
func TestG1_LogInByTheRoutersOwnListener(t *testing.T) {
	s := authtest.Start(t, authtest.Knobs{})
	g := start(t, `"docs":{"url":`+quote(s.URL)+`,"oauth":{}}`)
	if status, answer := g.post("/mcps/docs/mcp", callEcho); status != http.StatusBadGateway || !strings.Contains(answer, "needs a login") {
		t.Errorf("before the login: %d %s", status, answer)
	}
	if got := g.entry("docs"); got.Status != "Needs login" {
		t.Errorf("before the login: %+v", got)
	}
	flow := ok[started](g, "StartMcpOAuth", named("docs"))
	if !flow.Listening || !strings.HasPrefix(flow.RedirectURI, "http://127.0.0.1:") {
		t.Fatalf("%+v", flow)
	}
	var all sync.WaitGroup
	all.Go(func() { // waits for the browser
		if got := ok[met](g, "CompleteMcpOAuth", named("docs")); got.Status != "Connected" || got.ToolCount < 10 {
			t.Errorf("%+v", got)
		}
	})
	res, err := http.Get(browse(t, flow.URL).String())
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the browser came back: %v %v", res, err)
	}
	_ = res.Body.Close()
	all.Wait()
	if status, answer := g.post("/mcps/docs/mcp", callEcho); status != http.StatusOK || !strings.Contains(answer, "hi") {
		t.Errorf("after the login: %d %s", status, answer)
	}
	if got := g.entry("docs"); got.Status != "Connected" {
		t.Errorf("after the login: %+v", got)
	}
}

// Code and state are enough; what goes wrong is said by the one who completes, and another login can begin.
func TestG1_LoginsThatFail(t *testing.T) {
	s := authtest.Start(t, authtest.Knobs{Refuse: map[string]string{"/token": "invalid_grant"}})
	g := start(t, "")
	ok[state](g, "RegisterMcpServer", web("docs", s.URL, `,"oauth":{}`))
	ok[state](g, "RegisterMcpServer", web("plain", s.URL, ""))
	g.fails("StartMcpOAuth", named("plain"), http.StatusConflict, "Usage", `add "oauth": {}`)
	if e := g.fails("ConnectMcpServer", named("plain"), http.StatusBadGateway, "OAuth", ""); !strings.Contains(e.Message, `"oauth": {}`) {
		t.Errorf("what to do is not said: %+v", e)
	}
	complete := func(flow started) string {
		q := browse(t, flow.URL).Query()
		return `{"name":"docs","code":` + quote(q.Get("code")) + `,"state":` + quote(q.Get("state")) + `,"iss":` + quote(q.Get("iss")) + `}`
	}
	first := ok[started](g, "StartMcpOAuth", named("docs"))
	g.fails("CompleteMcpOAuth", complete(first), http.StatusBadGateway, "OAuth", "invalid_grant")
	s.Issuer.Set(func(k *authtest.Knobs) { k.Refuse = nil })
	second := ok[started](g, "StartMcpOAuth", named("docs"))
	if second.Flow == first.Flow {
		t.Error("a login that is over was started once more")
	}
	ok[state](g, "DisconnectMcpServer", named("docs"))
	g.fails("CompleteMcpOAuth", named("docs"), http.StatusNotFound, "ServerNotFound", "no login is under way")
	if got := ok[met](g, "CompleteMcpOAuth", complete(ok[started](g, "StartMcpOAuth", named("docs")))); got.Status != "Connected" {
		t.Errorf("%+v", got)
	}
	// A server that cannot be reached says so at once, and a router that ends lets nobody wait.
	ok[state](g, "RegisterMcpServer", web("gone", "http://127.0.0.1:1/mcp", `,"oauth":{}`))
	g.fails("StartMcpOAuth", named("gone"), http.StatusBadGateway, "OAuth", "cannot be reached")
	ok[started](g, "StartMcpOAuth", named("docs"))
	done := make(chan error, 1)
	go func() {
		_, _, err := g.send(context.Background(), http.MethodPost, "CompleteMcpOAuth", named("docs"))
		done <- err
	}()
	require.NoError(t, g.Close(t.Context()))
	<-done // with whatever it got
}

// An authorization server that has forgotten the router is registered at anew, which takes the browser once more: both callers learn it.
func TestG1_LogInWhereTheRouterWasForgotten(t *testing.T) {
	s := authtest.Start(t, authtest.Knobs{})
	g := start(t, "")
	ok[state](g, "RegisterMcpServer", web("docs", s.URL, `,"oauth":{}`))
	const begin = `{"name":"docs","redirect_uri":"http://127.0.0.1:9/my/page"}`
	complete := func(flow started) string {
		return `{"name":"docs","callback_url":` + quote(browse(t, flow.URL).String()) + `}`
	}
	ok[met](g, "CompleteMcpOAuth", complete(ok[started](g, "StartMcpOAuth", begin)))
	s.Issuer.Set(func(k *authtest.Knobs) { k.Refuse = map[string]string{"/token": "invalid_client"} })
	first := ok[started](g, "StartMcpOAuth", begin)
	g.fails("CompleteMcpOAuth", complete(first), http.StatusConflict, "Usage", "once more")
	s.Issuer.Set(func(k *authtest.Knobs) { k.Refuse = nil })
	second := ok[started](g, "StartMcpOAuth", begin)
	if second.Flow != first.Flow || second.URL == first.URL {
		t.Errorf("%+v after %+v", second, first)
	}
	if got := ok[met](g, "CompleteMcpOAuth", complete(second)); got.Status != "Connected" {
		t.Errorf("%+v", got)
	}
}
