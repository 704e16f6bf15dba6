package session_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// counting is a server whose tools answer with how often one was called; text makes the answer longer. The list says what they promise.
type counting struct {
	calls int
	peer  *sessiontest.Peer
}

func (f *counting) serve(_ int, p *sessiontest.Peer) {
	f.peer = p
	p.Handshake(`{"tools":{"listChanged":true}}`)
	p.Serve(func(env jsonrpc.Envelope) {
		switch env.Method {
		case "tools/list":
			tool := `{"name":%q,"inputSchema":{"type":"object"},"annotations":{%s}}`
			p.Answer(env, `{"tools":[`+fmt.Sprintf(tool, "look", `"readOnlyHint":true,"idempotentHint":true`)+","+fmt.Sprintf(tool, "dice", `"readOnlyHint":true`)+","+
				fmt.Sprintf(tool, "write", `"idempotentHint":true`)+","+fmt.Sprintf(tool, "fail", `"readOnlyHint":true,"idempotentHint":true`)+`]}`)
		case "tools/call":
			f.calls++
			size := len(jsonrpc.GetString(env.Params, "arguments", "big")) * 1024
			p.Answer(env, fmt.Sprintf(`{"content":[{"type":"text","text":"call %d %s"}],"isError":%v}`, f.calls, strings.Repeat("x", size), jsonrpc.GetString(env.Params, "name") == "fail"))
		default:
			p.Answer(env, `{}`)
		}
	})
}

// An equal call of a tool that is read-only and idempotent is answered without the server, within the time that was allowed, for the same
// tenant, until the connection or the list of tools changes. Nothing is kept unless it was asked for.
func TestF6_EqualCallsAreAnsweredFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &counting{}
		_, s := sessiontest.Open(t, session.Options{ResultTTL: time.Minute, HealthInterval: -1, Dial: sessiontest.Dial(f.serve)}, config.Server{Protocol: "2025-11-25"})
		if _, err := s.List(t.Context(), offer.Tools); err != nil {
			t.Fatal(err)
		}
		call := func(tool, args, meta string, sent bool) {
			t.Helper()
			before := f.calls
			r, err := s.CallTool(t.Context(), tool, []byte(args), session.CallOptions{Meta: []byte(meta)})
			if err != nil || f.calls > before != sent || r.Cached.IsZero() != sent || !strings.Contains(string(r.Result), "call ") {
				t.Errorf("%s(%s) %s: sent %v, cached %v, %v; want sent %v", tool, args, meta, f.calls > before, r.Cached, err, sent)
			}
		}
		call("look", `{"a":1,"b":[2, 3]}`, "", true)
		call("look", `{ "b":[2,3], "a":1 }`, "", false)
		call("look", `{"a":1.0,"b":[2,3]}`, "", true)
		call("look", `{"a":12345678901234567890}`, "", true)
		call("look", `{"a":12345678901234567891}`, "", true)
		call("look", `{"a":1,"b":[2,3]}`, `{"tenant_id":"acme"}`, true)
		call("look", `{"a":1,"b":[2,3]}`, `{"tenant_id":"acme"}`, false)
		call("look", `{"a":1,"b":[2,3]}`, `{"tenant_id":"other"}`, true)
		for range 2 {
			call("dice", `{}`, "", true)
			call("write", `{}`, "", true)
			call("fail", `{}`, "", true)
			call("look", `{"a":1,"a":2}`, "", true)
		}
		require.NoError(t, s.SetMeta([]byte(`{"tenant_id":"acme"}`)))
		time.Sleep(time.Second) // the list is loaded again
		call("look", `{"a":1,"b":[2,3]}`, "", true)
		call("look", `{"a":1,"b":[2,3]}`, "", false)
		time.Sleep(59 * time.Second)
		call("look", `{"a":1,"b":[2,3]}`, "", false)
		time.Sleep(2 * time.Second)
		call("look", `{"a":1,"b":[2,3]}`, "", true)
		call("look", `{"a":1,"b":[2,3]}`, "", false)
		f.peer.Send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		time.Sleep(5 * time.Second)
		call("look", `{"a":1,"b":[2,3]}`, "", true)
		call("look", `{"a":1,"b":[2,3]}`, "", false)
		require.NoError(t, s.Reconnect(t.Context()))
		time.Sleep(time.Second)
		call("look", `{"a":1,"b":[2,3]}`, "", true)
		call("look", `{"a":1,"b":[2,3]}`, "", false)
		// 16 MiB are kept: of 20 results of 1 MiB the first are gone, and the last is there.
		for i := range 20 {
			call("look", fmt.Sprintf(`{"i":%d,"big":%q}`, i, strings.Repeat("b", 1024)), "", true)
		}
		call("look", fmt.Sprintf(`{"i":19,"big":%q}`, strings.Repeat("b", 1024)), "", false)
		call("look", fmt.Sprintf(`{"i":0,"big":%q}`, strings.Repeat("b", 1024)), "", true)
		huge := fmt.Sprintf(`{"big":%q}`, strings.Repeat("b", 5<<10))
		call("look", huge, "", true)
		call("look", huge, "", true)
	})
}

func TestF6_NothingIsCachedByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &counting{}
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(f.serve)}, config.Server{Protocol: "2025-11-25"})
		if _, err := s.List(t.Context(), offer.Tools); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if r, err := s.CallTool(t.Context(), "look", nil, session.CallOptions{}); err != nil || !r.Cached.IsZero() {
				t.Errorf("%v, %v", r.Cached, err)
			}
		}
		assert.Equalf(t, f.calls, 3, "calls arrived")
	})
}
