package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Whole asks the router for the tools of everything until those of the named routes are among them, so that what the router starts on the
// first request, such as a command that has to be downloaded first, has started. It returns the routes that are not, with the reason:
// those that failed, and when ctx ends those that did not answer yet. A router that lets only some callers in is not asked.
func (s *Stack) Whole(ctx context.Context, names []string) map[string]string {
	missing := map[string]string{}
	i := slices.IndexFunc(s.procs, func(p *proc) bool { return p.spec.Kind == Router })
	if i < 0 || len(names) == 0 {
		return nil
	}
	p := s.procs[i]
	s.mu.Lock()
	at := strings.TrimSuffix(p.status.URL, "/") + "/mcp"
	s.mu.Unlock()
	client := newClient(p.spec.Cert)
	defer client.CloseIdleConnections()
	for {
		now, err := absentTools(ctx, client, at)
		if err != nil && ctx.Err() == nil {
			return nil // nobody said that we may ask
		}
		if err == nil {
			missing = map[string]string{}
			for name, why := range now {
				if slices.Contains(names, name) {
					missing[name] = why
				}
			}
		}
		waits := false
		for _, why := range missing {
			waits = waits || strings.Contains(why, NotInTime)
		}
		if ctx.Err() != nil || !waits || !sleep(ctx, askPause) {
			return missing
		}
	}
}

// NotInTime is in the reason of a route that did not answer before the router's list had to.
const NotInTime = "did not answer in time"

// absentTools lists all tools at the endpoint of a router, and returns the routes whose tools are not in the list, with the reason.
func absentTools(ctx context.Context, c *http.Client, at string) (map[string]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var list struct {
		Result *struct {
			Meta struct {
				Missing []struct{ Agent, Error string } `json:"mcphud/missing"`
			} `json:"_meta"`
		}
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxList)).Decode(&list); err != nil || list.Result == nil {
		return nil, fmt.Errorf("tools/list at %s: %s: %w", at, resp.Status, err)
	}
	out := map[string]string{}
	for _, m := range list.Result.Meta.Missing {
		out[m.Agent] = m.Error
	}
	return out, nil
}

// askPause is the time between two lists.
const askPause = 200 * time.Millisecond

// maxList is how many bytes of a list are read.
const maxList = 64 << 20
