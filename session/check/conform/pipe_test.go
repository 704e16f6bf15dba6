package conform

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// eager is a server that asks something before its connection is in use, and waits for the answer.
type eager struct {
	transport.Transport
	sent chan transport.Message
}

func (s *eager) Start(ctx context.Context, in transport.Receiver) error {
	in.Frame([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	select {
	case <-s.sent:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *eager) Send(_ context.Context, m transport.Message) error {
	s.sent <- m
	return nil
}

// A server that asks at once is answered.
func TestAskedAtOnce(t *testing.T) {
	t.Parallel()
	c := (&target{timeout: time.Minute, log: newLog()}).connection(rev2511)
	require.NoError(t, c.begin(t.Context(), newPipe(c), &eager{sent: make(chan transport.Message, 1)}))
}

// stuck is a server that reads nothing until it is let.
type stuck struct {
	transport.Transport
	sending atomic.Int32
	let     chan struct{}
}

func (s *stuck) Send(context.Context, transport.Message) error {
	s.sending.Add(1)
	<-s.let
	return nil
}

// However much a server asks and says, what is kept of it and what waits for it is bounded.
func TestPipeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := (&target{timeout: time.Minute, log: newLog()}).connection(rev2511)
		s := &stuck{let: make(chan struct{})}
		p := newPipe(c)
		c.pipe, p.tr = p, s
		for range 10 * maxAnswers {
			p.Frame([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		}
		synctest.Wait()
		if n := s.sending.Load(); n != maxAnswers {
			t.Errorf("%d replies are on their way, want %d", n, maxAnswers)
		}
		close(s.let)
		synctest.Wait()
		p.Frame([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		synctest.Wait()
		if n := s.sending.Load(); n != maxAnswers+1 {
			t.Errorf("who reads again is not answered: %d", n)
		}
		big := make([]byte, 1<<20)
		for range 2 * maxKeptBytes / len(big) {
			p.Frame(big)
		}
		frames, _ := p.framesAfter(0)
		size := 0
		for _, f := range frames {
			size += len(f)
		}
		if size > maxKeptBytes {
			t.Errorf("%d bytes are kept, of at most %d", size, maxKeptBytes)
		}
		p.Broken(nil, nil, errors.New("first"))
		p.Broken(nil, nil, errors.New("second"))
		if err := p.brokenErr(); err.Error() != "first" {
			t.Error(err)
		}
	})
}

// What comes after the end, such as a reply that was still on its way, is not judged any more.
func TestLogEnds(t *testing.T) {
	t.Parallel()
	c := (&target{log: newLog()}).connection(rev2511)
	l := c.t.log
	l.frame(c, journal.In, []byte("noise"))
	found := len(l.findings)
	l.finish()
	l.frame(c, journal.In, []byte("noise"))
	if found == 0 || len(l.findings) != found {
		t.Errorf("%d findings before the end, %d after it", found, len(l.findings))
	}
}

// refusing is a server that answers each request with an error.
type refusing struct {
	transport.Transport
	p *pipe
}

func (s *refusing) Send(_ context.Context, m transport.Message) error {
	s.p.Frame(jsonrpc.NewError(m.Env.ID, -32000, "too many", nil))
	return nil
}

// Of requests at a time those are answered too that are refused, over pipes as over HTTP.
func TestRefusedAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &target{timeout: time.Minute, log: newLog()}
		c := tr.connection(rev2511)
		c.pipe = newPipe(c)
		c.pipe.tr = &refusing{p: c.pipe}
		if err := tryConcurrent(&probe{run: &run{target: tr}, ctx: t.Context(), conn: c}); err != nil {
			t.Error(err)
		}
	})
}
