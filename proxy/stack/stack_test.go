package stack

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestOrderAndFigures(t *testing.T) {
	var mu sync.Mutex
	var events []string
	var listens []string
	s := supervise(t, Options{
		Event: func(e Event) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, e.Status.Name+" "+string(e.Status.State))
		},
		Listening: func(name, url string) error {
			mu.Lock()
			defer mu.Unlock()
			listens = append(listens, name)
			return nil
		},
	}, Spec{Name: "r", Kind: Router, After: []string{"a", "b"}}, Spec{Name: "a"}, Spec{Name: "b", Args: []string{"--mode", "slow"}})
	until(t, s, "b", func(st Status) bool { return st.URL != "" })
	until(t, s, "a", func(st Status) bool { return st.State == Ready })
	if st := s.statusOf("r"); st.State != Waiting || st.PID != 0 {
		t.Errorf("the router did not wait: %+v", st)
	}
	visit(t, s, "b", "/go")
	ready(t, s)
	st := until(t, s, "a", func(st Status) bool { return st.Known })
	if st.Requests != 17 || st.Queued != 3 || st.Running != 1 || st.PID == 0 || st.Port == 0 || !strings.HasSuffix(st.URL, "/mcp") || st.Up(time.Now()) <= 0 {
		t.Errorf("%+v", st)
	}
	says(t, s, "a", "listening on "+st.URL)
	s.Close(bounded(t))
	mu.Lock()
	defer mu.Unlock()
	if i, j := slices.Index(events, "b ready"), slices.Index(events, "r starting"); i < 0 || j < i {
		t.Errorf("order: %v", events)
	}
	if i, j := slices.Index(events, "r stopped"), slices.Index(events, "a stopping"); i < 0 || j < i {
		t.Errorf("the router is to leave first: %v", events)
	}
	if len(listens) != 3 || listens[2] != "r" {
		t.Errorf("listening: %v", listens)
	}
	for _, st := range s.Processes() {
		if st.State != Stopped || st.PID != 0 {
			t.Errorf("%+v", st)
		}
	}
}

// The router listens elsewhere than the agents were told, such as where its port was taken while they started.
func TestRouterThatMovedIsToldToAgents(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	at := "where it was planned"
	s := supervise(t, Options{
		Env: func(name string) map[string]string {
			mu.Lock()
			defer mu.Unlock()
			if name == "r" {
				return map[string]string{asFake: "1"}
			}
			return map[string]string{asFake: "1", "AGENT_TOKEN": at}
		},
		Listening: func(name, url string) error {
			mu.Lock()
			defer mu.Unlock()
			if name == "r" {
				at = url
			}
			return nil
		},
	}, Spec{Name: "r", Kind: Router, After: []string{"a", "b"}}, Spec{Name: "a"}, Spec{Name: "b", Env: map[string]string{"AGENT_TOKEN": "its own"}})
	ready(t, s)
	says(t, s, "a", "TOKEN "+s.statusOf("r").URL)
	says(t, s, "a", "r is elsewhere than it was told, so it starts again")
	for name, want := range map[string]int{"r": 0, "a": 1, "b": 0} {
		if got := s.statusOf(name).Restarts; got != want {
			t.Errorf("%s was started again %d times, want %d", name, got, want)
		}
	}
}

func TestCrashIsRestartedOnTheSamePort(t *testing.T) {
	t.Parallel()
	s := supervise(t, Options{Backoff: Backoff{First: 2 * time.Second}}, Spec{Name: "a"})
	ready(t, s)
	before := s.statusOf("a")
	visit(t, s, "a", "/crash")
	st := until(t, s, "a", func(st Status) bool { return st.State == Failed })
	if !strings.Contains(st.Err, "status 3") || !strings.Contains(st.Err, "out of flux") || st.RetryAt.Before(time.Now().Add(-time.Minute)) || st.PID != 0 {
		t.Errorf("%+v", st)
	}
	st = until(t, s, "a", func(st Status) bool { return st.State == Ready })
	if st.Restarts != 1 || st.PID == before.PID || st.Port != before.Port || st.Err != "" {
		t.Errorf("before %+v, after %+v", before, st)
	}
}

func TestCrashLoop(t *testing.T) {
	s := supervise(t, Options{Backoff: Backoff{Most: 10 * time.Second, Loop: 3}}, Spec{Name: "a", Args: []string{"--mode", "exit"}}, Spec{Name: "b", After: []string{"a"}})
	err := s.Ready(bounded(t))
	if err == nil || !strings.Contains(err.Error(), "a cannot start: exited with status 1: there is no such thing") {
		t.Fatal(err)
	}
	if st := s.statusOf("a"); st.Restarts != 2 || st.State != Crashing {
		t.Errorf("%+v", st)
	}
	// What comes after it was not kept from starting.
	until(t, s, "b", func(st Status) bool { return st.State == Ready })
	// A person who starts it does not have to wait for the pause.
	assert.ErrorContains(t, s.Run(bounded(t), "a"), "no such thing")
	if err := s.Stop(bounded(t), "a"); err != nil || s.statusOf("a").State != Stopped {
		t.Error(err, s.statusOf("a"))
	}
}

func TestFailureOnceIsForgotten(t *testing.T) {
	s := supervise(t, Options{}, Spec{Name: "a", Args: []string{"--mode", "exit once", "--file", filepath.Join(t.TempDir(), "was")}})
	ready(t, s)
	if st := s.statusOf("a"); st.Restarts != 1 || st.Err != "" {
		t.Errorf("%+v", st)
	}
}

func TestHungProcessIsRestarted(t *testing.T) {
	t.Parallel()
	s := supervise(t, Options{ProbeTimeout: 3 * time.Second}, Spec{Name: "a"})
	ready(t, s)
	pid := s.statusOf("a").PID
	visit(t, s, "a", "/hang")
	st := until(t, s, "a", func(st Status) bool { return st.State == Ready && st.PID != pid })
	if st.Restarts != 1 {
		t.Errorf("%+v", st)
	}
	says(t, s, "a", "health check failed")
}

func TestSilentProcessFails(t *testing.T) {
	s := supervise(t, Options{StartTimeout: 50 * time.Millisecond, Backoff: Backoff{First: time.Minute}}, Spec{Name: "a", Args: []string{"--mode", "silent"}})
	if st := until(t, s, "a", func(st Status) bool { return st.State == Failed }); !strings.Contains(st.Err, "did not listen within 50ms") {
		t.Errorf("%+v", st)
	}
}

// What a process says when all is well is no reason for its end.
func TestKilledProcessHasNoOtherReason(t *testing.T) {
	s := supervise(t, Options{Backoff: Backoff{First: time.Minute}}, Spec{Name: "a"})
	ready(t, s)
	p, err := os.FindProcess(s.statusOf("a").PID)
	require.NoError(t, err)
	require.NoError(t, p.Kill())
	if st := until(t, s, "a", func(st Status) bool { return st.State == Failed }); strings.Contains(st.Err, "listening on") {
		t.Errorf("%+v", st)
	}
}

func TestStopStartRestart(t *testing.T) {
	s := supervise(t, Options{}, Spec{Name: "a"}, Spec{Name: "r", Kind: Router, After: []string{"a"}})
	ready(t, s)
	a, r := s.statusOf("a"), s.statusOf("r")
	ctx := bounded(t)
	require.NoError(t, s.Restart(ctx, "a"))
	if st := s.statusOf("a"); st.State != Ready || st.PID == a.PID || st.Port != a.Port || st.Restarts != 1 {
		t.Errorf("%+v", st)
	}
	assert.Equalf(t, s.statusOf("r").PID, r.PID, "the router was restarted as well")
	if err := s.Stop(ctx, "r"); err != nil || s.statusOf("r").State != Stopped || s.statusOf("a").State != Ready {
		t.Fatal(err, s.Processes())
	}
	if err := s.Run(ctx, "r"); err != nil || s.statusOf("r").State != Ready {
		t.Fatal(err, s.Processes())
	}
	if err := s.Stop(ctx); err != nil || len(s.PIDs()) != 0 {
		t.Fatal(err, s.Processes())
	}
	if err := s.Restart(ctx); err != nil || len(s.PIDs()) != 2 {
		t.Fatal(err, s.Processes())
	}
	if err := s.Stop(ctx, "x"); err == nil {
		t.Error("an unknown process was stopped")
	}
	s.Close(ctx)
	if err := s.Run(ctx); err == nil {
		t.Error("a closed stack runs again")
	}
}

func TestTakenPort(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	port := ln.Addr().(*net.TCPAddr).Port
	s := supervise(t, Options{}, Spec{Name: "any", Port: port})
	ready(t, s)
	if st := s.statusOf("any"); st.Port == port || st.Port == 0 || st.Restarts != 0 {
		t.Errorf("%+v", st)
	}
	says(t, s, "any", fmt.Sprintf("starting: on another port: %d is taken", port))
	s = supervise(t, Options{Backoff: Backoff{Loop: 2}}, Spec{Name: "fixed", Port: port, Fixed: true})
	assert.ErrorContains(t, s.Ready(bounded(t)), "address already in use")
}

func TestForeignServer(t *testing.T) {
	t.Setenv("AGENT_TOKEN", "secret")
	port := strconv.Itoa(nettest.FreePort(t))
	addr := "127.0.0.1:" + port
	s := supervise(t, Options{Backoff: Backoff{Loop: 1}},
		Spec{Name: "f", Kind: Server, Args: []string{"--port", port}, Env: map[string]string{"OWN": "mine"}, URL: "http://" + addr + "/mcp"},
		Spec{Name: "g", Kind: Server, Command: "/nowhere/at/all", URL: "http://" + addr + "/mcp"})
	assert.ErrorContains(t, s.Ready(bounded(t)), `g cannot start: cannot start "/nowhere/at/all"`)
	st := until(t, s, "f", func(st Status) bool { return st.State == Ready })
	if st.URL != "http://"+addr+"/mcp" || st.Known {
		t.Errorf("%+v", st)
	}
	assert.Equalf(t, says(t, s, "f", "TOKEN"), "TOKEN  OWN mine", "environment")
}

// A process that does not leave by itself is killed when its time is over, or when ours is.
func TestDeafProcessIsKilled(t *testing.T) {
	deaf := Spec{Name: "a", Args: []string{"--mode", "deaf"}}
	s := supervise(t, Options{Drain: 20 * time.Millisecond}, deaf)
	ready(t, s)
	require.NoError(t, s.Stop(bounded(t)))
	says(t, s, "a", "signal killed")

	s = supervise(t, Options{Drain: time.Hour}, deaf)
	ready(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.Close(ctx)
	if len(s.PIDs()) != 0 {
		t.Error(s.Processes())
	}
}

func TestLevels(t *testing.T) {
	for want, specs := range map[string][]Spec{
		"dependency cycle":  {{Name: "a", Kind: Agent, After: []string{"b"}}, {Name: "b", Kind: Agent, After: []string{"a"}}},
		`"c", which is not`: {{Name: "a", Kind: Agent, After: []string{"c"}}},
		`called "a"`:        {{Name: "a", Kind: Agent}, {Name: "a", Kind: Agent}},
		"no name":           {{Kind: Agent}},
		"no command":        {{Name: "a", Kind: Server}},
	} {
		if _, err := New(specs, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestLogIsBounded(t *testing.T) {
	r := ring{bounds: LogBounds{Lines: 3, Bytes: 100, Line: 50}}
	in := "one\ntwo\r\n" + strings.Repeat("x", 200) + "\nfour\nfive"
	readLines(strings.NewReader(in), r.bounds.Line, func(s string) { r.add(Stdout, s) })
	got := r.after(0)
	if len(got) != 3 || got[0].Text != strings.Repeat("x", 50)+"…" || got[2].Text != "five" || got[2].Seq != 5 {
		t.Errorf("%+v", got)
	}
	if got := r.after(4); len(got) != 1 || got[0].Text != "five" {
		t.Errorf("%+v", got)
	}
	if got := r.after(99); got != nil {
		t.Errorf("%+v", got)
	}
	r.add(Stdout, strings.Repeat("y", 99))
	if got := r.after(0); len(got) != 1 {
		t.Errorf("%d lines of more bytes than allowed", len(got))
	}
}

func TestBackoff(t *testing.T) {
	var b Backoff
	b.complete()
	for n, want := range map[int]time.Duration{1: 250 * time.Millisecond, 2: 500 * time.Millisecond, 3: time.Second, 100: 30 * time.Second} {
		for range 50 {
			if d := b.wait(n); d < want*4/5 || d > want*6/5 {
				t.Errorf("after %d failures %s, want about %s", n, d, want)
			}
		}
	}
}

// What nobody could be told of a process is shown, and told again.
func TestTroubleIsShownAndTriedAgain(t *testing.T) {
	var mu sync.Mutex
	events := make(chan string, 100)
	wrong := errors.New("the disk is full")
	s := supervise(t, Options{
		Event: func(e Event) { events <- string(e.Status.State) + " " + e.Note },
		Listening: func(name, url string) error {
			mu.Lock()
			defer mu.Unlock()
			return wrong
		},
	}, Spec{Name: "a"})
	ready(t, s)
	st := until(t, s, "a", func(st Status) bool { return st.Trouble == "the disk is full" && st.State == Ready })
	says(t, s, "a", "the disk is full")
	mu.Lock()
	wrong = nil
	mu.Unlock()
	now := until(t, s, "a", func(st Status) bool { return st.Trouble == "" })
	if now.PID != st.PID || now.Restarts != 0 {
		t.Errorf("it was restarted: %+v", now)
	}
	says(t, s, "a", "recovered")
	full, late := 0, time.After(20*time.Second)
	for told := ""; !strings.Contains(told, "recovered"); { // told after it is in the log
		select {
		case told = <-events:
			if strings.Contains(told, "the disk is full") {
				full++
			}
		case <-late:
			t.Fatal("nobody was told that it is recovered")
		}
	}
	if full != 1 {
		t.Errorf("it was told %d times that the disk is full", full)
	}
}

// The supervisor asks its own child over HTTPS, whose certificate need not be vouched for by anybody, but must be the one.
func TestExactlyOneCertificateIsTrusted(t *testing.T) {
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
	}))
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	defer web.Close()
	dir := t.TempDir()
	write := func(name string, blocks ...*pem.Block) string {
		var text []byte
		for _, b := range blocks {
			text = append(text, pem.EncodeToMemory(b)...)
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	own := &pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}
	another := nettest.SelfSigned(t).Sign(t).TLS.Certificate[0] // that of a server alone, as most are
	for name, c := range map[string]struct {
		file, path, wrong string
	}{
		"its own":                  {write("own.pem", own), "/", ""},
		"its own, after the key":   {write("both.pem", &pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")}, own), "/", ""},
		"another":                  {write("other.pem", &pem.Block{Type: "CERTIFICATE", Bytes: another}), "/", "is not the one in"},
		"another, its own after":   {write("chain.pem", &pem.Block{Type: "CERTIFICATE", Bytes: another}, own), "/", "is not the one in"},
		"none":                     {write("none.pem"), "/", "certificate"},
		"no file":                  {filepath.Join(dir, "nowhere.pem"), "/", "certificate"},
		"not asked for":            {"", "/", "certificate"},
		"its own, leads elsewhere": {filepath.Join(dir, "own.pem"), "/away", "302"},
	} {
		client := newClient(c.file)
		_, _, err := get(t.Context(), client, web.URL, c.path, "")
		client.CloseIdleConnections()
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		}
	}
}
