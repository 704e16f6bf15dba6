package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A server that stands still makes all requests late that are due meanwhile, not only those that were sent.
func TestLateFromWhenItWasDue(t *testing.T) {
	target := opened(t, here(t, &known{from: 20 * time.Millisecond, to: 420 * time.Millisecond}), 1)
	r := measured(t, Plan{Method: "ping", Rate: 200, For: 700 * time.Millisecond, InFlight: 4}, []string{"p75<100ms", "p75>=100ms", "rate>1000/s"}, target)
	one := r.Targets[0]
	if one.Answered+one.Unsent != 140 || one.Failed != 0 {
		t.Errorf("%d answered, %d unsent, %d failed of 140", one.Answered, one.Unsent, one.Failed)
	}
	if one.Latency.P75 < 100 || one.Queued == 0 || one.Backlog == 0 {
		t.Errorf("p75 %v ms, %d queued, backlog %d", one.Latency.P75, one.Queued, one.Backlog)
	}
	if one.Own <= 0 || one.Own > float64(2*runtime.NumCPU()) || !strings.Contains(one.Outcome(), "measuring took 0.") && one.Own < 0.95 {
		t.Errorf("this process took %v cores: %s", one.Own, one.Outcome())
	}
	var met []bool
	for _, v := range r.Objectives {
		met = append(met, v.Met)
	}
	if !slices.Equal(met, []bool{false, true, false}) || len(r.Failed()) != 2 {
		t.Errorf("objectives %+v", r.Objectives)
	}
	h, err := hdrhistogram.Decode([]byte(one.Latency.Histogram))
	if err != nil || h.TotalCount() != one.Answered || micros(h.ValueAtPercentile(75)) != one.Latency.P75 {
		t.Errorf("histogram: %v, %v", h, err)
	}
	var names []string
	for _, p := range one.Phases {
		names = append(names, p.Name)
	}
	if want := []string{"waiting", "connection", "dial", "written", "first byte", "answer", "decode"}; !slices.Equal(names, want) {
		t.Errorf("phases %q, want %q", names, want)
	}
	sum := int64(0)
	for _, p := range one.Series {
		sum += p.Count
	}
	for _, b := range one.Bars {
		sum += b.Count
	}
	if sum != 2*one.Answered || len(one.Series) < 2 {
		t.Errorf("series %+v, bars %+v", one.Series, one.Bars)
	}
}

// A rate that cannot be held is said.
func TestRateNotHeld(t *testing.T) {
	target := opened(t, here(t, &known{delay: 50 * time.Millisecond}), 1)
	one := measured(t, Plan{Method: "ping", Rate: 400, For: 300 * time.Millisecond, InFlight: 2}, nil, target).Targets[0]
	if one.RateHeld == nil || *one.RateHeld || one.Unsent == 0 || one.Answered+one.Unsent != 120 || one.InFlight > 2 || len(one.Notes) == 0 || !strings.Contains(one.Outcome(), "NOT held") {
		t.Errorf("%+v", one)
	}
	// A number of requests is sent in any case.
	one = measured(t, Plan{Method: "ping", Rate: 400, Count: 20, InFlight: 2}, nil, target).Targets[0]
	if !*one.RateHeld || one.Answered != 20 || one.Rate > 50 {
		t.Errorf("%+v", one)
	}
}

func TestErrorsByKind(t *testing.T) {
	answers := []string{
		`"result":{}`, `"error":{"code":-32602,"message":"no\nsuch thing"}`, `"result":{"isError":true,"content":[{"type":"text","text":"it failed"}]}`, "HTTP 503", `"result":`, `"result":{"resultType":"input_required"}`,
	}
	cfg := here(t, &known{answer: func(_ jsonrpc.Envelope, n int) string { return answers[n%len(answers)] }})
	one := measured(t, Plan{Method: "tools/call", Params: []json.RawMessage{[]byte(`{"name":"x"}`)}, Count: 60, Clients: 3}, nil, opened(t, cfg, 3)).Targets[0]
	got := map[string]int64{}
	for _, e := range one.Errors {
		got[e.Kind] = e.Count
		if e.First == "" || strings.Contains(e.First, "\n") {
			t.Errorf("%s: first %q", e.Kind, e.First)
		}
	}
	for _, kind := range []string{"JSON-RPC -32602", KindTool, "HTTP 503", KindProtocol, KindInput} {
		if got[kind] != 10 {
			t.Errorf("%d of kind %q in %v", got[kind], kind, got)
		}
	}
	if one.Answered != 10 || one.Failed != 50 || one.Latency.Count != 10 || one.Connections != 3 {
		t.Errorf("%+v", one)
	}
}

// Of large answers only the beginning is kept.
func TestLargeAnswers(t *testing.T) {
	large := `"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 3*kept) + `"}]}`
	for _, stream := range []bool{false, true} {
		cfg := here(t, &known{stream: stream, answer: func(jsonrpc.Envelope, int) string { return large }})
		if one := measured(t, Plan{Method: "ping", Count: 4}, nil, opened(t, cfg, 1)).Targets[0]; one.Answered != 4 || one.Failed != 0 {
			t.Errorf("stream %t: %+v", stream, one.Errors)
		}
		cfg.MaxFrame = 2 * kept
		if one := measured(t, Plan{Method: "ping", Count: 2}, nil, opened(t, cfg, 1)).Targets[0]; one.Answered != 0 || one.Failed != 2 || one.Errors[0].Kind != KindProtocol && one.Errors[0].Kind != KindConnection {
			t.Errorf("stream %t: %+v", stream, one)
		}
	}
}

// A request that takes too long is given up, and its server told.
func TestTimeout(t *testing.T) {
	k := &known{delay: time.Minute}
	one := measured(t, Plan{Method: "ping", Count: 2, Clients: 2, Timeout: 50 * time.Millisecond}, nil, opened(t, here(t, k), 1)).Targets[0]
	if one.Failed != 2 || one.Errors[0].Kind != KindTimeout || one.Latency.Count != 2 || one.Latency.Min < 50 {
		t.Errorf("%+v", one)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.heard, "notifications/cancelled") {
		t.Errorf("the server heard %q", k.heard)
	}
}

// Arguments are taken in turn, each request has an id of its own, and several servers take turns.
func TestInTurn(t *testing.T) {
	seen := [2]map[string]int{{}, {}}
	ids := map[string]bool{}
	var targets []*Target
	for i := range seen {
		cfg := here(t, &known{stream: i == 1, answer: func(env jsonrpc.Envelope, _ int) string {
			seen[i][jsonrpc.GetString(env.Params, "uri")]++ // one client
			ids[string(env.ID)] = true
			return `"result":{}`
		}})
		targets = append(targets, opened(t, cfg, 2))
	}
	targets[1].Name = "other"
	p := Plan{Method: "resources/read", Count: 30}
	for i := range 30 {
		p.Params = append(p.Params, fmt.Appendf(nil, `{"uri":"a:%d"}`, i))
	}
	r := measured(t, p, []string{"errors<1%"}, targets...)
	for i, s := range seen {
		if len(s) != 30 {
			t.Errorf("target %d: %v", i, s)
		}
	}
	if r.Targets[0].Answered != 30 || r.Targets[1].Answered != 30 || len(r.Objectives) != 2 || len(ids) < 30 {
		t.Errorf("%+v, %d ids", r.Targets, len(ids))
	}
	assert.Contains(t, r.Markdown(), "### other against known", "errors\\<1%")
}

// What a server is called and answers neither marks up a report nor hides in it.
func TestMarkdownOfStrangers(t *testing.T) {
	r := Report{Targets: []TargetReport{{Name: "a\u202eb\u200b`c`\u009b", Protocol: "|\x1b", Errors: []Errors{{Kind: "x", First: "one\u2028two\nthree"}}}}}
	got := r.Markdown()
	for _, want := range []string{"### a\\<U+202E\\>b\\<U+200B\\>\\`c\\`\\<U+009B\\> (\\| ,", "| one\\<U+2028\\>two |"} {
		assert.Contains(t, got, want)
	}
}

// Over TLS there is one phase more, where a connection is new.
func TestPhaseOfTLS(t *testing.T) {
	cfg := faketest.TLS(t)
	cfg.Insecure = true
	target := opened(t, cfg, 1)
	run, err := New(t.Context(), Plan{Method: "ping", Count: 5}, nil, "test", target)
	require.NoError(t, err)
	made := target.conns[0].(*httpConn)
	fresh := &httpConn{rt: made.rt.Clone(), max: made.max, session: made.session} // without the TCP connection of the handshake
	fresh.readers.New = made.readers.New
	defer fresh.rt.CloseIdleConnections()
	target.conns[0] = fresh
	rep, err := run.Do(t.Context())
	require.NoError(t, err)
	one := rep.Targets[0]
	i := slices.IndexFunc(one.Phases, func(p PhaseReport) bool { return p.Name == "tls" })
	if one.Answered != 5 || i < 0 || one.Phases[i].Count < 1 || one.Phases[i].Count > 5 || one.Phases[i].Max <= 0 {
		t.Errorf("%+v", one)
	}
}

// Frames of a pipe take the same way, in both eras.
func TestPipe(t *testing.T) {
	for _, mode := range []behave.Mode{behave.Good, behave.Modern} {
		target := opened(t, faketest.Stdio(t, mode), 2)
		one := measured(t, Plan{Method: "ping", Count: 50, Clients: 4}, nil, target).Targets[0]
		if one.Answered != 50 || one.Transport != config.Stdio || one.Phases[1].Name != "written" || len(target.PIDs()) != 2 {
			t.Errorf("%s: %+v", mode, one)
		}
	}
	one := measured(t, Plan{Method: "tools/list", Count: 10}, nil, opened(t, faketest.SSE(t, behave.Good, behave.Fault{}), 1)).Targets[0]
	if one.Answered != 10 || one.Transport != config.SSE {
		t.Errorf("%+v", one)
	}
}

// A server that dies ends the run, and is in the report.
func TestServerDies(t *testing.T) {
	cfg := config.Server{Name: "mortal", Transport: config.Stdio, Command: os.Args[0], Env: map[string]string{knownEnv: "dies"}}
	run, err := New(t.Context(), Plan{Method: "ping", Clients: 2, For: time.Hour}, nil, "test", opened(t, cfg, 1))
	require.NoError(t, err)
	r, err := run.Do(t.Context())
	var e *failure.Error
	if !errors.As(err, &e) || e.Kind != failure.ChannelClosed || !strings.Contains(e.Detail, "out of luck") {
		t.Errorf("%#v", err)
	}
	if one := r.Targets[0]; one.Answered != 10 || one.Failed == 0 || !strings.Contains(one.Lost, "exited with status 3") || r.Ended == "" {
		t.Errorf("%+v, ended %q", one, r.Ended)
	}

	// Over HTTP it may come back, for a while.
	target := opened(t, here(t, &known{}), 1)
	run, err = New(t.Context(), Plan{Method: "ping", For: time.Hour}, nil, "test", target)
	require.NoError(t, err)
	run.patient = 20 * time.Millisecond
	target.messages[0][0].request.URL = &url.URL{Scheme: "http", Host: "127.0.0.1:1", Path: "/"} // where nobody listens
	if r, err = run.Do(t.Context()); err == nil || r.Targets[0].Errors[0].Kind != KindRefused || r.Targets[0].Lost == "" {
		t.Errorf("%v, %+v", err, r.Targets[0])
	}
}

// An early end keeps what was measured.
func TestEndedEarly(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	run, err := New(ctx, Plan{Method: "ping", Rate: 500, For: time.Hour, Warmup: 10 * time.Millisecond}, nil, "test", opened(t, here(t, &known{}), 1))
	require.NoError(t, err)
	if now := run.Now(); now.Report.Answered != 0 || now.Done != 0 {
		t.Errorf("before the beginning: %+v", now)
	}
	go func() {
		for ctx.Err() == nil {
			if time.Sleep(time.Millisecond); run.Now().Report.Answered >= 5 {
				cancel(errors.New("enough"))
			}
		}
	}()
	r, err := run.Do(ctx)
	if one := r.Targets[0]; err != nil || r.Ended != "enough" || one.Answered < 5 {
		t.Errorf("%v, ended %q, %+v", err, r.Ended, one)
	}
	if now := run.Now(); now.Report.Answered != r.Targets[0].Answered || now.Done <= 0 || now.InFlight != 0 {
		t.Errorf("after the end: %+v", now)
	}
}

func TestPlanIsRefused(t *testing.T) {
	for _, p := range []Plan{
		{Rate: 1, Clients: 1},
		{Rate: -1},
		{Rate: 1e9},
		{Rate: 0.001},
		{Clients: -1},
		{Clients: 1e6},
		{InFlight: 1e6},
		{For: -1},
		{For: 1000 * time.Hour},
		{Warmup: -1},
		{Count: -1},
		{Count: 2e9},
		{Params: make([]json.RawMessage, MaxArguments+1)},
		{Timeout: -1},
	} {
		if err := p.Check(); failure.KindOf(err) != failure.Usage {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, err := Open(t.Context(), config.Server{}, session.Options{}, 5000); failure.KindOf(err) != failure.Usage {
		t.Error(err)
	}
}

func TestObjectives(t *testing.T) {
	for _, s := range []string{"", "p99", "p99<", "p99<200", "p0<1s", "p100<1s", "pp<1s", "errors<x%", "errors<-1", "rate>x/s", "latency<1s", "p99<-1s"} {
		if o, err := ParseObjective(s); err == nil {
			t.Errorf("%q is %+v", s, o)
		}
	}
	m := newMeter(&Plan{Timeout: time.Second})
	put(m.latency, int64(10*time.Millisecond))
	r := TargetReport{Name: "s", Answered: 98, Failed: 2, Rate: 50, Latency: distribution(m.latency, false)}
	for s, want := range map[string]string{
		"p99 < 20ms": "p99<20ms: 10ms true", "p99.9>1s": "p99.9>1s: 10ms false", "mean<=9ms": "mean<=9ms: 10ms false", "errors<1%": "errors<1%: 2% false", "errors<=2": "errors<=2: 2 true",
		"rate>=50/s": "rate>=50/s: 50/s true", "rate>50": "rate>50: 50/s false", "max<1s": "max<1s: 10ms true", "min>1ms": "min>1ms: 10ms true",
	} {
		o, err := ParseObjective(s)
		if err != nil {
			t.Error(err)
			continue
		}
		if v := o.judge(&r, m); fmt.Sprint(v, " ", v.Met) != want {
			t.Errorf("%q: %v %t, want %s", s, v, v.Met, want)
		}
	}
}

func TestObjects(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{" \n", ""},
		{`[]`, ""},
		{"{\"a\":1}\n\n{\"b\": 2}", `{"a":1} {"b": 2}`},
		{"[{\"a\":1},\n{}]", `{"a":1} {}`},
		{"{\"a\":1}\n2\n", `{"a":1} object 2, line 2: is not a JSON object`},
		{"[{}", "{} object 2, line 1: the file ends in the middle of it"},
		{"{}\n{", "{} object 2, line 2: the file ends in the middle of it"},
		{"{}\n\n{]", "{} object 2, line 3: invalid character ']' looking for beginning of object key string"},
		{"[" + strings.Repeat(" ", MaxObject+100_000) + "{}", "object 1, line 1: it has more than 16777216 bytes"},
	} {
		var got []string
		for v, err := range Objects(strings.NewReader(c.in)) {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, string(v))
		}
		assert.Equalf(t, strings.Join(got, " "), c.want, "%.40q", c.in)
	}
}
