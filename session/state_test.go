package session_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// TestS1_States: Connecting while initialize hangs, Connected after it, Error when the server goes away.
func TestS1_States(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn, die := make(chan struct{}), make(chan struct{})
		_, s := sessiontest.Register(t, session.Options{HealthInterval: -1, Retry: session.Retry{Max: -1}, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			<-goOn
			p.Handshake(`{}`)
			<-die
		})}, config.Server{})
		assert.Equal(t, s.Status().State, "Disconnected")
		done := make(chan error)
		go func() { done <- s.Connect(t.Context()) }()
		synctest.Wait()
		assert.Equal(t, s.Status().State, "Connecting")
		close(goOn)
		require.NoError(t, <-done)
		if st := s.Status(); st.State != "Connected" || st.Err != nil {
			t.Error(st.State)
		}
		close(die)
		synctest.Wait()
		if st := s.Status(); st.State != "Error" || st.Err == nil || !st.RetryAt.IsZero() {
			t.Errorf("%+v", st)
		}
	})
}

// TestS8_HealthCheck: three unanswered checks end the connection; a server that knows no ping is alive; a busy one is
// left alone.
func TestS8_HealthCheck(t *testing.T) {
	for name, c := range map[string]struct {
		reply func(p *sessiontest.Peer, env jsonrpc.Envelope)
		lives bool
		busy  bool
	}{
		"answers":      {lives: true, reply: func(p *sessiontest.Peer, env jsonrpc.Envelope) { p.Answer(env, `{}`) }},
		"has no ping":  {lives: true, reply: func(p *sessiontest.Peer, env jsonrpc.Envelope) { p.Refuse(env, -32601, "") }},
		"is stuck":     {reply: func(*sessiontest.Peer, jsonrpc.Envelope) {}},
		"is busy":      {busy: true, lives: true, reply: func(*sessiontest.Peer, jsonrpc.Envelope) {}},
		"says nothing": {reply: func(*sessiontest.Peer, jsonrpc.Envelope) {}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pings := 0
				_, s := sessiontest.Open(t, session.Options{Retry: session.Retry{Max: -1}, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
					p.Handshake(`{}`)
					p.Serve(func(env jsonrpc.Envelope) {
						if env.Method == "ping" {
							pings++
							c.reply(p, env)
						}
					})
				})}, config.Server{Timeout: time.Hour, MaxTimeout: time.Hour})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.busy {
					go func() { _, _ = s.Call(ctx, "work", nil, session.CallOptions{}) }()
				}
				time.Sleep(3*30*time.Second + session.HealthTimeout + time.Second)
				synctest.Wait()
				st := s.Status()
				if (st.State == session.Connected) != c.lives || pings != 3 {
					t.Errorf("%s after %d pings: %v", st.State, pings, st.Err)
				}
				if !c.lives && failure.KindOf(st.Err) != failure.Timeout {
					t.Error(st.Err)
				}
			})
		})
	}
}

// TestS9_C8_Reconnect: a server that dies is connected again by itself, and a call in between waits for that.
func TestS9_C8_Reconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kill chan struct{}
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(n int, p *sessiontest.Peer) {
			if n == 2 {
				return // still down
			}
			p.Handshake(`{}`)
			stop := make(chan struct{})
			kill = stop
			go p.Serve(func(env jsonrpc.Envelope) { p.Answer(env, `"up"`) })
			select {
			case <-stop:
			case <-p.Context.Done():
			}
		})}, config.Server{})
		synctest.Wait()
		close(kill)
		synctest.Wait()
		st := s.Status()
		if st.State != session.Failed || st.Attempt != 1 || time.Until(st.RetryAt) <= 0 || time.Until(st.RetryAt) > 500*time.Millisecond {
			t.Errorf("%+v", st)
		}
		// The first call makes it try at once, and learns why that failed.
		if _, err := s.Call(t.Context(), "x", nil, session.CallOptions{}); err == nil {
			t.Error("a call succeeded on a server that is down")
		}
		start := time.Now()
		if r, err := s.Call(t.Context(), "x", nil, session.CallOptions{}); err != nil || string(r.Result) != `"up"` || time.Since(start) != 0 {
			t.Error(string(r.Result), err)
		}
		if st := s.Status(); st.State != session.Connected || st.Conn != 3 {
			t.Errorf("%+v", st)
		}
		synctest.Wait()
		close(kill)
		time.Sleep(2 * time.Second) // by itself
		if st := s.Status(); st.State != session.Connected {
			t.Errorf("%+v", st)
		}
	})
}

// TestS9_GivesUp: the number of attempts is bounded, waits grow and are capped, and r starts afresh.
func TestS9_GivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries []time.Time
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Retry: session.Retry{Max: 9}, Dial: func(config.Server) (transport.Transport, bool) {
			tries = append(tries, time.Now())
			if len(tries) > 1 && len(tries) < 12 {
				return transport.NewMemory(func(context.Context, io.Reader, io.Writer) error { return errors.New("down") }), true
			}
			t, _ := sessiontest.Dial(func(_ int, p *sessiontest.Peer) { p.Handshake(`{}`) })(config.Server{})
			return t, true
		}}, config.Server{})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if len(tries) != 10 {
			t.Fatalf("%d connections", len(tries))
		}
		for i := 1; i < len(tries); i++ {
			most := min(30*time.Second, 500*time.Millisecond<<(i-1))
			if d := tries[i].Sub(tries[i-1]); d < most/2 || d > most {
				t.Errorf("attempt %d after %v, at most %v", i, d, most)
			}
		}
		if st := s.Status(); st.State != session.Failed || !st.RetryAt.IsZero() {
			t.Errorf("%+v", st)
		}
		if err := s.Connect(t.Context()); err == nil {
			t.Error("it was still down")
		}
		assert.NoError(t, s.Connect(t.Context()))
	})
}

// TestS9_CallsDoNotUseUpTheAttempts: a call made while a lost connection is waited for makes an attempt at once, and
// whoever calls often does not end automatic reconnection with that.
func TestS9_CallsDoNotUseUpTheAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		var up atomic.Bool
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: func(config.Server) (transport.Transport, bool) {
			if tries.Add(1) > 1 && !up.Load() {
				return transport.NewMemory(func(context.Context, io.Reader, io.Writer) error { return errors.New("down") }), true
			}
			t, _ := sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
				p.Handshake(`{}`)
				if up.Load() {
					p.Serve(func(jsonrpc.Envelope) {})
				}
			})(config.Server{})
			return t, true
		}}, config.Server{})
		synctest.Wait()
		for range 30 {
			if _, err := s.Call(t.Context(), "ping", nil, session.CallOptions{}); err == nil {
				t.Fatal("the server is down")
			}
		}
		if st := s.Status(); st.RetryAt.IsZero() || st.Attempt > 1 {
			t.Fatalf("after 30 calls: attempt %d, next at %v, %v", st.Attempt, st.RetryAt, st.Err)
		}
		up.Store(true)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if st := s.Status(); st.State != session.Connected {
			t.Errorf("%s: %v", st.State, st.Err)
		}
	})
}

// stubborn is a transport that fails to close.
type stubborn struct{ transport.Transport }

func (s stubborn) Close() error {
	_ = s.Transport.Close()
	return errors.New("it is stuck")
}

// TestReconnectSurvivesAFailedClose: what the old connection says when it is closed does not keep a new one from being made.
func TestReconnectSurvivesAFailedClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{}`)
			p.Serve(func(jsonrpc.Envelope) {})
		})
		conns := 0
		m, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: func(cfg config.Server) (transport.Transport, bool) {
			c, ok := dial(cfg)
			if conns++; conns == 1 {
				c = stubborn{c}
			}
			return c, ok
		}}, config.Server{})
		require.NoError(t, s.Reconnect(t.Context()))
		if st := s.Status(); st.State != session.Connected || st.Conn != 2 {
			t.Errorf("%+v", st)
		}
		assert.Contains(t, sessiontest.Notes(m, journal.State), "it is stuck")
	})
}

// TestS9_DisconnectEndsRetries: what the user ended stays ended.
func TestS9_DisconnectEndsRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		_, s := sessiontest.Open(t, session.Options{Dial: sessiontest.Dial(func(n int, p *sessiontest.Peer) {
			starts = n
			p.Handshake(`{}`)
		})}, config.Server{})
		synctest.Wait()
		require.NoError(t, s.Disconnect())
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if st := s.Status(); st.State != session.Disconnected || starts != 1 || st.Err != nil {
			t.Errorf("%+v after %d starts", st, starts)
		}
	})
}

// TestS15_OneBrokenServer does not keep others from working.
func TestS15_OneBrokenServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := session.NewManager(session.Options{HealthInterval: -1, Dial: func(cfg config.Server) (transport.Transport, bool) {
			return sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
				if cfg.Name == "broken" {
					p.Serve(func(jsonrpc.Envelope) {})
					return
				}
				p.Handshake(`{}`)
				p.Serve(func(env jsonrpc.Envelope) { p.Answer(env, `1`) })
			})(cfg)
		}})
		defer func() { assert.NoError(t, m.Close()) }()
		for _, name := range []string{"a", "broken", "b"} {
			if _, err := m.Register(config.Server{Name: name}); err != nil {
				t.Fatal(err)
			}
			go func() { _ = m.Connect(t.Context(), name) }()
		}
		synctest.Wait()
		start := time.Now()
		for _, name := range []string{"a", "b"} {
			s, _ := m.Server(name)
			if r, err := s.Call(t.Context(), "x", nil, session.CallOptions{}); err != nil || string(r.Result) != "1" {
				t.Error(name, err)
			}
		}
		assert.Equalf(t, time.Since(start), 0, "waited for the broken server")
		if _, err := m.Register(config.Server{Name: "a"}); failure.KindOf(err) != failure.Usage {
			t.Error(err)
		}
		if err := m.Connect(t.Context(), "nobody"); failure.KindOf(err) != failure.ServerNotFound {
			t.Error(err)
		}
		if err := m.Unregister("a"); err != nil || len(m.Servers()) != 2 {
			t.Error(err)
		}
	})
}
