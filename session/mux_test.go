package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

func TestS2_ConcurrentShuffledReplies(t *testing.T) {
	const calls = 100
	synctest.Test(t, func(t *testing.T) {
		_, s := open(t, Options{Dial: dialPeer(func(_ int, p *peer) {
			p.greet(`{}`)
			var waiting []jsonrpc.Envelope
			ids := map[string]bool{}
			p.serve(func(env jsonrpc.Envelope) {
				ids[string(env.ID)] = true
				if waiting = append(waiting, env); len(waiting) < calls {
					return
				}
				rand.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
				for _, w := range waiting {
					p.answer(w, fmt.Sprintf(`{"ids":%d,"got":%s}`, len(ids), memberOf(w.Params, "n")))
				}
			})
		})}, config.Server{})
		var wg sync.WaitGroup
		for n := range calls {
			wg.Go(func() {
				r, err := s.Call(t.Context(), "x", fmt.Appendf(nil, `{"n":%d}`, n), CallOptions{})
				if want := fmt.Sprintf(`{"ids":100,"got":%d}`, n); err != nil || string(r.Result) != want {
					t.Errorf("%s, want %s: %v", r.Result, want, err)
				}
			})
		}
		wg.Wait()
		if n := len(s.Status().Inflight); n != 0 {
			t.Errorf("%d requests left", n)
		}
	})
}

// TestS2_C8_LateReply: an answer after the timeout is journalled, flagged and ignored; the server was told.
func TestS2_C8_LateReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan string, 1)
		m, s := open(t, Options{HealthInterval: -1, Dial: dialPeer(func(_ int, p *peer) {
			p.greet(`{}`)
			p.serve(func(env jsonrpc.Envelope) {
				switch env.Method {
				case "slow":
					go func() {
						time.Sleep(40 * time.Second)
						p.answer(env, `"late"`)
						p.answer(env, `"later"`)
						p.say(`{"jsonrpc":"2.0","id":4711,"result":{}}`)
						p.say(`{"jsonrpc":"2.0","id":"2","result":{}}`)
					}()
				case "notifications/cancelled":
					told <- string(memberOf(env.Params, "requestId"))
				default:
					p.answer(env, `"fine"`)
				}
			})
		})}, config.Server{})
		start := time.Now()
		r, err := s.Call(t.Context(), "slow", nil, CallOptions{})
		if failure.KindOf(err) != failure.Timeout || time.Since(start) != 30*time.Second || r.Request == 0 {
			t.Fatal(err, time.Since(start))
		}
		if want := "peer: slow: no answer within 30s; raise --timeout"; err.Error() != want {
			t.Errorf("%q", err)
		}
		e, _ := m.Journal().Get(r.Request)
		if id := <-told; id != e.ID {
			t.Errorf("cancelled %s, want %s", id, e.ID)
		}
		time.Sleep(15 * time.Second)
		if r, err := s.Call(t.Context(), "next", nil, CallOptions{}); err != nil || string(r.Result) != `"fine"` {
			t.Fatal(r, err)
		}
		got := notes(m, journal.Response)
		if strings.Count(got, "late answer, the request was timed out") != 2 || strings.Count(got, "no request has this id") != 2 {
			t.Errorf("notes: %s", got)
		}
	})
}

func TestS2_DuplicateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := open(t, Options{HealthInterval: -1, Dial: dialPeer(func(_ int, p *peer) {
			p.greet(`{}`)
			p.serve(func(env jsonrpc.Envelope) {
				p.answer(env, `1`)
				p.answer(env, `2`)
			})
		})}, config.Server{})
		for range 3 {
			if r, err := s.Call(t.Context(), "x", nil, CallOptions{}); err != nil || string(r.Result) != "1" {
				t.Fatal(string(r.Result), err)
			}
		}
		synctest.Wait()
		if got := notes(m, journal.Response); strings.Count(got, "duplicate") != 3 {
			t.Error(got)
		}
	})
}

// TestS2_Progress: every notification is counted, callers see the latest, the timeout starts again with each, and the
// maximum holds in spite of them.
func TestS2_Progress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := open(t, Options{HealthInterval: -1, Dial: dialPeer(func(_ int, p *peer) {
			p.greet(`{}`)
			p.serve(func(env jsonrpc.Envelope) {
				token := memberOf(memberOf(env.Params, "_meta"), "progressToken")
				switch textOf(env.Params, "name") {
				case "many":
					for i := range 10_000 {
						p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":10000,"message":"step"}}`, token, i+1)
					}
					p.answer(env, `{}`)
				case "slow", "endless":
					go func() {
						for i := range 20 {
							select {
							case <-time.After(20 * time.Second):
							case <-p.ctx.Done():
								return
							}
							p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, token, i)
							if i == 5 && textOf(env.Params, "name") == "slow" {
								p.answer(env, `{}`)
								return
							}
						}
					}()
				}
			})
		})}, config.Server{})
		var last Progress
		seen := 0
		if _, err := s.CallTool(t.Context(), "many", nil, CallOptions{OnProgress: func(g Progress) { last, seen = g, seen+1 }}); err != nil {
			t.Fatal(err)
		}
		if want := (Progress{Count: 10_000, Progress: 10_000, Total: 10_000, HasTotal: true, Message: "step"}); last != want || seen < 1 {
			t.Errorf("%+v after %d calls", last, seen)
		}
		start := time.Now()
		if _, err := s.CallTool(t.Context(), "slow", nil, CallOptions{}); err != nil || time.Since(start) != 2*time.Minute {
			t.Error(err, time.Since(start))
		}
		start = time.Now()
		_, err := s.CallTool(t.Context(), "endless", nil, CallOptions{})
		if failure.KindOf(err) != failure.Timeout || time.Since(start) != config.DefaultMaxTimeout || !strings.Contains(err.Error(), "--max-timeout") {
			t.Error(err, time.Since(start))
		}
	})
}

func TestS2_CancelTellsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan string, 1)
		m, s := open(t, Options{HealthInterval: -1, Dial: dialPeer(func(_ int, p *peer) {
			p.greet(`{}`)
			p.serve(func(env jsonrpc.Envelope) {
				if env.Method == "notifications/cancelled" {
					told <- string(memberOf(env.Params, "requestId"))
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
		r, err := s.CallTool(ctx, "wait", nil, CallOptions{})
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
		_, s := open(t, Options{Dial: dialPeer(func(_ int, p *peer) {
			p.greet(`{}`)
			p.serve(func(jsonrpc.Envelope) {})
		})}, config.Server{})
		errs := make(chan error, 10)
		for range 10 {
			go func() {
				_, err := s.Call(t.Context(), "x", nil, CallOptions{})
				errs <- err
			}()
		}
		synctest.Wait()
		if err := s.Disconnect(); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if err := <-errs; failure.KindOf(err) != failure.ChannelClosed {
				t.Error(err)
			}
		}
		if _, err := s.Call(t.Context(), "x", nil, CallOptions{}); failure.KindOf(err) != failure.ServerNotConnected {
			t.Error(err)
		}
	})
}

// TestMalformedAnswerFailsAtOnce: the caller of a broken answer does not wait for a timeout, and the next one works.
func TestMalformedAnswerFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := open(t, Options{HealthInterval: -1, Dial: dialPeer(func(_ int, p *peer) {
			p.greet(`{}`)
			p.serve(func(env jsonrpc.Envelope) {
				p.say("starting up …")
				p.say("")
				p.say(`{"jsonrpc":"2.0","id":%s,"result":1,"Result":2}`, env.ID)
			})
		})}, config.Server{})
		start := time.Now()
		_, err := s.Call(t.Context(), "x", nil, CallOptions{})
		if failure.KindOf(err) != failure.Protocol || time.Since(start) != 0 || !strings.Contains(err.Error(), "letter case") {
			t.Error(err)
		}
		if got := notes(m, journal.Bad); !strings.Contains(got, "must write their logs to stderr") || strings.Count(got, "\n") != 1 {
			t.Error(got)
		}
	})
}

func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := open(t, Options{HealthInterval: -1, Dial: dialPeer(func(_ int, p *peer) {
			p.greet(`{}`)
			p.serve(func(env jsonrpc.Envelope) {
				p.say(`[{"jsonrpc":"2.0","method":"notifications/message","params":{}},{"jsonrpc":"2.0","id":%s,"result":true}]`, env.ID)
			})
		})}, config.Server{})
		if r, err := s.Call(t.Context(), "x", nil, CallOptions{}); err != nil || string(r.Result) != "true" {
			t.Error(err)
		}
	})
}

// TestD6_RPCErrorIsExact: code, message and data arrive as sent, and data is absent when there was none.
func TestD6_RPCErrorIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := open(t, Options{HealthInterval: -1, Dial: dialPeer(func(_ int, p *peer) {
			p.greet(`{}`)
			p.serve(func(env jsonrpc.Envelope) { p.refuse(env, -31999, textOf(env.Params, "add")) })
		})}, config.Server{})
		for add, data := range map[string]string{``: ``, `,\"data\":[1.0]`: `[1.0]`} {
			_, err := s.Call(t.Context(), "x", []byte(`{"add":"`+add+`"}`), CallOptions{})
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
			open(t, Options{HealthInterval: -1, Dial: dialPeer(func(_ int, p *peer) {
				p.serve(func(env jsonrpc.Envelope) {
					switch {
					case env.Method == "initialize":
						advertised <- string(memberOf(env.Params, "capabilities"))
						p.answer(env, `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{}}`)
					case env.Method == "notifications/initialized":
						p.say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
						p.say(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
						p.say(`{"jsonrpc":"2.0","id":2.5,"method":"sampling/createMessage","params":{}}`)
					case env.Kind == jsonrpc.Response || env.Kind == jsonrpc.ErrorResponse:
						got <- env
					default:
						p.refuse(env, -32601, "")
					}
				})
			})}, config.Server{Roots: roots})
			all := map[string]string{}
			for range 3 {
				env := <-got
				all[string(env.ID)] = string(env.Result) + string(memberOf(env.Error, "code"))
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
				if all[id] != v {
					t.Errorf("%s: %s, want %s", id, all[id], v)
				}
			}
		})
	}
}

// refusing is a transport over HTTP that answers every POST with one status and body.
type refusing struct {
	status int
	body   string
	sent   chan Message
}

var (
	_ Transport     = (*stdio)(nil)
	_ Transport     = (*memory)(nil)
	_ HTTPTransport = (*refusing)(nil)
	_ Receiver      = (*mux)(nil)
)

func (r *refusing) Start(context.Context, Receiver) error { return nil }
func (r *refusing) Close() error                          { return nil }
func (r *refusing) SetVersion(string)                     {}
func (r *refusing) SessionID() string                     { return "" }
func (r *refusing) Send(_ context.Context, m Message) error {
	r.sent <- m
	return &HTTPError{Status: r.status, Method: http.MethodPost, URL: "http://h/mcp", Body: []byte(r.body)}
}

// TestS3_RefusedByHTTP: a JSON-RPC error in the body is the answer, anything else is a transport error with the status.
func TestS3_RefusedByHTTP(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		kind   failure.Kind
		code   int64
	}{
		{404, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`, failure.RpcError, -32601},
		{400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"no"}}`, failure.RpcError, -32020},
		{500, `oops`, failure.Transport, 0},
		{401, ``, failure.OAuth, 0},
	} {
		m := newMux(&refusing{status: c.status, body: c.body, sent: make(chan Message, 1)}, Tap{})
		_, err := m.call(t.Context(), &callSpec{method: "x"})
		var e *failure.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Status != c.status || (e.Code != nil && *e.Code != c.code) || (e.Code == nil) != (c.code == 0) {
			t.Errorf("%d: %+v", c.status, e)
		}
		if err := m.close(&failure.Error{}); err != nil {
			t.Error(err)
		}
	}
}

func TestMeta(t *testing.T) {
	for _, c := range []struct{ params, want string }{
		{``, `{"_meta":{"a":1}}`},
		{`{}`, `{"_meta":{"a":1}}`},
		{`{ "z" : 1.0 , "b":[ ] }`, `{ "z" : 1.0 , "b":[ ] ,"_meta":{"a":1}}`},
		{`{"_meta":{},"b":2}`, `{"_meta":{"a":1},"b":2}`},
		{`{"_meta":{"x":2},"b":2}`, `{"_meta":{"x":2,"a":1},"b":2}`},
		{`{"_meta":{"a":7}}`, `{"_meta":{"a":7}}`},
		{`{"_meta":null}`, `{"_meta":{"a":1}}`},
	} {
		got, err := withMeta([]byte(c.params), member{"a", []byte("1")})
		if err != nil || string(got) != c.want || !json.Valid(got) {
			t.Errorf("%s: %s %v, want %s", c.params, got, err, c.want)
		}
	}
	for _, bad := range []string{`[1]`, `{"_meta":3}`, `{`} {
		if _, err := withMeta([]byte(bad), member{"a", []byte("1")}); failure.KindOf(err) != failure.Usage {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestModernRequests: what the modern era wants in each request is there, over HTTP in the headers as well.
func TestModernRequests(t *testing.T) {
	tr := &refusing{status: 500, sent: make(chan Message, 1)}
	c := &conn{mux: newMux(tr, Tap{}), era: Modern, version: "2026-07-28", info: []byte(`{"name":"i","version":"1"}`), caps: []byte(`{}`)}
	level := "debug"
	c.logLevel.Store(&level)
	spec := &callSpec{method: "tools/call", target: "t", params: []byte(`{"name":"t","arguments":{"region":"eu"}}`)}
	schema := []byte(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`)
	if err := c.prepare(spec, schema); err != nil {
		t.Fatal(err)
	}
	_, _ = c.call(t.Context(), spec) // refused by design
	m := <-tr.sent
	want := `{"name":"t","arguments":{"region":"eu"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"i","version":"1"},"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"debug"}}`
	if env, err := jsonrpc.Scan(m.Frame); err != nil || string(env.Params) != want {
		t.Errorf("%s %v", m.Frame, err)
	}
	for k, v := range map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "t", "Mcp-Param-Region": "eu"} {
		if m.Header.Get(k) != v {
			t.Errorf("%s: %q", k, m.Header.Get(k))
		}
	}
	if err := c.close(&failure.Error{}); err != nil {
		t.Error(err)
	}
}
