package agentlet

import (
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/text"
)

// maxStep bounds the arguments and the result of a call that are told of, in bytes.
const maxStep = 8 << 10

// metaCall is the member of a progress notification's _meta that tells of a call on the way to an answer.
const metaCall = "mcphud/call"

// step is the beginning or the end of a call that an agent makes.
type step struct {
	ID        int    `json:"id"` // the same at the beginning and at the end, and of this answer only
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"` // as the model wrote them; at the beginning
	Done      bool   `json:"done,omitempty"`
	Error     bool   `json:"error,omitempty"`
	Result    string `json:"result,omitempty"` // at the end: what the model gets to read
	Millis    int64  `json:"ms,omitempty"`     // at the end: how long it took
	More      int    `json:"more,omitempty"`   // bytes of the arguments or of the result that are left out
}

// began tells a client that wants to know of a call, and returns what tells of its end. A client that is gone is heard of by
// who sends it the answer.
func (q *question) began(name, arguments string) (ended func(result string, failed bool)) {
	if q.out == nil || !q.Calls {
		return func(string, bool) {}
	}
	s := step{ID: q.out.next(), Name: text.Clip(name, 100)}
	first := s
	first.Arguments, first.More = clipStep(arguments)
	_ = q.out.notify(first)
	start := time.Now()
	return func(result string, failed bool) {
		s.Done, s.Error, s.Millis = true, failed, time.Since(start).Milliseconds()
		s.Result, s.More = clipStep(result)
		_ = q.out.notify(s)
	}
}

func clipStep(s string) (head string, more int) {
	head = text.Cut(s, maxStep)
	return strings.ToValidUTF8(head, "\uFFFD"), len(s) - len(head)
}

// next numbers the calls of an answer.
func (s *stream) next() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.calls
}

// notify sends a step. Its message is there and empty, for clients that put all messages together.
func (s *stream) notify(call step) error {
	if s.req.Params.Meta == nil || s.req.Params.Meta.ProgressToken == nil {
		return s.ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at++
	return kit.Notify(s.ctx, string(mcp.MethodNotificationProgress), map[string]any{
		"progressToken": s.req.Params.Meta.ProgressToken, "progress": float64(s.at), "message": "", "_meta": map[string]any{metaCall: call},
	})
}
