package agentsrv

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/test/require"
)

// A streamed answer stays a stream for clients that know tasks, however long it takes: as a task it would lose its pieces.
func TestB6b_AStreamedAnswerIsNoTask(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range []string{`{\"answer\":\"One, `, `two, `, `three.\",\"confidence\":1,\"tags\":[]}`} {
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}\n\n", piece) // who is gone needs no more
			w.(http.Flusher).Flush()
			time.Sleep(400 * time.Millisecond) // other calls become tasks meanwhile
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(model.Close)
	_, cs := serve(t, Options{RateLimit: -1, Model: chat.Model{URL: model.URL, Name: "tiny"}})
	c := cs["modern"]
	c.capabilities = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	answer, notes := c.roundTrip("tools/call", `{"name":"ask_agent_stream","arguments":{"agent_uri":"researcher","prompt":"Count."},"_meta":{"progressToken":"p"}}`)
	var came strings.Builder
	for _, n := range notes {
		var p struct{ Message string }
		require.NoError(t, json.Unmarshal(n.Params, &p))
		came.WriteString(p.Message)
	}
	if came.String() != "One, two, three." || !strings.Contains(string(answer.Result), `"answer":"One, two, three."`) {
		t.Errorf("%q came before %s", came.String(), answer.Result)
	}
}
