package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/journal"
)

const asksName = `{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","default":"Ann"}}}}`

// asking is a server whose tool "ask" asks for a name and gives the answer as its result; "pages" wants a page to be visited.
func asking(modern bool) func(int, *sessiontest.Peer) {
	return func(_ int, p *sessiontest.Peer) {
		if !modern {
			p.Handshake(`{"tools":{}}`)
		}
		calls := map[string]jsonrpc.Envelope{}
		visited := false
		p.Serve(func(env jsonrpc.Envelope) {
			name := jsonrpc.GetString(env.Params, "name")
			switch {
			case env.Method == "server/discover":
				p.Answer(env, modernHello)
			case env.Method == "": // the answer to a question
				p.Answer(calls[string(env.ID)], fmt.Sprintf(`{"got":%s}`, env.Result))
			case name == "ask" && !modern:
				calls[`"q`+string(env.ID)+`"`] = env
				p.Send(`{"jsonrpc":"2.0","id":"q%s","method":"elicitation/create","params":%s}`, env.ID, asksName)
			case name == "gives up":
				p.Send(`{"jsonrpc":"2.0","id":"g","method":"elicitation/create","params":%s}`, asksName)
				p.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"g"}}`)
			case name == "answers":
				p.Send(`{"jsonrpc":"2.0","id":"g","method":"sampling/createMessage","params":{}}`)
				go func() {
					time.Sleep(time.Second)
					p.Answer(env, `{"early":true}`)
				}()
			case name == "pages" && !visited:
				visited = true
				p.Refuse(env, -32042, `,"data":{"elicitations":[{"mode":"url","elicitationId":"e1","url":"https://example.com/x","message":"visit"}]}`)
			case name == "pages":
				p.Answer(env, `{"visited":true}`)
			case name == "for ever":
				p.Answer(env, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":`+asksName+`}},"requestState":"`+string(env.ID)+`"}`)
			case env.Method == "tools/call":
				if answers := jsonrpc.Get(env.Params, "inputResponses"); answers != nil {
					p.Answer(env, fmt.Sprintf(`{"resultType":"complete","got":%s,"state":%s}`, answers, jsonrpc.Get(env.Params, "requestState")))
					return
				}
				p.Answer(env, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":`+asksName+`},"b":{"method":"sampling/createMessage","params":{}}},"requestState":"s1"}`)
			}
		})
	}
}

func openAsking(t *testing.T, modern bool, q *pending.Queue) *session.Session {
	t.Helper()
	_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Pending: q, Dial: sessiontest.Dial(asking(modern))}, config.Server{})
	return s
}

// waits is the only question that is open, once there is one.
func waits(t *testing.T, q *pending.Queue, n int) []pending.Question {
	t.Helper()
	synctest.Wait()
	if all := q.Open(); len(all) == n {
		return all
	}
	t.Fatalf("%d are open, want %d", q.Len(), n)
	return nil
}

type outcome struct {
	result string
	err    error
}

func start(ctx context.Context, s *session.Session, tool string) chan outcome {
	done := make(chan outcome, 1)
	go func() {
		r, err := s.CallTool(ctx, tool, nil, session.CallOptions{})
		done <- outcome{string(r.Result), err}
	}()
	return done
}

// TestCallWaits90MinutesForAPerson: the clocks of a call stand still while its question waits, in both eras.
func TestCallWaits90MinutesForAPerson(t *testing.T) {
	for _, modern := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			q := pending.New(pending.Options{Attended: true})
			s := openAsking(t, modern, q)
			done := start(t.Context(), s, "ask")
			n, want := 1, `{"got":{"action":"accept","content":{"name":"Bob"}}}`
			if modern {
				n, want = 2, `{"resultType":"complete","got":{"a":{"action":"accept","content":{"name":"Bob"}},"b":{"role":"assistant","model":"m","content":{"type":"text","text":"hi"}}},"state":"s1"}`
			}
			asked := waits(t, q, n)
			if x := asked[0]; x.Cause.Method != "tools/call" || x.Cause.Target != "ask" || x.Title != "peer" || string(x.Params) != asksName && n == 1 {
				t.Errorf("%+v", x)
			}
			time.Sleep(90 * time.Minute)
			for _, x := range asked {
				answer := pending.AcceptResult([]byte(`{"name":"Bob"}`))
				if x.Kind == pending.Sampling {
					answer = pending.Message{Model: "m", Content: []json.RawMessage{pending.Text("hi")}}.Result()
				}
				assert.NoError(t, q.Answer(x.ID, answer))
			}
			if got := <-done; got.err != nil || got.result != want {
				t.Errorf("%+v, want %s", got, want)
			}
			if all := q.History(); len(all) != n || all[0].By != "you" || q.Len() != 0 {
				t.Errorf("%+v", all)
			}
			if err := q.Answer(asked[0].ID, []byte(`{}`)); failure.KindOf(err) != failure.NotFound {
				t.Error(err)
			}
		})
	}
}

// TestPatienceGoesOn: after the answer the call has the rest of its time.
func TestPatienceGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := pending.New(pending.Options{Attended: true})
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Pending: q, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{"tools":{}}`)
			p.Serve(func(env jsonrpc.Envelope) {
				if env.Method == "tools/call" {
					time.Sleep(10 * time.Second)
					p.Send(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":%s}`, asksName)
				}
			})
		})}, config.Server{})
		began := time.Now()
		done := start(t.Context(), s, "x")
		time.Sleep(11 * time.Second)
		x := waits(t, q, 1)[0]
		time.Sleep(time.Hour)
		assert.NoError(t, q.Answer(x.ID, pending.ActionResult(pending.Decline)))
		if got, took := <-done, time.Since(began); failure.KindOf(got.err) != failure.Timeout || took != time.Hour+31*time.Second {
			t.Errorf("%v after %v", got.err, took)
		}
	})
}

// TestQuestionsEnd: by the server, by the call, by the connection.
func TestQuestionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := pending.New(pending.Options{Attended: true})
		s := openAsking(t, false, q)
		ended := func(want string) {
			t.Helper()
			synctest.Wait()
			all := q.History()
			if q.Len() != 0 || len(all) == 0 || !strings.Contains(all[len(all)-1].Why, want) {
				t.Errorf("open %d, ended %+v; want %s", q.Len(), all, want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		gives := start(ctx, s, "gives up")
		ended("the server withdrew it")
		cancel()
		<-gives

		if got := <-start(t.Context(), s, "answers"); got.result != `{"early":true}` {
			t.Error(got)
		}
		ended("the call that caused it is over")

		ctx, cancel = context.WithCancel(t.Context())
		done := start(ctx, s, "ask")
		x := waits(t, q, 1)[0]
		cancel()
		if got := <-done; failure.KindOf(got.err) != failure.Interrupted {
			t.Error(got.err)
		}
		ended("the call that caused it is over")
		assert.ErrorContains(t, q.Answer(x.ID, []byte(`{}`)), "the call that caused it is over")

		done = start(t.Context(), s, "ask")
		waits(t, q, 1)
		assert.NoError(t, s.Disconnect())
		if got := <-done; got.err == nil {
			t.Error(got)
		}
		ended("disconnected")
	})
}

// TestPagesThatACallWants: the call is made again when the server reports that its page was visited.
func TestPagesThatACallWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := pending.New(pending.Options{Attended: true})
		s := openAsking(t, false, q)
		done := start(t.Context(), s, "pages")
		if x := waits(t, q, 1)[0]; !x.Required || x.Kind != pending.URL || x.Message() != "visit" {
			t.Errorf("%+v", x)
		}
		q.Complete("peer", []byte(`{"elicitationId":"e1"}`))
		if got := <-done; got.err != nil || got.result != `{"visited":true}` {
			t.Error(got)
		}
	})
}

// TestNobodyIsThere: what nobody answers is refused at once, and known afterwards.
func TestNobodyIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := pending.New(pending.Options{})
		s := openAsking(t, false, q)
		if got := <-start(t.Context(), s, "ask"); got.result != `{"got":}` && got.err == nil {
			t.Error(got)
		}
		if all := q.Unanswered(); len(all) != 1 || string(all[0].Params) != asksName {
			t.Errorf("%+v", all)
		}
		modern := openAsking(t, true, q)
		got := <-start(t.Context(), modern, "ask")
		var e *failure.Error
		if !errors.As(got.err, &e) || e.Kind != failure.NeedsInput || !strings.Contains(string(e.Data), "inputRequests") {
			t.Error(got.err)
		}
	})
}

type always struct{ result string }

func (always) Name() string { return "always" }

func (a always) Answer(context.Context, pending.Question) (json.RawMessage, *jsonrpc.Error, bool) {
	return json.RawMessage(a.result), nil, true
}

// TestRoundsAreBounded: a server that asks for ever is stopped; what is said of rounds is right.
func TestRoundsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := pending.New(pending.Options{Rules: []pending.Rule{always{`{"action":"accept","content":{}}`}}})
		got := <-start(t.Context(), openAsking(t, true, q), "for ever")
		if failure.KindOf(got.err) != failure.Protocol || !strings.Contains(got.err.Error(), "50 times in a row") {
			t.Error(got.err)
		}
		all := q.History()
		if len(all) != 50 || all[49].Round != 50 || len(all[49].Earlier) != 49 || !all[1].StateChanged || all[0].StateChanged || all[0].By != "always" {
			t.Errorf("%d ended, the last %+v", len(all), all[len(all)-1])
		}
	})
}

// TestRootsAreEdited: the server of the legacy era is told, and gets the new ones.
func TestRootsAreEdited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan string, 8)
		q := pending.New(pending.Options{Attended: true})
		var hello string
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Pending: q, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			env, _ := p.Next()
			p.Refuse(env, -32601, "")
			env, _ = p.Next()
			hello = string(jsonrpc.Get(env.Params, "capabilities"))
			p.Answer(env, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"peer","version":"1"}}`)
			p.Serve(func(env jsonrpc.Envelope) {
				switch env.Method {
				case "notifications/roots/list_changed":
					p.Send(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
				case "":
					told <- string(env.Result)
				}
			})
		})}, config.Server{})
		if want := `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{"listChanged":true}}`; hello != want {
			t.Errorf("capabilities %s, want %s", hello, want)
		}
		require.NoError(t, s.SetRoots(t.Context(), []string{"file:///a"}))
		assert.Equal(t, <-told, `{"roots":[{"uri":"file:///a"}]}`)
	})
}

// TestSessionPresentsAnotherClient: what was chosen counts from the next connection on.
func TestSessionPresentsAnotherClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hello []string
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Serve(func(env jsonrpc.Envelope) {
				switch env.Method {
				case "server/discover":
					p.Refuse(env, -32601, "")
				case "initialize":
					hello = append(hello, string(env.Params))
					p.Answer(env, `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"peer","version":"1"}}`)
				}
			})
		})}, config.Server{})
		s.Present(&session.Client{Info: []byte(`{"name":"x","version":"9"}`), Capabilities: []byte(`{"roots":{}}`), Protocol: "2025-06-18"})
		require.NoError(t, s.Reconnect(t.Context()))
		if want := `{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"x","version":"9"}}`; len(hello) != 2 || hello[1] != want {
			t.Errorf("%s", hello)
		}
	})
}

// TestTooManyQuestions: those beyond the limit are refused at once, one that uses an id twice is journalled, and the rest wait.
func TestTooManyQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := pending.New(pending.Options{Attended: true})
		refused, alive := make(chan string, 100), make(chan struct{}, 1)
		m, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Pending: q, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{"tools":{}}`)
			p.Serve(func(env jsonrpc.Envelope) {
				if env.Kind == jsonrpc.ErrorResponse {
					refused <- string(env.Error)
				}
				if string(env.ID) == `"alive"` && env.Kind == jsonrpc.Response {
					alive <- struct{}{}
				}
				if env.Method != "tools/call" {
					return
				}
				for i := range 70 {
					p.Send(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":%s}`, i, asksName)
				}
				p.Send(`{"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":%s}`, asksName)
				p.Send(`{"jsonrpc":"2.0","id":"alive","method":"ping"}`)
			})
		})}, config.Server{})
		ctx, cancel := context.WithCancel(t.Context())
		done := start(ctx, s, "x")
		waits(t, q, 64)
		if len(refused) != 6 || !strings.Contains(<-refused, "more than 64 requests at once") {
			t.Errorf("%d were refused", len(refused))
		}
		<-alive // a ping is answered all the same
		if notes := sessiontest.Notes(m, journal.State); strings.Count(notes, "with this id is still being answered") != 1 {
			t.Error(notes)
		}
		cancel()
		<-done
		waits(t, q, 0)
	})
}

// A result of a type that the protocol does not have is none: nobody here knows what it means. An older protocol has no types.
func TestResultsOfAnUnknownType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, modern := range []bool{true, false} {
			for _, result := range []string{`{"resultType":"partial","content":[]}`, `{"content":[{"type":"text","text":"` + strings.Repeat("x", 200_000) + `"}],"resultType":"partial"}`} {
				_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
					p.Serve(func(env jsonrpc.Envelope) {
						switch {
						case env.Method == "tools/call":
							p.Answer(env, result)
						case env.Method == "initialize":
							p.Answer(env, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`)
						case modern && env.Method == "server/discover":
							p.Answer(env, modernHello)
						default:
							p.Refuse(env, -32601, "")
						}
					})
				})}, config.Server{})
				r, err := s.Call(t.Context(), "tools/call", json.RawMessage(`{"name":"x"}`), session.CallOptions{})
				if !modern {
					if err != nil || string(r.Result) != result {
						t.Error(err)
					}
					continue
				}
				var e *failure.Error
				if !errors.As(err, &e) || e.Kind != failure.Protocol || !strings.Contains(err.Error(), `unknown type (resultType "partial")`) || string(e.Data) != result {
					t.Error(err)
				}
			}
		}
	})
}
