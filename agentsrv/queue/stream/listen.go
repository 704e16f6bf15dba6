package stream

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go"
)

// listen subscribes to what others say to this replica.
func (q *Queue) listen(ctx context.Context) error {
	for subject, f := range map[string]nats.MsgHandler{
		q.names.to + "." + q.me + ".>": q.handleMail,
		q.names.hint:                   q.hear,
		q.names.alive:                  func(m *nats.Msg) { q.heard(m.Data) },
	} {
		s, err := q.o.Conn.Subscribe(ctx, subject, f)
		if err != nil {
			return err
		}
		q.subs = append(q.subs, s)
	}
	return nil
}

func (q *Queue) unlisten() {
	for _, s := range q.subs {
		_ = s.Unsubscribe() // the connection may be gone
	}
}

// hear hears that something waits.
func (q *Queue) hear(m *nats.Msg) {
	for s := range strings.FieldsSeq(string(m.Data)) {
		l, ok := lineOf(s)
		if !ok {
			continue
		}
		q.mu.Lock()
		if l.group == q.replicas.me.Group && !q.draining {
			q.waiting.add(l, hinted)
		}
		q.mu.Unlock()
	}
	q.awake()
}

// handleMail takes what is said about a call, to its origin or to whoever runs it.
func (q *Queue) handleMail(m *nats.Msg) {
	tokens := strings.Split(m.Subject, ".")
	if len(tokens) < 3 || len(m.Data) == 0 {
		return
	}
	id, from := tokens[len(tokens)-2], tokens[len(tokens)-1]
	k, data := kind(m.Data[0]), m.Data[1:]
	q.mu.Lock()
	c, j, draining := q.calls[id], q.jobs[id], q.draining
	q.mu.Unlock()
	switch k {
	case stopIt, answer, credit:
		if j != nil {
			j.handle(k, data)
		}
	case claim:
		ok := no
		switch {
		case c == nil && draining:
			ok = unknown
		case c == nil:
			ok = past
		case c.grant(from):
			ok = yes
		}
		_ = m.Respond(ok) // whoever asked asks again
	case result_:
		if c != nil {
			c.mu.Lock()
			c.come = c.come || from == c.worker || c.worker == ""
			c.post(mail{kind: k, from: from, data: data})
			c.mu.Unlock()
		}
		_ = m.Respond(yes)
	default:
		if c != nil {
			c.mu.Lock()
			c.post(mail{kind: k, from: from, data: data})
			c.mu.Unlock()
		}
	}
}
