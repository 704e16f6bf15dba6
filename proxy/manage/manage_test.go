package manage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestG1_TheSocketIsPrivate(t *testing.T) {
	g := start(t, "")
	path := g.ManageSocket()
	if want := fmt.Sprintf("manage-%s.sock", g.URL()[strings.LastIndexByte(g.URL(), ':')+1:]); filepath.Base(path) != want {
		t.Errorf("%s is not %s", path, want)
	}
	for p, want := range map[string]os.FileMode{path: 0o600 | os.ModeSocket, filepath.Dir(path): 0o700 | os.ModeDir} {
		if fi, err := os.Lstat(p); err != nil || fi.Mode() != want && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v; want %v", p, fi.Mode(), err, want)
		}
	}
	g.list()
	if status, _ := g.post("/ListMcpServers", "{}"); status != http.StatusNotFound {
		t.Errorf("the router's address answers managers: %d", status)
	}
	require.NoError(t, g.Close(t.Context()))
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) > 0 {
		t.Errorf("left in the folder: %v %v", files, err)
	}
}

func TestG1_WhatIsNotUnderstoodIsRefused(t *testing.T) {
	g := start(t, `"fixed":{"hostPort":1}`)
	ok[state](g, "RegisterMcpServer", `{"name":"there","hostPort":1}`)
	seven := "the operations are RegisterMcpServer, ConnectMcpServer, DisconnectMcpServer, ListMcpServers, GetMcpTools, StartMcpOAuth, CompleteMcpOAuth"
	for _, c := range []struct {
		verb, body string
		status     int
		kind, says string
	}{
		{"registermcpserver", "{}", 404, "Usage", seven},
		{"", "", 404, "Usage", seven},
		{"StartMcpOAuth", "{}", 400, "Usage", "name of the server missing"},
		{"StartMcpOAuth", `{"name":"nobody"}`, 404, "ServerNotFound", "no such server"},
		{"StartMcpOAuth", `{"name":"there"}`, 409, "Usage", "has no url"},
		{"StartMcpOAuth", `{"name":"there","url":"x"}`, 400, "Usage", "unknown member \"url\""},
		{"CompleteMcpOAuth", `{"name":"there"}`, 404, "ServerNotFound", "no login is under way"},
		{"CompleteMcpOAuth", `{"name":"there","code":"x"}`, 400, "Usage", "give callback_url, or code and state"},
		{"CompleteMcpOAuth", `{"name":"there","code":7}`, 400, "Usage", "code must be a text"},
		{"RegisterMcpServer", "{", 400, "Usage", "not JSON"},
		{"RegisterMcpServer", "[]", 400, "Usage", "a JSON object"},
		{"RegisterMcpServer", "", 400, "Usage", "has no name"},
		{"RegisterMcpServer", `{"hostPort":1}`, 400, "Usage", "has no name"},
		{"RegisterMcpServer", `{"name":"a/b","hostPort":1}`, 400, "Usage", "is not a valid agent name"},
		{"RegisterMcpServer", `{"name":7,"hostPort":1}`, 400, "Usage", "must be a string"},
		{"RegisterMcpServer", `{"name":"a"}`, 400, "Usage", "give hostPort, url, urls, command or registered"},
		{"RegisterMcpServer", `{"name":"a","hostPort":1,"url":"http://x/"}`, 400, "Usage", "exactly one"},
		{"RegisterMcpServer", `{"name":"a","hostPort":1,"hostPort":2}`, 400, "Usage", "hostPort"},
		{"RegisterMcpServer", `{"name":"a","hostPort":1,"HostPort":2}`, 400, "Usage", "HostPort"},
		{"RegisterMcpServer", `{"name":"a","command":"x","env":{"A":"1","A":"2"}}`, 400, "Usage", "twice"},
		{"RegisterMcpServer", `{"name":"a","hostPort":1,"oauth":{}}`, 400, "Usage", "oauth applies only to a route with a url"},
		{"RegisterMcpServer", `{"name":"a","url":"https://x/","oauth":{"x":1}}`, 400, "Usage", "oauth.x is unknown"},
		{"RegisterMcpServer", `{"name":"a","url":"https://x/","oauth":{"assertion_file":"a.jwt"}}`, 400, "Usage", "relative path"},
		{"RegisterMcpServer", `{"name":"a","hostPort":1,"args":["x"]}`, 400, "Usage", "applies only to a route with a command"},
		{"RegisterMcpServer", `{"name":"a","hostPort":1,"timeout":5}`, 400, "Usage", "timeout"},
		{"RegisterMcpServer", `{"name":"a","command":"x","cwd":"sub"}`, 400, "Usage", "absolute"},
		{"RegisterMcpServer", `{"name":"a","url":"https://x/","ca":"x.pem"}`, 400, "Usage", "ca is \"x.pem\"; it must be an absolute path"},
		{"RegisterMcpServer", `{"name":"a","url":"https://x/","ca":"/nowhere/x.pem"}`, 400, "Usage", "no such file"},
		{"RegisterMcpServer", `{"name":"a","url":"http://x/","ca":"/nowhere/x.pem"}`, 400, "Usage", "https url"},
		{"RegisterMcpServer", `{"name":"a","hostPort":1,"headers":{"Host":"x"}}`, 400, "Usage", "cannot be set"},
		{"RegisterMcpServer", `{"name":"fixed","hostPort":2}`, 409, "Usage", "the routes file has a server named fixed"},
		{"RegisterMcpServer", `{"name":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "Usage", "too large"},
		{"ConnectMcpServer", "{}", 400, "Usage", "name of the server missing"},
		{"ConnectMcpServer", `{"name":""}`, 400, "Usage", "name of a server"},
		{"ConnectMcpServer", `{"name":"there","force":true}`, 400, "Usage", `unknown member "force"`},
		{"ConnectMcpServer", `{"name":"there","Name":"other"}`, 400, "Usage", "Name"},
		{"ConnectMcpServer", `{"name":"nowhere"}`, 404, "ServerNotFound", "no such server"},
		{"DisconnectMcpServer", `{"name":"nowhere"}`, 404, "ServerNotFound", "no such server"},
		{"DisconnectMcpServer", `{"name":"fixed"}`, 409, "Usage", "routes file"},
		{"GetMcpTools", `{"name":"nowhere"}`, 404, "ServerNotFound", "no such server"},
		{"GetMcpTools", `{"name":"there"}`, 409, "ServerNotConnected", "not connected"},
		{"ListMcpServers", `{"name":"there"}`, 400, "Usage", "takes no name"},
	} {
		g.fails(c.verb, c.body, c.status, c.kind, c.says)
	}
	for method, verb := range map[string]string{"GET": "ConnectMcpServer", "DELETE": "ListMcpServers", "PUT": "RegisterMcpServer"} {
		if status, answer, err := g.send(t.Context(), method, verb, ""); err != nil || status != http.StatusMethodNotAllowed {
			t.Errorf("%s %s: %d %s %v", method, verb, status, answer, err)
		}
	}
	for _, path := range []string{"ListMcpServers", "GetMcpTools"} {
		if status, answer, err := g.send(t.Context(), "GET", path, ""); err != nil || status != http.StatusOK {
			t.Errorf("GET %s: %d %s %v", path, status, answer, err)
		}
	}
	if status, _, err := g.send(t.Context(), "GET", "GetMcpTools?name=nowhere", ""); err != nil || status != http.StatusNotFound {
		t.Errorf("%d %v", status, err)
	}
	var names []string
	for _, e := range g.list() {
		names = append(names, e.Name+" "+e.Source+" "+e.Status)
	}
	if !slices.Equal(names, []string{"fixed file Error", "there registered Disconnected"}) {
		t.Errorf("%q", names)
	}
}

func TestG1_ServersThatCannotBeReached(t *testing.T) {
	g := start(t, "")
	refusing := httptest.NewServer(http.NotFoundHandler())
	refusing.Close()
	locked := faketest.HTTP(t, behave.Good, behave.Fault{Status: http.StatusUnauthorized})
	for _, c := range []struct {
		name, config string
		status       int
		kind, says   string
		cause        string
	}{
		{"absent", `{"name":"absent","command":"/nowhere/at/all"}`, 502, "SpawnFailed", "/nowhere/at/all", ""},
		{"exits", g.stdio("exits", behave.ExitAtOnce, ""), 502, "SpawnFailed", "before responding", "fakemcp: cannot open /etc/fakemcp.conf"},
		{"hangs", g.stdio("hangs", behave.NoAnswer, `,"timeout":"300ms"`), 504, "Timeout", "300ms", ""},
		{"hangs-http", web("hangs-http", faketest.HTTP(t, behave.Good, behave.Fault{NoHeaders: true}).URL, `,"timeout":"300ms"`), 504, "Timeout", "300ms", ""},
		{"stalls", web("stalls", faketest.HTTP(t, behave.Good, behave.Fault{Stalled: true}).URL, `,"timeout":"300ms"`), 504, "Timeout", "300ms", ""},
		{"refuses", web("refuses", refusing.URL+"/mcp?key=hunter2", ""), 502, "Transport", "nothing listens at", ""},
		{"locked", web("locked", locked.URL, ""), 502, "OAuth", "401", ""},
		{"errors", g.stdio("errors", behave.ListError, ""), 502, "RpcError", "", ""},
		{"repeats", g.stdio("repeats", behave.RepeatCursor, ""), 502, "Protocol", "cursor", ""},
	} {
		ok[state](g, "RegisterMcpServer", c.config)
		began := time.Now()
		e := g.fails("ConnectMcpServer", named(c.name), c.status, c.kind, c.says)
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s took %v", c.name, took)
		}
		if c.cause != "" && (e.Cause == nil || !strings.Contains(*e.Cause, c.cause)) {
			t.Errorf("%s: %s is no cause of %+v", c.name, c.cause, e)
		}
		if strings.Contains(e.Message, " -") || strings.Contains(e.Message, "hunter2") || e.URL != nil && strings.Contains(*e.URL, "hunter2") {
			t.Errorf("%s: %+v", c.name, e)
		}
		if l := g.entry(c.name); l.Status != "Error" || l.Error == nil || l.Error.Kind != c.kind || l.Error.Message != e.Message || l.ToolCount != nil {
			t.Errorf("%+v", l)
		}
		if status, answer := g.post("/mcps/"+c.name+"/mcp", callEcho); status != http.StatusNotFound {
			t.Errorf("%s is served: %d %s", c.name, status, answer)
		}
	}
	ok[state](g, "DisconnectMcpServer", named("hangs"))
	if l := g.entry("hangs"); l.Status != "Disconnected" || l.Error != nil {
		t.Errorf("%+v", l)
	}
	ok[state](g, "RegisterMcpServer", `{"name":"off","hostPort":1,"disabled":true}`)
	g.fails("ConnectMcpServer", named("off"), http.StatusConflict, "ServerDisabled", "registered as disabled")
}

// One that is in use is not replaced; one that is not can be corrected.
func TestG1_NamesThatAreTaken(t *testing.T) {
	g := start(t, "")
	ok[state](g, "RegisterMcpServer", `{"name":"a","command":"/nowhere/at/all"}`)
	g.fails("ConnectMcpServer", named("a"), http.StatusBadGateway, "SpawnFailed", "")
	if got := ok[state](g, "RegisterMcpServer", g.stdio("a", behave.Good, "")); !got.Replaced {
		t.Errorf("%+v", got)
	}
	if e := g.entry("a"); e.Status != "Disconnected" || e.Error != nil {
		t.Errorf("%+v", e)
	}
	ok[met](g, "ConnectMcpServer", named("a"))
	g.fails("RegisterMcpServer", g.stdio("a", behave.Good, ""), http.StatusConflict, "Usage", "in use")
	if got := ok[met](g, "ConnectMcpServer", named("a")); got.Status != "Connected" {
		t.Errorf("connected twice: %+v", got)
	}
	ok[state](g, "DisconnectMcpServer", named("a"))
	ok[state](g, "DisconnectMcpServer", named("a"))
	ok[state](g, "RegisterMcpServer", g.stdio("a", behave.Good, ""))
	for i := range 999 {
		ok[state](g, "RegisterMcpServer", fmt.Sprintf(`{"name":"n%d","hostPort":1}`, i))
	}
	g.fails("RegisterMcpServer", `{"name":"more","hostPort":1}`, http.StatusConflict, "Usage", "the maximum")
}

func TestG1_SecretsAreNotTold(t *testing.T) {
	g := start(t, `"far":{"url":"http://me:hunter2@127.0.0.1:1/mcp?token=hunter2","headers":{"X-Anything":"hunter2"}}`)
	ok[state](g, "RegisterMcpServer", `{"name":"near","command":"/nowhere","args":["--token","hunter2","--api-key=hunter2","x"],"env":{"ANYTHING":"hunter2"}}`)
	ok[state](g, "RegisterMcpServer", `{"name":"web","url":"http://me:hunter2@127.0.0.1:1/mcp?token=hunter2","headers":{"Authorization":"Bearer hunter2"}}`)
	for _, verb := range []struct{ name, body string }{
		{"ConnectMcpServer", named("near")},
		{"ConnectMcpServer", named("web")},
		{"ConnectMcpServer", named("far")},
		{"GetMcpTools", ""},
		{"ListMcpServers", ""},
	} {
		status, answer, err := g.send(t.Context(), http.MethodPost, verb.name, verb.body)
		if err != nil || strings.Contains(answer, "hunter2") {
			t.Errorf("%v: %d %s %v", verb, status, answer, err)
		}
	}
	near, far := g.entry("near"), g.entry("far")
	if near.Command != "/nowhere" || len(near.Args) != 4 || near.Args[3] != "x" || near.Env["ANYTHING"] != "***" || near.Upstream != "command" || near.Session != "per-session" {
		t.Errorf("%+v", near)
	}
	if far.URL != "http://***@127.0.0.1:1/mcp?token=***" || far.Headers["X-Anything"] != "***" || far.Upstream != "url" || far.Source != "file" {
		t.Errorf("%+v", far)
	}
}

// The file wins over what was registered, for as long as it has the name.
func TestG1_TheFileShadows(t *testing.T) {
	g := start(t, "")
	other := faketest.HTTP(t, behave.Pages, behave.Fault{})
	ok[state](g, "RegisterMcpServer", g.stdio("a", behave.Good, ""))
	ok[met](g, "ConnectMcpServer", named("a"))
	has := func(tool string) bool {
		_, answer := g.post("/mcps/a/mcp", listTools)
		return strings.Contains(answer, `"name":"`+tool+`"`)
	}
	g.reload(`"b":{"hostPort":1}`)
	if !has("echo") || g.entry("b").Source != "file" {
		t.Error("a reload of the file took away what was registered")
	}
	g.reload(fmt.Sprintf(`"a":{"url":%q}`, other.URL))
	if has("echo") {
		t.Error("the file does not win")
	}
	all := g.list()
	if len(all) != 2 || all[0].Source != "file" || all[0].Status != "Connected" || all[1].Source != "registered" || !all[1].Shadowed || all[1].Status != "Disconnected" {
		t.Errorf("%+v", all)
	}
	if got := ok[tools](g, "GetMcpTools", named("a")); len(got.Tools) != 100 {
		t.Errorf("%d tools of 100, which are on ten pages", len(got.Tools))
	}
	g.fails("RegisterMcpServer", g.stdio("a", behave.Good, ""), http.StatusConflict, "Usage", "the routes file")
	g.reload("")
	if !has("echo") || g.entry("a").Status != "Connected" {
		t.Errorf("it does not come back: %+v", g.list())
	}
	g.reload(fmt.Sprintf(`"a":{"url":%q}`, other.URL))
	ok[state](g, "DisconnectMcpServer", named("a"))
	g.fails("RegisterMcpServer", g.stdio("a", behave.Good, ""), http.StatusConflict, "Usage", "the routes file")
	g.reload("")
	if status, _ := g.post("/mcps/a/mcp", callEcho); status != http.StatusNotFound {
		t.Errorf("disconnected while it was shadowed, and served: %d", status)
	}
}

// Servers of the file are served anyway: to connect to one is to look whether it answers.
func TestG1_ServersOfTheFile(t *testing.T) {
	good := faketest.HTTP(t, behave.Good, behave.Fault{})
	g := start(t, fmt.Sprintf(`"good":{"url":%q},"gone":{"hostPort":1},"off":{"hostPort":1,"disabled":true}`, good.URL))
	if got := ok[met](g, "ConnectMcpServer", named("good")); got.ToolCount < 10 {
		t.Errorf("%+v", got)
	}
	g.fails("ConnectMcpServer", named("gone"), http.StatusBadGateway, "Transport", "nothing listens at 127.0.0.1:1")
	g.fails("ConnectMcpServer", named("off"), http.StatusConflict, "ServerDisabled", "disabled in the routes file")
	g.fails("GetMcpTools", named("off"), http.StatusConflict, "ServerDisabled", "disabled in the routes file")
	got := ok[tools](g, "GetMcpTools", "")
	if len(got.Tools) < 10 || len(got.Missing) != 1 || got.Missing[0].Server != "gone" || got.Missing[0].Error.Kind != "Transport" {
		t.Errorf("%+v", got)
	}
	for range 12 { // until the router leaves it alone
		_, _ = g.post("/mcps/gone/mcp", callEcho)
	}
	if e := g.entry("gone"); e.Status != "Error" || e.Error == nil || !strings.Contains(e.Error.Message, "in a row") {
		t.Errorf("%+v", e)
	}
	if e := g.entry("off"); e.Status != "Disconnected" || e.Enabled {
		t.Errorf("%+v", e)
	}
}

// gated is a server that answers nothing until it may.
func gated(t *testing.T) (url string, asked <-chan struct{}, open func()) {
	t.Helper()
	gate, came := make(chan struct{}), make(chan struct{}, 100)
	inner := behave.Handler(behave.Good, behave.Fault{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // only then is it noticed that a client went
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		came <- struct{}{}
		select {
		case <-gate:
			inner.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL + "/mcp", came, func() { close(gate) }
}

type reply struct {
	status int
	text   string
	err    error
}

func (g *rig) later(verb, body string) <-chan reply {
	c := make(chan reply, 1)
	go func() {
		status, text, err := g.send(context.Background(), http.MethodPost, verb, body)
		c <- reply{status, text, err}
	}()
	return c
}

func TestG1_ReloadWhileConnecting(t *testing.T) {
	g := start(t, "")
	url, asked, open := gated(t)
	ok[state](g, "RegisterMcpServer", web("a", url, ""))
	ok[state](g, "RegisterMcpServer", web("b", url, ""))
	a, b := g.later("ConnectMcpServer", named("a")), g.later("ConnectMcpServer", named("b"))
	<-asked
	<-asked
	g.reload(fmt.Sprintf(`"b":{"url":%q},"c":{"hostPort":1}`, url))
	if e := g.entry("a"); e.Status != "Connecting" {
		t.Errorf("%+v", e)
	}
	if status, _ := g.post("/mcps/a/mcp", callEcho); status != http.StatusNotFound {
		t.Errorf("served before it answered: %d", status)
	}
	open()
	if got := <-a; got.status != http.StatusOK || got.err != nil {
		t.Errorf("%+v", got)
	}
	if got := <-b; got.status != http.StatusConflict || !strings.Contains(got.text, "now has a server of this name") {
		t.Errorf("the file has the name: %+v", got)
	}
	for _, name := range []string{"a", "b"} {
		if status, answer := g.post("/mcps/"+name+"/mcp", callEcho); status != http.StatusOK {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	assert.Equalf(t, g.entry("c").Source, "file", "the reload is lost")
}

// Who disconnects need not wait for who connects; neither does a router that stops.
func TestG1_ConnectingIsGivenUp(t *testing.T) {
	g := start(t, "")
	url, asked, _ := gated(t)
	ok[state](g, "RegisterMcpServer", web("a", url, `,"timeout":"1h"`))
	connecting := g.later("ConnectMcpServer", named("a"))
	<-asked
	g.fails("RegisterMcpServer", web("a", url, ""), http.StatusConflict, "Usage", "in use")
	ok[state](g, "DisconnectMcpServer", named("a"))
	if got := <-connecting; got.status != http.StatusConflict || !strings.Contains(got.text, `"Interrupted"`) {
		t.Errorf("%+v", got)
	}
	if e := g.entry("a"); e.Status != "Disconnected" || e.Error != nil {
		t.Errorf("%+v", e)
	}
	for len(asked) > 0 {
		<-asked
	}
	connecting = g.later("ConnectMcpServer", named("a"))
	<-asked
	require.NoError(t, g.Close(t.Context()))
	if got := <-connecting; got.status != http.StatusServiceUnavailable || !strings.Contains(got.text, "the router is stopping") {
		t.Errorf("%+v", got)
	}
}

// Verbs that come all at once leave one state.
func TestG1_ManyManagersAtOnce(t *testing.T) {
	g := start(t, "")
	url := faketest.HTTP(t, behave.Good, behave.Fault{}).URL
	ok[state](g, "RegisterMcpServer", web("a", url, ""))
	var all []<-chan reply
	for i := range 24 {
		switch i % 4 {
		case 0, 1:
			all = append(all, g.later("ConnectMcpServer", named("a")))
		case 2:
			all = append(all, g.later("DisconnectMcpServer", named("a")))
		default:
			all = append(all, g.later("GetMcpTools", ""))
		}
		if i%6 == 5 {
			g.reload(fmt.Sprintf(`"b":{"hostPort":%d}`, i))
		}
	}
	for _, c := range all {
		if got := <-c; got.err != nil || got.status != http.StatusOK && got.status != http.StatusConflict || !json.Valid([]byte(got.text)) {
			t.Errorf("%+v", got)
		}
	}
	ok[met](g, "ConnectMcpServer", named("a"))
	if status, answer := g.post("/mcps/a/mcp", callEcho); status != http.StatusOK {
		t.Errorf("%d %s", status, answer)
	}
	ok[state](g, "DisconnectMcpServer", named("a"))
	if status, _ := g.post("/mcps/a/mcp", callEcho); status != http.StatusNotFound {
		t.Errorf("%d", status)
	}
}

// The names are those of the endpoint of all agents, also where they depend on other servers' tools.
func TestG1_R19_ToolsHaveTheNamesOfTheAggregate(t *testing.T) {
	g := start(t, "")
	for _, n := range []string{"one", "two"} {
		ok[state](g, "RegisterMcpServer", g.stdio(n, behave.Good, ""))
		ok[met](g, "ConnectMcpServer", named(n))
	}
	for mode, want := range map[string]string{"always": "mcp__one__echo", "conflict": "mcp__one__echo", "never": ""} {
		require.NoError(t, os.WriteFile(g.file, []byte(`{"prefix":"`+mode+`","exclude":["one/add"],"routes":{}}`), 0o600))
		require.NoError(t, g.Reload())
		for _, body := range []string{named("one"), "{}"} {
			found := 0
			for _, tool := range ok[tools](g, "GetMcpTools", body).Tools {
				switch {
				case tool.Server != "one" || tool.Tool != "echo" && tool.Tool != "add":
				case tool.Tool == "add" && tool.Name != "", tool.Tool == "echo" && tool.Name != want:
					t.Errorf("%s %s: %+v", mode, body, tool)
				default:
					found++
				}
			}
			assert.Equalf(t, found, 2, "%s %s: tools are as they should be", mode, body)
		}
	}
}
