package task

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// later calls a tool in the background.
func (r *rig) later(ctx context.Context, c caller, id int, name string, args map[string]any) chan answer {
	out := make(chan answer, 1)
	go func() { out <- r.exchange(ctx, c, id, "tools/call", toolParams(name, args), nil) }()
	return out
}

func (r *rig) queued(n int) {
	r.t.Helper()
	r.until(fmt.Sprintf("%d queued", n), func() bool { return r.queue.Status().Queued == n })
}

func TestQ1_Q2_FiveCallsInOrderOneOfThemFails(t *testing.T) {
	r := newRig(t, options{})
	var answers []chan answer
	for i := range 5 {
		if i == 3 {
			answers = append(answers, r.later(t.Context(), sessionless, 100+i, "panic", nil))
		} else {
			answers = append(answers, r.later(t.Context(), sessionless, 100+i, "gate", map[string]any{"name": fmt.Sprint(i)}))
		}
		if i > 0 {
			r.queued(i)
		} else {
			r.until("the first runs", func() bool { return r.queue.Status().Running == 1 })
		}
	}
	var order []string
	for _, i := range []int{0, 1, 2, 4} {
		order = append(order, <-r.started)
		r.gate(fmt.Sprint(i)) <- "open"
	}
	if !slices.Equal(order, []string{"0", "1", "2", "4"}) {
		t.Errorf("ran in the order %v", order)
	}
	for i, c := range answers {
		a := <-c
		if i == 3 {
			if a.Error == nil || a.Error.Code != -32603 || a.Error.Data["kind"] != "internal" || strings.Contains(fmt.Sprint(a.Error), "secret") {
				t.Errorf("the one that panics: %+v", a)
			}
		} else if resultText(a.Result) != "open" {
			t.Errorf("call %d: %+v", i, a)
		}
	}
	if a := r.tool(sessionless, "echo", nil); a.Result == nil {
		t.Errorf("afterwards: %+v", a)
	}
}

func TestQ3_StatusAsPageToolAndResourceAlsoWhenFull(t *testing.T) {
	r := newRig(t, options{queue: queue.Options{Capacity: 4}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range 5 {
		r.later(ctx, sessionless, 100+i, "gate", map[string]any{"name": "x"})
	}
	r.queued(4)
	check := func(where string, m map[string]any) {
		t.Helper()
		if m["queued"] != 4.0 || m["running"] != 1.0 || m["concurrency"] != 1.0 {
			t.Errorf("%s: %v", where, m)
		}
	}
	_, page := r.get("/queue")
	check("/queue", page)
	s, _ := r.tool(sessionless, queue.ToolName, nil).Result["structuredContent"].(map[string]any)
	check("the tool", s)
	contents, _ := r.call(sessionless, "resources/read", map[string]any{"uri": queue.URI}).Result["contents"].([]any)
	if len(contents) != 1 || !strings.HasPrefix(contents[0].(map[string]any)["text"].(string), `{"queued":4,"running":1,"concurrency":1,`) {
		t.Errorf("the resource: %v", contents)
	}
	if res, err := r.client.Post(r.url+"/queue", "application/json", nil); err != nil || res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST /queue: %v %v", res, err)
	} else {
		_ = res.Body.Close()
	}
}

func TestQ4_FourthCallIsRefusedAtOnceInBothEras(t *testing.T) {
	r := newRig(t, options{queue: queue.Options{Capacity: 2}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range 3 {
		r.later(ctx, sessionless, 100+i, "gate", map[string]any{"name": "x"})
	}
	r.queued(2)
	for _, c := range []struct {
		caller caller
		code   int
	}{{sessionless, -32002}, {modern(map[string]any{}), -31002}} {
		const atOnce = time.Second // what waits for its turn waits until the test ends
		var a answer
		if d := budget.Median(func() { a = r.tool(c.caller, "echo", nil) }); d > atOnce {
			t.Errorf("refused after %v", d)
		}
		if a.Status != 200 || a.Error == nil || a.Error.Code != c.code || a.Error.Message != "Task queue at capacity" || a.Error.Data["kind"] != "queue_full" {
			t.Fatalf("%+v", a)
		}
		if ms, _ := a.Error.Data["retryAfterMs"].(float64); ms <= 0 || a.Header.Get("Retry-After") == "" {
			t.Errorf("no hint when to come back: %+v %v", a.Error.Data, a.Header)
		}
	}
	if a := r.call(sessionless, "tools/list", nil); a.Result == nil {
		t.Errorf("other methods are not queued: %+v", a)
	}
}

func TestQ5_A6_TimeoutsOfTheQueueAndOfTheRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{queue: queue.Options{Timeout: 2 * time.Second, QueueTimeout: 100 * time.Millisecond, Grace: 50 * time.Millisecond}})
	at := time.Now()
	head := r.later(t.Context(), sessionless, 1, "gate", map[string]any{"name": "head"})
	<-r.started
	behind := r.tool(modern(map[string]any{}), "echo", nil)
	if behind.Error == nil || behind.Error.Code != -31003 || behind.Error.Data["phase"] != "queued" || behind.Error.Data["legacyCode"] != -32003.0 {
		t.Errorf("behind it: %+v", behind)
	}
	a := <-head
	if d := time.Since(at); d < 2*time.Second || d > 20*time.Second {
		t.Errorf("stopped after %v", d)
	}
	if a.Error == nil || a.Error.Code != -32003 || a.Error.Data["phase"] != "running" || a.Error.Data["kind"] != "timeout" {
		t.Errorf("the head: %+v", a)
	}
	r.mu.Lock()
	seen := r.ended["head"]
	r.mu.Unlock()
	assert.ErrorContains(t, seen, "timeout")
}

func TestQ7_CancelAndDisconnect(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.later(ctx, s, 101, "gate", map[string]any{"name": "running"})
	<-r.started
	r.later(ctx, s, 102, "gate", map[string]any{"name": "queued"})
	r.queued(1)
	r.notify(s, "notifications/cancelled", map[string]any{"requestId": 102})
	r.queued(0)
	r.notify(s, "notifications/cancelled", map[string]any{"requestId": 101})
	r.until("nothing runs", func() bool { return r.queue.Status().Running == 0 })

	// In the modern era whoever closes the stream has cancelled, in the legacy one not.
	gone, leave := context.WithCancel(t.Context())
	r.later(gone, modern(map[string]any{}), 103, "gate", map[string]any{"name": "modern"})
	<-r.started
	leave()
	r.until("nothing runs", func() bool { return r.queue.Status().Running == 0 })
	if len(r.started) != 0 {
		t.Errorf("the cancelled call ran: %s", <-r.started)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended["running"] == nil || r.ended["modern"] == nil {
		t.Errorf("the handlers ended with %v", r.ended)
	}
}

func TestQueueThreats_StormOfCancelsOverTheWire(t *testing.T) {
	r := newRig(t, options{queue: queue.Options{Capacity: queue.Unlimited}})
	head := r.later(t.Context(), sessionless, 1, "gate", map[string]any{"name": "head"})
	<-r.started
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 300 {
		wg.Go(func() {
			r.exchange(ctx, modern(map[string]any{}), 1000+i, "tools/call", toolParams("gate", map[string]any{"name": "x"}), nil)
		})
	}
	r.queued(300)
	cancel()
	wg.Wait()
	r.queued(0)
	r.gate("head") <- "done"
	if a := <-head; resultText(a.Result) != "done" {
		t.Errorf("%+v", a)
	}
	const atOnce = time.Second // milliseconds on a machine that has nothing else to do
	var a answer
	if d := budget.Median(func() { a = r.tool(sessionless, "echo", nil) }); a.Result == nil || d > atOnce {
		t.Errorf("a normal call: %+v after %v", a, d)
	}
}

func TestQueueThreats_HandlerThatIgnoresItsContext(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{queue: queue.Options{Timeout: time.Second, Grace: 20 * time.Millisecond}})
	a := r.tool(sessionless, "deaf", map[string]any{"name": "deaf"})
	if a.Error == nil || a.Error.Code != -32003 {
		t.Fatalf("%+v", a)
	}
	if s := r.queue.Status(); s.Abandoned != 1 || s.Running != 0 {
		t.Errorf("%+v", s)
	}
	if a := r.tool(sessionless, "echo", nil); a.Result == nil {
		t.Errorf("%+v", a)
	}
	r.gate("deaf") <- "at last"
	r.until("it ended", func() bool { return r.queue.Status().Abandoned == 0 })
}

func TestQ9_DrainLetsTheRunningCallAnswer(t *testing.T) {
	r := newRig(t, options{})
	running := r.later(t.Context(), sessionless, 1, "gate", map[string]any{"name": "running"})
	<-r.started
	drained := make(chan error, 1)
	go func() { drained <- r.queue.Drain(t.Context()) }()
	r.until("new calls are refused", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // one that came before Drain is queued, and given up
		defer cancel()
		a := r.exchange(ctx, modern(map[string]any{}), 2, "tools/call", toolParams("echo", nil), nil)
		return a.Error != nil && a.Error.Code == -31000 && a.Error.Data["kind"] == "interrupted"
	})
	r.gate("running") <- "done"
	if a := <-running; resultText(a.Result) != "done" {
		t.Errorf("%+v", a)
	}
	assert.NoError(t, <-drained)
}

func TestAskingTheClientLendsTheSlot(t *testing.T) {
	r := newRig(t, options{})
	s := r.login()
	asked := make(chan any, 1)
	done := make(chan answer, 1)
	go func() {
		done <- r.exchange(t.Context(), s, 1, "tools/call", toolParams("elicit", nil), func(m map[string]any) { asked <- m["id"] })
	}()
	id := <-asked
	if a := r.tool(s, "echo", map[string]any{"x": 1}); a.Result == nil {
		t.Errorf("another call while the first waits for its client: %+v", a)
	}
	r.reply(s, id, `{"action":"accept","content":{"name":"Ann"}}`)
	if a := <-done; !strings.Contains(resultText(a.Result), "Ann") {
		t.Errorf("%+v", a)
	}
}
