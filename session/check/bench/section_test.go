package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
)

// serve is a server whose tools/list answer says how it goes wrong: "" for not at all.
func serve(t *testing.T, answer func(n, running int64) string) config.Server {
	t.Helper()
	var n, running atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		env, _ := jsonrpc.Scan(body)
		w.Header().Set("Content-Type", "application/json")
		rest := `"error":{"code":-32601,"message":"no such method"}`
		switch env.Method {
		case "initialize":
			rest = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`
		case "tools/list":
			rest = `"result":{"tools":[]}`
			if s := answer(n.Add(1), running.Add(1)); s != "" {
				rest = s
			}
			running.Add(-1)
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
			return
		}
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, env.ID, rest)
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return config.Server{Name: "fake", Transport: config.HTTP, URL: srv.URL + "/mcp"}
}

// examined are the rules that a section finds broken.
func examined(t *testing.T, cfg config.Server, s *Section) (ids []string, rep *check.Report) {
	t.Helper()
	m := session.NewManager(session.Options{HealthInterval: -1})
	t.Cleanup(func() { _ = m.Close() })
	one, err := m.Register(cfg)
	require.NoError(t, err)
	require.NoError(t, one.Connect(t.Context()))
	o, err := check.Take(t.Context(), one)
	require.NoError(t, err)
	plots := map[string][]string{} // names of what was drawn, by what was measured
	rep, err = check.Run(t.Context(), &check.Subject{Offer: o, Session: one}, []check.Section{s}, check.Tool{}, check.Watch{Progress: func(p check.Progress) {
		if p.Section != s.Name() || p.Total != 3 {
			t.Errorf("%+v", p)
		}
		plots[p.What] = nil
		for _, plot := range p.Plots {
			if len(plot.Values) > 0 && plot.Last != "" {
				plots[p.What] = append(plots[p.What], plot.Name)
			}
		}
	}})
	require.NoError(t, err)
	for what, names := range plots {
		if rep.Sections[len(rep.Sections)-1].Outcomes == nil && !slices.Equal(names, []string{"p50", "p99", "rate"}) {
			t.Errorf("of %s there are plots of %q", what, names)
		}
	}
	for _, f := range rep.Findings {
		ids = append(ids, f.ID)
	}
	return ids, rep
}

// Each rule finds what it is about, and not what another is.
func TestRules(t *testing.T) {
	slo, err := ParseObjective("p50<1ns")
	require.NoError(t, err)
	var began atomic.Value // when one client began
	var each atomic.Int64  // how long its requests took
	for _, c := range []struct {
		name   string
		answer func(n, running int64) string
		s      Section
		want   []string
	}{
		{"good", func(int64, int64) string { return "" }, Section{}, nil},
		{"a threshold", func(int64, int64) string { return "" }, Section{SLOs: []Objective{slo}}, []string{"load/slo"}},
		// With a delay, so that requests do meet.
		{"several at once", func(_, running int64) string {
			time.Sleep(5 * time.Millisecond)
			if running > 4 {
				return `"error":{"code":-32000,"message":"too busy"}`
			}
			return ""
		}, Section{}, []string{"load/errors"}},
		{"one after the other", func(n, _ int64) string {
			switch { // the first is the list of the check
			case n == 2:
				began.Store(time.Now())
			case n == 1+alone:
				each.Store(int64(time.Since(began.Load().(time.Time)) / (alone - 1)))
			case n > 1+alone: // far longer than a request of one client, however busy the machine is
				time.Sleep(max(150*time.Millisecond, 10*time.Duration(each.Load())))
			}
			return ""
		}, Section{}, []string{"load/latency-grows"}},
		{"too slow", func(n, _ int64) string {
			if n > 1+alone+crowd { // after the list of the check
				time.Sleep(400 * time.Millisecond)
			}
			return ""
		}, Section{Rate: 200}, []string{"load/rate-not-held"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.s
			if s.Rate == 0 {
				s.Rate = 40
			}
			s.For = 300 * time.Millisecond
			ids, rep := examined(t, serve(t, c.answer), &s)
			ids = slices.Compact(ids)
			// On a busy machine a good server may be slow as well.
			ids = slices.DeleteFunc(ids, func(id string) bool {
				return !slices.Contains(c.want, id) && (id == "load/latency-grows" || id == "load/rate-not-held")
			})
			if !slices.Equal(ids, c.want) {
				t.Errorf("%q, want %q: %+v", ids, c.want, rep.Findings)
			}
			last := rep.Sections[len(rep.Sections)-1]
			if len(last.Table) != 4 || !strings.Contains(string(last.Figures), `"method":"tools/list"`) {
				t.Errorf("%v\n%s", last.Table, last.Figures)
			}
		})
	}
}

// A server that fails alone says nothing about load, and one that is gone is a finding.
func TestOfNoUse(t *testing.T) {
	ids, rep := examined(t, serve(t, func(n, _ int64) string {
		if n == 1 { // what a check lists first
			return ""
		}
		return `"error":{"code":-32000,"message":"no"}`
	}), &Section{For: time.Second})
	if out := rep.Sections[len(rep.Sections)-1].Outcomes; len(ids) != 0 || len(out) != 5 || out[0].Verdict != check.Skipped || !strings.Contains(out[0].Why, "JSON-RPC -32000") {
		t.Errorf("%q, %+v", ids, out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg := serve(t, func(int64, int64) string { return "" })
	m := session.NewManager(session.Options{HealthInterval: -1})
	defer m.Close()
	one, err := m.Register(cfg)
	require.NoError(t, err)
	s := &Section{}
	if err := s.Run(ctx, &check.Subject{Session: one}, check.NewRecorder(s, check.Watch{})); err == nil {
		t.Error("a check that was interrupted went on")
	}
}
