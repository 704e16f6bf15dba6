package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

const (
	listRequest = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	bigRequest  = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big","arguments":{}}}`
)

// connect opens a server on a manager of its own, until the test ends.
func connect(t *testing.T, s config.Server) *session.Session {
	t.Helper()
	m := session.NewManager(session.Options{})
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	sess, err := m.Register(s)
	require.NoError(t, err)
	require.NoError(t, sess.Connect(context.Background()))
	return sess
}

// bare measures what a server needs to answer a plain pipe.
func bare(t *testing.T, s config.Server, request string) func() time.Duration {
	return func() time.Duration {
		r := faketest.Open(t, s)
		r.Handshake()
		took := budget.Time(func() {
			r.Send(request)
			if _, err := r.Skip(); err != nil {
				t.Fatal(err)
			}
		})
		r.Kill()
		return took
	}
}

// listed measures the list of 5,000 tools through a session.
func listed(t *testing.T, s config.Server) func() time.Duration {
	return func() time.Duration {
		sess := connect(t, s)
		defer func() { _ = sess.Disconnect() }()
		return budget.Time(func() {
			l, err := sess.List(t.Context(), offer.Tools)
			if err != nil || len(l.Items) != 5000 {
				t.Fatalf("%d tools, %v", len(l.Items), err)
			}
		})
	}
}

// called measures the 50 MB text through a session, decoded.
func called(t *testing.T, s config.Server) func() time.Duration {
	return func() time.Duration {
		sess := connect(t, s)
		defer func() { _ = sess.Disconnect() }()
		return budget.Time(func() {
			reply, err := sess.Call(t.Context(), "tools/call", json.RawMessage(`{"name":"big","arguments":{}}`), session.CallOptions{})
			require.NoError(t, err)
			blocks, err := offer.Contents(reply.Result)
			if err != nil || len(blocks) != 1 || len(blocks[0].Text) != 50_000_000 {
				t.Fatalf("%d contents, %v", len(blocks), err)
			}
		})
	}
}

// A session must leave the screen most of the time that the ratios allow.
func TestBudgetManyTools(t *testing.T) {
	budget.Push(t)
	s := faketest.Bare(t)
	got, base := budget.Pair(listed(t, s), bare(t, s, listRequest))
	budget.Ratio(t, "5,000 tools, session against the bare server", got, base, 1.3)
}

func TestBudgetManyToolsRendered(t *testing.T) {
	budget.Skip(t)
	s := faketest.Stdio(t, behave.ManyTools)
	budget.Ceiling(t, "5,000 tools, session, answer rendered beforehand", budget.Best(listed(t, s)), 100*time.Millisecond)
}

func TestBudgetBigResult(t *testing.T) {
	budget.Push(t)
	s := faketest.Bare(t)
	got, base := budget.Pair(called(t, s), bare(t, s, bigRequest))
	budget.Ratio(t, "50 MB result, session against the bare server", got, base, 1.5)
}

func TestBudgetBigResultRendered(t *testing.T) {
	budget.Skip(t)
	s := faketest.Stdio(t, behave.Big)
	budget.Ceiling(t, "50 MB result, session, answer rendered beforehand", budget.Best(called(t, s)), 400*time.Millisecond)
}

func TestBudgetProgress(t *testing.T) {
	budget.Skip(t)
	sess := connect(t, faketest.Stdio(t, behave.Good))
	got := budget.Best(func() time.Duration {
		last := 0
		return budget.Time(func() {
			reply, err := sess.Call(t.Context(), "tools/call", json.RawMessage(`{"name":"progress","arguments":{"count":10000}}`),
				session.CallOptions{OnProgress: func(p rpc.Progress) { last = p.Count }})
			if err != nil || last != 10_000 || !bytes.Contains(reply.Result, []byte("done")) {
				t.Fatalf("%d notifications counted, %v", last, err)
			}
		})
	})
	budget.Ceiling(t, "10,000 progress notifications counted", got, time.Second)
}
