package views_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// A server's extensions, what of it is deprecated, its icons and its instructions are shown for what they are, and a tool with an app
// shows the page's source and what the page may do.
func TestSeenForWhatItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScribe()
		s.tools += `,{"name":"clock","inputSchema":{"type":"object"},"icons":[{"src":"https://x.example/c.png","sizes":["48x48"]}],"_meta":{"ui":{"resourceUri":"ui://clock"},"vendor":1}}` +
			`,{"name":"older","inputSchema":{"type":"object"},"_meta":{"ui/resourceUri":"ui://clock"}}`
		s.answers["initialize"] = func([]byte) string {
			return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"logging":{},"extensions":{"io.modelcontextprotocol/ui":{},"com.example/odd":{}},"experimental":{"beta":{}}},` +
				`"serverInfo":{"name":"scribe","version":"1","icons":[{"src":"https://x.example/s.svg"}]},"instructions":"Call alpha first."}`
		}
		s.answers["resources/read"] = func([]byte) string {
			return `{"contents":[{"uri":"ui://clock","mimeType":"text/html;profile=mcp-app","text":"<script>tick()</script>","_meta":{"ui":{"csp":{"connectDomains":["https://time.example"]},"permissions":{"camera":{}}}}}]}`
		}
		app := scribed(t, s, tuitest.Size(120, 40))
		app.Pane("list").Some(tuitest.Matches(`clock .*◫ app`)).Some(tuitest.Matches(`older .*◫ app`))
		app.Press("o").View("tools") // alpha has no page
		app.Press("down").Pane("detail").Has("◫ app", "app page     ui://clock", "vendor 1", "icon         https://x.example/c.png 48x48", "not fetched")
		app.Press("o").View("resources").Pane("detail").Has("csp connect  https://time.example", "permissions  camera", "not run here", "<script>tick()</script>")
		if n := s.count("resources/read"); n != 1 {
			t.Errorf("read %d times", n)
		}
		app.Press(":instructions").View("instructions").Pane("text").Has("What scribe tells the models", "Call alpha first.")
		app.Press("q").View("resources")
		app.Resize(120, 60).Press("1").View("servers").Pane("detail").Has("icon         https://x.example/s.svg",
			"✓ logging", "! deprecated since 2026-07-28", "io.modelcontextprotocol/ui", "never run", "com.example/odd", "not known: shown, not used", "beta (experimental)")
		app.Press("6", "[").View("logs").Press(":level").Overlay("Log level (deprecated since 2026-07-28)")
		app.Press("esc")
	})
}

// A tool whose x-mcp-header annotations are not allowed is marked with the reason, and is not called over HTTP.
func TestToolThatIsNotCalledOverHTTP(t *testing.T) {
	calls := make(chan string, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		env, scanErr := jsonrpc.Scan(body)
		if err != nil || scanErr != nil {
			t.Error(err, scanErr)
		}
		result := `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
		switch env.Method {
		case "tools/list":
			result = `{"tools":[{"name":"fine","inputSchema":{"type":"object"}},{"name":"region","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"a b"}}}}]}`
		case "tools/call":
			calls <- jsonrpc.GetString(env.Params, "name")
			result = `{"content":[]}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, env.ID, result)
	}))
	t.Cleanup(srv.Close)
	app := open(t, config.Server{Name: "x", URL: srv.URL, Transport: config.HTTP})
	app.View("tools").Pane("list").Some(tuitest.Matches(`✗ region never called over HTTP`))
	form(app, "region")
	app.Press("ctrl+g").Toast("never called over HTTP")
	leave(app)
	form(app, "fine").Has("valid")
	app.Press("ctrl+g").Pane("result").Has("✓ ")
	if called := <-calls; called != "fine" || len(calls) > 0 {
		t.Errorf("called %s and %d more", called, len(calls))
	}
	if old := strings.Count(app.Screen(), "malformed"); old > 0 {
		t.Error("the tool is said to be malformed")
	}
}
