package mock

import (
	"context"
	"errors"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

var severities = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// notify sends a notification as the recorded server did: about x while that runs, else on the client's own stream.
func (m *Mock) notify(x *front.Exchange, s *state, env jsonrpc.Envelope, over bool) {
	frame := jsonrpc.NewNotification(env.Method, env.Params)
	switch mcp.MCPMethod(env.Method) {
	case mcp.MethodNotificationProgress:
		params, err := jsonrpc.Update(env.Params, jsonrpc.Set(x.Token, "progressToken"))
		if x.Token == nil || err != nil {
			return
		}
		frame = jsonrpc.NewNotification(env.Method, params)
	case mcp.MethodNotificationMessage:
		if !m.wantsLevel(x, s, jsonrpc.GetString(env.Params, "level")) {
			return
		}
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationPromptsListChanged, mcp.MethodNotificationResourcesListChanged:
		if x.Modern {
			m.front.Broadcast(env.Method, nil)
			return
		}
		over = true
	case mcp.MethodNotificationResourceUpdated:
		uri := jsonrpc.GetString(env.Params, "uri")
		if x.Modern {
			m.front.ResourceUpdated(uri)
			return
		}
		if x.Session != nil && !x.Session.IsSubscribedToResource(uri) {
			return
		}
		over = true
	}
	if !over {
		if err := x.Send(frame); !errors.Is(err, front.ErrOver) { // a client that is gone shows in the request's context
			return
		}
	}
	if x.Session != nil {
		_ = x.Session.Push(frame) // an ended session gets nothing
	}
}

// wantsLevel reports whether the client takes log messages of a level. In the modern era it says so with each request.
func (m *Mock) wantsLevel(x *front.Exchange, s *state, level string) bool {
	s.mu.Lock()
	least := s.level
	s.mu.Unlock()
	if x.Modern {
		if least = jsonrpc.GetString(x.Params, "_meta", mcp.MetaKeyLogLevel); least == "" {
			return false
		}
	}
	i := slices.Index(severities, level)
	return i < 0 || i >= slices.Index(severities, least)
}

// sendLateProgress sends the progress that was recorded after the answer to a client that has nothing to read it on then.
func (m *Mock) sendLateProgress(x *front.Exchange, s *state, c call) {
	if x.Session != nil {
		return
	}
	for _, seq := range m.rec.after[c.seq] {
		if env := m.rec.envelope(seq); env.Method == string(mcp.MethodNotificationProgress) {
			m.notify(x, s, env, false)
		}
	}
}

// follow has what the server sent of itself after a call follow the answer to x.
func (m *Mock) follow(x *front.Exchange, s *state, c call) {
	seqs := m.rec.after[c.seq]
	if len(seqs) == 0 {
		return
	}
	x.Then(func() {
		ctx, stop := context.WithCancel(m.life)
		s.mu.Lock()
		if before := s.tails[c.seq]; before != nil {
			before() // the same once more begins anew
		}
		s.tails[c.seq] = stop
		s.mu.Unlock()
		m.tails.Go(func() {
			defer stop()
			m.tail(ctx, x, s, c, seqs)
		})
	})
}

func (m *Mock) tail(ctx context.Context, x *front.Exchange, s *state, c call, seqs []uint64) {
	if x.Session != nil {
		var stop func()
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		m.tails.Go(func() {
			select {
			case <-x.Session.Done():
				stop()
			case <-ctx.Done():
			}
		})
	}
	from := c.seq
	if c.answer != 0 {
		from = c.answer
	}
	clock := m.clock()
	for _, st := range m.rec.steps(from, seqs) {
		if clock.wait(ctx, st.wait) != nil {
			return
		}
		env := m.rec.envelope(st.seq)
		switch {
		case st.kind == notify:
			m.notify(x, s, env, true)
		case st.kind == ask && !x.Modern && x.Can(env.Method):
			if m.ask(ctx, x, env.Method, env.Params) != nil {
				return
			}
			clock.now()
		}
	}
}
