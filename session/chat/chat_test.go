package chat

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// An API elsewhere is asked through the proxy of the environment, one on this machine never is.
func TestProxyOfTheEnvironment(t *testing.T) {
	const answer = `{"model":"m","choices":[{"message":{"role":"assistant","content":"hello"}}]}`
	var asked atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Host != "model.example" {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(proxy.Close)
	near := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	t.Cleanup(near.Close)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"} {
		t.Setenv(name, "")
	}
	t.Setenv("ALL_PROXY", proxy.URL)
	for url, through := range map[string]int64{"http://model.example/v1": 1, near.URL + "/v1": 0} {
		c := New(Model{URL: url, Name: "m"})
		before := asked.Load()
		turn, _, err := c.Complete(t.Context(), Request{Messages: []Message{Says("user", "hi")}}, nil)
		c.Close()
		if err != nil || turn.Content == nil || *turn.Content != "hello" {
			t.Fatalf("%s: %+v, %v", url, turn, err)
		}
		if asked.Load()-before != through {
			t.Errorf("%s: %d requests at the proxy, want %d", url, asked.Load()-before, through)
		}
	}
}
