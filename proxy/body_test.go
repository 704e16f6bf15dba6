package proxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/test/budget"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// bigCall is the n-th of calls that are all different, and large enough for their memory to be used again.
func bigCall(n int) []byte {
	text := strings.Repeat(fmt.Sprintf("%d-", n), (70<<10+n*7919%(1<<20))/4)
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"%s"}}}`, n, text)
}

func TestLargeMessagesAreNotMixedUp(t *testing.T) {
	a := newAgent(t)
	a.answer = func(w http.ResponseWriter, r *http.Request, e jsonrpc.Envelope) {
		reply(w, e.ID, string(e.Params)) // both ways
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	requests := 120
	if budget.Race() {
		requests = 30
	}
	res, err := budget.RunLoad(t.Context(), budget.Load{
		URL: f.URL() + "/mcps/a/mcp", Clients: 6, Requests: requests, Body: bigCall,
		Check: func(n int, res *http.Response, body []byte) error {
			sent, err := jsonrpc.Scan(bigCall(n))
			if err != nil {
				return err
			}
			if got, err := jsonrpc.Scan(body); err != nil || !bytes.Equal(got.Result, sent.Params) || string(got.ID) != fmt.Sprint(n) {
				return fmt.Errorf("status %d, id %s, %d bytes for %d, %v", res.StatusCode, got.ID, len(got.Result), len(sent.Params), err)
			}
			return nil
		},
	})
	if err != nil || res.Failed > 0 {
		t.Errorf("%d of %d requests failed: %v, %v", res.Failed, res.Requests, res.First, err)
	}
}

// lateReader is a way to an agent that answers at once, and looks at the request long after.
type lateReader struct {
	flow.Upstream
	start chan struct{}
	mu    sync.Mutex
	sums  []string
	all   sync.WaitGroup
}

// RoundTrip answers.
func (l *lateReader) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.ContentLength < 1024 {
		return l.Upstream.RoundTrip(r)
	}
	l.all.Go(func() {
		<-l.start
		sum := sha256.New()
		_, err := io.Copy(sum, r.Body)
		l.mu.Lock()
		l.sums = append(l.sums, fmt.Sprint(hex.EncodeToString(sum.Sum(nil)), err))
		l.mu.Unlock()
		_ = r.Body.Close()
	})
	h := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: 200, Header: h, ContentLength: 2, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
}

// TestMessageIsWholeUntilItIsSent: who sends a request may do so, as http.RoundTripper says, after the answer was passed on.
func TestMessageIsWholeUntilItIsSent(t *testing.T) {
	a := newAgent(t)
	late := &lateReader{start: make(chan struct{})}
	f := start(t, Options{Wrap: []flow.Wrap{func(_ *routes.Route, up flow.Upstream) flow.Upstream {
		late.Upstream = up
		return late
	}}}, route("a", a.at(), ""))
	want := map[string]bool{}
	for n := range 20 {
		body := bigCall(n)
		if got := f.post(t, "/mcps/a/mcp", string(body)); got.status != 200 {
			t.Fatalf("%+v", got)
		}
		sum := sha256.Sum256(body)
		want[fmt.Sprint(hex.EncodeToString(sum[:]), error(nil))] = true
	}
	close(late.start)
	late.all.Wait()
	for _, s := range late.sums {
		if !want[s] {
			t.Errorf("a message that nobody sent: %s", s)
		}
		delete(want, s)
	}
	if len(want) > 0 || len(late.sums) != 20 {
		t.Errorf("%d messages, %d were lost", len(late.sums), len(want))
	}
}
