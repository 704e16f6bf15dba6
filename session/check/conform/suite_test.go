package conform

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// suiteScript is what a process of the tests is told to run that is the official suite.
const suiteScript = "index.js"

// suiteScenarios are the checks of the suite of the tests, and the tool that each scenario asks for.
var suiteScenarios = map[string]struct {
	asks   string
	checks []verdict
}{
	"good":    {"", []verdict{{ID: "a", Status: "SUCCESS"}, {ID: "b", Status: "INFO"}}},
	"nothing": {"", []verdict{{ID: "a", Status: "SKIPPED"}, {ID: "b", Status: "INFO"}}},
	"bad": {"add", []verdict{
		{ID: "a", Status: "FAILURE", Description: "it has to hold", ErrorMessage: "it broke\nfor good", SpecReferences: []struct{ URL string }{{"https://spec.example/a"}}},
		{ID: "b", Status: "WARNING", ErrorMessage: "it may break"},
		{ID: "c", Status: "SUCCESS"},
	}},
	"asks":  {"test_none", []verdict{{ID: "a", Status: "FAILURE", ErrorMessage: "no"}}},
	"needs": {"", []verdict{{ID: "a", Status: "FAILURE", ErrorMessage: "Tool 'test_other' not found. Available tools: add"}}},
	"once":  {"", []verdict{{ID: "a", Status: "FAILURE", ErrorMessage: "sent Bearer abcdefghijklmnop0123456789"}}},
	"own":   {"none", []verdict{{ID: "a", Status: "FAILURE", ErrorMessage: "Tool 'mine' not found. Available tools: add"}}},
}

// playSuite is the suite: it asks for what a scenario is about, and writes what it makes of that.
func playSuite(args []string) int {
	given := map[string]string{}
	for i := 0; i+1 < len(args); i++ {
		given[args[i]] = args[i+1]
	}
	for name, s := range suiteScenarios {
		if only := given["--scenario"]; only != "" && only != name {
			continue
		}
		req, err := http.NewRequest(http.MethodPost, given["--url"], strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, s.asks)))
		if err != nil {
			return 1
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Suite", name+given["--spec-version"]+given["--requirements"])
		req.Header.Set("Origin", originOf(given["--url"]))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 1
		}
		_ = resp.Body.Close()
		if name == "once" && given["--scenario"] != "" {
			continue // it ends before it has checked anything
		}
		dir := filepath.Join(given["--output-dir"], "server-"+name+time.Now().UTC().Format("-2006-01-02T15-04-05-000Z"))
		raw, err := json.Marshal(s.checks)
		if err != nil || os.MkdirAll(dir, 0o700) != nil || os.WriteFile(filepath.Join(dir, "checks.json"), raw, 0o600) != nil {
			return 1
		}
	}
	return 1 // as the suite does where checks failed
}

// originOf is the origin of a URL.
func originOf(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// The relay serves whoever has its URL, which a guess at another is not.
func TestRelayIsNotGuessed(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(web.Close)
	p, err := newPoster(config.Server{URL: web.URL, Transport: config.HTTP}, nil)
	require.NoError(t, err)
	y := &relay{t: &target{http: p}, path: "/secret/mcp"}
	at, end, err := y.serve()
	require.NoError(t, err)
	t.Cleanup(end)
	for path, want := range map[string]int{"/mcp": 404, "/": 404, "/secret/mcp": 200} {
		resp, err := http.Post(originOf(at)+path, "application/json", strings.NewReader("{}"))
		require.NoError(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
	if n := reached.Load(); n != 1 {
		t.Errorf("the server was reached %d times", n)
	}
}

// What the official suite says of a server is found, but for what it asks of a server that is made for it. It reaches the server as we do.
func TestSuite(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	for _, d := range []string{"requirements", "dist"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, d), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "requirements", rev2511+".yaml"), nil, 0o600))
	var mu sync.Mutex
	asked := map[string]int{}
	c := &changed{agent: everything(t), s: state{n: map[string]int{}}}
	c.on.Store(true)
	c.how = func(x *turn) bool {
		name := x.r.Header.Get("X-Suite")
		if name == "" {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		asked[name]++
		if x.r.Header.Get("X-Key") != "k" || x.r.Header.Get("Origin") != "http://"+x.r.Host {
			t.Errorf("%s: %v at %s", name, x.r.Header, x.r.Host)
		}
		return x.result(`{"content":[]}`)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/here" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		r.URL.Path = "/mcp" // of the agent
		c.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	_, s := sessiontest.Open(t, session.Options{}, config.Server{Name: "agent", URL: web.URL + "/here", Transport: config.HTTP, Headers: map[string]string{"X-Key": "k"}})
	o, err := check.Take(t.Context(), s)
	require.NoError(t, err)
	section, err := New(Options{Rules: []string{"suite-*"}, Suite: &Suite{Node: self, Script: filepath.Join(dir, "dist", suiteScript)}})
	require.NoError(t, err)
	r, err := check.Run(t.Context(), &check.Subject{Offer: o, Session: s}, []check.Section{section}, check.Tool{}, check.Watch{})
	if err != nil || r.Sections[1].Error != "" {
		t.Fatal(err, r.Sections)
	}
	var got []string
	for _, f := range r.Findings {
		got = append(got, strings.TrimPrefix(f.ID, Name+"/")+" "+f.Place.Name+" "+f.Message)
		if f.Message == "a: it broke" && (f.Evidence != "it has to hold\nit broke\nfor good\nhttps://spec.example/a" || f.Repro != "npx "+suitePackage+" server --url "+web.URL+"/here --scenario bad --spec-version "+rev2511) {
			t.Errorf("%+v", f)
		}
	}
	for _, o := range r.Sections[1].Outcomes {
		if strings.HasSuffix(o.Rule, suiteFailed) {
			got = append(got, string(o.Verdict)+" "+o.Place.Name+" "+o.Why)
		}
	}
	slices.Sort(got)
	want := []string{
		"passed 2025-11-25 good ", "skipped 2025-11-25 asks the scenario needs test_none, which the server does not have", "skipped 2025-11-25 needs the scenario needs test_other, which the server does not have",
		"skipped 2025-11-25 nothing the scenario checked nothing", "skipped 2026-07-28 the suite has no requirements for the revision",
		"suite-failure 2025-11-25 bad a: it broke", "suite-failure 2025-11-25 once a: sent Bearer ***",
		"suite-failure 2025-11-25 own a: Tool 'mine' not found. Available tools: add", "suite-warning 2025-11-25 bad b: it may break",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if asked["bad"+rev2511] != 2 || asked["good"+rev2511] != 1 || asked["nothing"+rev2511] != 1 {
		t.Errorf("%v", asked)
	}
}
