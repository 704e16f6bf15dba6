package mock

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// ask asks the client what the recorded server asked. The recording goes on whatever the client answers, an error included.
func (m *Mock) ask(ctx context.Context, x *front.Exchange, method string, params []byte) error {
	_, err := x.Ask(ctx, method, params)
	var refused *jsonrpc.Error
	if errors.As(err, &refused) {
		m.log.Info("the client answered with an error", "method", method, "err", refused)
		return nil
	}
	return err
}

// maxRounds bounds the rounds of one call.
const maxRounds = 32

// rounds plays a call of the modern era for a client of the legacy one: what the server asked for in a result is asked in requests, and
// the call goes on where the recorded client sent its input.
func (m *Mock) rounds(ctx context.Context, x *front.Exchange, s *state, c call, result []byte) (json.RawMessage, error) {
	for range maxRounds {
		var failed error
		_ = jsonrpc.Members(jsonrpc.Get(result, "inputRequests"), func(_ string, v []byte) bool { // scanned with the frame
			method := jsonrpc.GetString(v, "method")
			if !x.Can(method) {
				m.log.Warn("not asked: the client declared no capability for it", "method", method)
				return true
			}
			failed = m.ask(ctx, x, method, jsonrpc.Get(v, "params"))
			return failed == nil
		})
		if failed != nil {
			return nil, failed
		}
		next, ok := m.rec.roundAfter(c, result)
		if !ok {
			return nil, jsonrpc.Errorf(jsonrpc.KindInternal, "the recording ends where the client was asked for input")
		}
		c = next
		var err error
		if result, err = m.rec.result(c.answer); err != nil {
			return nil, err
		}
		if jsonrpc.GetString(result, "resultType") != "input_required" {
			return m.play(ctx, x, s, c, 0)
		}
	}
	return nil, jsonrpc.Errorf(jsonrpc.KindInternal, "the recording asks for input more than %d times", maxRounds)
}

// roundAfter is the call in which the recorded client gave the input that a result asked for.
func (r *recording) roundAfter(c call, result []byte) (call, bool) {
	env := r.envelope(c.seq)
	q := question(env.Method, env.Params)
	if state := jsonrpc.Get(result, "requestState"); state != nil {
		q.state = canonical(state)
	} else {
		q.state = nil
		_ = jsonrpc.Members(jsonrpc.Get(result, "inputRequests"), func(key string, _ []byte) bool { q.state = append(append(q.state, key...), 0); return true })
	}
	v := r.variantsOf(q.group)
	for _, i := range v.exact[r.key(q, q.state)] {
		if n := r.calls[i]; n.seq > c.seq && n.answer != 0 {
			return n, true
		}
	}
	return call{}, false
}
