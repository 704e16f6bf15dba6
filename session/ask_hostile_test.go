package session_test

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// TestRoundsEndWithTheirSession: between two requests a call has none in flight, and its questions end all the same.
func TestRoundsEndWithTheirSession(t *testing.T) {
	for _, tool := range []string{"ask", "pages"} {
		for name, end := range map[string]func(*session.Manager, *session.Session) error{
			"disconnected": func(_ *session.Manager, s *session.Session) error { return s.Disconnect() },
			"closed":       func(m *session.Manager, s *session.Session) error { return m.Unregister(s.Name()) },
		} {
			synctest.Test(t, func(t *testing.T) {
				q := pending.New(pending.Options{Attended: true})
				m, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Pending: q, Dial: sessiontest.Dial(asking(tool == "ask"))}, config.Server{})
				ctx, cancel := context.WithCancel(t.Context())
				done := start(ctx, s, tool)
				synctest.Wait()
				if q.Len() == 0 {
					t.Fatal("nothing is asked")
				}
				assert.NoError(t, end(m, s))
				synctest.Wait()
				if q.Len() != 0 {
					t.Errorf("%s: %d still wait after the session is %s", tool, q.Len(), name)
				} else if all := q.History(); !strings.Contains(all[0].Why, name) {
					t.Errorf("%s: %q", tool, all[0].Why)
				}
				cancel()
				if got := <-done; failure.KindOf(got.err) != failure.ChannelClosed {
					t.Errorf("%s: %v", tool, got.err)
				}
			})
		}
	}
}

// TestOneRoundAsksForTooMuch: a round is refused as a whole, without a goroutine for each question.
func TestOneRoundAsksForTooMuch(t *testing.T) {
	var many strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&many, `,"%d":{"method":"sampling/createMessage"}`, i)
	}
	q := pending.New(pending.Options{Attended: true})
	_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Pending: q, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
		p.Serve(func(env jsonrpc.Envelope) {
			switch env.Method {
			case "server/discover":
				p.Answer(env, modernHello)
			case "tools/call":
				p.Answer(env, `{"resultType":"input_required","inputRequests":{`+many.String()[1:]+`}}`)
			}
		})
	})}, config.Server{})
	_, err := s.CallTool(t.Context(), "x", nil, session.CallOptions{})
	if failure.KindOf(err) != failure.Protocol || !strings.Contains(err.Error(), "more than 64 questions at once") {
		t.Error(err)
	}
	assert.Equalf(t, len(q.History()), 0, "were asked")
}

// TestQuestionsHoldNoMoreThanTheirOwn: what a server sends along is not held while they wait, nor afterwards.
func TestQuestionsHoldNoMoreThanTheirOwn(t *testing.T) {
	const n, junk = 20, 8 << 20
	padding := strings.Repeat("x", junk)
	q := pending.New(pending.Options{Attended: true})
	_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Unrecorded: true, Pending: q, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
		p.Handshake(`{"tools":{}}`)
		p.Serve(func(env jsonrpc.Envelope) {
			for i := 0; env.Method == "tools/call" && i < n; i++ {
				p.Send(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":%s,"junk":"%s"}`, i, asksName, padding)
			}
		})
	})}, config.Server{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := start(ctx, s, "x")
	require.Eventually(t, "all questions", func() bool { return q.Len() >= n })
	held := func(what string) {
		t.Helper()
		runtime.GC()
		var m runtime.MemStats
		if runtime.ReadMemStats(&m); m.HeapAlloc > n*junk/2 {
			t.Errorf("%d MB are held by questions that %s", m.HeapAlloc>>20, what)
		}
	}
	held("wait")
	cancel()
	<-done
	held("are over")
	if len(q.History()) == 0 {
		t.Error("none is over")
	}
}

// TestCancelledRoundSaysSoOnce: whatever the number of its questions.
func TestCancelledRoundSaysSoOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := pending.New(pending.Options{Attended: true})
		s := openAsking(t, true, q)
		ctx, cancel := context.WithCancel(t.Context())
		done := start(ctx, s, "ask")
		waits(t, q, 2)
		cancel()
		got := <-done
		if failure.KindOf(got.err) != failure.Interrupted || strings.Contains(got.err.Error(), "\n") {
			t.Errorf("%q", got.err)
		}
	})
}

// TestPreparedAnswersAreForQuestionsInOrder: of one round, too; and those that are left are all named.
func TestPreparedAnswersAreForQuestionsInOrder(t *testing.T) {
	const n = 8
	var round strings.Builder
	for i := range n {
		fmt.Fprintf(&round, `,"k%d":{"method":"elicitation/create","params":%s}`, i, asksName)
	}
	open := func(t *testing.T, prepared int) (*session.Session, *pending.Queue) {
		script := &pending.Script{}
		for i := range prepared {
			require.NoError(t, script.Add(fmt.Appendf(nil, `{"n":%d}`, i)))
		}
		q := pending.New(pending.Options{Rules: []pending.Rule{script}})
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Pending: q, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Serve(func(env jsonrpc.Envelope) {
				answers := jsonrpc.Get(env.Params, "inputResponses")
				switch {
				case env.Method == "server/discover":
					p.Answer(env, modernHello)
				case answers != nil:
					p.Answer(env, string(answers))
				case env.Method == "tools/call":
					p.Answer(env, `{"resultType":"input_required","inputRequests":{`+round.String()[1:]+`}}`)
				}
			})
		})}, config.Server{})
		return s, q
	}
	s, _ := open(t, n)
	r, err := s.CallTool(t.Context(), "x", nil, session.CallOptions{})
	for i := range n {
		if got := string(jsonrpc.Get(r.Result, fmt.Sprint("k", i), "content")); err != nil || got != fmt.Sprintf(`{"n":%d}`, i) {
			t.Errorf("question %d got %s %v", i, got, err)
		}
	}
	s, q := open(t, 3)
	if _, err := s.CallTool(t.Context(), "x", nil, session.CallOptions{}); failure.KindOf(err) != failure.NeedsInput {
		t.Error(err)
	}
	if left := q.Unanswered(); len(left) != n-3 || left[0].Key != "k3" {
		t.Errorf("%d are left, the first %+v", len(left), left)
	}
}

// TestTasksQuestionOutlivesOtherCalls: what a task asks over stdio does not end with a call that runs at that moment.
func TestTasksQuestionOutlivesOtherCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := pending.New(pending.Options{Attended: true})
		got := make(chan string, 1)
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Pending: q, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{"tools":{}}`)
			p.Serve(func(env jsonrpc.Envelope) {
				switch env.Method {
				case "":
					got <- string(env.Result)
				case "tools/call":
					p.Send(`{"jsonrpc":"2.0","id":"t","method":"elicitation/create","params":{"message":"Who?","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}},"requestedSchema":{}}}`)
					p.Answer(env, `{"content":[]}`)
				}
			})
		})}, config.Server{})
		<-start(t.Context(), s, "x")
		x := waits(t, q, 1)[0]
		assert.NoError(t, q.Answer(x.ID, pending.ActionResult("accept")))
		assert.Equal(t, <-got, `{"action":"accept"}`)
	})
}

// TestUndeclaredModesAreRefused: elicitation in a mode that does not exist is not a form without fields, and one that the server was
// not told of is not answered.
func TestUndeclaredModesAreRefused(t *testing.T) {
	for _, c := range []struct{ caps, mode, want string }{
		{"", `"voice"`, "-32602"},
		{"", `"form"`, "null"},
		{"", `"url"`, "null"},
		{"{}", `"url"`, "null"},
		{`{"elicitation":{}}`, `"url"`, "-32602"},
		{`{"elicitation":{"form":{}}}`, `"url"`, "-32602"},
		{`{"elicitation":{"url":{}}}`, `"form"`, "-32602"},
		{`{"elicitation":{}}`, `"form"`, "null"},
		{`{"elicitation":{"url":{}}}`, `"url"`, "null"},
	} {
		q := pending.New(pending.Options{Rules: []pending.Rule{always{`{"action":"accept"}`}}})
		o := session.Options{HealthInterval: -1, Pending: q, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{"tools":{}}`)
			var call jsonrpc.Envelope
			p.Serve(func(env jsonrpc.Envelope) {
				switch env.Method {
				case "tools/call":
					call = env
					p.Send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":%s,"message":"Speak"}}`, c.mode)
				case "":
					code := string(jsonrpc.Get(env.Error, "code"))
					p.Answer(call, fmt.Sprintf(`{"code":%s}`, cmp.Or(code, "null")))
				}
			})
		})}
		if c.caps != "" {
			o.Client = &session.Client{Capabilities: []byte(c.caps)}
		}
		_, s := sessiontest.Open(t, o, config.Server{})
		got, err := s.CallTool(t.Context(), "x", nil, session.CallOptions{})
		if err != nil || string(got.Result) != `{"code":`+c.want+`}` {
			t.Errorf("%s of %q: %s %v, want %s", c.mode, c.caps, got.Result, err, c.want)
		}
	}
}

// TestMisformedRequestsAreAnswered: a request that is wrong in itself asks nobody, but gets an answer. What is not JSON has none.
func TestMisformedRequestsAreAnswered(t *testing.T) {
	for request, want := range map[string]string{
		`"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":["Speak"]`:           "-32602",
		`"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":5`:                   "-32602",
		`"jsonrpc":"2.0","id":7,"method":"ping","params":"x"`:                                 "-32602",
		`"jsonrpc":"1.0","id":"q","method":"elicitation/create","params":{"message":"Speak"}`: "-32600",
		`"jsonrpc":"2.0","id":-1,"method":"ping","result":{}`:                                 "-32600",
	} {
		q := pending.New(pending.Options{Rules: []pending.Rule{always{`{"action":"accept"}`}}})
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Pending: q, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{"tools":{}}`)
			var call jsonrpc.Envelope
			p.Serve(func(env jsonrpc.Envelope) {
				switch env.Method {
				case "tools/call":
					call = env
					p.Send(`{%s`, request) // is no JSON
					p.Send(`{%s}`, request)
				case "":
					p.Answer(call, fmt.Sprintf(`{"code":%s}`, cmp.Or(string(jsonrpc.Get(env.Error, "code")), "null")))
				}
			})
		})}, config.Server{})
		got, err := s.CallTool(t.Context(), "x", nil, session.CallOptions{})
		if err != nil || string(got.Result) != `{"code":`+want+`}` || len(q.History()) > 0 {
			t.Errorf("%s: %s %v, want %s", request, got.Result, err, want)
		}
	}
}
