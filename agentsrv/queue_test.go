package agentsrv

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
)

// elsewhere serves two agents that share their calls, and returns clients of the first one, whose only slot is taken: what they call
// runs at the other one.
func elsewhere(t *testing.T, o Options) (s *natstest.Server, first *Agent, cs map[string]*client) {
	t.Helper()
	s = natstest.Run(t)
	o.Queue, o.Name, o.RateLimit = natsconn.Options{URL: s.URL}, "shared", -1
	first, cs = serve(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	began, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = first.queue.Do(ctx, queue.Job{Tenant: "busy"}, func(ctx context.Context) (json.RawMessage, error) {
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		})
	}()
	t.Cleanup(func() { cancel(); <-gone })
	<-began
	second, _ := serve(t, o)
	until(t, "they know each other", func() bool {
		return first.queue.Status().Shared.Replicas == 2 && second.queue.Status().Shared.Replicas == 2
	})
	return s, first, cs
}

// What a tool sends arrives at the client of the other agent: all of it, in order, and before the result.
func TestProgressOfACallThatRunsElsewhere(t *testing.T) {
	_, _, cs := elsewhere(t, Options{})
	const steps = 300 // more than may be under way
	for era, c := range cs {
		m, notes := c.roundTrip("tools/call", fmt.Sprintf(`{"name":"sleep","arguments":{"seconds":0,"steps":%d},"_meta":{"progressToken":"p"}}`, steps))
		if m.Error != nil || len(notes) != steps {
			t.Fatalf("%s: %d of %d notifications, %+v", era, len(notes), steps, m.Error)
		}
		for i, n := range notes {
			var p struct{ Progress float64 }
			if err := json.Unmarshal(n.Params, &p); err != nil || n.Method != "notifications/progress" || p.Progress != float64(i+1) {
				t.Fatalf("%s: notification %d: %s %s", era, i, n.Method, n.Params)
			}
		}
		if r := c.call("add", `{"a":1,"b":2}`); !strings.Contains(string(r.StructuredContent), `"sum":3`) {
			t.Errorf("%s: %+v", era, r)
		}
		if m, _ := c.roundTrip("tools/call", `{"name":"nothing","arguments":{}}`); m.Error == nil || !strings.Contains(string(m.Error.Data), "tool_not_found") {
			t.Errorf("%s: %+v", era, m)
		}
	}
}

// A question of a tool reaches the client of the other agent, and the answer the tool; a client of the modern era is asked in the result.
func TestQuestionsOfACallThatRunsElsewhere(t *testing.T) {
	_, _, cs := elsewhere(t, Options{Profile: Everything})
	c := &client{t: t, url: cs["legacy"].url, hc: cs["legacy"].hc}
	res := c.do(t.Context(), "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"t","version":"0"}}`)
	c.session = res.Header.Get("Mcp-Session-Id")
	_ = res.Body.Close()
	res = c.do(t.Context(), "tools/call", `{"name":"test_sampling","arguments":{"prompt":"who?"}}`)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	asked := false
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var m message
		if !ok || json.Unmarshal([]byte(data), &m) != nil {
			continue
		}
		if m.Method == "sampling/createMessage" {
			asked = strings.Contains(string(m.Params), "who?")
			answer := c.post(t.Context(), fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"Ada"}}}`, m.ID), "")
			_ = answer.Body.Close()
			continue
		}
		if !asked || !strings.Contains(string(m.Result), "Ada") {
			t.Errorf("asked %v, result %s", asked, m.Result)
		}
		break
	}
	modern := &client{t: t, url: c.url, modern: true, hc: c.hc, capabilities: `{"elicitation":{}}`}
	if m, _ := modern.roundTrip("tools/call", `{"name":"test_input_required_result_elicitation","arguments":{}}`); m.Error != nil || !strings.Contains(string(m.Result), `"input_required"`) {
		t.Errorf("%+v %s", m.Error, m.Result)
	}
}

// The pages say which engine it is and what it shares, and that its server is gone.
func TestPagesOfASharedQueue(t *testing.T) {
	t.Parallel()
	s, first, cs := elsewhere(t, Options{})
	at := strings.TrimSuffix(cs["modern"].url, "/mcp")
	get := func(path string) (int, string) {
		t.Helper()
		res, err := cs["modern"].hc.Get(at + path)
		require.NoError(t, err)
		defer res.Body.Close()
		var b strings.Builder
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() {
			b.WriteString(lines.Text())
		}
		return res.StatusCode, b.String()
	}
	if _, page := get("/queue"); !strings.Contains(page, `"engine":"NATS JetStream"`) || !strings.Contains(page, `"replicas":2`) || !strings.Contains(page, `"running":1`) {
		t.Error(page)
	}
	if r := cs["modern"].call("queue_status", `{}`); !strings.Contains(string(r.StructuredContent), `"replicas":2`) {
		t.Errorf("%s", r.StructuredContent)
	}
	until(t, "ready", func() bool { code, _ := get("/ready"); return code == http.StatusOK })
	s.Kill()
	until(t, "noticed", func() bool { return !first.conn.Up() })
	if code, page := get("/ready"); code != http.StatusServiceUnavailable || !strings.Contains(page, "nats: the connection is lost") {
		t.Errorf("%d %s", code, page)
	}
	s.Restart()
	until(t, "back", func() bool { code, _ := get("/ready"); return code == http.StatusOK })
	if r := cs["legacy"].call("add", `{"a":1,"b":2}`); r.IsError {
		t.Errorf("%+v", r)
	}
}

// An agent whose queue cannot be reached does not start, and says why.
func TestQueueThatIsNotThere(t *testing.T) {
	s := natstest.Run(t)
	s.Kill()
	_, err := New(Options{Queue: natsconn.Options{URL: strings.Replace(s.URL, "://", "://ada:hunter2@", 1)}})
	if err == nil || !strings.Contains(err.Error(), "agent: nats: nothing answers: nats://***@127.0.0.1") || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}
