package breaker

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
)

// upstream answers as it is told.
type upstream struct {
	err    error
	status int
	asked  int
}

func (u *upstream) RoundTrip(*http.Request) (*http.Response, error) {
	u.asked++
	if u.err != nil {
		return nil, u.err
	}
	return &http.Response{StatusCode: u.status, Header: http.Header{}, Body: http.NoBody}, nil
}

func (u *upstream) Close() error { return nil }

func TestSection2_BreakerStates(t *testing.T) {
	at := time.Unix(1000, 0)
	b := New(Options{Failures: 2, Pause: time.Second, MaxPause: 4 * time.Second, now: func() time.Time { return at }})
	up := &upstream{status: 200}
	w := b.Wrap(&routes.Route{Name: "a"}, up)
	ask := func() error {
		res, err := w.RoundTrip(httptest.NewRequest(http.MethodPost, "/", nil))
		if err == nil {
			_ = res.Body.Close()
		}
		return err
	}
	expect := func(step string, s State, asked int) {
		t.Helper()
		if got := b.Status("a"); got.State != s || up.asked != asked {
			t.Fatalf("%s: %+v, asked %d times; want %s, %d", step, got, up.asked, s, asked)
		}
	}
	refused := func(wait time.Duration) {
		t.Helper()
		f, ok := jsonrpc.AsRequestError(ask())
		if !ok || f.Status != 503 || f.RetryAfter != wait {
			t.Fatalf("%+v", f)
		}
	}
	_ = ask()
	up.err = errors.New("broken")
	_ = ask()
	up.err = nil
	_ = ask()
	up.err = errors.New("broken")
	_ = ask()
	expect("one failure after a success", Closed, 4)
	_ = ask()
	expect("two in a row", Open, 5)
	refused(time.Second)
	expect("while open", Open, 5)
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second} {
		at = at.Add(pause)
		expect("after the pause", HalfOpen, up.asked)
		_ = ask()
		expect("a probe that failed", Open, up.asked)
	}
	refused(4 * time.Second)
	at = at.Add(4 * time.Second)
	up.err, up.status = nil, http.StatusServiceUnavailable
	_ = ask()
	expect("a status that says so is a failure too", Open, up.asked)
	at = at.Add(4 * time.Second)
	up.status = 200
	asked := up.asked
	require.NoError(t, ask())
	expect("a probe that came through", Closed, asked+1)
	up.err = errors.New("broken")
	_ = ask()
	_ = ask()
	refused(time.Second) // the pauses begin anew
}

// What the documents promise of a breaker that nobody tuned: the tenth failure in a row opens it, for a second, then two, and so on up to 30.
func TestSection2_UsualBreaker(t *testing.T) {
	at := time.Unix(1000, 0)
	b := New(Options{now: func() time.Time { return at }})
	w := b.Wrap(&routes.Route{Name: "a"}, &upstream{err: errors.New("broken")})
	ask := func() error {
		_, err := w.RoundTrip(httptest.NewRequest(http.MethodPost, "/", nil))
		return err
	}
	for i := range 10 {
		if s := b.Status("a").State; s != Closed {
			t.Fatalf("%s after %d failures", s, i)
		}
		_ = ask()
	}
	for _, pause := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		if f, ok := jsonrpc.AsRequestError(ask()); !ok || b.Status("a").State != Open || f.RetryAfter != pause*time.Second {
			t.Fatalf("%+v, want a pause of %d s", f, pause)
		}
		at = at.Add(pause * time.Second)
		_ = ask() // the probe
	}
}

func TestSection2_BreakerLetsOneProbeThrough(t *testing.T) {
	at := time.Unix(1000, 0)
	b := New(Options{Failures: 1, Pause: time.Second, now: func() time.Time { return at }})
	w := b.Wrap(&routes.Route{Name: "a"}, &upstream{err: errors.New("broken")}).(*Breaker)
	_, _ = w.RoundTrip(httptest.NewRequest(http.MethodPost, "/", nil))
	at = at.Add(time.Second)
	if probe, err := w.enter(); !probe || err != nil {
		t.Fatal(probe, err)
	}
	if _, err := w.enter(); err == nil {
		t.Error("two at a time")
	}
	at = at.Add(time.Second) // the probe hangs
	if probe, err := w.enter(); !probe || err != nil {
		t.Error("a probe that hangs keeps the agent away for good")
	}
	w.forget(true)
	if probe, err := w.enter(); !probe || err != nil {
		t.Error("a probe whose client left tells nothing")
	}
	w.leave(true, "")
	if probe, err := w.enter(); probe || err != nil {
		t.Error(probe, err)
	}
}

func TestSection2_BusyIsNoFailure(t *testing.T) {
	b := New(Options{Failures: 1})
	w := b.Wrap(&routes.Route{Name: "a"}, &upstream{err: jsonrpc.Errorf(jsonrpc.KindQueueFull, "busy")})
	_, _ = w.RoundTrip(httptest.NewRequest(http.MethodPost, "/", nil))
	if s := b.Status("a"); s.State != Closed || s.Failures != 0 {
		t.Errorf("%+v", s)
	}
}

func TestSection2_ARouteThatIsReplacedKeepsTheNewBreaker(t *testing.T) {
	b := New(Options{Failures: 1})
	old := b.Wrap(&routes.Route{Name: "a"}, &upstream{err: errors.New("broken")})
	_, _ = old.RoundTrip(httptest.NewRequest(http.MethodPost, "/", nil))
	now := b.Wrap(&routes.Route{Name: "a"}, &upstream{status: 200})
	if err := old.Close(); err != nil || b.Status("a").State != Closed || len(b.by) != 1 {
		t.Errorf("%v %+v", err, b.Status("a"))
	}
	if err := now.Close(); err != nil || len(b.by) != 0 {
		t.Errorf("%v, %d left", err, len(b.by))
	}
}

// A router that stops gives up its own requests, which says nothing of the agent.
func TestSection2_WhatTheRouterGivesUpIsNoFailure(t *testing.T) {
	b := New(Options{Failures: 1})
	w := b.Wrap(&routes.Route{Name: "a"}, &upstream{err: context.Canceled})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res, err := w.RoundTrip(httptest.NewRequest(http.MethodDelete, "/", nil).WithContext(ctx)); err == nil {
		_ = res.Body.Close()
		t.Error("no error")
	}
	if got := b.Status("a"); got.State != Closed || got.Failures != 0 {
		t.Errorf("%+v", got)
	}
}
