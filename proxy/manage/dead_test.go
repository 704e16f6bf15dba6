package manage_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/grpc/credentials/insecure"

	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// closedPort is one at which nobody listens.
func closedPort(t *testing.T) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	return ln.Addr().(*net.TCPAddr).Port
}

// stoppable is a good server that can be closed.
func stoppable(t *testing.T) *httptest.Server {
	t.Helper()
	u, err := url.Parse(faketest.HTTP(t, behave.Good, behave.Fault{}).URL)
	require.NoError(t, err)
	s := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL = u }})
	t.Cleanup(s.Close)
	return s
}

// TestG1b_ConnectedIsWhatAnswered: a route of the file whose agent nobody reaches says so at once, one that was not asked yet is not
// connected, and one that answered is, until it is gone.
func TestG1b_ConnectedIsWhatAnswered(t *testing.T) {
	good := stoppable(t)
	refuses := faketest.HTTP(t, behave.Good, behave.Fault{Status: http.StatusNotFound})
	g := start(t, fmt.Sprintf(`"dead":{"hostPort":%d},"good":{"url":%q},"refuses":{"url":%q},"process":{"command":%q,"args":["%s"]},"off":{"hostPort":1,"disabled":true}`,
		closedPort(t), good.URL, refuses.URL, faketest.Binary(t), behave.Good))
	is := func(name, status, says string) {
		t.Helper()
		e := g.entry(name)
		if e.Status != status || (e.Error != nil) != (says != "") || e.Error != nil && !strings.Contains(e.Error.Message, says) {
			t.Errorf("%s is %+v (%+v), want %s with %q", name, e, e.Error, status, says)
		}
	}
	is("dead", "Error", "refused")
	is("good", "Disconnected", "")
	is("refuses", "Disconnected", "")
	is("process", "Disconnected", "")
	is("off", "Disconnected", "")
	for _, name := range []string{"good", "process"} {
		if status, answer := g.post("/mcps/"+name+"/mcp", callEcho); status != http.StatusOK {
			t.Fatalf("%s: %d %s", name, status, answer)
		}
		is(name, "Connected", "")
	}
	g.post("/mcps/refuses/mcp", callEcho)
	is("refuses", "Disconnected", "")
	good.CloseClientConnections()
	good.Close()
	is("good", "Error", "refused")
}

// TestG1b_ARegisteredServerThatDies is not connected any more as soon as somebody asks.
func TestG1b_ARegisteredServerThatDies(t *testing.T) {
	good := stoppable(t)
	g := start(t, "")
	ok[state](g, "RegisterMcpServer", web("there", good.URL, ""))
	if e := g.entry("there"); e.Status != "Disconnected" {
		t.Errorf("before it connects: %+v", e)
	}
	ok[met](g, "ConnectMcpServer", named("there"))
	if e := g.entry("there"); e.Status != "Connected" || e.Error != nil {
		t.Errorf("%+v", e)
	}
	good.CloseClientConnections()
	good.Close()
	if e := g.entry("there"); e.Status != "Error" || e.Error == nil || e.Error.Kind != "Transport" {
		t.Errorf("%+v", e)
	}
}

// TestG1b_TheWholeLoginOverGRPC: what a client sees of a server that wants a login, before, during and after it.
func TestG1b_TheWholeLoginOverGRPC(t *testing.T) {
	s := authtest.Start(t, authtest.Knobs{})
	g := start(t, "")
	c := dialGRPC(t, "unix:"+g.ManageSocket(), insecure.NewCredentials())
	status := func() string {
		var list struct {
			Servers []struct{ Name, Status string }
		}
		c.ok("ListMcpServers", "{}", &list)
		if len(list.Servers) != 1 {
			t.Fatalf("%+v", list)
		}
		return list.Servers[0].Status
	}
	c.ok("RegisterMcpServer", web("docs", s.URL, `,"oauth":{}`), nil)
	assert.Equal(t, status(), "Disconnected")
	if st, detail := c.call("ConnectMcpServer", named("docs"), nil); detail["kind"] != "OAuth" {
		t.Errorf("%v %v", st, detail)
	}
	assert.Equal(t, status(), "Needs login")
	var flow started
	c.ok("StartMcpOAuth", named("docs"), &flow)
	if !flow.Listening {
		t.Fatalf("%+v", flow)
	}
	res, err := http.Get(browse(t, flow.URL).String())
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the browser came back: %v %v", res, err)
	}
	_ = res.Body.Close()
	var done struct{ Status string }
	c.ok("CompleteMcpOAuth", named("docs"), &done)
	if got := status(); done.Status != "Connected" || got != "Connected" {
		t.Errorf("%+v, listed as %s", done, got)
	}
	var all struct{ Tools []struct{ Name string } }
	c.ok("GetMcpTools", named("docs"), &all)
	if len(all.Tools) < 10 {
		t.Errorf("%+v", all)
	}
	if code, answer := g.post("/mcps/docs/mcp", callEcho); code != http.StatusOK || !strings.Contains(answer, "hi") {
		t.Errorf("%d %s", code, answer)
	}
	c.ok("DisconnectMcpServer", named("docs"), nil)
	assert.Equal(t, status(), "Disconnected")
}
