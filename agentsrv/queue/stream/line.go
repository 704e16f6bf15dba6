package stream

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// window is how many frames may be under way to a client.
const window = 64

var errGone = errors.New("the replica that the client is connected to is gone")

// Line leads from whoever runs a call to where it arrived. It is a front.Line.
type Line struct {
	q    *Queue
	to   string // a replica
	call string

	mu      sync.Mutex
	open    int // frames under way
	room    chan struct{}
	asks    map[int64]chan asked
	lastAsk int64
	over    <-chan struct{} // closed when the call has to end
}

func (q *Queue) newLine(to, call string, over <-chan struct{}) *Line {
	return &Line{q: q, to: to, call: call, room: make(chan struct{}, 1), asks: map[int64]chan asked{}, over: over}
}

func (l *Line) notify(k kind, v any) error { return l.q.notify(l.to, l.call, appendKind(k, v)) }

// Send hands a frame over; it waits while too many are under way. A frame that is too large for the server is an error.
func (l *Line) Send(b []byte) error {
	for {
		l.mu.Lock()
		if l.open < window {
			l.open++
			l.mu.Unlock()
			return l.notify(frame, b)
		}
		l.mu.Unlock()
		select {
		case <-l.room:
		case <-l.over:
			return errGone
		}
	}
}

// addCredit lets more frames go.
func (l *Line) addCredit(n int) {
	l.mu.Lock()
	l.open = max(l.open-n, 0)
	l.mu.Unlock()
	select {
	case l.room <- struct{}{}:
	default:
	}
}

// Ask puts a question to the client and waits for the answer.
func (l *Line) Ask(ctx context.Context, method string, params []byte) (json.RawMessage, error) {
	back := make(chan asked, 1)
	l.mu.Lock()
	l.lastAsk++
	id := l.lastAsk
	l.asks[id] = back
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.asks, id)
	}()
	if err := l.notify(question, asked{ID: id, Method: method, Params: params}); err != nil {
		return nil, err
	}
	select {
	case a := <-back:
		return a.Result, a.Error.err()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (l *Line) handleAnswer(raw []byte) {
	var a asked
	if json.Unmarshal(raw, &a) != nil {
		return
	}
	l.mu.Lock()
	back := l.asks[a.ID]
	delete(l.asks, a.ID)
	l.mu.Unlock()
	if back != nil {
		back <- a
	}
}

// Hangup ends the connection of the request's stream; whether it could is not known here.
func (l *Line) Hangup(retry time.Duration) bool {
	return l.notify(hangup, []byte(text(int(retry.Milliseconds())))) == nil
}

// notify sends something about a call to a replica.
func (q *Queue) notify(replica, call string, b []byte) error {
	return q.nc.Publish(q.names.to+"."+replica+"."+call+"."+q.me, b)
}

// request is notify for what is answered at once.
func (q *Queue) request(ctx context.Context, replica, call string, b []byte) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	return q.nc.RequestWithContext(ctx, q.names.to+"."+replica+"."+call+"."+q.me, b)
}

func text(n int) string { return strconv.Itoa(n) }

func number(b []byte) int {
	n, _ := strconv.Atoi(string(b)) // of our own making
	return n
}
