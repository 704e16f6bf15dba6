package proxy

import (
	"bufio"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// features is the agent of the everything profile.
func features(t *testing.T) *agentsrv.Agent {
	t.Helper()
	a, err := agentsrv.New(agentsrv.Options{Profile: agentsrv.Everything})
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		assert.NoError(t, a.Close(ctx))
	})
	return a
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// opened opens a session of 2025-11-25 whose client can be asked.
func opened(t *testing.T, f *fixture) string {
	t.Helper()
	got := f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`, "Accept", accept)
	id := got.header.Get("Mcp-Session-Id")
	if got.status != 200 || id == "" {
		t.Fatalf("%+v", got)
	}
	if got := f.post(t, "/mcps/a/mcp", initialized, "Mcp-Session-Id", id); got.status != 202 {
		t.Fatalf("%+v", got)
	}
	return id
}

// next is the next event with data of a stream, and its id.
func next(t *testing.T, in *bufio.Reader) (id, data string) {
	t.Helper()
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		line = strings.TrimRight(line, "\r\n")
		if v, ok := strings.CutPrefix(line, "id: "); ok {
			id = v
		}
		if v, ok := strings.CutPrefix(line, "data: "); ok && v != "" {
			return id, v
		}
	}
}

// A router dies in the middle of a call, while the agent asks its caller something. The answer goes through another, and so does
// the stream on which the result comes.
func TestR10_ACallGoesOnThroughAnotherRouter(t *testing.T) {
	a := features(t)
	key := keys(t, "k")
	one, two := replica(t, key, a.URL(), Options{DrainTimeout: 50 * time.Millisecond}), replica(t, key, a.URL(), Options{})
	id := opened(t, one)
	res := one.stream(t.Context(), t, "POST", "/mcps/a/mcp", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"test_elicitation","arguments":{"message":"who?"}}}`, "Mcp-Session-Id", id)
	defer func() { _ = res.Body.Close() }()
	last, asked := next(t, bufio.NewReader(res.Body))
	env, err := jsonrpc.Scan([]byte(asked))
	if err != nil || env.Method != "elicitation/create" || last == "" {
		t.Fatalf("%s %s", last, asked)
	}
	if err := one.Close(t.Context()); err != nil && !strings.Contains(err.Error(), "deadline") {
		t.Error(err)
	}
	reply := `{"jsonrpc":"2.0","id":` + string(env.ID) + `,"result":{"action":"accept","content":{"name":"Ann","address":"a@b.example","username":"ann","email":"a@b.example"}}}`
	if got := two.post(t, "/mcps/a/mcp", reply, "Mcp-Session-Id", id, "Mcp-Protocol-Version", "2025-11-25"); got.status != 202 {
		t.Fatalf("the answer: %+v", got)
	}
	again := two.stream(t.Context(), t, "GET", "/mcps/a/mcp", "", "Mcp-Session-Id", id, "Last-Event-ID", last, "Mcp-Protocol-Version", "2025-11-25")
	defer func() { _ = again.Body.Close() }()
	if _, result := next(t, bufio.NewReader(again.Body)); !strings.Contains(result, `"id":7`) || !strings.Contains(result, "accept") {
		t.Errorf("%s", result)
	}
}

// A task that was begun through one router is polled, and its result fetched, through the other, with a session and without one.
func TestR10_TasksThroughAnotherRouter(t *testing.T) {
	t.Parallel()
	a := features(t)
	key := keys(t, "k")
	one, two := replica(t, key, a.URL(), Options{}), replica(t, key, a.URL(), Options{})
	id := opened(t, one)
	version := []string{"Mcp-Session-Id", id, "Mcp-Protocol-Version", "2025-11-25"}
	got := one.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow_compute","arguments":{"seconds":0.1,"label":"mine"},"task":{"ttl":60000}}}`, version...)
	task := jsonrpc.GetString([]byte(got.body), "result", "task", "taskId")
	if task == "" {
		t.Fatalf("%+v", got)
	}
	if got := two.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"taskId":"`+task+`"}}`, version...); got.status != 200 || !strings.Contains(got.body, task) {
		t.Errorf("%+v", got)
	}
	if got := two.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":4,"method":"tasks/result","params":{"taskId":"`+task+`"}}`, version...); got.status != 200 || !strings.Contains(got.body, "mine") {
		t.Errorf("%+v", got)
	}
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	modern := func(f *fixture, method, name, params string) response {
		return f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":5,"method":"`+method+`","params":{`+params+`,`+meta+`}}`,
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name, "Accept", accept)
	}
	got = modern(one, "tools/call", "slow_compute", `"name":"slow_compute","arguments":{"seconds":1,"label":"mine"}`)
	if task = jsonrpc.GetString([]byte(got.body), "result", "taskId"); task == "" {
		t.Fatalf("%+v", got)
	}
	require.Eventually(t, "the task to be done", func() bool {
		got := modern(two, "tasks/get", task, `"taskId":"`+task+`"`)
		if got.status != 200 {
			t.Fatalf("%+v", got)
		}
		return strings.Contains(got.body, `"completed"`) && strings.Contains(got.body, "mine")
	})
}
