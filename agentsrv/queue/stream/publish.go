package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// subjectToken is a task's name in subjects.
func subjectToken(task string) string { return natsconn.Name(task) }

// publish puts the call into the stream. A server that is away for a moment is waited for; its answer may be lost as well, which
// is why the call has an id that it knows again.
func (q *Queue) publish(ctx context.Context, c *call) error {
	m := message{
		ID: c.id, Origin: q.me, Task: c.job.ID, Tenant: c.job.Tenant, Tool: c.job.Tool, Timeout: c.job.Timeout.Milliseconds(),
		Repeatable: c.job.Repeatable, Payload: c.job.Payload,
	}
	name := c.id
	if c.job.ID != "" {
		name = subjectToken(c.job.ID)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	if int64(len(raw)) > q.maxMessage() {
		if err := q.put(ctx, c.id, m.Payload); err != nil {
			return away(err)
		}
		m.Payload, m.Large, c.large = nil, true, append(c.large, c.id)
		if raw, err = json.Marshal(m); err != nil {
			return fmt.Errorf("queue: %w", err)
		}
	}
	out := &nats.Msg{Subject: q.names.work + "." + c.line.String() + "." + name, Data: raw, Header: nats.Header{jetstream.MsgIDHeader: {c.id}}}
	again := false
	for until := time.Now().Add(min(tryFor, q.o.QueueTimeout)); ; {
		once, cancel := context.WithTimeout(ctx, answerIn)
		var ack *jetstream.PubAck
		err := q.o.Conn.Try(once, "put a call into the stream "+q.names.stream, func(ctx context.Context) (err error) {
			ack, err = q.js.PublishMsg(ctx, out)
			return err
		})
		cancel()
		var api *jetstream.APIError
		switch {
		case err == nil:
			c.seq = ack.Sequence
			return nil
		case ctx.Err() != nil:
			c.refuse() // it may have arrived
			return queue.Cancelled(ctx)
		case errors.As(err, &api) && api.ErrorCode == storeFailed:
			if again {
				return q.full()
			}
			again = true // a call that has just ended may not have left yet
			time.Sleep(10 * time.Millisecond)
			continue
		case natsconn.Full(err):
			q.log.Error("queue: the server has no room", "server", q.o.Conn.Where(), "err", err)
			return away(err)
		case natsconn.Denied(err, out.Subject):
			q.log.Error("queue: cannot put a call into the stream", "err", err)
			return away(err)
		case errors.Is(err, jetstream.ErrNoStreamResponse) && q.o.Conn.Up():
			if err := q.ensure(ctx); err != nil { // somebody removed it, or the server is not ready yet
				q.log.Warn("queue: cannot put a call into the stream", "err", err)
			}
		}
		if time.Now().After(until) {
			q.log.Error("queue: cannot put a call into the stream", "server", q.o.Conn.Where(), "err", err)
			c.refuse() // it may have arrived
			return away(err)
		}
		select {
		case <-q.o.Conn.Changed():
		case <-time.After(tryEvery):
		case <-ctx.Done():
		}
	}
}

// storeFailed is the server's code for a message more than the stream may have.
const storeFailed = 10077

// away is what a client hears when the server cannot take its call.
func away(err error) error {
	return errInterrupted("the queue's server does not take the call; call again later%w", jsonrpc.Hidden(err))
}

// api asks JetStream something.
func (q *Queue) api(ctx context.Context, what string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	m, err := q.nc.RequestWithContext(ctx, "$JS.API."+what, raw)
	if err != nil {
		return err
	}
	var bad struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &bad); err != nil {
		return err
	}
	if bad.Error != nil {
		return bad.Error
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(m.Data, out)
}

type deletion struct {
	Seq     uint64 `json:"seq"`
	NoErase bool   `json:"no_erase"`
}

// remove takes a message out of the stream.
func (q *Queue) remove(ctx context.Context, seq uint64) error {
	return q.api(ctx, "STREAM.MSG.DELETE."+q.names.stream, deletion{seq, true}, nil)
}

// unmark forgets that a call began: nobody is given it again, or it may begin. A bucket's messages cannot be deleted, but purged.
func (q *Queue) unmark(id string) error {
	err := q.api(context.Background(), "STREAM.PURGE.KV_"+q.names.begun, map[string]string{"filter": "$KV." + q.names.begun + "." + id}, nil)
	if err != nil {
		q.log.Debug("queue: cannot forget that a call began; the server does later", "err", err)
	}
	return err
}

// state is what the stream has.
type state struct {
	State struct {
		Messages int            `json:"messages"`
		Subjects map[string]int `json:"subjects"`
	} `json:"state"`
}

// look asks what the stream has, by subject if there is a filter.
func (q *Queue) look(ctx context.Context, filter string) (s state, err error) {
	in := map[string]string{}
	if filter != "" {
		in["subjects_filter"] = filter
	}
	err = q.api(ctx, "STREAM.INFO."+q.names.stream, in, &s)
	return s, err
}

// Queued reports whether a task waits in the stream, runs somewhere, or has a replica that waits for its end.
func (q *Queue) Queued(ctx context.Context, task string) (bool, error) {
	s, err := q.look(ctx, q.names.work+".*.*."+subjectToken(task))
	if err != nil || len(s.State.Subjects) > 0 {
		return err == nil, err
	}
	return q.toRunner(ctx, task, appendKind(probe, nil))
}

// Cancel ends a task wherever it is: it is taken out of the stream, and whoever runs it is told why.
func (q *Queue) Cancel(ctx context.Context, task string, cause error) error {
	purge := q.api(ctx, "STREAM.PURGE."+q.names.stream, map[string]string{"filter": q.names.work + ".*.*." + subjectToken(task)}, nil)
	_, err := q.toRunner(ctx, task, appendKind(stopIt, problemOf(cause)))
	return errors.Join(purge, err)
}

// toRunner says something to the replicas that have to do with a task; false if there are none.
func (q *Queue) toRunner(ctx context.Context, task string, b []byte) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	_, err := q.nc.RequestWithContext(ctx, q.names.run+"."+subjectToken(task), b)
	if errors.Is(err, nats.ErrNoResponders) {
		return false, nil
	}
	return err == nil, err
}
