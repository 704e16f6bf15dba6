package delegate

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/agentclient"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// seen is what the router got.
type seen struct {
	path, hops string
	params     string
}

// serve is a delegate whose router answers with this frame, in which $ stands for the request's id.
func serve(t *testing.T, o Options, status int, frame string) (*Delegate, <-chan seen) {
	t.Helper()
	got := make(chan seen, 9)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		e, err := jsonrpc.Scan(raw)
		assert.NoError(t, err)
		got <- seen{r.RequestURI, r.Header.Get("Mcphud-Hops"), string(e.Params)}
		if frame == "" {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.Replace(frame, "$", string(e.ID), 1))
	}))
	u, err := url.Parse(srv.URL)
	require.NoError(t, err)
	o.Router.RouterPort, _ = strconv.Atoi(u.Port())
	d, err := New(o)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, d.Close())
		srv.CloseClientConnections()
		srv.Close()
	})
	return d, got
}

func (d *Delegate) try(ctx context.Context, t *testing.T, args string) (*mcp.CallToolResult, error) {
	t.Helper()
	r := mcp.CallToolRequest{}
	r.Params.Name, r.Params.RawArguments = Tool, json.RawMessage(args)
	require.NoError(t, json.Unmarshal([]byte(args), &r.Params.Arguments))
	return d.Tools()[0].Handler(ctx, r)
}

func TestR15_TheResultIsPassedOn(t *testing.T) {
	waited := false
	d, got := serve(t, Options{
		Hops: func(context.Context) int { return 5 },
		Wait: func(_ context.Context, f func()) { waited = true; f() },
	}, 200, `{"jsonrpc":"2.0","id":$,"result":{"structuredContent":{"n":9007199254740993,"a":[1]},"isError":true,`+
		`"content":[{"type":"text","text":"x","annotations":{"priority":1},"more":1},{"type":"hologram","size":12345678901234567890}],"_meta":{"k":{"n":9007199254740993}}}}`)
	res, err := d.try(t.Context(), t, `{"agent":"b","tool":"add","args":{"a":9007199254740993}}`)
	require.NoError(t, err)
	raw, err := json.Marshal(res)
	const want = `{"_meta":{"k":{"n":9007199254740993}},"content":[{"type":"text","text":"x","annotations":{"priority":1},"more":1},{"type":"hologram","size":12345678901234567890}],` +
		`"isError":true,"structuredContent":{"n":9007199254740993,"a":[1]}}`
	if err != nil || string(raw) != want {
		t.Errorf("%v\n%s\n%s", err, raw, want)
	}
	if s := <-got; s.path != "/mcps/b/mcp" || s.hops != "5" || s.params != `{"arguments":{"a":9007199254740993},"name":"add"}` || !waited {
		t.Errorf("%+v, waited %t", s, waited)
	}
	if _, err := d.try(t.Context(), t, `{"agent":"b","tool":"add","args":null}`); err != nil {
		t.Error(err)
	}
	if s := <-got; s.params != `{"arguments":{},"name":"add"}` {
		t.Errorf("%+v", s)
	}
}

func TestWhatGoesWrongIsToldByTheTool(t *testing.T) {
	const token = "t0p-secret"
	for name, c := range map[string]struct {
		args   string
		status int
		frame  string
		says   []string
		data   string
	}{
		"loop": {
			"", 508, `{"jsonrpc":"2.0","id":$,"error":{"code":-32000,"message":"the request went through too many routers","data":{"kind":"upstream"}}}`,
			[]string{"call_agent through the router at 127.0.0.1:", "b: tools/call: the request went through too many routers (code -32000)", "in a loop"},
			`{"error":{"kind":"RpcError","code":-32000,"message":"the request went through too many routers","data":{"kind":"upstream"},"status":508}}`,
		},
		"forbidden": {
			"", 403, `{"error":"forbidden","detail":"Agent 'a' is not authorized to access agent 'b' with ` + token + `"}`,
			[]string{"403", "not authorized", "allowedTargets"},
			`"kind":"OAuth"`,
		},
		"a name that leads elsewhere": {`{"agent":"../x","tool":"t"}`, 0, "", []string{`"../x" is not a valid agent name`, "letters"}, `"kind":"Usage"`},
		"no content":                  {"", 200, `{"jsonrpc":"2.0","id":$,"result":{}}`, []string{"invalid tool result", "it has no content"}, ""},
		"content of another kind":     {"", 200, `{"jsonrpc":"2.0","id":$,"result":{"content":{}}}`, []string{"is not a list"}, ""},
		"blocks of another kind":      {"", 200, `{"jsonrpc":"2.0","id":$,"result":{"content":[1]}}`, []string{"not an object"}, ""},
		"meta of another kind":        {"", 200, `{"jsonrpc":"2.0","id":$,"result":{"content":[],"_meta":1}}`, []string{"_meta"}, ""},
		"no object":                   {"", 200, `{"jsonrpc":"2.0","id":$,"result":[]}`, []string{"invalid tool result"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.args == "" {
				c.args = `{"agent":"b","tool":"add"}`
			}
			d, _ := serve(t, Options{Router: agentclient.Options{AuthToken: token}}, c.status, c.frame)
			res, err := d.try(t.Context(), t, c.args)
			if err != nil || !res.IsError || len(res.Content) != 1 {
				t.Fatalf("%+v %v", res, err)
			}
			text := res.Content[0].(mcp.TextContent).Text
			for _, says := range c.says {
				assert.Contains(t, text, says)
			}
			if data := string(res.RawStructuredContent); !strings.Contains(data, c.data) || strings.Contains(text+data, token) {
				t.Errorf("%s, %s", text, data)
			}
		})
	}
}

func TestCancelEndsTheInnerCall(t *testing.T) {
	d, got := serve(t, Options{}, 0, "")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := d.try(ctx, t, `{"agent":"b","tool":"sleep"}`)
		done <- err
	}()
	<-got
	cancel()
	assert.ErrorIs(t, <-done, context.Canceled)
}

// An agent that never answers is given up.
func TestAnAgentThatHangsIsGivenUp(t *testing.T) {
	d, _ := serve(t, Options{Timeout: 50 * time.Millisecond}, 0, "")
	res, err := d.try(t.Context(), t, `{"agent":"b","tool":"sleep"}`)
	if err != nil || !res.IsError || !strings.Contains(string(res.RawStructuredContent), `"kind":"Timeout"`) {
		t.Errorf("%+v %v", res, err)
	}
}

func TestARouterThatCannotBe(t *testing.T) {
	if _, err := New(Options{Router: agentclient.Options{RouterHost: "user@host/x"}}); err == nil || !strings.Contains(err.Error(), "call_agent: the router's host") {
		t.Error(err)
	}
}
