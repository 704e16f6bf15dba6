package session_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// TestS9_AnAttemptByHandDoesNotEndReconnection: whoever asks for a connection while a lost one is waited for makes one attempt more.
// When that fails the server still comes back by itself.
func TestS9_AnAttemptByHandDoesNotEndReconnection(t *testing.T) {
	for name, ask := range map[string]func(*session.Session, context.Context) error{
		"Connect": (*session.Session).Connect, "Reconnect": (*session.Session).Reconnect,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var down atomic.Bool
				kill := make(chan struct{})
				_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: func(config.Server) (transport.Transport, bool) {
					if down.Load() {
						return transport.NewMemory(func(context.Context, io.Reader, io.Writer) error { return errors.New("down") }), true
					}
					t, _ := sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
						p.Handshake(`{}`)
						go p.Serve(func(jsonrpc.Envelope) {})
						select {
						case <-kill:
						case <-p.Context.Done():
						}
					})(config.Server{})
					return t, true
				}}, config.Server{})
				synctest.Wait()
				down.Store(true)
				close(kill)
				synctest.Wait()
				for range 3 {
					if err := ask(s, t.Context()); err == nil {
						t.Fatal("the server is down")
					}
					if st := s.Status(); st.State != session.Failed || st.RetryAt.IsZero() || st.Attempt != 1 {
						t.Fatalf("after an attempt by hand: %+v", st)
					}
				}
				kill = make(chan struct{})
				down.Store(false)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if st := s.Status(); st.State != session.Connected {
					t.Errorf("%+v", st)
				}
				// Whoever disconnects, or gives up an attempt, wants none.
				down.Store(true)
				close(kill)
				synctest.Wait()
				gone, cancel := context.WithCancel(t.Context())
				cancel()
				_ = ask(s, gone) // it cannot succeed
				if st := s.Status(); st.State != session.Disconnected || !st.RetryAt.IsZero() {
					t.Errorf("after an attempt that was given up: %+v", st)
				}
			})
		})
	}
}

// A connection that its user makes anew is one that he wants: it comes back as if it had been lost by itself.
func TestS9_ReconnectingToAServerThatIsGoneGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: func(config.Server) (transport.Transport, bool) {
			if tries.Add(1) == 2 {
				return transport.NewMemory(func(context.Context, io.Reader, io.Writer) error { return errors.New("down") }), true
			}
			t, _ := sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
				p.Handshake(`{}`)
				p.Serve(func(jsonrpc.Envelope) {})
			})(config.Server{})
			return t, true
		}}, config.Server{})
		synctest.Wait()
		if err := s.Reconnect(t.Context()); err == nil {
			t.Fatal("the server is down")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if st := s.Status(); st.State != session.Connected || tries.Load() != 3 {
			t.Errorf("%+v after %d attempts", st, tries.Load())
		}
	})
}
