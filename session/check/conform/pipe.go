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

// maxKept is how many frames of one connection are kept.
const maxKept = 50_000

// answer is what came back for a message.
type answer struct {
	frame  []byte // the response, nil for none
	env    jsonrpc.Envelope
	others [][]byte // what came before it

	// Over HTTP.
	status int
	header http.Header
	body   []byte // what was no event, at most 64 kB of it
	media  string
	events []string // ids of the events, "" for one without
	open   bool     // the stream had not ended when the response was there
}

// result is that of the response, nil for an error and for none.
func (a answer) result() []byte { return a.env.Result }

// code is that of the error, 0 for none.
func (a answer) code() int64 {
	if e, err := jsonrpc.ParseError(a.env.Error); err == nil && a.env.Error != nil {
		return e.Code
	}
	return 0
}

// summary is the answer in a few words.
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
	tr   transport.Transport
	exit transport.Exit // set by Close of a process

	mu     sync.Mutex
	frames [][]byte
	envs   []jsonrpc.Envelope
	broken []string // what could not be taken for a frame
	err    error    // why it ended
	over   bool
	wake   chan struct{} // closed and replaced when something arrives
}

func newPipe(c *conn) *pipe { return &pipe{c: c, wake: make(chan struct{})} }

// Frame takes one frame. What the server asks is answered: it may wait for it.
func (p *pipe) Frame(frame []byte) {
	p.c.t.log.frame(p.c, journal.In, frame)
	env, _ := jsonrpc.Scan(frame)
	if env.Kind == jsonrpc.Request {
		reply := jsonrpc.NewError(env.ID, -32601, "Method not found", nil)
		if env.Method == "ping" {
			reply = jsonrpc.NewResult(env.ID, []byte("{}"))
		}
		go func() { _ = p.c.write(context.Background(), reply, jsonrpc.Envelope{}) }() // ends with the connection
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.frames) < maxKept {
		p.frames, p.envs = append(p.frames, frame), append(p.envs, env)
	}
	p.notify()
}

// Broken takes what was not delivered.
func (p *pipe) Broken(head, _ []byte, err error) {
	p.c.t.log.frame(p.c, journal.In, head)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = append(p.broken, err.Error())
	p.notify()
}

// Lost takes the end.
func (p *pipe) Lost(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err, p.over = err, true
	p.notify()
}

func (p *pipe) notify() {
	close(p.wake)
	p.wake = make(chan struct{})
}

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

// framesAfter returns the frames after a mark, with their envelopes.
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

// await waits for the first frame after a mark that is wanted.
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

// write sends a frame as it is.
func (c *conn) write(ctx context.Context, frame []byte, env jsonrpc.Envelope) error {
	c.t.log.frame(c, journal.Out, frame)
	return c.pipe.tr.Send(ctx, transport.Message{Frame: frame, Env: env})
}
