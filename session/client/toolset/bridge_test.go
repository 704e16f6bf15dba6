package toolset_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

func off() *bool {
	v := false
	return &v
}

// register, connect, status, prefixed tools, call by full name, disconnect: the whole of the manager's interface.
func TestS6_ManagerInterface(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := map[string]*sessiontest.Server{"github": sessiontest.NewServer("create_issue", "search"), "files": sessiontest.NewServer("read")}
		m := sessiontest.Fleet(t, servers)
		b := toolset.NewBridge(m, config.Settings{})
		defer sessiontest.CloseAll(t, m, b)
		for _, c := range []config.Server{{Name: "github", Protocol: "2025-11-25"}, {Name: "files", Protocol: "2025-11-25"}, {Name: "off", Disabled: true}} {
			require.NoError(t, b.RegisterServer(c))
		}
		if err := b.RegisterServer(config.Server{Name: "files"}); err == nil {
			t.Error("a name was registered twice")
		}
		if err := b.Connect(t.Context(), "off"); failure.KindOf(err) != failure.ServerDisabled {
			t.Errorf("connecting a disabled server: %v", err)
		}
		require.NoError(t, b.Connect(t.Context(), "github"))
		if got := names(b.GetAllTools()); !slices.Equal(got, []string{"mcp__github__create_issue", "mcp__github__search"}) {
			t.Errorf("tools = %v", got)
		}
		st := b.GetStatus()
		for name, want := range map[string]toolset.ServerStatus{
			"github": {Connected: true, Enabled: true, ToolCount: 2}, "files": {Enabled: true}, "off": {},
		} {
			if got := st[name]; got.Connected != want.Connected || got.Enabled != want.Enabled || got.ToolCount != want.ToolCount || got.Error != "" {
				t.Errorf("status of %s = %+v, want %+v", name, got, want)
			}
		}
		for _, full := range []string{"mcp__github__search", "mcp:github:search", "mcp__files__read"} { // files connects on demand
			r, err := b.CallTool(t.Context(), full, []byte(`{}`), session.CallOptions{})
			if err != nil || !strings.Contains(string(r.Result), "called") {
				t.Errorf("CallTool(%s) = %s, %v", full, r.Result, err)
			}
		}
		if _, err := b.CallTool(t.Context(), "mcp__github__nothing", nil, session.CallOptions{}); failure.KindOf(err) != failure.InvalidToolName || servers["github"].Count("tools/call") != 2 {
			t.Errorf("an unknown tool: %v, %d calls; want InvalidToolName and nothing sent", err, servers["github"].Count("tools/call"))
		}
		if _, err := b.CallTool(t.Context(), "mcp__nobody__x", nil, session.CallOptions{}); failure.KindOf(err) != failure.InvalidToolName {
			t.Errorf("an unknown server: %v", err)
		}
		require.NoError(t, b.Disconnect("github"))
		synctest.Wait()
		if got := names(b.GetAllTools()); !slices.Equal(got, []string{"mcp__files__read"}) || b.GetStatus()["github"].Connected {
			t.Errorf("after Disconnect: %v, %+v", got, b.GetStatus()["github"])
		}
		if err := b.UnregisterServer("files"); err != nil || len(b.GetAllTools()) != 0 {
			t.Errorf("after UnregisterServer: %v, %v", err, names(b.GetAllTools()))
		}
		if err := b.UnregisterServer("files"); failure.KindOf(err) != failure.ServerNotFound {
			t.Errorf("unregistered twice: %v", err)
		}
	})
}

// A failure is in the status, in the words of the error.
func TestS6_StatusShowsTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sessiontest.NewServer("x")
		f.Broken = true
		m := sessiontest.Fleet(t, map[string]*sessiontest.Server{"a": f}, "a")
		b := toolset.NewBridge(m, config.Settings{})
		defer sessiontest.CloseAll(t, m, b)
		err := b.Connect(t.Context(), "a")
		if st := b.GetStatus()["a"]; err == nil || st.Connected || !strings.Contains(st.Error, "broken on purpose") {
			t.Errorf("err = %v, status = %+v", err, st)
		}
	})
}

// The callback comes when a server's tools change, without anybody asking.
func TestS6_S7_OnToolsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sessiontest.NewServer("one")
		m := sessiontest.Fleet(t, map[string]*sessiontest.Server{"a": f}, "a")
		b := toolset.NewBridge(m, config.Settings{})
		defer sessiontest.CloseAll(t, m, b)
		var seen atomic.Pointer[[]string]
		b.OnToolsChanged(func() {
			got := names(b.GetAllTools())
			_ = b.GetStatus() // may be asked from inside the callback
			seen.Store(&got)
		})
		require.NoError(t, b.Connect(t.Context(), "a"))
		f.Change("one", "two")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := seen.Load(); got == nil || !slices.Equal(*got, []string{"mcp__a__one", "mcp__a__two"}) {
			t.Errorf("the callback saw %v", got)
		}
	})
}

// Two servers make one list, also when somebody else connects one of them.
func TestS11_V1_TwoServersMakeOneList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := map[string]*sessiontest.Server{"a": sessiontest.NewServer("x", "y"), "b": sessiontest.NewServer("x")}
		m := sessiontest.Fleet(t, servers, "a", "b")
		b := toolset.NewBridge(m, config.Settings{})
		defer sessiontest.CloseAll(t, m, b)
		require.NoError(t, b.Connect(t.Context(), "a"))
		require.NoError(t, m.Connect(t.Context(), "b"))
		synctest.Wait()
		got := names(b.Registry().ListBySource(toolset.MCP))
		if !slices.Equal(got, []string{"mcp__a__x", "mcp__a__y", "mcp__b__x"}) {
			t.Errorf("tools = %v", got)
		}
		w, ok := b.Registry().Get("mcp__b__x")
		if !ok {
			t.Fatal("mcp__b__x is not registered")
		}
		if r, err := w.Run(t.Context(), []byte(`{}`)); err != nil || !strings.Contains(string(r), "called") || servers["b"].Count("tools/call") != 1 {
			t.Errorf("the wrapper answered %s, %v", r, err)
		}
	})
}

func TestS11_AutoDiscoverOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sessiontest.NewServer("x")
		m := sessiontest.Fleet(t, map[string]*sessiontest.Server{"a": f}, "a")
		b := toolset.NewBridge(m, config.Settings{AutoDiscover: off()})
		defer sessiontest.CloseAll(t, m, b)
		require.NoError(t, b.Connect(t.Context(), "a"))
		synctest.Wait()
		if n := f.Count("tools/list"); n != 0 || len(b.GetAllTools()) != 0 {
			t.Errorf("%d requests, %v; want none", n, names(b.GetAllTools()))
		}
		if err := b.RefreshTools(t.Context(), "a"); err != nil || len(b.GetAllTools()) != 1 {
			t.Errorf("RefreshTools: %v, %v", err, names(b.GetAllTools()))
		}
	})
}

// However often tools are listed and called, the server is asked once; again when it says that they changed.
func TestS13_ToolsAreAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sessiontest.NewServer("x")
		m := sessiontest.Fleet(t, map[string]*sessiontest.Server{"a": f}, "a")
		b := toolset.NewBridge(m, config.Settings{})
		defer sessiontest.CloseAll(t, m, b)
		use := func() {
			t.Helper()
			for range 20 {
				require.NoError(t, b.Connect(t.Context(), "a"))
				if _, err := b.CallTool(t.Context(), "mcp__a__x", nil, session.CallOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		use()
		assert.Equalf(t, f.Count("tools/list"), 1, "tools/list requests for 20 calls")
		f.Change("x", "new")
		time.Sleep(5 * time.Second)
		use()
		assert.Equalf(t, f.Count("tools/list"), 2, "tools/list requests after list_changed")
		if _, err := b.CallTool(t.Context(), "mcp__a__new", nil, session.CallOptions{}); err != nil {
			t.Errorf("the new tool: %v", err)
		}
	})
}

// In the modern era the server says how long its list may be used; cache_ttl says it for those that do not.
func TestS13_TTL(t *testing.T) {
	for _, c := range []struct {
		what   string
		modern bool
		list   string
		set    config.Settings
		ttl    time.Duration
	}{
		{"modern ttlMs", true, `,"ttlMs":60000,"cacheScope":"private"`, config.Settings{}, time.Minute},
		{"cache_ttl", false, "", config.Settings{CacheTTL: time.Hour}, time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := sessiontest.NewServer("x")
			f.Modern, f.List = c.modern, c.list
			m := sessiontest.Fleet(t, map[string]*sessiontest.Server{"a": f}, "a")
			c.set.Pool.MaxIdleTime = 24 * time.Hour
			b := toolset.NewBridge(m, c.set)
			defer sessiontest.CloseAll(t, m, b)
			for i, step := range []struct {
				wait time.Duration
				want int
			}{{0, 1}, {c.ttl - time.Second, 1}, {2 * time.Second, 2}, {time.Second, 2}} {
				time.Sleep(step.wait)
				require.NoError(t, b.Connect(t.Context(), "a"))
				if n := f.Count("tools/list"); n != step.want {
					t.Errorf("%s, step %d: %d requests, want %d", c.what, i, n, step.want)
				}
			}
		})
	}
}

// When the pool closes an idle server its tools stay, and the next call connects it again.
func TestS13_ToolsOutliveAnIdleConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sessiontest.NewServer("x")
		m := sessiontest.Fleet(t, map[string]*sessiontest.Server{"a": f}, "a")
		b := toolset.NewBridge(m, config.Settings{})
		defer sessiontest.CloseAll(t, m, b)
		require.NoError(t, b.Connect(t.Context(), "a"))
		time.Sleep(time.Hour)
		synctest.Wait()
		if st := b.GetStatus()["a"]; st.Connected || st.ToolCount != 1 {
			t.Fatalf("status = %+v, want it closed and its tool kept", st)
		}
		if _, err := b.CallTool(t.Context(), "mcp__a__x", nil, session.CallOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// One of three is broken: the other two work, and so do their tools.
func TestS15_OneFailingServerBlocksNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken, hung := sessiontest.NewServer("x"), sessiontest.NewServer("x")
		broken.Broken = true
		hung.Slow = time.Hour
		servers := map[string]*sessiontest.Server{"broken": broken, "hung": hung, "good": sessiontest.NewServer("x"), "fine": sessiontest.NewServer("y")}
		m := sessiontest.Fleet(t, servers, "broken", "hung", "good", "fine")
		b := toolset.NewBridge(m, config.Settings{})
		defer sessiontest.CloseAll(t, m, b)
		ready := make(chan time.Duration, 1)
		start := time.Now()
		b.OnToolsChanged(func() {
			if len(b.GetAllTools()) == 2 {
				ready <- time.Since(start)
			}
		})
		failed := map[string]error{}
		var mu sync.Mutex
		first := b.ConnectAll(t.Context(), []string{"broken", "hung", "good", "fine"}, func(name string, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed[name] = err
			}
		})
		if first == nil || len(failed) != 2 || failed["broken"] == nil || failure.KindOf(failed["hung"]) != failure.Timeout {
			t.Errorf("failed = %v", failed)
		}
		if d := <-ready; d > time.Second {
			t.Errorf("the good ones were ready after %v", d)
		}
		for _, full := range []string{"mcp__good__x", "mcp__fine__y"} {
			if _, err := b.CallTool(t.Context(), full, nil, session.CallOptions{}); err != nil {
				t.Errorf("%s: %v", full, err)
			}
		}
	})
}

func TestS15_ContinueOnErrorOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken, slow := sessiontest.NewServer("x"), sessiontest.NewServer("x")
		broken.Broken = true
		slow.Slow = 10 * time.Second
		m := sessiontest.Fleet(t, map[string]*sessiontest.Server{"broken": broken, "slow": slow}, "broken", "slow")
		b := toolset.NewBridge(m, config.Settings{ContinueOnError: off()})
		defer sessiontest.CloseAll(t, m, b)
		start := time.Now()
		var failed atomic.Int32
		err := b.ConnectAll(t.Context(), []string{"slow", "broken"}, func(_ string, err error) {
			if err != nil {
				failed.Add(1)
			}
		})
		if failed.Load() != 2 || time.Since(start) > time.Second || err == nil || !strings.Contains(err.Error(), "broken on purpose") {
			t.Errorf("%d failed after %v, the first with %v; want both at once, for the broken one", failed.Load(), time.Since(start), err)
		}
	})
}

// With servers git and git__hub no call is ever guessed.
func TestN3_BridgeNeverGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		git, hub := sessiontest.NewServer("log", "hub__x"), sessiontest.NewServer("x", "y")
		m := sessiontest.Fleet(t, map[string]*sessiontest.Server{"git": git, "git__hub": hub}, "git", "git__hub")
		b := toolset.NewBridge(m, config.Settings{})
		defer sessiontest.CloseAll(t, m, b)
		if _, err := b.CallTool(t.Context(), "mcp__git__hub__y", nil, session.CallOptions{}); failure.KindOf(err) != failure.InvalidToolName {
			t.Errorf("before the tools are known: %v", err)
		}
		_ = b.ConnectAll(t.Context(), []string{"git", "git__hub"}, nil)
		if _, err := b.CallTool(t.Context(), "mcp__git__hub__x", nil, session.CallOptions{}); failure.KindOf(err) != failure.InvalidToolName || !strings.Contains(err.Error(), "ambiguous") {
			t.Errorf("both have it: %v", err)
		}
		if _, err := b.CallTool(t.Context(), "mcp__git__hub__y", nil, session.CallOptions{}); err != nil || hub.Count("tools/call") != 1 || git.Count("tools/call") != 0 {
			t.Errorf("only git__hub has it: %v", err)
		}
		st := b.GetStatus()
		assert.Equalf(t, len(st["git"].Clashes)+len(st["git__hub"].Clashes), 1, "clashes are shown")
	})
}

// With max_concurrent_calls 2, of six calls to two servers two run at once; a call that waits can be cancelled.
func TestC10_MaxConcurrentCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		dial := sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{"tools":{}}`)
			p.Serve(func(env jsonrpc.Envelope) {
				if env.Method != "tools/call" {
					return
				}
				most.Store(max(most.Load(), running.Add(1)))
				go func() {
					time.Sleep(time.Second)
					running.Add(-1)
					p.Answer(env, `{"content":[]}`)
				}()
			})
		})
		m := session.NewManager(session.Options{MaxCalls: 2, HealthInterval: -1, Dial: dial})
		defer m.Close()
		var calls sync.WaitGroup
		start := time.Now()
		for _, name := range []string{"a", "b"} {
			s, err := m.Register(config.Server{Name: name, Protocol: "2025-11-25"})
			require.NoError(t, err)
			require.NoError(t, s.Connect(t.Context()))
			for range 3 {
				calls.Go(func() {
					if _, err := s.CallTool(t.Context(), "x", nil, session.CallOptions{}); err != nil {
						t.Error(err)
					}
				})
			}
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		s, _ := m.Server("a")
		if _, err := s.CallTool(ctx, "x", nil, session.CallOptions{}); failure.KindOf(err) != failure.Timeout {
			t.Errorf("waiting for its turn: %v", err)
		}
		calls.Wait()
		if took := time.Since(start); most.Load() != 2 || took != 3*time.Second {
			t.Errorf("%d ran at once, for %v; want 2 for 3s", most.Load(), took)
		}
	})
}

// Servers that do not come, and that nobody gives up, keep no other from being connected.
func TestS15_HungServersKeepNoOtherWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers, names := map[string]*sessiontest.Server{}, []string{}
		for i := range 20 {
			f := sessiontest.NewServer("x")
			if i != 15 {
				f.Slow = time.Hour
			}
			names = append(names, string(rune('a'+i)))
			servers[names[i]] = f
		}
		m := sessiontest.Fleet(t, servers)
		b := toolset.NewBridge(m, config.Settings{})
		defer sessiontest.CloseAll(t, m, b)
		for _, name := range names {
			require.NoError(t, b.RegisterServer(config.Server{Name: name, Protocol: "2025-11-25", ConnectTimeout: 2 * time.Hour, Timeout: 2 * time.Hour}))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_ = b.ConnectAll(ctx, names, nil)
		if st, _ := b.Status("p"); !st.Connected {
			t.Errorf("the good one is %s after a minute", st.State)
		}
	})
}
