package proxy

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/test/budget"
)

// policed is everything around a call but its way to the agent: token, route, limits, counts and the audit log.
func policed(t testing.TB) func() {
	a := newAgent(t)
	f := start(t, Options{
		Audit: audit.Options{File: filepath.Join(t.TempDir(), "audit.jsonl")}, Tokens: tokens(t, token("one", "alpha", `["a"]`), token("two", "beta", `["*"]`)),
	}, route("a", a.at(), `"rateLimit":1000000000,"tools":["echo"]`))
	target := f.target("a", nil)
	t.Cleanup(target.Release)
	inner := flow.Chain(func(c *flow.Call) { c.Status, c.Sent, c.Upstream = 200, 100, time.Millisecond }, f.policy.inner()...)
	chain := flow.Chain(func(c *flow.Call) {
		c.Body = []byte(callEcho)
		var err error
		if c.Env, err = ingress.Scan(c.Body); err != nil {
			t.Fatal(err)
		}
		if c.Params, err = ingress.Inspect(c.Env.Method, c.Env.Params); err != nil {
			t.Fatal(err)
		}
		c.Route = target.Route
		inner(c)
	}, f.policy.outer()...)
	r := httptest.NewRequest("POST", "/mcps/a/mcp", strings.NewReader(callEcho))
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set("Authorization", "Bearer one")
	r.Header.Set("Mcp-Session-Id", "0198aaaa-bbbb-4ccc-8ddd-eeeeffff0000")
	w := httptest.NewRecorder()
	return func() {
		c := &flow.Call{Request: flow.Request{W: w, R: r, Began: time.Now(), Agent: "a"}}
		chain(c)
		if c.Status != 200 {
			t.Fatalf("%d %+v", c.Status, c.Failure)
		}
	}
}

func BenchmarkPolicy(b *testing.B) {
	call := policed(b)
	b.ReportAllocs()
	for b.Loop() {
		call()
	}
}

func TestBudgetPolicy(t *testing.T) {
	budget.Skip(t)
	call := policed(t)
	const calls = 20_000
	took := budget.Best(func() time.Duration {
		began := time.Now()
		for range calls {
			call()
		}
		return time.Since(began)
	}) / calls
	budget.Ceiling(t, "token, limits, counts and audit of a request", took, 12*time.Microsecond)
}
