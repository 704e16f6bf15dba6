//go:build unix

package bridge

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// A process that dies fails what is under way at once, names how it ended, and is started again.
func TestE14_ProcessDies(t *testing.T) {
	for name, change := range map[string]func(*Options){"per-session": nil, "shared": shared} {
		t.Run(name, func(t *testing.T) {
			b := bridge(t, "legacy", change)
			id := open(t, b, "{}")
			waiting := make(chan error, 1)
			go func() {
				_, err := b.RoundTrip(request(t.Context(), http.MethodPost, id, call("1", "wait", "{}"), ingress.TypeJSON))
				waiting <- err
			}()
			require.Eventually(t, "the call to be under way", func() bool { return b.Status().Processes[0].Inflight == 1 })
			_, err := b.RoundTrip(request(t.Context(), http.MethodPost, id, call("2", "die", "{}"), ingress.TypeJSON))
			if err == nil || !strings.Contains(err.Error(), "exited with status 7") || strings.Contains(err.Error(), "about to die") {
				t.Errorf("%v", err)
			}
			assert.ErrorContains(t, <-waiting, "exited with status 7")
			require.Eventually(t, "the process to be forgotten", func() bool { return len(b.Status().Processes) == 0 })
			if res, _ := send(t, b, id, call("3", "echo", "{}"), both); res.StatusCode != 404 {
				t.Errorf("a session of a dead process: %d", res.StatusCode)
			}
			id = open(t, b, "{}")
			if _, body := send(t, b, id, call("3", "echo", `{"text":"back"}`), both); textOf(t, body) != "back" {
				t.Error(body)
			}
			st := b.Status()
			if !strings.Contains(strings.Join(st.Stderr, "\n"), "about to die") || st.Starts != 2 || !strings.Contains(st.Error, "status 7") {
				t.Errorf("%+v", st)
			}
		})
	}
}

// A server that cannot live is not started over and over.
func TestR3_RestartsBackOff(t *testing.T) {
	b := bridge(t, "exit", shared)
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	var err error
	for range 8 {
		if _, err = b.RoundTrip(request(t.Context(), http.MethodPost, "", initialize, both)); err == nil {
			t.Fatal("an answer")
		}
	}
	st := b.Status()
	if !strings.Contains(err.Error(), "keeps ending") || !strings.Contains(err.Error(), "exited with status 3") || st.Starts > 6 || st.RetryAt.IsZero() { // 8 without pauses, 6 after 7 s of them
		t.Errorf("%v %+v", err, st)
	}
	b = New(Options{Name: "x", Command: "no-such-program-anywhere"})
	_, err = b.RoundTrip(request(t.Context(), http.MethodPost, "", initialize, both))
	assert.ErrorContains(t, err, "not found")
	_ = b.Close()
}

// The child sees the harmless part of our environment, what the route adds, and its working folder; no shell is involved.
func TestX5_ChildEnvironment(t *testing.T) {
	t.Setenv("AGENT_TOKEN", "secret-of-ours")
	dir := t.TempDir()
	b := bridge(t, "legacy", func(o *Options) {
		o.Env["GIVEN"] = "$HOME `id`"
		o.Cwd = dir
	})
	id := open(t, b, "{}")
	_, body := send(t, b, id, call("1", "env", "{}"), both)
	env := textOf(t, body)
	assert.Contains(t, env, "GIVEN=$HOME `id`", "PATH=")
	assert.NotContains(t, env, "secret-of-ours")
	if _, body := send(t, b, id, call("1", "cwd", "{}"), both); textOf(t, body) != dir {
		t.Error(body)
	}
}

// A message above the limit fails the request that it answers, and nothing else.
func TestX6_FrameCap(t *testing.T) {
	b := bridge(t, "legacy", func(o *Options) { o.MaxFrame = 1 << 20 })
	id := open(t, b, "{}")
	_, err := b.RoundTrip(request(t.Context(), http.MethodPost, id, call("1", "big", "{}"), both))
	assert.ErrorContains(t, err, "larger than the limit of 1048576 bytes")
	if _, body := send(t, b, id, call("1", "echo", `{"text":"alive"}`), both); textOf(t, body) != "alive" {
		t.Error(body)
	}
}

// A client that reads slowly loses nothing, and the bridge does not hold what it has not read.
func TestR5_SlowReaderLosesNothing(t *testing.T) {
	b := bridge(t, "legacy", nil)
	id := open(t, b, "{}")
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"flood","arguments":{},"_meta":{"progressToken":7}}}`
	res, err := b.RoundTrip(request(t.Context(), http.MethodPost, id, body, both))
	require.NoError(t, err)
	events := bufio.NewReader(res.Body)
	require.Eventually(t, "a full queue", func() bool { // the queue is full, and the process has to wait
		b.mu.Lock()
		defer b.mu.Unlock()
		for c := range b.children {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, x := range c.pending {
				_, size, blocked := x.out.Held()
				return blocked && size < maxWaitingBytes+4096
			}
		}
		return false
	})
	for i := range 8000 {
		if got := next(t, events); !strings.Contains(got, fmt.Sprintf(`"progress":%d,`, i)) {
			t.Fatalf("event %d: %.100s", i, got)
		}
	}
	if got := next(t, events); textOf(t, got) != "done" {
		t.Error(got)
	}
	_ = res.Body.Close()
}

// Not more processes than allowed.
func TestX6_ProcessCap(t *testing.T) {
	b := bridge(t, "legacy", func(o *Options) { o.Max = 2 })
	open(t, b, "{}")
	open(t, b, "{}")
	res, body := send(t, b, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, both)
	if res.StatusCode != 503 || !strings.Contains(body, "2") || res.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

// Sessions that nobody ended must not keep others out for as long as they may last.
func TestX6_AnIdleProcessGivesWay(t *testing.T) {
	b := bridge(t, "legacy", func(o *Options) { o.Max, o.Spare = 2, time.Nanosecond })
	first, second := open(t, b, "{}"), open(t, b, "{}")
	if res, body := send(t, b, first, call("1", "echo", `{"text":"still here"}`), both); res.StatusCode != 200 {
		t.Fatal(body)
	}
	third := open(t, b, "{}") // in place of the second, which was idle for longer
	for id, want := range map[string]int{first: 200, second: 404, third: 200} {
		if res, body := send(t, b, id, call("1", "echo", `{"text":"x"}`), both); res.StatusCode != want {
			t.Errorf("%d, want %d: %s", res.StatusCode, want, body)
		}
	}
	require.Eventually(t, "one process to give way", func() bool { return len(b.Status().Processes) == 2 })
	// Neither one that works nor one whose client listens gives way.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := b.RoundTrip(request(ctx, http.MethodGet, first, "", both))
	require.NoError(t, err)
	defer func() { _ = stream.Body.Close() }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = b.RoundTrip(request(ctx, http.MethodPost, third, call("1", "wait", "{}"), ingress.TypeJSON)) // never answered
	}()
	require.Eventually(t, "the call to be under way", func() bool {
		n := 0
		for _, p := range b.Status().Processes {
			n += p.Inflight
		}
		return n == 1
	})
	res, body := send(t, b, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, both)
	if res.StatusCode != 503 || !strings.Contains(body, "queue_full") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	cancel()
	<-done
}

// Processes of callers without sessions end when nobody calls any more.
func TestS10_IdleProcessEnds(t *testing.T) {
	b := bridge(t, "modern", func(o *Options) { o.Idle = 100 * time.Millisecond })
	send(t, b, "", discover, both)
	require.Eventually(t, "the idle process to end", func() bool { return len(b.Status().Processes) == 0 })
	if res, body := send(t, b, "", discover, both); res.StatusCode != 200 {
		t.Error(body)
	}
}

// Whoever watches sees what clients do not: how processes begin and end, what they write beside messages, and what is refused
// to them.
func TestR3_WhatClientsDoNotSeeIsSaidAside(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	b := bridge(t, "legacy", func(o *Options) {
		o.Shared = true // one process for clients of which this one answers no questions
		o.SideChannel = func(e journal.Entry, body []byte) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprintf("%s|%d|%d|%s|%s", e.Server, e.Dir, e.Kind, e.Note, body))
		}
	})
	has := func(dir journal.Dir, kind journal.Kind, text string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.ContainsFunc(seen, func(s string) bool {
				return strings.HasPrefix(s, fmt.Sprintf("s|%d|%d|", dir, kind)) && strings.Contains(s, text)
			})
		}
	}
	id := open(t, b, "{}")
	send(t, b, id, call("1", "noise", "{}"), both)
	send(t, b, id, call("2", "ask", "{}"), ingress.TypeJSON)
	pid := b.Status().Processes[0].PID
	if _, err := b.RoundTrip(request(t.Context(), http.MethodPost, id, call("3", "die", "{}"), ingress.TypeJSON)); err == nil {
		t.Error("a dead process answered")
	}
	for what, so := range map[string]func() bool{
		"the start":   has(0, journal.State, fmt.Sprintf("process %d started", pid)),
		"stderr":      has(journal.In, journal.Stderr, "server starts in mode legacy"),
		"last words":  has(journal.In, journal.Stderr, "about to die"),
		"noise":       has(journal.In, journal.Bad, "this is a log line on stdout"),
		"its request": has(journal.In, 0, `"method":"sampling/createMessage"`),
		"the refusal": has(journal.Out, 0, "is not possible here"),
		"the end":     has(0, journal.State, fmt.Sprintf("process %d ended: ", pid)),
	} {
		require.Eventually(t, what, so)
	}
	mu.Lock()
	defer mu.Unlock()
	assert.NotContains(t, strings.Join(seen, "\n"), `"tools/call"`, "initialize")
}
