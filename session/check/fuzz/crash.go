package fuzz

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
)

// How long a crashed server, which somebody else runs, is waited for.
const (
	restartGrace = 5 * time.Second // at most: the timeout of a call where that is shorter
	retryEvery   = time.Second
	maxNamed     = 3 // of the calls that were under way
)

// serverCrashed reports whether a server that this check did not start crashed in a call of t. It waits for a restart; without one it sets
// r.unreachable, which ends the run. The caller keeps the turn: no call begins meanwhile.
func (r *run) serverCrashed(ctx context.Context, c *client, t *target) bool {
	if c.responds(ctx) || ctx.Err() != nil {
		return false
	}
	r.crashedAt = time.Now()
	for until := r.crashedAt.Add(min(restartGrace, r.o.Timeout)); time.Now().Before(until) && ctx.Err() == nil; {
		if c.open(ctx) == nil {
			return true
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryEvery):
		}
	}
	var beside []string
	for _, o := range r.targets {
		if o.busy && o != t {
			beside = append(beside, o.name)
		}
	}
	r.unreachable = &failure.Error{
		Kind: failure.ServerNotConnected, Server: r.s.Server, Stage: "fuzz",
		Message: "the server is gone since " + t.name + " was called" + otherCalls(beside), Next: "start it again, and call the others without it",
	}
	return true
}

// otherCalls names the calls that were under way when the server crashed.
func otherCalls(names []string) string {
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - maxNamed; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return ", beside " + strings.Join(First(names, maxNamed), ", ") + more
}

// responds reports whether the server is there, however slow its answer is.
func (c *client) responds(ctx context.Context) bool {
	if !c.isConnected() {
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

// whyNotCalled says why a target was not called.
func (r *run) whyNotCalled(err error) string {
	switch {
	case r.unreachable != nil:
		return "not called: the server is gone"
	case err != nil:
		return "not called: the run ended early"
	}
	return "not called: there was no time"
}
