package fuzz

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
)

// Bounds of waiting for a server that ended, and that others may start again.
const (
	comeback = 5 * time.Second
	knocking = time.Second
	maxNamed = 3 // of the calls that were under way
)

// fallen reports whether a server that this check did not start ended in a call of t. It waits until somebody started it again; where
// nobody did, the run is over. Whoever calls it keeps the turn: no call begins meanwhile.
func (r *run) fallen(ctx context.Context, c *client, t *target) bool {
	if c.answers(ctx) || ctx.Err() != nil {
		return false
	}
	r.fell = time.Now()
	for until := r.fell.Add(min(comeback, r.o.Timeout)); time.Now().Before(until) && ctx.Err() == nil; {
		if c.open(ctx) == nil {
			return true
		}
		select {
		case <-ctx.Done():
		case <-time.After(knocking):
		}
	}
	var beside []string
	for _, o := range r.targets {
		if o.busy && o != t {
			beside = append(beside, o.name)
		}
	}
	r.gone = &failure.Error{
		Kind: failure.ServerNotConnected, Server: r.s.Server, Stage: "fuzz",
		Message: "the server is gone since " + t.name + " was called" + besides(beside), Next: "start it again, and call the others without it",
	}
	return true
}

// besides names what else was called when the server ended.
func besides(names []string) string {
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - maxNamed; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return ", beside " + strings.Join(First(names, maxNamed), ", ") + more
}

// answers reports whether anybody is there, however long an answer takes.
func (c *client) answers(ctx context.Context) bool {
	if !c.connected() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	_, err := c.s.Ping(ctx)
	switch failure.KindOf(err) {
	case failure.Transport, failure.ChannelClosed, failure.ServerNotConnected:
		return false
	}
	return true
}

// uncalled is why a target was not called.
func (r *run) uncalled(err error) string {
	switch {
	case r.gone != nil:
		return "not called: the server is gone"
	case err != nil:
		return "not called: the run ended early"
	}
	return "not called: there was no time"
}
