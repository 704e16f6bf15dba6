package jsonrpc

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestE7_E8_E19_FailureCodes(t *testing.T) {
	for _, c := range []struct {
		kind           ErrorKind
		legacy, modern int64
	}{
		{KindParse, -32700, -32700},
		{KindBatch, -32600, -32600},
		{KindMethodNotFound, -32601, -32601},
		{KindToolNotFound, -32602, -32602},
		{KindInternal, -32603, -32603},
		{KindToolExecution, -32000, -31000},
		{KindTenantNotFound, -32000, -31000},
		{KindSessionInvalid, -32000, -31000},
		{KindResourceNotFound, -32001, -32602},
		{KindAgentNotFound, -32001, -31001},
		{KindQueueFull, -32002, -31002},
		{KindRateLimited, -32002, -31002},
		{KindTimeout, -32003, -31003},
	} {
		f := &RequestError{Kind: c.kind}
		if f.Code(false) != c.legacy || f.Code(true) != c.modern {
			t.Errorf("%s: %d, %d; want %d, %d", c.kind, f.Code(false), f.Code(true), c.legacy, c.modern)
		}
	}
	f := &RequestError{Kind: KindRateLimited, Message: "Rate limit exceeded", Data: map[string]any{"field": "x"}, RetryAfter: 1500 * time.Millisecond}
	assert.Equal(t, string(f.RPC(true).Data), `{"field":"x","kind":"rate_limited","legacyCode":-32002,"retryAfterMs":1500}`)
	assert.Equal(t, string(f.RPC(false).Data), `{"field":"x","kind":"rate_limited","retryAfterMs":1500}`)
	if len(f.Data) != 1 {
		t.Errorf("RPC changed the failure: %v", f.Data)
	}
	assert.Equal(t, string((&RequestError{Kind: KindTimeout, Data: map[string]any{"f": func() {}}}).RPC(false).Data), `{"kind":"timeout"}`)
}

func TestFailKeepsItsCause(t *testing.T) {
	f := Errorf(KindUpstream, "agent a: %w", io.ErrUnexpectedEOF).With("agent", "a")
	if !errors.Is(f, io.ErrUnexpectedEOF) || f.Message != "agent a: unexpected EOF" || f.Data["agent"] != "a" {
		t.Errorf("%+v", f)
	}
	if g, ok := AsRequestError(errors.Join(io.EOF, f)); !ok || g != f {
		t.Errorf("%v %v", g, ok)
	}
}

func TestFailureStatus(t *testing.T) {
	for _, c := range []struct {
		kind           ErrorKind
		legacy, modern int
	}{
		{KindParse, 400, 400},
		{KindMethodNotFound, 200, 404},
		{KindInvalidParams, 200, 400},
		{KindSessionInvalid, 404, 404},
		{KindTooLarge, 413, 413},
		{KindTimeout, 200, 200},
	} {
		f := &RequestError{Kind: c.kind}
		if f.HTTPStatus(false) != c.legacy || f.HTTPStatus(true) != c.modern {
			t.Errorf("%s: %d, %d; want %d, %d", c.kind, f.HTTPStatus(false), f.HTTPStatus(true), c.legacy, c.modern)
		}
	}
	assert.Equal(t, (&RequestError{Kind: KindMethodNotFound, Status: 403}).HTTPStatus(true), 403)
}

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	shared := Errorf(KindInvalidParams, "no")
	one, two := shared.With("field", "a"), shared.With("field", "b").With("reason", "c")
	if len(shared.Data) != 0 || len(one.Data) != 1 || one.Data["field"] != "a" || len(two.Data) != 2 || two.Data["field"] != "b" {
		t.Errorf("%v, %v, %v", shared.Data, one.Data, two.Data)
	}
}
