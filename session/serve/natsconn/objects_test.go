package natsconn_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/require"
)

// patient is an object store that notes how long its client would wait.
type patient struct {
	jetstream.ObjectStore
	size uint64
	wait time.Duration
}

func (p *patient) GetInfo(context.Context, string, ...jetstream.GetObjectInfoOpt) (*jetstream.ObjectInfo, error) {
	return &jetstream.ObjectInfo{Size: p.size}, nil
}

func (p *patient) GetBytes(ctx context.Context, _ string, _ ...jetstream.GetObjectOpt) ([]byte, error) {
	if end, ok := ctx.Deadline(); ok {
		p.wait = time.Until(end)
	}
	return nil, nil
}

func (p *patient) PutBytes(ctx context.Context, _ string, _ []byte) (*jetstream.ObjectInfo, error) {
	_, err := p.GetBytes(ctx, "")
	return nil, err
}

// The time of a large object is not that of one request, in which a slow line cannot carry it; and it has an end.
func TestObjectsHaveTheTimeOfTheirSize(t *testing.T) {
	const size = 3 << 20
	want := natsconn.TransferTime(size)
	if want < 30*time.Second || want > 2*time.Minute {
		t.Errorf("%d bytes have %v", size, want)
	}
	get := func(ctx context.Context, p *patient) error {
		_, err := natsconn.GetObject(ctx, p, "o")
		return err
	}
	put := func(ctx context.Context, p *patient) error {
		return natsconn.PutObject(ctx, p, "o", make([]byte, p.size))
	}
	for name, do := range map[string]func(context.Context, *patient) error{"get": get, "put": put} {
		p := &patient{size: size}
		require.NoError(t, do(t.Context(), p))
		if p.wait <= want/2 || p.wait > want {
			t.Errorf("%s: %v, not %v", name, p.wait, want)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		require.NoError(t, do(ctx, p))
		cancel()
		if p.wait > time.Second {
			t.Errorf("%s with a deadline: %v", name, p.wait)
		}
	}
}
