package jsonrpc

import (
	"errors"
	"io"
	"testing"
	"time"
)

func TestE7_E8_E19_FailureCodes(t *testing.T) {
	for _, c := range []struct {
		kind           FailureKind
		legacy, modern int64
	}{
		{FailParse, -32700, -32700},
		{FailBatch, -32600, -32600},
		{FailMethod, -32601, -32601},
		{FailTool, -32602, -32602},
		{FailInternal, -32603, -32603},
		{FailExecution, -32000, -31000},
		{FailTenant, -32000, -31000},
		{FailSession, -32000, -31000},
		{FailResource, -32001, -32602},
		{FailAgent, -32001, -31001},
		{FailQueueFull, -32002, -31002},
		{FailRateLimited, -32002, -31002},
		{FailTimeout, -32003, -31003},
	} {
		f := &Failure{Kind: c.kind}
		if f.Code(false) != c.legacy || f.Code(true) != c.modern {
			t.Errorf("%s: %d, %d; want %d, %d", c.kind, f.Code(false), f.Code(true), c.legacy, c.modern)
		}
	}
	f := &Failure{Kind: FailRateLimited, Message: "Rate limit exceeded", Data: map[string]any{"field": "x"}, RetryAfter: 1500 * time.Millisecond}
	if got := string(f.RPC(true).Data); got != `{"field":"x","kind":"rate_limited","legacyCode":-32002,"retryAfterMs":1500}` {
		t.Errorf("%s", got)
	}
	if got := string(f.RPC(false).Data); got != `{"field":"x","kind":"rate_limited","retryAfterMs":1500}` {
		t.Errorf("%s", got)
	}
	if len(f.Data) != 1 {
		t.Errorf("RPC changed the failure: %v", f.Data)
	}
	if got := string((&Failure{Kind: FailTimeout, Data: map[string]any{"f": func() {}}}).RPC(false).Data); got != `{"kind":"timeout"}` {
		t.Errorf("%s", got)
	}
}

func TestFailKeepsItsCause(t *testing.T) {
	f := Fail(FailUpstream, "agent a: %w", io.ErrUnexpectedEOF).With("agent", "a")
	if !errors.Is(f, io.ErrUnexpectedEOF) || f.Message != "agent a: unexpected EOF" || f.Data["agent"] != "a" {
		t.Errorf("%+v", f)
	}
	if g, ok := AsFailure(errors.Join(io.EOF, f)); !ok || g != f {
		t.Errorf("%v %v", g, ok)
	}
}

func TestFailureStatus(t *testing.T) {
	for _, c := range []struct {
		kind           FailureKind
		legacy, modern int
	}{
		{FailParse, 400, 400},
		{FailMethod, 200, 404},
		{FailParams, 200, 400},
		{FailSession, 404, 404},
		{FailTooLarge, 413, 413},
		{FailTimeout, 200, 200},
	} {
		f := &Failure{Kind: c.kind}
		if f.HTTPStatus(false) != c.legacy || f.HTTPStatus(true) != c.modern {
			t.Errorf("%s: %d, %d; want %d, %d", c.kind, f.HTTPStatus(false), f.HTTPStatus(true), c.legacy, c.modern)
		}
	}
	if got := (&Failure{Kind: FailMethod, Status: 403}).HTTPStatus(true); got != 403 {
		t.Error(got)
	}
}

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	shared := Fail(FailParams, "no")
	one, two := shared.With("field", "a"), shared.With("field", "b").With("reason", "c")
	if len(shared.Data) != 0 || len(one.Data) != 1 || one.Data["field"] != "a" || len(two.Data) != 2 || two.Data["field"] != "b" {
		t.Errorf("%v, %v, %v", shared.Data, one.Data, two.Data)
	}
}
