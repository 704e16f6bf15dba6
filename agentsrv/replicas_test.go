package agentsrv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestBackendAgentsOnOneDatabaseShareTheirTasks(t *testing.T) {
	shareTasks(t, Options{Store: pgtest.Run(t)})
}

func TestAgentsOnOneQueueShareTheirTasks(t *testing.T) {
	t.Parallel()
	shareTasks(t, Options{Queue: natsconn.Options{URL: natstest.Run(t).URL}})
}

// shareTasks is about tasks that begin at one agent, and are looked at, cancelled and read at another one.
func shareTasks(t *testing.T, o Options) {
	_, first := serve(t, o)
	_, second := serve(t, o)
	status := func(c *client, id string) string {
		t.Helper()
		var task struct{ Status string }
		raw := c.result("tasks/get", fmt.Sprintf(`{"taskId":%q}`, id))
		require.NoError(t, json.Unmarshal(raw, &task))
		return task.Status
	}
	page := func(c *client, id string) (p struct {
		Status string
		Result toolResult
		Error  struct{ Message string }
	},
	) {
		t.Helper()
		res, err := c.hc.Get(strings.TrimSuffix(c.url, "/mcp") + "/tasks/" + id)
		require.NoError(t, err)
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK || json.Unmarshal(raw, &p) != nil {
			t.Fatalf("%s %v %s", res.Status, err, raw)
		}
		return p
	}
	begin := func(c *client, params string) string {
		t.Helper()
		var res struct {
			TaskID            string
			Task              struct{ TaskID string }
			StructuredContent struct{ TaskID string }
		}
		require.NoError(t, json.Unmarshal(c.result("tools/call", params), &res))
		return res.TaskID + res.Task.TaskID + res.StructuredContent.TaskID
	}
	tasking := func(cs map[string]*client) *client {
		c := cs["modern"]
		return &client{t: t, url: c.url, modern: true, hc: c.hc, capabilities: `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`}
	}
	a, b := first["legacy"], second["legacy"]

	id := begin(a, `{"name":"sleep","arguments":{"seconds":50},"task":{"ttl":60000}}`)
	until(t, "the other agent says that it runs", func() bool { return page(b, id).Status == "running" })
	assert.Equalf(t, status(b, id), "working", "tasks/get")
	b.result("tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id))
	for _, c := range []*client{a, b} {
		until(t, "both say that it is cancelled", func() bool { return status(c, id) == "cancelled" && page(c, id).Status == "cancelled" })
	}

	id = begin(a, `{"name":"echo","arguments":{"message":"hello"},"task":{"ttl":60000}}`)
	var got toolResult
	if err := json.Unmarshal(b.result("tasks/result", fmt.Sprintf(`{"taskId":%q}`, id)), &got); err != nil || got.Content[0].Text != "hello" {
		t.Errorf("tasks/result: %+v %v", got, err)
	}

	id = begin(a, `{"name":"echo","arguments":{"message":"again"},"_meta":{"async":true}}`)
	until(t, "the other agent's page has the result", func() bool { p := page(b, id); return p.Status == "completed" && p.Result.Content[0].Text == "again" })

	am, bm := tasking(first), tasking(second)
	id = begin(am, `{"name":"sleep","arguments":{"seconds":50}}`)
	until(t, "the other agent knows of it", func() bool { return status(bm, id) == "working" })
	bm.result("tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id))
	for _, c := range []*client{am, bm} {
		until(t, "both say that it is cancelled", func() bool { return status(c, id) == "cancelled" })
	}
	until(t, "nothing runs any more", func() bool {
		res, err := a.hc.Get(strings.TrimSuffix(a.url, "/mcp") + "/queue")
		require.NoError(t, err)
		defer res.Body.Close()
		var q struct{ Running, Queued int }
		return json.NewDecoder(res.Body).Decode(&q) == nil && q.Running+q.Queued == 0
	})
}

func TestBackendAgentsOnOneDatabaseShareTheirStates(t *testing.T) {
	shareStates(t, Options{Store: pgtest.Run(t), Profile: Everything, PageSize: 7})
}

func TestAgentsOnOneQueueShareTheirStates(t *testing.T) {
	shareStates(t, Options{Queue: natsconn.Options{URL: natstest.Run(t).URL}, Profile: Everything, PageSize: 7})
}

// shareStates is about the state that a client got from one agent, and brings to another one of the same name, and cursors of lists.
func shareStates(t *testing.T, o Options) {
	const tool = "test_input_required_result_multi_round"
	var clients []*client
	var keys [][]byte
	for _, name := range []string{"one", "one", "another"} {
		o.Name = name
		a, cs := serve(t, o)
		clients = append(clients, &client{t: t, url: a.URL(), modern: true, hc: cs["modern"].hc, capabilities: `{"elicitation":{}}`})
		key, err := a.stateKey(t.Context())
		if err != nil || len(key) < 32 {
			t.Fatal(key, err)
		}
		keys = append(keys, key)
	}
	if !bytes.Equal(keys[0], keys[1]) || bytes.Equal(keys[0], keys[2]) {
		t.Errorf("the keys are equal: %v, and of another name: %v", bytes.Equal(keys[0], keys[1]), bytes.Equal(keys[0], keys[2]))
	}
	var got struct {
		toolResult
		RequestState string
	}
	for i, more := range []string{"", `,"inputResponses":{"step1":{"action":"accept","content":{"name":"Ada"}}}`, `,"inputResponses":{"step2":{"action":"accept","content":{"color":"blue"}}}`} {
		if i > 0 {
			more += fmt.Sprintf(`,"requestState":%q`, got.RequestState)
			if m, _ := clients[2].roundTrip("tools/call", fmt.Sprintf(`{"name":%q%s}`, tool, more)); m.Error == nil || !strings.Contains(m.Error.Message, "not from this server") {
				t.Errorf("an agent of another name: %s %+v", m.Result, m.Error)
			}
		}
		got.RequestState = ""
		require.NoError(t, json.Unmarshal(clients[i%2].result("tools/call", fmt.Sprintf(`{"name":%q%s}`, tool, more)), &got))
	}
	if len(got.Content) == 0 || got.Content[0].Text != "name=Ada, color=blue" {
		t.Errorf("%+v", got)
	}
	walk := func(clients ...*client) (names []string) {
		for i, cursor := 0, "{}"; ; i++ {
			var page struct {
				Tools      []struct{ Name string }
				NextCursor string
			}
			require.NoError(t, json.Unmarshal(clients[i%len(clients)].result("tools/list", cursor), &page))
			for _, tool := range page.Tools {
				names = append(names, tool.Name)
			}
			if page.NextCursor == "" {
				return names
			}
			cursor = fmt.Sprintf(`{"cursor":%q}`, page.NextCursor)
		}
	}
	if one, both := walk(clients[0]), walk(clients[0], clients[1]); len(one) <= o.PageSize || !slices.Equal(one, both) {
		t.Errorf("pages of one agent have %q, of both %q", one, both)
	}
}

// An agent that stops, without a kill, hands its tasks to the others of its queue.
func TestAgentThatStopsLeavesItsTasksToOthers(t *testing.T) {
	t.Parallel()
	url := natstest.Run(t).URL
	o := Options{Queue: natsconn.Options{URL: url}, RateLimit: -1}
	first, err := New(o)
	require.NoError(t, err)
	require.NoError(t, first.Start(t.Context()))
	_, bs := serve(t, o)
	b := bs["legacy"]
	a := &client{t: t, url: first.URL(), hc: b.hc}
	a.initialize()
	var ids []string
	for i := range 6 {
		var res struct{ Task struct{ TaskID string } }
		require.NoError(t, json.Unmarshal(a.result("tools/call", fmt.Sprintf(`{"name":"sleep","arguments":{"seconds":0.%d},"task":{"ttl":60000}}`, i+1)), &res))
		ids = append(ids, res.Task.TaskID)
	}
	until(t, "the metrics count both agents", func() bool {
		res, err := b.hc.Get(strings.TrimSuffix(b.url, "/mcp") + "/metrics")
		require.NoError(t, err)
		defer res.Body.Close()
		page, err := io.ReadAll(res.Body)
		return err == nil && strings.Contains(string(page), "\nmcp_queue_shared_replicas 2\n") && strings.Contains(string(page), "\nmcp_queue_shared_queued ")
	})
	assert.NoError(t, first.Close(t.Context()))
	for _, id := range ids {
		var got toolResult
		if err := json.Unmarshal(b.result("tasks/result", fmt.Sprintf(`{"taskId":%q}`, id)), &got); err != nil || got.IsError {
			t.Errorf("%+v %v", got, err)
		}
	}
}

// An agent that cannot be made leaves nothing behind of what it shares.
func TestBackendAgentThatCannotBeMadeLeavesItsReplicas(t *testing.T) {
	if a, err := New(Options{Store: pgtest.Run(t), JWKS: t.TempDir()}); err == nil {
		_ = a.Close(context.Background())
		t.Error("it was made")
	}
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in 30 s: %s", what)
		}
	}
}
