package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// refusing is a transport over HTTP that answers every POST with one status and body.
type refusing struct {
	status int
	body   string
	sent   chan transport.Message
}

var (
	_ transport.Versioned = (*refusing)(nil)
	_ transport.Receiver  = (*Mux)(nil)
)

func (r *refusing) Traits() transport.Traits                        { return transport.Traits{Kind: "http", HTTP: r} }
func (r *refusing) Start(context.Context, transport.Receiver) error { return nil }
func (r *refusing) Close() error                                    { return nil }
func (r *refusing) SetVersion(string)                               {}
func (r *refusing) SessionID() string                               { return "" }
func (r *refusing) Send(_ context.Context, m transport.Message) error {
	r.sent <- m
	return &transport.HTTPError{Status: r.status, Method: http.MethodPost, URL: "http://h/mcp", Body: []byte(r.body)}
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
		m := New(&refusing{status: c.status, body: c.body, sent: make(chan transport.Message, 1)}, transport.Tap{})
		_, err := m.Call(t.Context(), &Request{Method: "x"})
		var e *failure.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Status != c.status || (e.Code != nil && *e.Code != c.code) || (e.Code == nil) != (c.code == 0) {
			t.Errorf("%d: %+v", c.status, e)
		}
		assert.NoError(t, m.Close(&failure.Error{}))
	}
}

func TestMeta(t *testing.T) {
	for _, c := range []struct{ params, want string }{
		{``, `{"_meta":{"a":1}}`},
		{`{}`, `{"_meta":{"a":1}}`},
		{`{ "z" : 1.0 , "b":[ ] }`, `{ "z" : 1.0 , "b":[ ],"_meta":{"a":1} }`},
		{`{"_meta":{},"b":2}`, `{"_meta":{"a":1},"b":2}`},
		{`{"_meta":{"x":2},"b":2}`, `{"_meta":{"x":2,"a":1},"b":2}`},
		{`{"_meta":{"a":7}}`, `{"_meta":{"a":7}}`},
		{`{"_meta":null}`, `{"_meta":{"a":1}}`},
	} {
		r := Request{Params: []byte(c.params), Meta: []Member{{"a", []byte("1")}}}
		got, _, err := r.complete(nil)
		if err != nil || string(got) != c.want || !json.Valid(got) {
			t.Errorf("%s: %s %v, want %s", c.params, got, err, c.want)
		}
	}
	for _, bad := range []string{`[1]`, `{"_meta":3}`, `{`} {
		r := Request{Params: []byte(bad), Meta: []Member{{"a", []byte("1")}}}
		if _, _, err := r.complete(nil); failure.KindOf(err) != failure.Usage {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestS14_WhoseAnswerWasTooLarge: the request fails at once, wherever the id stands, and no other.
func TestS14_WhoseAnswerWasTooLarge(t *testing.T) {
	for head, tail := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"result":{"text":"aaa`:    `aaa"}}`,
		`{"result":{"id":2,"text":"aaa`:                    `"}, "jsonrpc":"2.0","id": 1}`,
		`{"jsonrpc":"2.0","result":{"id":2,"text":"aaaaa `: `"},"id":1,"jsonrpc":"2.0" }`,
	} {
		m := New(&refusing{}, transport.Tap{})
		spec := &Request{Method: "x"}
		first, _, err := m.add(spec)
		require.NoError(t, err)
		other, _, err := m.add(spec)
		require.NoError(t, err)
		m.Broken([]byte(head), []byte(tail), &failure.Error{Kind: failure.Protocol, Message: "a frame of 11 bytes is too large"})
		select {
		case a := <-first.done:
			if failure.KindOf(a.err) != failure.Protocol {
				t.Error(a.err)
			}
		default:
			t.Errorf("%s … %s: the request still waits", head, tail)
		}
		select {
		case a := <-other.done:
			t.Error("the wrong request failed:", a.err)
		default:
		}
		m.wg.Add(-2) // nothing was sent
	}
}

// Progress that comes after its request is over says what became of the request.
func TestLateProgress(t *testing.T) {
	j := journal.New(journal.Options{})
	m := New(&refusing{status: 500, sent: make(chan transport.Message, 1)}, transport.Tap{Journal: j})
	if _, err := m.Call(t.Context(), &Request{Method: "x"}); err == nil {
		t.Fatal("an answer")
	}
	for token, want := range map[string]string{"1": "late: the request failed", "7": "no pending request has this progress token"} {
		m.Frame([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":1}}`))
		all := j.Snapshot(0, nil)
		assert.Equalf(t, all[len(all)-1].Note, want, "token %s", token)
	}
	assert.NoError(t, m.Close(&failure.Error{}))
}

// A question on the stream of a call that is over belongs to no other: it does not end with that one, nor is it said to be its.
func TestLateQuestionBelongsToNoOtherCall(t *testing.T) {
	m := New(&refusing{sent: make(chan transport.Message, 1)}, transport.Tap{})
	asked, seen := make(chan context.Context), make(chan struct{})
	m.OnServe = func(ctx context.Context, _ jsonrpc.Envelope) ([]byte, *jsonrpc.Error) {
		asked <- ctx
		<-seen
		return nil, nil
	}
	var ids []uint64
	for range 2 {
		p, _, err := m.add(&Request{Method: "tools/call", Target: "t"})
		require.NoError(t, err)
		ids = append(ids, p.id)
	}
	m.fail(ids[0], &failure.Error{Kind: failure.Protocol})
	m.Of([]byte("1")).Frame([]byte(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}`))
	m.mu.Lock()
	causes := len(m.serving[`"q"`].causes)
	m.mu.Unlock()
	assert.Equalf(t, causes, 0, "calls are said to have caused it")
	m.fail(ids[1], &failure.Error{Kind: failure.Protocol})
	ctx := <-asked
	if ctx.Err() != nil {
		t.Error(context.Cause(ctx))
	}
	close(seen)
	m.wg.Add(-2) // nothing was sent
	assert.NoError(t, m.Close(&failure.Error{}))
}
