package browser_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/proxy/browser"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// evil is a server of 2026-07-28 that breaks what ask_agent_stream promises: the first question gets nonsense on the way and an
// answer that is none, the second an answer in plain words without a piece before.
func evil(t *testing.T, asked chan<- string) http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Arguments json.RawMessage
				URI       string
				Meta      struct{ ProgressToken json.RawMessage } `json:"_meta"`
			}
		}
		raw, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(raw, &in)
		}
		if err != nil {
			t.Errorf("%v: %s", err, raw)
		}
		answer := func(result string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete",%s}}`, in.ID, result)
		}
		w.Header().Set("Content-Type", "application/json")
		switch in.Method {
		case "server/discover":
			_, _ = io.WriteString(w, answer(`"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"evil","version":"1"}`))
		case "tools/list":
			_, _ = io.WriteString(w, answer(`"tools":[{"name":"ask_agent_stream","inputSchema":{"type":"object","properties":{"agent_uri":{},"prompt":{}}}}]`))
		case "resources/list", "resources/templates/list":
			_, _ = io.WriteString(w, answer(`"resources":[],"resourceTemplates":[]`))
		case "resources/read":
			list := `[null,7,{"uri":1,"name":"n"},{"uri":"x://1","name":"<b id=x>","description":{"a":1}},{"uri":"x://2","name":"` + strings.Repeat("n", 5000) + `"}]`
			if strings.HasPrefix(in.Params.URI, "my") {
				list = `{"not":"a list"}`
			}
			text, _ := json.Marshal(list)
			_, _ = io.WriteString(w, answer(fmt.Sprintf(`"contents":[{"uri":"x://1","text":%s}]`, text)))
		case "tools/call":
			asked <- string(in.Params.Arguments)
			if n.Add(1) > 1 {
				_, _ = io.WriteString(w, answer(`"content":[{"type":"text","text":"Just words."}]`))
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			send := func(params string) {
				_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":1,%s}}\n\n", in.Params.Meta.ProgressToken, params)
			}
			for _, params := range []string{`"message":7`, `"message":null`, `"_meta":{"mcphud/call":7}`, `"_meta":{"mcphud/call":{"id":{},"name":null,"arguments":[1],"done":{},"ms":"x","more":-5}}`, `"_meta":[]`, `"message":"<i id=x>piece</i>"`} {
				send(params)
			}
			for i := range 1000 {
				send(`"_meta":{"mcphud/call":{"id":"same","name":"again","done":true,"result":"r"}}`)
				send(fmt.Sprintf(`"_meta":{"mcphud/call":{"id":%d,"name":"many","arguments":"a"}}`, i))
			}
			_, _ = fmt.Fprintf(w, "data: %s\n\n", answer(`"structuredContent":{"status":[],"response":null,"model":{"a":"<u id=x>"}},"content":7`))
		default:
			http.Error(w, "no", http.StatusNotFound)
		}
	}
}

// Whatever a server sends for a conversation stays text and bounded, and the page goes on. That a tool takes no history is said.
func TestB6b_E2EHostileAgent(t *testing.T) {
	asked := make(chan string, 2)
	mux := http.NewServeMux()
	for path, h := range browser.Routes(browser.Options{Agents: func(*http.Request) []browser.Agent { return []browser.Agent{{Name: "evil"}} }}) {
		mux.Handle(path, h)
	}
	mux.HandleFunc("/mcps/evil/mcp", evil(t, asked))
	s := httptest.NewServer(listen.Guard(mux))
	t.Cleanup(s.Close)
	p := open(t, s.URL+"/#chat")
	p.partner("<b id=x>")
	assert.Contains(t, p.text("#memory"), "Each question stands alone")
	p.says("What?")
	p.over()
	if got := <-asked; got != `{"agent_uri":"x://1","prompt":"What?"}` {
		t.Errorf("asked %s", got)
	}
	p.says("Again?")
	assert.Contains(t, p.over(), "Just words.")
	if got := <-asked; got != `{"agent_uri":"x://1","prompt":"Again?"}` {
		t.Errorf("asked %s", got)
	}
	if got := p.text("#talk .answer"); strings.Contains(got, "running…") || !strings.Contains(got, "<b id=x>") {
		t.Errorf("the first answer is over: %s", got[:min(len(got), 500)])
	}
	var seen struct {
		Agents, Markup, Steps, Details, Longest int
		Wide                                    bool
	}
	p.eval(`({ agents: document.querySelectorAll('#tools button').length, markup: document.querySelectorAll('#x').length, steps: document.querySelectorAll('.step').length,
		details: document.querySelectorAll('#talk details').length, longest: Math.max(...[...document.querySelectorAll('#tools button')].map((b) => b.textContent.length)),
		wide: document.documentElement.scrollWidth > innerWidth })`, &seen)
	if seen.Agents != 2 || seen.Markup != 0 || seen.Steps == 0 || seen.Steps > 200 || seen.Details > 3*seen.Steps || seen.Longest > 200 || seen.Wide {
		t.Errorf("%+v", seen)
	}
	if said := p.said(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}
