package toolset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/transport"
)

func mustGet(t *testing.T, p *toolset.Pool, name string) (*session.Session, func()) {
	t.Helper()
	s, release, err := p.Get(t.Context(), name)
	require.NoError(t, err)
	return s, release
}

// With max_idle_time 2 s and cleanup_interval 50 ms an idle server's child exits, and the statistics follow.
func TestS10_IdleServerChildExits(t *testing.T) {
	m := session.NewManager(session.Options{})
	cfg := faketest.Stdio(t, behave.Good)
	if _, err := m.Register(cfg); err != nil {
		t.Fatal(err)
	}
	p := toolset.NewPool(m, config.Pool{MaxIdleTime: 2 * time.Second, CleanupInterval: 50 * time.Millisecond})
	defer sessiontest.CloseAll(t, m, p)
	changed, cancel := m.Follow()
	defer cancel()
	stats := func(want string) {
		t.Helper()
		if b, err := json.Marshal(p.Stats()); err != nil || string(b) != want {
			t.Errorf("stats = %s, %v; want %s", b, err, want)
		}
	}
	stats(`{"TotalServers":1,"ActiveConnections":0,"IdleConnections":0}`)
	s, release := mustGet(t, p, cfg.Name)
	stats(`{"TotalServers":1,"ActiveConnections":1,"IdleConnections":0}`)
	pid := s.Status().PID
	if pid == 0 || !faketest.Alive(pid) {
		t.Fatalf("the child %d does not run", pid)
	}
	release()
	released := time.Now()
	stats(`{"TotalServers":1,"ActiveConnections":0,"IdleConnections":1}`)
	deadline := time.After(20 * time.Second)
	for s.Status().State != session.Disconnected || faketest.Alive(pid) {
		select {
		case <-changed:
		case <-time.After(10 * time.Millisecond): // the end of a process makes no event of ours
		case <-deadline:
			t.Fatalf("still %s, child alive: %v", s.Status().State, faketest.Alive(pid))
		}
	}
	if d := time.Since(released); d < 2*time.Second {
		t.Errorf("closed after %v, before max_idle_time", d)
	}
	stats(`{"TotalServers":1,"ActiveConnections":0,"IdleConnections":0}`)
}

// The defaults are five minutes and one minute, and both are honoured to the second.
func TestS10_DefaultsAreHonoured(t *testing.T) {
	for _, c := range []struct {
		limit config.Pool
		alive time.Duration // still connected then
		gone  time.Duration
	}{
		{config.Pool{}, 4*time.Minute + 59*time.Second, 6*time.Minute + time.Second},
		{config.Pool{MaxIdleTime: time.Minute}, 59 * time.Second, 2*time.Minute + time.Second},
		{config.Pool{CleanupInterval: time.Hour}, 59 * time.Minute, time.Hour + time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := sessiontest.NewServer("x")
			m := sessiontest.Fleet(t, map[string]*sessiontest.Server{"a": f}, "a")
			p := toolset.NewPool(m, c.limit)
			defer sessiontest.CloseAll(t, m, p)
			s, release := mustGet(t, p, "a")
			release()
			time.Sleep(c.alive)
			synctest.Wait()
			if s.Status().State != session.Connected {
				t.Errorf("%+v: closed before %v", c.limit, c.alive)
			}
			time.Sleep(c.gone - c.alive)
			synctest.Wait()
			if _, running := f.State(); s.Status().State != session.Disconnected || running != 0 {
				t.Errorf("%+v: still open after %v", c.limit, c.gone)
			}
		})
	}
}

// Whoever holds a connection keeps it, however long and however many others come and go.
func TestS10_NeverClosesOneInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sessiontest.NewServer("x")
		m := sessiontest.Fleet(t, map[string]*sessiontest.Server{"a": f}, "a")
		p := toolset.NewPool(m, config.Pool{MaxIdleTime: time.Second, CleanupInterval: 100 * time.Millisecond})
		defer sessiontest.CloseAll(t, m, p)
		s, release := mustGet(t, p, "a")
		ui := s.Hold() // a server open on the screen
		release()
		release() // again does nothing
		for range 10 {
			_, r := mustGet(t, p, "a")
			time.Sleep(time.Minute)
			r()
		}
		if starts, _ := f.State(); starts != 1 || s.Status().State != session.Connected {
			t.Errorf("%d starts, %s; want the one connection", starts, s.Status().State)
		}
		ui()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Equalf(t, s.Status().State, session.Disconnected, "still open when nobody uses it")
		_, r := mustGet(t, p, "a")
		defer r()
		if starts, running := f.State(); starts != 2 || running != 1 {
			t.Errorf("%d starts, %d running; want it connected again", starts, running)
		}
	})
}

// Many callers at once start one child.
func TestS10_ConcurrentGetsStartOneChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sessiontest.NewServer("x")
		f.Slow = time.Second
		m := sessiontest.Fleet(t, map[string]*sessiontest.Server{"a": f}, "a")
		p := toolset.NewPool(m, config.Pool{})
		defer sessiontest.CloseAll(t, m, p)
		// One that gives up early takes nobody with it.
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, _, err := p.Get(short, "a"); err == nil {
				t.Error("the impatient one got a connection")
			}
		})
		synctest.Wait()
		for range 50 {
			wg.Go(func() {
				_, release, err := p.Get(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				release()
			})
		}
		wg.Wait()
		// The impatient one's attempt ended with it; the fifty made one more.
		if starts, running := f.State(); starts != 2 || running != 1 {
			t.Errorf("%d starts, %d running; want 2 and 1", starts, running)
		}
	})
}

func TestS10_ConnectionLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := map[string]*sessiontest.Server{"a": sessiontest.NewServer("x"), "b": sessiontest.NewServer("x"), "c": sessiontest.NewServer("x")}
		m := sessiontest.Fleet(t, servers, "a", "b", "c")
		p := toolset.NewPool(m, config.Pool{MaxConnections: 2})
		defer sessiontest.CloseAll(t, m, p)
		a, releaseA := mustGet(t, p, "a")
		b, releaseB := mustGet(t, p, "b")
		if _, _, err := p.Get(t.Context(), "c"); failure.KindOf(err) != failure.Transport || servers["c"].Starts != 0 {
			t.Errorf("a third connection: %v", err)
		}
		releaseB()
		time.Sleep(time.Second)
		releaseA()
		_, releaseC := mustGet(t, p, "c")
		defer releaseC()
		if a.Status().State != session.Connected || b.Status().State != session.Disconnected {
			t.Errorf("a is %s, b is %s; want the one idle for longest closed", a.Status().State, b.Status().State)
		}
		if st := p.Stats(); st != (toolset.PoolStats{TotalServers: 3, ActiveConnections: 1, IdleConnections: 1}) {
			t.Errorf("stats = %+v", st)
		}
	})
}

// Under every kind of traffic at once the limit holds and nothing is left over.
func TestS10_V1_LimitUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := map[string]*sessiontest.Server{}
		var names []string
		for i := range 6 {
			name := fmt.Sprint("s", i)
			names, servers[name] = append(names, name), sessiontest.NewServer("x")
		}
		m := sessiontest.Fleet(t, servers, names...)
		p := toolset.NewPool(m, config.Pool{MaxConnections: 3, MaxIdleTime: 20 * time.Millisecond, CleanupInterval: 5 * time.Millisecond})
		var wg sync.WaitGroup
		var mu sync.Mutex
		got := 0
		for i := range 60 {
			wg.Go(func() {
				time.Sleep(time.Duration(i%7) * time.Millisecond)
				_, release, err := p.Get(t.Context(), names[i%len(names)])
				if failure.KindOf(err) == failure.Transport {
					return // all in use
				}
				if err != nil {
					t.Error(err)
					return
				}
				defer release()
				mu.Lock()
				got++
				mu.Unlock()
				if st := p.Stats(); st.ActiveConnections+st.IdleConnections > 3 {
					t.Errorf("stats = %+v, above the limit", st)
				}
				time.Sleep(time.Duration(i%5) * time.Millisecond)
			})
		}
		wg.Wait()
		if got == 0 {
			t.Error("nobody ever got a connection")
		}
		sessiontest.CloseAll(t, m, p)
		for name, f := range servers {
			if _, running := f.State(); running != 0 {
				t.Errorf("%s still runs", name)
			}
		}
	})
}

func TestS10_DisabledAndUnknownServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sessiontest.Fleet(t, nil)
		p := toolset.NewPool(m, config.Pool{})
		defer sessiontest.CloseAll(t, m, p)
		if _, err := m.Register(config.Server{Name: "off", Disabled: true, Source: config.Source{File: "/etc/mcp.yaml", Line: 3}}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.Get(t.Context(), "off"); failure.KindOf(err) != failure.ServerDisabled {
			t.Errorf("disabled: %v", err)
		}
		if _, _, err := p.Get(t.Context(), "nobody"); failure.KindOf(err) != failure.ServerNotFound {
			t.Errorf("unknown: %v", err)
		}
	})
}

// A connection that died is made again for whoever asks next, and does not count as one meanwhile.
func TestS10_HealthOfPooledConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sessiontest.NewServer("x")
		m := session.NewManager(session.Options{HealthInterval: time.Second, Retry: session.Retry{Max: -1}, Dial: func(config.Server) (transport.Transport, bool) { return transport.NewMemory(f.Serve), true }})
		p := toolset.NewPool(m, config.Pool{})
		defer sessiontest.CloseAll(t, m, p)
		if _, err := m.Register(config.Server{Name: "a", Protocol: "2025-11-25"}); err != nil {
			t.Fatal(err)
		}
		s, release := mustGet(t, p, "a")
		time.Sleep(10 * time.Second)
		if f.Count("ping") < 9 {
			t.Errorf("%d health checks in 10 s, want one each second", f.Count("ping"))
		}
		f.Hang()
		time.Sleep(time.Minute)
		synctest.Wait()
		if st := p.Stats(); s.Status().State != session.Failed || st.ActiveConnections+st.IdleConnections != 0 {
			t.Errorf("a server that answers no more: %s, %+v", s.Status().State, st)
		}
		release()
		_, release = mustGet(t, p, "a")
		defer release()
		if starts, _ := f.State(); starts != 2 || s.Status().State != session.Connected {
			t.Errorf("%d starts, %s; want it connected again", starts, s.Status().State)
		}
	})
}
