package proxy

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// The page of a task is beside the agent's endpoint, and beside the router's.
func TestQ6_TaskPages(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	hang := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.RequestURI+" "+r.Header.Get("Authorization")+r.Header.Get("Cookie")+r.Header.Get("Mcp-Session-Id"))
		mu.Unlock()
		switch r.URL.Query().Get("taskId") {
		case "hang":
			<-hang
		case "gone":
			w.WriteHeader(404)
			_, _ = w.Write([]byte(`{"error":"task_not_found"}`))
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"taskId":"t 1&x","status":"running"}`))
		}
	}))
	t.Cleanup(func() { close(hang); up.Close() })
	f := start(t, Options{}, route("a", up.URL+"/mcp", `"timeout":"2s"`), route("deep", up.URL+"/base/x/mcp?key=1", ""),
		route("off", up.URL+"/mcp", `"disabled":true`), `"process":{"command":"cat"}`)

	for _, path := range []string{"/mcps/a/task", "/mcp/a/task", "/agent/a/task", "/mcps/deep/task"} {
		got := f.send(t, "GET", path+"?taskId=t%201%26x&other=1", "", "Authorization", "Bearer no", "Cookie", "no", "Mcp-Session-Id", "no")
		if got.status != 200 || got.body != `{"taskId":"t 1&x","status":"running"}` || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %+v", path, got)
		}
	}
	want := "GET /task?taskId=t+1%26x "
	mu.Lock()
	if got := strings.Join(asked, "\n"); got != strings.Repeat(want+"\n", 3)+"GET /base/x/task?key=1&taskId=t+1%26x " {
		t.Errorf("the agent was asked\n%s", got)
	}
	asked = nil
	mu.Unlock()

	for _, c := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "/mcps/a/task", 400, "invalid_request"},
		{"GET", "/mcps/ghost/task?taskId=1", 404, "Agent 'ghost' not found"},
		{"GET", "/mcps/off/task?taskId=1", 404, "Agent 'off' not found"},
		{"GET", "/mcps/process/task?taskId=1", 404, "task_not_found"},
		{"POST", "/mcps/a/task?taskId=1", 405, "method_not_allowed"},
		{"DELETE", "/mcps/a/task?taskId=1", 405, "method_not_allowed"},
		{"GET", "/mcps/a/task/?taskId=1", 404, "not_found"},
		{"GET", "/mcps/a/x/task?taskId=1", 404, "not_found"},
		{"GET", "/mcps/a/tasks?taskId=1", 404, "not_found"},
	} {
		if got := f.send(t, c.method, c.path, ""); got.status != c.status || !strings.Contains(got.body, c.says) {
			t.Errorf("%s %s: %+v", c.method, c.path, got)
		}
	}
	mu.Lock()
	if len(asked) > 0 {
		t.Errorf("the agent was asked %q", asked)
	}
	mu.Unlock()
	if got := f.send(t, "GET", "/mcps/a/task?taskId=gone", ""); got.status != 404 || got.body != `{"error":"task_not_found"}` {
		t.Errorf("%+v", got)
	}
	if got := f.send(t, "GET", "/mcps/a/task?taskId=hang", ""); got.status != 504 {
		t.Errorf("%+v", got)
	}
}
