package session

import (
	"context"
	"errors"
	"time"
)

// attempt is one to make a connection. It is counted among what runs for the session until dial has made it.
type attempt struct {
	over   chan struct{}      // closed when it is over, once what came of it is in the link
	abort  context.CancelFunc // of the context that it is made with
	era    Era                // to begin with; "" for whichever the server speaks
	change change             // that it began
}

// errClosed is why nothing begins any more; callers get it in words that say what happened to the server.
var errClosed = errors.New("the session is closed")

// begin begins an attempt; the caller holds mu.
func (l *link) begin(abort context.CancelFunc) *attempt {
	a := &attempt{over: make(chan struct{}), abort: abort, era: l.era}
	l.dialing, l.abort = a.over, abort
	l.retryAt = time.Time{}
	l.runs.Add(1)
	a.change = l.set(Connecting, nil)
	return a
}

// claim begins an attempt by hand, in the place of planned ones; planned is whether there were any. Where one runs already a is nil and over
// its end; both are nil where there is a connection.
func (l *link) claim(abort context.CancelFunc) (a *attempt, over <-chan struct{}, planned bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, nil, false, errClosed
	case l.conn != nil:
		return nil, nil, false, nil
	case l.dialing != nil:
		return nil, l.dialing, false, nil
	}
	planned = l.retry != nil
	l.endRetry()
	l.attempt = 0
	return l.begin(abort), nil, planned, nil
}

// isWanted reports whether somebody wants the attempt that runs. One that is not stays so: the next begins once it is over.
func (l *link) isWanted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wants()
}

// wants is isWanted; the caller holds mu.
func (l *link) wants() bool { return l.state == Connecting && !l.closed && l.life.Err() == nil }

// endConnected ends the attempt that runs with a connection; false where nobody wants it any more.
func (l *link) endConnected(c *conn) (change, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dialing, l.abort, l.starting = nil, nil, nil
	if !l.wants() {
		return change{}, false
	}
	l.conn, l.era = c, c.era
	if l.level != nil && c.era == Modern {
		c.logLevel.Store(l.level)
	}
	return l.set(Connected, nil), true
}

// endFailed ends the attempt that runs without a connection; false where Disconnect came before. The server may have become another one, but for
// an attempt that was given up, which leaves the session Disconnected.
func (l *link) endFailed(to State, err error) (change, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dialing, l.abort, l.starting = nil, nil, nil
	if l.state != Connecting {
		return change{}, false
	}
	if to == Disconnected {
		return l.set(to, nil), true
	}
	// What failed by the rules of the era that was known is tried again from the beginning: the server may have been updated.
	l.era = ""
	return l.set(to, err), true
}

// get is the connection that there is. Where there is none, over is the end of the attempt that is to be waited for, which begins now where it
// was planned for later; nil where there is none, and state and err say why.
func (l *link) get() (c *conn, over <-chan struct{}, state State, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.conn != nil:
		return l.conn, nil, l.state, nil
	case l.dialing != nil:
		return nil, l.dialing, l.state, l.err
	case l.retry != nil:
		return nil, l.retry.now(), l.state, l.err
	}
	return nil, nil, l.state, l.err
}

// lose gives up a connection that ended by itself, and plans to make it again. It is counted among what runs; false where it is not the session's
// any more.
func (l *link) lose(c *conn, err error) (change, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != c || l.closed {
		return change{}, false
	}
	l.conn = nil
	l.runs.Add(1)
	// A server that crashes right after each handshake must use up its attempts; one that lived for a while gets all of them again.
	if time.Since(c.connectedAt) > l.policy.Settled {
		l.attempt = 0
	}
	l.plan()
	return l.set(Failed, err), true
}

// end gives up on purpose what there is: c, the attempt that runs until over, and those that are planned. why is for those who answer
// questions, retired for Status.
func (l *link) end(retired string, why error) (c *conn, over <-chan struct{}, _ change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retired = retired
	l.endRetry()
	if l.abort != nil {
		l.abort()
	}
	c, l.conn = l.conn, nil
	l.attempt, l.retryAt = 0, time.Time{}
	if l.asks != nil {
		l.endAsks(why)
		l.asks = nil
	}
	return c, l.dialing, l.set(Disconnected, nil)
}
