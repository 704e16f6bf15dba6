package agentlet

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestT4_CreateReadRestartRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	check := func(t *testing.T, r *rig) {
		got := r.read(t, "acme/ada", "agentlet://user/ada/counter")
		var a struct {
			Name        string          `json:"fully_qualified_name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"output_schema"`
			Tools       []string        `json:"tools"`
		}
		if len(got.Result.Contents) != 1 || json.Unmarshal([]byte(got.Result.Contents[0].Text), &a) != nil {
			t.Fatal(got.raw)
		}
		if a.Name != "user/ada/counter" || a.Description != "You count things for acme." || len(a.Tools) != 0 || !strings.Contains(string(a.Schema), `"answer"`) {
			t.Errorf("%+v", a)
		}
	}
	t.Run("before", func(t *testing.T) {
		r := serve(t, path, Options{})
		got := r.call(t, "", "create_agent", map[string]any{
			"tenant_id": "acme", "user_id": "ada", "agent_name": "counter", "description": "You count things for acme.", "output_schema": anySchema,
		})
		want := `{"agent_uri":"agentlet://user/ada/counter","message":"Agent created successfully","status":"success"}`
		if len(got.Result.Content) != 1 || got.Result.Content[0].Text != want || got.Result.StructuredContent.AgentURI != "agentlet://user/ada/counter" {
			t.Fatal(got.raw)
		}
		check(t, r)
		again := r.call(t, "", "create_agent", map[string]any{
			"tenant_id": "acme", "user_id": "ada", "agent_name": "counter", "description": "Another.", "output_schema": anySchema,
		})
		if again.Error == nil || again.Error.Code != -32602 || again.Error.Data["field"] != "agent_name" || !strings.Contains(again.Error.Message, "already") {
			t.Errorf("a duplicate: %s", again.raw)
		}
		r.make(t, "acme", "bob", "counter") // names are each user's own
		r.make(t, "other", "ada", "counter")
	})
	t.Run("after a restart", func(t *testing.T) { check(t, serve(t, path, Options{})) })
}

func TestT4_X4_BadAgentsAreRefused(t *testing.T) {
	r := serve(t, "", Options{Lookup: noTools})
	good := map[string]any{"tenant_id": "t", "user_id": "u", "agent_name": "n", "description": "d", "output_schema": anySchema}
	for field, values := range map[string][]any{
		"tenant_id":   {nil, ""},
		"user_id":     {nil, "", "../x", "a b", "a/b", strings.Repeat("u", 129)},
		"agent_name":  {nil, "", ".", "..", "a/b", "ä", "a\n", "%2e", strings.Repeat("n", 65)},
		"description": {nil, "", "  ", strings.Repeat("d", 16<<10+1)},
		"output_schema": {
			nil, true,
			map[string]any{"type": "strng"},
			map[string]any{"properties": 1},
			map[string]any{"pattern": "("},
			map[string]any{"$ref": "https://example.com/schema.json"},
			map[string]any{"$ref": "file:///etc/passwd"},
			map[string]any{"$ref": "#/$defs/none"},
			map[string]any{"$schema": "https://example.com/meta"},
			map[string]any{"description": strings.Repeat("x", MaxSchema)},
		},
		"tools": {[]string{"no_such_tool"}},
	} {
		for _, v := range values {
			args := map[string]any{}
			for k, x := range good {
				args[k] = x
			}
			if args[field] = v; v == nil {
				delete(args, field)
			}
			got := r.call(t, "", "create_agent", args)
			if got.Error == nil || got.Error.Code != -32602 || got.Error.Data["field"] != field || got.Error.Data["reason"] == "" {
				t.Errorf("%s = %.60v: %.300s", field, v, got.raw)
			}
		}
	}
	if got := r.read(t, "t", MyAgents); got.Result.Contents[0].Text != "[]" {
		t.Errorf("something was stored: %s", got.raw)
	}
	missing := r.call(t, "", "create_agent", map[string]any{"user_id": "u", "agent_name": "n", "description": "d", "output_schema": anySchema})
	if missing.Error == nil || missing.Error.Message != "Invalid params: tenant_id is required" || missing.Error.Data["reason"] != "Field required" {
		t.Error(missing.raw)
	}
}

func TestT6_T8_AgentResources(t *testing.T) {
	r := serve(t, "", Options{})
	r.make(t, "acme", "ada", "counter")
	r.make(t, "acme", "bob", "adder")
	names := func(got reply) (all []string) {
		t.Helper()
		if len(got.Result.Contents) != 1 || got.Result.Contents[0].MIMEType != "application/json" {
			t.Fatal(got.raw)
		}
		var list []map[string]any
		if err := json.Unmarshal([]byte(got.Result.Contents[0].Text), &list); err != nil {
			t.Fatal(err, got.raw)
		}
		for _, a := range list {
			all = append(all, a["fully_qualified_name"].(string))
		}
		return all
	}
	system := names(r.read(t, "", SystemAgents))
	if len(system) < 4 {
		t.Errorf("%q", system)
	}
	for _, name := range system {
		if got := r.read(t, "", Scheme+name); len(got.Result.Contents) != 1 || got.Result.Contents[0].URI != Scheme+name || !strings.Contains(got.Result.Contents[0].Text, `"output_schema"`) {
			t.Errorf("%s: %s", name, got.raw)
		}
	}
	for who, want := range map[string]string{"acme/ada": "[user/ada/counter]", "acme": "[user/ada/counter user/bob/adder]", "acme/eve": "[]", "other": "[]", "": "[]"} {
		if got := fmt.Sprint(names(r.read(t, who, MyAgents))); got != want {
			t.Errorf("%q reads %s, want %s", who, got, want)
		}
	}
	if got := r.read(t, "acme", "agentlet://user%2Fada%2Fcounter"); len(got.Result.Contents) != 1 {
		t.Errorf("an encoded slash: %s", got.raw)
	}
	for _, uri := range []string{
		"agentlet://user/ada", "agentlet://system/", "agentlet://system/a/b", "agentlet://user/../counter", "agentlet://user/ada/..", "agentlet://other/ada/counter",
		"agentlet://user/ada/%00", "agentlet://user/ada/%zz", "agentlet://" + strings.Repeat("a", 9000), "agentlet://", "agentlet:", "my-agents://other",
	} {
		if got := r.read(t, "acme", uri); got.Error == nil || got.Result.Contents != nil {
			t.Errorf("%.60s: %.200s", uri, got.raw)
		}
	}
	if got := r.post(t, "acme", "", "resources/templates/list", nil); len(got.Result.Templates) != 1 || got.Result.Templates[0].URITemplate != "agentlet://{+uri}" {
		t.Error(got.raw)
	}
	for _, method := range []string{"resources/write", "resources/update", "resources/delete", "resources/create"} {
		if got := r.post(t, "acme", "", method, map[string]any{"uri": SystemAgents, "text": "[]"}); got.Error == nil || got.Error.Code != -32601 {
			t.Errorf("%s: %s", method, got.raw)
		}
	}
}

func TestX1_AgentsKeepTenantsApart(t *testing.T) {
	r := serve(t, "", Options{})
	r.make(t, "a", "ada", "secret")
	if got := r.read(t, "a", "agentlet://user/ada/secret"); len(got.Result.Contents) != 1 { // also puts it into the cache
		t.Fatal(got.raw)
	}
	for _, version := range []string{"", modern} {
		for _, who := range []string{"b", "b/ada", "", "/ada"} {
			tenant := strings.Split(who, "/")[0]
			if tenant == "" {
				tenant = "default"
			}
			for _, pair := range [][2]string{
				{"user/ada/secret", "user/ada/nobody"},
				{"secret", "nobody"},
			} {
				both := func(f func(name string) reply) {
					t.Helper()
					there, nowhere := f(pair[0]), f(pair[1])
					if there.Error == nil || strings.ReplaceAll(there.raw, "secret", "?") != strings.ReplaceAll(nowhere.raw, "nobody", "?") {
						t.Errorf("%q can tell:\n%s\n%s", who, there.raw, nowhere.raw)
					}
				}
				both(func(n string) reply {
					return r.post(t, who, version, "resources/read", map[string]any{"uri": Scheme + n})
				})
				both(func(n string) reply {
					return r.post(t, who, version, "tools/call", map[string]any{"name": "ask_agent", "arguments": map[string]any{"agent_uri": n, "tenant_id": tenant, "prompt": "x"}})
				})
			}
			if got := r.post(t, who, version, "resources/read", map[string]any{"uri": MyAgents}); got.Result.Contents[0].Text != "[]" {
				t.Errorf("%q lists %s", who, got.raw)
			}
			if got := r.post(t, who, version, "resources/list", nil); strings.Contains(got.raw, "secret") || !strings.Contains(got.raw, MyAgents) {
				t.Errorf("%q lists %s", who, got.raw)
			}
		}
	}
	legacy := r.call(t, "b", "ask_agent", map[string]any{"agent_uri": "user/ada/secret", "tenant_id": "b", "prompt": "x"})
	if legacy.Error == nil || legacy.Error.Code != -32001 || legacy.Error.Data["kind"] != "agent_not_found" {
		t.Error(legacy.raw)
	}
	if got := r.read(t, "b", "agentlet://user/ada/secret"); got.Error.Code != -32001 || got.Error.Data["kind"] != "resource_not_found" {
		t.Error(got.raw)
	}
	if got := r.call(t, "b", "ask_agent", map[string]any{"agent_uri": "user/ada/secret", "tenant_id": "a", "prompt": "x"}); got.Error == nil || got.Error.Data["kind"] != "tenant_not_found" {
		t.Errorf("a token for b asks for a: %s", got.raw)
	}
	assert.Contains(t, r.post(t, "a", "", "resources/list", nil).raw, "agentlet://user/ada/secret")
}

func TestF2_CacheKeepsAHundredAgents(t *testing.T) {
	var hits, misses atomic.Int64
	r := serve(t, "", Options{Cached: func(hit bool) {
		if hit {
			hits.Add(1)
		} else {
			misses.Add(1)
		}
	}})
	for i := range 101 {
		r.make(t, "t", "u", fmt.Sprintf("a%d", i))
	}
	read := func(i int) (hit bool) {
		before := hits.Load()
		if got := r.read(t, "t", fmt.Sprintf("agentlet://user/u/a%d", i)); len(got.Result.Contents) != 1 {
			t.Fatal(got.raw)
		}
		return hits.Load() > before
	}
	for i := range 101 {
		if read(i) {
			t.Errorf("a%d was in the cache before it was read", i)
		}
	}
	assert.Equalf(t, r.cache.Len(), 100, "agents in the cache")
	if !read(100) || read(0) {
		t.Error("not the agent used longest ago was dropped")
	}
	if hits.Load() != 1 || misses.Load() != 102 {
		t.Errorf("%d hits, %d misses", hits.Load(), misses.Load())
	}
}

func TestA4_CreateAgentTellsSubscribers(t *testing.T) {
	r := serve(t, "", Options{})
	//lint:ignore SA1019 the legacy era still has it, and clients of it
	tr, err := transport.NewStreamableHTTP(r.url, transport.WithContinuousListening())
	require.NoError(t, err)
	//lint:ignore SA1019 the legacy era still has it, and clients of it
	c := client.NewClient(tr, client.WithLegacyProtocolOnly())
	defer c.Close()
	heard := make(chan string, 16)
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		uri, _ := n.Params.AdditionalFields["uri"].(string)
		heard <- strings.TrimSpace(n.Method + " " + uri)
	})
	ctx := t.Context()
	require.NoError(t, c.Start(ctx))
	init := mcp.InitializeRequest{}
	init.Params.ProtocolVersion = "2025-11-25"
	if _, err := c.Initialize(ctx, init); err != nil {
		t.Fatal(err)
	}
	var sub mcp.SubscribeRequest
	sub.Params.URI = MyAgents
	//lint:ignore SA1019 the legacy era still has it, and clients of it
	require.NoError(t, c.Subscribe(ctx, sub))
	wait := func(want map[string]bool) {
		t.Helper()
		late := time.After(30 * time.Second)
		for len(want) > 0 {
			select {
			case n := <-heard:
				if !want[n] {
					t.Errorf("heard %q", n)
				}
				delete(want, n)
			case <-late:
				t.Fatalf("not heard: %v", want)
			}
		}
	}
	const updated, changed = "notifications/resources/updated " + MyAgents, "notifications/resources/list_changed"
	r.make(t, "default", "ada", "one")
	wait(map[string]bool{updated: true, changed: true})
	var unsub mcp.UnsubscribeRequest
	unsub.Params.URI = MyAgents
	//lint:ignore SA1019 the legacy era still has it, and clients of it
	require.NoError(t, c.Unsubscribe(ctx, unsub))
	r.make(t, "default", "ada", "two")
	wait(map[string]bool{changed: true}) // which is sent after updated would be
}

// That another tenant made an agent is that tenant's business.
func TestX1_OthersAreNotTold(t *testing.T) {
	r := serve(t, "", Options{})
	//lint:ignore SA1019 the legacy era still has it, and clients of it
	tr, err := transport.NewStreamableHTTP(r.url, transport.WithContinuousListening(), transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer b/bob"}))
	require.NoError(t, err)
	//lint:ignore SA1019 the legacy era still has it, and clients of it
	c := client.NewClient(tr, client.WithLegacyProtocolOnly())
	defer c.Close()
	heard := make(chan string, 16)
	c.OnNotification(func(n mcp.JSONRPCNotification) { heard <- n.Method })
	ctx := t.Context()
	require.NoError(t, c.Start(ctx))
	init := mcp.InitializeRequest{}
	init.Params.ProtocolVersion = "2025-11-25"
	if _, err := c.Initialize(ctx, init); err != nil {
		t.Fatal(err)
	}
	var sub mcp.SubscribeRequest
	sub.Params.URI = MyAgents
	//lint:ignore SA1019 the legacy era still has it, and clients of it
	require.NoError(t, c.Subscribe(ctx, sub))
	for i, tenant := range []string{"a", "a", "b"} {
		r.make(t, tenant, "bob", fmt.Sprint("n", i))
	}
	late := time.After(30 * time.Second)
	for _, want := range []string{"notifications/resources/updated", "notifications/resources/list_changed"} {
		select {
		case got := <-heard:
			if got != want {
				t.Errorf("heard %s, want %s", got, want)
			}
		case <-late:
			t.Fatal("not heard: " + want)
		}
	}
	r.front.Broadcast("notifications/last", nil)
	if got := <-heard; got != "notifications/last" {
		t.Errorf("heard %s of another tenant", got)
	}
}

func TestA4_CreateAgentTellsListeners(t *testing.T) {
	r := serve(t, "", Options{})
	tr, err := transport.NewStreamableHTTP(r.url)
	require.NoError(t, err)
	c := client.NewClient(tr, client.WithProtocolVersion(modern))
	defer c.Close()
	heard := make(chan string, 16)
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if uri, ok := n.Params.AdditionalFields["uri"].(string); ok {
			heard <- n.Method + " " + uri
		}
	})
	require.NoError(t, c.Start(t.Context()))
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = c.Listen(ctx, mcp.SubscriptionFilter{ResourceSubscriptions: []string{MyAgents}})
	}()
	late := time.After(30 * time.Second)
	for i, told := 0, false; !told; i++ { // until the stream is open, what happens is not told
		r.make(t, "default", "ada", fmt.Sprint("n", i))
		select {
		case n := <-heard:
			if told = true; n != "notifications/resources/updated "+MyAgents {
				t.Errorf("heard %q", n)
			}
		case <-late:
			t.Fatal("nothing was heard")
		case <-time.After(20 * time.Millisecond):
		}
	}
	stop()
	<-over
}

func TestTwoUsersOneName(t *testing.T) {
	r := serve(t, "", Options{})
	r.make(t, "t", "ada", "counter")
	ask := func(who, user string) reply {
		return r.call(t, who, "ask_agent", map[string]any{"agent_uri": "counter", "tenant_id": "t", "prompt": "x", "user_id": user})
	}
	for _, got := range []reply{ask("", ""), ask("", "ada"), ask("t/ada", "")} {
		if !got.Result.IsError || !strings.Contains(got.raw, "user/ada/counter") {
			t.Errorf("%s", got.raw)
		}
	}
	if got := ask("", "bob"); got.Error == nil || got.Error.Data["kind"] != "agent_not_found" {
		t.Error(got.raw)
	}
	r.make(t, "t", "bob", "counter")
	if got := ask("", ""); got.Error == nil || got.Error.Data["field"] != "agent_uri" || !strings.Contains(got.Error.Message, "several users") {
		t.Error(got.raw)
	}
	assert.Contains(t, ask("", "bob").raw, "user/bob/counter")
}

func TestOneTenantCannotFillTheDatabase(t *testing.T) {
	r := serve(t, "", Options{})
	for i := range maxAgents {
		a := &Agent{User: "u", Name: fmt.Sprint("n", i), Description: "d", OutputSchema: json.RawMessage(`{}`)}
		require.NoError(t, r.insert(context.Background(), "t", a.setNames()))
	}
	got := r.call(t, "", "create_agent", map[string]any{"tenant_id": "t", "user_id": "v", "agent_name": "x", "description": "d", "output_schema": anySchema})
	if got.Error == nil || got.Error.Data["field"] != "agent_name" || !strings.Contains(got.Error.Message, "may have no more") {
		t.Error(got.raw)
	}
	r.make(t, "other", "v", "x")
}

// The agents that come with the server are listed with the other names by which they can be asked.
func TestT6_SystemAgentsHaveOtherNames(t *testing.T) {
	r := serve(t, "", Options{})
	got := r.read(t, "t", "system-agents://list")
	if len(got.Result.Contents) != 1 {
		t.Fatal(got.raw)
	}
	var all []*Agent
	require.NoError(t, json.Unmarshal([]byte(got.Result.Contents[0].Text), &all))
	for _, a := range all {
		if a.FullName != "system/"+a.Name || !slices.Contains(a.Aliases, "percolate-"+a.Name) {
			t.Errorf("%s is also called %q", a.FullName, a.Aliases)
		}
	}
}

// While another process writes, a new agent cannot be kept; the answer says that it is worth trying again.
func TestT4_ABusyStoreIsWorthAnotherTry(t *testing.T) {
	pgtest.SQLite(t)
	path := filepath.Join(t.TempDir(), "agent.db")
	r := serve(t, path, Options{Lookup: noTools})
	r.make(t, "t", "u", "first")
	r.o.DB.SetMaxOpenConns(1)
	if _, err := r.o.DB.Exec(`PRAGMA busy_timeout = 1`); err != nil { // of the one connection, which waits 5 s otherwise
		t.Fatal(err)
	}
	other, err := store.Open(path)
	require.NoError(t, err)
	defer other.Close()
	tx, err := other.Begin()
	require.NoError(t, err)
	args := map[string]any{"tenant_id": "t", "user_id": "u", "agent_name": "second", "description": "x", "output_schema": anySchema}
	got := r.call(t, "", "create_agent", args)
	assert.Contains(t, got.raw, "another process is writing to the store", `"retryAfterMs":1000`)
	require.NoError(t, tx.Rollback())
	r.make(t, "t", "u", "second")
}
