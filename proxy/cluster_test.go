package proxy

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mcphud/mcphud/proxy/cluster"
	"github.com/mcphud/mcphud/proxy/policy/breaker"
	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// sharing is a router that shares its state with the others at a server.
func sharing(t *testing.T, s *natstest.Server, l *faketest.Buffer, o Options, routes ...string) *fixture {
	t.Helper()
	c, err := cluster.Open(t.Context(), natsconn.Options{URL: s.URL, Logger: logTo(l)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	o.Cluster, o.Logger = c, logTo(l)
	return start(t, o, routes...)
}

// together waits until two routers know of each other.
func together(t *testing.T, fs ...*fixture) {
	t.Helper()
	require.Eventually(t, "the routers to know of each other", func() bool {
		for _, f := range fs {
			if s := f.Status().Cluster; !s.Up || s.Routers != len(fs) {
				return false
			}
		}
		return true
	})
}

// A limit holds across routers, but for what they could not yet have heard of each other: one in twenty of it for each further router,
// and what is admitted while a message is on its way.
func TestLimitsHoldAcrossRouters(t *testing.T) {
	t.Parallel()
	s, a := natstest.Run(t), named(t, "a")
	var l faketest.Buffer
	const limit, attempts = 200, 10
	var all []string
	for i := range attempts {
		all = append(all, route(fmt.Sprint("a", i), a.at(), `"rateLimit":200`))
	}
	one, two := sharing(t, s, &l, Options{}, all...), sharing(t, s, &l, Options{}, all...)
	together(t, one, two)
	// A client that takes turns: each router has heard of what the other admitted soon after. On a busy machine that may be late.
	admitted := 0
	for i := range attempts {
		admitted = 0
		path := fmt.Sprintf("/mcps/a%d/mcp", i)
		for i := range 2 * limit {
			switch got := []*fixture{one, two}[i%2].post(t, path, callEcho); {
			case strings.Contains(got.body, `"by"`):
				admitted++
			case !strings.Contains(got.body, "Rate limit exceeded"):
				t.Fatalf("%+v", got)
			}
		}
		if admitted <= limit*5/4 {
			break
		}
	}
	// Ten requests that the other was not told of, and a few that are on their way.
	if admitted < limit || admitted > limit*5/4 {
		t.Errorf("%d of %d requests were admitted where %d a minute are allowed", admitted, 2*limit, limit)
	}
}

// What is admitted at once everywhere, before any message can arrive, is bounded by the limit of each router by itself, and nobody
// gets less than the limit.
func TestLimitsInABurst(t *testing.T) {
	t.Parallel()
	s, a := natstest.Run(t), named(t, "a")
	var l faketest.Buffer
	const limit = 100
	r := route("a", a.at(), `"rateLimit":100`)
	fs := []*fixture{sharing(t, s, &l, Options{}, r), sharing(t, s, &l, Options{}, r)}
	together(t, fs...)
	var admitted atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				if got := fs[i%2].modern(t); strings.Contains(got.body, `"by"`) {
					admitted.Add(1)
				}
			}
		})
	}
	all.Wait()
	if n := admitted.Load(); n < limit || n > 2*limit {
		t.Errorf("%d admitted where %d are allowed", n, limit)
	}
	t.Logf("%d admitted, %d allowed", admitted.Load(), limit)
	for _, f := range fs { // both know by now
		require.Eventually(t, "the limit to hold everywhere", func() bool { return strings.Contains(f.modern(t).body, "Rate limit exceeded") })
	}
}

func TestBreakersOpenAndCloseTogether(t *testing.T) {
	t.Parallel()
	s, a := natstest.Run(t), named(t, "a")
	var l faketest.Buffer
	var down atomic.Bool
	front := a.Config.Handler
	a.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		front.ServeHTTP(w, r)
	})
	o := Options{Breaker: breaker.Options{Failures: 3, Pause: 300 * time.Millisecond}}
	one, two := sharing(t, s, &l, o, route("a", a.at(), "")), sharing(t, s, &l, o, route("a", a.at(), ""))
	together(t, one, two)
	down.Store(true)
	for range 3 {
		one.modern(t)
	}
	require.Eventually(t, "the other's breaker to open", func() bool { return two.Status().Agents["a"].Breaker.State != breaker.Closed })
	if st := two.Status().Agents["a"].Breaker; st.Failures != 3 || !strings.Contains(st.Error, "502") {
		t.Errorf("%+v", st)
	}
	down.Store(false)
	require.Eventually(t, "the agent to be served", func() bool { return one.modern(t).status == 200 })
	require.Eventually(t, "the other's breaker to close", func() bool { return two.Status().Agents["a"].Breaker.State == breaker.Closed })
	assert.Contains(t, l.String(), "another router cannot reach the agent", "another router reached the agent")
}

// Routers of one server have the same session keys, without a file of them, and so have those that come later.
func TestRoutersAgreeOnSessionKeys(t *testing.T) {
	t.Parallel()
	s, a := natstest.Run(t), named(t, "a")
	var l faketest.Buffer
	one, two := sharing(t, s, &l, Options{}, route("a", a.at(), "")), sharing(t, s, &l, Options{}, route("a", a.at(), ""))
	id := one.open(t, "/mcps/a/mcp")
	s.Kill()
	s.Restart()
	three := sharing(t, s, &l, Options{}, route("a", a.at(), ""))
	for _, f := range []*fixture{one, two, three} {
		if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id); got.status != 200 {
			t.Errorf("%+v", got)
		}
	}
	assert.Equalf(t, one.Sessions(), 0, "the session is kept")
}

// Without the server each router goes on by itself, and says so.
func TestRoutersGoOnByThemselves(t *testing.T) {
	t.Parallel()
	s, a := natstest.Run(t), named(t, "a")
	var l faketest.Buffer
	r := route("a", a.at(), `"rateLimit":40`)
	one, two := sharing(t, s, &l, Options{}, r), sharing(t, s, &l, Options{}, r)
	together(t, one, two)
	s.Kill()
	require.Eventually(t, "the router to notice", func() bool { return !one.Status().Cluster.Up && !two.Status().Cluster.Up })
	for _, f := range []*fixture{one, two} {
		n := 0
		for range 60 {
			if strings.Contains(f.modern(t).body, `"by"`) {
				n++
			}
		}
		assert.Equalf(t, n, 40, "admitted by a router by itself")
		if st := f.Status().Cluster; !strings.Contains(st.Error, "each router goes on by itself") {
			t.Errorf("%+v", st)
		}
		if got := f.send(t, "GET", "/health", ""); got.status != 200 || !strings.Contains(got.body, `"cluster"`) {
			t.Errorf("%+v", got)
		}
		if got := f.send(t, "GET", "/metrics", ""); !strings.Contains(got.body, "mcp_router_cluster_up 0") && !strings.Contains(got.body, "mcp_router_cluster_up{") {
			t.Errorf("%.3000s", got.body)
		}
		if got := f.send(t, "GET", "/ready", ""); got.status != 200 {
			t.Errorf("it is as good as any other: %+v", got)
		}
	}
	assert.Contains(t, l.String(), "this router goes on by itself")
	s.Restart() // with an empty bucket
	together(t, one, two)
	if got := one.send(t, "GET", "/health", ""); strings.Contains(got.body, `"cluster"`) {
		t.Errorf("%+v", got)
	}
}

// Who may read and not write is told so, and goes on by itself.
func TestRoutersThatMayNotWrite(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "all", Password: "x"}, {Username: "u", Password: "swordfish", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Deny: []string{"$KV.mcphud-routers.>"}},
		}}}
	})
	a := named(t, "a")
	var l faketest.Buffer
	c, err := cluster.Open(t.Context(), natsconn.Options{URL: strings.Replace(s.URL, "//", "//u:swordfish@", 1), Logger: logTo(&l)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	f := start(t, Options{Cluster: c, Logger: logTo(&l)}, route("a", a.at(), `"rateLimit":40`))
	require.Eventually(t, "the router to say so", func() bool {
		st := f.Status().Cluster
		return !st.Up && strings.Contains(st.Error, "the user may not put the key router.") && !strings.Contains(st.Error, "swordfish")
	})
	if got := f.modern(t); got.status != 200 {
		t.Errorf("%+v", got)
	}
	if got := f.send(t, "GET", "/health", ""); !strings.Contains(got.body, `"cluster"`) {
		t.Errorf("%+v", got)
	}
}

// Values of other versions, and what is none, change nothing.
func TestWhatOtherRoutersSayIsChecked(t *testing.T) {
	t.Parallel()
	s, a := natstest.Run(t), named(t, "a")
	var l faketest.Buffer
	f := sharing(t, s, &l, Options{}, route("a", a.at(), `"rateLimit":50`))
	together(t, f)
	c, err := natsconn.Open(t.Context(), natsconn.Options{URL: s.URL, Logger: logTo(&l)})
	require.NoError(t, err)
	defer c.Close()
	kv, err := c.Bucket(context.Background(), "mcphud-routers", natsconn.BucketOptions{})
	require.NoError(t, err)
	key := cluster.Key("a", "")
	for k, v := range map[string]string{
		"requests.x": `{"v":2,"totals":{"` + key + `":1000}}`, "requests.y": "\x00", "requests.z": `{"v":1,"totals":{"` + key + `":-5}}`, "other": `{"v":1}`,
		"breaker.x": `{"v":1,"agent":"nobody","endpoint":"x","open_ms":9223372036854775807,"failures":-1}`, "breaker.y": `{"v":2,"agent":"a","endpoint":"` + a.at() + `","open_ms":1000}`,
	} {
		if _, err := kv.Put(t.Context(), k, []byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := kv.Put(t.Context(), "router.last", []byte(`{"v":1}`)); err != nil {
		t.Fatal(err)
	}
	require.Eventually(t, "all to be heard", func() bool { return f.Status().Cluster.Routers >= 2 })
	if got := f.modern(t); got.status != 200 || f.Status().Agents["a"].Breaker.State != breaker.Closed {
		t.Errorf("%+v", got)
	}
	// What is right counts.
	if _, err := kv.Put(t.Context(), "requests.x", []byte(`{"v":1,"totals":{"`+key+`":4000000000}}`)); err != nil {
		t.Fatal(err)
	}
	require.Eventually(t, "the requests to count", func() bool { return strings.Contains(f.modern(t).body, "Rate limit exceeded") })
}
