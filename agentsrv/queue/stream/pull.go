package stream

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// prompt is how long the dispatcher waits for one answer. A tenant that has all it may have gets none before one of its calls
	// ends.
	prompt = 20 * time.Millisecond
	// stale is when a request without an answer is forgotten, by a server that was gone for one.
	stale = 2 * time.Second
)

var takeOne = []byte(`{"batch":1,"no_wait":true}`)

// puller asks for messages, one of a line at a time.
type puller struct {
	q      *Queue
	in     chan *nats.Msg
	sub    *nats.Subscription
	prefix string
	last   int
	out    map[line]request   // without an answer
	lines  map[int]line       // by the number of the request
	there  map[line]time.Time // when something was last asked of its consumer, which is there
}

type request struct {
	n  int
	at time.Time
}

func newPuller(q *Queue) *puller {
	return &puller{q: q, in: make(chan *nats.Msg, 256), out: map[line]request{}, lines: map[int]line{}, there: map[line]time.Time{}}
}

func (p *puller) close() {
	if p.sub != nil {
		_ = p.sub.Unsubscribe() // the connection may be gone
	}
}

// pull takes the first call of a line; nil if there is none now.
func (p *puller) pull(l line) (*taken, error) {
	if r, open := p.out[l]; open {
		if time.Since(r.at) < stale {
			return nil, nil // late takes it
		}
		delete(p.there, l) // old servers say nothing about a consumer that is not there
	}
	if at, known := p.there[l]; !known || time.Since(at) > forget/2 {
		if err := p.q.consumer(l); err != nil {
			return nil, err
		}
	}
	if len(p.there) > mostLines {
		clear(p.there)
	}
	p.there[l] = time.Now()
	t, missing, err := p.once(l)
	if missing {
		delete(p.there, l)
	}
	return t, err
}

// mostLines is how many consumers are remembered.
const mostLines = 10_000

// once is one request; missing if the line has no consumer.
func (p *puller) once(l line) (t *taken, missing bool, err error) {
	if p.sub == nil {
		p.prefix = p.q.nc.NewInbox()
		if p.sub, err = p.q.nc.ChanSubscribe(p.prefix+".*", p.in); err != nil {
			return nil, false, err
		}
	}
	p.forget(l)
	p.last++
	if err := p.q.nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+p.q.names.stream+"."+l.consumer(), p.prefix+"."+strconv.Itoa(p.last), takeOne); err != nil {
		return nil, false, err
	}
	p.out[l], p.lines[p.last] = request{p.last, time.Now()}, l
	timer := time.NewTimer(prompt)
	defer timer.Stop()
	for {
		select {
		case m := <-p.in:
			of, t := p.answer(m)
			switch {
			case of == l:
				return t, m.Header.Get("Status") == "503", nil
			case t != nil:
				p.late(of, t)
			}
		case <-timer.C:
			return nil, false, nil
		}
	}
}

// forget lets go of a request, whatever comes of it.
func (p *puller) forget(l line) {
	if r, open := p.out[l]; open {
		delete(p.lines, r.n)
		delete(p.out, l)
	}
}

// answer finds the line that a message is about, and the call in it; nil if it says that there is none, or that its tenant has all that it
// may have.
func (p *puller) answer(m *nats.Msg) (l line, t *taken) {
	if n, err := strconv.Atoi(strings.TrimPrefix(m.Subject, p.prefix+".")); err == nil { // a status, which has no subject of its own
		l = p.lines[n]
		p.forget(l)
		return l, nil
	}
	l, _ = p.q.names.lineOf(m.Subject)
	p.forget(l)
	t = &taken{line: l, ack: m.Reply, count: deliveries(m.Reply)}
	if err := json.Unmarshal(m.Data, &t.message); err != nil || t.ID == "" {
		p.q.log.Error("queue: the stream has something that cannot be read as a call; it is thrown away", "subject", m.Subject, "err", err)
		_ = p.q.nc.Publish(m.Reply, []byte("+TERM")) // it comes again, and is thrown away again
		return l, nil
	}
	return l, t
}

// late takes a call that came when nobody waited for it any more.
func (p *puller) late(l line, t *taken) {
	q := p.q
	if q.mayTake() {
		q.mu.Lock()
		q.waiting.add(l, found)
		q.mu.Unlock()
		q.begin(t)
		return
	}
	q.back(t, 0)
	q.mu.Lock()
	q.waiting.add(l, mine)
	q.mu.Unlock()
}
