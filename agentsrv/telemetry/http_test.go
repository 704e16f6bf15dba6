package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// value reads one number off the page for Prometheus.
func value(t *testing.T, page, series string) float64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no %s in\n%s", series, page)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	require.NoError(t, err)
	return v
}

func TestO3_O4_Prometheus(t *testing.T) {
	a := newAgent(t, Options{
		Queue:    func() Queue { return Queue{Queued: 4, Running: 1, Concurrency: 1, Shared: &Shared{3, 9, 2}} },
		Sessions: func() int { return 7 },
	})
	for range 6 {
		a.call("echo", `{}`)
	}
	for range 2 {
		a.call("fail", `{}`)
	}
	a.tel.Cache(true)
	a.tel.Cache(true)
	a.tel.Cache(true)
	a.tel.Cache(false)
	if status, _ := a.get("/metrics", false); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
	status, page := a.get("/metrics", true)
	if status != 200 {
		t.Fatal(status, page)
	}
	for series, want := range map[string]float64{
		`mcp_tool_duration_ms_count{mcp_tool_name="echo",outcome="ok"}`:    6,
		`mcp_tool_duration_ms_count{mcp_tool_name="fail",outcome="error"}`: 2,
		`mcp_tool_calls_total{mcp_tool_name="echo"}`:                       6,
		`mcp_tool_errors_total{mcp_tool_name="fail"}`:                      2,
		`mcp_tool_error_rate`:             0.25,
		`mcp_resource_cache_hit_rate`:     0.75,
		`mcp_resource_cache_hits_total`:   3,
		`mcp_resource_cache_misses_total`: 1,
		`mcp_queue_queued`:                4,
		`mcp_queue_running`:               1,
		`mcp_queue_concurrency`:           1,
		`mcp_queue_shared_replicas`:       3,
		`mcp_queue_shared_queued`:         9,
		`mcp_queue_shared_running`:        2,
		`mcp_sessions_active`:             7,
	} {
		if got := value(t, page, series); got != want {
			t.Errorf("%s = %v, want %v", series, got, want)
		}
	}
	for _, part := range []string{`mcp_tool_duration_ms_bucket{mcp_tool_name="echo",outcome="ok",le="+Inf"} 6`, `mcp_tool_duration_ms_sum{`, "go_goroutines ", "process_open_fds "} {
		assert.Contains(t, page, part)
	}
	for range 8 {
		a.call("fail", `{}`)
	}
	if _, page = a.get("/metrics", true); value(t, page, "mcp_tool_error_rate") != 10.0/16 {
		t.Error(value(t, page, "mcp_tool_error_rate"))
	}
}

func TestO3_NamesThatClientsMakeUpShareOneLabel(t *testing.T) {
	a := newAgent(t, Options{})
	for i := range 300 {
		a.call(fmt.Sprint("made-up-", i), `{}`)
	}
	_, page := a.get("/metrics", true)
	if strings.Contains(page, "made-up") || value(t, page, `mcp_tool_calls_total{mcp_tool_name="unknown"}`) != 300 {
		t.Errorf("%s", page)
	}
	var m metrics
	m.labels = map[string]*label{}
	for i := range 5000 {
		m.label(fmt.Sprint(i), func(string) bool { return true })
	}
	if len(m.labels) > maxLabels+2 {
		t.Errorf("%d labels", len(m.labels))
	}
}

func TestO3_TheRateSlides(t *testing.T) {
	var r rate
	r.add(0, true)
	r.add(5*time.Second, false)
	for at, want := range map[time.Duration]float64{6 * time.Second: 0.5} {
		assert.Equalf(t, r.value(at), want, "%v", at)
	}
	r.add(200*time.Second, false)
	r.add(200*time.Second, false)
	assert.Equal(t, r.value(200*time.Second), 0.25)
	assert.Equal(t, r.value(320*time.Second), 0)
	assert.Equal(t, r.value(9000*time.Second), 0)
	if marked, all := r.totals(); marked != 1 || all != 4 {
		t.Error(marked, all)
	}
}

func TestA13_HealthAndReady(t *testing.T) {
	var usable atomic.Bool
	a := newAgent(t, Options{Name: "n", Version: "9.9.9", Ready: map[string]func(context.Context) error{
		"kb": func(context.Context) error {
			if usable.Load() {
				return nil
			}
			return errors.New("the index is being built")
		},
		"store": func(context.Context) error { return nil },
	}})
	status, body := a.get("/health", false)
	if status != 200 || strings.TrimSpace(body) != `{"status":"ok","name":"n","version":"9.9.9"}` {
		t.Errorf("%d %s", status, body)
	}
	if status, body = a.get("/ready", false); status != 503 || strings.TrimSpace(body) != `{"reasons":{"kb":"the index is being built"},"status":"not ready"}` {
		t.Errorf("%d %s", status, body)
	}
	usable.Store(true)
	if status, body = a.get("/ready", false); status != 200 || strings.TrimSpace(body) != `{"status":"ready"}` {
		t.Errorf("%d %s", status, body)
	}
	res, err := http.Post(a.url+"/health", "text/plain", nil)
	require.NoError(t, err)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /health: %d", res.StatusCode)
	}
}

func TestO8_Status(t *testing.T) {
	a := newAgent(t, Options{
		Name: "n", Version: "v",
		Queue:    func() Queue { return Queue{Queued: 1, Running: 2, Concurrency: 3} },
		Sessions: func() int { return 4 },
		Tenants:  func() int { return 5 },
		Status:   map[string]func(context.Context) any{"kb": func(context.Context) any { return map[string]int{"chunks": 6} }},
	})
	a.call("echo", `{}`)
	a.call("fail", `{}`)
	if status, _ := a.get("/status", false); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
	status, body := a.get("/status", true)
	var got struct {
		Name, Version, Started string
		UptimeMS               *int64 `json:"uptime_ms"`
		Queue                  Queue
		Sessions, Tenants      struct{ Active int }
		KB                     struct{ Chunks int }
		Tools                  struct {
			Calls, Errors int
			ErrorRate     float64 `json:"error_rate"`
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
		t.Fatal(status, body, err)
	}
	if got.Name != "n" || got.Version != "v" || got.Queue != (Queue{Queued: 1, Running: 2, Concurrency: 3}) || got.Sessions.Active != 4 || got.Tenants.Active != 5 || got.KB.Chunks != 6 ||
		got.UptimeMS == nil || got.Tools.Calls != 2 || got.Tools.Errors != 1 || got.Tools.ErrorRate != 0.5 {
		t.Errorf("%s", body)
	}
	if _, err := time.Parse(time.RFC3339, got.Started); err != nil {
		t.Error(err)
	}
}
