package tap

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

const call = `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo"}}`

// carry lets a handler answer in a router's place.
func carry(p *Producer, session, body, id string, h http.HandlerFunc) {
	r := httptest.NewRequest("POST", "http://h/mcps/kb/mcp?token=hunter2", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer hunter2hunter2")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	w := httptest.NewRecorder()
	c := &flow.Call{Request: flow.Request{W: w, R: r, Agent: "kb"}}
	ingress := func(next flow.Handler) flow.Handler {
		return func(c *flow.Call) {
			c.Body = []byte(body)
			if c.Env, _ = jsonrpc.Scan(c.Body); string(c.Env.ID) != id && c.Env.Kind == jsonrpc.Request {
				panic("another id")
			}
			c.W = struct{ wrapped }{wrapped{c.W}} // somebody else's
			next(c)
		}
	}
	flow.Chain(func(c *flow.Call) { h(c.W, c.R) }, p.RecordResponses, ingress, p.RecordRequests)(c)
	if c.W != http.ResponseWriter(w) {
		panic("the writer is not given back")
	}
}

// wrapped is a writer around a writer.
type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func TestTapExchange(t *testing.T) {
	p := open(t, Options{})
	d := dial(t, p)
	require.Eventually(t, "the reader", p.Watched)
	d.next()
	d.next()
	carry(p, "0123456789abcdef-hunter2", call, "5", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		for _, part := range []string{`{"jsonrpc":"2.0",`, `"id":5,"result":{}}`} {
			_, _ = w.Write([]byte(part))
			_ = http.NewResponseController(w).Flush()
		}
	})
	req, ask, res, ans := d.next(), d.next(), d.next(), d.next()
	if req.head.Kind != "http" || strings.Contains(req.body, "hunter2") || !strings.HasPrefix(req.body, "POST /mcps/kb/mcp?token=*** HTTP/1.1\nAuthorization: Bearer ***\nMcp-Session-Id: ***\n") {
		t.Errorf("%+v\n%s", req.head, req.body)
	}
	if ask.head.Kind != "request" || ask.body != call || ask.head.Server != "kb" || ask.head.Conn == 0 {
		t.Errorf("%+v %s", ask.head, ask.body)
	}
	if res.head.Kind != "http" || !strings.HasPrefix(res.body, "200 OK\nContent-Type: application/json") {
		t.Errorf("%+v %s", res.head, res.body)
	}
	if ans.head.Kind != "response" || ans.body != `{"jsonrpc":"2.0","id":5,"result":{}}` || ans.head.Conn != ask.head.Conn {
		t.Errorf("%+v %s", ans.head, ans.body)
	}
}

// A status that says why there is no answer is no broken frame, whatever comes with it.
func TestTapOfRefusals(t *testing.T) {
	p := open(t, Options{})
	d := dial(t, p)
	require.Eventually(t, "the reader", p.Watched)
	d.next()
	d.next()
	for _, c := range []struct {
		kind, body, want string
		status           int
	}{
		{"application/json", `{"error":"event_stream_not_supported"}`, "http", 405},
		{"text/plain", "Invalid session ID", "http", 404},
		{"application/json", `{"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"no"}}`, "error", 404},
		{"application/json", `{"error":"what"}`, "bad", 200},
		{"text/plain", "hello", "bad", 200},
	} {
		carry(p, "", call, "5", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		})
		_, _, _, ans := d.next(), d.next(), d.next(), d.next()
		if string(ans.head.Kind) != c.want || ans.body != c.body {
			t.Errorf("%s with %d: %s %q %s", c.body, c.status, ans.head.Kind, ans.head.Note, ans.body)
		}
		if note := "body of " + statusLine(c.status); (ans.head.Note == note) != (c.want == "http") { // which says that it is not a head
			t.Errorf("%s with %d is noted as %q", c.body, c.status, ans.head.Note)
		}
		if c.status >= 400 {
			d.next() // that the request failed
		}
	}
}

func TestTapExchangeOfEvents(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		for _, chunk := range []int{1, 2, 3, 7, 1000} {
			t.Run(fmt.Sprintf("%q by %d", end, chunk), func(t *testing.T) {
				p := open(t, Options{})
				note := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`
				answer := `{"jsonrpc":"2.0","id":5,"result":{}}`
				stream := strings.ReplaceAll(": hello\n\nid: 1\ndata: "+note+"\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"n\"}\n\ndata: "+answer+"\n\n", "\n", end)
				carry(p, "", call, "5", func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					for rest := stream; rest != ""; {
						n := min(chunk, len(rest))
						_, _ = w.Write([]byte(rest[:n]))
						rest = rest[n:]
					}
				})
				d := dial(t, p)
				d.next()
				for _, want := range []string{call, note, "{\"jsonrpc\":\"2.0\",\n\"method\":\"n\"}", answer} {
					if m := d.next(); m.body != want || m.head.Kind == "bad" {
						t.Errorf("%+v %q, want %q", m.head, m.body, want)
					}
				}
				if m := d.next(); m.kind != msgLive {
					t.Errorf("and %+v", m.head)
				}
			})
		}
	}
}

// Every end without an answer is told, so that no request stays open in the traffic for ever.
func TestTapExchangeWithoutAnAnswer(t *testing.T) {
	p := open(t, Options{})
	_, j := watch(t, filepath.Dir(p.Path()))
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	carry(p, "", call, "5", answer(502, "bad gateway"))
	carry(p, "", call, "5", answer(200, ""))
	x := p.Exchange("kb", "")
	x.Request(httptest.NewRequest("POST", "/", nil), []byte("5"), []byte(call))
	x.Close(errors.New("the agent is gone"))
	c := &flow.Call{Request: flow.Request{W: httptest.NewRecorder(), R: httptest.NewRequest("POST", "/mcps/kb/mcp", nil), Agent: "kb"}}
	flow.Chain(func(*flow.Call) {}, p.RecordResponses, func(flow.Handler) flow.Handler { // the ingress refuses it
		return func(c *flow.Call) {
			c.Body = []byte(`{"jsonrpc":"1.0","id":6,"method":"refused"}`)
			c.JSON(400, []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`))
		}
	}, p.RecordRequests)(c)
	require.Eventually(t, "what was refused", func() bool {
		return slices.ContainsFunc(said(j), func(e journal.Entry) bool { return e.Kind == journal.Bad && e.Dir == journal.Out })
	})
	carry(p, "", `{"jsonrpc":"2.0","method":"n"}`, "", answer(202, ""))
	require.Eventually(t, "the requests to be over", func() bool {
		n := 0
		for _, e := range j.Snapshot(0, nil) {
			if e.Kind == journal.Request && e.Status == journal.Failed {
				n++
			}
		}
		return n == 3
	})
	require.Eventually(t, "the notification", func() bool {
		return slices.ContainsFunc(said(j), func(e journal.Entry) bool { return e.Kind == journal.Notification })
	})
	for _, e := range j.Snapshot(0, nil) {
		if e.Status == journal.Pending {
			t.Errorf("still open: %+v", e)
		}
	}
}

// A server's question on one exchange of a session is answered on another one.
func TestTapExchangesOfASession(t *testing.T) {
	p := open(t, Options{})
	_, j := watch(t, filepath.Dir(p.Path()))
	carry(p, "s1", call, "5", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n\n"))
		carry(p, "s2", `{"jsonrpc":"2.0","id":1,"result":{"roots":["other"]}}`, "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) })
		carry(p, "s1", `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`, "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) })
		_, _ = w.Write([]byte("data: {\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n\n"))
	})
	require.Eventually(t, "the answers", func() bool {
		n := 0
		for _, e := range said(j) {
			if e.Kind == journal.Request && e.Status == journal.OK {
				n++
			}
		}
		return n == 2
	})
	for _, e := range said(j) {
		if e.Method == "roots/list" && e.Kind == journal.Request {
			body, err := j.Body(e.Peer)
			if err != nil || strings.Contains(string(body), "other") {
				t.Errorf("answered by %s, %v", body, err)
			}
		}
	}
}

// What is given to an exchange may be used again at once.
func TestTapKeepsNoBuffers(t *testing.T) {
	p := open(t, Options{})
	body := []byte(call)
	x := p.Exchange("kb", "")
	x.Request(httptest.NewRequest("POST", "/", nil), body[20:21], body)
	x.Response(200, http.Header{"Content-Type": {"application/json"}})
	answer := []byte(`{"jsonrpc":"2.0","id":5,"result":{}}`)
	x.Body(answer)
	for i := range body {
		body[i] = 'x'
	}
	for i := range answer {
		answer[i] = 'x'
	}
	x.Close(nil)
	d := dial(t, p)
	d.next()
	if a, b := d.next(), d.next(); a.body != call || b.body != `{"jsonrpc":"2.0","id":5,"result":{}}` {
		t.Errorf("%s %s", a.body, b.body)
	}
}

func TestTapCutFrames(t *testing.T) {
	for _, c := range []struct{ frame, tail, answer, want string }{
		{`{"jsonrpc":"2.0","id":3,"method":"m","params":{"a":"`, ``, "", "request m 3"},
		{`{"jsonrpc":"2.0","method":"m","params":{"a":"`, `"},"id":"x"}`, "", `request m "x"`},
		{`{"jsonrpc":"2.0","method":"m","params":{"a":"`, `"}}`, "", "notification m "},
		{`{"result":{"a":"`, `"},"id":4,"jsonrpc":"2.0"}`, "", "response  4"},
		{`{"jsonrpc":"2.0","result":{"a":"`, ``, "9", "response  9"},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1},"x":"`, ``, "", "error  1"},
		{`xxxxxxxx`, `xxxxxx`, "", "bad  "},
	} {
		e := Classify(journal.Entry{Dir: journal.In}, []byte(c.frame), []byte(c.tail), true, c.answer)
		assert.Equalf(t, fmt.Sprintf("%s %s %s", e.Kind, e.Method, e.ID), c.want, "%s … %s", c.frame, c.tail)
	}
}

func BenchmarkExchangeNobodyReads(b *testing.B) {
	p := open(b, Options{})
	r := httptest.NewRequest("POST", "/mcps/kb/mcp", nil)
	body, answer := []byte(call), []byte(`{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"hello"}]}}`)
	h := http.Header{"Content-Type": {"application/json"}}
	b.ReportAllocs()
	for b.Loop() {
		x := p.Exchange("kb", "")
		x.Request(r, body[20:21], body)
		x.Response(200, h)
		x.Body(answer)
		x.Close(nil)
	}
}

func BenchmarkMiddlewareNobodyReads(b *testing.B) {
	p := open(b, Options{})
	r := httptest.NewRequest("POST", "/mcps/kb/mcp", nil)
	body, answer := []byte(call), []byte(`{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"hello"}]}}`)
	env, _ := jsonrpc.Scan(body)
	h := flow.Chain(func(c *flow.Call) { c.JSON(200, answer) }, p.RecordResponses, p.RecordRequests)
	b.ReportAllocs()
	for b.Loop() {
		h(&flow.Call{Request: flow.Request{W: discard{http.Header{}}, R: r, Agent: "kb"}, Message: flow.Message{Body: body, Env: env}})
	}
}

type discard struct{ h http.Header }

func (d discard) Header() http.Header       { return d.h }
func (discard) WriteHeader(int)             {}
func (discard) Write(b []byte) (int, error) { return len(b), nil }
