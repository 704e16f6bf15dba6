package conform

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Bounds of one connection. A server that says more than is kept is not heard any more: what it answers then counts as silence, which says
// nothing about a rule, and the next rule gets a new connection.
const (
	maxKept      = 50_000    // frames
	maxKeptBytes = 256 << 20 // of all of them
	maxAnswers   = 64        // to requests of the server, on their way at a time
)

// answer is what came back for a message. The zero value is that nothing did.
type answer struct {
	frame  []byte           // the response, nil for none; it may be one that the schema refuses
	env    jsonrpc.Envelope // of frame
	others [][]byte         // the messages that came before it, also those that belong to other requests

	// Over HTTP; zero over pipes.
	status int // 0 only where no answer came at all
	header http.Header
	body   []byte // what was no event, at most 64 kB of it
	media  string
	events []string // ids of the events, "" for one without
	open   bool     // the stream had not ended when the response was there
}

// result is that of the response, as JSON, nil for an error and for none.
func (a answer) result() []byte { return a.env.Result }

// code is that of the error, 0 for none.
func (a answer) code() int64 {
	if e, err := jsonrpc.ParseError(a.env.Error); err == nil && a.env.Error != nil {
		return e.Code
	}
	return 0
}

// summary is the answer in a few words. It has the server's own: whoever keeps it masks it.
func (a answer) summary() string {
	status := ""
	if a.status != 0 {
		status = fmt.Sprintf("status %d", a.status)
	}
	join := func(s string) string {
		if status == "" {
			return s
		}
		return status + ", " + s
	}
	switch {
	case a.env.Error != nil:
		e, err := jsonrpc.ParseError(a.env.Error)
		if err != nil {
			return join("an error that cannot be read")
		}
		return join(fmt.Sprintf("error %d %q", e.Code, e.Message))
	case a.env.Result != nil:
		return join("a result")
	case status != "":
		return status
	}
	return "no answer"
}

// pipe is a connection on which frames travel both ways: stdio, WebSocket, HTTP+SSE.
type pipe struct {
	c    *conn
	tr   transport.Transport // set before it starts, and never changed
	exit transport.Exit      // how the process ended; set when tr.Close returns, by it, and only over stdio

	answers chan struct{} // has one element for each reply on its way

	mu     sync.Mutex
	frames [][]byte           // in the order of their arrival; what is there is not changed, so that parts of it may be read without mu
	envs   []jsonrpc.Envelope // of frames, one for each; of what is not a message as far as it could be read
	size   int                // bytes of frames
	broken error              // the first thing that could not be taken for a frame, nil for none
	err    error              // why it ended
	over   bool               // Lost was called: nothing more will come
	wake   chan struct{}      // closed and replaced when something arrives
}

func newPipe(c *conn) *pipe {
	return &pipe{c: c, wake: make(chan struct{}), answers: make(chan struct{}, maxAnswers)}
}

// Frame takes one frame. What the server asks is answered: it may wait for it.
func (p *pipe) Frame(frame []byte) {
	p.c.t.log.frame(p.c, journal.In, frame)
	env, _ := jsonrpc.Scan(frame)
	if env.Kind == jsonrpc.Request {
		p.reply(env)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.frames) < maxKept && p.size+len(frame) <= maxKeptBytes {
		p.frames, p.envs, p.size = append(p.frames, frame), append(p.envs, env), p.size+len(frame)
	}
	p.notify()
}

// reply answers a request of the server, from a goroutine of its own: who calls Frame also reads what the server writes, which may be why the
// server does not read. Past maxAnswers there is no answer: a server that asks that much and reads nothing is not waiting for one.
func (p *pipe) reply(env jsonrpc.Envelope) {
	select {
	case p.answers <- struct{}{}:
	default:
		return
	}
	frame := jsonrpc.NewError(env.ID, -32601, "Method not found", nil) // no capability of a client is declared
	if env.Method == "ping" {
		frame = jsonrpc.NewResult(env.ID, []byte("{}"))
	}
	go func() { // ends with the connection
		_ = p.write(context.Background(), frame, jsonrpc.Envelope{})
		<-p.answers
	}()
}

// Broken takes what was not delivered.
func (p *pipe) Broken(head, _ []byte, err error) {
	p.c.t.log.frame(p.c, journal.In, head)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken == nil {
		p.broken = err
	}
	p.notify()
}

// brokenErr is why the first thing that was no frame could not be taken for one, nil where all could.
func (p *pipe) brokenErr() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.broken
}

// Lost takes the end, and why. It is not called because of tr.Close.
func (p *pipe) Lost(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err, p.over = err, true
	p.notify()
}

// notify wakes all that await; the caller holds mu.
func (p *pipe) notify() {
	close(p.wake)
	p.wake = make(chan struct{})
}

// lostErr is why the connection has ended by itself, nil while it has not.
func (p *pipe) lostErr() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return fmt.Errorf("the connection ended: %w", p.err)
	}
	return nil
}

// framesSoFar returns how many frames have arrived: a mark for framesAfter.
func (p *pipe) framesSoFar() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.frames)
}

// framesAfter returns the frames after a mark, with their envelopes. Nobody changes them.
func (p *pipe) framesAfter(mark int) ([][]byte, []jsonrpc.Envelope) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frames[mark:], p.envs[mark:]
}

// response waits for the first response after a mark that is wanted; nil wants any. What cannot be read as a message and has an id, a
// result or an error counts as one.
func (p *pipe) response(ctx context.Context, mark int, wanted func(jsonrpc.Envelope) bool) (answer, error) {
	return p.await(ctx, mark, func(e jsonrpc.Envelope) bool {
		return (e.Result != nil || e.Error != nil) && (wanted == nil || wanted(e))
	})
}

// await waits for the first frame after a mark that is wanted. What arrived before the connection ended is found although it has ended. The
// error is that of ctx, or says that the connection ended.
func (p *pipe) await(ctx context.Context, mark int, wanted func(jsonrpc.Envelope) bool) (answer, error) {
	for i := mark; ; {
		p.mu.Lock()
		wake, frames, envs, over, err := p.wake, p.frames, p.envs, p.over, p.err
		p.mu.Unlock()
		for ; i < len(frames); i++ {
			if wanted(envs[i]) {
				return answer{frame: frames[i], env: envs[i], others: frames[mark:i]}, nil
			}
		}
		if over {
			return answer{}, fmt.Errorf("the connection ended: %w", err)
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return answer{}, ctx.Err()
		}
	}
}

// write sends a frame as it is. env is that of frame, which a transport may look into; the zero value is for what nobody waits for.
func (p *pipe) write(ctx context.Context, frame []byte, env jsonrpc.Envelope) error {
	p.c.t.log.frame(p.c, journal.Out, frame)
	return p.tr.Send(ctx, transport.Message{Frame: frame, Env: env})
}
