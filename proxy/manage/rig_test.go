package manage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/proxy/manage"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// rig is a router that can be managed.
type rig struct {
	*proxy.Router
	t    *testing.T
	file string
	http *http.Client // over the router's socket
	ca   nettest.Pair
}

func start(t *testing.T, routes string) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "mng") // paths of sockets must be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("MCPHUD_TAP_DIR", filepath.Join(dir, "mcphud"))
	g := &rig{t: t, file: filepath.Join(dir, "routing.json"), ca: nettest.SelfSigned(t)}
	own := g.ca.Sign(t)
	g.write(routes)
	g.Router, err = proxy.New(proxy.Options{
		Routes: g.file, RoutesMust: true, Manage: true, Poll: time.Hour,
		Remote: manage.Remote{Addr: "127.0.0.1:0", Cert: own.Cert, Key: own.Key, CA: g.ca.Cert},
	})
	require.NoError(t, err)
	require.NoError(t, g.Start(t.Context()))
	if g.ManageSocket() == "" {
		t.Fatal("there is no socket")
	}
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", g.ManageSocket())
	}}
	g.http = &http.Client{Transport: tr}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		http.DefaultClient.CloseIdleConnections()
		assert.NoError(t, g.Close(context.Background()))
	})
	return g
}

func (g *rig) write(routes string) {
	g.t.Helper()
	require.NoError(g.t, os.WriteFile(g.file, []byte(`{"routes":{`+routes+`}}`), 0o600))
}

// reload has the file read again with other routes.
func (g *rig) reload(routes string) {
	g.t.Helper()
	g.write(routes)
	require.NoError(g.t, g.Reload())
}

// send makes a request over the socket.
func (g *rig) send(ctx context.Context, method, path, body string) (status int, answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://router/"+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	res, err := g.http.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// ok asks for a verb and decodes its answer.
func ok[T any](g *rig, verb, body string) (v T) {
	g.t.Helper()
	status, answer, err := g.send(g.t.Context(), http.MethodPost, verb, body)
	if err != nil || status != http.StatusOK {
		g.t.Fatalf("%s %s: %d %s %v", verb, body, status, answer, err)
	}
	d := json.NewDecoder(strings.NewReader(answer))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		g.t.Fatalf("%s: %v in %s", verb, err, answer)
	}
	return v
}

type problem struct {
	Kind    string
	Code    *int64
	Message string
	Cause   *string
	Status  *int
	URL     *string
	Data    json.RawMessage
}

// fails asks for a verb that has to fail so.
func (g *rig) fails(verb, body string, status int, kind, says string) problem {
	g.t.Helper()
	got, answer, err := g.send(g.t.Context(), http.MethodPost, verb, body)
	var e struct{ Error problem }
	if err == nil {
		err = json.Unmarshal([]byte(answer), &e)
	}
	if err != nil || got != status || e.Error.Kind != kind || !strings.Contains(e.Error.Message, says) {
		g.t.Errorf("%s %s: %d %s %v; want %d %s with %q", verb, body, got, answer, err, status, kind, says)
	}
	return e.Error
}

// state is what Register and Disconnect answer.
type state struct {
	Name, Status string
	Replaced     bool
}

// met is what Connect answers.
type met struct {
	Name, Status, ProtocolVersion string
	ServerInfo                    struct{ Name, Version, Title string }
	Capabilities                  map[string]any
	ToolCount                     int `json:"tool_count"`
}

// entry is what List answers of one server.
type entry struct {
	Name, Source, Status, Upstream string
	Enabled, Shadowed              bool
	HostPort                       int
	URL, Command, Cwd, Session     string
	Args                           []string
	Env, Headers                   map[string]string
	ToolCount                      *int `json:"tool_count"`
	Error                          *problem
}

func (g *rig) list() []entry {
	g.t.Helper()
	return ok[struct{ Servers []entry }](g, "ListMcpServers", "").Servers
}

// entry is the only one of that name.
func (g *rig) entry(name string) (found entry) {
	g.t.Helper()
	n := 0
	for _, e := range g.list() {
		if e.Name == name {
			found = e
			n++
		}
	}
	if n != 1 {
		g.t.Fatalf("%d servers are named %s: %+v", n, name, g.list())
	}
	return found
}

type tools struct {
	Tools []struct {
		Name, Server, Tool string
		Definition         json.RawMessage
	}
	Missing []struct {
		Server string
		Error  problem
	}
}

// post sends a message to the router as any client does.
func (g *rig) post(path, body string) (status int, answer string) {
	g.t.Helper()
	res, err := http.Post(g.URL()+path, "application/json", strings.NewReader(body))
	require.NoError(g.t, err)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	require.NoError(g.t, err)
	return res.StatusCode, string(b)
}

const callEcho = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`

// stdio is what registers a server as a process.
func (g *rig) stdio(name string, mode behave.Mode, more string) string {
	return `{"name":"` + name + `","command":` + quote(faketest.Binary(g.t)) + `,"args":["` + string(mode) + `"]` + more + `}`
}

// web is what registers a server at a URL.
func web(name, url, more string) string {
	return `{"name":"` + name + `","url":` + quote(url) + more + `}`
}

func named(name string) string { return `{"name":` + quote(name) + `}` }

func quote(s string) string {
	var b bytes.Buffer
	_ = json.NewEncoder(&b).Encode(s) // a text always can be encoded
	return strings.TrimSpace(b.String())
}
