package browser_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// What curl sees of the client: type, caching, HEAD, and nothing else than GET.
func TestB1_Served(t *testing.T) {
	s := serve(t, nil)
	want, err := os.ReadFile(filepath.Join("files", "MCPBrowserClient.js"))
	require.NoError(t, err)
	resp, body := get(t, "GET", s+"/MCPBrowserClient.js")
	if resp.StatusCode != 200 || string(body) != string(want) {
		t.Errorf("GET: %s, %d bytes of %d", resp.Status, len(body), len(want))
	}
	head, none := get(t, "HEAD", s+"/MCPBrowserClient.js")
	if head.StatusCode != 200 || len(none) != 0 || head.ContentLength != int64(len(want)) {
		t.Errorf("HEAD: %s, %d bytes, length %d", head.Status, len(none), head.ContentLength)
	}
	for _, r := range []*http.Response{resp, head} {
		if got := r.Header.Get("Content-Type"); got != "application/javascript" {
			t.Errorf("%s: Content-Type %q", r.Request.Method, got)
		}
		if got := r.Header.Get("Cache-Control"); got != "public, max-age=300" {
			t.Errorf("%s: Cache-Control %q", r.Request.Method, got)
		}
	}
	tag := resp.Header.Get("ETag")
	if again, body := get(t, "GET", s+"/MCPBrowserClient.js", "If-None-Match", tag); tag == "" || again.StatusCode != 304 || len(body) != 0 {
		t.Errorf("with ETag %q: %s, %d bytes", tag, again.Status, len(body))
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		if r, _ := get(t, method, s+"/MCPBrowserClient.js"); r.StatusCode != 405 || !strings.Contains(r.Header.Get("Allow"), "GET") {
			t.Errorf("%s: %s, Allow %q", method, r.Status, r.Header.Get("Allow"))
		}
	}
}

// The client stands alone: it imports nothing, needs no WebSocket, and makes no code from text.
func TestB4_ClientHasNoDependency(t *testing.T) {
	for _, name := range []string{"MCPBrowserClient.js", "page.js", "form.js", "chat.js"} {
		source, err := os.ReadFile(filepath.Join("files", name))
		require.NoError(t, err)
		for _, banned := range []string{"WebSocket", "EventSource", "XMLHttpRequest", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("} {
			if strings.Contains(string(source), banned) {
				t.Errorf("%s has %s", name, banned)
			}
		}
		imports := regexp.MustCompile(`(?m)^import .*|\bimport\(`).FindAllString(string(source), -1)
		if name == "MCPBrowserClient.js" && len(imports) > 0 {
			t.Errorf("%s imports %q", name, imports)
		}
		for _, i := range imports {
			if !regexp.MustCompile(`from '/(MCPBrowserClient|browser/(form|chat))\.js';$`).MatchString(i) {
				t.Errorf("%s imports %q", name, i)
			}
		}
	}
}

// Requests of other origins get nothing, neither the page's files nor an agent; the page itself brings a policy that lets
// in nothing from elsewhere.
func TestB6_SameOriginOnly(t *testing.T) {
	s := serve(t, map[string]string{"demo": agent(t, agentsrv.Options{})})
	for _, path := range []string{"/", "/MCPBrowserClient.js", "/agents.json", "/browser/page.js", "/mcps/demo/mcp"} {
		for _, origin := range []string{"http://evil.example", "null", "http://localhost:1", strings.Replace(s, "http:", "https:", 1)} {
			if r, body := get(t, "GET", s+path, "Origin", origin); r.StatusCode != 403 || !strings.Contains(string(body), `"forbidden"`) {
				t.Errorf("%s from %s: %s %s", path, origin, r.Status, body)
			}
		}
	}
	for path, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "/browser/page.js": "application/javascript", "/browser/form.js": "application/javascript",
		"/browser/page.css": "text/css; charset=utf-8", "/agents.json": "application/json",
	} {
		r, body := get(t, "GET", s+path, "Origin", s)
		if r.StatusCode != 200 || len(body) == 0 || r.Header.Get("Content-Type") != kind {
			t.Errorf("%s: %s, %s, %d bytes", path, r.Status, r.Header.Get("Content-Type"), len(body))
		}
		policy := r.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: policy %q lacks %s", path, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s: policy %q lets something in", path, policy)
		}
		if r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: headers %v", path, r.Header)
		}
	}
	for _, path := range []string{"/page.html", "/browser/", "/browser/nope.js", "/files/page.html", "/browser/..%2fpage.html"} {
		if r, _ := get(t, "GET", s+path); r.StatusCode != 404 {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}

// The agents are data: their names come back as they are, and none is an empty list.
func TestB6_Agents(t *testing.T) {
	type answer struct {
		Agents []struct{ Name, State string }
	}
	for _, agents := range []map[string]string{nil, {"demo": "http://127.0.0.1:1"}, {"b": "http://127.0.0.1:1", "a": "http://127.0.0.1:1"}} {
		_, body := get(t, "GET", serve(t, agents)+"/agents.json")
		var a answer
		if err := json.Unmarshal(body, &a); err != nil || a.Agents == nil || len(a.Agents) != len(agents) {
			t.Errorf("%s: %v", body, err)
		}
		for _, each := range a.Agents {
			if _, ok := agents[each.Name]; !ok || each.State != "ok" {
				t.Errorf("%s", body)
			}
		}
	}
}

// The downloaded file in Node, with absolute base URLs.
func TestB2_B3_E2EWire(t *testing.T) {
	t.Parallel()
	node(t, "wire.test.mjs", 30)
}

// A recording of everything that a stream may look like, cut in every way.
func TestB4_E2EEventStreams(t *testing.T) {
	t.Parallel()
	node(t, "stream.test.mjs", 10)
}

// The times at which a server is asked for a task's state.
func TestB5_E2EIntervals(t *testing.T) {
	t.Parallel()
	node(t, "tasks.test.mjs", 12)
}

// Our own agent in both eras, by itself and behind the router: lists, calls, reads, prompts, progress, tasks, questions,
// cancelling.
func TestB2_B3_B5_E2EAgent(t *testing.T) {
	t.Parallel()
	agents := func(t *testing.T) (demo, everything string) {
		t.Parallel()
		return agent(t, agentsrv.Options{PageSize: 3}), agent(t, agentsrv.Options{Profile: agentsrv.Everything, Concurrency: 4})
	}
	t.Run("direct", func(t *testing.T) {
		if !budget.All() {
			t.Skip("the router passes all of it on: " + budget.TestsEnv + "=all calls the agents without it as well")
		}
		demo, everything := agents(t)
		node(t, "agent.test.mjs", 40, "NAME=mcphud-agent", "DEMO="+demo, "EVERYTHING="+everything)
	})
	t.Run("router", func(t *testing.T) {
		demo, everything := agents(t)
		router := serve(t, map[string]string{"demo": demo, "everything": everything})
		node(t, "agent.test.mjs", 40, "NAME=mcphud-router-proxy:demo", "DEMO="+router+"/mcps/demo", "EVERYTHING="+router+"/mcps/everything")
	})
}
