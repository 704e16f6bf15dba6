package aggregate

import (
	"context"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/offer"
)

// fetchKey is one list of one agent, or with hello only the connection.
type fetchKey struct {
	agent string
	kind  offer.Kind
}

const hello offer.Kind = 255

// fetch gets a list once for all who wait for it, and continues when they have given up.
type fetch struct {
	done  chan struct{}
	items []offer.Item
	sess  *session.Session
	err   error

	// Under the client's mutex.
	missed bool      // somebody gave up
	until  time.Time // when it failed slowly: not to be tried again before
}

const (
	lateWait = 250 * time.Millisecond // how long an agent is waited for that was late the last time
	costly   = 500 * time.Millisecond // a failure that took longer is not repeated at once
	maxRest  = 10 * time.Second
	// What one agent may have in a list, which is kept for each client unless it is the same for all.
	maxItems = 10_000
	maxList  = 16 << 20 // bytes
)

var (
	errLate = errors.New("it did not answer in time")
	errMany = errors.New("it has more items than the maximum listed")
)

// fetch begins to get what is wanted, or joins those who wait for it already.
func (c *client) fetch(agent string, kind offer.Kind) *fetch {
	w := fetchKey{agent, kind}
	c.mu.Lock()
	f := c.fetches[w]
	if f != nil && (f.until.IsZero() || time.Now().Before(f.until)) {
		c.mu.Unlock()
		return f
	}
	f = &fetch{done: make(chan struct{})}
	c.fetches[w] = f
	c.mu.Unlock()
	if !c.background(func(ctx context.Context) { c.run(ctx, w, f) }) {
		f.err = errStopping
		close(f.done)
	}
	return f
}

func (c *client) run(ctx context.Context, w fetchKey, f *fetch) {
	ctx, cancel := context.WithTimeout(ctx, c.s.o.Limit(w.agent))
	defer cancel()
	began := time.Now()
	if f.sess, f.err = c.connect(ctx, w.agent); f.err == nil && w.kind != hello && f.sess.Supports(w.kind.Method()) {
		var l offer.Listing
		l, f.err = f.sess.List(ctx, w.kind)
		if f.err == nil || failure.KindOf(f.err) == failure.Protocol { // a list that does not end is shown as far as it was read
			f.items = l.Items
		}
		if len(f.items) > maxItems {
			f.items, f.err = f.items[:maxItems], errMany
		}
	}
	took := time.Since(began)
	c.mu.Lock()
	missed := f.missed
	if f.err != nil && took > costly {
		f.until = time.Now().Add(min(2*took, maxRest))
	} else {
		delete(c.fetches, w)
	}
	close(f.done)
	c.mu.Unlock()
	if f.err == nil {
		c.s.health.notePrompt(w.agent)
		if missed {
			c.announce(changedBy(w.kind)...)
		}
	}
}

// await waits for what was begun, until the deadline; an agent that was late the last time is waited for but shortly.
func (c *client) await(ctx context.Context, w fetchKey, f *fetch, began time.Time, patience time.Duration) error {
	if c.s.health.isLate(w.agent) {
		patience = min(patience, lateWait)
	}
	t := time.NewTimer(time.Until(began.Add(patience)))
	defer t.Stop()
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-f.done:
		return f.err
	default:
	}
	f.missed = true
	c.s.health.noteLate(w.agent)
	return errLate
}

// listOf is one agent's list; nil where it has none of the kind.
func (c *client) listOf(ctx context.Context, agent string, kind offer.Kind) ([]offer.Item, error) {
	f := c.fetch(agent, kind)
	if err := c.await(ctx, fetchKey{agent, kind}, f, time.Now(), c.s.o.Patience); err != nil {
		return nil, err
	}
	return f.items, nil
}

var allChanged = []mcp.MCPMethod{mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationPromptsListChanged, mcp.MethodNotificationResourcesListChanged}

// changedBy are the notifications to send for a list that arrived late.
func changedBy(kind offer.Kind) []mcp.MCPMethod {
	switch kind {
	case offer.Tools:
		return allChanged[:1]
	case offer.Prompts:
		return allChanged[1:2]
	case offer.Resources, offer.Templates:
		return allChanged[2:]
	}
	return allChanged
}
