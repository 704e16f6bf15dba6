package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/trace"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// A call that another replica takes up, since the one that ran it was killed, has its tree of hops, and waits no longer than its parts say.
func TestBackendTraceOfACallThatAnotherReplicaEnds(t *testing.T) {
	runtimeDir(t)
	url, dir := installedNATS(t, ""), t.TempDir()
	second := strconv.Itoa(nettest.FreePort(t))
	flags := []string{"--queue", url, "--rate-limit", "0", "--concurrency", "4", "--ephemeral", "--name", "demo", "--port"}
	a := serveAgent(t, append(flags, "0")...)
	routesFile(t, dir, `{"routes":{"demo":{"urls":["`+a.url+`","http://127.0.0.1:`+second+`/mcp"]}}}`)
	router := launch(t, routerCommand(t, "", nil, "--port", "0", "--routes", filepath.Join(dir, "routing.json")), routerReady)
	j := journal.New(journal.Options{Dir: t.TempDir()})
	defer j.Close()
	m := session.NewManager(session.Options{Journal: j, Tracing: session.TraceAll, HealthInterval: -1})
	defer m.Close()
	joined := tap.JoinTraces(t.Context(), j, m.BeganTrace)
	defer joined.Close()
	<-joined.Scanned()
	s, err := m.Register(config.Server{Name: "router", Transport: config.HTTP, URL: router.url + "/mcps/demo/mcp", Protocol: "2026-07-28", Timeout: 2 * time.Minute})
	if err == nil {
		err = s.Connect(t.Context())
	}
	require.NoError(t, err)
	type end struct {
		r   rpc.Reply
		err error
	}
	ends, task, began := make(chan end, 1), make(chan struct{}, 100), time.Now()
	go func() {
		r, err := s.CallTool(t.Context(), "sleep", []byte(`{"seconds":3}`), session.CallOptions{OnTask: func(tasks.Task) {
			select {
			case task <- struct{}{}:
			default: // one is enough
			}
		}})
		ends <- end{r, err}
	}()
	select {
	case <-task:
	case e := <-ends:
		t.Fatalf("it became no task: %v", e.err)
	}
	require.Eventually(t, "the call to run", func() bool { return a.queue().Running > 0 })
	serveAgent(t, append(flags, second)...)
	a.signal(syscall.SIGKILL)
	a.exit()
	e := <-ends
	waited := time.Since(began)
	if e.err != nil {
		t.Fatal(e.err)
	}
	c := &tracedCall{t: t, j: j, s: s, router: true, killed: true}
	q, _ := j.Get(e.r.Request)
	g := trace.Find(j, q.Trace)
	var tree *trace.Tree
	for last := time.Now().Add(15 * time.Second); c.whole(tree, 2) != ""; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(last) {
			var text strings.Builder
			_ = tree.Write(&text, 120, nil) // a Builder takes everything
			t.Fatalf("%s\n%s", c.whole(tree, 2), text.String())
		}
		g.Update(j)
		tree = trace.Of(j, g)
	}
	if root := tree.Roots[0]; (root.Took() - waited).Abs() > waited/50+100*time.Millisecond {
		t.Errorf("waited %v, and the tree has %v", waited, root.Took())
	}
	var text strings.Builder
	_ = tree.Write(&text, 120, nil) // a Builder takes everything
	for _, want := range []string{"end not recorded", "agent demo (2) sleep", "task, polled"} {
		assert.Contains(t, text.String(), want)
	}
}
