package calls

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
)

const (
	maxTarget    = 16 << 10 // bytes of a name or URI that are kept
	maxText      = 2000     // of a message
	maxArguments = 1 << 20  // of arguments and metadata; larger ones are not kept
	maxResult    = 4 << 20  // of a result; of a larger one size and hash are
)

// entry is a call as the history is given it.
type entry struct {
	Call
	result []byte // masked; nil if there is none, or it is not kept
}

// newEntry makes the entry of a call that is over: what is secret in it is masked, and what is too large left out.
func newEntry(m session.CallRecord) entry {
	e := entry{Call: Call{
		At: Time{m.Started}, Took: float64(m.Took.Microseconds()) / 1000, Server: madeAt(m),
		Method: m.Method, Timeout: m.Timeout, Size: int64(len(m.Reply.Result)),
	}}
	e.Target = text.Clip(m.Target, maxTarget)
	if clean := mask.Text(mask.URL(e.Target)); m.Method == ResourcesRead && clean != m.Target {
		e.Target, e.Secrets = clean, append(e.Secrets, inURI)
	}
	rule := mask.RuleOf(m.Schema)
	keep := func(value json.RawMessage, rule mask.Rule, below string) json.RawMessage {
		if len(value) == 0 || len(value) > maxArguments {
			if len(value) > 0 {
				e.Secrets = append(e.Secrets, below)
			}
			return nil
		}
		clean, places := rule.Hide(value)
		for _, p := range places {
			e.Secrets = append(e.Secrets, below+p)
		}
		return clean
	}
	e.Arguments = keep(m.Arguments, rule, inArguments)
	e.Meta = keep(m.Meta, mask.Rule{}, inMeta)
	rule = rule.After(m.Arguments)
	e.judge(m, rule)
	if n := len(m.Reply.Result); n > 0 {
		result := []byte(m.Reply.Result)
		if n <= maxResult {
			result, _ = rule.Hide(result)
			e.result, e.Kept = result, true
		}
		sum := sha256.Sum256(result)
		e.Hash = hex.EncodeToString(sum[:])
	}
	return e
}

// judge says how the call went.
func (e *entry) judge(m session.CallRecord, rule mask.Rule) {
	switch {
	case m.Err == nil && m.Reply.Ongoing:
		e.Verdict = Ongoing
	case m.Err == nil && m.Method == ToolsCall && offer.IsError(m.Reply.Result):
		e.Verdict = IsError
	case m.Err == nil:
		e.Verdict = OK
	case errors.Is(m.Err, context.Canceled) || failure.KindOf(m.Err) == failure.Interrupted:
		e.Verdict = Cancelled
	default:
		e.Verdict, e.Code = verdictOf(m.Err)
	}
	if m.Err != nil {
		message := m.Err.Error()
		if f, ok := errors.AsType[*failure.Error](m.Err); ok {
			message = f.Message
		}
		e.Message = text.Clip(rule.Clean(message), maxText)
	}
}

// madeAt is the server of a call, with what it said of itself.
func madeAt(m session.CallRecord) Server {
	s := ServerOf(m.Server)
	s.Transport, s.Protocol = m.Transport, m.Version
	if m.Title != m.Server.Name {
		s.Title = text.Clip(mask.Text(m.Title), 200)
	}
	var info struct{ Name, Version string }
	if json.Unmarshal(m.Info, &info) == nil {
		s.Info = text.Clip(mask.Text(info.Name+" "+info.Version), 200)
	}
	return s
}

// verdictOf is the verdict on a call without a result, and the code of a JSON-RPC error.
func verdictOf(err error) (verdict string, code *int64) {
	f, _ := errors.AsType[*failure.Error](err)
	switch {
	case failure.KindOf(err) == failure.Timeout:
		return Timeout, nil
	case f != nil && f.Code != nil:
		return RPCError, f.Code
	}
	return Failed, nil
}
