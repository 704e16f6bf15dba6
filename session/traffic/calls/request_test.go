package calls_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/compare"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// tools is a server in memory with tools, which answers a call with what it got, and notes the notifications.
func tools(modern bool, notes chan<- string, names ...string) func(n int, p *sessiontest.Peer) {
	return func(n int, p *sessiontest.Peer) {
		p.Serve(func(env jsonrpc.Envelope) {
			switch {
			case env.Kind == jsonrpc.Notification:
				if notes != nil && !strings.HasSuffix(env.Method, "initialized") {
					notes <- env.Method + string(env.Params)
				}
			case env.Method == "server/discover" && !modern, env.Method == "initialize" && modern:
				p.Refuse(env, -32601, "")
			case env.Method == "server/discover":
				p.Answer(env, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}`)
			case env.Method == "initialize":
				p.Answer(env, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)
			case env.Method == "tools/list":
				var list []string
				for _, name := range names {
					list = append(list, `{"name":"`+name+`","annotations":{"readOnlyHint":`+map[bool]string{true: "true", false: "false"}[strings.HasSuffix(name, "look")]+`},"inputSchema":{"type":"object"}}`)
				}
				p.Answer(env, `{"tools":[`+strings.Join(list, ",")+`]}`)
			case env.Method == "tools/call":
				more := ""
				if modern {
					more = `"resultType":"complete",`
				}
				p.Answer(env, `{`+more+`"content":[],"structuredContent":{"name":`+string(jsonrpc.Get(env.Params, "name"))+`}}`)
			default:
				p.Answer(env, `{}`)
			}
		})
	}
}

// open connects to one server for each name and script.
func open(t *testing.T, scripts map[string]func(int, *sessiontest.Peer), names ...string) *session.Manager {
	t.Helper()
	m := session.NewManager(session.Options{HealthInterval: -1, Dial: func(c config.Server) (transport.Transport, bool) {
		return sessiontest.Dial(scripts[c.Name])(c)
	}})
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	for _, name := range names {
		s, err := m.Register(config.Server{Name: name})
		require.NoError(t, err)
		require.NoError(t, s.Connect(t.Context()))
		if _, err := s.List(t.Context(), offer.Tools); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func server(t *testing.T, m *session.Manager, name string) *session.Session {
	t.Helper()
	s, ok := m.Server(name)
	if !ok {
		t.Fatal("no server " + name)
	}
	return s
}

// changed are the pointers of what was sent otherwise.
func changed(a calls.Answer) string {
	var out []string
	for _, d := range a.Changed {
		out = append(out, string(d.Op)+" "+d.Place())
	}
	return strings.Join(out, ", ")
}

// A request is sent as the bytes that it was, but for its id and what goes with it.
func TestSentAsItWas(t *testing.T) {
	for _, modern := range []bool{true, false} {
		m := open(t, map[string]func(int, *sessiontest.Peer){"a": tools(modern, nil, "look")}, "a")
		j, s := m.Journal(), server(t, m, "a")
		odd := json.RawMessage(`{ "name" : "look", "arguments": {"n":12345678901234567890, "x": 1.50, "n2":{}} , "extra":[ 1,2 ]}`)
		first, err := s.Call(t.Context(), "tools/call", odd, session.CallOptions{OnProgress: func(rpc.Progress) {}})
		require.NoError(t, err)
		// By the answer or by the request: it is the same exchange.
		for _, seq := range []uint64{first.Request, first.Response} {
			r, err := calls.FindRequest(j, seq)
			require.NoError(t, err)
			a, err := r.Send(t.Context(), s, j, session.CallOptions{})
			if err != nil || a.Err != nil {
				t.Fatal(err, a.Err)
			}
			sent, err := j.Body(a.Seq)
			require.NoError(t, err)
			id := func(frame []byte) string { return string(jsonrpc.Get(frame, "id")) }
			want := strings.ReplaceAll(string(r.Frame), `"id":`+id(r.Frame)+`,`, `"id":`+id(sent)+`,`)
			want = strings.ReplaceAll(want, `"progressToken":`+id(r.Frame), `"progressToken":`+id(sent))
			if string(sent) != want || !strings.Contains(string(sent), string(odd[:len(odd)-1])) {
				t.Errorf("modern %v: sent %s, was %s", modern, sent, r.Frame)
			}
			if got := changed(a); got != "changed /id, changed /params/_meta/progressToken" {
				t.Errorf("modern %v: changed %s", modern, got)
			}
			was, err := calls.RecordedAnswer(j, r.Seq)
			require.NoError(t, err)
			if c := calls.Compare(was, a, nil, nil); len(c.Differences) != 0 {
				t.Errorf("%+v", c.Differences)
			}
		}
	}
}

// What one era wants in a request is made anew for a server of the other; an aggregate's names are found.
func TestSentToAnother(t *testing.T) {
	m := open(t, map[string]func(int, *sessiontest.Peer){
		"old": tools(false, nil, "look"), "new": tools(true, nil, "look", "write"), "all": tools(true, nil, "mcp__old__look", "mcp__new__look"), "none": tools(true, nil, "other"),
	}, "old", "new", "all", "none")
	j := m.Journal()
	call := func(from string) calls.Request {
		t.Helper()
		reply, err := server(t, m, from).CallTool(t.Context(), "look", json.RawMessage(`{"a":1}`), session.CallOptions{})
		require.NoError(t, err)
		r, err := calls.FindRequest(j, reply.Request)
		require.NoError(t, err)
		return r
	}
	send := func(r calls.Request, to string) calls.Answer {
		t.Helper()
		a, err := r.Send(t.Context(), server(t, m, to), j, session.CallOptions{})
		if err != nil || a.Err != nil {
			t.Fatal(err, a.Err)
		}
		return a
	}
	fromNew, fromOld := call("new"), call("old")
	a := send(fromNew, "old")
	if got := changed(a); !strings.Contains(got, "/params/_meta/io.modelcontextprotocol~1protocolVersion") && !strings.Contains(got, "removed /params/_meta") {
		t.Errorf("changed %s", got)
	}
	was, err := calls.RecordedAnswer(j, fromNew.Seq)
	require.NoError(t, err)
	if c := calls.Compare(was, a, nil, nil); !c.Same() || len(c.Differences) != 1 || c.Differences[0].Class != compare.Protocol {
		t.Errorf("%+v", c)
	}
	a = send(fromOld, "new")
	sent, err := j.Body(a.Seq)
	if err != nil || jsonrpc.GetString(sent, "params", "_meta", "io.modelcontextprotocol/protocolVersion") != "2026-07-28" {
		t.Errorf("%s %v", sent, err)
	}
	a = send(fromOld, "all")
	assert.Contains(t, changed(a), "changed /params/name")
	if name := jsonrpc.GetString(a.Frame, "result", "structuredContent", "name"); name != "mcp__old__look" {
		t.Errorf("called %s", name)
	}
	if fromOld.Missing(server(t, m, "new")) || !fromOld.Missing(server(t, m, "none")) {
		t.Error("which server has the tool is not known")
	}
	if !fromOld.Repeatable(server(t, m, "new")) || fromOld.Repeatable(server(t, m, "none")) {
		t.Error("what is read-only may be repeated, and what is not known may not")
	}
}

func TestNotificationsAreSentAsTheyWere(t *testing.T) {
	notes := make(chan string, 4)
	m := open(t, map[string]func(int, *sessiontest.Peer){"a": tools(false, notes, "look")}, "a")
	j, s := m.Journal(), server(t, m, "a")
	frame := []byte(`{"jsonrpc":"2.0", "method":"notifications/roots/list_changed", "params":{"x":1}}`)
	seq := j.Append(journal.Entry{Server: "a", Dir: journal.Out, Kind: journal.Notification, Method: "notifications/roots/list_changed"}, frame)
	r, err := calls.FindRequest(j, seq)
	if err != nil || !r.Notification() {
		t.Fatal(err)
	}
	if a, err := r.Send(t.Context(), s, j, session.CallOptions{}); err != nil || a.Err != nil {
		t.Fatal(err, a.Err)
	}
	select {
	case got := <-notes:
		assert.Equal(t, got, `notifications/roots/list_changed{"x":1}`)
	case <-time.After(30 * time.Second):
		t.Error("it did not arrive")
	}
}

// What cannot be sent again says why.
func TestWhatCannotBeSent(t *testing.T) {
	j := journal.New(journal.Options{})
	defer j.Close()
	for body, e := range map[string]struct {
		journal.Entry
		why string
	}{
		`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`: {journal.Entry{Dir: journal.In, Kind: journal.Request}, "the server sent this"},
		`{"jsonrpc":"2.0","id":9,"result":{}}`:           {journal.Entry{Dir: journal.In, Kind: journal.Response, ID: "9"}, "the request of this answer is not known"},
		`oops`:                                           {journal.Entry{Dir: journal.In, Kind: journal.Stderr}, "not a message"},
		`{"jsonrpc":"2.0","method":1}`:                   {journal.Entry{Dir: journal.Out, Kind: journal.Notification}, "JSON-RPC"},
	} {
		if _, err := calls.FindRequest(j, j.Append(e.Entry, []byte(body))); err == nil || !strings.Contains(err.Error(), e.why) {
			t.Errorf("%s: %v", body, err)
		}
	}
	if _, err := calls.FindRequest(j, 99); err == nil {
		t.Error("an entry that is not there was found")
	}
}

// An error beside a result, and no answer at all, are real differences.
func TestErrorsAreCompared(t *testing.T) {
	ok := calls.Answer{Frame: []byte(`{"jsonrpc":"2.0","id":1,"result":{"a":1}}`)}
	bad := calls.Answer{Frame: []byte(`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no"}}`)}
	none := calls.Answer{Err: context.DeadlineExceeded}
	for _, c := range []struct {
		a, b calls.Answer
		want int
	}{{ok, ok, 0}, {bad, bad, 0}, {ok, bad, 2}, {ok, none, 2}, {none, none, 0}} {
		if got := calls.Compare(c.a, c.b, nil, nil).Real(); got != c.want {
			t.Errorf("%s and %s: %d", c.a.Shown(), c.b.Shown(), got)
		}
	}
	if !bad.Failed() || !none.Failed() || ok.Failed() {
		t.Error("failed is wrong")
	}
}
