package session_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
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
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

func TestS2_ConcurrentShuffledReplies(t *testing.T) {
	const calls = 100
	synctest.Test(t, func(t *testing.T) {
		_, s := sessiontest.Open(t, session.Options{Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{}`)
			var waiting []jsonrpc.Envelope
			ids := map[string]bool{}
			p.Serve(func(env jsonrpc.Envelope) {
				ids[string(env.ID)] = true
				if waiting = append(waiting, env); len(waiting) < calls {
					return
				}
				rand.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
				for _, w := range waiting {
					p.Answer(w, fmt.Sprintf(`{"ids":%d,"got":%s}`, len(ids), jsonrpc.Get(w.Params, "n")))
				}
			})
		})}, config.Server{})
		var wg sync.WaitGroup
		for n := range calls {
			wg.Go(func() {
				r, err := s.Call(t.Context(), "x", fmt.Appendf(nil, `{"n":%d}`, n), session.CallOptions{})
				if want := fmt.Sprintf(`{"ids":100,"got":%d}`, n); err != nil || string(r.Result) != want {
					t.Errorf("%s, want %s: %v", r.Result, want, err)
				}
			})
		}
		wg.Wait()
		assert.Equalf(t, len(s.Status().Inflight), 0, "requests left")
	})
}

// TestS2_C8_LateReply: an answer after the timeout is journalled, flagged and ignored; the server was told.
func TestS2_C8_LateReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan string, 1)
		m, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{}`)
			p.Serve(func(env jsonrpc.Envelope) {
				switch env.Method {
				case "slow":
					go func() {
						time.Sleep(40 * time.Second)
						p.Answer(env, `"late"`)
						p.Answer(env, `"later"`)
						p.Send(`{"jsonrpc":"2.0","id":4711,"result":{}}`)
						p.Send(`{"jsonrpc":"2.0","id":"2","result":{}}`)
					}()
				case "notifications/cancelled":
					told <- string(jsonrpc.Get(env.Params, "requestId"))
				default:
					p.Answer(env, `"fine"`)
				}
			})
		})}, config.Server{})
		start := time.Now()
		r, err := s.Call(t.Context(), "slow", nil, session.CallOptions{})
		if failure.KindOf(err) != failure.Timeout || time.Since(start) != 30*time.Second || r.Request == 0 {
			t.Fatal(err, time.Since(start))
		}
		if want := "peer: slow: no answer within 30s; raise the timeout"; err.Error() != want {
			t.Errorf("%q", err)
		}
		e, _ := m.Journal().Get(r.Request)
		if id := <-told; id != e.ID {
			t.Errorf("cancelled %s, want %s", id, e.ID)
		}
		time.Sleep(15 * time.Second)
		if r, err := s.Call(t.Context(), "next", nil, session.CallOptions{}); err != nil || string(r.Result) != `"fine"` {
			t.Fatal(r, err)
		}
		got := sessiontest.Notes(m, journal.Response)
		if strings.Count(got, "late answer, the request was timed out") != 2 || strings.Count(got, "no request has this id") != 2 {
			t.Errorf("notes: %s", got)
		}
	})
}

func TestS2_DuplicateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{}`)
			p.Serve(func(env jsonrpc.Envelope) {
				p.Answer(env, `1`)
				p.Answer(env, `2`)
			})
		})}, config.Server{})
		for range 3 {
			if r, err := s.Call(t.Context(), "x", nil, session.CallOptions{}); err != nil || string(r.Result) != "1" {
				t.Fatal(string(r.Result), err)
			}
		}
		synctest.Wait()
		if got := sessiontest.Notes(m, journal.Response); strings.Count(got, "duplicate") != 3 {
			t.Error(got)
		}
	})
}

// TestS2_Progress: every notification is counted, callers see the latest, the timeout starts again with each, and the
// maximum holds in spite of them.
func TestS2_Progress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{}`)
			p.Serve(func(env jsonrpc.Envelope) {
				token := jsonrpc.Get(jsonrpc.Get(env.Params, "_meta"), "progressToken")
				switch jsonrpc.GetString(env.Params, "name") {
				case "many":
					for i := range 10_000 {
						p.Send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":10000,"message":"step"}}`, token, i+1)
					}
					p.Answer(env, `{}`)
				case "slow", "endless":
					go func() {
						for i := range 20 {
							select {
							case <-time.After(20 * time.Second):
							case <-p.Context.Done():
								return
							}
							p.Send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, token, i)
							if i == 5 && jsonrpc.GetString(env.Params, "name") == "slow" {
								p.Answer(env, `{}`)
								return
							}
						}
					}()
				}
			})
		})}, config.Server{})
		var last rpc.Progress
		seen := 0
		if _, err := s.CallTool(t.Context(), "many", nil, session.CallOptions{OnProgress: func(g rpc.Progress) { last, seen = g, seen+1 }}); err != nil {
			t.Fatal(err)
		}
		if want := (rpc.Progress{Count: 10_000, Progress: 10_000, Total: 10_000, HasTotal: true, Message: "step"}); last != want || seen < 1 {
			t.Errorf("%+v after %d calls", last, seen)
		}
		start := time.Now()
		if _, err := s.CallTool(t.Context(), "slow", nil, session.CallOptions{}); err != nil || time.Since(start) != 2*time.Minute {
			t.Error(err, time.Since(start))
		}
		start = time.Now()
		_, err := s.CallTool(t.Context(), "endless", nil, session.CallOptions{})
		if failure.KindOf(err) != failure.Timeout || time.Since(start) != config.DefaultMaxTimeout || !strings.Contains(err.Error(), "raise the longest time") {
			t.Error(err, time.Since(start))
		}
	})
}

func TestS2_CancelTellsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan string, 1)
		m, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{}`)
			p.Serve(func(env jsonrpc.Envelope) {
				if env.Method == "notifications/cancelled" {
					told <- string(jsonrpc.Get(env.Params, "requestId"))
				}
			})
		})}, config.Server{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait()
			if in := s.Status().Inflight; len(in) != 1 || in[0].Method != "tools/call" || in[0].Target != "wait" {
				t.Errorf("%+v", in)
			}
			cancel()
		}()
		r, err := s.CallTool(ctx, "wait", nil, session.CallOptions{})
		if failure.KindOf(err) != failure.Interrupted {
			t.Fatal(err)
		}
		<-told
		if e, _ := m.Journal().Get(r.Request); e.Status != journal.Cancelled || e.Tool != "wait" {
			t.Errorf("%+v", e)
		}
	})
}

// TestS2_ShutdownFailsPending: nothing waits for an answer that cannot come.
func TestS2_ShutdownFailsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := sessiontest.Open(t, session.Options{Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{}`)
			p.Serve(func(jsonrpc.Envelope) {})
		})}, config.Server{})
		errs := make(chan error, 10)
		for range 10 {
			go func() {
				_, err := s.Call(t.Context(), "x", nil, session.CallOptions{})
				errs <- err
			}()
		}
		synctest.Wait()
		require.NoError(t, s.Disconnect())
		for range 10 {
			if err := <-errs; failure.KindOf(err) != failure.ChannelClosed {
				t.Error(err)
			}
		}
		if _, err := s.Call(t.Context(), "x", nil, session.CallOptions{}); failure.KindOf(err) != failure.ServerNotConnected {
			t.Error(err)
		}
	})
}

// TestMalformedAnswerFailsAtOnce: the caller of a broken answer does not wait for a timeout, and the next one works.
func TestMalformedAnswerFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{}`)
			p.Serve(func(env jsonrpc.Envelope) {
				p.Send("starting up …")
				p.Send("")
				p.Send(`{"jsonrpc":"2.0","id":%s,"result":1,"Result":2}`, env.ID)
			})
		})}, config.Server{})
		start := time.Now()
		_, err := s.Call(t.Context(), "x", nil, session.CallOptions{})
		if failure.KindOf(err) != failure.Protocol || time.Since(start) != 0 || !strings.Contains(err.Error(), "letter case") {
			t.Error(err)
		}
		if got := sessiontest.Notes(m, journal.Bad); !strings.Contains(got, "must write their logs to stderr") || strings.Count(got, "\n") != 1 {
			t.Error(got)
		}
	})
}

func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{}`)
			p.Serve(func(env jsonrpc.Envelope) {
				p.Send(`[{"jsonrpc":"2.0","method":"notifications/message","params":{}},{"jsonrpc":"2.0","id":%s,"result":true}]`, env.ID)
			})
		})}, config.Server{})
		if r, err := s.Call(t.Context(), "x", nil, session.CallOptions{}); err != nil || string(r.Result) != "true" {
			t.Error(err)
		}
	})
}

// TestD6_RPCErrorIsExact: code, message and data arrive as sent, and data is absent when there was none.
func TestD6_RPCErrorIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{}`)
			p.Serve(func(env jsonrpc.Envelope) { p.Refuse(env, -31999, jsonrpc.GetString(env.Params, "add")) })
		})}, config.Server{})
		for add, data := range map[string]string{``: ``, `,\"data\":[1.0]`: `[1.0]`} {
			_, err := s.Call(t.Context(), "x", []byte(`{"add":"`+add+`"}`), session.CallOptions{})
			var e *failure.Error
			if !errors.As(err, &e) || e.Kind != failure.RpcError || *e.Code != -31999 || e.Message != "refused" || string(e.Data) != data {
				t.Fatalf("%+v", err)
			}
		}
	})
}

// TestServerRequests: ping and roots are answered, everything else is refused, and roots only when there are any.
func TestServerRequests(t *testing.T) {
	for _, roots := range [][]string{nil, {"/tmp/a b", "file:///c"}} {
		synctest.Test(t, func(t *testing.T) {
			got := make(chan jsonrpc.Envelope, 10)
			advertised := make(chan string, 1)
			sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
				p.Serve(func(env jsonrpc.Envelope) {
					switch {
					case env.Method == "initialize":
						advertised <- string(jsonrpc.Get(env.Params, "capabilities"))
						p.Answer(env, `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{}}`)
					case env.Method == "notifications/initialized":
						p.Send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
						p.Send(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
						p.Send(`{"jsonrpc":"2.0","id":2.5,"method":"sampling/createMessage","params":{}}`)
					case env.Kind == jsonrpc.Response || env.Kind == jsonrpc.ErrorResponse:
						got <- env
					default:
						p.Refuse(env, -32601, "")
					}
				})
			})}, config.Server{Roots: roots})
			all := map[string]string{}
			for range 3 {
				env := <-got
				all[string(env.ID)] = string(env.Result) + string(jsonrpc.Get(env.Error, "code"))
			}
			want := map[string]string{`"p"`: "{}", "1": "-32601", "2.5": "-32601"}
			caps := "{}"
			if roots != nil {
				want["1"] = `{"roots":[{"uri":"file:///tmp/a%20b","name":"a b"},{"uri":"file:///c"}]}`
				caps = `{"roots":{}}`
			}
			if a := <-advertised; a != caps {
				t.Errorf("advertised %s", a)
			}
			for id, v := range want {
				assert.Equalf(t, all[id], v, "%s", id)
			}
		})
	}
}
