package entity

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/check/checktest"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// dial is a client of a server that has the graph's tool.
func dial(t *testing.T, g *Graph) *client.Client {
	t.Helper()
	s := server.NewMCPServer("test", "1", server.WithToolCapabilities(true))
	s.AddTools(g.Tools()...)
	c, err := client.NewInProcessClient(s)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.Start(context.Background()))
	if _, err := c.Initialize(context.Background(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	return c
}

func call(t *testing.T, c *client.Client, args map[string]any) (text string, isError bool) {
	t.Helper()
	var r mcp.CallToolRequest
	r.Params.Name, r.Params.Arguments = "lookup_entity", args
	res, err := c.CallTool(context.Background(), r)
	require.NoError(t, err)
	text = res.Content[0].(mcp.TextContent).Text
	structured, err := json.Marshal(res.StructuredContent)
	require.NoError(t, err)
	var a, b any
	if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal(structured, &b) != nil || !equal(a, b) {
		t.Errorf("text and structuredContent differ: %s, %s", text, structured)
	}
	return text, res.IsError
}

func equal(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func TestT5_LookupEntity(t *testing.T) {
	c := dial(t, graph(t, ""))
	type result struct {
		Status string
		Entity struct {
			ID, Type, Name string
			Properties     map[string]any
		}
		Related []Related
		Match   struct{ By string }
	}
	for query, by := range map[string]string{"service-express": "id", "Express Shipping": "name", "expres shiping": "fuzzy"} {
		text, isError := call(t, c, map[string]any{"entity_type": "service", "query": query, "tenant_id": "t"})
		var r result
		if err := json.Unmarshal([]byte(text), &r); err != nil || isError || r.Status != "success" {
			t.Fatalf("%q: %s %v", query, text, err)
		}
		if r.Entity.ID != "service-express" || r.Entity.Type != "service" || r.Entity.Name != "Express Shipping" ||
			r.Entity.Properties["sla"] != "next-day" || r.Match.By != by || r.Related == nil || len(r.Related) != 0 {
			t.Errorf("%q: %s", query, text)
		}
	}
	text, _ := call(t, c, map[string]any{"entity_type": "Service", "query": "service-express", "tenant_id": "t", "include_related": true})
	var r result
	if err := json.Unmarshal([]byte(text), &r); err != nil || len(r.Related) < 3 {
		t.Fatalf("%s %v", text, err)
	}
	want := map[string]bool{"offered_by out carrier-quayside-express": true, "variant_of in service-express-morning": true, "tracked_by out system-beacon": true}
	for _, x := range r.Related {
		delete(want, x.Relation+" "+x.Direction+" "+x.ID)
	}
	if len(want) > 0 {
		t.Errorf("not related: %v in %s", want, text)
	}
}

func TestT5_NotFoundNamesTheNearest(t *testing.T) {
	c := dial(t, graph(t, ""))
	for _, x := range []struct{ typ, query, want string }{
		{"carrier", "Boreal Weather Institute", "Borealis Haulage"},
		{"carrier", "qqqq", `no carrier is called`},
		{"spaceship", "Enterprise", "the types are carrier, customer, incident, person, place, service, system, team, vehicle"},
	} {
		text, isError := call(t, c, map[string]any{"entity_type": x.typ, "query": x.query, "tenant_id": "t"})
		if !isError || !strings.Contains(text, x.want) || !strings.Contains(text, `"status":"not_found"`) {
			t.Errorf("%s %s: %s", x.typ, x.query, text)
		}
	}
}

func TestX1_LookupEntityKeepsTenantsApart(t *testing.T) {
	g := graph(t, "")
	c := dial(t, g)
	if _, err := g.Import(context.Background(), "a", strings.NewReader(
		`{"id":"s1","type":"secret","name":"Crown Jewels"}`+"\n"+`{"id":"zz","type":"service","name":"Zyzzyva Hidden","related":[{"relation":"uses","id":"system-beacon"}]}`)); err != nil {
		t.Fatal(err)
	}
	ask := func(tenant, typ, query string) string {
		text, _ := call(t, c, map[string]any{"entity_type": typ, "query": query, "tenant_id": tenant, "include_related": true})
		return text
	}
	assert.Contains(t, ask("a", "secret", "crown jewels"), `"s1"`)
	for _, x := range []struct{ typ, there, nowhere string }{
		{"secret", "Crown Jewels", "Blown Gewels"},
		{"secret", "s1", "s9"},
		{"service", "Zyzzyva Hidden", "Qyqqyva Qidden"},
		{"service", "zz", "zq"},
	} {
		for _, tenant := range []string{"b", "default"} {
			there, nowhere := ask(tenant, x.typ, x.there), ask(tenant, x.typ, x.nowhere)
			if strings.ReplaceAll(there, x.there, "?") != strings.ReplaceAll(nowhere, x.nowhere, "?") {
				t.Errorf("tenant %s can tell:\n%s\n%s", tenant, there, nowhere)
			}
		}
	}
	assert.NotContains(t, ask("b", "system", "system-beacon"), "zz", "Zyzzyva")
}

func TestLookupEntityRefusesBadArguments(t *testing.T) {
	g := graph(t, "")
	for field, args := range map[string]string{
		"entity_type": `{"entity_type":" ","query":"x","tenant_id":"t"}`,
		"query":       `{"entity_type":"service","query":"` + strings.Repeat("x", 1001) + `","tenant_id":"t"}`,
		"tenant_id":   `{"entity_type":"service","query":"x"}`,
	} {
		_, err := checktest.Call(t, g.Tools()[0], args)
		f, ok := jsonrpc.AsRequestError(err)
		if !ok || f.Kind != jsonrpc.KindInvalidParams || f.Data["field"] != field || f.Data["reason"] == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
	_, err := g.lookup(kit.WithCaller(context.Background(), kit.Identity{Tenant: "a"}), mcp.CallToolRequest{}, lookupArgs{Type: "service", Query: "express", Tenant: "b"})
	if f, ok := jsonrpc.AsRequestError(err); !ok || f.Kind != jsonrpc.KindTenantNotFound {
		t.Errorf("a token for a reads b: %v", err)
	}
}
