package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// pipe is a session over a stream of frames, such as the pipes of a child process, with requests of its own between those of the session.
type pipe struct {
	transport.Transport
	session *session.Session
	in      transport.Receiver // of the session

	mu      sync.Mutex
	waiting map[uint64]*waiter
	capture *capture
	ended   error
	late    int // answers that nobody waited for any more
}

// waiter is a request that waits for its answer.
type waiter struct {
	s    *shot
	done chan []byte // cap 1
	err  error       // why done was closed
}

func newPipe(t transport.Transport) *pipe { return &pipe{Transport: t, waiting: map[uint64]*waiter{}} }

// Start is for the session, whose frames it passes on.
func (p *pipe) Start(ctx context.Context, in transport.Receiver) error {
	p.in = in
	return p.Transport.Start(ctx, p)
}

// Send is for the session.
func (p *pipe) Send(ctx context.Context, m transport.Message) error {
	p.mu.Lock()
	k := p.capture
	keep := k != nil && m.Env.Kind == jsonrpc.Request && m.Env.Method == k.method
	if keep {
		k.frame, k.header = m.Frame, m.Header
	}
	p.mu.Unlock()
	if !keep {
		return p.Transport.Send(ctx, m)
	}
	p.in.Frame(jsonrpc.NewResult(m.Env.ID, []byte("{}"))) // the session waits for an answer, and takes this for one
	return nil
}

// Frame takes what arrives.
func (p *pipe) Frame(frame []byte) {
	// Which answers are ours is looked up without reading all of a large one: whoever waits for it does that.
	n, err := strconv.ParseUint(string(jsonrpc.Get(frame, "id")), 10, 64)
	if err != nil || n < firstID || jsonrpc.Get(frame, "method") != nil {
		p.in.Frame(frame)
		return
	}
	p.mu.Lock()
	w := p.waiting[n]
	delete(p.waiting, n)
	if w == nil {
		p.late++
	}
	p.mu.Unlock()
	if w != nil {
		w.s.mark(&w.s.whole)
		w.done <- frame
	}
}

// Broken takes a frame that could not be delivered, because it is too large, say. Of such there are two ends: whose answer it is has to be found in
// them without parsing.
func (p *pipe) Broken(head, tail []byte, err error) {
	for _, part := range [][]byte{head, tail} {
		_, rest, ok := bytes.Cut(part, []byte(`"id":`))
		if !ok {
			continue
		}
		rest = bytes.TrimSpace(rest)
		end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(rest)
		}
		if n, bad := strconv.ParseUint(string(rest[:end]), 10, 64); bad == nil && p.fail(n, errors.Join(errProtocol, err)) {
			return
		}
	}
	p.in.Broken(head, tail, err)
}

func (p *pipe) fail(id uint64, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.waiting[id]
	if w == nil {
		return false
	}
	delete(p.waiting, id)
	w.err = err
	close(w.done)
	return true
}

// Lost ends all requests.
func (p *pipe) Lost(err error) {
	p.mu.Lock()
	p.ended = err
	for id, w := range p.waiting {
		delete(p.waiting, id)
		w.err = err
		close(w.done)
	}
	p.mu.Unlock()
	p.in.Lost(err)
}

func (p *pipe) err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// prepare lets the session make the request, and keeps it.
func (p *pipe) prepare(ctx context.Context, method string, params json.RawMessage) (*message, error) {
	k := &capture{method: method}
	p.set(k)
	_, err := p.session.Call(ctx, method, params, session.CallOptions{Exact: true})
	p.set(nil)
	if err != nil {
		return nil, err
	}
	if k.frame == nil {
		return nil, errNotMade
	}
	return prepareMessage(k.frame, k.header)
}

func (p *pipe) set(k *capture) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.capture = k
}

// errNotMade is of a request that a session answered by itself.
var errNotMade = errors.New("the request was not made")

func (p *pipe) send(ctx context.Context, m *message, id uint64, s *shot) (reply, error) {
	w := &waiter{s: s, done: make(chan []byte, 1)}
	p.mu.Lock()
	if p.ended != nil {
		p.mu.Unlock()
		return reply{}, p.ended
	}
	p.waiting[id] = w
	p.mu.Unlock()
	frame := m.frame(id)
	env := jsonrpc.Envelope{Kind: jsonrpc.Request, ID: strconv.AppendUint(nil, id, 10), Method: m.method, Params: m.params}
	if err := p.Transport.Send(ctx, transport.Message{Frame: frame, Env: env, Header: m.header}); err != nil {
		p.fail(id, err)
		if err := p.err(); err != nil {
			return reply{}, err
		}
		return reply{}, err
	}
	s.mark(&s.written)
	select {
	case answer, ok := <-w.done:
		if !ok {
			return reply{}, w.err
		}
		return reply{frame: answer}, nil
	case <-ctx.Done():
		if !p.fail(id, context.Cause(ctx)) { // it has come meanwhile
			if answer, ok := <-w.done; ok {
				return reply{frame: answer}, nil
			}
			return reply{}, w.err
		}
		p.cancel(m, id)
		return reply{}, context.Cause(ctx)
	}
}

// cancel tells the server that nobody waits for an answer any more.
func (p *pipe) cancel(m *message, id uint64) {
	ctx, stop := context.WithTimeout(context.Background(), cancelWait)
	defer stop()
	frame := cancelledFrame(id)
	env, err := jsonrpc.Scan(frame)
	if err == nil {
		_ = p.Transport.Send(ctx, transport.Message{Frame: frame, Env: env, Header: m.header}) // a server that does not read is told nothing
	}
}
