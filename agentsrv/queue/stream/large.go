package stream

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// spare is how much of the largest message is left for what goes around the payload.
const spare = 4 << 10

// maxMessage is how large a message may be.
func (q *Queue) maxMessage() int64 { return q.nc.MaxPayload() - spare }

// objects is the store of what is too large. It is made when something is. What a replica leaves behind that is killed goes by itself, later
// than the call.
func (q *Queue) objects(ctx context.Context) (jetstream.ObjectStore, error) {
	q.objectsOnce.Lock()
	defer q.objectsOnce.Unlock()
	if q.store != nil {
		return q.store, nil
	}
	s, err := q.o.Conn.Objects(ctx, q.names.objects, 2*keep)
	if err == nil {
		q.store = s
	}
	return s, err
}

func (q *Queue) put(ctx context.Context, name string, b []byte) error {
	s, err := q.objects(ctx)
	if err != nil {
		return err
	}
	return natsconn.PutObject(ctx, s, name, b)
}

func (q *Queue) get(ctx context.Context, name string) ([]byte, error) {
	s, err := q.objects(ctx)
	if err != nil {
		return nil, err
	}
	return natsconn.GetObject(ctx, s, name)
}

// drop forgets what was put for a call.
func (q *Queue) drop(names ...string) {
	q.objectsOnce.Lock()
	s := q.store
	q.objectsOnce.Unlock()
	if s == nil { // nothing was
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerIn)
	defer cancel()
	for _, name := range names {
		_ = s.Delete(ctx, name) // most have none
	}
}

// unpack gets the payload of a call.
func (q *Queue) unpack(ctx context.Context, t *taken) error {
	if !t.Large {
		return nil
	}
	b, err := q.get(ctx, t.ID)
	if err != nil {
		return fmt.Errorf("queue: the params of the call are gone: %w", err)
	}
	t.Payload = b
	return nil
}

// results is the name of a large result.
func results(call string) string { return call + ".result" }

// pack puts a large result away, and returns what is said instead.
func (q *Queue) pack(call string, b []byte) ([]byte, error) {
	if err := q.put(q.life, results(call), b[1:]); err != nil {
		q.log.Error("queue: cannot hand over a large result", "bytes", len(b), "err", err)
		return nil, jsonrpc.Errorf(jsonrpc.KindTooLarge, "the result has %d bytes, for which the queue's server has no room; ask for less", len(b))
	}
	return appendKind(result_, outcome{Large: true}), nil
}

// fetchResult is how a call ended.
func (q *Queue) fetchResult(c *call, raw []byte) (json.RawMessage, error) {
	var out outcome
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("queue: the result of the call cannot be read: %w", err)
	}
	if out.Large {
		c.large = append(c.large, results(c.id))
		ctx, cancel := context.WithCancel(q.life)
		defer cancel()
		go func() { // Drain waits for those that wait for a call before it ends q.life
			select {
			case <-q.stop:
				cancel()
			case <-ctx.Done():
			}
		}()
		b, err := q.get(ctx, results(c.id))
		if err != nil {
			return nil, fmt.Errorf("queue: the result of the call is gone: %w", err)
		}
		if err := json.Unmarshal(b, &out); err != nil {
			return nil, fmt.Errorf("queue: the result of the call cannot be read: %w", err)
		}
	}
	return out.Result, out.Error.err()
}
