package budget

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/session/base/listen"
)

const (
	maxClients  = 1024
	maxRequests = 5_000_000
)

// Load says what to send to an HTTP server on this machine. It is bounded in requests and in time, and goes to loopback addresses only.
type Load struct {
	URL      string
	Clients  int // that send at the same time, each over a connection of its own
	Requests int // altogether
	// Body and Header make the n-th request, the first is 0. A nil Header sends none of its own. Content-Type and Accept are
	// those of MCP unless Header gives them.
	Body   func(n int) []byte
	Header func(n int) http.Header
	// Check looks at an answer; an error counts the request as failed. nil wants status 200.
	Check func(n int, res *http.Response, body []byte) error
	// Timeout of one request, default 30 s.
	Timeout time.Duration
}

// Result is what became of the requests.
type Result struct {
	Requests int
	Failed   int
	First    error // why the first of the failed did
	Took     time.Duration
	took     []time.Duration // of each request, sorted
}

// PerSecond is how many requests were answered in a second.
func (r *Result) PerSecond() float64 { return float64(r.Requests-r.Failed) / r.Took.Seconds() }

// Percentile is the time that p percent of the requests stayed within.
func (r *Result) Percentile(p float64) time.Duration {
	if len(r.took) == 0 {
		return 0
	}
	return r.took[min(int(float64(len(r.took))*p/100), len(r.took)-1)]
}

// Err says how many of the requests failed, and why the first did; nil if none failed.
func (r *Result) Err() error {
	if r.Failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d requests failed: %w", r.Failed, r.Requests, r.First)
}

// EqualLoad is a load of equal requests, with these headers, whose answers have status 200 and contain want.
func EqualLoad(url string, header http.Header, body, want string, clients, requests int) Load {
	text := []byte(body)
	return Load{
		URL: url, Clients: clients, Requests: requests,
		Body: func(int) []byte { return text }, Header: func(int) http.Header { return header },
		Check: func(_ int, res *http.Response, body []byte) error {
			if res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(want)) {
				return fmt.Errorf("status %d: %.200s", res.StatusCode, body)
			}
			return nil
		},
	}
}

// RunLoad sends the requests. It stops early when ctx is done, with the requests that it did send in the result.
func RunLoad(ctx context.Context, p Load) (*Result, error) {
	u, err := url.Parse(p.URL)
	if err != nil || !listen.Loopback(u.Hostname()) {
		return nil, fmt.Errorf("load: %q is not a loopback URL", p.URL)
	}
	if p.Clients < 1 || p.Clients > maxClients || p.Requests < 1 || p.Requests > maxRequests {
		return nil, fmt.Errorf("load: %d clients and %d requests; there are 1 to %d, and 1 to %d", p.Clients, p.Requests, maxClients, maxRequests)
	}
	if p.Timeout <= 0 {
		p.Timeout = 30 * time.Second
	}
	if p.Check == nil {
		p.Check = func(_ int, res *http.Response, body []byte) error {
			if res.StatusCode != http.StatusOK {
				return fmt.Errorf("status %d: %.200s", res.StatusCode, body)
			}
			return nil
		}
	}
	transport := &http.Transport{MaxIdleConnsPerHost: p.Clients, DisableCompression: true}
	defer transport.CloseIdleConnections()
	var next atomic.Int64
	var all sync.WaitGroup
	parts := make([]Result, p.Clients)
	began := time.Now()
	for i := range parts {
		all.Go(func() {
			part := &parts[i]
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= p.Requests {
					return
				}
				at := time.Now()
				err := p.one(ctx, transport, n)
				part.took = append(part.took, time.Since(at))
				part.Requests++
				if err != nil {
					part.Failed++
					if part.First == nil {
						part.First = fmt.Errorf("request %d: %w", n, err)
					}
				}
			}
		})
	}
	all.Wait()
	sum := &Result{Took: time.Since(began)}
	for _, part := range parts {
		sum.Requests += part.Requests
		sum.Failed += part.Failed
		sum.took = append(sum.took, part.took...)
		if sum.First == nil {
			sum.First = part.First
		}
	}
	slices.Sort(sum.took)
	return sum, nil
}

func (p *Load) one(ctx context.Context, transport *http.Transport, n int) error {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, bytes.NewReader(p.Body(n)))
	if err != nil {
		return err
	}
	if p.Header != nil {
		if h := p.Header(n); h != nil {
			req.Header = h.Clone()
		}
	}
	def(req.Header, "Content-Type", "application/json")
	def(req.Header, "Accept", "application/json, text/event-stream")
	res, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		return err
	}
	return p.Check(n, res, body)
}

func def(h http.Header, name, value string) {
	if h.Get(name) == "" {
		h.Set(name, value)
	}
}
