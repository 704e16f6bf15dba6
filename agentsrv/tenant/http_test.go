package tenant

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// serve is the front with a tool that says whose tenant it sees, and one that waits.
func serve(t *testing.T, a Auth, o Options) (url string, begun <-chan struct{}, release func()) {
	t.Helper()
	started, end := make(chan struct{}), make(chan struct{})
	e := server.NewMCPServer("fixture", "1", append(front.EngineOptions(), server.WithToolCapabilities(true))...)
	e.AddTools(
		kit.Tool("whose", "", "", kit.ReadOnly, func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("tenant " + kit.TenantOf(ctx)), nil
		}, `{"type":"object"}`, ""),
		kit.Tool("wait", "", "", kit.ReadOnly, func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			started <- struct{}{}
			<-end
			return mcp.NewToolResultText("waited"), nil
		}, `{"type":"object"}`, ""),
	)
	made := tenants(t, o)
	f := front.New(front.Options{
		Engine: e, Authenticate: authenticator(t, a).Identify,
		Use: []front.Middleware{made.Middleware(), made.Slots()},
	})
	web := httptest.NewServer(f.Handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		assert.NoError(t, f.Close(ctx))
		web.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return web.URL + front.Path, started, func() { close(end) }
}

// answer is one response.
type answer struct {
	status int
	header http.Header
	body   string
	Error  struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

func post(t *testing.T, url, tool, args, token string, modern bool) (a answer) {
	t.Helper()
	meta := ""
	if modern {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, tool, args, meta)))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if modern {
		r.Header.Set("MCP-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", tool)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	a.status, a.header, a.body = res.StatusCode, res.Header, string(raw)
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return a
}

func (a answer) is(t *testing.T, status, code int, kind, message string) {
	t.Helper()
	if a.status != status || a.Error.Code != code || a.Error.Message != message || a.Error.Data["kind"] != kind {
		t.Errorf("%d %s; want %d, %d %s %q", a.status, a.body, status, code, kind, message)
	}
	if code <= -31000 && code >= -31003 && a.Error.Data["legacyCode"] != float64(code-1000) {
		t.Errorf("%s: no legacyCode", a.body)
	}
}

func TestX3_E8_E19_101CallsOverHTTP(t *testing.T) {
	for _, modern := range []bool{false, true} {
		url, _, _ := serve(t, Auth{}, Options{AutoCreate: true, Limits: Limits{PerMinute: 100, Concurrent: 10}})
		for i := range 100 {
			if a := post(t, url, "whose", `{"tenant_id":"acme"}`, "", modern); a.status != 200 || !strings.Contains(a.body, "tenant acme") {
				t.Fatalf("call %d: %d %s", i+1, a.status, a.body)
			}
		}
		code := map[bool]int{false: -32002, true: -31002}[modern]
		a := post(t, url, "whose", `{"tenant_id":"acme"}`, "", modern)
		a.is(t, 200, code, "rate_limited", "Rate limit exceeded")
		ms, _ := a.Error.Data["retryAfterMs"].(float64)
		seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
		if err != nil || ms < 1 || ms > 61_000 || seconds < 1 || float64(seconds)*1000 < ms {
			t.Errorf("retryAfterMs %v, Retry-After %q", ms, a.header.Get("Retry-After"))
		}
		assert.Contains(t, post(t, url, "whose", `{"tenant_id":"other"}`, "", modern).body, "tenant other")
	}
}

func TestX3_TheEleventhOverHTTP(t *testing.T) {
	url, begun, release := serve(t, Auth{}, Options{AutoCreate: true, Limits: Limits{Concurrent: 10}})
	done := make(chan answer, 10)
	for range 10 {
		go func() { done <- post(t, url, "wait", `{}`, "", false) }()
		<-begun
	}
	a := post(t, url, "wait", `{}`, "", false)
	a.is(t, 200, -32002, "rate_limited", "Rate limit exceeded")
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	assert.Contains(t, post(t, url, "whose", `{"tenant_id":"other"}`, "", false).body, "tenant other")
	release()
	for range 10 {
		if a := <-done; !strings.Contains(a.body, "waited") {
			t.Error(a.body)
		}
	}
	assert.Contains(t, post(t, url, "whose", `{}`, "", false).body, "tenant default")
}

func TestX2_E8_TenantNotFoundOverHTTP(t *testing.T) {
	url, _, _ := serve(t, Auth{}, Options{Known: []string{"a"}})
	post(t, url, "whose", `{"tenant_id":"ghost"}`, "", false).is(t, 200, -32000, "tenant_not_found", "Tenant not found")
	post(t, url, "whose", `{"tenant_id":"ghost"}`, "", true).is(t, 200, -31000, "tenant_not_found", "Tenant not found")
	assert.Contains(t, post(t, url, "whose", `{"tenant_id":"a"}`, "", false).body, "tenant a")
}

func TestA9_X10_TokensOverHTTP(t *testing.T) {
	url, _, _ := serve(t, Auth{Token: "s3cret-token"}, Options{})
	if a := post(t, url, "whose", `{}`, "", false); a.status != 401 || a.header.Get("WWW-Authenticate") != "Bearer" || a.Error.Data["kind"] != "unauthorized" {
		t.Errorf("no token: %+v", a)
	}
	if a := post(t, url, "whose", `{}`, "wrong", true); a.status != 401 || a.header.Get("WWW-Authenticate") != `Bearer error="invalid_token", error_description="the bearer token is not accepted"` || a.Error.Data["kind"] != "unauthorized" {
		t.Errorf("wrong token: %+v", a)
	}
	if a := post(t, url, "whose", `{}`, "s3cret-token", false); a.status != 200 || !strings.Contains(a.body, "tenant default") {
		t.Errorf("right token: %+v", a)
	}
}
