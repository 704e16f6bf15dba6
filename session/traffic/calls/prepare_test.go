package calls_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// asking makes calls on a server in memory, which has a prompt that is slow if it is named so. asked counts what somebody was asked for.
func asking(t *testing.T, asked *int) *calls.Runner {
	t.Helper()
	m := open(t, map[string]func(int, *sessiontest.Peer){"a": tools(false, nil)}, "a")
	return &calls.Runner{
		Session: server(t, m, "a"), Journal: m.Journal(),
		Secret: func(_ context.Context, key string) (string, bool, error) {
			*asked++
			return "secret of " + key, true, nil
		},
		Explain: func(_ context.Context, err error) *failure.Error {
			e, _ := errors.AsType[*failure.Error](err)
			return e
		},
	}
}

// A secret is asked for once, however often the call is made.
func TestSecretIsAskedForOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	r := asking(t, &asked)
	never, err := expect.Parse(".nothing")
	require.NoError(t, err)
	c := calls.Call{Method: calls.PromptsGet, Target: "p", Arguments: json.RawMessage(`{"key":"***"}`), Secrets: []string{"/arguments/key"}}
	for _, how := range []func(c *calls.Call){
		func(c *calls.Call) { c.Repeat = 3 },
		func(c *calls.Call) {
			c.Expect.Queries = []*expect.Query{never}
			c.Retry = calls.Retry{For: 50 * time.Millisecond, Every: 10 * time.Millisecond}
		},
	} {
		c, asks := c, asked
		how(&c)
		o := r.Run(t.Context(), c, func(string) (json.RawMessage, bool) { return nil, false }, func(string, json.RawMessage) {})
		if asked != asks+1 || o.Result == nil {
			t.Errorf("asked %d times: %+v", asked-asks, o)
		}
	}
}

// Of arguments that were hidden as a whole nothing is sent, to prompts as to tools.
func TestArgumentsHiddenWhole(t *testing.T) {
	t.Parallel()
	r := asking(t, new(int))
	c, err := r.Prepare(t.Context(), calls.Call{
		Method: calls.PromptsGet, Target: "p", Arguments: json.RawMessage(`"***"`), Secrets: []string{"/arguments"}, Given: []string{"who=Ada"},
	})
	if err != nil || string(c.Arguments) != `{"who":"Ada"}` {
		t.Errorf("%s %v", c.Arguments, err)
	}
}

// A call that becomes a request keeps its metadata, without what was secret in it, and its time limit.
func TestRequestOfACallIsWhole(t *testing.T) {
	t.Parallel()
	silent := func(_ int, p *sessiontest.Peer) {
		p.Serve(func(env jsonrpc.Envelope) {
			switch env.Method {
			case "server/discover":
				p.Refuse(env, -32601, "")
			case "initialize":
				p.Answer(env, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"x","version":"1"}}`)
			case "tools/list":
				p.Answer(env, `{"tools":[]}`)
			}
		})
	}
	m := open(t, map[string]func(int, *sessiontest.Peer){"a": silent}, "a")
	c := calls.Call{
		Method: calls.PromptsGet, Target: "p", Meta: json.RawMessage(`{"com.example/tenant":"acme","token":"***"}`), Secrets: []string{"/meta/token"}, Timeout: 30 * time.Millisecond,
	}
	req, err := c.Request("a")
	require.NoError(t, err)
	a, err := req.Send(t.Context(), server(t, m, "a"), m.Journal(), session.CallOptions{})
	if err != nil || failure.KindOf(a.Err) != failure.Timeout {
		t.Errorf("%v %v, after %v", err, a.Err, a.Took)
	}
	if sent, err := m.Journal().Body(a.Seq); err != nil || !strings.Contains(string(sent), `"com.example/tenant":"acme"`) || strings.Contains(string(sent), "token") {
		t.Errorf("%v: sent %s", err, sent)
	}
}
