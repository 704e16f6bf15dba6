package conform

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// scripted is a pipe to a server that answers pings, and a batch as how says.
type scripted struct {
	transport.Transport
	p   *pipe
	how func(p *pipe, all [][]byte)
}

func (s *scripted) Send(_ context.Context, m transport.Message) error {
	if m.Env.ID != nil {
		s.p.Frame(jsonrpc.NewResult(m.Env.ID, nil))
		return nil
	}
	var all [][]byte
	err := jsonrpc.Elements(m.Frame, func(one []byte) bool {
		all = append(all, jsonrpc.NewResult(jsonrpc.Get(one, "id"), nil))
		return true
	})
	s.how(s.p, all)
	return err
}

func array(frames ...[]byte) []byte {
	out := []byte("[")
	for i, f := range frames {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, f...)
	}
	return append(out, ']')
}

// Over a pipe the answers of a batch come in an array, or one by one.
func TestBatchOverPipes(t *testing.T) {
	for name, c := range map[string]struct {
		how     func(p *pipe, all [][]byte)
		served  int
		refused bool
	}{
		"an array":       {func(p *pipe, all [][]byte) { p.Frame(array(all...)) }, 2, false},
		"one by one":     {func(p *pipe, all [][]byte) { p.Frame(all[1]); p.Frame(all[0]) }, 2, false},
		"with a pause":   {func(p *pipe, all [][]byte) { p.Frame(all[0]); time.AfterFunc(settle/2, func() { p.Frame(all[1]) }) }, 2, false},
		"only one":       {func(p *pipe, all [][]byte) { p.Frame(all[0]) }, 1, false},
		"an array of it": {func(p *pipe, all [][]byte) { p.Frame(array(all[1])) }, 1, false},
		"an error":       {func(p *pipe, _ [][]byte) { p.Frame(jsonrpc.NewError([]byte("null"), -32600, "Invalid Request", nil)) }, 0, true},
		"nothing":        {func(*pipe, [][]byte) {}, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			tr := &target{timeout: time.Minute, log: newLog()}
			cn := tr.connection(rev2503)
			cn.handshakeDone, cn.pipe = true, newPipe(cn)
			cn.pipe.tr = &scripted{p: cn.pipe, how: c.how}
			p := &probe{run: &run{target: tr}, ctx: t.Context(), conn: cn}
			_, served, err := p.batch()
			if err != nil || served != c.served {
				t.Errorf("%s: %d were served, want %d: %v", name, served, c.served, err)
			}
			var b *violation
			if err := tryBatchServed(p); errors.As(err, &b) != (c.served < 2) {
				t.Errorf("%s: batch-served is %v", name, err)
			}
			if err := tryBatchRefused(p); errors.As(err, &b) == c.refused {
				t.Errorf("%s: batch-refused is %v", name, err)
			}
		})
	}
}
