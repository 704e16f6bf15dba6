package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

var (
	metricLine  = regexp.MustCompile(`^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)$`)
	metricsSaid = regexp.MustCompile(`metrics at (http://127\.0\.0\.1:\d+/metrics)`)
)

// metricsOf parses OpenMetrics: a value for each line up to the number.
func metricsOf(t *testing.T, text string) map[string]float64 {
	t.Helper()
	all, types := map[string]float64{}, map[string]string{}
	if !strings.HasSuffix(text, "\n# EOF\n") {
		t.Errorf("no end: %.200q", text[max(0, len(text)-200):])
	}
	for _, line := range strings.Split(strings.TrimSuffix(text, "# EOF\n"), "\n") {
		if kind, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(kind, " ")
			types[name] = kind
		}
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		m := metricLine.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("not a metric: %q", line)
			continue
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if base := strings.TrimSuffix(m[1], "_total"); base != m[1] && types[base] != "counter" {
			t.Errorf("%q is of type %q", line, types[base])
		}
		all[strings.TrimSuffix(line, " "+m[3])] = v
	}
	return all
}

func wantMetrics(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if has, ok := got[name]; !ok || v >= 0 && has != v || v < 0 && has <= 0 {
			t.Errorf("%s is %v (%v), want %v", name, has, ok, v)
		}
	}
}

const some = -1 // more than 0

func TestO4b_StatusIntoAFile(t *testing.T) {
	t.Parallel()
	config := writeConfig(t, "", [2]string{"good", string(behave.Good)}, [2]string{"broken", string(behave.ExitAtOnce)})
	file := filepath.Join(t.TempDir(), "mcp.prom")
	write(t, file, "what was there before")
	o := mcphud(t, "status", "--config", config, "--metrics", file, "--connect-timeout", "2s")
	if o.code != cli.ExitUnreachable || len(o.status(t).Servers) != 2 { // the report and the exit code are what they are without it
		t.Errorf("exit %d: %s%s", o.code, o.out, o.stderr)
	}
	wantMetrics(t, metricsOf(t, contents(file)), map[string]float64{
		`mcphud_client_server_connected{server="good"}`:                                              1,
		`mcphud_client_server_connected{server="broken"}`:                                            0,
		`mcphud_client_server_state{server="good",state="Connected"}`:                                1,
		`mcphud_client_server_state{server="broken",state="Error"}`:                                  1,
		`mcphud_client_server_tools{server="good"}`:                                                  some,
		`mcphud_client_server_latency_seconds{server="good"}`:                                        some,
		`mcphud_client_connections_total{server="good"}`:                                             1,
		`mcphud_client_requests_total{method="tools/list",outcome="ok",server="good"}`:               1,
		`mcphud_client_request_duration_seconds_count{method="tools/list",server="good"}`:            1,
		`mcphud_client_request_duration_seconds_bucket{method="tools/list",server="good",le="+Inf"}`: 1,
		`mcphud_client_frame_bytes_total{direction="received",server="good"}`:                        some,
		`mcphud_client_pool_connections{state="idle"}`:                                               1,
	})
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v %v", info, err)
	}
	o = mcphud(t, "status", "good", "--config", config, "--metrics", "-")
	wantMetrics(t, metricsOf(t, o.ok(t)), map[string]float64{`mcphud_client_server_connected{server="good"}`: 1})

	for at, says := range map[string]string{
		"0.0.0.0:9464":                       "without authentication",
		"example.com:9464":                   "without authentication",
		"127.0.0.1:99999":                    "not between 0 and 65535",
		filepath.Join(file, "under", "file"): "cannot write the metrics",
	} {
		mcphud(t, "status", "good", "--config", config, "--metrics", at).exits(t, cli.ExitFailure, says)
	}
}

func TestO4b_StatusIsScraped(t *testing.T) {
	t.Parallel()
	a := serveAgent(t, "--ephemeral", "--port", "0", "--name", "x")
	file := filepath.Join(t.TempDir(), "mcp.json")
	write(t, file, fmt.Sprintf(`{"mcpServers":{"here":{"url":%q},"away":{"url":"http://127.0.0.1:1/mcp"}}}`, a.url))
	s := launch(t, command(t, "status", "--config", file, "--metrics", "127.0.0.1:0"), metricsSaid)
	scrape := func(headers ...string) httpReply {
		t.Helper()
		r, err := s.send(http.MethodGet, s.url, "", headers...)
		require.NoError(t, err)
		return r
	}
	r := scrape("Accept", "application/openmetrics-text; version=1.0.0")
	if kind := r.header.Get("Content-Type"); r.status != http.StatusOK || !strings.HasPrefix(kind, "application/openmetrics-text; version=1.0.0") {
		t.Fatalf("%+v", r)
	}
	got := metricsOf(t, r.body)
	wantMetrics(t, got, map[string]float64{
		`mcphud_client_server_connected{server="here"}`: 1, `mcphud_client_server_connected{server="away"}`: 0, `mcphud_client_connections_total{server="away"}`: some,
	})
	const discover = `mcphud_client_requests_total{method="server/discover",outcome="ok",server="here"}`
	require.Eventually(t, "a ping for a later scrape", func() bool { return metricsOf(t, scrape().body)[discover] > got[discover] })
	if r := scrape("Accept", "text/plain"); !strings.HasPrefix(r.header.Get("Content-Type"), "text/plain") || strings.Contains(r.body, "# EOF") {
		t.Errorf("%+v", r)
	}
	if r := scrape("Origin", "https://evil.example"); r.status != http.StatusForbidden {
		t.Errorf("%+v", r)
	}
	a.signal(os.Interrupt)
	a.exit()
	require.Eventually(t, "the server to be gone", func() bool {
		got = metricsOf(t, scrape().body)
		return got[`mcphud_client_server_connected{server="here"}`] == 0
	})
	wantMetrics(t, got, map[string]float64{`mcphud_client_requests_total{method="server/discover",outcome="error",server="here"}`: some})
	s.signal(os.Interrupt)
	if code := s.exit(); code != cli.ExitInterrupted && code != cli.ExitOK {
		t.Errorf("exit %d: %s", code, s.log())
	}
}

// What the UI does counts, up to its end.
func TestO4b_TheUIsSession(t *testing.T) {
	t.Parallel()
	a := serveAgent(t, "--ephemeral", "--port", "0")
	file := filepath.Join(t.TempDir(), "ui.prom")
	s := startUIWith(t, []string{"TERM=dumb"}, "--url", a.url, "--metrics", file)
	s.shows(") reset_counter — ") // the list came
	s.types(t, "q\n")
	if code := s.exit(); code != cli.ExitOK {
		t.Fatalf("exit %d", code)
	}
	got := metricsOf(t, contents(file))
	found := false
	for name, v := range got {
		found = found || strings.HasPrefix(name, `mcphud_client_requests_total{method="tools/list",outcome="ok"`) && v > 0
	}
	if !found {
		t.Errorf("%v", got)
	}
	cmd := command(t, "--linear", "--url", a.url, "--metrics", "-")
	finish(t, cmd).exits(t, cli.ExitFailure, "does not apply to the UI")
}
