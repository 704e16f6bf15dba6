package bench

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/childtest"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// knownEnv makes the test binary a server of known delay, over HTTP at an address that it prints.
const knownEnv = "LOAD_TEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(knownEnv) {
	case "":
	case "dies":
		streams(10)
		return
	case "streams":
		streams(math.MaxInt)
		return
	default:
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		fmt.Println("http://" + l.Addr().String() + "/mcp")
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0) // our parent is gone
		}()
		panic(http.Serve(l, &known{}))
	}
	leaktest.Main(m)
}

// streams is a server on its standard streams that ends after so many requests.
func streams(most int) {
	in := bufio.NewScanner(os.Stdin)
	for n := 0; in.Scan(); {
		env, err := jsonrpc.Scan(in.Bytes())
		if err != nil || env.Kind != jsonrpc.Request {
			continue
		}
		rest := `"result":{}`
		switch env.Method {
		case "server/discover":
			rest = `"error":{"code":-32601,"message":"no such method"}`
		case "initialize":
			rest = greeting
		default:
			if n++; n > most {
				_, _ = fmt.Fprintln(os.Stderr, "out of luck")
				os.Exit(3)
			}
		}
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n", env.ID, rest)
	}
}

const greeting = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"known","version":"1"}}`

// known is a server that answers as late as it is told. From when the first request came it stands still between from and to.
type known struct {
	delay, from, to time.Duration
	stream          bool                                     // answer by events
	answer          func(env jsonrpc.Envelope, n int) string // the rest of the frame behind its id, or "HTTP 503"; nil for an empty result

	once  sync.Once
	began time.Time
	mu    sync.Mutex
	n     int
	heard []string // methods of notifications
}

func (k *known) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	rest := `"result":{}`
	switch {
	case env.Kind == jsonrpc.Notification:
		k.mu.Lock()
		k.heard = append(k.heard, env.Method)
		k.mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
		return
	case env.Method == "server/discover":
		rest = `"error":{"code":-32601,"message":"no such method"}`
	case env.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", "s1")
		rest = greeting
	default:
		k.once.Do(func() { k.began = time.Now() })
		at := time.Since(k.began)
		due := at + k.delay
		if at >= k.from && at < k.to {
			due = k.to + k.delay
		}
		waitUntil(r, k.began.Add(due))
		k.mu.Lock()
		n := k.n
		k.n++
		k.mu.Unlock()
		if k.answer != nil {
			rest = k.answer(env, n)
		}
		if status, ok := strings.CutPrefix(rest, "HTTP "); ok {
			code, err := strconv.Atoi(status)
			if err != nil {
				panic(err)
			}
			http.Error(w, "not now", code)
			return
		}
		if k.stream {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n\n", env.ID, rest)
			return
		}
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, env.ID, rest)
}

// waitUntil is exact: the timers of the runtime alone are late by a millisecond.
func waitUntil(r *http.Request, t time.Time) {
	if left := time.Until(t) - 2*time.Millisecond; left > 0 {
		select {
		case <-time.After(left):
		case <-r.Context().Done():
			return
		}
	}
	if left := time.Until(t); left > 0 {
		wait := newAlarm()
		wait.sleep(left)
		wait.close()
	}
}

// apart starts the server in a process of its own, so that its processor time is not ours.
func apart(t *testing.T) config.Server {
	t.Helper()
	return config.Server{Name: "known", Transport: config.HTTP, URL: childtest.Start(t, knownEnv+"=1").Line}
}

func here(t *testing.T, h http.Handler) config.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return config.Server{Name: "known", Transport: config.HTTP, URL: srv.URL + "/mcp"}
}

func opened(t *testing.T, cfg config.Server, connections int) *Target {
	t.Helper()
	target, err := Open(t.Context(), cfg, session.Options{}, connections)
	require.NoError(t, err)
	t.Cleanup(func() { _ = target.Close() })
	return target
}

// measured runs a plan to its end.
func measured(t *testing.T, p Plan, slos []string, targets ...*Target) *Report {
	t.Helper()
	var all []Objective
	for _, s := range slos {
		o, err := ParseObjective(s)
		require.NoError(t, err)
		all = append(all, o)
	}
	r, err := New(t.Context(), p, all, "test", targets...)
	require.NoError(t, err)
	r.patient = time.Minute // with a machine that is busy
	rep, err := r.Do(t.Context())
	require.NoError(t, err)
	return rep
}

// Of a server that answers quickly, somebody reads how often, and not 2.307e+04/s.
func TestPerSecond(t *testing.T) {
	for rate, want := range map[float64]string{0: "0/s", 0.01: "0.01/s", 12.3456: "12.35/s", 999.96: "1000/s", 23074.4: "23074/s", 2e6: "2000000/s"} {
		assert.Equalf(t, PerSecond(rate), want, "%v", rate)
	}
	v := Verdict{Objective: "rate>30000/s", Value: 23074.41, Unit: "/s"}
	assert.Equal(t, v.String(), "rate>30000/s: 23074/s")
}
