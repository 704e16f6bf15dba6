package session_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// board is a server with one resource that a test writes to.
type board struct {
	text atomic.Value
	peer atomic.Pointer[sessiontest.Peer]
	asks atomic.Value // methods and URIs, a line each

	refuses atomic.Bool
}

func (b *board) options() session.Options {
	b.text.Store("one\\ntwo")
	b.asks.Store("")
	return session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
		p.Handshake(`{"resources":{"subscribe":true}}`)
		b.peer.Store(p)
		p.Serve(func(env jsonrpc.Envelope) {
			b.asks.Store(b.asks.Load().(string) + env.Method + " " + jsonrpc.GetString(env.Params, "uri") + "\n")
			switch env.Method {
			case "resources/read":
				p.Answer(env, fmt.Sprintf(`{"contents":[{"uri":"b://x","text":"%s"}]}`, b.text.Load()))
			case "resources/subscribe", "resources/unsubscribe":
				if b.refuses.Load() {
					p.Refuse(env, -32603, "")
					return
				}
				p.Answer(env, `{}`)
			}
		})
	})}
}

func (b *board) write(text, uri string) {
	b.text.Store(text)
	b.peer.Load().Send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, uri)
}

// TestKeepSubscribed: each update says what it changed, over several connections, until the subscription is ended.
func TestKeepSubscribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b board
		_, s := sessiontest.Open(t, b.options(), config.Server{})
		rest := func() {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		look := func() session.Subscription {
			rest()
			all := s.Subscriptions()
			if len(all) != 1 {
				t.Fatalf("%+v", all)
			}
			return all[0]
		}
		for range 2 {
			require.NoError(t, s.KeepSubscribed(t.Context(), "b://x"))
		}
		if sub := look(); !sub.Live || sub.Count != 0 || len(sub.Updates) != 0 || sub.URI != "b://x" {
			t.Errorf("%+v", sub)
		}
		b.write("one\\nthree", "b://x")
		sub := look()
		if sub.Count != 1 || len(sub.Updates) != 1 || sub.Updates[0].Diff != "@@ -1,2 +1,2 @@\n one\n-two\n+three\n" || sub.Updates[0].Added != 1 {
			t.Errorf("%+v", sub)
		}
		for i := range 50 { // a storm makes few readings, and of another resource none
			b.write(fmt.Sprint("n", i), "b://x/part")
			b.write(fmt.Sprint("n", i), "b://xyz")
		}
		if sub = look(); sub.Count != 51 || len(sub.Updates) > 4 || !strings.Contains(sub.Updates[0].Diff, "+n49") {
			t.Errorf("%+v", sub)
		}
		n := len(sub.Updates)
		require.NoError(t, s.Disconnect())
		if sub = look(); sub.Live {
			t.Errorf("%+v", sub)
		}
		b.text.Store("elsewhere")
		require.NoError(t, s.Connect(t.Context()))
		if sub = look(); !sub.Live || len(sub.Updates) != n+1 || !sub.Updates[0].Offline || !strings.Contains(sub.Updates[0].Diff, "+elsewhere") || sub.Count != 51 {
			t.Errorf("%+v", sub)
		}
		b.refuses.Store(true)
		require.NoError(t, s.Reconnect(t.Context()))
		if sub = look(); sub.Live || sub.Err == nil {
			t.Errorf("refused, and %+v", sub)
		}
		b.refuses.Store(false)
		require.NoError(t, s.KeepSubscribed(t.Context(), "b://x"))
		if sub = look(); !sub.Live || sub.Err != nil {
			t.Errorf("subscribed again, and %+v", sub)
		}
		require.NoError(t, s.EndSubscription(t.Context(), "b://x"))
		b.write("x", "b://x")
		rest()
		if all := s.Subscriptions(); len(all) != 0 || !strings.HasSuffix(b.asks.Load().(string), "resources/unsubscribe b://x\n") || s.Use().Held {
			t.Errorf("%+v\n%s", all, b.asks.Load())
		}
	})
}

// TestTooManySubscriptions: what is kept of resources is bounded.
func TestTooManySubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b board
		_, s := sessiontest.Open(t, b.options(), config.Server{})
		var err error
		for i := 0; err == nil && i < 1000; i++ {
			err = s.KeepSubscribed(t.Context(), fmt.Sprint("b://", i))
		}
		if n := len(s.Subscriptions()); n != 100 || failure.KindOf(err) != failure.Usage {
			t.Error(n, err)
		}
	})
}

// TestUpdateWhileItIsRead: a notification that comes while the resource is being read makes an update only if that reading did not find
// what is new.
func TestUpdateWhileItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b board
		answers := make(chan string, 3) // one for each reading, each with a notification before it
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{"resources":{"subscribe":true}}`)
			b.peer.Store(p)
			p.Serve(func(env jsonrpc.Envelope) {
				if env.Method != "resources/read" {
					p.Answer(env, `{}`)
					return
				}
				select {
				case text := <-answers:
					b.write(text, "b://x")
				default:
				}
				p.Answer(env, fmt.Sprintf(`{"contents":[{"uri":"b://x","text":"%s"}]}`, b.text.Load()))
			})
		})}, config.Server{})
		updates := func(texts ...string) (diffs []string) {
			for _, text := range texts[1:] {
				answers <- text
			}
			before := 0
			for _, sub := range s.Subscriptions() {
				before = len(sub.Updates)
			}
			b.write(texts[0], "b://x")
			time.Sleep(2 * time.Second)
			synctest.Wait()
			all := s.Subscriptions()
			if len(all) != 1 || len(answers) > 0 {
				t.Fatal(len(answers), all)
			}
			for _, u := range all[0].Updates[:len(all[0].Updates)-before] {
				diffs = append(diffs, u.Diff)
			}
			return diffs
		}
		b.text.Store("one")
		require.NoError(t, s.KeepSubscribed(t.Context(), "b://x"))
		time.Sleep(time.Second)
		synctest.Wait()
		for _, c := range []struct{ texts, diffs []string }{
			{[]string{"two", "two"}, []string{"@@ -1 +1 @@\n-one\n+two\n"}},
			{[]string{"three", "four", "five"}, []string{"@@ -1 +1 @@\n-four\n+five\n", "@@ -1 +1 @@\n-two\n+four\n"}},
			{[]string{"five"}, []string{""}}, // told of, and the same
		} {
			if diffs := updates(c.texts...); !slices.Equal(diffs, c.diffs) {
				t.Errorf("%q: updates %q, want %q", c.texts, diffs, c.diffs)
			}
		}
		assert.Equalf(t, s.Subscriptions()[0].Count, 6, "notifications were counted")
	})
}
