package agentsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/tools/kb"
	"github.com/mcphud/mcphud/agentsrv/tools/sandbox"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// The defaults are figures that users know, written out: whoever changes one changes what it does here, too.
func TestC1_Q1_Q4_X3_F2_DefaultFigures(t *testing.T) {
	o, err := Options{}.Completed()
	require.NoError(t, err)
	for what, pair := range map[string][2]any{
		"concurrency":                     {o.Concurrency, 1},
		"calls that may wait":             {o.QueueCapacity, 100},
		"calls a minute and tenant":       {o.RateLimit, 100},
		"calls at a time and tenant":      {o.TenantConcurrency, 10},
		"time without progress":           {o.Timeout, 30 * time.Second},
		"time in all":                     {MaxTimeout, 60 * time.Second},
		"bytes of a body":                 {o.MaxRequest, int64(10 * 1024 * 1024)},
		"bytes of a line":                 {o.MaxLine, int64(1024 * 1024)},
		"port":                            {DefaultPort, 7000},
		"results of a search":             {kb.DefaultLimit, 5},
		"most results of a search":        {kb.MaxLimit, 20},
		"characters of a query":           {kb.MaxQuery, 1000},
		"time of execute_code":            {sandbox.DefaultTimeout, 30 * time.Second},
		"longest time of execute_code":    {sandbox.MaxTimeout, 60 * time.Second},
		"calls that wait in a bare queue": {queue.New(queue.Options{}).Status().Capacity, 100},
		"slots of a bare queue":           {queue.New(queue.Options{}).Status().Concurrency, 1},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
	for _, p := range []Profile{Everything, Hostile, Fault} {
		if o, err := (Options{Profile: p}).Completed(); err != nil || o.RateLimit != 0 || o.TenantConcurrency != 0 {
			t.Errorf("%s: %d calls a minute, %d at a time; %v", p, o.RateLimit, o.TenantConcurrency, err)
		}
	}
}

// One call runs and a hundred wait, ten of each tenant; the next of a tenant with ten is refused as its, and the next of
// another one for want of room. A tenant has a hundred calls a minute, which are counted by themselves.
func TestQ4_X3_DefaultLimitsHoldFromOutside(t *testing.T) {
	a, cs := serve(t, Options{})
	c := cs["modern"]
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	defer calls.Wait()
	defer cancel()
	sleep := func(tenant int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"sleep","arguments":{"seconds":50,"tenant_id":"t%d"}}}`, tenant)
	}
	for i := range 101 {
		calls.Go(func() {
			assert.Equalf(t, c.until(ctx, "sleep", sleep(i/10)), "", "call %d was answered", i)
		})
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if s := a.queue.Status(); s.Running == 1 && s.Queued == 100 {
			break
		} else if time.Now().After(end) {
			t.Fatalf("%+v", s)
		}
	}
	refused := func(tenant, tool string) (kind string, retry float64) {
		t.Helper()
		m, _ := c.roundTrip("tools/call", `{"name":"`+tool+`","arguments":{"message":"x","tenant_id":"`+tenant+`"}}`)
		if m.Error == nil {
			return "", 0
		}
		var data struct {
			Kind         string
			RetryAfterMs float64
		}
		if err := json.Unmarshal(m.Error.Data, &data); err != nil || m.Error.Code != -31002 {
			t.Errorf("%+v %v", m.Error, err)
		}
		return data.Kind, data.RetryAfterMs
	}
	if kind, retry := refused("t10", "echo"); kind != "queue_full" || retry <= 0 {
		t.Errorf("the 102nd call of all: %q, again in %v ms", kind, retry)
	}
	if kind, retry := refused("t3", "echo"); kind != "rate_limited" || retry <= 0 {
		t.Errorf("the 11th of a tenant: %q, again in %v ms", kind, retry)
	}
	for i := range 100 {
		if kind, _ := refused("busy", "queue_status"); kind != "" {
			t.Fatalf("call %d of the minute: %s", i+1, kind)
		}
	}
	if kind, retry := refused("busy", "queue_status"); kind != "rate_limited" || retry <= 0 || retry > 62_000 {
		t.Errorf("the 101st of the minute: %q, again in %v ms", kind, retry)
	}
	if kind, _ := refused("calm", "queue_status"); kind != "" {
		t.Errorf("another tenant: %s", kind)
	}
	assert.Contains(t, string(page(t, c, "/queue")), `"queued":100,"running":1,"concurrency":1`)
}
