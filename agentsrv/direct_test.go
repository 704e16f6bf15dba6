package agentsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/test/require"
)

// seen is one call of a handler: what it was given, and what it returned.
type seen struct {
	request mcp.CallToolRequest
	values  string // of its context
	result  *mcp.CallToolResult
	err     error
}

// recorder runs each handler once per key, and gives the same outcome again afterwards.
type recorder struct {
	mu    sync.Mutex
	key   string
	first map[string]*seen
	again map[string]*seen
}

func (r *recorder) wrap(e *server.MCPServer, t server.ServerTool) server.ServerTool {
	h := t.Handler
	t.Handler = func(ctx context.Context, q mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		info, err := json.Marshal(server.RequestProtocolInfoFromContext(ctx))
		if err != nil {
			return nil, err
		}
		now := &seen{request: q, values: fmt.Sprintf("%v %s %T %s", server.ServerFromContext(ctx) == e, info, server.ClientSessionFromContext(ctx), front.From(ctx).Method)}
		r.mu.Lock()
		defer r.mu.Unlock()
		if before := r.first[r.key]; before != nil {
			r.again[r.key] = now
			return before.result, before.err
		}
		ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		now.result, now.err = h(ctx, q)
		r.first[r.key] = now
		return now.result, now.err
	}
	return t
}

// TestDirectCallsAreTheSame: every tool gets the same request through the engine and without it, and what it returns
// reaches the client in the same bytes, in both eras.
func TestDirectCallsAreTheSame(t *testing.T) {
	t.Parallel()
	for _, profile := range []Profile{Demo, Everything} {
		t.Run(string(profile), func(t *testing.T) {
			a, cs := serve(t, Options{Profile: profile, RateLimit: -1, TenantConcurrency: -1})
			slow := front.New(front.Options{Engine: a.engine, Use: a.middlewares(func() {})})
			defer slow.Close(context.Background())
			web := httptest.NewServer(slow.Handler())
			defer web.Close()
			r := &recorder{first: map[string]*seen{}, again: map[string]*seen{}}
			tools := a.engine.ListTools()
			for _, tool := range tools {
				a.engine.AddTools(r.wrap(a.engine, *tool))
			}
			compared := 0
			for era, c := range cs {
				through := &client{t: t, url: web.URL + front.Path, modern: c.modern, hc: c.hc}
				if !c.modern {
					through.initialize()
				}
				for name, tool := range tools {
					if name == "test_header_params" && c.modern {
						continue // is refused for any one of the headers that it wants
					}
					for i, params := range paramsFor(t, &tool.Tool) {
						r.mu.Lock()
						r.key = fmt.Sprintf("%s %s %d", era, name, i)
						r.mu.Unlock()
						one, result := answerTo(c, params)
						two, _ := answerTo(through, params)
						hung := name == "test_reconnection" && one == "" // the first time, with the answer kept for a GET
						if one != two && !hung {
							t.Errorf("%s: %s\n%s, through the engine\n%s", era, params, one, two)
						}
						first, again := r.first[r.key], r.again[r.key]
						if first == nil && again == nil { // refused before
							continue
						}
						if first == nil || again == nil || !reflect.DeepEqual(first.request, again.request) || first.values != again.values {
							t.Errorf("%s: %s: the handler got\n%+v, through the engine\n%+v", era, params, first, again)
							continue
						}
						if first.err == nil && !first.result.NeedsInput() {
							want, err := json.Marshal(first.result)
							if err != nil || result != string(want) && !hung {
								t.Errorf("%s: %s: %s is not what the handler returned: %s %v", era, params, one, want, err)
							}
						}
						compared++
					}
				}
			}
			if compared < 4*len(tools) {
				t.Errorf("%d calls of %d tools were compared", compared, len(tools))
			}
		})
	}
}

// paramsFor are calls of a tool, some that fit its schema and some that do not.
func paramsFor(t *testing.T, tool *mcp.Tool) []string {
	t.Helper()
	var schema struct {
		Properties map[string]struct {
			Type any
			Enum []any
		}
		Required []string
	}
	raw := []byte(tool.RawInputSchema)
	if raw == nil {
		raw, _ = json.Marshal(tool.InputSchema)
	}
	require.NoError(t, json.Unmarshal(raw, &schema))
	fill := map[string]any{"string": "a <b>&\u2028 \U0001f642", "number": 1.5, "integer": 1, "boolean": true, "array": []any{}, "object": map[string]any{}}
	required, all := map[string]any{}, map[string]any{}
	for name, p := range schema.Properties {
		if all[name] = fill[fmt.Sprint(p.Type)]; len(p.Enum) > 0 {
			all[name] = p.Enum[0]
		}
	}
	for _, name := range schema.Required {
		required[name] = all[name]
	}
	out := []string{fmt.Sprintf(`{"name":%q}`, tool.Name), fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool.Name)}
	for _, args := range []map[string]any{required, all} {
		raw, err := json.Marshal(args)
		require.NoError(t, err)
		out = append(out, fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool.Name, raw), fmt.Sprintf(`{"arguments":%s,"name":%q,"_meta":{"progressToken":7,"x":1}}`, raw, tool.Name))
	}
	return out
}

// answerTo is the answer to one call, "" where the stream ended without one, and its result.
func answerTo(c *client, params string) (whole, result string) {
	c.t.Helper()
	c.id.Store(100)
	res := c.do(context.Background(), "tools/call", params)
	defer res.Body.Close()
	ms := read(c.t, res)
	if len(ms) == 0 || ms[len(ms)-1].ID == nil {
		return "", ""
	}
	m := ms[len(ms)-1]
	return fmt.Sprintf("%s %s %+v", m.ID, m.Result, m.Error), string(m.Result)
}
