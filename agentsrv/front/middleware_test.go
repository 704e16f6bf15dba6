package front

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

func TestMiddlewares(t *testing.T) {
	var mu sync.Mutex
	var trail []string
	note := func(name string) Middleware {
		return func(next Next) Next {
			return func(ctx context.Context, x *Exchange) (json.RawMessage, error) {
				mu.Lock()
				trail = append(trail, name+" "+x.Method)
				mu.Unlock()
				if From(ctx) != x || kit.Caller(ctx).Session != x.sessionName() || x.Header == nil {
					t.Errorf("%s: the context does not carry the exchange", name)
				}
				switch x.Method {
				case "test/panic":
					panic("secret")
				case "test/exact":
					return nil, fmt.Errorf("wrapped: %w", &jsonrpc.Error{Code: 4711, Message: "exact", Data: json.RawMessage(`{"a":1.0}`)})
				case "test/plain":
					return nil, errors.New("secret")
				case "test/own":
					return json.RawMessage("{\n\"big\":9007199254740993,\r\n \"z\":1.0}"), nil
				case "test/twice": // two requests in one, with the client's own stream
					var out []json.RawMessage
					for _, name := range []string{"echo", "notify"} {
						inner := NewExchange(x, []byte(`"inner"`), "tools/call", fmt.Appendf(nil, `{"name":%q,"arguments":{"n":2},"_meta":{"progressToken":9}}`, name))
						raw, err := next(WithExchange(ctx, inner), inner)
						if err != nil {
							return nil, err
						}
						out = append(out, raw)
					}
					return json.Marshal(map[string]any{"results": out})
				}
				return next(ctx, x)
			}
		}
	}
	f := start(t, func(o *Options) { o.Use = []Middleware{note("outer"), note("inner")} })
	s := f.login(t, "2025-06-18", "{}")
	trail = nil
	request := func(method string) string { return `{"jsonrpc":"2.0","id":"é","method":"` + method + `"}` }
	expect(t, f.post(t, request("test/panic"), s...), 200, -32603, "internal", "internal error")
	if e := expect(t, f.post(t, request("test/plain"), s...), 200, -32603, "internal", "internal error"); strings.Contains(e.Error.Message, "secret") {
		t.Error(e)
	}
	if g := f.post(t, request("test/exact"), s...); g.body != `{"jsonrpc":"2.0","id":"é","error":{"code":4711,"message":"exact","data":{"a":1.0}}}` {
		t.Errorf("%+v", g)
	}
	if g := f.post(t, request("test/own"), s...); g.body != `{"jsonrpc":"2.0","id":"é","result":{"big":9007199254740993,"z":1.0}}` {
		t.Errorf("%+v", g)
	}
	g := f.post(t, request("test/twice"), s...)
	if strings.Count(g.body, "notifications/progress") != 2 || strings.Count(g.body, `"id":"é"`) != 1 || strings.Contains(g.body, "inner") || !strings.Contains(g.body, `{\\\"n\\\":2}`) && !strings.Contains(g.body, `{\"n\":2}`) {
		t.Errorf("%+v", g)
	}
	f.post(t, request("ping"), s...)
	if len(trail) < 2 || trail[len(trail)-2] != "outer ping" || trail[len(trail)-1] != "inner ping" {
		t.Error(trail)
	}
}

func TestWaitingGivesUpTheSlot(t *testing.T) {
	x := &Exchange{}
	ran, around := 0, 0
	x.Waiting(func() { ran++ })
	x.OnWait(func(f func()) { around++; f(); around++ })
	x.Waiting(func() { ran++ })
	if ran != 2 || around != 2 {
		t.Error(ran, around)
	}
}

func TestDetachOutlivesTheRequest(t *testing.T) {
	results := make(chan error, 2)
	release := make(chan struct{})
	f := start(t, func(o *Options) {
		o.Use = []Middleware{func(next Next) Next {
			return func(ctx context.Context, x *Exchange) (json.RawMessage, error) {
				if x.Method != "test/detach" {
					return next(ctx, x)
				}
				free := x.Detach(ctx)
				go func() {
					<-release
					results <- free.Err()
					results <- kit.Notify(free, "notifications/late", nil)
				}()
				return json.RawMessage(`{}`), nil
			}
		}}
	})
	if g := f.post(t, `{"jsonrpc":"2.0","id":1,"method":"test/detach"}`); g.body != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("%+v", g)
	}
	close(release)
	if err := <-results; err != nil {
		t.Error("its context ended with the request:", err)
	}
	if err := <-results; !errors.Is(err, ErrOver) {
		t.Error("a notification after the answer:", err)
	}
}

func TestRoutes(t *testing.T) {
	text := func(s string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, s, kit.Caller(r.Context()).Principal) })
	}
	f := start(t, func(o *Options) {
		o.Routes = map[string]http.Handler{"/queue": text("queue of ")}
		o.Public = map[string]http.Handler{"/health": text("ok")}
		o.Authenticate = func(r *http.Request) (kit.Identity, error) {
			if r.Header.Get("Authorization") == "" {
				return kit.Identity{}, errors.New("no token")
			}
			return kit.Identity{Principal: "alice"}, nil
		}
	})
	base := strings.TrimSuffix(f.url, Path)
	for _, c := range []struct {
		path, token string
		status      int
		body        string
	}{{"/health", "", 200, "ok"}, {"/queue", "", 401, ""}, {"/queue", "x", 200, "queue of alice"}, {"/nothing", "x", 404, "MCP is served at /mcp"}} {
		f.url = base + c.path
		if g := f.do(t, http.MethodGet, "", "Authorization", c.token); g.status != c.status || !strings.Contains(g.body, c.body) {
			t.Errorf("%s: %+v", c.path, g)
		}
	}
}
