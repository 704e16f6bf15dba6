package agentclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/agentclient"
)

// An agent calls a tool of another one through the router, with one POST.
func Example() {
	router := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request, _ := jsonrpc.Scan(body)
		fmt.Println(r.Method, r.URL.Path, request.Method)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(jsonrpc.NewResult(request.ID, []byte(`{"content":[{"type":"text","text":"hello"}]}`)))
	}))
	defer router.Close()
	at, _ := url.Parse(router.URL)
	port, _ := strconv.Atoi(at.Port())

	c, err := agentclient.New(agentclient.Options{RouterHost: at.Hostname(), RouterPort: port})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	result, err := c.CallTool(context.Background(), "demo", "echo", json.RawMessage(`{"message":"hello"}`))
	fmt.Println(string(result), err)
	// Output:
	// POST /mcps/demo/mcp tools/call
	// {"content":[{"type":"text","text":"hello"}]} <nil>
}
