package session_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// Options.Record hears once of each call that was sent, whichever way it was made, with what it was answered; of nothing else.
func TestCallsAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serve := func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{"tools":{}}`)
			p.Serve(func(env jsonrpc.Envelope) {
				switch {
				case env.Method == "tools/list":
					p.Answer(env, `{"tools":[{"name":"look","inputSchema":{"type":"object","title":"S"},"annotations":{"readOnlyHint":true,"idempotentHint":true}}]}`)
				case jsonrpc.GetString(env.Params, "name") == "slow":
				default:
					p.Answer(env, `{"content":[]}`)
				}
			})
		}
		var got []session.CallRecord
		_, s := sessiontest.Open(t, session.Options{
			ResultTTL: time.Minute, HealthInterval: -1, Dial: sessiontest.Dial(serve), Record: func(m session.CallRecord) { got = append(got, m) },
		}, config.Server{Protocol: "2025-11-25"})
		ctx := t.Context()
		if _, err := s.List(ctx, offer.Tools); err != nil {
			t.Fatal(err)
		}
		canceled, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		for _, err := range []error{
			second(s.CallTool(ctx, "look", []byte(`{"a":1}`), session.CallOptions{Meta: []byte(`{"m":2}`)})),
			second(s.CallTool(ctx, "look", []byte(`{"a":1}`), session.CallOptions{Meta: []byte(`{"m":2}`)})), // from memory
			second(s.Call(ctx, "tools/call", []byte(`{"name":"other","arguments":{"b":2}}`), session.CallOptions{})),
			second(s.GetPrompt(ctx, "hello", map[string]string{"who": "Ada"}, session.CallOptions{})),
			second(s.ReadResource(ctx, "file:///x", session.CallOptions{})),
			second(s.Call(ctx, "ping", nil, session.CallOptions{})),
		} {
			assert.NoError(t, err)
		}
		_, _ = s.CallTool(canceled, "slow", nil, session.CallOptions{})
		_, _ = s.CallTool(canceled, "never", nil, session.CallOptions{})                   // not sent
		_, _ = s.CallTool(ctx, "slow", nil, session.CallOptions{Timeout: 2 * time.Second}) // times out
		_, _ = s.CallTool(ctx, "never", []byte(`{`), session.CallOptions{})                // not sent
		want := []string{`tools/call look {"a":1}`, `tools/call other {"b":2}`, `prompts/get hello {"who":"Ada"}`, `resources/read file:///x `, `tools/call slow `, `tools/call slow `}
		for i, m := range got {
			if line := m.Method + " " + m.Target + " " + string(m.Arguments); i >= len(want) || line != want[i] {
				t.Errorf("%d: %s", i, line)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d calls are recorded; want %d", len(got), len(want))
		}
		if m := got[0]; !strings.Contains(string(m.Schema), `"S"`) || string(m.Meta) != `{"m":2}` || m.Version != "2025-11-25" || string(m.Reply.Result) != `{"content":[]}` || m.Err != nil {
			t.Errorf("%+v", m)
		}
		if m := got[4]; m.Err == nil || m.Took < time.Second {
			t.Errorf("%+v", m)
		}
		if m := got[5]; m.Timeout != 2*time.Second || m.Err == nil {
			t.Errorf("%+v", m)
		}
	})
}

func second[T any](_ T, err error) error { return err }
