package agentsrv

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

func TestP4_InitializedIsAcceptedOnce(t *testing.T) {
	_, cs := serve(t, Options{})
	c := cs["legacy"]
	res := c.post(context.Background(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusAccepted || len(body) != 0 {
		t.Errorf("%s %q %v", res.Status, body, err)
	}
	if r := c.call("echo", `{"message":"there"}`); r.Content[0].Text != "there" {
		t.Errorf("%+v", r)
	}
}

// Calls are answered side by side where the queue lets them run, each with its own id and text.
// A client that takes JSON only, or says nothing of what it takes, gets the result of a call that reports on the way.
func TestP9_NoStreamForThoseWhoTakeNone(t *testing.T) {
	a, _ := serve(t, Options{RateLimit: -1})
	for _, accept := range []string{"", "application/json"} {
		for tool, args := range map[string]string{
			"sleep": `{"seconds":0.01,"steps":2}`, "log": `{}`, "ask_agent_stream": `{"agent_uri":"researcher","tenant_id":"t","prompt":"exit codes"}`,
		} {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":1}}}`, tool, args)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL(), strings.NewReader(body))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			if accept != "" {
				r.Header.Set("Accept", accept)
			}
			res, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			ms := read(t, res)
			_ = res.Body.Close()
			if len(ms) != 1 || ms[0].Error != nil || ms[0].Result == nil || res.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s with Accept %q: %+v", tool, accept, ms)
			}
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestF5_ManyRequestsAtOnce(t *testing.T) {
	t.Parallel()
	_, cs := serve(t, Options{Concurrency: 8, RateLimit: -1, TenantConcurrency: -1})
	for era, c := range cs {
		t.Run(era, func(t *testing.T) {
			var wg sync.WaitGroup
			began := time.Now()
			for i := range 8 {
				wg.Go(func() {
					text := fmt.Sprintf("number %d", i)
					m, _ := c.roundTrip("tools/call", fmt.Sprintf(`{"name":"echo","arguments":{"message":%q}}`, text))
					if !strings.Contains(string(m.Result), text) {
						t.Errorf("%s got %s %v", text, m.Result, m.Error)
					}
					c.roundTrip("tools/call", `{"name":"sleep","arguments":{"seconds":1.5,"steps":1}}`)
				})
			}
			wg.Wait()
			// One after the other the sleeps alone would take 12 s.
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("8 calls at a time took %v", took)
			}
		})
	}
}

// The limits of the queue and of tenants hold from outside: what is beyond them is refused, and the rest is served.
func TestA8_QueueAndConcurrencyAreBounded(t *testing.T) {
	t.Parallel()
	_, cs := serve(t, Options{QueueCapacity: 2, RateLimit: -1, TenantConcurrency: -1})
	c := cs["modern"]
	var wg sync.WaitGroup
	var mu sync.Mutex
	refused, served := 0, 0
	for range 12 {
		wg.Go(func() {
			m, _ := c.roundTrip("tools/call", `{"name":"sleep","arguments":{"seconds":0.5,"steps":1}}`)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case m.Error == nil:
				served++
			case m.Error.Code == -31002 && m.Error.Message == "Task queue at capacity":
				refused++
			default:
				t.Errorf("%+v", m.Error)
			}
		})
	}
	wg.Wait()
	if served < 3 || refused < 1 || served+refused != 12 {
		t.Errorf("%d served, %d refused", served, refused)
	}
	if r := c.call("echo", `{"message":"after"}`); r.IsError {
		t.Errorf("%+v", r)
	}
}

// A URI that would send a backtracking matcher astray is answered at once, whatever the templates are.
func TestD2_HostileURIsAreAnsweredAtOnce(t *testing.T) {
	bothEras(t, func(t *testing.T, c *client) {
		for _, uri := range []string{
			"demo://note/" + strings.Repeat("a,", 10_000) + "!",
			"resource://kb/" + strings.Repeat("/", 20_000) + "?line=x",
			"bytes://" + strings.Repeat("1", 10_000) + "/" + strings.Repeat("2", 10_000) + "?offset=",
			"agentlet://" + strings.Repeat("%2F", 10_000),
		} {
			limit := time.Second // 100 ms on a machine that has nothing else to do
			if budget.Race() {
				limit *= 5 // the matcher is as much slower
			}
			if took := budget.Median(func() { c.roundTrip("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)) }); took > limit {
				t.Errorf("%.20s… took %v", uri, took)
			}
		}
	})
}

// Without a session nobody can be told of changes, so that a subscription is refused instead of forgotten.
func TestP6_SubscribingNeedsASession(t *testing.T) {
	a, cs := serve(t, Options{})
	alone := &client{t: t, url: a.URL(), hc: cs["legacy"].hc}
	m, _ := alone.roundTrip("resources/subscribe", `{"uri":"my-agents://list"}`)
	if m.Error == nil || m.Error.Code != -32000 || !strings.Contains(m.Error.Message, "needs a session") {
		t.Errorf("%s %+v", m.Result, m.Error)
	}
	if res := alone.do(context.Background(), "resources/subscribe", `{"uri":"my-agents://list"}`); res.StatusCode != http.StatusBadRequest {
		t.Error(res.Status)
	} else {
		_ = res.Body.Close()
	}
	if m, _ = cs["legacy"].roundTrip("resources/subscribe", `{"uri":"my-agents://list"}`); m.Error != nil {
		t.Errorf("in a session: %+v", m.Error)
	}
}
